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
	"github.com/switchback-ci/switchback/routing/redact"
)

// Green is what a run without failures, or a leg of one, was compared with when it was recorded.
type Green struct {
	Earlier []EarlierTest     `json:"earlier,omitempty"` // tests that failed since the last green run, and did not pass by their name
	Passed  TestIDs           `json:"passed,omitempty"`  // tests that failed since, and passed
	Moved   TestIDs           `json:"moved,omitempty"`   // of Passed: those that this leg did not have then
	Base    *history.Size     `json:"base,omitempty"`    // of the base's run that it was compared with
	Changes []evidence.Change `json:"changes,omitempty"` // what the change does to tests and to what runs them
	Read    bool              `json:"read,omitempty"`    // Changes are known, and all of them
	Cut     int               `json:"cut,omitempty"`     // tests that are not among Earlier for want of room
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
const mostEarlier = 200

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
				if f.comparable() {
					add(v, f, f.Standing == history.StandingPreExisting)
				}
			}
			for _, c := range v.Cut {
				if c.comparable() {
					add(v, c.failure(), c.PreExisting)
				}
			}
		}
	}
	return out
}

// FailedBefore reports whether tests failed in a checkpoint since its last green run, so that a green
// run has to be compared with them.
func FailedBefore(cp Checkpoint, v Verdict) bool {
	return v.Result == Pass && v.Review == nil && len(failedSinceGreen(named(cp, v), v.Run.Key())) > 0
}

// named returns cp with the name that v gives it: one that has no run yet has none.
func named(cp Checkpoint, v Verdict) Checkpoint {
	cp.Name = v.Checkpoint
	return cp
}

// Follows returns a verdict without failures with what became of the tests that failed since the last
// green run of its case. now are its own tests, and base is the case of its base, zero where it has
// none. Nothing else in v changes.
func (v Verdict) Follows(c Case, now history.Ran, base Case) Verdict {
	if v.Result != Pass || v.Review != nil {
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
	if now.Tests == nil && v.Counts.Tests > 0 {
		now.Partial = true
	}
	inventories := keptInventories(cp, v)
	onBase := testRuns(base.Checkpoints[v.Checkpoint])
	tests := make([]history.Earlier, len(failed))
	for i, f := range failed {
		ran, ok := inventories[f.Run+"\x00"+f.Part]
		tests[i] = history.Earlier{
			ID: f.id, Suite: f.Suite, Name: f.Name, File: f.File, Run: ran, Lost: !ok, Setup: f.setup,
			Unsure: strings.Contains(f.Suite+f.Name, redact.Mask) || strings.Contains(f.Suite+f.Name, " bytes left out …]"),
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
	partial := now.Partial || v.Partial || len(v.Notes) > 0
	now.Partial = partial
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
func UnreadSinceGreen(c Case, v Verdict) []string {
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
func (v Verdict) Shrinks(base Case, p Policy) bool {
	for _, rs := range base.Checkpoints[v.Checkpoint].Runs {
		if p.GreenDrop.exceeded(runSize(rs).Tests, v.Counts.Tests-v.Counts.Skipped) {
			return true
		}
	}
	return false
}

// SizedBy returns v with the size of the base's run that it is compared with: the newest at or before
// the merge base. Where none is known to be so, there is none.
func (v Verdict) SizedBy(base Case, at history.MergeBase, parents history.Parents) Verdict {
	cp := base.Checkpoints[v.Checkpoint]
	if !parents.Know(at.SHA) {
		if parents = recordedParents(cp); !parents.Know(at.SHA) {
			parents = nil
		}
	}
	runs := history.Order(testRuns(cp), at, parents)
	if len(runs.Before) == 0 {
		return v
	}
	g := Green{}
	if v.Green != nil {
		g = *v.Green
	}
	size := runs.Before[len(runs.Before)-1].Size
	g.Base = &size
	v.Green = &g
	return v
}

// ReadChanges returns v with what its change does to tests and to what runs them. whole says that no file of
// the change is missing.
func (v Verdict) ReadChanges(changes []evidence.Change, whole bool) Verdict {
	if v.Result != Pass || v.Review != nil {
		return v
	}
	g := Green{}
	if v.Green != nil {
		g = *v.Green
	}
	g.Changes, g.Read = changes, whole
	v.Green = &g
	return v
}
