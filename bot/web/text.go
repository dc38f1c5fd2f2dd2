package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Text from runs is hostile. Templates escape it; these functions remove invisible and
// bidirectional control characters and limit the length.

const (
	lineLimit  = 300 // bytes
	blockLines = 40
)

// OneLine returns a text from a run as one line of limited length.
func OneLine(s string) string {
	return truncate.Head(strings.Join(strings.Fields(markdown.Printable(truncate.Head(s, 8*lineLimit, truncate.Ellipsis))), " "), lineLimit, truncate.Ellipsis)
}

// block returns a text of several lines, cut in the middle.
func block(s string) string {
	lines := strings.Split(strings.Trim(markdown.Printable(truncate.Head(s, 64<<10, truncate.Ellipsis)), "\n"), "\n")
	lines = truncate.Lines(lines, blockLines)
	for i := range lines {
		lines[i] = truncate.Head(strings.TrimRight(lines[i], " \t"), lineLimit, truncate.Ellipsis)
	}
	return strings.Join(lines, "\n")
}

// some lists the first names, each as one line, and counts the others.
func some(list []string) string {
	var out []string
	for _, s := range list[:min(len(list), mostNamed)] {
		out = append(out, OneLine(s))
	}
	if more := len(list) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

var plainName = lazyregexp.New(`^[\w./-]{1,100}$`)

// anchor returns a name as part of an id on a page: the name, or its digest if links would escape
// some of its characters.
func anchor(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
