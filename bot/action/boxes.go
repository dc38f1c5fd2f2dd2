package action

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// edit is an edit of the body of an escalation issue.
type edit struct {
	rec     escalation.Record
	is      Issue
	who     standing
	from    answers.Prompt // before
	to      answers.Prompt // after
	change  answers.Change
	broken  bool   // the edit took the questions away
	before  string // the body before
	answers string // what the reply is about, for it to be posted once
}

// edited is an edit of the body by somebody. The answer is the body as this
// event tells it: what others edit later cannot change it. Nothing is done
// before Submit.
func (f *face) edited(ctx context.Context, rec escalation.Record, is Issue) error {
	if f.event.Changes.Body == nil {
		return nil // the title
	}
	e := edit{rec: rec, is: is, before: f.event.Changes.Body.From}
	e.from, _ = answers.Parse(e.before)
	var ok bool
	e.to, ok = answers.Parse(is.Body)
	_, marked := marker.Parse(is.Body)
	e.broken = rec.Open() && (!ok || !slices.Contains(e.to.Boxes, answers.Submit))
	e.change = answers.Diff(e.from, e.to)
	unmarked := rec.Open() && !marked && !e.broken // text of their own behind the marker
	if e.change.Empty() && !e.broken && !unmarked {
		return nil // text of their own
	}
	var err error
	if e.who, err = f.sender(ctx, f.config.Answers.PermissionOrDefault()); err != nil || e.who.ignored {
		return err
	}
	sum := sha256.Sum256([]byte(e.before + "\x00" + is.Body))
	e.answers = fmt.Sprintf("edit/%d/%s/%d/%x", is.Number, is.UpdatedAt, e.who.id, sum[:4])
	switch {
	case !e.who.may:
		return f.putBack(ctx, e)
	case e.broken:
		return f.restoreIssue(ctx, e)
	case unmarked:
		if err := f.touch(ctx, rec, func(live string) string { return withoutMarker(live, rec.ID) }); err != nil {
			return err
		}
	}
	if !e.to.Submitted() {
		return nil
	}
	return f.submitted(ctx, e)
}

// withoutMarker takes the marker of a record out of a body: who writes the body
// puts it on the last line again.
func withoutMarker(body, id string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(body, "\n"), func(l string) bool {
		m, ok := marker.Parse(l)
		return ok && m.Key == id
	}), "\n")
}

// putBack undoes what somebody who may not answer did to the boxes.
func (f *face) putBack(ctx context.Context, e edit) error {
	var err error
	if e.broken {
		err = f.redraw(ctx, e.rec, e.orBefore)
	} else {
		err = f.touch(ctx, e.rec, func(live string) string {
			if p, ok := answers.Parse(live); !ok || p.Nonce != e.to.Nonce || p.Gen != e.to.Gen {
				return live // an answer was taken since; those boxes are gone
			}
			return answers.Undo(live, e.change)
		})
	}
	if err != nil {
		return err
	}
	return f.refuse(ctx, e.is.Number, e.who, true)
}

// orBefore returns a body whose ticks are to stay: the live one, or where the
// prompt is gone from that the one before the edit.
func (e edit) orBefore(live string) string {
	if p, ok := answers.Parse(live); ok && p.Nonce == render.Nonce(e.rec) {
		return live
	}
	return e.before
}

// restoreIssue writes an issue anew out of the ledger whose questions were edited
// away.
func (f *face) restoreIssue(ctx context.Context, e edit) error {
	if err := f.redraw(ctx, e.rec, e.orBefore); err != nil {
		return err
	}
	return f.reply(ctx, e.is.Number, e.answers, render.Restored(f.words()))
}

