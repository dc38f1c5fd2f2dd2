package routing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// KeptInventories is how many runs of a checkpoint keep the inventory of their tests; those of the
// current streak keep it besides.
const KeptInventories = 20

// BaseComparison says what the failures of a verdict were compared with.
type BaseComparison struct {
	Name  string `json:"name"`          // of the base, such as main
	SHA   string `json:"sha,omitempty"` // commit of the run that decides, "" where no run is known
	Known bool   `json:"known"`         // a run of the base is known

	Unread bool `json:"unread,omitempty"` // it could not be found out; Known is false
}

// Against returns v with the standing of each failure against the runs of the same checkpoint of a
// base, and of the same leg where they have it: the newest at or before the merge base, and the newest of all. Where parents say nothing of
// the merge base, those recorded with the runs count, and else the order in which the runs were
// recorded. Nothing else in v changes.
func (v Verdict) Against(base Case, at history.MergeBase, parents history.Parents) Verdict {
	cp := base.Checkpoints[v.Checkpoint]
	if !parents.Know(at.SHA) {
		if parents = recordedParents(cp); !parents.Know(at.SHA) {
			parents = nil
		}
	}
	leg := ofLeg(cp, v.Run)
	runs := history.Order(TestRuns(leg), at, parents)
	v = v.Uncompared(baseName(base.Key))
	v.Base.SHA, v.Base.Known = runs.Compared(), runs.Known()
	if !runs.Known() {
		whole := history.Order(TestRuns(cp), at, parents)
		v.Base.SHA, v.Base.Known = whole.Compared(), whole.Known()
	}
	v.Cut = slices.Clone(v.Cut)
	for i := range v.Cut {
		f := &v.Cut[i]
		f.PreExisting = f.comparable() && runs.Look(history.TestID(v.Checkpoint, f.Suite, f.Name), f.Print).Standing == history.StandingPreExisting
	}
	for i := range v.Failures {
		f := &v.Failures[i]
		if !f.Comparable() {
			continue
		}
		found := runs.Look(history.TestID(v.Checkpoint, f.Suite, f.Name), history.FingerprintOf(f.Fingerprint))
		f.Standing, f.Since, f.SinceMergeBase = found.Standing, found.Since, found.Later
		if found.Differs {
			f.BaseMessage = lastMessage(leg, f.Suite, f.Name)
		}
	}
	return v
}

// Uncompared returns v with all failures as new ones, for a base of which nothing is known.
func (v Verdict) Uncompared(base string) Verdict {
	v.Base = &BaseComparison{Name: base}
	v.Failures = slices.Clone(v.Failures)
	for i := range v.Failures {
		f := &v.Failures[i]
		f.Standing, f.Since, f.BaseMessage, f.SinceMergeBase = history.StandingNew, "", "", false
	}
	return v
}

// FailsSometimes reports whether some run of a base fails a test that v fails. Otherwise all failures
// of v are new whatever the merge base.
func (v Verdict) FailsSometimes(base Case) bool {
	for _, r := range TestRuns(ofLeg(base.Checkpoints[v.Checkpoint], v.Run)) {
		for _, f := range v.Failures {
			for _, t := range r.Inventory.Of(history.TestID(v.Checkpoint, f.Suite, f.Name)) {
				if t.Status == history.Failed {
					return true
				}
			}
		}
	}
	return false
}

// baseName returns the branch that a case's key names, or the key.
func baseName(key string) string {
	if i := strings.LastIndexByte(key, '@'); i >= 0 {
		return key[i+1:]
	}
	return key
}

// Comparable reports whether a failure names what failed so exactly that the same on the base means
// the same failure: what only says that something failed may hide another one.
func (f Failure) Comparable() bool {
	switch f.Kind {
	case "truncated", "empty", "exit", "package", "problem", "log", "coverage":
		return false
	}
	return f.Fingerprint != "" && f.Name != ""
}

// TestRuns returns the analyzed runs of a checkpoint with their tests, in the order in which they
// were recorded.
func TestRuns(cp Checkpoint) []history.Run {
	var out []history.Run
	for _, key := range recordedRuns(cp) {
		var tests []history.Test
		partial, analyzed := false, false
		run := history.Run{Passed: true}
		for _, part := range sortedKeys(cp.Runs[key].Parts) {
			v := cp.Runs[key].Parts[part]
			if v.Result.Silent() {
				continue
			}
			inv, kept := v.tests()
			tests, partial = append(tests, inv.Tests...), partial || inv.Partial
			run.SHA, run.At, run.Lost, analyzed = v.Run.SHA, v.At, run.Lost || !kept, true
			run.Passed = run.Passed && v.Result == Pass
		}
		if analyzed {
			run.Inventory, run.Size = history.New(tests, partial), runSize(cp.Runs[key])
			out = append(out, run)
		}
	}
	return out
}

