package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render/markdown"
)

// What comes from runs is hostile: templates escape it, and these take away what would
// not show or would turn the direction of what follows, and bound how much there is.

const (
	lineLimit  = 300 // bytes
	blockLines = 40
)

// oneLine makes one line of a text.
func oneLine(s string) string {
	return cutAt(strings.Join(strings.Fields(markdown.Printable(cutAt(s, 8*lineLimit))), " "), lineLimit)
}

// block is a text of several lines, cut in its middle.
func block(s string) string {
	lines := strings.Split(strings.Trim(markdown.Printable(cutAt(s, 64<<10)), "\n"), "\n")
	if n := len(lines); n > blockLines {
		head := blockLines * 2 / 3
		lines = append(append(lines[:head:head], "…"), lines[n-(blockLines-head):]...)
	}
	for i := range lines {
		lines[i] = cutAt(strings.TrimRight(lines[i], " \t"), lineLimit)
	}
	return strings.Join(lines, "\n")
}

// cutAt returns at most limit bytes of s, ending at a rune and saying so.
func cutAt(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	i := limit - len("…")
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return s[:i] + "…"
}

// some names the first of a list, each in one line.
func some(list []string) string {
	var out []string
	for _, s := range list[:min(len(list), mostNamed)] {
		out = append(out, oneLine(s))
	}
	if more := len(list) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

var plainName = regexp.MustCompile(`^[\w./-]{1,100}$`)

// anchor is a name as part of an id on a page: itself, or its digest if it has anything
// odd, for links to it would be written otherwise.
func anchor(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
