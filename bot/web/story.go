package web

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// The limits of what a page shows of a case. The rest is counted.
const (
	mostEntries  = 40 // of a checkpoint, the newest; ?all=1 shows more
	mostAll      = 500
	mostWhole    = 4 // failures of a run with all their details
	mostNamed    = 20
	mostEvidence = 5
)

// entry is a line of a checkpoint's time line: a run or an action of a person, with the effects
// that followed.
type entry struct {
	ID      string
	At      time.Time
	Streak  int
	Run     *runEntry
	Act     string
	Note    string
	Effects []effectEntry
}

// runEntry is a run with its diagnosis and decision.
type runEntry struct {
	Link, Commit href
	Part         string
	Verdict      routing.Verdict
	Failures     []failureEntry // the first, with all details
	Named        []failureEntry // the names of the next
	More         int            // the number of the others
	Decision     routing.Decision
	Undone       bool

	attempt int // index among the checkpoint's attempts, -1 if it is none
}

type failureEntry struct {
	routing.Failure
	Place    href
	Evidence []routing.Evidence
	More     int // of the evidence
}

type effectEntry struct {
	What string
	At   time.Time
	Link href
}

// story is a case with the time lines of its checkpoints.
type story struct {
	routing.Case
	lines map[string][]entry
}

// storyOf folds a stream into a story.
func storyOf(l links, key string, events []routing.Event) (story, error) {
	st := story{routing.Case{Key: key}, map[string][]entry{}}
	for i, e := range events {
		next, err := st.Apply(e)
		if err != nil {
			return st, fmt.Errorf("event %d of case %s: %w", i+1, key, err)
		}
		if run, ok := e.Run(); ok {
			st.add(run.Verdict.Checkpoint, runOf(l, st.Case, next, run, e.At))
		} else if act, ok := e.Human(); ok {
			if _, known := st.Answered[act.Answer]; !known {
				acts := next.Checkpoints[act.Checkpoint].Acts
				st.add(act.Checkpoint, entry{At: e.At, Streak: st.Checkpoints[act.Checkpoint].Streak, Act: actText(acts[len(acts)-1]), Note: act.Note})
			}
		} else if p, ok := e.Handoff(); ok {
			if text := handoffText(st.Case, next, p); text != "" {
				for _, name := range st.Handoff.Checkpoints {
					st.add(name, entry{At: e.At, Streak: st.Checkpoints[name].Streak, Act: text})
				}
			}
		} else if in, err := routing.PayloadOf[routing.IncidentChanged](e); err == nil && e.Type == routing.EventIncident {
			if text := incidentAct(in, st.Checkpoints[in.Checkpoint], next.Checkpoints[in.Checkpoint]); text != "" {
				st.add(in.Checkpoint, entry{At: e.At, Streak: st.Checkpoints[in.Checkpoint].Streak, Act: text})
			}
		} else if done, ok := e.Effect(); ok {
			st.done(done.Effect.Checkpoint, effectEntry{effectText(done.Effect), e.At, l.refHref(key, done.Effect, done.Ref)})
		}
		st.Case = next
	}
	for name, list := range st.lines {
		attempts := st.Checkpoints[name].Attempts
		for _, e := range list {
			if e.Run != nil && e.Run.attempt >= 0 {
				e.Run.Undone = attempts[e.Run.attempt].Undone
			}
		}
	}
	return st, nil
}

// incidentAct describes what an incident does to a checkpoint, "" if that changes nothing to see.
func incidentAct(e routing.IncidentChanged, was, is routing.Checkpoint) string {
	_, before := routing.OnHoldForIncident(was)
	_, now := routing.OnHoldForIncident(is)
	switch {
	case !before && now:
		return "Put on hold for the incident " + OneLine(e.Ref.What)
	case before && !now:
		return "The incident is over: restarted"
	}
	return ""
}

