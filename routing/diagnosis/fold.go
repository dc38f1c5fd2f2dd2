package diagnosis

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// foldTests drops a test that failed only because a subtest ("Parent/sub" of the same suite)
// failed, and a parent of a listed subtest that has no message of its own.
func foldTests(tests []testreport.Test) []testreport.Test {
	type key struct{ suite, name string }
	parents := map[key]bool{}
	for _, t := range tests {
		for i := strings.LastIndexByte(t.Name, '/'); i > 0; i = strings.LastIndexByte(t.Name[:i], '/') {
			parents[key{t.Suite, t.Name[:i]}] = true
		}
	}
	out := make([]testreport.Test, 0, len(tests))
	for _, t := range tests {
		if parents[key{t.Suite, t.Name}] && (t.Parent || !speaks(t)) {
			continue
		}
		out = append(out, t)
	}
	return out
}

// speaks reports whether a test has a message of its own, besides the lines of the runner.
func speaks(t testreport.Test) bool {
	if t.Kind == testreport.KindCrash || t.Kind == testreport.KindTimeout || t.Kind == testreport.KindRace {
		return true
	}
	for line := range strings.Lines(t.Message + "\n" + t.Trace) {
		s := strings.TrimSpace(line)
		if s == "" || strings.HasPrefix(s, "=== ") || strings.HasPrefix(s, "--- ") || s == "Failed" || s == "FAIL" || s == "failed" {
			continue
		}
		return true
	}
	return false
}

// foldFailures drops a failure that repeats an earlier one: two formats of one run, or a summary
// after the details. Equal names in different packages are different failures.
func foldFailures(all []found) []found {
	byName := map[string][]int{}
	out := make([]found, 0, len(all))
next:
	for _, f := range all {
		key := f.Kind + "\x00" + strings.ToLower(f.Name)
		if f.Kind != "problem" && f.Kind != "diagnostic" {
			key = strings.ToLower(f.Name)
		}
		for _, i := range byName[key] {
			if sameFailure(out[i], f) {
				merge(&out[i], f)
				continue next
			}
		}
		byName[key] = append(byName[key], len(out))
		out = append(out, f)
	}
	return out
}

func sameFailure(a, b found) bool {
	if a.Kind == "problem" || a.Kind == "diagnostic" {
		return a.File == b.File && a.Line == b.Line && a.Message == b.Message
	}
	if a.Suite == b.Suite {
		return sameFile(a, b)
	}
	x, y := suitePath(a.Suite), suitePath(b.Suite)
	return (hasTail(x, y) || hasTail(y, x)) && sameMessage(a, b)
}

func sameFile(a, b found) bool {
	return a.File == b.File || a.File == "" || b.File == "" || hasTail(suitePath(a.File), suitePath(b.File)) || hasTail(suitePath(b.File), suitePath(a.File))
}

func sameMessage(a, b found) bool {
	x, y := Normalise(oneLine(a.Message)), Normalise(oneLine(b.Message))
	return x == y || strings.Contains(x, y) || strings.Contains(y, x)
}

var suiteSeparators = strings.NewReplacer(".py", "", "::", "/", " > ", "/", " › ", "/", ".", "/", `\`, "/")

func suitePath(s string) string { return strings.ToLower(suiteSeparators.Replace(s)) }

func hasTail(s, tail string) bool {
	return s == tail || tail != "" && strings.HasSuffix(s, "/"+tail)
}

// merge adds to a what only b, the same failure, states.
func merge(a *found, b found) {
	if a.File == "" {
		a.File, a.Line = b.File, b.Line
	}
	if a.Expected == "" && a.Actual == "" {
		a.Expected, a.Actual = b.Expected, b.Actual
	}
	if a.Trace == "" {
		a.Trace = b.Trace
	}
	if a.at == 0 {
		a.at = b.at
	}
}
