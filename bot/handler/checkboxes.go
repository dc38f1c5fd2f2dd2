package handler

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// escalationIssue handles the events of the issue of an escalation.
type escalationIssue struct {
	boxes checkboxes
	state issueState
}

func newEscalationIssue(d Deps) Handler {
	return escalationIssue{checkboxes{newAnswerer(d)}, issueState{newCases(d)}}
}

// Handle implements Handler.
func (h escalationIssue) Handle(ctx context.Context, e *Event) (bool, error) {
	if e.Issue == nil {
		return true, errNoAnswer
	}
	if e.Issue.PullRequest != nil {
		return true, nil
	}
	reg, err := h.state.register(ctx)
	if err != nil {
		return true, err
	}
	rec, ok := reg.ByNumber(e.Issue.Number)
	if !ok {
		return true, nil // none of ours
	}
	switch e.Action {
	case "edited":
		err = h.boxes.edited(ctx, e, rec)
	case "closed":
		err = h.state.closed(ctx, e, rec)
	case "reopened":
		err = h.state.reopened(ctx, e, rec)
	case "deleted", "transferred":
		err = h.state.lost(ctx, rec, e.Action)
	}
	return true, err
}

// errNoAnswer says that an event cannot hold an answer.
var errNoAnswer = errors.New("the event holds no answer; use `on: issue_comment` with `types: [created]` and `issues` with `types: [edited, closed, reopened, deleted, transferred]`")

// checkboxes handles edits of the body of an escalation issue.
type checkboxes struct{ answerer }

// edit is an edit of the body of an escalation issue.
type edit struct {
	rec     escalation.Record
	is      Issue
	who     standing
	from    answers.Checkboxes // before
	to      answers.Checkboxes // after
	change  answers.Change
	broken  bool   // the edit took the questions away
	before  string // the body before
	answers string // what the reply is about, for it to be posted once
}

// edited handles an edit of the body. The answer is the body in this event: what others edit later
// cannot change it. Nothing is done before Submit.
func (h checkboxes) edited(ctx context.Context, event *Event, rec escalation.Record) error {
	if event.Changes.Body == nil {
		return nil // the title
	}
	is := *event.Issue
	e := edit{rec: rec, is: is, before: event.Changes.Body.From}
	e.from, _ = answers.Parse(e.before)
	var ok bool
	e.to, ok = answers.Parse(is.Body)
	_, marked := marker.Parse(is.Body)
	e.broken = rec.Open() && (!ok || !slices.Contains(e.to.Boxes, answers.Submit))
	e.change = answers.Diff(e.from, e.to)
	unmarked := rec.Open() && !marked && !e.broken // people may add text behind the marker
	if e.change.Empty() && !e.broken && !unmarked {
		return nil // people may add text
	}
	var err error
	if e.who, err = h.sender(ctx, event, h.Config.Answers.PermissionOrDefault()); err != nil || e.who.ignored {
		return err
	}
	sum := sha256.Sum256([]byte(e.before + "\x00" + is.Body))
	e.answers = fmt.Sprintf("edit/%d/%s/%d/%x", is.Number, is.UpdatedAt, e.who.id, sum[:4])
	switch {
	case !e.who.may:
		return h.putBack(ctx, e)
	case e.broken:
		return h.restoreIssue(ctx, e)
	case unmarked:
		if err := touch(ctx, h.Deps, rec, func(live string) string { return withoutMarker(live, rec.ID) }); err != nil {
			return err
		}
	}
	if !e.to.Submitted() {
		return nil
	}
	return h.submitted(ctx, e)
}

// withoutMarker removes the marker of a record from a body; Issues.Rewrite writes it on the last line
// again.
func withoutMarker(body, id string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(body, "\n"), func(l string) bool {
		m, ok := marker.Parse(l)
		return ok && m.Key == id
	}), "\n")
}

