package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// ident names a run of a checkpoint, or one part of it.
type ident struct{ checkpoint, run, part string }

// said is one decision about a run.
type said struct {
	Outcome
	reason string
}

// told is all that was decided about one run.
type told struct {
	run  routing.Run
	at   time.Time
	said []said
	held bool // the only thing said is that it waits
}

// walked is a stream, decided again or as it was.
type walked struct {
	runs  map[ident]*told
	order []ident
	left  []Left
	then  routing.Case // at the end
}

// walker goes through a stream with two cases: was is what the ledger says, and
// is what it would be under the rules.
type walker struct {
	walked
	key, ref string
	rules    *Rules
	was, is  routing.Case
	departed bool // something was decided differently
}

// walk decides the runs of a stream again, or takes what was recorded if rules
// is nil.
func walk(key string, events []routing.Event, rules *Rules) (*walked, error) {
	w := &walker{walked: walked{runs: map[ident]*told{}}, key: key, ref: refOf(key), rules: rules, was: routing.Case{Key: key}, is: routing.Case{Key: key}}
	for i, e := range events {
		follows := w.follows(e)
		run, isRun := e.Run()
		if isRun && !follows {
			w.arrive(run.Verdict, e.At)
		}
		before := w.was
		var err error
		if w.was, err = w.was.Apply(e); err != nil {
			return nil, fmt.Errorf("event %d of case %s: %w", i+1, key, err)
		}
		switch {
		case rules == nil:
			w.take(e)
		case isRun && !follows:
			w.run(run, e.At)
			err = w.release(run.Decision.Label, e.At)
		case e.Type == routing.EventHandoff:
			if w.is, err = w.is.Apply(e); err == nil { // of a hand-off that it has not, nothing follows
				err = w.release(label(events, i), e.At)
			}
		case e.Type == routing.EventHuman:
			w.human(before, e)
			err = w.release(label(events, i), e.At)
		}
		if err != nil {
			return nil, fmt.Errorf("event %d of case %s, decided again: %w", i+1, key, err)
		}
	}
	w.then = w.is
	if rules == nil {
		w.then = w.was
	}
	return &w.walked, nil
}

// refOf returns what stands behind the repository in a case's key.
func refOf(key string) string {
	_, rest, _ := strings.Cut(key, "/")
	if i := strings.IndexAny(rest, "#@"); i >= 0 {
		return rest[i:]
	}
	return ""
}

// label is that of the decision which follows at once from event i, else of the
// newest before it: a label stands in the ledger only with a decision.
func label(events []routing.Event, i int) *int {
	for n := min(i+1, len(events)-1); n >= 0; n-- {
		if run, ok := events[n].Run(); ok {
			return run.Decision.Label
		}
	}
	return nil
}

// follows reports whether an event records what followed by itself: a run that
// was held, or that a human had decided anew. Under other rules it may follow
// at another place, or not at all.
func (w *walker) follows(e routing.Event) bool {
	run, ok := e.Run()
	if !ok || run.Decision.Held {
		return false // what goes on waiting is recorded only when it comes
	}
	// What came again is of another time than what was kept.
	v, cp := run.Verdict, w.was.Checkpoints[run.Verdict.Checkpoint]
	if run.Decision.Redo != "" {
		kept, known := cp.Runs[v.Run.Key()].Parts[v.Run.Part]
		return known && kept.At.Equal(v.At)
	}
	return slices.ContainsFunc(cp.Held, func(h routing.Verdict) bool {
		return h.Run.Key() == v.Run.Key() && h.Run.Part == v.Run.Part && h.At.Equal(v.At)
	})
}

// arrive notes that a run came.
func (w *walker) arrive(v routing.Verdict, at time.Time) {
	id := identOf(v)
	if w.runs[id] == nil {
		w.order = append(w.order, id)
		w.runs[id] = &told{run: v.Run, at: at}
	}
}

func identOf(v routing.Verdict) ident { return ident{v.Checkpoint, v.Run.Key(), v.Run.Part} }

// say notes a decision about a run. That a run waits says something only as
// long as nothing else was decided about it.
func (w *walker) say(v routing.Verdict, d routing.Decision) {
	t := w.runs[identOf(v)]
	if t == nil || d.Kept {
		return
	}
	o := said{outcome(d), d.Reason}
	switch {
	case t.held:
		t.said, t.held = []said{o}, d.Held
	case !d.Held:
		t.said = append(t.said, o)
	case len(t.said) == 0:
		t.said, t.held = []said{o}, true
	}
}

