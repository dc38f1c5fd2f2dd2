package github

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

var (
	tokens = regexp.MustCompile(`\b(?:gh[a-z]_[A-Za-z0-9_]{8,}|github_pat_[A-Za-z0-9_]{8,}|v1\.[0-9a-f]{20,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?)`)
	bearer = regexp.MustCompile(`(?i)\b(bearer|token|basic)(["':= ]+)[A-Za-z0-9._~+/=-]{12,}`)
	links  = regexp.MustCompile(`https?://[^\s"'<>]+`)
)

// redact takes tokens out of text, and of every address what stands before the
// host and after the path: storage signs its addresses there.
func redact(text string) string {
	text = links.ReplaceAllStringFunc(text, func(s string) string {
		u, err := url.Parse(s)
		if err != nil {
			return "[address]"
		}
		if u.User != nil {
			u.User = url.User("redacted")
		}
		if u.RawQuery != "" {
			u.RawQuery = "redacted"
		}
		u.Fragment = ""
		return u.String()
	})
	text = tokens.ReplaceAllString(text, "[token]")
	return bearer.ReplaceAllString(text, "${1}${2}[token]")
}

// tidy makes one line of at most 500 runes of text that came from elsewhere.
func tidy(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, redact(text))
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 500 {
		text = string(r[:499]) + "…"
	}
	return text
}

// cut shortens s to at most n bytes without splitting a rune, and says so.
func cut(s string, n int) string {
	const note = "\n\n… (cut)"
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len(note)], "") + note
}
