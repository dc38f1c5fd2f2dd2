package diagnosis

import (
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// Normalise returns s without the parts that change from run to run: times, durations, addresses,
// ids, ports, process ids, temporary and workspace paths, line numbers, ANSI sequences. Two texts
// with the same cause become equal; numbers that a test compares are kept.
func Normalise(s string) string {
	if len(s) > 8<<10 {
		s = s[:8<<10]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := normaliser{in: s}
	n.out.Grow(len(s))
	n.run()
	return strings.TrimSpace(n.out.String())
}

type normaliser struct {
	in  string
	i   int
	out strings.Builder
}

// run copies the text token by token: a run of blanks becomes one blank, a variable word becomes a
// placeholder.
func (n *normaliser) run() {
	for n.i < len(n.in) {
		c := n.in[n.i]
		switch {
		case c == 0x1b:
			n.i += ansiLen(n.in[n.i:])
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			for n.i < len(n.in) && strings.IndexByte(" \t\r\n", n.in[n.i]) >= 0 {
				n.i++
			}
			n.out.WriteByte(' ')
		case wordStart(n.in, n.i):
			n.word()
		default:
			n.out.WriteByte(c)
			n.i++
		}
	}
}

// wordStart reports whether a word or path starts at i.
func wordStart(s string, i int) bool {
	if !wordByte(s[i]) && s[i] != '/' && s[i] != '\\' {
		return false
	}
	return i == 0 || !wordByte(s[i-1])
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// word copies the word at i, or its placeholder if one of the patterns matches.
func (n *normaliser) word() {
	rest := n.in[n.i:]
	for _, p := range variable {
		if !p.start(rest[0]) {
			continue
		}
		if m := p.re.FindStringIndex(rest); m != nil && m[1] > 0 {
			if p.check != nil && !p.check(rest[:m[1]]) {
				continue
			}
			n.out.WriteString(p.to)
			n.i += m[1]
			return
		}
	}
	k := 0
	for k < len(rest) && wordByte(rest[k]) {
		k++
	}
	if k == 0 {
		k = 1
	}
	n.out.WriteString(rest[:k])
	n.i += k
	n.place()
}

// place replaces ":12:3" and "(12,3)" after a file name, and ", line 12".
func (n *normaliser) place() {
	if m := lineCol.FindStringIndex(n.in[n.i:]); m != nil && fileBefore(n.in[:n.i]) {
		n.out.WriteString("<LINE>")
		n.i += m[1]
	}
}

// fileBefore reports whether s ends in a file name with an extension.
func fileBefore(s string) bool {
	k := len(s)
	for k > 0 && wordByte(s[k-1]) {
		k--
	}
	ext := s[k:]
	return len(ext) >= 1 && len(ext) <= 10 && k > 0 && s[k-1] == '.' && !allDigits(ext)
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 0
}

func ansiLen(s string) int {
	if !strings.HasPrefix(s[1:], "[") {
		return min(2, len(s))
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// pattern is one kind of text that changes from run to run.
type pattern struct {
	to    string
	first string // bytes it may start with; "" is any
	re    *multimatch.Matcher
	check func(string) bool
}

func (p pattern) start(c byte) bool {
	return p.first == "" || strings.IndexByte(p.first, c) >= 0
}

const (
	digits = "0123456789"
	hexes  = "0123456789abcdefABCDEF"
)

// lineCol is a position after a file name: ":12", ":12:3", "(12,3)", ":[12,3]", `", line 12`.
var lineCol = multimatch.NewMatcher(`^(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)|:\[\d+,\d+\]|"?, line \d+)`)

// variable are the patterns, longest first; the first that matches at the start of a word applies.
var variable = []pattern{
	{to: "<UUID>", first: hexes, re: multimatch.NewMatcher(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)},
	{to: "<TIME>", first: digits, re: multimatch.NewMatcher(`^\d{4}[-/]\d\d?[-/]\d\d?(?:[T ]\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?\b`)},
	{to: "<TIME>", first: "MTWFS", re: multimatch.NewMatcher(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d\d? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?:\d\d? )?(?:\d{4} )?\d\d:\d\d:\d\d(?: (?:UTC|GMT|[A-Z]{3,4}|[+-]\d{4}))?(?: \d{4})?`)},
	{to: "<TIME>", first: digits, re: multimatch.NewMatcher(`^\d\d?:\d\d:\d\d(?:[.,]\d+)?\b`)},
	{to: "<IP>", first: digits, re: multimatch.NewMatcher(`^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5})?\b`)},
	{to: "<HEX>", first: "0", re: multimatch.NewMatcher(`^0[xX][0-9a-fA-F]+\b`), check: func(s string) bool { return len(s) >= 6 }},
	{to: "<ID>", first: hexes, re: multimatch.NewMatcher(`^[0-9a-fA-F]{7,64}\b`), check: mixedHex},
	{to: "<TIME>", first: "1", re: multimatch.NewMatcher(`^1[5-9]\d{8}(?:\d{3}|\.\d+)?\b`)},
	// The prefix of the workspace is removed, so that absolute and relative paths become equal.
	{to: "", first: "/", re: multimatch.NewMatcher(`^/(?:home/runner/work/[^/\s]+/[^/\s]+|__w/[^/\s]+/[^/\s]+|github/workspace|Users/runner/work/[^/\s]+/[^/\s]+|builds/[^/\s]+/[^/\s]+|home/travis/build/[^/\s]+/[^/\s]+|var/lib/jenkins/workspace/[^/\s]+|home/circleci/project|workspace)/`)},
	{to: "", first: "ABCDEFabcdef", re: multimatch.NewMatcher(`^[A-Fa-f]:[\\/]a[\\/][^\\/\s]+[\\/][^\\/\s]+[\\/]`)},
	{to: "<TMP>", first: "/", re: multimatch.NewMatcher(`^/(?:private/)?(?:tmp|var/folders|var/tmp)/[^\s"'):,;]*`)},
	{to: "<TMP>", first: "CDcd", re: multimatch.NewMatcher(`^[CDcd]:\\(?:Users\\[^\\\s]+\\AppData\\Local\\Temp|Windows\\Temp|Temp)\\[^\s"'):,;]*`)},
	{to: "<DUR>", first: digits, re: multimatch.NewMatcher(`^(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?: ?(?:ns|µs|us|ms|s|secs?|seconds?|minutes?|mins?|hours?))\b`)},
	{to: "<PORT>", first: "l", re: multimatch.NewMatcher(`^localhost:\d{2,5}\b`)},
	{to: "<PORT>", first: "pP", re: multimatch.NewMatcher(`^[pP]ort[ =:]+\d{2,5}\b`)},
	{to: "<PID>", first: "pPgt", re: multimatch.NewMatcher(`^(?:[pP](?:ID|id)|process|goroutine|thread|tid)[ =:#]+\d+\b`)},
	{to: "<LINE>", first: "l", re: multimatch.NewMatcher(`^line \d+\b`)},
	{to: "<LINE>", first: "l", re: multimatch.NewMatcher(`^lines? \d+-\d+\b`)},
}

// mixedHex reports whether s is an id and not a word or number: it has digits and letters, or the
// length of a hash.
func mixedHex(s string) bool {
	d := strings.ContainsAny(s, digits)
	l := strings.ContainsAny(s, "abcdefABCDEF")
	return d && l || len(s) >= 32
}
