package handler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// planFeedback implements planActions: what people decide about ports, and the feedback that they send
// to ports or answer.
type planFeedback struct{ Deps }

var _ planActions = planFeedback{}

// Act records what a person decided about a port, or about feedback that people were asked to act on,
// and does what follows. An answer that was recorded before is carried out to its end.
func (h planFeedback) Act(ctx context.Context, key string, e routing.HumanActed) error {
	if planName, id, ok := routing.ParsePortKey(key); ok {
		return h.actOnPort(ctx, planName, id, e)
	}
	if planName, id, ok := routing.ParseFeedbackRequestKey(key); ok {
		return h.actOnFeedback(ctx, planName, id, e)
	}
	return fmt.Errorf("%q is nothing that can be decided about", key)
}

// planRegister reads the register of a plan.
func planRegister(ctx context.Context, d Deps, planName string) (plan.BuildState, error) {
	return changePlan(ctx, d, planName, func(plan.BuildState) []routing.Event { return nil })
}

// changePlan appends what step makes of the newest register of a plan, and returns it with that.
func changePlan(ctx context.Context, d Deps, planName string, step func(plan.BuildState) []routing.Event) (plan.BuildState, error) {
	r, err := ledger.Of(d.Ledger, routing.PlanKey(d.Repo.String(), planName), plan.Projection).Update(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		return step(r), nil
	})
	if err != nil {
		return plan.BuildState{}, fmt.Errorf("the register of plan %s: %w", planName, err)
	}
	return r, nil
}

func (h planFeedback) actOnPort(ctx context.Context, planName, id string, e routing.HumanActed) error {
	reg, err := planRegister(ctx, h.Deps, planName)
	if err != nil {
		return err
	}
	key := routing.PortKey(h.Repo.String(), planName, id)
	a := plan.Answer{ID: e.Answer, Action: e.Action, N: e.N, By: e.By, At: h.Now().UTC(), Hash: reg.Ports[id].Hash}
	j, fresh, err := h.journal(ctx, key, id, a)
	if err != nil {
		return err
	}
	if !fresh {
		if done, err := h.released(ctx, key); done || err != nil {
			return err
		}
	}
	i := slices.IndexFunc(j.Answers, func(x plan.Answer) bool { return x.ID == a.ID })
	if a = j.Answers[i]; i < len(j.Answers)-1 || j.Loop.ID != a.Pair {
		return nil // handled again after a later answer
	}
	if reg, err = changePlan(ctx, h.Deps, planName, func(r plan.BuildState) []routing.Event { return r.Decided(id, a) }); err != nil {
		return err
	}
	if a.Action != routing.HumanWontFix {
		if err := h.nextBuild(ctx, planName, reg, a.ID, reg.Build.At.After(a.At)); err != nil {
			return err
		}
	}
	how := escalation.Released
	if a.Action == routing.HumanWontFix {
		how = escalation.WontFix
	}
	return h.Effects(effect.Subject{}, "").Release(ctx, key, id, how, a.By, planview.PortDecided(id, a, h.words()))
}

// released reports whether no issue waits for what is recorded under key, and every issue that did
// shows it.
func (h planFeedback) released(ctx context.Context, key string) (bool, error) {
	reg, err := h.register(ctx)
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

// journal records an answer in the journal of a port, and returns that; fresh is false if it was
// recorded before.
func (h planFeedback) journal(ctx context.Context, key, id string, a plan.Answer) (j plan.Journal, fresh bool, err error) {
	j, err = ledger.Of(h.Ledger, key, plan.JournalProjection).Update(ctx, func(j plan.Journal) ([]routing.Event, error) {
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

// nextBuild starts the workflow of the plan, whose build reads what was decided: once for each answer,
// and not if a build has begun since. A start that fails is reported on the plan's issue; the next
// build that somebody starts reads the answer.
func (h planFeedback) nextBuild(ctx context.Context, planName string, reg plan.BuildState, answer string, begun bool) error {
	sum := sha256.Sum256([]byte(answer))
	once := hex.EncodeToString(sum[:6])
	if done, err := h.Builds.Next(ctx, h.Deps, planName, reg, "next-"+once, begun); done || err != nil {
		return err
	}
	s, key := reg.Build.Start, "next/"+once
	if s == nil || begun {
		return nil
	}
	if before, asked := reg.Sent[key]; asked {
		if err := h.Builds.Sending(h.Deps, s.Workflow, before); err != nil {
			return err
		}
		if there, err := h.GitHub.Dispatches.HasRunSince(ctx, h.Repo, "workflow_dispatch", before, key); err != nil || there {
			return err
		}
	} else if _, err := changePlan(ctx, h.Deps, planName, func(r plan.BuildState) []routing.Event { return []routing.Event{r.Send(key, h.Now())} }); err != nil {
		return err
	}
	in := map[string]string{"build": key}
	for k, v := range s.Inputs {
		in[k] = v
	}
	err := h.GitHub.Dispatches.StartWorkflow(ctx, h.Repo, s.Workflow, strings.TrimPrefix(s.Ref, "refs/heads/"), in)
	if kind := advice.Of(err).Kind; err == nil || kind == advice.Later || reg.Issue == 0 {
		return err
	}
	return h.gone(ctx, h.reply(ctx, reg.Issue, key, planview.BuildNotStarted(err, h.words())))
}

// actOnFeedback records what people answer to feedback for the root of a plan. The first answer
// counts.
func (h planFeedback) actOnFeedback(ctx context.Context, planName, id string, e routing.HumanActed) error {
	if e.Action != routing.HumanResume && e.Action != routing.HumanWontFix {
		return routing.Refuse("feedback.action", "{action} does not apply to a feedback request; use `planned`, `answer` or `declined`", "action", string(e.Action))
	}
	key := routing.FeedbackRequestKey(h.Repo.String(), planName, id)
	reg, err := planRegister(ctx, h.Deps, planName)
	if err != nil {
		return err
	}
	taken := false
	reqs, err := requests.All(h.Ledger, h.Repo.String()).Change(ctx, func(r feedback.State) ([]routing.Event, error) {
		x, ok := r.ByID(id)
		if !ok {
			return nil, routing.Refuse("feedback.unknown", "there is no feedback request {id}", "id", id)
		}
		if taken = !x.ForPeople(); taken {
			return nil, nil
		}
		return r.Lifecycle(reg.Nodes(), h.Now()).Heard(id, feedback.Said{Done: e.Action == routing.HumanResume, Text: e.Note, By: e.By})
	})
	if err != nil {
		return err
	}
	x, _ := reqs.ByID(id)
	if taken {
		if err := h.first(ctx, key, e.By); err != nil {
			return err
		}
		if done, err := h.released(ctx, key); done || err != nil {
			return err
		}
	}
	if err := h.nextBuild(ctx, planName, reg, e.Answer, false); err != nil {
		return err
	}
	how := escalation.Released
	if e.Action == routing.HumanWontFix {
		how = escalation.WontFix
	}
	return h.Effects(effect.Subject{}, "").Release(ctx, key, x.Message.From, how, e.By, planview.RequestDone(x, e.By, h.words()))
}

// first refuses an answer to feedback that somebody else has answered: a
// *routing.RefusedError.
func (h planFeedback) first(ctx context.Context, key, by string) error {
	reg, err := h.register(ctx)
	if err != nil {
		return err
	}
	for _, rec := range slices.Backward(reg.Records) {
		for _, m := range slices.Backward(rec.Left) {
			switch {
			case m.Case == key && m.By == by:
				return nil
			case m.Case == key:
				return routing.Refuse("feedback.answered", "{who} has already answered", "who", orSomebody(m.By))
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
