package routing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/evidence"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// GreenMode says what the edits of a change to tests and to what runs them are good for.
type GreenMode string

// The modes.
const (
	GreenReport GreenMode = "report" // they are listed
	GreenGate   GreenMode = "gate"   // a maintainer has to accept them
)

// Drop is how many fewer tests a green run may run, as a share of those before; 0 is any number.
type Drop float64

// exceeded reports whether is is fewer than was by more than d allows.
func (d Drop) exceeded(was, is int) bool {
	return d > 0 && float64(was-is) > float64(d)*float64(was)+1e-9
}

// Suspicion is one thing about a green run: a reason not to trust it, or what was noticed besides.
type Suspicion struct {
	What   What   `json:"what"`
	Test   string `json:"test,omitempty"`
	Detail string `json:"detail"`

	SHA  string `json:"sha,omitempty"`  // of the run that failed, or that ran more tests
	Now  string `json:"now,omitempty"`  // name of a renamed test; what stands in a line
	File string `json:"file,omitempty"` // of an edit
	Line int    `json:"line,omitempty"`
	Was  string `json:"was,omitempty"` // what stood in a line
	N    int    `json:"n,omitempty"`   // tests that ran
	Of   int    `json:"of,omitempty"`  // tests that ran before
	Base string `json:"base,omitempty"`
}

// What is a kind of suspicion. Those of an edit are the kinds of package evidence.
type What string

// The kinds, in the order in which they are listed. The last two accuse nobody.
const (
	DidNotRun  What = "did_not_run" // a test that failed before is not among the tests of the run
	WasSkipped What = "skipped"     // a test that failed before was skipped
	FewerTests What = "fewer_tests" // the run ran far fewer tests than the base or an earlier run
	Renamed    What = "renamed"     // a test that failed before has another name
	Incomplete What = "incomplete"  // of a test that failed before the run does not say whether it ran
)

// mostListed bounds what a decision lists of each kind.
const mostListed = 50

// greenRun is what a rule looks at, where that is a run without failures.
type greenRun struct{ input }

// doubts returns why a green run is not trusted, and what else was noticed about it.
func (s greenRun) doubts() (suspect, listed []Suspicion) {
	if s.m.Result != Pass || s.m.Review != nil {
		return nil, nil
	}
	s.followed(&suspect, &listed)
	s.shrunk(&suspect, &listed)
	s.edited(&suspect, &listed)
	return suspect[:min(len(suspect), 2*mostListed)], listed[:min(len(listed), 2*mostListed)]
}

// edited lists what the change does to tests and to what runs them.
func (s greenRun) edited(suspect, listed *[]Suspicion) {
	seen := map[evidence.Change]bool{}
	for _, p := range s.parts {
		if p.Green == nil {
			continue
		}
		for _, c := range p.Green.Changes {
			if seen[c] {
				continue
			}
			seen[c] = true
			x := Suspicion{What: What(c.What), Detail: changeInWords(c), File: c.File, Line: c.Line, Now: c.Text, Was: c.Was}
			if s.p.Green == GreenGate && c.What.Gates() {
				*suspect = append(*suspect, x)
			} else {
				*listed = append(*listed, x)
			}
		}
	}
}

func changeInWords(c evidence.Change) string {
	at := c.File
	if c.Line > 0 {
		at = fmt.Sprintf("%s:%d", c.File, c.Line)
	}
	switch {
	case c.Was != "" && c.Text != "":
		return fmt.Sprintf("%s: %s (was: %s)", at, c.Text, c.Was)
	case c.Was != "":
		return fmt.Sprintf("%s: removed: %s", at, c.Was)
	case c.Text != "":
		return at + ": " + c.Text
	}
	return at
}

// untouched reports whether the change cannot have taken a test away, as far as its files are known.
func (s greenRun) untouched() bool {
	return slices.ContainsFunc(s.parts, func(p Verdict) bool { return p.Green != nil && p.Green.Untouched })
}

// earlierTest names a test that failed before by its leg.
type earlierTest struct{ suite, name, part string }

