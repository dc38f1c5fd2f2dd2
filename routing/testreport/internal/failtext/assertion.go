package failtext

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// assertionWindow bounds how much of a text is searched for the two sides of
// an assertion: tools state them at the top.
const assertionWindow = 8 << 10

// SplitAssertion returns the two sides that text states in the words of a
// known assertion library. It returns ok only if both sides are stated; where a
// library does not say which side was expected (assert a == b), the right one
// is taken as the expected.
func SplitAssertion(text string) (expected, actual string, ok bool) {
	if len(text) > assertionWindow {
		text = strings.ToValidUTF8(text[:assertionWindow], "")
	}
	if !mayAssert(text) {
		return "", "", false
	}
	if e, a, ok := labelledSides(text); ok {
		return e, a, true
	}
	if e, a, ok := diffSides(text); ok {
		return e, a, true
	}
	for i := range assertionStyles {
		s := &assertionStyles[i]
		if s.needs != "" && !strings.Contains(text, s.needs) {
			continue
		}
		m := s.re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		e, a := unwrap(m[s.expected], m[s.actual])
		if e == "" && a == "" {
			continue
		}
		return e, a, true
	}
	return "", "", false
}

// mayAssert is a cheap test for any word that every known style has.
func mayAssert(text string) bool {
	for _, w := range [...]string{"xpect", "assert", "want", "!=", "left", "did not equal", "Assert", "expansion"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// assertionStyle is one sentence in which a library states both sides.
type assertionStyle struct {
	needs            string // must occur, "" for no condition
	re               *lazyregexp.Regexp
	expected, actual int // submatch
}

// assertionStyles are tried in order; the stricter stand before the looser.
var assertionStyles = []assertionStyle{
	// JUnit, Kotlin, Jest-like ports: expected: <a> but was: <b>
	{"but was", lazyregexp.New(`(?is)expected:?\s*(?:same:)?\s*<(.*?)>\s*but was(?: not)?:?\s*<(.*?)>(?:\s|$|[.,)])`), 1, 2},
	{"but was", lazyregexp.New(`(?i)expected:?\s+(\S.*?),?\s+but was:?\s+(.+)`), 1, 2},
	// TestNG: expected [a] but found [b]
	{"but found", lazyregexp.New(`(?is)expected \[(.*?)\] but found \[(.*?)\]`), 1, 2},
	// MSTest: Expected:<1>. Actual:<2>.
	{"Actual:<", lazyregexp.New(`(?s)Expected:<(.*?)>(?: \([^)]*\))?\. Actual:<(.*?)>`), 1, 2},
	// PHPUnit
	{"matches expected", lazyregexp.New(`Failed asserting that (.+?) matches expected (.+?)\.?(?:\n|$)`), 2, 1},
	{"is identical to", lazyregexp.New(`Failed asserting that (.+?) is identical to (.+?)\.?(?:\n|$)`), 2, 1},
	{"Failed asserting that", lazyregexp.New(`Failed asserting that (.+?) is (true|false|null|empty)\.?(?:\n|$)`), 2, 1},
	// Cypress: expected X to have text 'a', but the text was 'b'
	{"but the ", lazyregexp.New(`expected .+? to (?:have|contain|be) \w+ (.+?), but the \w+ was (.+)`), 1, 2},
	// XCTest
	{"is not equal to", lazyregexp.New(`\("(.*?)"\) is not equal to \("(.*?)"\)`), 2, 1},
	// Gomega: Expected\n    <int>: 1\nto equal\n    <int>: 2
	{"\nto ", lazyregexp.New(`Expected\n\s+((?s:.+?))\nto (?:equal|be (?:identical|equivalent) to|deep equal|match JSON of|match)\n\s+(.+)`), 2, 1},
	// AssertJ before 3.21: Expecting:\n <a>\nto be equal to:\n <b>
	{"Expecting", lazyregexp.New(`(?s)Expecting(?: actual)?:\s*\n\s*(.+?)\s*\n\s*to be (?:equal to|the same instance as):?\s*\n\s*(.+?)\s*\n`), 2, 1},
	// GoogleTest: both values, or what they are, on lines of their own
	{"Expected equality of these values", lazyregexp.New(`Expected equality of these values:\n {2}.*\n {4}Which is: (.*)\n {2}.*\n {4}Which is: (.*)`), 1, 2},
	{"Expected equality of these values", lazyregexp.New(`Expected equality of these values:\n {2}.*\n {4}Which is: (.*)\n {2}(.*)`), 1, 2},
	{"Expected equality of these values", lazyregexp.New(`Expected equality of these values:\n {2}(.*)\n {2}.*\n {4}Which is: (.*)`), 1, 2},
	{"Expected equality of these values", lazyregexp.New(`Expected equality of these values:\n {2}(.*)\n {2}(.*)`), 1, 2},
	// Catch2: with expansion:\n  1 == 2
	{"with expansion", lazyregexp.New(`with expansion:\s*\n\s*(.+?) == (.+)`), 2, 1},
	// node:assert: 1 !== 2, 1 == 2 on a line of its own
	{"xpected values", lazyregexp.New(`Expected values to be (?:strictly|loosely)? ?(?:deep-)?equal:\n\n(.+?) !==? (.+)`), 2, 1},
	// Chai, Jasmine, Vitest: expected 1 to equal 2
	{"xpected ", lazyregexp.New(`[Ee]xpected (.+?) to (?:strictly |deeply |loosely )?(?:equal|eql|be equal to|deep equal|be) (?:to )?(.+?)(?: // .*)?\.?(?:\n|$)`), 2, 1},
	// ScalaTest
	{"did not equal", lazyregexp.New(`(\S.*?) did not equal (.+?)(?: \(\S+:\d+\))?(?:\n|$)`), 2, 1},
	// Go: expected X, got Y; got X, want Y; want X, got Y; F() = X, want Y
	{"want", lazyregexp.New(`(?i)\bgot:? (.+?)[,;]? (?:but )?want(?:ed)?:? (.+)`), 2, 1},
	{"got", lazyregexp.New(`(?i)\bwant(?:ed)?:? (.+?)[,;]? (?:but )?got:? (.+)`), 1, 2},
	{"want", lazyregexp.New(` = (.+?)[,;] want(?:ed)? (.+)`), 2, 1},
	{"want", lazyregexp.New(` (\S+)[,;] want(?:ed)? (.+)`), 2, 1},
	{"got", lazyregexp.New(`(?i)\bexpected:? (?:to (?:get|be|have) )?(.+?)[,;]?(?: but| instead)? (?:I )?got:? (.+)`), 1, 2},
	{"xpected", lazyregexp.New(`\b[Gg]ot:? (.+?)[,;]? (?:but )?[Ee]xpected:? (.+)`), 2, 1},
	{"actual", lazyregexp.New(`(?i)\bexpected:? (.+?)[,;]? (?:but )?actual:? (.+)`), 1, 2},
	{"received", lazyregexp.New(`(?i)\bexpected:? (.+?)[,;]? (?:but )?received:? (.+)`), 1, 2},
	// gotest.tools: assertion failed: 1 (x int) != 2 (y int)
	{"assertion failed:", lazyregexp.New(`assertion failed: (.+?) (?:\(.*?\) )?!= (.+?)(?: \([^()]*\))?(?:\n|$)`), 2, 1},
	// pytest, unittest
	{"assert ", lazyregexp.New(`(?m)(?:^E\s+(?:AssertionError: )?|^|AssertionError: )assert (.+?) == (.+)$`), 2, 1},
	{"!=", lazyregexp.New(`(?m)AssertionError: (?:\w+ differ: )?(.+?) != (.+)$`), 2, 1},
	{"!=", lazyregexp.New(`(?m)\A(?:\w+ differ: )?(\S.*?) !==? (.+)$`), 2, 1},
}

var (
	expectedLabel = lazyregexp.New(`(?i)^(?:E\s+)?[\s#>|]*(?:expected(?: value)?|want|wanted|expect)\s*:(?:\s|$|<)`)
	actualLabel   = lazyregexp.New(`(?i)^(?:E\s+)?[\s#>|]*(?:actual(?: value)?|got|received|but was|but|found|have)\s*:(?:\s|$|<)`)
	leftLabel     = lazyregexp.New(`^(?:E\s+)?[\s#>|]*left\s*:(?:\s|$)`)
	rightLabel    = lazyregexp.New(`^(?:E\s+)?[\s#>|]*right\s*:(?:\s|$)`)
)

// labelledSides reads sides that stand behind labels on lines of their own:
// "Expected: a" and "Actual: b" (xUnit, NUnit, Jest, RSpec, testify, Hamcrest),
// "left: a" and "right: b" (Rust, ExUnit). A value may run over further lines.
func labelledSides(text string) (expected, actual string, ok bool) {
	if !strings.Contains(text, ":") {
		return "", "", false
	}
	lines := strings.Split(text, "\n")
	var e, a, l, r string
	var hasE, hasA, hasL, hasR bool
	for i, line := range lines {
		if len(line) > 4<<10 || !strings.Contains(line, ":") {
			continue
		}
		switch {
		case !hasE && expectedLabel.MatchString(line):
			e, hasE = labelValue(lines[i:]), true
		case !hasA && actualLabel.MatchString(line):
			a, hasA = labelValue(lines[i:]), true
		case !hasL && leftLabel.MatchString(line):
			l, hasL = labelValue(lines[i:]), true
		case !hasR && rightLabel.MatchString(line):
			r, hasR = labelValue(lines[i:]), true
		}
	}
	switch {
	case hasE && hasA:
		a = strings.TrimPrefix(a, "was ")
		e = strings.TrimPrefix(e, "is ")
		e, a = unwrap(e, a)
		return e, a, e != "" || a != ""
	case hasL && hasR:
		r, l = unwrap(strings.TrimSuffix(r, ","), strings.TrimSuffix(l, ","))
		return r, l, true
	}
	return "", "", false
}

// labelValue returns what stands behind the first colon of the first line, or,
// if that is nothing, the lines below it up to a blank one or the next label.
func labelValue(lines []string) string {
	_, v, _ := strings.Cut(lines[0], ":")
	if v = strings.TrimSpace(v); v != "" {
		return v
	}
	var b []string
	for _, line := range lines[1:min(len(lines), 20)] {
		if strings.TrimSpace(line) == "" || isLabel(line) {
			break
		}
		b = append(b, strings.TrimSpace(line))
	}
	return strings.Join(b, "\n")
}

func isLabel(line string) bool {
	return expectedLabel.MatchString(line) || actualLabel.MatchString(line)
}

// diffSides reads a unified diff between the sides: PHPUnit's and testify's
// "--- Expected", "+++ Actual", Jest's "- Expected", "+ Received", Mocha's
// "+ expected - actual" and node's "+ actual - expected".
func diffSides(text string) (expected, actual string, ok bool) {
	lines := strings.Split(text, "\n")
	minusExpected, start := true, -1
	for i, raw := range lines {
		line := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(raw, "E ")))
		switch {
		case line == "+ expected - actual":
			minusExpected, start = false, i+1
		case line == "+ actual - expected":
			start = i + 1
		case strings.HasPrefix(line, "- expected") || strings.HasPrefix(line, "--- expected"):
			if i+1 < len(lines) {
				next := strings.ToLower(strings.TrimSpace(lines[i+1]))
				if strings.HasPrefix(next, "+") && (strings.Contains(next, "received") || strings.Contains(next, "actual")) {
					start = i + 2
				}
			}
		}
		if start >= 0 {
			break
		}
	}
	if start < 0 {
		return "", "", false
	}
	var minus, plus []string
	blank := 0
	for _, raw := range lines[start:min(len(lines), start+60)] {
		line := strings.TrimSpace(raw)
		switch {
		case line == "":
			if blank++; blank > 1 && len(minus)+len(plus) > 0 {
				return diffResult(minus, plus, minusExpected)
			}
		case line[0] == '-' && !strings.HasPrefix(line, "---"):
			minus = append(minus, strings.TrimSpace(line[1:]))
		case line[0] == '+' && !strings.HasPrefix(line, "+++"):
			plus = append(plus, strings.TrimSpace(line[1:]))
		case strings.HasPrefix(line, "at ") && len(minus)+len(plus) > 0:
			return diffResult(minus, plus, minusExpected)
		}
	}
	return diffResult(minus, plus, minusExpected)
}