// NewestRuns returns the parts of the newest runs of a checkpoint of which all legs have reported, the
// newest first. Attempts of one run count once.
func NewestRuns(cp Checkpoint, most int) [][]Verdict {
	var out [][]Verdict
	seen := map[string]bool{}
	for _, key := range slices.Backward(recordedRuns(cp)) {
		var parts []Verdict
		for _, name := range sortedKeys(cp.Runs[key].Parts) {
			if v := cp.Runs[key].Parts[name]; !v.Result.Silent() {
				parts = append(parts, v)
			}
		}
		if len(parts) == 0 || len(parts) < parts[0].Run.Parts || seen[parts[0].Run.ID] {
			continue
		}
		seen[parts[0].Run.ID] = true
		if out = append(out, parts); len(out) == most {
			break
		}
	}
	return out
}

// recordedParents returns the parents of commits that were recorded with the runs of a checkpoint.
func recordedParents(cp Checkpoint) history.Parents {
	out := history.Parents{}
	for _, rs := range cp.Runs {
		for _, v := range rs.Parts {
			if len(v.Parents) > 0 {
				out[v.Run.SHA] = v.Parents
			}
		}
	}
	return out
}

// recordedRuns returns the keys of the runs in the order in which they were recorded.
func recordedRuns(cp Checkpoint) []string {
	keys := sortedKeys(cp.Runs)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(cp.Runs[a].Seq, cp.Runs[b].Seq) })
	return keys
}

// tests returns the inventory of a verdict: that of its analysis, or where that is not kept or cannot
// be read, the failures alone.
func (v Verdict) tests() (inv history.Inventory, kept bool) {
	if inv, err := history.Unpack(v.Inventory); err == nil {
		return inv, true
	}
	return history.New(FailedTests(v.Checkpoint, v), true), false
}

// FailedTests returns the failures of a verdict that can be compared, as tests of an inventory.
func FailedTests(checkpoint string, v Verdict) []history.Test {
	var out []history.Test
	for _, f := range v.Cut {
		if f.comparable() {
			out = append(out, history.Test{ID: history.TestID(checkpoint, f.Suite, f.Name), Status: history.Failed, Fingerprint: f.Print})
		}
	}
	for _, f := range v.Failures {
		if f.Comparable() {
			out = append(out, history.Test{
				ID: history.TestID(checkpoint, f.Suite, f.Name), Status: history.Failed, Fingerprint: history.FingerprintOf(f.Fingerprint),
			})
		}
	}
	return out
}

// lastMessage returns what a test said when it failed last.
func lastMessage(cp Checkpoint, suite, name string) string {
	for _, key := range slices.Backward(recordedRuns(cp)) {
		for _, v := range cp.Runs[key].Parts {
			for _, f := range v.Failures {
				if f.Suite == suite && f.Name == name && f.Message != "" {
					return truncate.Counted(f.Message, 300)
				}
			}
		}
	}
	return ""
}

// forgetInventories drops the inventories of runs that are neither of the current streak nor among
// the newest.
func forgetInventories(cp *Checkpoint) {
	keys := recordedRuns(*cp)
	forgetNames(cp, keys)
	for _, key := range keys[:max(0, len(keys)-KeptInventories)] {
		rs := cp.Runs[key]
		if rs.Streak == cp.Streak {
			continue
		}
		parts := make(map[string]Verdict, len(rs.Parts))
		for name, v := range rs.Parts {
			v.Inventory, v.Whole = nil, ""
			parts[name] = v
		}
		rs.Parts = parts
		cp.Runs[key] = rs
	}
}

// keptNames is how many runs of a checkpoint keep the names of their tests. They are mostly the same.
const keptNames = 3

// forgetNames drops the names of the tests of all but the newest runs that have any.
func forgetNames(cp *Checkpoint, keys []string) {
	kept := 0
	for _, key := range slices.Backward(keys) {
		rs := cp.Runs[key]
		has := false
		for _, v := range rs.Parts {
			has = has || v.Names != ""
		}
		if !has {
			continue
		}
		if kept++; kept <= keptNames {
			continue
		}
		parts := maps.Clone(rs.Parts)
		for name, v := range parts {
			v.Names = ""
			parts[name] = v
		}
		rs.Parts = parts
		cp.Runs[key] = rs
	}
}

