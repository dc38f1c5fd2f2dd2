package routing

import (
	"strconv"
	"time"
)

// Result is what a run said of a checkpoint.
type Result string

// The results. Errored means that the analysis itself failed, and Awaiting that
// the run waits for an approval: neither says anything of the work.
const (
	Pass     Result = "pass"
	Fail     Result = "fail"
	TimedOut Result = "timeout"
	Unclear  Result = "unclear"
	Errored  Result = "error"
	Awaiting Result = "awaiting"
)

// Silent reports whether r says nothing of the work.
func (r Result) Silent() bool { return r == Errored || r == Awaiting }

// Run names one run of a checkpoint. Repository, ID, Attempt and the
// checkpoint together are what is counted once; Part is one leg of a matrix.
type Run struct {
	Repository string `json:"repository,omitempty"`
	ID         string `json:"id"`
	Attempt    int    `json:"attempt,omitempty"` // 1-based; 0 counts as 1
	SHA        string `json:"sha,omitempty"`     // commit the run was of
	Tree       string `json:"tree,omitempty"`    // tree of the commit, "" if unknown
	Part       string `json:"part,omitempty"`    // matrix leg, "" where there is one
	Parts      int    `json:"parts,omitempty"`   // legs expected, 0 counts as 1
	URL        string `json:"url,omitempty"`
	Job        string `json:"job,omitempty"`
	Pusher     string `json:"pusher,omitempty"` // login of who started the run by pushing the commit, "" if unknown
}

// Key returns what the run is counted by, without its part.
func (r Run) Key() string {
	return r.Repository + "/" + r.ID + "/" + strconv.Itoa(max(r.Attempt, 1))
}

// olderThan reports whether r certainly began before s: run ids of GitHub grow.
// Ids that are not numbers say nothing.
func (r Run) olderThan(s Run) bool {
	if r.ID == s.ID {
		return max(r.Attempt, 1) < max(s.Attempt, 1)
	}
	a, errA := strconv.ParseUint(r.ID, 10, 64)
	b, errB := strconv.ParseUint(s.ID, 10, 64)
	return errA == nil && errB == nil && a < b
}

// Counts are the totals of a run's tests.
type Counts struct {
	Tests   int `json:"tests"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Flaky   int `json:"flaky,omitempty"`

	Quarantined int `json:"quarantined,omitempty"` // failed, and not among Failed
}

// Verdict is what one run, or one part of it, said of a checkpoint.
type Verdict struct {
	Checkpoint string        `json:"checkpoint"`
	Run        Run           `json:"run"`
	Result     Result        `json:"result"`
	Unmet      []string      `json:"unmet,omitempty"` // criteria that a pass does not meet
	Class      Class         `json:"class,omitempty"` // of the decisive failure
	Reason     string        `json:"reason,omitempty"`
	Evidence   []Evidence    `json:"evidence,omitempty"`
	Failures   []Failure     `json:"failures,omitempty"` // decisive first, cut to what the ledger holds
	Dropped    int           `json:"dropped,omitempty"`  // failures beyond those
	Cut        CutFailures   `json:"cut,omitempty"`      // names and fingerprints of those dropped, as far as they fit
	Counts     Counts        `json:"counts"`
	Unmatched  bool          `json:"unmatched,omitempty"` // no file matched the globs of its reports, and neither this checkpoint of its base nor a log says anything
	Review     *ReviewResult `json:"review,omitempty"`    // set when the verdict is a review's
	Head       string        `json:"head,omitempty"`      // head commit of the subject when analyzed, "" if unknown
	Workflows  []string      `json:"workflows,omitempty"` // files of CI itself that the change touches, on a pass: it proves less
	Notes      []string      `json:"notes,omitempty"`     // what was cut or could not be read
	Partial    bool          `json:"partial,omitempty"`   // it had Notes, which are not kept
	At         time.Time     `json:"at"`

	Base      *BaseComparison `json:"base,omitempty"`      // what Failures were compared with
	Register  *Register       `json:"register,omitempty"`  // the quarantine of the repository then; nil: it was not read
	Inventory []byte          `json:"inventory,omitempty"` // its tests, as package history packs them
	Whole     string          `json:"whole,omitempty"`     // name of the blob that has all tests, where Inventory does not
	Names     string          `json:"names,omitempty"`     // name of the blob that has the names of its tests
	Parents   []string        `json:"parents,omitempty"`   // of the run's commit, where they were given
	Green     *Green          `json:"green,omitempty"`     // of a pass: what it was compared with
	Logs      []string        `json:"logs,omitempty"`      // jobs whose logs name tests that no report does: not those of each run are read
	Incident  *IncidentRef    `json:"incident,omitempty"`  // that explains all that failed
	During    string          `json:"during,omitempty"`    // id of an incident that was open then: nothing runs again by itself
	Logged    TestIDs         `json:"logged,omitempty"`    // failures that such logs alone name
	Group     *MergeGroup     `json:"group,omitempty"`     // that the run is of, nil for other runs
}

// merge returns the verdict of a whole run from the verdicts of its parts: the
// gravest result decides, in the order in which decisions take precedence.
func merge(parts []Verdict) Verdict {
	best := 0
	for i := range parts {
		if gravity(parts[i]) > gravity(parts[best]) {
			best = i
		}
	}
	v := parts[best]
	v.Failures = append([]Failure(nil), v.Failures...)
	v.Cut = append(CutFailures(nil), v.Cut...)
	for i, p := range parts {
		if i == best {
			continue
		}
		for _, f := range p.Failures {
			f.Decisive = false
			v.Failures = append(v.Failures, f)
		}
		v.Dropped += p.Dropped
		v.Cut = append(v.Cut, p.Cut...)
		v.Counts = v.Counts.add(p.Counts)
		v.Unmet = append(v.Unmet, p.Unmet...)
	}
	v.Inventory, v.Whole, v.Names, v.Green = nil, "", "", nil // each part keeps its own
	v.Group = parts[0].Group                                  // as the part that came last knows it
	return v.ledByNew()
}

func (c Counts) add(d Counts) Counts {
	return Counts{c.Tests + d.Tests, c.Passed + d.Passed, c.Failed + d.Failed, c.Skipped + d.Skipped, c.Flaky + d.Flaky, c.Quarantined + d.Quarantined}
}

// gravity orders verdicts of parts: a design or environment failure outranks a
// timeout, that an unclear part, that a fixable failure, that a part whose analyze
// failed, and that a pass.
func gravity(v Verdict) int {
	switch {
	case v.Result == Awaiting:
		return 0
	case v.Result == Pass && len(v.Unmet) == 0:
		return 1
	case v.Result == Errored:
		return 2
	case v.Result == Fail && v.Class == DesignMismatch:
		return 7
	case v.Result == Fail && v.Class == EnvIssue:
		return 6
	case v.Result == TimedOut || v.Class == Timeout:
		return 5
	case v.Result == Fail && v.Class.Fixable():
		return 3
	}
	return 4
}
