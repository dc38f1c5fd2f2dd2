package render

import "strings"

// diff shows what was expected and what came as a small diff: lines on both
// sides once, the others marked.
func (v view) diff(expected, actual string, d detail) string {
	a, b := side(expected, d), side(actual, d)
	head := "--- " + v.lang.say("fail.expected") + "\n+++ " + v.lang.say("fail.actual") + "\n"
	lines := lineDiff(a, b)
	if len(lines) > 2*d.lines {
		lines = append(append([]string{}, lines[:2*d.lines]...), "…")
	}
	return fence("diff", head+strings.Join(lines, "\n"))
}

func side(s string, d detail) []string {
	return strings.Split(wrapLines(cutMiddle(s, d.text), 3*d.lines, 300), "\n")
}

// lineDiff returns a and b as lines that begin with " ", "-" or "+", by their
// longest common subsequence. Both are short: see side.
func lineDiff(a, b []string) []string {
	lcs := make([][]int, len(a)+1)
	for i := range lcs {
		lcs[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lcs[i][j] = lcs[i+1][j+1] + 1
			} else {
				lcs[i][j] = max(lcs[i+1][j], lcs[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || lcs[i+1][j] >= lcs[i][j+1]):
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}
