package native

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// doctestFormat reads the console of doctest, the C++ library.
var doctestFormat = format.Format{
	Name:  "doctest",
	Order: 690,
	Wakes: &format.Wake{Flush: "["},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &doctestConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type doctestConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open  bool
	intro bool // it began with the version: further totals before the next one are the same program's
	at    int
	suite string
	name  string
	tests []*failtext.Failure
	byKey map[string]*failtext.Failure
	cur   *failtext.Failure
	titl  bool // the lines below TEST CASE are subcases
	subs  []string
	place string // of the test case, as printed above its title
	after bool   // totals were read that a test case below shows to be what a test printed
	held  func() // hands on the totals
}

var doctestError = lazyregexp.New(`^(\S.*?)(?::(\d+)|\((\d+)\)): (ERROR|FATAL ERROR): (.*)$`)

func (d *doctestConsole) Idle() bool {
	return !d.open
}

func (d *doctestConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			d.End()
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
	if d.held != nil {
		if len(t) > 70 && t[0] == '=' && strings.Trim(t, "=") == "" {
			d.after = true
			return true
		}
		if d.after && (strings.HasPrefix(t, "TEST CASE:  ") || strings.HasPrefix(t, "TEST SUITE: ")) {
			d.held, d.after = nil, false
		} else if d.after && casePlace.MatchString(t) {
			d.place = strings.Clone(t)
			return true
		} else {
			if d.after = false; !d.intro {
				d.commit()
			}
			return false
		}
	}
	switch {
	case t == "":
		d.titl = false
		if d.cur != nil {
			d.cur.Text.Add("")
		}
	case strings.HasPrefix(t, "TEST SUITE: "):
		d.suite, d.cur = strings.Clone(strings.TrimSpace(t[len("TEST SUITE: "):])), nil
		return true
	case strings.HasPrefix(t, "TEST CASE:  "):
		d.name, d.titl, d.subs, d.cur = strings.Clone(strings.TrimSpace(t[len("TEST CASE:  "):])), true, nil, nil
		return true
	case t[0] == '=' && len(t) > 70:
		d.cur, d.suite, d.name, d.place = nil, "", "", ""
		return true
	case d.name == "" && casePlace.MatchString(t):
		d.place = strings.Clone(t)
		return true
	case (t[len(t)-1] == '!' || strings.HasSuffix(t, "not failed")) && d.verdict(t):
		return true
	case d.name == "" && d.place != "" && strings.HasPrefix(t, "  Scenario: "):
		d.name, d.titl, d.subs, d.cur = strings.Clone(strings.TrimSpace(t)), true, nil, nil
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
			d.cur.Text.Add(t)
			return true
		}
	}
	return false
}

// casePlace is the line above the title of a test case.
var casePlace = lazyregexp.New(`^\S.*(?::\d+:|\(\d+\):)$`)

// verdict reads what doctest decides of a test case with a decorator, below its
// failures: it passes though it failed, or fails though it did not.
func (d *doctestConsole) verdict(t string) bool {
	key := d.key()
	switch {
	case d.name == "":
		return false
	case strings.HasSuffix(t, " so marking it as not failed") || strings.HasSuffix(t, " so marking it as not failed!"):
		if f := d.byKey[key]; f != nil {
			delete(d.byKey, key)
			d.tests = slices.DeleteFunc(d.tests, func(g *failtext.Failure) bool { return g == f })
		}
		d.cur = nil
		return true
	case strings.HasSuffix(t, " Marking it as failed!") || strings.HasSuffix(t, " so marking it as failed!"), strings.HasPrefix(t, "Test case exceeded time limit of "):
		if d.byKey[key] == nil {
			d.failed([]string{t, "", "", "", "ERROR", t}, t)
			f := d.byKey[key]
			if file, line, _, ok := parse.Location(strings.TrimSuffix(strings.NewReplacer("(", ":", ")", "").Replace(d.place), ":")); f != nil && ok {
				f.Test.File, f.Test.Line = file, line
			}
		}
		return true
	}
	return false
}

// key tells test cases of the same name apart by their places.
func (d *doctestConsole) key() string { return d.suite + "\x00" + d.name + "\x00" + d.place }