// followed says which tests that failed since the last green run did not run, were skipped or have
// another name.
func (s greenRun) followed(suspect, listed *[]Suspicion) {
	byLeg := map[earlierTest]map[string]EarlierTest{}
	var order []earlierTest
	passed, moved := map[string]map[history.ID]bool{}, map[history.ID]bool{}
	cut := 0
	for _, p := range s.parts {
		if p.Green == nil {
			continue
		}
		cut += p.Green.Cut
		own := map[history.ID]bool{}
		for _, id := range p.Green.Passed {
			own[id] = true
		}
		passed[p.Run.Part] = own
		for _, id := range p.Green.Moved {
			moved[id] = true
		}
		for _, t := range p.Green.Earlier {
			key := earlierTest{t.Suite, t.Name, t.Part}
			if byLeg[key] == nil {
				byLeg[key] = map[string]EarlierTest{}
				order = append(order, key)
			}
			byLeg[key][p.Run.Part] = t
		}
	}
	var renamed, unknown []Suspicion
	unsure := 0
	for _, key := range order {
		legs := byLeg[key]
		id := history.TestID(s.v.Checkpoint, key.suite, key.name)
		if passed[key.part][id] || moved[id] || s.excuses(key) {
			continue
		}
		t := s.fateOf(key, legs)
		x := Suspicion{Test: TestName(t.Suite, t.Name), SHA: t.SHA, File: t.File, Now: t.Now}
		since := "in an earlier run"
		if t.SHA != "" {
			since = "on " + truncate.ShortSHA(t.SHA)
		}
		switch t.Fate {
		case history.FateSkipped:
			x.What, x.Detail = WasSkipped, "failed "+since+" and was skipped"
			*suspect = append(*suspect, x)
		case history.FateGone:
			x.What, x.Detail = DidNotRun, "failed "+since+" and did not run"
			*suspect = append(*suspect, x)
		case history.FateRenamed:
			x.What, x.Detail = Renamed, "failed "+since+", and is called "+t.Now+" now, which passed"
			renamed = append(renamed, x)
		case history.FateUnknown:
			unsure++
			x.What, x.Detail = Incomplete, "failed "+since+"; the run does not say whether it ran"
			unknown = append(unknown, x)
		}
	}
	*listed = append(append(*listed, renamed...), unknown[:min(len(unknown), 10)]...)
	if more := unsure - 10 + cut; more > 0 && unsure+cut > 10 {
		*listed = append(*listed, Suspicion{What: Incomplete, N: more, Detail: fmt.Sprintf("of %d more tests that failed before the run does not say whether they ran", more)})
	}
}

// excuses reports whether failures of a test do not count.
func (s greenRun) excuses(t earlierTest) bool {
	f := Failure{Suite: t.suite, Name: t.name}
	return slices.ContainsFunc(s.p.quarantined(s.now), f.IsTest) ||
		slices.ContainsFunc(s.c.Quarantine, func(q Quarantined) bool { return s.now.Before(q.Until) && f.IsTest(q.Test) })
}

// fateOf returns what the legs of a run together say of a test that failed in one of them and passed in
// none that did not have it then. Where the run has other legs than the run that failed, it does not
// say whether the test ran.
func (s greenRun) fateOf(key earlierTest, legs map[string]EarlierTest) EarlierTest {
	own, here := legs[key.part]
	if !here {
		for _, part := range sortedKeys(legs) {
			t := legs[part]
			if own = t; t.Fate == history.FateRenamed && !t.Had {
				return t
			}
		}
		own.Fate = history.FateUnknown
		return own
	}
	if own.Fate != history.FateGone {
		return own
	}
	for _, part := range sortedKeys(legs) {
		t := legs[part]
		if part == key.part || t.Had {
			continue
		}
		switch t.Fate {
		case history.FateRenamed, history.FateSkipped, history.FateUnknown:
			t.Part = key.part
			return t
		}
	}
	for part := range s.cp.Runs[own.Run].Parts {
		if !slices.ContainsFunc(s.parts, func(p Verdict) bool { return p.Run.Part == part }) {
			own.Fate = history.FateUnknown // it may run in the leg that is not there
		}
	}
	if own.Base && s.untouched() {
		own.Fate = history.FateUnknown // the run was of some of the tests alone
	}
	return own
}

