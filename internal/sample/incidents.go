package sample

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// Incidents are the incidents of a repository over time, decided by the real rules. A minute passes with
// each step.
type Incidents struct {
	Repo  string
	At    time.Time
	State incident.State

	events []routing.Event
}

// Stream returns the stream.
func (o *Incidents) Stream() Stream {
	return Stream{routing.StreamKey(o.Repo, routing.StreamIncidents), o.events}
}

// Steps returns the questions to the incidents now.
func (o *Incidents) Steps() incident.Steps {
	return incident.Steps{State: o.State, Now: o.At, Settings: incident.Defaults()}
}

// Record appends what a step returned, said by a person or "".
func (o *Incidents) Record(by string, ps []incident.Payload, err error) {
	for _, e := range incident.Events(ps, by, o.At) {
		e.Stream = o.Stream().Key
		if err == nil {
			o.State, err = o.State.Apply(e)
		}
		o.events = append(o.events, e)
	}
	if err != nil {
		panic(err)
	}
	o.At = o.At.Add(time.Minute)
}

// Fail has pull requests with numbers from one to another fail by a line of a log. Several authors have
// them.
func (o *Incidents) Fail(line string, from, to int) {
	for n := from; n <= to; n++ {
		v := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Class: routing.EnvIssue, At: o.At, Run: routing.Run{ID: fmt.Sprint(100 + n), Attempt: 1, SHA: fmt.Sprintf("%040x", n)}}
		v.Failures = []routing.Failure{{Name: "TestStock", Kind: "test", Class: routing.EnvIssue, Message: line, Evidence: []routing.Evidence{{Text: line, Signal: "env-dns"}}}}
		ps, _, err := o.Steps().See(incident.Seen{Case: fmt.Sprint(o.Repo, "#", n), Author: fmt.Sprint("dev", n%3), Base: "main", Verdict: v})
		o.Record("", ps, err)
	}
}

// Newest returns the incident that was opened last.
func (o *Incidents) Newest() incident.Incident { return o.State.Incidents[len(o.State.Incidents)-1] }

// File gives the newest incident its issue.
func (o *Incidents) File(number int) {
	in := o.Newest()
	o.Record("", []incident.Payload{incident.WorkDone{Done: trackingissue.Done{ID: in.ID, Work: trackingissue.WorkIssue, Gen: in.Gen, Number: number}}}, nil)
}

// End has the newest incident end: a person says that the cause is over, one case is tried, the others
// are restarted.
func (o *Incidents) End(by string) {
	id := o.Newest().ID
	o.Record(by, o.Steps().Close(id, "closed", false), nil)
	o.Record("", o.Steps().Due(id), nil)
	canary := o.Newest().Canary
	o.Record("", []incident.Payload{incident.MemberRestarted{ID: id, Case: canary.Case, Checkpoint: canary.Checkpoint}}, nil)
	ps, err := o.Steps().Pass(canary.Case, canary.Checkpoint, canary.Run.SHA)
	o.Record("", ps, err)
	for _, m := range o.Newest().Waiting() {
		o.Record("", []incident.Payload{incident.MemberRestarted{ID: id, Case: m.Case, Checkpoint: m.Checkpoint}}, nil)
	}
	o.Record("", o.Steps().Due(id), nil)
}
