package routing

import (
	"fmt"
	"slices"
	"time"
)

// IncidentKind is what an incident comes from.
type IncidentKind string

// The kinds of incidents.
const (
	IncidentEnvironment IncidentKind = "environment" // a host or service that runs need
	IncidentBase        IncidentKind = "base"        // a failure that comes with the base
)

// IncidentRef names the incident that explains all that failed in a run, as it was known then.
type IncidentRef struct {
	ID     string       `json:"id"`
	Kind   IncidentKind `json:"kind"`
	What   string       `json:"what"`             // the cause as people read it
	Number int          `json:"number,omitempty"` // of the issue, 0 until it is opened
	URL    string       `json:"url,omitempty"`    // of the issue
}

// IncidentChanged is the payload of EventIncident: a checkpoint joins an incident, learns its issue,
// or is restarted because the incident is over.
type IncidentChanged struct {
	Checkpoint string      `json:"checkpoint"`
	Ref        IncidentRef `json:"ref"`
	Restart    bool        `json:"restart,omitempty"` // false: join
	SHA        string      `json:"sha,omitempty"`     // commit of the base that passes, "" if none is known
	Lease      *Lease      `json:"lease,omitempty"`   // of the process that saw it, where effects are pending
}

// IncidentEvent returns the event that records what an incident does to a checkpoint.
func IncidentEvent(caseKey string, p IncidentChanged, now time.Time) Event {
	return Event{Type: EventIncident, At: now, Stream: caseKey, Data: p}
}

// OnHoldForIncident returns the incident that the newest run of a checkpoint is on hold for. It
// reports false where there is none, and once the checkpoint was restarted.
func OnHoldForIncident(cp Checkpoint) (IncidentRef, bool) {
	n := len(cp.Attempts)
	if n == 0 || cp.State != InProgress || cp.Paused || cp.Skipped {
		return IncidentRef{}, false
	}
	last := cp.Attempts[n-1]
	if last.Kind != KindIncident || last.Restarted != "" || !cp.ofNewest(last) || last.Verdict.Incident == nil {
		return IncidentRef{}, false
	}
	return *last.Verdict.Incident, true
}

// MayJoinIncident returns the verdict of the newest run of a checkpoint if an incident that explains
// it may put the checkpoint on hold: it was returned for a fix, escalated or put on hold for its base,
// and no person has decided otherwise.
func MayJoinIncident(cp Checkpoint) (Verdict, bool) {
	n := len(cp.Attempts)
	if n == 0 || cp.Paused || cp.Skipped || cp.WontFix != nil || cp.State != InProgress && cp.State != Escalated {
		return Verdict{}, false
	}
	last := cp.Attempts[n-1]
	if !cp.ofNewest(last) {
		return Verdict{}, false
	}
	switch last.Kind {
	case KindEnv, KindMaxRetry, KindNoProgress, KindUnclear, KindTimeout:
		return last.Verdict, cp.State == Escalated && cp.Escalation != nil
	case KindRetry:
		return last.Verdict, cp.State == InProgress
	case KindPreExisting:
		return last.Verdict, cp.State == InProgress && last.BaseFixed == ""
	}
	return Verdict{}, false
}

// Changes reports whether an incident's event changes a checkpoint. Each of several processes that
// see the same may ask for it; only the first is followed.
func (e IncidentChanged) Changes(cp Checkpoint) bool {
	on, held := OnHoldForIncident(cp)
	if e.Restart {
		return held && on.ID == e.Ref.ID
	}
	if held {
		return on.ID == e.Ref.ID && on.Number == 0 && e.Ref.Number > 0
	}
	_, may := MayJoinIncident(cp)
	return may
}

// applyIncident carries out what an incident does to a checkpoint.
func applyIncident(c Case, e IncidentChanged, at time.Time) (Case, error) {
	cp, known := c.Checkpoints[e.Checkpoint]
	if !known {
		return c, unknownCheckpoint(c, e.Checkpoint)
	}
	if e.Ref.ID == "" || !e.Changes(cp) {
		return c, nil
	}
	cp = cp.clone()
	cp.Updated = at
	_, held := OnHoldForIncident(cp)
	var add []EffectKind
	switch {
	case e.Restart:
		last := &cp.Attempts[len(cp.Attempts)-1]
		last.Restarted = orElse(e.SHA, e.Ref.ID)
		add = []EffectKind{EffectComment, EffectCheck, EffectRerun}
		if e.Ref.Kind == IncidentBase {
			add[2] = EffectUpdate
		}
	case held:
		cp.Attempts[len(cp.Attempts)-1].Verdict.Incident = &e.Ref
		add = []EffectKind{EffectComment, EffectCheck}
	default:
		add = joinIncident(&cp, e.Ref, at)
	}
	c.Checkpoints[cp.Name] = cp
	c.queue(incidentEffects(c.Key, cp, e, add))
	return c, nil
}

