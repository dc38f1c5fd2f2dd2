package action

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// actOnPlan records what a person decided about a port, or about feedback that
// people were asked to act on, and carries out what follows. An answer that was
// taken before is carried out to its end.
func (f *face) actOnPlan(ctx context.Context, key string, e routing.HumanActed) error {
	if planName, id, ok := routing.ParsePortKey(key); ok {
		return f.actOnPort(ctx, planName, id, e)
	}
	if planName, id, ok := routing.ParseEdgeKey(key); ok {
		return f.actOnFeedback(ctx, planName, id, e)
	}
	return fmt.Errorf("%q is nothing that can be decided about", key)
}

// planRegister reads the register of a plan.
func (f *face) planRegister(ctx context.Context, planName string) (plan.Register, error) {
	return f.changePlan(ctx, planName, func(plan.Register) []routing.Event { return nil })
}

func (f *face) changePlan(ctx context.Context, planName string, step func(plan.Register) []routing.Event) (plan.Register, error) {
	r, err := ledger.Of(f.led, routing.PlanKey(f.repo.String(), planName), plan.Projection).Update(ctx, func(r plan.Register) ([]routing.Event, error) {
		return step(r), nil
	})
	if err != nil {
		return plan.Register{}, fmt.Errorf("the register of plan %s: %w", planName, err)
	}
	return r, nil
}

func (f *face) actOnPort(ctx context.Context, planName, id string, e routing.HumanActed) error {
	reg, err := f.planRegister(ctx, planName)
	if err != nil {
		return err
	}
	key := routing.PortKey(f.repo.String(), planName, id)
	a := plan.Answer{ID: e.Answer, Action: e.Action, N: e.N, By: e.By, At: f.now().UTC(), Hash: reg.Ports[id].Hash}
	j, fresh, err := f.journal(ctx, key, id, a)
	if err != nil {
		return err
	}
	if !fresh {
		if done, err := f.released(ctx, key); done || err != nil {
			return err
		}
	}
	i := slices.IndexFunc(j.Answers, func(x plan.Answer) bool { return x.ID == a.ID })
	if a = j.Answers[i]; i < len(j.Answers)-1 || j.Loop.ID != a.Pair {
		return nil // delivered again, and overtaken since
	}
	if reg, err = f.changePlan(ctx, planName, func(r plan.Register) []routing.Event { return r.Decided(id, a) }); err != nil {
		return err
	}
	if a.Action != routing.HumanWontFix {
		if err := f.nextBuild(ctx, planName, reg, a.ID, reg.Build.At.After(a.At)); err != nil {
			return err
		}
	}
	how := escalation.Released
	if a.Action == routing.HumanWontFix {
		how = escalation.WontFix
	}
	return f.effects(trigger{}).Release(ctx, key, id, how, a.By, render.PortDecided(id, a, f.words()))
}

// released reports whether no issue waits for what stands under key, and all that
// did show it.
func (f *face) released(ctx context.Context, key string) (bool, error) {
	reg, err := f.register(ctx)
	if err != nil {
		return false, err
	}
	for _, rec := range reg.Records {
		of := func(m escalation.Member) bool { return m.Case == key }
		if slices.ContainsFunc(rec.Members, of) || !rec.Open() && !rec.Settled && slices.ContainsFunc(rec.Left, of) {
			return false, nil
		}
	}
	return true, nil
}

// journal records an answer in the journal of a port, and returns that; fresh is
// false if it was taken before.
func (f *face) journal(ctx context.Context, key, id string, a plan.Answer) (j plan.Journal, fresh bool, err error) {
	j, err = ledger.Of(f.led, key, plan.JournalProjection).Update(ctx, func(j plan.Journal) ([]routing.Event, error) {
		add, err := j.Decide(a)
		if err != nil {
			return nil, err
		}
		fresh = len(add) > 0
		var out []routing.Event
		for _, e := range add {
			e.Port = id
			out = append(out, e.Record())
		}
		return out, nil
	})
	return j, fresh && err == nil, err
}