func outcome(d routing.Decision) Outcome {
	o := Outcome{Kind: d.Kind, Rule: d.Rule}
	var detail []string
	add := func(yes bool, what string) {
		if yes {
			detail = append(detail, what)
		}
	}
	switch {
	case d.Kind == routing.KindRetry:
		add(d.Phase != "", "back to "+string(d.Phase))
		add(d.Manual, "waits for a call")
	case d.Kind.Escalates():
		add(d.OnMax == routing.OnMaxSkip, "then skipped")
		add(d.OnMax == routing.OnMaxError, "then failed")
		add(d.NoNotify, "nobody notified")
	case d.Kind == routing.KindPass:
		for _, e := range d.Effects {
			add(e.Kind == routing.EffectReview, "reviewer started")
		}
	}
	o.Detail = strings.Join(detail, ", ")
	return o
}

// take notes what was recorded.
func (w *walker) take(e routing.Event) {
	if run, ok := e.Run(); ok {
		w.say(run.Verdict, run.Decision)
	}
}

// run decides a run again.
func (w *walker) run(e routing.RunRecorded, at time.Time) {
	v := w.analyzed(e.Verdict, e.Decision.Label)
	d := routing.Decide(w.is, v, w.rules.Policy(w.ref, v.Checkpoint, e.Decision.Label), at)
	w.departed = w.departed || outcome(d) != outcome(e.Decision) || d.Held != e.Decision.Held
	if d.Repeated {
		d.Rule = "repeat"
		w.say(v, d)
		return
	}
	next, err := w.is.Apply(routing.RunEvent(w.key, v, d, at))
	if err != nil { // no decision of Decide is refused; should one be, it is shown
		d = routing.Decision{Kind: routing.KindNone, Rule: "refused", Reason: err.Error()}
	} else {
		w.is = next
	}
	w.say(v, d)
}

// analyzed returns a verdict as the rules' criteria and thresholds make it.
func (w *walker) analyzed(v routing.Verdict, label *int) routing.Verdict {
	if v.Review != nil {
		on := routing.ReviewVerdict(v.Checkpoint, v.Run, *v.Review, w.rules.Policy(w.ref, v.Checkpoint, label).FailOn)
		if on.Result != v.Result && (v.Result == routing.Pass || on.Result == routing.Pass) {
			on.Counts, on.Notes, on.Unmet, on.Head, on.Partial, on.At = v.Counts, v.Notes, v.Unmet, v.Head, v.Partial, v.At
			v = on
		}
	}
	if w.rules.Unmet != nil && v.Result == routing.Pass {
		v.Unmet = w.rules.Unmet(v.Checkpoint, v)
	}
	return v
}

// release decides what follows by itself.
func (w *walker) release(label *int, at time.Time) error {
	policy := func(checkpoint string) routing.Policy { return w.rules.Policy(w.ref, checkpoint, label) }
	next, events, err := routing.Release(w.is, policy, at)
	if err != nil {
		return err
	}
	w.is = next
	for _, e := range events {
		w.take(e)
	}
	return nil
}

// human does what a human did, where that is still possible.
func (w *walker) human(before routing.Case, recorded routing.Event) {
	e, _ := recorded.Human()
	if _, known := before.Answered[e.Answer]; known {
		return
	}
	why := ""
	if w.departed {
		why = w.impossible(before, e)
	}
	if why == "" {
		next, err := w.is.Apply(recorded)
		if err == nil {
			w.is = next
			return
		}
		why = err.Error()
	}
	w.left = append(w.left, Left{w.key, e.Checkpoint, e.Action, e.By, recorded.At, why})
}

// impossible says why something that a human did is left out, "" if it is not.
func (w *walker) impossible(before routing.Case, e routing.HumanActed) string {
	was, is := before.Checkpoints[e.Checkpoint], w.is.Checkpoints[e.Checkpoint]
	switch e.Action {
	case routing.HumanResume, routing.HumanReset, routing.HumanExtend, routing.HumanPhase, routing.HumanRerun, routing.HumanSkip, routing.HumanWontFix:
		if was.State == routing.Escalated && is.State != routing.Escalated && !is.Paused {
			return "no human would have been called"
		}
	case routing.HumanHandoff:
		if !is.Waiting {
			return "no rework would have waited for a call"
		}
	}
	err := w.is.Admit(e)
	if stale := (*routing.StaleAnswerError)(nil); errors.As(err, &stale) {
		return "" // which commit is the newest is not for the rules to say
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