func (st *story) add(checkpoint string, e entry) {
	e.ID = fmt.Sprintf("entry-%d", len(st.lines[checkpoint])+1)
	st.lines[checkpoint] = append(st.lines[checkpoint], e)
}

// done adds an effect to the entry that it follows.
func (st *story) done(checkpoint string, e effectEntry) {
	list := st.lines[checkpoint]
	if n := len(list); n > 0 {
		list[n-1].Effects = append(list[n-1].Effects, e)
	}
}

// runOf returns the entry of a run.
func runOf(l links, was, is routing.Case, e routing.RunRecorded, at time.Time) entry {
	v := e.Verdict
	r := &runEntry{Link: l.runHref(is.Key, v.Run), Commit: l.commitHref(is.Key, v.Run.SHA), Part: v.Run.Part, Verdict: v, Decision: e.Decision, attempt: -1}
	before, after := was.Checkpoints[v.Checkpoint], is.Checkpoints[v.Checkpoint]
	if len(after.Attempts) > len(before.Attempts) {
		r.attempt = len(after.Attempts) - 1
	}
	for i, f := range v.Failures {
		x := failureEntry{Failure: f, Place: l.placeHref(is.Key, v.Run.SHA, f.File, f.Line), Evidence: f.Evidence[:min(len(f.Evidence), mostEvidence)]}
		x.More = len(f.Evidence) - len(x.Evidence)
		switch {
		case i < mostWhole:
			r.Failures = append(r.Failures, x)
		case i < mostNamed:
			r.Named = append(r.Named, x)
		default:
			r.More++
		}
	}
	r.More += v.Dropped
	return entry{At: at, Streak: before.Streak, Run: r}
}

// effectText describes an effect.
func effectText(e routing.Effect) string {
	switch e.Kind {
	case routing.EffectComment:
		return "Comment brought up to date"
	case routing.EffectCheck:
		return "Check of the commit brought up to date"
	case routing.EffectHandoff:
		return "Handed off to the worker"
	case routing.EffectIssue:
		return "Escalation issue opened or brought up to date"
	case routing.EffectClose:
		return "Escalation issues closed"
	case routing.EffectLabel:
		return "Labels brought up to date"
	case routing.EffectReview:
		return "Reviewer started"
	case routing.EffectReady:
		return "Checkpoint " + OneLine(e.Target) + " released"
	case routing.EffectRerun:
		return "Failed jobs started again"
	case routing.EffectUpdate:
		return "Branch updated, or its author asked to"
	case routing.EffectReact:
		return "Answer acknowledged"
	}
	return OneLine(string(e.Kind))
}

// actText describes an action of a person.
func actText(a routing.Act) string {
	who := OneLine(orElse(a.By, "somebody"))
	switch a.Action {
	case routing.HumanResume:
		return who + " resumed it"
	case routing.HumanPause:
		return who + " paused it"
	case routing.HumanReset:
		return who + " reset the count of fix attempts"
	case routing.HumanExtend:
		return fmt.Sprintf("%s granted further fix attempts: %d", who, max(1, a.N))
	case routing.HumanSkip:
		return who + " skipped it"
	case routing.HumanAck:
		return who + " acknowledged the hand-off"
	case routing.HumanHandoff:
		return who + " handed it off to the worker"
	case routing.HumanPhase:
		return who + " sent it back to the phase " + OneLine(string(a.Phase))
	case routing.HumanRerun:
		return who + " said that it was the environment, and had the failed jobs run again"
	case routing.HumanQuarantine:
		return who + " put into quarantine: " + OneLine(a.Test)
	case routing.HumanWontFix:
		return who + " decided that it will not be fixed"
	case routing.HumanWrong:
		return fmt.Sprintf("%s said that the class was wrong: %s, not %s", who, words(OneLine(string(a.Class))), words(OneLine(string(a.From))))
	}
	return who + ": " + OneLine(string(a.Action))
}