// nextBuild starts the workflow of the plan, which takes up what was decided: once
// for each answer, and not if a build has begun since. Where that is not possible
// it is said on the plan's issue, and the build that somebody starts takes it up.
func (f *face) nextBuild(ctx context.Context, planName string, reg plan.Register, answer string, begun bool) error {
	sum := sha256.Sum256([]byte(answer))
	once := hex.EncodeToString(sum[:6])
	if f.app != nil {
		if done, err := f.nextServed(ctx, planName, reg, "next-"+once, begun); done || err != nil {
			return err
		}
	}
	s, key := reg.Build.Start, "next/"+once
	if s == nil || begun {
		return nil
	}
	if before, asked := reg.Sent[key]; asked {
		if left := f.claimTTL() - f.now().Sub(before); f.app != nil && left > 0 {
			return &github.Error{Kind: github.Later, After: left, Op: "start " + s.Workflow, Message: "another process may have begun that"}
		}
		if there, err := f.hub.DispatchedSince(ctx, f.repo, "workflow_dispatch", before, key); err != nil || there {
			return err
		}
	} else if _, err := f.changePlan(ctx, planName, func(r plan.Register) []routing.Event { return []routing.Event{r.Send(key, f.now())} }); err != nil {
		return err
	}
	in := map[string]string{"build": key}
	for k, v := range s.Inputs {
		in[k] = v
	}
	err := f.hub.DispatchWorkflow(ctx, f.repo, s.Workflow, strings.TrimPrefix(s.Ref, "refs/heads/"), in)
	if kind, _ := github.Verdict(err); err == nil || kind == github.Later || reg.Issue == 0 {
		return err
	}
	return f.gone(ctx, f.reply(ctx, reg.Issue, key, render.NotStarted(err, f.words())))
}

// actOnFeedback takes what people say of feedback that goes to the root of a plan.
// The first answer counts.
func (f *face) actOnFeedback(ctx context.Context, planName, id string, e routing.HumanActed) error {
	if e.Action != routing.HumanResume && e.Action != routing.HumanWontFix {
		return &routing.RefusedError{Format: "`%s` is nothing that can be done with feedback; there are `planned`, `answer` and `declined`", Args: []any{string(e.Action)}}
	}
	key := routing.EdgeKey(f.repo.String(), planName, id)
	reg, err := f.planRegister(ctx, planName)
	if err != nil {
		return err
	}
	taken := false
	edges, err := requests.All(f.led, f.repo.String()).Change(ctx, func(r feedback.Register) ([]routing.Event, error) {
		x, ok := r.ByID(id)
		if !ok {
			return nil, &routing.RefusedError{Format: "there is no feedback %q", Args: []any{id}}
		}
		if taken = !x.ForPeople(); taken {
			return nil, nil
		}
		return r.Heard(reg.Nodes(), id, feedback.Said{Done: e.Action == routing.HumanResume, Text: e.Note, By: e.By}, f.now())
	})
	if err != nil {
		return err
	}
	x, _ := edges.ByID(id)
	if taken {
		if err := f.first(ctx, key, e.By); err != nil {
			return err
		}
		if done, err := f.released(ctx, key); done || err != nil {
			return err
		}
	}
	if err := f.nextBuild(ctx, planName, reg, e.Answer, false); err != nil {
		return err
	}
	how := escalation.Released
	if e.Action == routing.HumanWontFix {
		how = escalation.WontFix
	}
	return f.effects(trigger{}).Release(ctx, key, x.Message.From, how, e.By, render.PlanningDone(x, e.By, f.words()))
}

// first refuses an answer to feedback that somebody else has answered: a
// *routing.RefusedError.
func (f *face) first(ctx context.Context, key, by string) error {
	reg, err := f.register(ctx)
	if err != nil {
		return err
	}
	for _, rec := range slices.Backward(reg.Records) {
		for _, m := range slices.Backward(rec.Left) {
			switch {
			case m.Case == key && m.By == by:
				return nil
			case m.Case == key:
				return &routing.RefusedError{Format: "%s answered it before", Args: []any{orSomebody(m.By)}}
			}
		}
	}
	return nil
}

func orSomebody(login string) string {
	if login == "" {
		return "somebody"
	}
	return login
}
