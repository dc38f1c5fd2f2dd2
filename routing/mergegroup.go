package routing

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/truncate"
)

// queuePrefix begins the names of the branches that a merge queue makes.
const queuePrefix = "gh-readonly-queue/"

// InQueue reports whether a branch is one that a merge queue makes for a merge group.
func InQueue(branch string) bool { return strings.HasPrefix(branch, queuePrefix) }

// ParseQueueBranch reads the name that GitHub gives the branch of a merge group,
// "gh-readonly-queue/BASE/pr-NUMBER-SHA": the branch that the group is merged into, its last pull
// request, and the commit that the group begins at.
func ParseQueueBranch(branch string) (base string, number int, sha string, ok bool) {
	rest, ok := strings.CutPrefix(branch, queuePrefix)
	i := strings.LastIndex(rest, "/pr-")
	if !ok || i <= 0 {
		return "", 0, "", false
	}
	digits, sha, _ := strings.Cut(rest[i+len("/pr-"):], "-")
	number, err := strconv.Atoi(digits)
	if err != nil || number <= 0 {
		return "", 0, "", false
	}
	return rest[:i], number, sha, true
}

// MergeGroup is what a merge queue runs together, as far as it was known when a run was recorded.
type MergeGroup struct {
	Branch  string      `json:"branch"`            // of the queue
	Base    string      `json:"base"`              // branch that the group is merged into
	Pulls   []GroupPull `json:"pulls,omitempty"`   // in the order of the queue, the newest last
	Partial bool        `json:"partial,omitempty"` // there may be more of them
	Gone    bool        `json:"gone,omitempty"`    // the branch was deleted, and no test failed
}

// GroupPull is a pull request of a merge group.
type GroupPull struct {
	Number int    `json:"number"`
	Head   string `json:"head,omitempty"`         // its newest commit, "" if unknown
	Passes bool   `json:"passes_alone,omitempty"` // the checkpoint passes at Head
	Told   bool   `json:"told,omitempty"`         // its comment says what the group's run came to
}

// passAlone reports whether the checkpoint passes for each pull request of the group by itself.
func (g *MergeGroup) passAlone() bool {
	return len(g.Pulls) > 0 && !g.Partial && !slices.ContainsFunc(g.Pulls, func(p GroupPull) bool { return !p.Passes })
}

// Numbers names the pull requests of the group, in the order of the queue.
func (g *MergeGroup) Numbers() []string {
	out := make([]string, len(g.Pulls))
	for i, p := range g.Pulls {
		out[i] = "#" + strconv.Itoa(p.Number)
	}
	return out
}

