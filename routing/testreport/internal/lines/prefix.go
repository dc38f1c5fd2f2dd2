package lines

import (
	"strings"
)

// CutPrefixed cuts prefix off; of an empty line its last blank may be missing.
func CutPrefixed(text, prefix string) (string, bool) {
	if rest, ok := strings.CutPrefix(text, prefix); ok {
		return rest, true
	}
	return "", text != "" && text == strings.TrimRight(prefix, " ")
}

// OutputPrefix returns what may be a tool's prefix of a line: "pkg:test: ",
// "@scope/pkg: ", "web_1  | ", "[INFO] ".
func OutputPrefix(t string) string {
	if len(t) > 1 && t[0] == ' ' && t[1] == ' ' {
		return "" // inlined, for the many lines that are
	}
	return findPrefix(t)
}

func findPrefix(t string) string {
	t = t[:min(len(t), 81)]
	// What decides are the blanks and the bytes before them.
	for j := 1; j < len(t); j++ {
		n := strings.IndexByte(t[j:], ' ')
		if n < 0 {
			return ""
		}
		j += n
		if j > 1 {
			switch c := t[j-1]; {
			case c == ':', c == '|', c == ']' && t[0] == '[':
				return t[:j+1]
			}
		}
		if j+1 >= len(t) || t[0] == ' ' || t[j+1] != ' ' && t[j+1] != '|' {
			return ""
		}
	}
	return ""
}