// shrunk says whether the run ran far fewer tests than its base, or than the largest run since the last
// green one.
func (s greenRun) shrunk(suspect, listed *[]Suspicion) {
	now := sizeOf(s.parts)
	check := func(was history.Size, base string, untouched bool) bool {
		if !s.p.GreenDrop.exceeded(was.Tests, now.Tests) {
			return false
		}
		x := Suspicion{What: FewerTests, SHA: was.SHA, N: now.Tests, Of: was.Tests, Base: base}
		than := "an earlier run of it"
		if base != "" {
			than = base
		}
		x.Detail = fmt.Sprintf("%d tests ran, %d on %s (green.max_drop allows %.0f %% fewer)", now.Tests, was.Tests, than, 100*float64(s.p.GreenDrop))
		if !was.Comparable(now) || untouched || s.m.Counts.Tests == 0 {
			x.What, x.Detail = Incomplete, fmt.Sprintf("%d tests ran, %d on %s: the run is not of all tests", now.Tests, was.Tests, than)
			*listed = append(*listed, x)
			return true
		}
		*suspect = append(*suspect, x)
		return true
	}
	for _, p := range s.parts {
		if p.Green != nil && p.Green.Base != nil {
			if check(*p.Green.Base, s.base(), s.untouched()) {
				return
			}
			break
		}
	}
	var most history.Size
	for _, rs := range sinceGreen(s.cp, s.v.Run.Key()) {
		if size := runSize(rs); size.Comparable(now) && size.Tests > most.Tests {
			most = size
		}
	}
	if most.Tests > 0 {
		check(most, "", false)
	}
}

// accepted reports whether a maintainer accepts the run as it is.
func (s greenRun) accepted() bool { return s.redo != nil && s.redo.Action == HumanAccept }

// decideSuspect: a green run does not pass by itself where its evidence shrank or was edited.
func decideSuspect(in input) (Decision, bool) {
	s := greenRun{in}
	if !s.m.green() || s.accepted() {
		return Decision{}, false
	}
	suspect, listed := s.doubts()
	if len(suspect) == 0 {
		return Decision{}, false
	}
	d := Decision{Kind: KindSuspect, Iteration: s.cp.Retries, Suspect: suspect, Listed: listed, Pushers: s.pushers()}
	d.Reason = "the run is green, but " + doubtInWords(suspect)
	return d, true
}

func doubtInWords(suspect []Suspicion) string {
	var parts []string
	for _, kind := range []struct {
		what      What
		one, many string
	}{{DidNotRun, "%s failed before and did not run", "%d tests that failed before did not run: %s"}, {WasSkipped, "%s failed before and was skipped", "%d tests that failed before were skipped: %s"}} {
		var names []string
		for _, x := range suspect {
			if x.What == kind.what {
				names = append(names, x.Test)
			}
		}
		switch len(names) {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf(kind.one, names[0]))
		default:
			parts = append(parts, fmt.Sprintf(kind.many, len(names), list(names, 3)))
		}
	}
	edits := 0
	for _, x := range suspect {
		switch x.What {
		case DidNotRun, WasSkipped:
		case FewerTests:
			parts = append(parts, x.Detail)
		default:
			edits++
		}
	}
	if edits > 0 {
		parts = append(parts, fmt.Sprintf("the change edits what is to show that it works, in %d places", edits))
	}
	return strings.Join(parts, "; ")
}

// pushers are the people whose commits are asked about: who pushed the newest one, and those before it
// that were green and not trusted either.
func (s greenRun) pushers() []string {
	var out []string
	add := func(login string) {
		if login != "" && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, login) }) {
			out = append(out, login)
		}
	}
	for _, p := range s.parts {
		add(p.Run.Pusher)
	}
	for _, rs := range slices.Backward(sinceGreen(s.cp, s.v.Run.Key())) {
		if rs.Decision.Kind != KindSuspect {
			if rs.failed() {
				break
			}
			continue
		}
		for _, part := range sortedKeys(rs.Parts) {
			add(rs.Parts[part].Run.Pusher)
		}
	}
	return out
}

// accept refuses to accept what is not asked about, and the acceptance of those whose commits it is.
func (a admission) accept() error {
	run := a.cp.newestRun()
	if a.cp.Escalation == nil || a.cp.Escalation.Kind != KindSuspect || run.Decision.Kind != KindSuspect {
		return Refuse("nothing-suspect", "the newest run of checkpoint {cp} has nothing to accept", "cp", a.cp.Name)
	}
	for _, login := range run.Decision.Pushers {
		if strings.EqualFold(login, a.e.By) {
			return Refuse("own-commit", "{who} pushed the commit {sha}; somebody else has to accept it", "who", a.e.By, "sha", truncate.ShortSHA(a.cp.Last.SHA))
		}
	}
	return nil
}
