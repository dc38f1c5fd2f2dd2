package activity

import (
	"fmt"
	"maps"
	"slices"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
	"github.com/switchback-ci/switchback/routing/survey"
)

// Pair is the Data of PairChanged.
type Pair struct {
	Status   plan.LoopStatus `json:"status"`
	Phase    plan.Phase      `json:"phase"`
	Attempt  int             `json:"attempt"`
	Failures int             `json:"failures"` // so far
	Progress float64         `json:"progress"` // 0 to 1, by turns and phases
	Tokens   int64           `json:"tokens_used"`
	Outcome  plan.Outcome    `json:"outcome,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}

// Built is the Data of PlanStart.
type Built struct {
	Plan  string `json:"plan"`
	Build string `json:"build"`
	URL   string `json:"url,omitempty"`
}

// Stands is the Data of PlanPort.
type Stands struct {
	Plan     string        `json:"plan"`
	Standing plan.Standing `json:"standing"`
	Before   plan.Standing `json:"before,omitempty"`
	Attempts int           `json:"attempts"`
	Reason   string        `json:"reason,omitempty"`
	URL      string        `json:"url,omitempty"`
}

// Issued is the Data of EscalationIssue.
type Issued struct {
	ID     string `json:"id"`
	Number int    `json:"number"`
	URL    string `json:"url"`
}

// SurveyChange is the Data of SurveyChanged.
type SurveyChange struct {
	Survey string `json:"survey"`
	Change string `json:"change"`           // the event's name: opened, answered, reminded, timed_out, reentered
	Number int    `json:"number,omitempty"` // of the issue
	URL    string `json:"url,omitempty"`
}

// port tells of one port: what its stream says, but for what is between it and
// whoever runs it.
func (n *teller) port(events []routing.Event, seen int) error {
	_, id, _ := routing.ParsePortKey(n.key)
	var last plan.Loop
	for i, r := range events {
		e, ours, err := plan.Recorded(r)
		if err != nil {
			return fmt.Errorf("event %d of %s: %w", i+1, n.key, err)
		}
		if !ours {
			continue
		}
		if e.Pair != nil {
			if i >= seen && moved(last, *e.Pair) {
				l := *e.Pair
				n.tell(PairChanged, e.At, l.Operator, id,
					Pair{l.Status, l.Phase, l.Attempt, l.CurrentTry, l.Share(), l.Tokens, l.Outcome, l.Reason})
			}
			last = *e.Pair
			continue
		}
		if i >= seen {
			n.worker(e, id)
		}
	}
	return nil
}

// moved reports whether a pair stands otherwise than before.
func moved(was, is plan.Loop) bool {
	return was.ID != is.ID || was.Attempt != is.Attempt || was.Phase != is.Phase || was.Status != is.Status || was.CurrentTry != is.CurrentTry
}

func (n *teller) worker(e plan.Event, id string) {
	var data any = struct{}{}
	switch e.Kind {
	case plan.SessionStart:
		if e.Started != nil {
			data = e.Started
		}
	case plan.SessionEnd:
		data = struct {
			Outcome plan.Outcome `json:"outcome,omitempty"`
			Reason  string       `json:"reason,omitempty"`
		}{e.Outcome, e.Reason}
	case plan.WorkerSpawn, plan.WorkerDispatch:
		if e.Spawn == nil {
			return
		}
		data = struct {
			Role     plan.Role `json:"role"`
			Turn     int       `json:"iteration"`
			Workflow string    `json:"workflow,omitempty"`
		}{e.Spawn.Role, e.Iteration, e.Spawn.Workflow}
		if e.Kind == plan.WorkerDispatch && !e.Spawn.Sent {
			return // GitHub has not taken it yet
		}
		n.tell(WorkerSpawn, e.At, e.Session, id, data)
		return
	case plan.WorkerComplete:
		data = e.Exit
	case plan.WorkerProgress:
		data = e.Progress
	case plan.WorkerFeedback:
		data = e.Feedback
	case plan.DirectMessage:
		data = e.Message
	case plan.EscalationNew, plan.EscalationResolved:
		data = e.Escalation
	case plan.HumanAnswered:
		n.tell(HumanActed, e.At, e.Session, id, e.Answer)
		return
	default:
		return
	}
	n.tell(Type(e.Kind), e.At, e.Session, id, data)
}

// plan tells of a plan: its builds, and how its ports stand.
func (n *teller) plan(name string, events []routing.Event, seen int) error {
	r, err := plan.FoldBuildState(events[:seen])
	if err != nil {
		return fmt.Errorf("%s: %w", n.key, err)
	}
	for _, e := range events[seen:] {
		next, err := r.Apply(e)
		if err != nil {
			return fmt.Errorf("%s: %w", n.key, err)
		}
		if next.Build.ID != r.Build.ID {
			n.tell(PlanStart, e.At, next.Build.ID, "", Built{name, next.Build.ID, next.Build.URL})
		}
		for _, id := range slices.Sorted(maps.Keys(next.Ports)) {
			if was, is := r.Ports[id], next.Ports[id]; stands(was) != stands(is) {
				n.tell(PlanPort, e.At, next.Build.ID+"/"+id, id, Stands{name, is.Standing, was.Standing, is.Attempts, is.Reason, is.URL})
			}
		}
		if a, before := next.Answers, r.Answers; len(a) > 0 {
			for _, id := range slices.Sorted(maps.Keys(a)) {
				if old, there := before[id]; !there || !old.At.Equal(a[id].At) || old.ID != a[id].ID { // GitHub's times are whole seconds
					n.tell(HumanActed, e.At, next.Build.ID+"/"+id, id, a[id])
				}
			}
		}
		r = next
	}
	return nil
}

// stands is what of a port makes another event: one that is handed out anew runs
// elsewhere, though it was running before as well.
func stands(k plan.Known) plan.Known {
	return plan.Known{Standing: k.Standing, Build: k.Build, Round: k.Round, Run: k.Run, Runs: k.Runs, Attempts: k.Attempts}
}

// requests tells of the feedback between ports.
func (n *teller) requests(events []routing.Event, seen int) error {
	lines, err := feedback.Audit(events[seen:])
	if err != nil {
		return fmt.Errorf("%s: %w", n.key, err)
	}
	for i, l := range lines {
		n.tell(FeedbackChanged, events[seen+i].At, n.key, l.Source, l)
	}
	return nil
}

// escalations tells of the issues of escalations. That they began, and ended, the
// cases tell.
func (n *teller) escalations(events []routing.Event, seen int) error {
	for i, e := range events[seen:] {
		id, number, url, err := escalation.Filed(e)
		if err != nil {
			return fmt.Errorf("event %d of %s: %w", seen+i+1, n.key, err)
		}
		if number > 0 {
			n.tell(EscalationIssue, e.At, n.key, "", Issued{id, number, url})
		}
	}
	return nil
}

// surveys tells of what people are asked about ports and plans.
func (n *teller) surveys(events []routing.Event, seen int) error {
	r, err := survey.Fold(events[:seen])
	if err != nil {
		return fmt.Errorf("%s: %w", n.key, err)
	}
	for i, e := range events[seen:] {
		if r, err = survey.Projection.Extend(r, n.key, seen+i, []routing.Event{e}); err != nil {
			return err
		}
		en, err := survey.EntryOf(e)
		if err != nil {
			return err
		}
		switch e.Type {
		case survey.EventOpened, survey.EventAnswered, survey.EventReminded, survey.EventTimedOut, survey.EventReentered:
		default:
			continue
		}
		for _, id := range en.Surveys() {
			p := SurveyChange{Survey: id, Change: e.Type.Name()}
			if q, ok := r.Survey(id); ok {
				p.Number, p.URL = q.Number, q.URL
			}
			n.tell(SurveyChanged, e.At, n.key, "", p)
		}
	}
	return nil
}