// TooEarly reports whether the checkpoint would join the incident while the issue of its escalation is
// being filed. Whoever files it may be dead, and then nobody would find what is to be closed: it joins
// once the issue is recorded.
func (e IncidentChanged) TooEarly(c Case) bool {
	_, held := OnHoldForIncident(c.Checkpoints[e.Checkpoint])
	return !e.Restart && !held && slices.ContainsFunc(c.Pending, func(x Effect) bool { return x.Kind == EffectIssue && x.Checkpoint == e.Checkpoint })
}

// joinIncident puts a checkpoint on hold for an incident. An escalation ends, and a fix attempt
// that it was returned for is taken back.
func joinIncident(cp *Checkpoint, ref IncidentRef, at time.Time) []EffectKind {
	v, _ := MayJoinIncident(*cp)
	add := []EffectKind{EffectComment, EffectCheck}
	if cp.State == Escalated {
		add = append(add, EffectClose, EffectLabel)
		cp.State, cp.Escalation, cp.LastError = InProgress, nil, ""
	}
	cp.takeBack()
	v.Incident = &ref
	d := Decision{Kind: KindIncident, Rule: "incident", Reason: incidentReason(ref), Iteration: cp.Retries, Verdict: v}
	run := cp.newestRun()
	run.Decision, run.Decided, run.At = d, true, at
	run.Decision.Verdict = Verdict{}
	cp.Runs[cp.Last.Key()] = run
	t := transition{cp: *cp, d: d, at: at}
	t.turn()
	*cp = t.cp
	return add
}

func incidentEffects(caseKey string, cp Checkpoint, e IncidentChanged, kinds []EffectKind) []Effect {
	last := cp.Attempts[len(cp.Attempts)-1]
	run := last.Verdict.Run
	out := make([]Effect, len(kinds))
	for i, kind := range kinds {
		ef := Effect{
			Kind: kind, Key: fmt.Sprintf("%s/%s/%s/incident/%s/%s", caseKey, cp.Name, orElse(run.SHA, run.Key()), e.Ref.ID, kind),
			Slot: cp.Name + "/" + string(kind), Checkpoint: cp.Name, Iteration: cp.Retries, SHA: run.SHA,
		}
		switch kind {
		case EffectCheck:
			ef.Slot += "/" + run.SHA
		case EffectRerun:
			ef.Key += "/" + cp.Last.Key() // each attempt of the run may be restarted once
			ef.Target = fmt.Sprintf("%s/%d", cp.Last.ID, max(cp.Last.Attempt, 1))
		case EffectUpdate:
			ef.Target = last.Restarted
		}
		out[i] = ef
	}
	return out
}

func incidentReason(ref IncidentRef) string {
	if ref.Number > 0 {
		return fmt.Sprintf("incident #%d explains the failure: %s", ref.Number, ref.What)
	}
	return "an incident explains the failure: " + ref.What
}

// decideIncident puts a run on hold whose failures all come from one incident.
func decideIncident(s input) (Decision, bool) {
	ref, ok := explainedBy(s)
	if !ok || s.redo != nil {
		return Decision{}, false
	}
	d := Decision{Kind: KindIncident, Iteration: s.cp.Retries, Reason: incidentReason(ref)}
	on, held := OnHoldForIncident(s.cp)
	d.Again = held && on.ID == ref.ID && s.sameAsLastTurn() && s.cp.Last.Key() == s.v.Run.Key()
	return d, true
}

// explainedBy returns the incident that explains every part of the run that failed.
func explainedBy(s input) (IncidentRef, bool) {
	var ref *IncidentRef
	for _, p := range s.parts {
		if p.green() || p.Result.Silent() {
			continue
		}
		if p.Incident == nil || ref != nil && ref.ID != p.Incident.ID {
			return IncidentRef{}, false
		}
		ref = p.Incident
	}
	if ref == nil || ref.Kind == IncidentEnvironment && s.m.Class != EnvIssue {
		return IncidentRef{}, false // a person said that it is no failure of the environment
	}
	return *ref, true
}

// passedOverIncident is true for a run that is on hold for an incident, and of which a further part
// fails for another reason.
func passedOverIncident(s input) bool {
	_, same := explainedBy(s)
	return s.run.Decided && s.run.Decision.Kind == KindIncident && s.m.Result != Pass && !same
}