func (d *doctestConsole) failed(m []string, t string) {
	key := d.key()
	f := d.byKey[key]
	if f == nil {
		f = failtext.NewFailure(model.Test{Suite: d.suite, Name: d.name, Status: model.Failed, At: d.at, File: strings.Clone(m[1]), Message: strings.Clone(m[5])}, failtext.Shrunk(d.lim, len(d.tests)))
		f.Test.Line, _, _ = parse.LeadingInt(m[2] + m[3])
		f.Test.Kind = model.KindAssertion
		switch {
		case strings.Contains(m[5], "CRASHED"):
			f.Test.Kind = model.KindCrash
		case strings.Contains(m[5], "THREW exception") || strings.Contains(m[5], "threw"):
			f.Test.Kind = model.KindError
		}
		if len(d.tests) < 5*d.lim.Failing {
			d.tests = append(d.tests, f)
			d.byKey[key] = f
		}
	} else {
		f.Text.Add("")
	}
	if len(d.subs) > 0 {
		f.Text.Add("in " + strings.Join(d.subs, " > "))
	}
	f.Text.Add(t)
	d.cur = f
}

// own reads doctest's own lines.
func (d *doctestConsole) own(t string) bool {
	d.cur = nil
	switch {
	case strings.HasPrefix(t, "doctest version is"):
		d.End()
		d.open, d.intro, d.byKey = true, true, map[string]*failtext.Failure{}
		return true
	case strings.HasPrefix(t, "test cases:"):
		if d.held != nil && len(d.tests) > 0 {
			d.commit() // a run that names what failed is one; these are another's
		}
		if !d.open {
			d.byKey = map[string]*failtext.Failure{}
		}
		n, _ := parse.NumAfter(t, "test cases:")
		failed, _ := parse.NumBefore(t, " failed")
		at := d.at
		if !d.open && n == 0 {
			d.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "doctest", At: at, Message: "no test case ran"})
			return true
		}
		d.open, d.after = true, false
		d.held = func() {
			named := d.emit()
			// What doctest calls skipped was left out by a filter and is not in its total.
			d.anon.Emit(d.out, n-max(failed, named), model.Test{Status: model.Passed, At: at})
			failtext.Unnamed(d.out, "doctest", failed, named, at)
			if n == 0 {
				d.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "doctest", At: at, Message: "no test case ran"})
			}
		}
		return true
	case strings.HasPrefix(t, "Status: "):
		if d.held != nil {
			if !d.intro {
				d.commit()
			}
			return true
		}
	}
	return d.open || strings.HasPrefix(t, "assertions:") || strings.HasPrefix(t, "Status: ") || strings.HasPrefix(t, "run with ")
}

// commit hands on the totals that were read.
func (d *doctestConsole) commit() {
	if held := d.held; held != nil {
		d.held, d.after = nil, false
		held()
		d.open, d.intro = false, false
	}
}

func (d *doctestConsole) emit() int {
	for _, f := range d.tests {
		text := strings.TrimSpace(f.Text.String())
		f.Test.Trace = text
		if strings.HasSuffix(f.Test.Message, ":") || strings.Contains(f.Test.Message, "is NOT correct") || strings.HasPrefix(f.Test.Message, "test case THREW exception:") {
			first, _, _ := strings.Cut(text, "\n\n")
			if _, after, ok := strings.Cut(first, "ERROR: "); ok {
				f.Test.Message = after
			}
		}
		if _, v, ok := strings.Cut(f.Test.Message, "values: "); ok {
			v, _, _ = strings.Cut(v[strings.IndexByte(v, '(')+1:], "\n")
			if a, e, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(v), " )"), " == "); ok {
				f.Test.Actual, f.Test.Expected = strings.TrimSpace(a), strings.TrimSpace(e)
			}
		}
		d.out.Test(f.Test)
	}
	n := len(d.tests)
	d.tests, d.byKey, d.name, d.suite = nil, map[string]*failtext.Failure{}, "", ""
	return n
}

func (d *doctestConsole) End() {
	d.commit()
	if d.open {
		d.emit()
		d.out.Problem(model.Problem{Kind: model.KindTruncated, At: d.at, Message: "the output of doctest ends before its totals"})
	}
	d.open, d.intro, d.cur = false, false, nil
}