// submitted takes an answer of somebody who may give it.
func (f *face) submitted(ctx context.Context, e edit) error {
	host, err := f.load(ctx, e.rec.Host().Case)
	if err != nil {
		return err
	}
	boxes, why := f.readAnswer(e, host)
	if why == "" {
		var late *escalation.AnsweredError
		a := escalation.Answered{Generation: e.to.Gen, By: e.who.login, ByID: e.who.id, Boxes: answers.IDs(boxes), SHA: e.to.SHA}
		reg, err := f.change(ctx, func(r escalation.Register) ([]routing.Event, error) {
			if taken(r, e.rec.ID, a) {
				return nil, nil // this very answer, delivered again
			}
			return r.Answer(e.rec.ID, a, f.now())
		})
		switch {
		case errors.As(err, &late):
			why = render.Late(late.First, host, f.words())
		case errors.Is(err, escalation.ErrResolved):
			why = render.Settled(e.rec, f.words())
		case err != nil:
			return err
		default:
			rec, _ := reg.ByID(e.rec.ID)
			return f.fan(ctx, rec, a.Generation)
		}
	}
	if rec, mine, err := f.twin(ctx, e); err != nil {
		return err
	} else if mine {
		return f.fan(ctx, rec, e.to.Gen)
	}
	if err := f.unsubmit(ctx, e); err != nil {
		return err
	}
	return f.reply(ctx, e.is.Number, e.answers, why)
}

// twin reports whether this very answer is on record by now: delivered twice,
// the other delivery may have been carried out while this one was read.
func (f *face) twin(ctx context.Context, e edit) (escalation.Record, bool, error) {
	reg, err := f.register(ctx)
	if err != nil {
		return escalation.Record{}, false, err
	}
	rec, _ := reg.ByID(e.rec.ID)
	host, err := f.load(ctx, e.rec.Host().Case)
	for _, a := range rec.Answers {
		if a.Generation == e.to.Gen && a.By == e.who.login && e.to.Nonce == render.Nonce(e.rec) {
			return rec, len(recalled(e.to.Ticked, a.Boxes, host)) > 0, err
		}
	}
	return rec, false, err
}

// taken reports whether an answer is on record as it is.
func taken(r escalation.Register, id string, a escalation.Answered) bool {
	rec, ok := r.ByID(id)
	return ok && slices.ContainsFunc(rec.Answers, func(b escalation.Answered) bool {
		return b.Generation == a.Generation && b.By == a.By && slices.Equal(b.Boxes, a.Boxes)
	})
}

// readAnswer returns the boxes that an answer chose, or why there are none.
func (f *face) readAnswer(e edit, host routing.Case) ([]answers.Box, string) {
	o := f.words()
	rec, asked := e.rec, answers.Prompt{Nonce: render.Nonce(e.rec), Gen: e.rec.Generation, SHA: render.PromptSHA(e.rec, host)}
	if e.to.Nonce != asked.Nonce || e.to.Gen > asked.Gen {
		return nil, render.Foreign(o)
	}
	for _, a := range rec.Answers {
		if a.Generation == e.to.Gen {
			if boxes := recalled(e.to.Ticked, a.Boxes, host); a.By == e.who.login && len(boxes) > 0 {
				return boxes, "" // perhaps this very answer: the register tells
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

// offered returns what the prompt of a record offers, and the tests ticked that
// it offered before another leg of the run named more of them.
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

// recalled returns the boxes of an answer on record if all of them are ticked
// and nothing else is but what did not count: tests in quarantine already.
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

// unsubmit takes the tick off Submit where the answer was refused, and brings
// the report up to date, so that what is asked is asked about the newest
// commit. Other ticks stay.
func (f *face) unsubmit(ctx context.Context, e edit) error {
	reg, err := f.register(ctx)
	if err != nil {
		return err
	}
	rec, ok := reg.ByID(e.rec.ID)
	if !ok || !rec.Open() || rec.Number == 0 {
		return nil
	}
	return f.redraw(ctx, rec, func(live string) string {
		if p, ok := answers.Parse(live); ok && p.Gen == e.to.Gen && p.Nonce == e.to.Nonce {
			return answers.Untick(live, answers.Submit)
		}
		return live
	})
}

// touch changes the body of a record's issue and leaves all else of it alone.
func (f *face) touch(ctx context.Context, rec escalation.Record, fn func(live string) string) error {
	_, _, err := f.hub.RewriteIssue(ctx, f.repo, rec.Number, marker.Format(rec.ID, rec.Mark()), fn)
	return err
}

// redraw writes the issue of a record anew out of the ledger. What live makes
// of the body that stands there says what stays ticked.
func (f *face) redraw(ctx context.Context, rec escalation.Record, live func(body string) string) error {
	eff, _, err := f.effector(ctx, rec.Host().Case)
	if err != nil {
		return err
	}
	return eff.Redraw(ctx, rec, live)
}
