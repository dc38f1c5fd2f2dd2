package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
)

// neutral replaces what an output says of the machine and the moment of its
// recording by what a runner of GitHub would have printed.
type neutral struct {
	dir   string // where the project was copied to
	cache string // where the tool is installed
	host  string
	home  string
}

var (
	isoTime  = regexp.MustCompile(`\b20\d\d-\d\d-\d\d([T ])\d\d:\d\d:\d\d`)
	fileTime = regexp.MustCompile(`\b20\d\d_\d\d_\d\dT\d\d_\d\d_\d\d`)
	epoch    = regexp.MustCompile(`\b1[78]\d{11}\b`)
	// What the hosts of registries are called; other names of an output stay.
	registry  = regexp.MustCompile(`\b(?:registry|proxy|sum|deb|security|repo|index|static)\.(?:[a-z0-9-]+\.)+(?:org|io|com)\b|\b(?:rubygems|pypi)\.(?:org)\b`)
	workFiles = regexp.MustCompile(`/tmp/corpus-\w+`)
)

func (n neutral) clean(text []byte) []byte {
	for _, r := range []struct{ from, to string }{
		{n.dir, "/home/runner/work/project/project"},
		{strings.TrimPrefix(n.dir, "/"), "home/runner/work/project/project"}, // below another root
		{n.cache, "/opt/hostedtoolcache/tool"},
	} {
		if r.from == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(r.from)
		if err == nil && real != r.from {
			text = bytes.ReplaceAll(text, []byte(real), []byte(r.to))
		}
		text = bytes.ReplaceAll(text, []byte(r.from), []byte(r.to))
	}
	text = workFiles.ReplaceAll(text, []byte("/home/runner/work/_temp"))
	text = regexp.MustCompile(regexp.QuoteMeta(n.home)+`(/|\b)`).ReplaceAll(text, []byte("/home/runner$1"))
	// The name of a host can be a word of a message; one with a key before it is none.
	text = regexp.MustCompile(`(?i)(hostname["']?\s*[:=]\s*["']?)`+regexp.QuoteMeta(n.host)+`\b`).ReplaceAll(text, []byte("${1}runner"))
	if len(n.host) > 3 {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(n.host)+`\b`).ReplaceAll(text, []byte("runner"))
	}
	text = registry.ReplaceAll(text, []byte("registry.example"))
	text = isoTime.ReplaceAll(text, []byte("2026-01-15${1}10:00:00"))
	text = fileTime.ReplaceAll(text, []byte("2026_01_15T10_00_00"))
	return epoch.ReplaceAll(text, []byte("1768471200000"))
}
