package handler

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// answerer carries the answers to an escalation to its cases.
type answerer struct{ cases }

func newAnswerer(d Deps) answerer { return answerer{newCases(d)} }

// give carries a recorded answer to every case that the record held when it was given. Each case
// takes it once, so what was interrupted is done again from the beginning.
func (h answerer) give(ctx context.Context, rec escalation.Record, generation int) error {
	i := slices.IndexFunc(rec.Answers, func(a escalation.Answered) bool { return a.Generation == generation })
	if i < 0 {
		return nil
	}
	a := rec.Answers[i]
	var lines []markdown.Text
	for _, m := range addressed(rec, a) {
		undone, err := h.giveCase(ctx, rec, m, a)
		if err != nil {
			return err
		}
		lines = append(lines, undone...)
	}
	if rec.Number > 0 {
		once := fmt.Sprintf("answer/%s/%d", rec.ID, generation)
		if err := h.gone(ctx, h.reply(ctx, rec.Number, once, lines...)); err != nil {
			return err
		}
	}
	reg, err := h.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		return r.Recorder(h.Now()).Fanned(rec.ID, generation)
	})
	if err != nil {
		return err
	}
	if rec, _ = reg.ByID(rec.ID); !rec.Open() || rec.Number == 0 {
		return nil
	}
	return h.gone(ctx, redraw(ctx, h.Deps, rec, func(live string) string { return live }))
}

// addressed are the members that an answer was about: those that the record held when it was
// recorded, the host first.
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

// giveCase carries an answer to one case, and returns what could not be done.
func (h answerer) giveCase(ctx context.Context, rec escalation.Record, m escalation.Member, a escalation.Answered) ([]markdown.Text, error) {
	c, err := load(ctx, h.Deps, m.Case)
	if err != nil {
		return nil, err
	}
	var lines []markdown.Text
	for n, id := range a.Boxes {
		box := answers.Recall(id, c)
		if box.Action == routing.HumanQuarantine && box.Test == "" {
			continue // a test of the host that did not fail here
		}
		if n > 0 && box.Action != routing.HumanSkip && c.Checkpoints[m.Checkpoint].State == routing.Completed {
			continue // an earlier box made it pass: there is nothing to fix
		}
		e := box.Event(m.Checkpoint)
		e.By, e.SHA = a.By, m.SHA
		e.Answer = fmt.Sprintf("questions/%s/%d/%d/%s", rec.ID, a.Generation, n+1, m.Checkpoint)
		if a.SHA == c.Checkpoints[m.Checkpoint].Last.SHA {
			e.SHA = a.SHA // the commit that was asked about
		}
		done, err := h.act(ctx, m.Case, e)
		switch {
		case err == nil:
			c = done.Case
		case !refused(err):
			return nil, err
		default:
			lines = append(lines, render.BoxNotDone(box, m.Case, err, h.words()))
		}
	}
	return lines, nil
}
