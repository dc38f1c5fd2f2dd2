package diagnosis

import (
	"strings"
)

// pattern is one kind of text that changes from run to run.
type pattern struct {
	to    string
	first string // bytes it may start with; "" is any
	re    *quick
	check func(string) bool
}

func (p pattern) start(c byte) bool {
	return p.first == "" || strings.IndexByte(p.first, c) >= 0
}

const (
	digits = "0123456789"
	hexes  = "0123456789abcdefABCDEF"
)

// lineCol is a place behind a file name: ":12", ":12:3", "(12,3)", ":[12,3]",
// `", line 12`.
var lineCol = mustQuick(`^(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)|:\[\d+,\d+\]|"?, line \d+)`)

// variable lists them, longest shape first; the first that matches at the
// start of a word wins.
var variable = []pattern{
	{to: "<UUID>", first: hexes, re: mustQuick(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)},
	{to: "<TIME>", first: digits, re: mustQuick(`^\d{4}[-/]\d\d?[-/]\d\d?(?:[T ]\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?\b`)},
	{to: "<TIME>", first: "MTWFS", re: mustQuick(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d\d? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?:\d\d? )?(?:\d{4} )?\d\d:\d\d:\d\d(?: (?:UTC|GMT|[A-Z]{3,4}|[+-]\d{4}))?(?: \d{4})?`)},
	{to: "<TIME>", first: digits, re: mustQuick(`^\d\d?:\d\d:\d\d(?:[.,]\d+)?\b`)},
	{to: "<IP>", first: digits, re: mustQuick(`^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5})?\b`)},
	{to: "<HEX>", first: "0", re: mustQuick(`^0[xX][0-9a-fA-F]+\b`), check: func(s string) bool { return len(s) >= 6 }},
	{to: "<ID>", first: hexes, re: mustQuick(`^[0-9a-fA-F]{7,64}\b`), check: mixedHex},
	{to: "<TIME>", first: "1", re: mustQuick(`^1[5-9]\d{8}(?:\d{3}|\.\d+)?\b`)},
	// A workspace prefix goes altogether, so that absolute and relative agree.
	{to: "", first: "/", re: mustQuick(`^/(?:home/runner/work/[^/\s]+/[^/\s]+|__w/[^/\s]+/[^/\s]+|github/workspace|Users/runner/work/[^/\s]+/[^/\s]+|builds/[^/\s]+/[^/\s]+|home/travis/build/[^/\s]+/[^/\s]+|var/lib/jenkins/workspace/[^/\s]+|home/circleci/project|workspace)/`)},
	{to: "", first: "ABCDEFabcdef", re: mustQuick(`^[A-Fa-f]:[\\/]a[\\/][^\\/\s]+[\\/][^\\/\s]+[\\/]`)},
	{to: "<TMP>", first: "/", re: mustQuick(`^/(?:private/)?(?:tmp|var/folders|var/tmp)/[^\s"'):,;]*`)},
	{to: "<TMP>", first: "CDcd", re: mustQuick(`^[CDcd]:\\(?:Users\\[^\\\s]+\\AppData\\Local\\Temp|Windows\\Temp|Temp)\\[^\s"'):,;]*`)},
	{to: "<DUR>", first: digits, re: mustQuick(`^(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?: ?(?:ns|µs|us|ms|s|secs?|seconds?|minutes?|mins?|hours?))\b`)},
	{to: "<PORT>", first: "l", re: mustQuick(`^localhost:\d{2,5}\b`)},
	{to: "<PORT>", first: "pP", re: mustQuick(`^[pP]ort[ =:]+\d{2,5}\b`)},
	{to: "<PID>", first: "pPgt", re: mustQuick(`^(?:[pP](?:ID|id)|process|goroutine|thread|tid)[ =:#]+\d+\b`)},
	{to: "<LINE>", first: "l", re: mustQuick(`^line \d+\b`)},
	{to: "<LINE>", first: "l", re: mustQuick(`^lines? \d+-\d+\b`)},
}

// mixedHex reports whether s is an id and no word or number: it has digits and
// letters, or is as long as a hash.
func mixedHex(s string) bool {
	d := strings.ContainsAny(s, digits)
	l := strings.ContainsAny(s, "abcdefABCDEF")
	return d && l || len(s) >= 32
}
