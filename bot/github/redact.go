package github

import (
	"strings"
	"unicode"

	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// tidy makes one line of at most 4000 characters of text that came from elsewhere, without secrets.
func tidy(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, redact.Message(text))
	return truncate.Runes(strings.Join(strings.Fields(text), " "), 4000, truncate.Ellipsis)
}

// cut shortens s to at most n bytes without splitting a rune, and says so.
func cut(s string, n int) string {
	return truncate.Head(strings.ToValidUTF8(s, "\uFFFD"), n, "\n\n… (cut)")
}