// putBack undoes what a person who may not answer did to the boxes.
func (h checkboxes) putBack(ctx context.Context, e edit) error {
	var err error
	if e.broken {
		err = redraw(ctx, h.Deps, e.rec, e.orBefore)
	} else {
		err = touch(ctx, h.Deps, e.rec, func(live string) string {
			if p, ok := answers.Parse(live); !ok || p.Nonce != e.to.Nonce || p.Gen != e.to.Gen {
				return live // an answer was recorded since; those boxes are gone
			}
			return answers.Undo(live, e.change)
		})
	}
	if err != nil {
		return err
	}
	return h.refuse(ctx, e.is.Number, e.who, true)
}

// orBefore returns the body whose ticks stay: the live one, or, if the questions are gone from that,
// the one before the edit.
func (e edit) orBefore(live string) string {
	if p, ok := answers.Parse(live); ok && p.Nonce == render.Nonce(e.rec) {
		return live
	}
	return e.before
}

// restoreIssue writes an issue whose questions an edit removed anew from the ledger.
func (h checkboxes) restoreIssue(ctx context.Context, e edit) error {
	if err := redraw(ctx, h.Deps, e.rec, e.orBefore); err != nil {
		return err
	}
	return h.reply(ctx, e.is.Number, e.answers, render.Restored(h.words()))
}

// submitted records an answer of a person who may give it, and carries it to the cases.
func (h checkboxes) submitted(ctx context.Context, e edit) error {
	host, err := load(ctx, h.Deps, e.rec.Host().Case)
	if err != nil {
		return err
	}
	boxes, why := h.readAnswer(e, host)
	if why == "" {
		var late *escalation.AnsweredError
		a := escalation.Answered{Generation: e.to.Gen, By: e.who.login, ByID: e.who.id, Boxes: answers.IDs(boxes), SHA: e.to.SHA}
		reg, err := h.change(ctx, func(r escalation.State) ([]routing.Event, error) {
			if taken(r, e.rec.ID, a) {
				return nil, nil // this very answer, handled again
			}
			return r.Recorder(h.Now()).Answer(e.rec.ID, a)
		})
		switch {
		case errors.As(err, &late):
			why = render.Late(late.First, host, h.words())
		case errors.Is(err, escalation.ErrResolved):
			why = render.Settled(e.rec, h.words())
		case err != nil:
			return err
		default:
			rec, _ := reg.ByID(e.rec.ID)
			return h.give(ctx, rec, a.Generation)
		}
	}
	if rec, mine, err := h.twin(ctx, e); err != nil {
		return err
	} else if mine {
		return h.give(ctx, rec, e.to.Gen)
	}
	if err := h.unsubmit(ctx, e); err != nil {
		return err
	}
	return h.reply(ctx, e.is.Number, e.answers, why)
}

// twin reports whether this very answer is recorded by now: of two deliveries of one event, the
// other may have been handled meanwhile.
func (h checkboxes) twin(ctx context.Context, e edit) (escalation.Record, bool, error) {
	reg, err := h.register(ctx)
	if err != nil {
		return escalation.Record{}, false, err
	}
	rec, _ := reg.ByID(e.rec.ID)
	host, err := load(ctx, h.Deps, e.rec.Host().Case)
	for _, a := range rec.Answers {
		if a.Generation == e.to.Gen && a.By == e.who.login && e.to.Nonce == render.Nonce(e.rec) {
			return rec, len(recalled(e.to.Ticked, a.Boxes, host)) > 0, err
		}
	}
	return rec, false, err
}

// taken reports whether an answer is recorded as it is.
func taken(r escalation.State, id string, a escalation.Answered) bool {
	rec, ok := r.ByID(id)
	return ok && slices.ContainsFunc(rec.Answers, func(b escalation.Answered) bool {
		return b.Generation == a.Generation && b.By == a.By && slices.Equal(b.Boxes, a.Boxes)
	})
}