// UnreadInventories returns the blobs of those newest runs of a checkpoint whose events do not even
// hold what did not pass, newest first.
func UnreadInventories(c Case, checkpoint string) []string {
	cp := c.Checkpoints[checkpoint]
	var out []string
	for _, key := range slices.Backward(recordedRuns(cp)) {
		for _, v := range cp.Runs[key].Parts {
			if v.Inventory == nil && v.Whole != "" {
				out = append(out, v.Whole)
			}
		}
	}
	return out
}

// WithInventory returns c with the inventory of the runs that have a blob of that name.
func WithInventory(c Case, checkpoint, blob string, packed []byte) Case {
	c = c.clone()
	cp := c.Checkpoints[checkpoint].clone()
	for key, rs := range cp.Runs {
		parts := maps.Clone(rs.Parts)
		for name, v := range parts {
			if v.Whole == blob {
				v.Inventory = packed
				parts[name] = v
			}
		}
		rs.Parts = parts
		cp.Runs[key] = rs
	}
	c.Checkpoints[checkpoint] = cp
	return c
}

// KeptBlobs returns the names of the blobs that the runs of a case still need.
func KeptBlobs(c Case) map[string]bool {
	out := map[string]bool{}
	for _, cp := range c.Checkpoints {
		for _, rs := range cp.Runs {
			for _, v := range rs.Parts {
				out[v.Whole], out[v.Names] = true, true
			}
		}
		for _, v := range cp.Held {
			out[v.Whole], out[v.Names] = true, true
		}
	}
	delete(out, "")
	return out
}

// Standings divides the failures that count into those that are new and those that stand on the base.
func (v Verdict) Standings() (fresh, preExisting []Failure) {
	for _, f := range v.Failures {
		switch {
		case f.Quarantined:
		case f.Standing == history.StandingPreExisting:
			preExisting = append(preExisting, f)
		default:
			fresh = append(fresh, f)
		}
	}
	return fresh, preExisting
}

// preExisting reports whether all that failed stands on the base, and nothing was cut that might not.
func (v Verdict) preExisting() bool {
	fresh, old := v.Standings()
	cut := v.cutPreExisting()
	whole := v.Dropped == cut && len(v.Notes) == 0 && !v.Partial && len(v.Unmet) == 0 && v.Counts.Failed <= len(old)+cut
	return v.Result == Fail && v.Review == nil && len(fresh) == 0 && len(old) > 0 && whole
}

// cutPreExisting counts the failures known by name alone that stand on the base or do not count.
func (v Verdict) cutPreExisting() int {
	n := 0
	for _, f := range v.Cut {
		if f.PreExisting || f.Quarantined {
			n++
		}
	}
	return n
}

// ledByNew returns v with a new failure as the decisive one where that was one of the base, as long
// as it is not graver: the base excuses, and accuses nobody.
func (v Verdict) ledByNew() Verdict {
	fresh, old := v.Standings()
	if len(fresh) == 0 || len(old) == 0 || v.Result != Fail {
		return v
	}
	var left []int
	for i, f := range v.Failures {
		if !f.Quarantined && f.Standing != history.StandingPreExisting {
			left = append(left, i)
		}
	}
	led := v
	led.Failures = slices.Clone(v.Failures)
	led.lead(left)
	if gravity(led) > gravity(v) {
		return v
	}
	return led
}

// decidePreExisting: what stands on the base already is nobody's to fix here.
func decidePreExisting(s input) (Decision, bool) {
	if !s.m.preExisting() {
		return Decision{}, false
	}
	_, old := s.m.Standings()
	d := Decision{Kind: KindPreExisting, Check: s.p.BaseCheck, Iteration: s.cp.Retries}
	n := len(old) + s.m.cutPreExisting()
	d.Reason = fmt.Sprintf("all %d failures also stand on %s", n, s.base())
	if n == 1 {
		d.Reason = fmt.Sprintf("the failure also stands on %s", s.base())
	}
	if since := old[0].Since; since != "" {
		d.Reason += " since " + truncate.ShortSHA(since)
	}
	if turns := len(s.cp.Attempts); turns > 0 {
		last := s.cp.Attempts[turns-1]
		d.Again = last.Kind == KindPreExisting && last.Streak == s.cp.Streak && last.Verdict.Run.SHA == s.m.Run.SHA && s.m.Run.SHA != ""
	}
	return d, true
}

// base returns what texts call the base that the run was compared with.
func (s input) base() string {
	if s.m.Base == nil {
		return "the base"
	}
	return orElse(s.m.Base.Name, "the base")
}

// passedOverNew is true for a run that was decided by what its base has, and of which a further part
// fails otherwise.
func (s input) passedOverNew() bool {
	return s.run.Decided && s.run.Decision.Kind == KindPreExisting && s.m.Result != Pass && !s.m.preExisting()
}
