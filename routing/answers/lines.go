package answers

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// live calls fn with the number and the text of each line of a post that is
// text as GitHub renders it: not those of fenced or indented code, of raw HTML
// code, of a quote's paragraph below its mark, or that begin within a hidden comment.
func live(lines []string, fn func(i int, line string)) {
	fence, hidden, raw := "", false, false
	quoted := false // a quote's paragraph goes on in the lines below it
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		if f := fenceOf(listItem.ReplaceAllString(trimmed, "")); fence == "" && f != "" && indent < 4 && !hidden && !raw {
			fence, quoted = f, false
			continue
		}
		if fence != "" {
			if indent < 4 && strings.HasPrefix(fenceOf(trimmed), fence) && strings.Trim(trimmed, fence[:1]+" \t") == "" {
				fence = ""
			}
			continue
		}
		begins := !hidden && !raw
		hidden = hiddenAfter(line, hidden) && (hidden || strings.HasPrefix(trimmed, "<!--") || endsSoon(lines[i+1:]))
		raw = rawAfter(trimmed, raw)
		switch {
		case indent < 4 && strings.HasPrefix(trimmed, ">"):
			quoted = strings.Trim(trimmed, "> \t") != ""
		case strings.TrimSpace(line) == "" || blockStart.MatchString(trimmed):
			quoted = false
		}
		if begins && !raw && indent < 4 && !strings.HasPrefix(trimmed, "\t") && (!quoted || strings.HasPrefix(trimmed, ">")) {
			fn(i, line)
		}
	}
}

// blockStart matches what ends a paragraph by beginning something else.
var blockStart = lazyregexp.New(`^(?:(?:[-*+]|1[.)])(?: |$)|#{1,6}(?: |$)|<|(?:[-*_] *){3,}$)`)

// fenceOf returns the run of backticks or tildes that opens a fence, if s is
// one: three backticks with a fourth behind them on the line are a code span.
func fenceOf(s string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(s, c)
		if n := len(s) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, "`")) {
			return s[:n]
		}
	}
	return ""
}

// hiddenAfter reports whether an HTML comment is open at the end of line. In a
// code span none begins.
func hiddenAfter(line string, open bool) bool {
	for {
		mark := "<!--"
		if open {
			mark = "-->"
		} else {
			line = codeSpan.ReplaceAllString(line, "")
		}
		_, rest, ok := strings.Cut(line, mark)
		if !ok {
			return open
		}
		line, open = rest, !open
	}
}

var (
	codeSpan = lazyregexp.New("``[^`]+``|`[^`]+`")
	listItem = lazyregexp.New(`^(?:(?:[-*+]|[0-9]{1,9}[.)]) {1,4})+`)
)

// endsSoon reports whether a comment that began within a paragraph ends within
// it. One that does not is text.
func endsSoon(lines []string) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			return false
		}
		if strings.Contains(l, "-->") {
			return true
		}
	}
	return false
}

// rawAfter reports whether a block of preformatted HTML is open at the end of
// a line.
func rawAfter(line string, open bool) bool {
	s := strings.ToLower(line)
	if !open && !rawTag.MatchString(s) {
		return false
	}
	return !strings.Contains(s, "</pre>") && !strings.Contains(s, "</code>")
}

var rawTag = lazyregexp.New(`^<(?:pre|code)(?:[ \t>]|$)`)

func split(body string) []string { return strings.Split(body, "\n") }
