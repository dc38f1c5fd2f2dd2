package plan

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// BuildState is what is known of the ports of a plan: the fold of its stream. How
// the pair of a port goes stands in that port's own stream; here is what came
// of it. It is a value: no method changes it.
type BuildState struct {
	Version  int // events folded
	Build    Build
	Ports    map[string]Known
	Sent     map[string]time.Time      // dispatches of the build, by key
	Issue    int                       // where it is shown, 0 if nowhere yet
	Graph    map[string]feedback.Links // the plan as the newest build knows it
	Answers  map[string]Answer         // of people: the newest of each port
	Requests FeedbackRequests          // of the build; not of its stream, but of whoever reads both

	Begun map[string]bool // builds, by id, the newest among them
}

// Build is one walk through a plan. It may take several runs: where one ends,
// the next goes on.
type Build struct {
	ID     string    `json:"id"`
	Run    string    `json:"run_id,omitempty"` // of GitHub Actions, that began it
	URL    string    `json:"url,omitempty"`    // of that
	SHA    string    `json:"sha,omitempty"`    // commit that the plan was read from
	At     time.Time `json:"at"`
	Rounds int       `json:"-"` // handed out so far

	Feedback string `json:"feedback,omitempty"` // under which its feedback stands in the stream of feedback requests

	Start *Start `json:"start,omitempty"` // how another build is begun, nil if not by a workflow

	Plan   string `json:"plan,omitempty"`   // Plan.Digest of what it began with
	Served bool   `json:"served,omitempty"` // a server drives it, by what it hears; no run of a workflow does
}

// Start is a workflow that begins a build when it is dispatched.
type Start struct {
	Workflow string            `json:"workflow"` // its file
	Ref      string            `json:"ref"`
	Inputs   map[string]string `json:"inputs,omitempty"`
}

// Known is what is known of one port.
type Known struct {
	Standing Standing `json:"standing"` // running, passed, paused, failed or escalated
	Hash     string   `json:"hash"`     // of the content that was handed out, or that passed
	Build    string   `json:"build"`
	Round    int      `json:"round"`
	Run      string   `json:"run_id,omitempty"` // that it was handed out in
	URL      string   `json:"url,omitempty"`    // of that
	Attempts int      `json:"attempts,omitempty"`
	Seconds  float64  `json:"seconds,omitempty"`
	Tokens   int64    `json:"tokens_used,omitempty"`
	Reason   string   `json:"reason,omitempty"` // why it has not passed
	Pair     string   `json:"pair,omitempty"`   // id of the loop that ended so
	Spec     string   `json:"spec,omitempty"`   // how the port was written when it ended so: Spec.Digest
	Runs     int      `json:"runs,omitempty"`   // in the build
	Passed   bool     `json:"passed,omitempty"` // it runs again for feedback: for what depends on it its pass holds
	After    string   `json:"after,omitempty"`  // the pair that had ended when it was handed out again
}

// Standing is how a port of a plan stands.
type Standing string

// The standings. The register knows running, passed, paused, failed and escalated; the
// others follow from the plan.
const (
	IsPending   Standing = "pending"   // waits for what it depends on
	IsReady     Standing = "ready"     // may begin
	IsRunning   Standing = "running"   // handed out, and not heard of since
	IsPassed    Standing = "passed"    //
	IsFailed    Standing = "failed"    // its runner broke, or it was cancelled
	IsEscalated Standing = "escalated" // an escalation is open
	IsBlocked   Standing = "blocked"   // something it depends on did not pass, or is held
	IsHeld      Standing = "held"      // its file says so
	IsPaused    Standing = "paused"    // it, or what it depends on, waits for feedback that was sent
)

// Standings are all of them, in the order in which people are told.
var Standings = []Standing{IsPassed, IsRunning, IsPaused, IsReady, IsPending, IsEscalated, IsFailed, IsBlocked, IsHeld}

// ErrNoBuild says that something is told of a build that is not the newest.
var ErrNoBuild = errors.New("another build has begun since")

// Projection folds the stream of a plan.
var Projection = routing.Projection[BuildState]{
	New:   func(string) BuildState { return BuildState{}.own() },
	Clone: BuildState.own,
	Apply: func(r BuildState, e routing.Event) (BuildState, error) {
		err := r.add(e)
		return r, err
	},
}

// FoldBuildState returns the plan of a stream; see routing.Projection.
func FoldBuildState(events []routing.Event) (BuildState, error) { return Projection.Fold("", events) }

// With returns the register after events that follow.
func (r BuildState) With(events []routing.Event) (BuildState, error) {
	return Projection.Extend(r, "", r.Version, events)
}

