package answers

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

var someBoxes = []Box{
	{ID: "retry:2", Action: routing.HumanExtend, N: 2},
	{ID: "reset", Action: routing.HumanReset},
	{ID: "phase:plan", Action: routing.HumanPhase, Phase: routing.Plan},
	{ID: TestID("TestAdd"), Action: routing.HumanQuarantine, Test: "TestAdd"},
	{ID: "skip", Action: routing.HumanSkip},
	{ID: "wont-fix", Action: routing.HumanWontFix},
}

const someSHA = "0123456789abcdef0123456789abcdef01234567"

func bodyOf(ticked ...string) string {
	var b strings.Builder
	b.WriteString("## Report\n\n```\n- [x] not this <!-- sb:skip -->\n```\n\n" + Head("abcdef012345", 3, someSHA) + "\n\n")
	for _, x := range someBoxes {
		b.WriteString(Line(x.ID, "text of "+x.ID, slices.Contains(ticked, x.ID)) + "\n")
	}
	return b.String() + Line(Submit, "**Submit**", slices.Contains(ticked, Submit)) + "\n\n<!-- switchback:v1 key=k gen=1 -->"
}

func TestParseBody(t *testing.T) {
	base := bodyOf()
	for _, c := range []struct {
		name, body string
		ticked     []string
	}{
		{"as it was posted", base, nil},
		{"ticked", bodyOf("reset", Submit), []string{"reset", Submit}},
		{"a capital X", strings.Replace(base, "[ ] text of reset", "[X] text of reset", 1), []string{"reset"}},
		{"CRLF, as an edit in the browser leaves it", strings.ReplaceAll(bodyOf("reset"), "\n", "\r\n"), []string{"reset"}},
		{"text rewritten", strings.Replace(bodyOf("skip"), "text of skip", "yes, **skip** it!", 1), []string{"skip"}},
		{"text added behind", strings.Replace(bodyOf("skip"), "<!-- sb:skip -->", "<!-- sb:skip --> please", 1), []string{"skip"}},
		{"a line moved to the top", Line("skip", "text of skip", true) + "\n" + strings.Replace(base, Line("skip", "text of skip", false)+"\n", "", 1), []string{"skip"}},
		{"another bullet, indented", strings.Replace(base, "- [ ] text of reset", "  * [x] text of reset", 1), []string{"reset"}},
		{"a numbered list", strings.Replace(base, "- [ ] text of reset", "2. [x] text of reset", 1), []string{"reset"}},
		{"a line copied, one of them ticked", base + "\n" + Line("reset", "again", true), []string{"reset"}},
		{"foreign task lists", "- [x] buy milk\n" + base, nil},
		{"quoted", base + "\n> " + Line("reset", "x", true), nil},
		{"fenced", base + "\n~~~\n" + Line("reset", "x", true) + "\n~~~", nil},
		{"indented code", base + "\n\n    " + Line("reset", "x", true), nil},
		{"within a hidden comment", base + "\n<!--\n" + Line("reset", "x", true) + "\n-->", nil},
		{"two lines joined", strings.Replace(base, "[ ] text of skip <!-- sb:skip -->\n", "[x] text of skip <!-- sb:skip --> ", 1), nil},
		{"no list item", base + "\n[x] reset <!-- sb:reset -->", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok := Parse(c.body)
			if !ok || p.Nonce != "abcdef012345" || p.Gen != 3 || p.SHA != someSHA {
				t.Fatalf("%v %+v", ok, p)
			}
			slices.Sort(p.Ticked)
			if !slices.Equal(p.Ticked, c.ticked) {
				t.Errorf("ticked %q, want %q", p.Ticked, c.ticked)
			}
		})
	}
	for name, body := range map[string]string{
		"blank":                  "",
		"without a head":         strings.Replace(base, Head("abcdef012345", 3, someSHA), "", 1),
		"with a second head":     base + "\n" + Head("ffffffffffff", 3, someSHA),
		"with the head in code":  strings.Replace(base, Head("abcdef012345", 3, someSHA), "```\n"+Head("abcdef012345", 3, someSHA)+"\n```", 1),
		"with the head in quote": strings.Replace(base, Head("abcdef012345", 3, someSHA), "> "+Head("abcdef012345", 3, someSHA), 1),
	} {
		if p, ok := Parse(body); ok {
			t.Errorf("a body %s: %+v", name, p)
		}
	}
}

func parsed(t *testing.T, body string) Checkboxes {
	t.Helper()
	p, ok := Parse(body)
	if !ok {
		t.Fatalf("no checkboxes in %q", body)
	}
	return p
}

