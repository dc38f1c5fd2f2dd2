package testreport

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// doctestFormat reads the console of doctest, the C++ library.
var doctestFormat = format{
	name:    "doctest",
	order:   690,
	wakes:   &wake{flush: "["},
	console: func(out Sink, lim Limits) console { return &doctestConsole{out: out, lim: lim, anon: newAnonymous()} },
}

type doctestConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	open  bool
	at    int
	suite string
	name  string
	tests []*failure
	byKey map[string]*failure
	cur   *failure
	titl  bool // the lines below TEST CASE are subcases
	subs  []string
}

var doctestError = multimatch.New(`^(\S.*?)(?::(\d+)|\((\d+)\)): (ERROR|FATAL ERROR): (.*)$`)

func (d *doctestConsole) idle() bool {
	return !d.open
}

func (d *doctestConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			d.end()
		}
		return false
	}
	d.at = l.No
	t := l.Text
	if strings.HasPrefix(t, "[doctest] ") {
		return d.own(t[len("[doctest] "):])
	}
	if !d.open {
		return false
	}
	switch {
	case t == "":
		d.titl = false
		if d.cur != nil {
			d.cur.text.add("")
		}
	case strings.HasPrefix(t, "TEST SUITE: "):
		d.suite, d.cur = strings.Clone(strings.TrimSpace(t[len("TEST SUITE: "):])), nil
		return true
	case strings.HasPrefix(t, "TEST CASE:  "):
		d.name, d.titl, d.subs, d.cur = strings.Clone(strings.TrimSpace(t[len("TEST CASE:  "):])), true, nil, nil
		return true
	case t[0] == '=' && len(t) > 70:
		d.cur, d.suite, d.name = nil, "", ""
		return true
	case d.titl && t[0] == ' ' && len(d.subs) < 20:
		d.subs = append(d.subs, strings.Clone(strings.TrimSpace(t)))
		return true
	case strings.Contains(t, "ERROR: "):
		if m := doctestError.FindStringSubmatch(t); m != nil && d.name != "" {
			d.failed(m, t)
			return true
		}
		fallthrough
	default:
		if d.cur != nil {
			d.cur.text.add(t)
			return true
		}
	}
	return false
}

func (d *doctestConsole) failed(m []string, t string) {
	key := d.suite + "\x00" + d.name
	f := d.byKey[key]
	if f == nil {
		f = newFailure(Test{Suite: d.suite, Name: d.name, Status: Failed, At: d.at, File: strings.Clone(m[1]), Message: strings.Clone(m[5])}, shrunk(d.lim, len(d.tests)))
		f.t.Line, _, _ = leadingInt(m[2] + m[3])
		f.t.Kind = KindAssertion
		switch {
		case strings.Contains(m[5], "CRASHED"):
			f.t.Kind = KindCrash
		case strings.Contains(m[5], "THREW exception") || strings.Contains(m[5], "threw"):
			f.t.Kind = KindError
		}
		if len(d.tests) < 5*d.lim.Failing {
			d.tests = append(d.tests, f)
			d.byKey[key] = f
		}
	} else {
		f.text.add("")
	}
	if len(d.subs) > 0 {
		f.text.add("in " + strings.Join(d.subs, " > "))
	}
	f.text.add(t)
	d.cur = f
}

// own reads doctest's own lines.
func (d *doctestConsole) own(t string) bool {
	d.cur = nil
	switch {
	case strings.HasPrefix(t, "doctest version is"):
		d.end()
		d.open, d.byKey = true, map[string]*failure{}
		return true
	case strings.HasPrefix(t, "test cases:"):
		if !d.open {
			d.byKey = map[string]*failure{}
		}
		n, _ := numAfter(t, "test cases:")
		failed, _ := numBefore(t, " failed")
		named := d.emit()
		// What doctest calls skipped was left out by a filter and is not in its total.
		d.anon.emit(d.out, n-max(failed, named), Test{Status: Passed, At: d.at})
		if failed > named {
			d.out.Problem(Problem{Kind: KindPackage, Name: "doctest", At: d.at, Message: fmt.Sprintf("%d failing test case(s) stated, %d named", failed, named)})
		}
		d.open = false
		return true
	}
	return d.open || strings.HasPrefix(t, "assertions:") || strings.HasPrefix(t, "Status: ") || strings.HasPrefix(t, "run with ")
}

func (d *doctestConsole) emit() int {
	for _, f := range d.tests {
		text := strings.TrimSpace(f.text.String())
		f.t.Trace = text
		if strings.HasSuffix(f.t.Message, ":") || strings.Contains(f.t.Message, "is NOT correct") || f.t.Message == "test case THREW exception:" {
			first, _, _ := strings.Cut(text, "\n\n")
			if _, after, ok := strings.Cut(first, "ERROR: "); ok {
				f.t.Message = after
			}
		}
		if _, v, ok := strings.Cut(f.t.Message, "values: "); ok {
			v, _, _ = strings.Cut(v[strings.IndexByte(v, '(')+1:], "\n")
			if a, e, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(v), " )"), " == "); ok {
				f.t.Actual, f.t.Expected = strings.TrimSpace(a), strings.TrimSpace(e)
			}
		}
		d.out.Test(f.t)
	}
	n := len(d.tests)
	d.tests, d.byKey, d.name, d.suite = nil, map[string]*failure{}, "", ""
	return n
}

func (d *doctestConsole) end() {
	if d.open {
		d.emit()
		d.out.Problem(Problem{Kind: KindTruncated, At: d.at, Message: "the output of doctest ends before its totals"})
	}
	d.open, d.cur = false, nil
}