// Apply returns the register after e.
func (r BuildState) Apply(e routing.Event) (BuildState, error) {
	next := r.own()
	if err := next.add(e); err != nil {
		return r, err
	}
	return next, nil
}

// own returns a register that may be changed without changing r.
func (r BuildState) own() BuildState {
	out := r
	out.Ports, out.Sent, out.Answers = maps.Clone(r.Ports), maps.Clone(r.Sent), maps.Clone(r.Answers)
	if out.Ports == nil {
		out.Ports = map[string]Known{}
	}
	if out.Sent == nil {
		out.Sent = map[string]time.Time{}
	}
	if out.Answers == nil {
		out.Answers = map[string]Answer{}
	}
	if out.Begun = maps.Clone(r.Begun); out.Begun == nil {
		out.Begun = map[string]bool{}
	}
	return out
}

// Begin begins a build.
func (r BuildState) Begin(b Build) routing.Event {
	return routing.Event{Type: EventBegun, At: b.At, Data: BuildBegun{b}}
}

// Hand hands ports out to the jobs of a run.
func (r BuildState) Hand(entries []Entry, round int, run, url string, now time.Time) routing.Event {
	ports := make(map[string]Known, len(entries))
	for _, e := range entries {
		k := Known{Standing: IsRunning, Hash: e.Hash, Build: r.Build.ID, Round: round, Run: run, URL: url, Runs: 1}
		_, due := r.Requests.Due[e.ID]
		if old := r.Ports[e.ID]; due || old.Build == k.Build {
			k.again(old, due)
		}
		ports[e.ID] = k
	}
	return routing.Event{Type: EventHanded, At: now, Data: PortsHanded{r.Build.ID, ports}}
}

// again is what a port that is handed out another time keeps of what it was.
func (k *Known) again(old Known, due bool) {
	if old.Build == k.Build {
		k.Runs = old.Runs + 1
	}
	switch {
	case old.Standing != IsFailed && old.Standing != IsRunning:
		k.After = old.Pair
	case due: // it was killed at the feedback, perhaps before its pair began
		k.After = old.After
	}
	k.Passed = due && (old.Standing == IsPassed || old.Passed)
}

// End records what came of ports.
func (r BuildState) End(ports map[string]Known, now time.Time) routing.Event {
	return routing.Event{Type: EventEnded, At: now, Data: PortsEnded{r.Build.ID, ports}}
}

// Send records that the next run of the build is asked for.
func (r BuildState) Send(key string, now time.Time) routing.Event {
	return routing.Event{Type: EventSent, At: now, Data: RunSent{r.Build.ID, key}}
}

// Show records the issue in which the plan is shown.
func (r BuildState) Show(issue int, now time.Time) routing.Event {
	return routing.Event{Type: EventShown, At: now, Data: PlanShown{r.Build.ID, issue}}
}

// Begun reports whether the newest pair of a port's journal is one of those whom
// it was handed out to.
func (k Known) Begun(j Journal) bool {
	return j.Loop != nil && j.Runner != nil && (j.Runner.Run == k.Run || j.Runner.Of != "" && j.Runner.Of == k.Run) && (k.After == "" || k.After != j.Loop.ID)
}

// Heard returns what is known of a port that was handed out once its own
// journal is read. A port whose job left no word there has failed.
func (k Known) Heard(j Journal) Known {
	out := k
	l := j.Loop
	if l != nil {
		out.Attempts, out.Tokens, out.Pair = l.Attempt, l.Tokens, l.ID
	}
	ours := k.Begun(j)
	out.Passed = false
	switch {
	case ours && l.Status == Paused:
		out.Standing, out.Reason = IsPaused, l.Reason
	case l != nil && l.Status == Success && j.Passed != "" && (ours || k.After == "" && j.Passed == k.Hash): // not while a newer pair is at work
		out.Standing, out.Hash, out.Reason = IsPassed, j.Passed, ""
	case !ours:
		out.Standing, out.Attempts, out.Tokens, out.Pair = IsFailed, 0, 0, ""
		out.Reason = "its job was cancelled, or ended before the port began"
	case l.Status == Running && j.Runner.Events:
		return k // a workflow is at work, and its end will be heard of
	case l.Status == Running:
		out.Standing = IsFailed
		out.Reason = fmt.Sprintf("its job ended in turn %d; the next build goes on from there", l.Attempt)
	case l.Status == Raised:
		out.Standing, out.Reason = IsEscalated, orElse(l.Reason, l.Last.summary())
	default:
		out.Standing, out.Reason = IsFailed, l.Reason
	}
	if l != nil && out.Pair != "" && !l.EndedAt.IsZero() {
		out.Seconds = l.EndedAt.Sub(l.StartedAt).Seconds()
	}
	return out
}
