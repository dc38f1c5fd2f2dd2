package routing

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/evidence"
	"github.com/switchback-ci/switchback/routing/history"
)

// Green is what a run without failures, or a leg of one, was compared with when it was recorded.
type Green struct {
	Earlier []EarlierTest     `json:"earlier,omitempty"` // tests that failed since the last green run, and did not pass by their name
	Passed  TestIDs           `json:"passed,omitempty"`  // tests that failed since, and passed
	Moved   TestIDs           `json:"moved,omitempty"`   // of Passed: those that this leg did not have then
	Base    *history.Size     `json:"base,omitempty"`    // of the base's run that it was compared with
	Changes []evidence.Change `json:"changes,omitempty"` // what the change does to tests and to what runs them
	Cut     int               `json:"cut,omitempty"`     // tests that are not among Earlier, being too many

	Untouched bool `json:"untouched,omitempty"` // the change cannot have taken a test away
}

// EarlierTest is a test that failed since the last green run, with what a leg of a later run says of it.
type EarlierTest struct {
	Suite string       `json:"suite,omitempty"`
	Name  string       `json:"name"`
	File  string       `json:"file,omitempty"`
	Run   string       `json:"run"`            // Run.Key of the run in which it failed last
	SHA   string       `json:"sha,omitempty"`  // of that run
	Part  string       `json:"part,omitempty"` // its leg
	Fate  history.Fate `json:"fate"`
	Now   string       `json:"now,omitempty"`  // what it is called now, of history.FateRenamed
	Had   bool         `json:"had,omitempty"`  // this leg had the test then
	Base  bool         `json:"base,omitempty"` // the base has the test
}

// mostEarlier bounds the tests that a verdict holds because they did not pass.
const mostEarlier = 100

// mask is what package redact writes in place of a secret: a name that holds it is not the whole name.
const mask = "***"

// TestIDs are ids of tests, in JSON as eight bytes for each.
type TestIDs []history.ID

var errTestIDs = errors.New("these are no ids of tests")

// MarshalJSON implements json.Marshaler.
func (ids TestIDs) MarshalJSON() ([]byte, error) {
	var raw []byte
	for _, id := range ids {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(id))
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(raw))
}

// UnmarshalJSON implements json.Unmarshaler.
func (ids *TestIDs) UnmarshalJSON(data []byte) error {
	var raw []byte
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if len(raw)%8 != 0 {
		return errTestIDs
	}
	*ids = nil
	for ; len(raw) > 0; raw = raw[8:] {
		*ids = append(*ids, history.ID(binary.LittleEndian.Uint64(raw)))
	}
	return nil
}

// sinceGreen returns the recorded runs of a checkpoint since the last green one, oldest first, without
// that of a key. A reset does not end them: it begins the count again, and says nothing of the tests.
func sinceGreen(cp Checkpoint, but string) []RunState {
	var out []RunState
	for _, key := range recordedRuns(cp) {
		rs := cp.Runs[key]
		switch {
		case rs.Decision.Kind == KindPass && rs.Decided:
			out = nil
		case key != but:
			out = append(out, rs)
		}
	}
	return out
}

// failedSince is a test that failed since the last green run.
type failedSince struct {
	EarlierTest
	id    history.ID
	old   bool // it also stands on the base
	setup bool
	log   []string // jobs whose logs alone named it
}

// failedSinceGreen returns the tests that failed since the last green run, each by the leg in which it
// failed, as its newest failure.
func failedSinceGreen(cp Checkpoint, but string) []failedSince {
	type leg struct {
		id   history.ID
		part string
	}
	at := map[leg]int{}
	var out []failedSince
	add := func(v Verdict, f Failure, old bool) {
		if noTest[f.Kind] || f.Flaky || f.Quarantined || f.Name == "" {
			return
		}
		t := failedSince{
			EarlierTest: EarlierTest{Suite: f.Suite, Name: f.Name, File: f.File, Run: v.Run.Key(), SHA: v.Run.SHA, Part: v.Run.Part},
			id:          history.TestID(cp.Name, f.Suite, f.Name), old: old, setup: f.Kind == "setup",
		}
		if slices.Contains(v.Logged, t.id) {
			t.log = v.Logs
		}
		if i, known := at[leg{t.id, t.Part}]; known {
			out[i] = t
			return
		}
		at[leg{t.id, t.Part}] = len(out)
		out = append(out, t)
	}
	for _, rs := range sinceGreen(cp, but) {
		for _, part := range sortedKeys(rs.Parts) {
			v := rs.Parts[part]
			if v.Result == Pass || v.Result.Silent() || v.Review != nil {
				continue
			}
			for _, f := range v.Failures {
				if f.Comparable() && v.Register.entry(f, v.At) == nil {
					add(v, f, f.Standing == history.StandingPreExisting)
				}
			}
			for _, c := range v.Cut {
				if c.comparable() && v.Register.entry(c.failure(), v.At) == nil {
					add(v, c.failure(), c.PreExisting)
				}
			}
		}
	}
	return out
}