// name names the group for a reason.
func (g *MergeGroup) name() string {
	const most = 10
	names := g.Numbers()
	if len(names) == 0 {
		return g.Branch
	}
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// Why a merge group ended, as GitHub says it.
const (
	GroupMerged      = "merged"
	GroupInvalidated = "invalidated" // an earlier entry of the queue was removed: the group is made anew
	GroupDequeued    = "dequeued"
)

// GroupNoted is the payload of EventGroup: a merge group began or ended.
type GroupNoted struct {
	Base    string `json:"base,omitempty"` // branch that the group is merged into
	BaseSHA string `json:"base_sha,omitempty"`
	SHA     string `json:"sha,omitempty"`   // the group's commit
	Ended   string `json:"ended,omitempty"` // why it ended; "" when it begins
}

// GroupRan is the payload of EventGroupRan in the case of a pull request: what a run of a merge group
// came to that the pull request was in.
type GroupRan struct {
	Checkpoint string          `json:"checkpoint"`
	Group      MergeGroup      `json:"group"`
	Generation int             `json:"generation"` // of the group's case
	Kind       Kind            `json:"kind"`
	Run        Run             `json:"run"`
	Result     Result          `json:"result"`
	Class      Class           `json:"class,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Unmet      []string        `json:"unmet,omitempty"`
	Counts     Counts          `json:"counts"`
	Failures   []Failure       `json:"failures,omitempty"` // the first of them, without what is long
	Failed     int             `json:"failed,omitempty"`   // all of them
	Base       *BaseComparison `json:"base,omitempty"`
	Lease      *Lease          `json:"lease,omitempty"` // of the process that recorded it, where effects are pending
}

// mostGroupFailures is how many failures of a merge group the case of a pull request keeps.
const mostGroupFailures = 10

// GroupResult returns what the newest decision on a checkpoint of a merge group's case is for its pull
// requests. It reports false where there is none.
func GroupResult(c Case, checkpoint string) (GroupRan, bool) {
	cp := c.Checkpoints[checkpoint]
	n := len(cp.Attempts)
	if n == 0 || cp.Attempts[n-1].Verdict.Group == nil {
		return GroupRan{}, false
	}
	a := cp.Attempts[n-1]
	v := a.Verdict
	out := GroupRan{
		Checkpoint: checkpoint, Group: *v.Group, Generation: c.Generation, Kind: a.Kind, Run: v.Run, Result: v.Result, Class: v.Class,
		Reason: truncate.Counted(v.Reason, 500), Unmet: v.Unmet, Counts: v.Counts, Base: v.Base,
	}
	fresh, old := v.Standings()
	failed := slices.Concat(fresh, old)
	out.Failed = max(len(failed)+v.Dropped, v.Counts.Failed)
	for _, f := range failed[:min(len(failed), mostGroupFailures)] {
		f.Trace, f.Excerpt, f.Suggestion = "", nil, ""
		f.Message = truncate.Counted(f.Message, 300)
		f.Expected, f.Actual = truncate.Counted(f.Expected, 100), truncate.Counted(f.Actual, 100)
		out.Failures = append(out.Failures, f)
	}
	return out, true
}

// Stale reports whether a pull request has been analyzed at another commit than the one that is in the
// group.
func (g GroupRan) Stale(c Case) bool {
	_, number, _ := strings.Cut(c.Key, "#")
	for _, p := range g.Group.Pulls {
		if strconv.Itoa(p.Number) == number && p.Head != "" {
			last := c.Checkpoints[g.Checkpoint].Last.SHA
			return last != "" && last != p.Head
		}
	}
	return false
}

// NewsOf reports whether a case does not know what a run of a merge group came to yet: neither this
// nor what a later run of the group, or a run of a later group, came to.
func (g GroupRan) NewsOf(c Case) bool {
	known, ok := c.Groups[g.Checkpoint]
	switch {
	case !ok:
		return true
	case known.Group.Branch == g.Group.Branch && known.Run.SHA == g.Run.SHA:
		return g.Generation > known.Generation
	}
	return !g.Run.olderThan(known.Run)
}

// GroupEvent returns the event that records that a merge group began or ended.
func GroupEvent(caseKey string, p GroupNoted, now time.Time) Event {
	return Event{Type: EventGroup, At: now, Stream: caseKey, Data: p}
}

// GroupRanEvent returns the event that records in the case of a pull request what its merge group came
// to.
func GroupRanEvent(caseKey string, p GroupRan, now time.Time) Event {
	return Event{Type: EventGroupRan, At: now, Stream: caseKey, Data: p}
}

// applyGroup notes that a merge group began or ended.
func applyGroup(c Case, e GroupNoted) Case {
	noted := e
	if was := c.Noted; was != nil {
		noted.Base, noted.BaseSHA, noted.SHA = orElse(e.Base, was.Base), orElse(e.BaseSHA, was.BaseSHA), orElse(e.SHA, was.SHA)
		noted.Ended = orElse(e.Ended, was.Ended)
	}
	c.Noted = &noted
	return c
}

// applyGroupRan notes what a merge group came to, and asks for the comment to say it.
func applyGroupRan(c Case, e GroupRan) (Case, error) {
	if e.Checkpoint == "" || e.Kind == "" {
		return c, fmt.Errorf("an event of a merge group without checkpoint or decision")
	}
	if !e.NewsOf(c) {
		return c, nil
	}
	e.Lease = nil
	c.Groups = maps.Clone(c.Groups)
	if c.Groups == nil {
		c.Groups = map[string]GroupRan{}
	}
	c.Groups[e.Checkpoint] = e
	c.queue([]Effect{{
		Kind: EffectComment, Key: fmt.Sprintf("%s/%s/%s/%s/comment", c.Key, e.Checkpoint, e.Group.Branch, orElse(e.Run.SHA, e.Run.ID)),
		Slot: e.Checkpoint + "/" + string(EffectComment), Checkpoint: e.Checkpoint, Iteration: c.Checkpoints[e.Checkpoint].Retries, SHA: e.Run.SHA,
	}})
	return c, nil
}

// groupEnded says why a run of a merge group says nothing of its pull requests: the group was made anew, or
// its branch was deleted under a run of which no test failed.
func groupEnded(s input) string {
	g := s.m.Group
	ended := ""
	if s.c.Noted != nil {
		ended = s.c.Noted.Ended
	}
	switch tests := len(FailedTests(s.v.Checkpoint, s.m)) > 0; {
	case ended == GroupInvalidated:
		return "an earlier entry of the merge queue was removed, and the group is made anew"
	case g.Gone && !tests, ended != "" && ended != GroupMerged && !tests:
		return "its branch was deleted before the run ended"
	}
	return ""
}

// decideGroupEnded: what a group that is made anew, or is gone, came to is nobody's business.
func decideGroupEnded(s input) (Decision, bool) {
	if s.m.Group == nil || s.m.green() {
		return Decision{}, false
	}
	why := groupEnded(s)
	return none("the merge group is over: %s", why), why != ""
}

// decideGroupPassed: a green group starts nothing, as it is merged.
func decideGroupPassed(s input) (Decision, bool) {
	if s.m.Group == nil || !s.m.green() {
		return Decision{}, false
	}
	after := s.c.clone()
	cp := s.cp
	cp.State = Completed
	after.Checkpoints[s.v.Checkpoint] = cp
	return Decision{Kind: KindPass, Reason: passReason(s, 0), Complete: after.allDone(s.p)}, true
}

// decideGroupOnBase: what stands on the base already is no pull request's of the group.
func decideGroupOnBase(s input) (Decision, bool) {
	if s.m.Group == nil {
		return Decision{}, false
	}
	return decidePreExisting(s)
}

// decideInteraction: the base does not fail, and no pull request of the group does by itself.
func decideInteraction(s input) (Decision, bool) {
	g := s.m.Group
	if g == nil || s.m.Result != Fail || !s.m.Class.Fixable() && s.m.Class != DesignMismatch || !g.passAlone() {
		return Decision{}, false
	}
	d := Decision{Kind: KindInteraction, Reason: fmt.Sprintf("each of %s passes alone, and merged into %s they fail together", g.name(), g.Base)}
	if len(g.Pulls) == 1 {
		d.Reason = fmt.Sprintf("%s passes alone, and fails merged into %s", g.name(), g.Base)
	}
	d.Again = decidedBefore(s, d.Kind)
	return d, true
}

// decideGroupFailed: nobody can say which pull request of the group it is.
func decideGroupFailed(s input) (Decision, bool) {
	g := s.m.Group
	if g == nil {
		return Decision{}, false
	}
	why := orElse(s.m.Reason, fmt.Sprintf("%d of %d tests failed", s.m.Counts.Failed, s.m.Counts.Tests))
	if s.m.Result == Pass {
		why = strings.Join(s.m.Unmet, "; ")
	}
	d := Decision{Kind: KindGroupFailed, Reason: fmt.Sprintf("one of %s, or how they act together: %s", g.name(), why)}
	if len(g.Pulls) < 2 && !g.Partial {
		d.Reason = fmt.Sprintf("%s merged into %s: %s", g.name(), g.Base, why)
	}
	d.Again = decidedBefore(s, d.Kind)
	return d, true
}

// decidedBefore reports whether the newest decision was the same on the same commit.
func decidedBefore(s input, k Kind) bool {
	n := len(s.cp.Attempts)
	if n == 0 {
		return false
	}
	last := s.cp.Attempts[n-1]
	return last.Kind == k && last.Streak == s.cp.Streak && last.Verdict.Run.SHA == s.m.Run.SHA && s.m.Run.SHA != ""
}