func TestDiffAndUndo(t *testing.T) {
	from, to := bodyOf("reset"), bodyOf("skip", Submit)
	c := Diff(parsed(t, from), parsed(t, to))
	if !reflect.DeepEqual(c, Change{Ticked: []string{"skip", Submit}, Unticked: []string{"reset"}}) {
		t.Fatalf("%+v", c)
	}
	if got := Undo(to, c); got != from {
		t.Errorf("undone:\n%s", got)
	}
	t.Run("what another ticked in between stays", func(t *testing.T) {
		if got := Undo(bodyOf("skip", Submit, "phase:plan"), c); got != bodyOf("reset", "phase:plan") {
			t.Errorf("%s", got)
		}
	})
	t.Run("a ticked box that was deleted counts as unticked", func(t *testing.T) {
		gone := strings.Replace(from, Line("reset", "text of reset", true)+"\n", "", 1)
		if c := Diff(parsed(t, from), parsed(t, gone)); !slices.Equal(c.Unticked, []string{"reset"}) {
			t.Errorf("%+v", c)
		}
	})
	t.Run("line ends stay", func(t *testing.T) {
		crlf := strings.ReplaceAll(to, "\n", "\r\n")
		if got := Undo(crlf, c); got != strings.ReplaceAll(from, "\n", "\r\n") {
			t.Errorf("%q", got)
		}
	})
	if got := Keep(bodyOf("skip"), []string{"reset"}); got != bodyOf("skip", "reset") {
		t.Errorf("kept:\n%s", got)
	}
	if got := Untick(bodyOf("skip", Submit), Submit); got != bodyOf("skip") {
		t.Errorf("unticked:\n%s", got)
	}
}

func TestChoose(t *testing.T) {
	flaky := TestID("TestAdd")
	for _, c := range []struct {
		name   string
		ticked []string
		want   []string
		clash  bool
	}{
		{"one way", []string{"reset"}, []string{"reset"}, false},
		{"a test in quarantine alone", []string{flaky}, []string{flaky}, false},
		{"quarantine comes before the way to go on", []string{"retry:2", flaky}, []string{flaky, "retry:2"}, false},
		{"retry and reset count differently", []string{"retry:2", "reset"}, nil, true},
		{"skip and retry", []string{"skip", "retry:2"}, nil, true},
		{"two ways back", []string{"reset", "phase:plan"}, nil, true},
		{"won't fix and anything else", []string{"wont-fix", flaky}, nil, true},
		{"what is not offered does not count", []string{"reset", "rm -rf", "phase:research"}, []string{"reset"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Choose(someBoxes, append(c.ticked, Submit))
			var clash *ContradictionError
			if errors.As(err, &clash) != c.clash || !c.clash && (err != nil || !slices.Equal(IDs(got), c.want)) {
				t.Errorf("%v, %v", IDs(got), err)
			}
		})
	}
	if _, err := Choose(someBoxes, []string{Submit, "unheard-of"}); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing: %v", err)
	}
}

