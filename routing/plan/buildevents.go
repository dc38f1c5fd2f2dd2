package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// The events of the stream of a plan.
const (
	EventBegun   routing.EventType = "plan.begun"   // BuildBegun
	EventHanded  routing.EventType = "plan.handed"  // PortsHanded
	EventEnded   routing.EventType = "plan.ended"   // PortsEnded
	EventSent    routing.EventType = "plan.sent"    // RunSent
	EventShown   routing.EventType = "plan.shown"   // PlanShown
	EventRead    routing.EventType = "plan.read"    // PlanRead
	EventTurned  routing.EventType = "plan.turned"  // PortTurned
	EventDecided routing.EventType = "plan.decided" // PortDecided
)

// buildPayload is the payload of one of the events.
type buildPayload interface {
	// build returns the build that the event is of, false if it may be of any.
	build() (id string, ok bool)
	// apply changes the state, which is that of the build.
	apply(r *BuildState, at time.Time) error
}

var buildPayloads = map[routing.EventType]func(routing.Event) (buildPayload, error){}

func registerBuild[P buildPayload](t routing.EventType) {
	routing.RegisterPayload[P](t)
	buildPayloads[t] = func(e routing.Event) (buildPayload, error) { return routing.PayloadOf[P](e) }
}

func init() {
	registerBuild[BuildBegun](EventBegun)
	registerBuild[PortsHanded](EventHanded)
	registerBuild[PortsEnded](EventEnded)
	registerBuild[RunSent](EventSent)
	registerBuild[PlanShown](EventShown)
	registerBuild[PlanRead](EventRead)
	registerBuild[PortTurned](EventTurned)
	registerBuild[PortDecided](EventDecided)
}

// BuildBegun is the payload of EventBegun: what failed in earlier builds may be tried again.
type BuildBegun struct {
	Build Build `json:"begun"`
}

// PortsHanded is the payload of EventHanded: ports are running.
type PortsHanded struct {
	Build string           `json:"build"`
	Ports map[string]Known `json:"ports"`
}

// PortsEnded is the payload of EventEnded: ports have ended.
type PortsEnded struct {
	Build string           `json:"build"`
	Ports map[string]Known `json:"ports"`
}

// RunSent is the payload of EventSent: the next run of the build was asked for.
type RunSent struct {
	Build string `json:"build"`
	Key   string `json:"key"` // of the dispatch
}

// PlanShown is the payload of EventShown: the plan is shown in an issue.
type PlanShown struct {
	Build string `json:"build"`
	Issue int    `json:"issue"`
}

// PlanRead is the payload of EventRead: the plan as it was read.
type PlanRead struct {
	Build string                    `json:"build"`
	Graph map[string]feedback.Links `json:"graph"`
}

// PortTurned is the payload of EventTurned: a port is in another iteration.
type PortTurned struct {
	Build     string `json:"build"`
	Port      string `json:"port"`
	Run       string `json:"run_id"` // that the port was handed out to
	Iteration int    `json:"iteration"`
}

// PortDecided is the payload of EventDecided: what a person decided about a port, in any build.
type PortDecided struct {
	Port   string  `json:"port"`
	Answer *Answer `json:"answer"`
}

// add changes r, which must be the caller's own. After an error it is of no use.
func (r *BuildState) add(e routing.Event) error {
	read, ok := buildPayloads[e.Type]
	if !ok {
		return fmt.Errorf("unknown event type %q", e.Type)
	}
	p, err := read(e)
	if err != nil {
		return err
	}
	if id, ok := p.build(); ok && id != r.Build.ID {
		return fmt.Errorf("%s of build %q: %w", e.Type.Name(), id, ErrNoBuild)
	}
	r.Version++
	return p.apply(r, e.At)
}

func (BuildBegun) build() (string, bool)    { return "", false }
func (p PortsHanded) build() (string, bool) { return p.Build, true }
func (p PortsEnded) build() (string, bool)  { return p.Build, true }
func (p RunSent) build() (string, bool)     { return p.Build, true }
func (p PlanShown) build() (string, bool)   { return p.Build, true }
func (p PlanRead) build() (string, bool)    { return p.Build, true }
func (p PortTurned) build() (string, bool)  { return p.Build, true }
func (PortDecided) build() (string, bool)   { return "", false }

func (p BuildBegun) apply(r *BuildState, _ time.Time) error {
	if p.Build.ID == "" || p.Build.ID == r.Build.ID {
		return fmt.Errorf("build %q cannot begin", p.Build.ID)
	}
	r.Build, r.Sent = p.Build, map[string]time.Time{}
	r.Begun[r.Build.ID] = true
	return nil
}

func (p PortsHanded) apply(r *BuildState, _ time.Time) error {
	for id, k := range p.Ports {
		r.Build.Rounds = max(r.Build.Rounds, k.Round)
		r.Ports[id] = k
	}
	return nil
}

func (p PortsEnded) apply(r *BuildState, _ time.Time) error {
	for id, k := range p.Ports {
		if k.Standing == IsRunning {
			return fmt.Errorf("port %q ended and is %s", id, k.Standing)
		}
		r.Ports[id] = k
	}
	return nil
}

func (p RunSent) apply(r *BuildState, at time.Time) error {
	r.Sent[p.Key] = at
	return nil
}

func (p PlanShown) apply(r *BuildState, _ time.Time) error {
	r.Issue = p.Issue
	return nil
}

func (p PlanRead) apply(r *BuildState, _ time.Time) error {
	r.Graph = p.Graph
	return nil
}

func (p PortTurned) apply(r *BuildState, _ time.Time) error {
	if k := r.Ports[p.Port]; k.Standing == IsRunning && k.Build == p.Build && k.Run == p.Run && p.Iteration > k.Attempts {
		k.Attempts = p.Iteration
		r.Ports[p.Port] = k
	}
	return nil
}

func (p PortDecided) apply(r *BuildState, _ time.Time) error {
	if p.Port == "" || p.Answer == nil {
		return errors.New("an answer of nobody, or about nothing")
	}
	r.Answers[p.Port] = *p.Answer
	return nil
}