// readAnswer returns the boxes that an answer chose, or why there are none.
func (h checkboxes) readAnswer(e edit, host routing.Case) ([]answers.Box, markdown.Text) {
	o := h.words()
	rec, asked := e.rec, answers.Checkboxes{Nonce: render.Nonce(e.rec), Gen: e.rec.Generation, SHA: render.QuestionsSHA(e.rec, host)}
	if e.to.Nonce != asked.Nonce || e.to.Gen > asked.Gen {
		return nil, render.Foreign(o)
	}
	for _, a := range rec.Answers {
		if a.Generation == e.to.Gen {
			if boxes := recalled(e.to.Ticked, a.Boxes, host); a.By == e.who.login && len(boxes) > 0 {
				return boxes, "" // perhaps this very answer: the register knows
			}
			return nil, render.Late(a, host, o)
		}
	}
	switch {
	case !rec.Open():
		return nil, render.Settled(rec, o)
	case e.to.SHA != asked.SHA:
		return nil, render.Moved(e.to.SHA, asked.SHA, o)
	}
	boxes, err := answers.Choose(offered(rec, host, e.to.Ticked), e.to.Ticked)
	if err != nil {
		return nil, render.Unchosen(err, o)
	}
	return boxes, ""
}

// offered returns the boxes of a record's issue, and those of ticked tests that it had before another
// leg of the run named more tests.
func offered(rec escalation.Record, host routing.Case, ticked []string) []answers.Box {
	out := render.Offered(rec, host)
	for _, id := range ticked {
		b := answers.Recall(id, host)
		named := slices.ContainsFunc(out, func(o answers.Box) bool { return o.ID == id })
		done := slices.ContainsFunc(host.Quarantine, func(q routing.Quarantined) bool { return q.Test == b.Test })
		if b.Action == routing.HumanQuarantine && b.Test != "" && !named && !done {
			out = append(out, b)
		}
	}
	return out
}

// recalled returns the boxes of a recorded answer if all of them are ticked, and nothing else is but
// what did not count: tests that are in quarantine already.
func recalled(ticked, boxes []string, host routing.Case) []answers.Box {
	n := 0
	for _, id := range ticked {
		still := slices.ContainsFunc(host.Quarantine, func(q routing.Quarantined) bool { return answers.TestID(q.Test) == id })
		if id != answers.Submit && (slices.Contains(boxes, id) || !still) {
			n++
		}
	}
	var out []answers.Box
	for _, id := range boxes {
		if slices.Contains(ticked, id) {
			out = append(out, answers.Recall(id, host))
		}
	}
	if len(out) != n || n != len(boxes) {
		return nil
	}
	return out
}

// unsubmit unticks Submit after an answer was refused, and brings the report up to date, so that the
// questions are about the newest commit. Other ticks stay.
func (h checkboxes) unsubmit(ctx context.Context, e edit) error {
	reg, err := h.register(ctx)
	if err != nil {
		return err
	}
	rec, ok := reg.ByID(e.rec.ID)
	if !ok || !rec.Open() || rec.Number == 0 {
		return nil
	}
	return redraw(ctx, h.Deps, rec, func(live string) string {
		if p, ok := answers.Parse(live); ok && p.Gen == e.to.Gen && p.Nonce == e.to.Nonce {
			return answers.Untick(live, answers.Submit)
		}
		return live
	})
}

// touch changes the body of a record's issue, and nothing else of it.
func touch(ctx context.Context, d Deps, rec escalation.Record, fn func(live string) string) error {
	_, _, err := d.GitHub.Issues.Rewrite(ctx, d.Repo, rec.Number, marker.Format(rec.ID, rec.Mark()), func(live string) markdown.Text { return markdown.Text(fn(live)) })
	return err
}

// redraw writes the issue of a record anew from the ledger. What live makes of the present body says
// what stays ticked.
func redraw(ctx context.Context, d Deps, rec escalation.Record, live func(body string) string) error {
	eff, err := effectsOf(ctx, d, rec.Host().Case)
	if err != nil {
		return err
	}
	return eff.Redraw(ctx, rec, live)
}
