package testreport

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// boostTestFormat reads the human-readable log of Boost.Test.
var boostTestFormat = format{
	name:    "boost-test",
	order:   700,
	wakes:   &wake{flush: "R"},
	console: func(out Sink, lim Limits) console { return &boostConsole{out: out, lim: lim, anon: newAnonymous()} },
}

type boostConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	open  bool
	at    int
	cases int
	tests []*failure
	byKey map[string]*failure
	cur   *failure
}

var (
	boostRunning = multimatch.New(`^Running (\d+) test cases?\.\.\.$`)
	boostError   = multimatch.New(`^(.+?)\((\d+)\): (fatal error|error): in "([^"]+)": (.+)$`)
	boostEnd     = multimatch.New(`^\*\*\* (?:(\d+) (?:failures?|errors?)|No errors) (?:is |are )?detected(?: in (?:the )?test (?:module|suite) "(.*)")?`)
	boostAbort   = multimatch.New(`^\*\*\* (?:The test module "(.*)" was aborted)`)
)

func (b *boostConsole) idle() bool {
	return !b.open && b.cur == nil
}

func (b *boostConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			b.end()
		}
		return false
	}
	b.at = l.No
	t := l.Text
	if t == "" {
		return false
	}
	switch t[0] {
	case 'R':
		if !strings.HasPrefix(t, "Running ") {
			break
		}
		if m := boostRunning.FindStringSubmatch(t); m != nil {
			b.end()
			b.open, b.byKey = true, map[string]*failure{}
			b.cases, _, _ = leadingInt(m[1])
			return true
		}
	case '*':
		if b.open && strings.HasPrefix(t, "*** ") {
			return b.ended(t)
		}
	}
	if !b.open {
		return false
	}
	if t[0] == 'T' && strings.HasPrefix(t, "Test module \"") && (strings.HasSuffix(t, " has failed with:") || strings.HasSuffix(t, " has passed with:")) {
		b.close(strings.HasSuffix(t, " has failed with:"), "")
		return true
	}
	if strings.Contains(t, "error: in \"") {
		if m := boostError.FindStringSubmatch(t); m != nil {
			b.failed(m, t)
			return true
		}
	}
	if b.cur != nil {
		if t[0] == ' ' || strings.Contains(t, ": last checkpoint") || strings.HasPrefix(t, "Failure occurred in") {
			b.cur.text.add(t)
			return true
		}
		b.cur = nil
	}
	return false
}

func (b *boostConsole) failed(m []string, t string) {
	f := b.byKey[m[4]]
	if f == nil {
		suite, name := "", m[4]
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			suite, name = strings.ReplaceAll(name[:i], "/", " > "), name[i+1:]
		}
		f = newFailure(Test{Suite: suite, Name: name, Status: Failed, At: b.at, Message: strings.Clone(m[5]), Kind: KindAssertion}, shrunk(b.lim, len(b.tests)))
		if m[1] != "unknown location" {
			f.t.File = strings.Clone(m[1])
			f.t.Line, _, _ = leadingInt(m[2])
		}
		switch {
		case strings.Contains(m[5], "memory access violation") || strings.Contains(m[5], "signal:") || strings.Contains(m[5], "SIGSEGV") || strings.Contains(m[5], "SIGABRT"):
			f.t.Kind = KindCrash
		case strings.Contains(m[5], "timeout while executing"):
			f.t.Kind = KindTimeout
		case m[3] == "fatal error" && m[1] == "unknown location":
			f.t.Kind = KindError
		}
		if i := strings.Index(m[5], " has failed ["); i > 0 {
			in := strings.TrimSuffix(m[5][i+len(" has failed ["):], "]")
			if a, e, ok := strings.Cut(in, " != "); ok {
				f.t.Actual, f.t.Expected = strings.Clone(a), strings.Clone(e)
			}
		}
		if len(b.tests) < 5*b.lim.Failing {
			b.tests = append(b.tests, f)
			b.byKey[strings.Clone(m[4])] = f
		}
	}
	f.text.add(t)
	b.cur = f
}

func (b *boostConsole) ended(t string) bool {
	m := boostEnd.FindStringSubmatch(t)
	aborted := boostAbort.MatchString(t)
	if m == nil && !aborted {
		return false
	}
	if aborted {
		b.out.Problem(Problem{Kind: KindCrash, Name: "boost-test", Message: strings.Clone(t), At: b.at})
		b.close(false, "")
		return true
	}
	b.close(m[1] != "", m[2])
	return true
}

// close ends the module with what its last lines say.
func (b *boostConsole) close(failed bool, module string) {
	named := b.emit()
	b.anon.emit(b.out, b.cases-named, Test{Status: Passed, At: b.at})
	if failed && named == 0 {
		b.out.Problem(Problem{Kind: KindPackage, Name: firstOf(module, "boost-test"), At: b.at, Message: "failures are stated, none is named"})
	}
	b.open = false
}

func (b *boostConsole) emit() int {
	for _, f := range b.tests {
		f.t.Trace = f.text.String()
		b.out.Test(f.t)
	}
	n := len(b.tests)
	b.tests, b.cur, b.byKey = nil, nil, map[string]*failure{}
	return n
}

func (b *boostConsole) end() {
	if b.open {
		b.emit()
		b.out.Problem(Problem{Kind: KindTruncated, At: b.at, Message: "the output of Boost.Test ends before its totals"})
	}
	b.open = false
}