// named returns cp with the name that v gives it: one that has no run yet has none.
func named(cp Checkpoint, v Verdict) Checkpoint {
	cp.Name = v.Checkpoint
	return cp
}

// counted returns a verdict with what does not count taken out, and reports whether it is a pass then
// that is compared with earlier runs.
func counted(v Verdict, c Case, p Policy) bool {
	v = c.treatment(v.At, p.quarantined(v.At)).of(v)
	return v.Result == Pass && v.Review == nil
}

// Follows returns a verdict of which no failure counts with what became of the tests that failed since
// the last green run of its case. ran returns its own tests and is nil if they are not known; it is
// called if a test failed before. base is the case of its base, zero where it has none. Nothing else
// in v changes.
func (v Verdict) Follows(c Case, ran func() history.Ran, base Case, p Policy) Verdict {
	if !counted(v, c, p) {
		return v
	}
	cp := named(c.Checkpoints[v.Checkpoint], v)
	failed := failedSinceGreen(cp, v.Run.Key())
	if len(failed) == 0 {
		return v
	}
	g := Green{}
	if v.Green != nil {
		g = *v.Green
	}
	g.Earlier, g.Passed, g.Moved, g.Cut = nil, nil, nil, 0
	var now history.Ran
	if ran != nil {
		now = ran()
	}
	now.Partial = now.Partial || len(now.Tests) == 0 || v.Partial || len(v.Notes) > 0
	inventories := keptInventories(cp, v)
	onBase := TestRuns(base.Checkpoints[v.Checkpoint])
	tests := make([]history.Earlier, len(failed))
	for i, f := range failed {
		ran, ok := inventories[f.Run+"\x00"+f.Part]
		tests[i] = history.Earlier{
			ID: f.id, Suite: f.Suite, Name: f.Name, File: f.File, Run: ran, Lost: !ok, Setup: f.setup,
			Unsure: strings.Contains(f.Suite+f.Name, mask) || strings.Contains(f.Suite+f.Name, " bytes left out …]"),
		}
	}
	known := func(id history.ID) bool {
		for _, inv := range inventories {
			if len(inv.Of(id)) > 0 {
				return true
			}
		}
		return slices.ContainsFunc(onBase, func(r history.Run) bool { return len(r.Inventory.Of(id)) > 0 })
	}
	for i, f := range history.Follow(tests, now, known) {
		t := failed[i].EarlierTest
		t.Fate, t.Now = f.Fate, f.Now
		t.Had = len(inventories[t.Run+"\x00"+v.Run.Part].Of(failed[i].id)) > 0
		t.Base = slices.ContainsFunc(onBase, func(r history.Run) bool { return len(r.Inventory.Of(failed[i].id)) > 0 })
		switch {
		case t.Fate == history.FatePassed:
			g.Passed = append(g.Passed, failed[i].id)
			if !t.Had && t.Part != v.Run.Part {
				g.Moved = append(g.Moved, failed[i].id)
			}
			continue
		case failed[i].old && !stillOnBase(onBase, failed[i].id):
			t.Fate = history.FateUnknown // the base may have taken it away
		case t.Fate == history.FateGone && slices.ContainsFunc(failed[i].log, func(job string) bool { return !slices.Contains(v.Logs, job) }):
			t.Fate = history.FateUnknown // the log that named it was not read
		}
		if len(g.Earlier) >= mostEarlier {
			g.Cut++
			continue
		}
		g.Earlier = append(g.Earlier, t)
	}
	v.Green = &g
	return v
}

// keptInventories are those of the legs of runs since the last green one, by run and leg.
func keptInventories(cp Checkpoint, v Verdict) map[string]history.Inventory {
	out := map[string]history.Inventory{}
	for _, rs := range sinceGreen(cp, v.Run.Key()) {
		for _, p := range rs.Parts {
			if inv, kept := p.tests(); kept && !p.Result.Silent() {
				inv.Partial = inv.Partial || p.Partial
				out[p.Run.Key()+"\x00"+p.Run.Part] = inv
			}
		}
	}
	return out
}

