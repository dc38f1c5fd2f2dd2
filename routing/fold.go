package routing

import (
	"fmt"
	"strings"
	"time"
)

// CaseProjection folds the stream of a case.
var CaseProjection = Projection[Case]{
	New:   func(key string) Case { return Case{Key: key} },
	Apply: Case.Apply,
}

// Fold returns the case of a stream; see Projection.Fold.
func Fold(key string, events []Event) (Case, error) { return CaseProjection.Fold(key, events) }

// Apply returns the case after e.
func (c Case) Apply(e Event) (Case, error) {
	n := c.clone()
	n.Version++
	n.Updated = e.At
	if n.Opened.IsZero() {
		n.Opened = e.At
	}
	switch e.Type {
	case EventLease:
		p, err := PayloadOf[LeaseTaken](e)
		n.lease(p.Lease)
		return n, err
	case EventEffect:
		p, err := PayloadOf[EffectDone](e)
		if err != nil {
			return c, err
		}
		return n.applyEffect(p, e.At)
	case EventRun:
		p, err := PayloadOf[RunRecorded](e)
		if err != nil {
			return c, err
		}
		n.lease(p.Lease)
		n.Generation++
		return n.applyRun(p, e.At)
	case EventHuman:
		p, err := PayloadOf[HumanActed](e)
		if err != nil {
			return c, err
		}
		p.By = e.Actor
		n.lease(p.Lease)
		if _, known := n.Answered[p.Answer]; known {
			return n, nil // an answer counts once
		}
		n.Generation++
		return n.applyHuman(p, e.At)
	case EventRegister:
		n.Quarantines = true
		return n, nil
	case EventHandoff:
		p, err := PayloadOf[HandoffChanged](e)
		if err != nil {
			return c, err
		}
		n.lease(p.Lease)
		n.Generation++
		return applyHandoff(n, p), nil
	case EventBase:
		p, err := PayloadOf[BasePassed](e)
		if err != nil {
			return c, err
		}
		n.lease(p.Lease)
		n.Generation++
		return applyBase(n, p, e.At)
	}
	return c, fmt.Errorf("unknown event type %q", e.Type)
}

// lease notes a lease on the pending effects, if it is any.
func (c *Case) lease(l *Lease) {
	if l != nil {
		own := *l
		c.Lease = &own
	}
}

func (c Case) applyEffect(e EffectDone, at time.Time) (Case, error) {
	if e.Effect.Kind == "" {
		return c, fmt.Errorf("an effect event without effect")
	}
	kept := c.Pending[:0:0]
	for _, p := range c.Pending {
		if p.Key != e.Effect.Key || p.Gen > e.Effect.Gen { // asked for again since it was begun
			kept = append(kept, p)
		}
	}
	c.Pending = kept
	caseHandoff{&c}.told(e, at)
	if e.Effect.Kind == EffectRerun && strings.HasPrefix(e.Ref, refused) {
		refusedRerun(c, e.Effect)
	} else if e.Ref != "" {
		if e.Effect.Kind == EffectIssue && c.Done[e.Effect.Slot] != e.Ref {
			c.Generation++ // the comment names the issue
		}
		c.Done[e.Effect.Slot] = e.Ref
	}
	if len(c.Pending) == 0 {
		c.Lease = nil
	}
	return c, nil
}

// queue adds effects, each in place of an earlier one of its slot.
func (c *Case) queue(add []Effect) {
	for _, e := range add {
		kept := c.Pending[:0:0]
		for _, p := range c.Pending {
			if p.Slot != e.Slot {
				kept = append(kept, p)
			}
		}
		e.Gen = c.Generation
		c.Pending = append(kept, e)
	}
}

func (c Case) applyRun(e RunRecorded, at time.Time) (Case, error) {
	v, d := e.Verdict, e.Decision
	if v.Checkpoint == "" || v.Result == "" || d.Kind == "" {
		return c, fmt.Errorf("a run event without checkpoint, verdict or decision")
	}
	cp := c.Checkpoints[v.Checkpoint].clone()
	if cp.Name == "" {
		cp.Name, cp.Opened = v.Checkpoint, at
	}
	cp.Updated = at
	t := transition{cp, d, at}
	var err error
	if d.Held {
		err = t.hold(v)
	} else {
		err = t.record(v, c.treatment(at, d.Excused))
	}
	if err != nil {
		return c, err
	}
	c.Checkpoints[t.cp.Name] = t.cp
	caseHandoff{&c}.ran(v, d, at)
	for _, x := range d.Effects {
		if x.Kind == EffectHandoff && x.Target != "" {
			caseHandoff{&c}.begin(v.Checkpoint, v.Run.SHA, d.Workers)
		}
	}
	c.queue(d.Effects)
	c.Complete = d.Complete || (c.Complete && d.Kind == KindNone)
	return c, nil
}