func diffResult(minus, plus []string, minusExpected bool) (expected, actual string, ok bool) {
	if len(minus) == 0 || len(plus) == 0 {
		return "", "", false
	}
	e, a := strings.Join(minus, "\n"), strings.Join(plus, "\n")
	if !minusExpected {
		e, a = a, e
	}
	return e, a, true
}

// unwrap trims both sides and takes off angle brackets or backticks that a
// library puts around both.
func unwrap(expected, actual string) (string, string) {
	e, a := strings.TrimSpace(expected), strings.TrimSpace(actual)
	for _, p := range [...]string{"<>", "``"} {
		if wrapped(e, p) && wrapped(a, p) {
			return e[1 : len(e)-1], a[1 : len(a)-1]
		}
	}
	return e, a
}

func wrapped(s, pair string) bool {
	return len(s) >= 2 && s[0] == pair[0] && s[len(s)-1] == pair[1]
}

// SidesBy sets the sides of an assertion that a format words in its own way.
func SidesBy(t *model.Test, expected, actual *lazyregexp.Regexp) {
	e, a := expected.FindStringSubmatch(t.Message), actual.FindStringSubmatch(t.Message)
	if e != nil && a != nil {
		t.Expected, t.Actual = strings.TrimSpace(e[1]), strings.TrimSpace(a[1])
	}
}