// stillOnBase reports whether the newest run of a base has a test and did not skip it.
func stillOnBase(runs []history.Run, id history.ID) bool {
	if len(runs) == 0 {
		return false
	}
	return slices.ContainsFunc(runs[len(runs)-1].Inventory.Of(id), func(t history.Test) bool { return t.Status != history.Skipped })
}

// UnreadSinceGreen returns the blobs of the runs in which tests failed since the last green run, and
// whose events do not hold their tests, newest first.
func UnreadSinceGreen(c Case, v Verdict, p Policy) []string {
	if !counted(v, c, p) {
		return nil
	}
	cp := named(c.Checkpoints[v.Checkpoint], v)
	var out []string
	for _, rs := range slices.Backward(sinceGreen(cp, v.Run.Key())) {
		for _, part := range sortedKeys(rs.Parts) {
			p := rs.Parts[part]
			if inv, kept := p.tests(); p.Whole != "" && (!kept || inv.Partial) {
				out = append(out, p.Whole)
			}
		}
	}
	return out
}

// sizeOf returns how many tests the parts of a run ran.
func sizeOf(parts []Verdict) history.Size {
	s := history.Size{}
	for _, p := range parts {
		s.SHA, s.Tests = p.Run.SHA, s.Tests+p.Counts.Tests-p.Counts.Skipped
		s.Partial = s.Partial || p.Partial || len(p.Notes) > 0 || p.Result.Silent() || p.Review != nil || len(parts) < p.Run.Parts
		if p.Run.Part != "" {
			s.Parts = append(s.Parts, p.Run.Part)
		}
		s.Parts = append(s.Parts, p.Logs...)
	}
	slices.Sort(s.Parts)
	return s
}

// runSize returns how many tests a recorded run ran.
func runSize(rs RunState) history.Size {
	parts := make([]Verdict, 0, len(rs.Parts))
	for _, name := range sortedKeys(rs.Parts) {
		parts = append(parts, rs.Parts[name])
	}
	return sizeOf(parts)
}

// Shrinks reports whether a green run ran fewer tests than some run of its base by more than the
// policy allows, so that it matters which one it is compared with.
func Shrinks(v Verdict, base Case, p Policy) bool {
	for _, rs := range base.Checkpoints[v.Checkpoint].Runs {
		if p.GreenDrop.exceeded(runSize(rs).Tests, v.Counts.Tests-v.Counts.Skipped) {
			return true
		}
	}
	return false
}

// SizedBy returns v with the size of the base's run that it is compared with: the newest at or before
// the merge base. Where none is known to be so, there is none.
func SizedBy(v Verdict, base Case, at history.MergeBase, parents history.Parents) Verdict {
	cp := base.Checkpoints[v.Checkpoint]
	if !parents.Know(at.SHA) {
		if parents = recordedParents(cp); !parents.Know(at.SHA) {
			parents = nil
		}
	}
	runs := history.Order(TestRuns(cp), at, parents)
	if at.SHA == "" { // nobody said where the change left the base: its newest run counts
		runs.Before = slices.Concat(runs.Before, runs.After)
	}
	if len(runs.Before) == 0 {
		return v
	}
	g := Green{}
	if v.Green != nil {
		g = *v.Green
	}
	size := runs.Before[len(runs.Before)-1].Size
	g.Base, v.Green = &size, &g
	v.Base = &BaseComparison{Name: baseName(base.Key), SHA: size.SHA, Known: true}
	return v
}

// Edited returns v with what its change does to tests and to what runs them.
func Edited(v Verdict, r evidence.Reading) Verdict {
	g := Green{}
	if v.Green != nil {
		g = *v.Green
	}
	g.Changes, g.Untouched = r.Changes, r.Untouched
	v.Green = &g
	return v
}

// FixedIn returns the tests that failed since the last green run before a run, and ran and passed in it
// in the legs in which they had failed.
func FixedIn(cp Checkpoint, r Run) map[history.ID]bool {
	passed := map[history.ID]bool{}
	moved, open := map[history.ID]bool{}, map[history.ID]bool{}
	for part, p := range cp.Runs[r.Key()].Parts {
		if p.Green == nil {
			continue
		}
		for _, id := range p.Green.Passed {
			passed[id] = true
		}
		for _, id := range p.Green.Moved {
			moved[id] = true
		}
		for _, t := range p.Green.Earlier {
			if t.Part == part {
				open[history.TestID(cp.Name, t.Suite, t.Name)] = true
			}
		}
	}
	for id := range open {
		if !moved[id] {
			delete(passed, id)
		}
	}
	return passed
}
