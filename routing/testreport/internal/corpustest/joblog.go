package corpustest

import (
	"fmt"
	"strings"
)

// JobLog puts what GitHub and a terminal add to each line around it: a time,
// carriage returns and colours.
func JobLog(text string) string {
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "2026-01-02T03:04:%02d.1234567Z ", i%60)
		if j := strings.IndexFunc(l, func(r rune) bool { return r != ' ' }); j >= 0 && i%2 == 0 {
			l = l[:j] + "\x1b[31m\x1b[1m" + l[j:] + "\x1b[0m"
		}
		b.WriteString(l + "\r\n")
	}
	return b.String()
}
