package diagnosis

import (
	"bytes"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Bounds of an excerpt.
const (
	maxAround      = 20
	maxExcerptLine = 240
)

// ExcerptOf returns the lines of content around line (1-based), at most 20 on either side and 240
// bytes of each. It returns nil if the line does not exist or content is not text.
func ExcerptOf(file string, content []byte, line, around int) *routing.Excerpt {
	if line < 1 || bytes.IndexByte(content, 0) >= 0 {
		return nil
	}
	around = min(max(around, 0), maxAround)
	content = bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF"))
	e := &routing.Excerpt{File: file, Start: max(1, line-around), Mark: line}
	for no := 1; len(content) > 0 && no <= line+around; no++ {
		raw := content
		if i := bytes.IndexByte(content, '\n'); i >= 0 {
			raw, content = content[:i], content[i+1:]
		} else {
			content = nil
		}
		if no >= e.Start {
			e.Lines = append(e.Lines, plain(raw))
		}
	}
	if e.Start+len(e.Lines) <= line {
		return nil
	}
	return e
}

// plain returns one line as valid UTF-8 without invisible characters, cut.
func plain(raw []byte) string {
	raw = raw[:min(len(raw), 4*maxExcerptLine)]
	var b strings.Builder
	for _, r := range string(raw) {
		if r == '\t' || (r >= 0x20 && r != 0x7f && !testreport.Invisible(r)) {
			b.WriteRune(r)
		}
	}
	return cutLine(strings.TrimRight(b.String(), " \t"), maxExcerptLine)
}