func TestOffer(t *testing.T) {
	cp := routing.Checkpoint{Retries: 3, Attempts: []routing.Attempt{{Verdict: routing.Verdict{Failures: []routing.Failure{
		{Name: "TestA"}, {Name: "TestA", Suite: "other"}, {Name: "lint", Kind: "diagnostic"}, {Name: "no such file", Kind: "problem"}, {Name: "TestB"},
		{Name: "TestC"}, {Name: "TestD"}, {Name: "TestE"}, {Name: "TestF"}, {Name: "TestG"},
	}}}}}
	offered := func(cp routing.Checkpoint, k routing.Kind) string {
		return strings.Join(IDs(Offer(Question{Checkpoint: cp, Kind: k, Quarantined: []routing.Quarantined{{Test: "TestB"}}})), " ")
	}
	var named []string
	for _, n := range []string{"TestA", "TestC", "TestD", "TestE", "TestF"} {
		named = append(named, TestID(n))
	}
	tests := strings.Join(named, " ")
	for kind, want := range map[routing.Kind]string{
		routing.KindMaxRetry: "retry:2 reset phase:plan phase:research rerun " + tests + " skip wont-fix",
		routing.KindDesign:   "phase:plan phase:research retry:2 reset rerun " + tests + " skip wont-fix",
		routing.KindEnv:      "rerun retry:2 reset phase:plan phase:research " + tests + " skip wont-fix",
	} {
		if got := offered(cp, kind); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
	cp.Retries = routing.HardCap - 1
	if got := offered(cp, routing.KindMaxRetry); !strings.HasPrefix(got, "retry:1 ") {
		t.Errorf("one turn below the cap: %s", got)
	}
	cp.Retries = routing.HardCap
	if got := offered(cp, routing.KindMaxRetry); strings.Contains(got, "retry") {
		t.Errorf("at the cap: %s", got)
	}
	cp.Attempts[0].Verdict = routing.Verdict{Review: &routing.ReviewResult{}}
	if got := offered(cp, routing.KindMaxRetry); strings.Contains(got, "rerun") {
		t.Errorf("a review cannot run again: %s", got)
	}
}

func FuzzParseBody(f *testing.F) {
	f.Add(bodyOf("reset", Submit), "skip")
	f.Add("- [x] a <!-- sb:skip -->\r\n"+bodyOf(), "reset")
	f.Add("````\n"+bodyOf()+"\n```\n<pre>", "submit")
	f.Fuzz(func(t *testing.T, body, id string) {
		p, _ := Parse(body)
		for _, x := range p.Ticked {
			if !slices.Contains(p.Boxes, x) {
				t.Fatalf("%q is ticked and not there", x)
			}
		}
		if q, _ := Parse(Keep(body, p.Ticked)); !slices.Equal(q.Ticked, p.Ticked) {
			t.Fatalf("kept: %q, were %q", q.Ticked, p.Ticked)
		}
		q, _ := Parse(Keep(body, []string{id}))
		want := slices.Contains(p.Boxes, id)
		if slices.Contains(q.Ticked, id) != want {
			t.Fatalf("%q there %v, ticked %q", id, want, q.Ticked)
		}
		if r, _ := Parse(Untick(body, q.Boxes...)); len(r.Ticked) != 0 || len(Untick(body, q.Boxes...)) != len(body) {
			t.Fatalf("left ticked: %q", r.Ticked)
		}
		if c := Diff(p, q); len(c.Unticked) != 0 || len(c.Ticked) > 1 {
			t.Fatalf("%+v", c)
		}
	})
}

func TestFindTest(t *testing.T) {
	c := routing.Case{Checkpoints: map[string]routing.Checkpoint{"unit": {Attempts: []routing.Attempt{{Verdict: routing.Verdict{Failures: []routing.Failure{
		{Name: "pkg/calc.TestAdd"}, {Name: "pkg/calc.TestSub"}, {Name: "other.TestSub"}, {Name: "TestX", Suite: "calc"}, {Name: "lint", Kind: "problem"},
	}}}}}}}
	for written, want := range map[string]string{
		"pkg/calc.TestAdd": "pkg/calc.TestAdd", "TestAdd": "pkg/calc.TestAdd", "testadd": "pkg/calc.TestAdd", "calc.TestX": "calc.TestX",
		"TestSub": "", "Add": "", "TestAdx": "", "lint": "", "": "",
	} {
		got, err := FindTest(c, "unit", written)
		var unknown *UnknownTestError
		if got != want || (want == "") != errors.As(err, &unknown) {
			t.Errorf("%q: %q, %v", written, got, err)
		}
	}
	if _, err := FindTest(c, "unit", "other.TestSob"); err == nil || !strings.Contains(err.Error(), "`other.TestSub`") {
		t.Errorf("the nearest is not named: %v", err)
	}
	if b := Recall(TestID("TestX"), c); b.Test != "TestX" || b.Action != routing.HumanQuarantine {
		t.Errorf("%+v", b)
	}
}

// A turn beyond the hard cap is refused, so what takes one is not offered.
func TestOfferAtTheHardCap(t *testing.T) {
	for reworks, want := range map[int]bool{0: true, routing.HardCap - 1: true, routing.HardCap: false} {
		got := false
		for _, b := range Offer(Question{Checkpoint: routing.Checkpoint{Name: "unit", Retries: reworks}, Kind: routing.KindMaxRetry}) {
			got = got || b.Action == routing.HumanPhase || b.Action == routing.HumanExtend
		}
		if got != want {
			t.Errorf("after %d reworks a further turn is offered: %v", reworks, got)
		}
	}
}

// Checkboxes are bound to the newest commit, so they offer the tests that fail there.
func TestOfferOfTheNewestRun(t *testing.T) {
	fails := func(id string, names ...string) routing.Verdict {
		v := routing.Verdict{Run: routing.Run{ID: id, Attempt: 1}}
		for _, n := range names {
			v.Failures = append(v.Failures, routing.Failure{Name: n})
		}
		return v
	}
	cp := routing.Checkpoint{Name: "unit", Attempts: []routing.Attempt{{Verdict: fails("1", "TestOld", "TestBoth")}}, Last: routing.Run{ID: "1", Attempt: 1}}
	offered := func() (out []string) {
		for _, b := range Offer(Question{Checkpoint: cp, Kind: routing.KindMaxRetry}) {
			if b.Test != "" {
				out = append(out, b.Test)
			}
		}
		return out
	}
	if got := offered(); !slices.Equal(got, []string{"TestOld", "TestBoth"}) {
		t.Errorf("%v", got)
	}
	newer := fails("2", "TestBoth", "TestNew")
	cp.Last = newer.Run
	cp.Runs = map[string]routing.RunState{newer.Run.Key(): {Parts: map[string]routing.Verdict{"": newer}}}
	if got := offered(); !slices.Equal(got, []string{"TestBoth", "TestNew"}) {
		t.Errorf("of a newer run that waits: %v", got)
	}
	cp.Runs = nil
	if got := offered(); !slices.Equal(got, []string{"TestOld", "TestBoth"}) {
		t.Errorf("of one that names no test: %v", got)
	}
}
