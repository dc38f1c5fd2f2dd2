package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// fan carries a consumed answer to every case that the record held when it was
// given. Each case takes it once, so a fan that was killed is done again from
// the beginning.
func (f *face) fan(ctx context.Context, rec escalation.Record, generation int) error {
	i := slices.IndexFunc(rec.Answers, func(a escalation.Answered) bool { return a.Generation == generation })
	if i < 0 {
		return nil
	}
	a := rec.Answers[i]
	var lines []string
	for _, m := range addressed(rec, a) {
		told, err := f.give(ctx, rec, m, a)
		if err != nil {
			return err
		}
		lines = append(lines, told...)
	}
	if rec.Number > 0 {
		once := fmt.Sprintf("answer/%s/%d", rec.ID, generation)
		if err := f.gone(ctx, f.reply(ctx, rec.Number, once, lines...)); err != nil {
			return err
		}
	}
	reg, err := f.change(ctx, func(r escalation.Register) ([]routing.Event, error) { return r.Fanned(rec.ID, generation, f.now()) })
	if err != nil {
		return err
	}
	if rec, _ = reg.ByID(rec.ID); !rec.Open() || rec.Number == 0 {
		return nil
	}
	return f.gone(ctx, f.redraw(ctx, rec, func(live string) string { return live }))
}

// addressed are the members that an answer was about: those that the record
// held when it was consumed, the host first.
func addressed(rec escalation.Record, a escalation.Answered) []escalation.Member {
	var out []escalation.Member
	for _, m := range rec.Left {
		if m.LeftAt.After(a.At) && m.How != escalation.Moved {
			out = append(out, m)
		}
	}
	for _, m := range rec.Members {
		if !m.Opened.After(a.At) {
			out = append(out, m)
		}
	}
	return out
}

// give carries an answer to one case, and returns what could not be done.
func (f *face) give(ctx context.Context, rec escalation.Record, m escalation.Member, a escalation.Answered) ([]string, error) {
	c, err := f.load(ctx, m.Case)
	if err != nil {
		return nil, err
	}
	var lines []string
	for n, id := range a.Boxes {
		box := answers.Recall(id, c)
		if box.Action == routing.HumanQuarantine && box.Test == "" {
			continue // a test of the host that did not fail here
		}
		if n > 0 && box.Action != routing.HumanSkip && c.Checkpoints[m.Checkpoint].State == routing.Completed {
			continue // what came before has made it pass: there is nothing left to return for a fix
		}
		e := box.Event(m.Checkpoint)
		e.By, e.SHA = a.By, m.SHA
		e.Answer = fmt.Sprintf("prompt/%s/%d/%d/%s", rec.ID, a.Generation, n+1, m.Checkpoint)
		if a.SHA == c.Checkpoints[m.Checkpoint].Last.SHA {
			e.SHA = a.SHA // the commit that was asked about
		}
		done, err := f.act(ctx, m.Case, e)
		switch {
		case err == nil:
			c = done.Case
		case !said(err):
			return nil, err
		default:
			lines = append(lines, render.BoxNotDone(box, m.Case, err, f.words()))
		}
	}
	return lines, nil
}

// gone takes it for done that something is to be posted on an issue that is
// not there any more, as long as its repository is.
func (f *face) gone(ctx context.Context, err error) error {
	err = f.hub.Absent(ctx, f.repo, err)
	if kind := advice.Of(err).Kind; err == nil || !errors.Is(err, github.ErrAbsent) && (kind == advice.Gone || errors.Is(err, github.ErrMoved)) {
		return nil
	}
	return err
}

// unheard is how long Submit stands ticked before it is taken for one whose
// event was lost.
const unheard = 5 * time.Minute

// reconcileAnswers finishes answers whose fan was killed, and looks after the open
// issues: where Submit is ticked and its event was lost, nobody knows who
// ticked it, so it is unticked and asked for again; where the questions were
// edited away they are restored; one that was closed or deleted unheard is taken
// for what it is.
func (f *face) reconcileAnswers(ctx context.Context) error {
	reg, err := f.register(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, rec := range reg.Records {
		for _, a := range rec.Answers {
			if !a.Fanned {
				failed = errors.Join(failed, f.fan(ctx, rec, a.Generation))
			}
		}
		if rec.Open() && rec.Number > 0 {
			failed = errors.Join(failed, f.gone(ctx, f.lookAfter(ctx, rec)))
		}
	}
	return failed
}

func (f *face) lookAfter(ctx context.Context, rec escalation.Record) error {
	i, err := f.hub.Issue(ctx, f.repo, rec.Number)
	switch {
	case errors.Is(err, github.ErrMoved):
		return f.lost(ctx, rec, "deleted")
	case err != nil || f.now().Sub(i.UpdatedAt) < unheard:
		return err
	case i.State == "closed" && !i.ClosedByBot:
		return f.shutUnheard(ctx, rec, i)
	case i.State != "open" || !rec.DismissedAt.IsZero():
		return nil
	}
	p, ok := answers.Parse(i.Body)
	once := fmt.Sprintf("reconcile/%d/%d", rec.Number, i.UpdatedAt.Unix())
	switch {
	case !ok:
		if err := f.redraw(ctx, rec, func(live string) string { return live }); err != nil {
			return err
		}
		return f.reply(ctx, rec.Number, once, render.Restored(f.words()))
	case p.Submitted():
		if err := f.touch(ctx, rec, func(live string) string { return answers.Untick(live, answers.Submit) }); err != nil {
			return err
		}
		return f.reply(ctx, rec.Number, once, render.Unheard(f.words()))
	}
	return nil
}
