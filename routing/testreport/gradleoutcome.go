package testreport

import (
	"strings"
)

// outcomes are what Gradle prints behind a test's name.
var gradleOutcomes = [...]string{" FAILED", " PASSED", " SKIPPED", " STARTED", " STANDARD_OUT", " STANDARD_ERROR", " STANDARD_ERR"}

// outcome reads "T > test() FAILED".
func (g *gradleConsole) outcome(t string) bool {
	last := t[len(t)-1]
	if last != 'D' && last != 'T' && last != 'R' || len(t) > 4<<10 {
		return false
	}
	name, how := t, ""
	for _, o := range gradleOutcomes {
		if n, ok := strings.CutSuffix(t, o); ok {
			name, how = n, o[1:]
			break
		}
	}
	if how == "" {
		return false
	}
	i := strings.LastIndex(name, " > ")
	if i <= 0 {
		if how == "FAILED" && g.seen && isIdent(name, ".$ ") && name[0] >= 'A' {
			g.maybe = newFailure(Test{Suite: name, Name: className(name), Status: Failed, Kind: KindSetup, At: g.at}, shrunk(g.lim, len(g.tests)))
		}
		return false
	}
	if !gradleSuite(name[:i]) {
		return false
	}
	t0 := Test{Suite: name[:i], Name: name[i+3:], At: g.at}
	switch how {
	case "FAILED":
		t0.Status = Failed
		if t0.Name == "initializationError" || t0.Name == "classMethod" || t0.Name == "executionError" {
			t0.Kind = KindSetup
		}
		g.fail(newFailure(t0, shrunk(g.lim, len(g.tests))))
	case "PASSED":
		if g.byName[t0.Suite+"\x00"+t0.Name] != nil && len(g.passed) < g.lim.Failing {
			g.passed[strings.Clone(t0.Suite+"\x00"+t0.Name)] = true
			break // told when the task ends
		}
		if !g.seen {
			return false
		}
		g.named.passed++
		t0.Status = Passed
		g.out.Test(t0)
	case "SKIPPED":
		if !g.seen {
			return false
		}
		g.named.skipped++
		t0.Status = Skipped
		g.out.Test(t0)
	}
	return g.seen
}

// gradleSuite reports whether s can be what stands before a test's name: a
// class, or a path of classes and display names.
func gradleSuite(s string) bool {
	first, _, _ := strings.Cut(s, " > ")
	return first != "" && !strings.ContainsAny(first[:1], "-+*#>|<[({\"'`$/\\=~:") && !strings.Contains(first, "::") && !strings.HasSuffix(first, ":") && !isScript(first)
}

// fail begins the failure of a test. The same name again is a further attempt,
// or a test that is run with several values.
func (g *gradleConsole) fail(f *failure) {
	g.block = f
	if len(g.tests) < 5*g.lim.Failing {
		g.tests = append(g.tests, f)
		g.byName[f.t.Suite+"\x00"+f.t.Name] = f
	}
}

// logger reads the lines of the test-logger plugin: "name FAILED (1.2s)".
func (g *gradleConsole) logger(t string) bool {
	t = strings.TrimRight(t, " ")
	if strings.HasSuffix(t, ")") {
		if i := strings.LastIndex(t, " ("); i > 0 {
			t = t[:i]
		}
	}
	name, ok := strings.CutSuffix(t, " FAILED")
	if !ok || !g.seen || len(g.logged) >= g.lim.Failing {
		return false
	}
	f := newFailure(Test{Name: name, Status: Failed, At: g.at}, shrunk(g.lim, len(g.tests)))
	f.t.Suite = g.class
	g.logged = append(g.logged, f)
	g.block = f
	return true
}
