package handler

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
	"github.com/switchback-ci/switchback/routing/plan/plancommands"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// PlanOf implements planActions. The marker of the issue only says which plan to ask first: the plan's
// register knows its issue.
func (h planFeedback) PlanOf(ctx context.Context, is Issue) (string, error) {
	var names []string
	if m, ok := marker.Parse(is.Body); ok {
		if planName, ok := routing.ParsePlanKey(m.Key); ok {
			names = append(names, planName)
		}
	}
	if len(names) == 0 {
		keys, err := h.Ledger.Keys(ctx)
		if err != nil {
			return "", fmt.Errorf("listing the ledger: %w", err)
		}
		for _, k := range keys {
			if planName, ok := routing.ParsePlanKey(k); ok {
				names = append(names, planName)
			}
		}
	}
	for _, planName := range names {
		if reg, err := planRegister(ctx, h.Deps, planName); err != nil || reg.Issue == is.Number {
			return planName, err
		}
	}
	return "", nil
}

// asks reports whether the place is an issue that asks people for a plan or an answer.
func (p place) asks() bool {
	_, _, ok := routing.ParseFeedbackRequestKey(p.record.Host().Case)
	return ok
}

// planName is the plan that the place is about, "" if none.
func (p place) planName() string {
	if p.plan != "" {
		return p.plan
	}
	if planName, _, ok := routing.ParsePortKey(p.record.Host().Case); ok {
		return planName
	}
	planName, _, _ := routing.ParseFeedbackRequestKey(p.record.Host().Case)
	return planName
}

// Targets implements planActions.
func (h planFeedback) Targets(ctx context.Context, planName, name string) ([]target, error) {
	reg, err := planRegister(ctx, h.Deps, planName)
	if err != nil {
		return nil, err
	}
	var waiting []string
	for _, id := range slices.Sorted(maps.Keys(reg.Ports)) {
		if reg.Ports[id].Standing == plan.IsEscalated {
			waiting = append(waiting, id)
		}
	}
	known := slices.Sorted(maps.Keys(reg.Graph))
	switch {
	case name == "" && len(waiting) == 1:
		name = waiting[0]
	case name == "":
		return nil, unsure("which-port", "name the port; known are {known}", "known", known[:min(len(known), 30)])
	case !slices.Contains(known, name):
		return nil, unsure("no-port", "there is no port {port}; the nearest is {nearest}", "port", name, "nearest", suggest.Nearest(name, known))
	}
	return []target{{routing.PortKey(h.Repo.String(), planName, name), name}}, nil
}

// namesPlan reports whether a command names the plan that it is about, so that it may be given anywhere.
func namesPlan(cmd answers.Command) bool {
	r := plancommands.RequestOf(cmd)
	return r != nil && r.Plan != ""
}

// feedbackCommand is a command that sends feedback to a port.
type feedbackCommand struct {
	command answers.Command
	place   place
	key     string // names the command, to send its feedback once
}

// Send implements planActions: it queues the feedback once, and starts the plan's next build for it.
func (h planFeedback) Send(ctx context.Context, c feedbackCommand) ([]markdown.Text, error) {
	cmd, p := c.command, c.place
	o := h.words()
	req := plancommands.RequestOf(cmd)
	m, planName := req.Message, req.Plan
	if planName == "" {
		planName = p.planName()
	}
	if planName == "" {
		return []markdown.Text{planview.NoPlan(cmd, "", o)}, nil
	}
	reg, err := planRegister(ctx, h.Deps, planName)
	if err != nil {
		return nil, err
	}
	if reg.Build.ID == "" || len(reg.Graph) == 0 {
		return []markdown.Text{planview.NoPlan(cmd, planName, o)}, nil
	}
	if _, id, ok := routing.ParsePortKey(p.record.Host().Case); ok && m.From == "" && planName == p.planName() {
		m.From = id
	}
	known := slices.Sorted(maps.Keys(reg.Graph))
	if m.From == "" && m.To != "" {
		if m.To != feedback.DefaultRoot && !slices.Contains(known, m.To) {
			return []markdown.Text{planview.NoPort(cmd, m.To, suggest.Nearest(m.To, known), o)}, nil
		}
		from := senders(reg.Nodes(), m.To)
		if len(from) != 1 {
			return []markdown.Text{planview.WhoSends(cmd, m.To, from, o)}, nil
		}
		m.From = from[0]
	}
	m.Key = c.key
	var sent feedback.Sent
	_, err = requests.All(h.Ledger, h.Repo.String()).Change(ctx, func(r feedback.State) (_ []routing.Event, err error) {
		sent, err = r.Outbox(reg.Build.Feedback, reg.Nodes(), h.Now()).SendOnce(m)
		return sent.Events, err
	})
	if err != nil {
		return nil, err
	}
	if sent.Refusal == nil || sent.Escalation != nil && sent.Escalation.Node != "" {
		if err := h.nextBuild(ctx, planName, reg, c.key, sent.Status != feedback.Queued && sent.Refusal == nil); err != nil {
			return nil, err
		}
	}
	if sent.Refusal != nil {
		return []markdown.Text{planview.NotSent(cmd, sent, nearestOf(m, known), o)}, nil
	}
	return nil, h.GitHub.Comments.React(ctx, h.Repo, p.comment)
}

// senders returns the ports that may send feedback to a node: those that depend on it directly if
// there are any, else all that have it above them.
func senders(g feedback.Nodes, to string) []string {
	var direct, all []string
	for _, id := range slices.Sorted(maps.Keys(g.Links)) {
		if l := g.Links[id]; l.Parent == to || slices.Contains(l.DependsOn, to) {
			direct = append(direct, id)
		}
		if slices.Contains(feedback.Ancestors(g, id), to) {
			all = append(all, id)
		}
	}
	if len(direct) > 0 {
		return direct
	}
	return all
}

// nearestOf returns the nearest name to the first unknown word of a message: its type, its priority or
// one of its ports. "" if all are known.
func nearestOf(m feedback.Message, known []string) string {
	words := func(all []feedback.Type) (out []string) {
		for _, t := range all {
			out = append(out, string(t))
		}
		return out
	}
	switch {
	case !m.Type.Valid():
		return suggest.Nearest(string(m.Type), words(feedback.Types()))
	case !m.Priority.Valid():
		var all []string
		for _, p := range feedback.Priorities() {
			all = append(all, string(p))
		}
		return suggest.Nearest(string(m.Priority), all)
	}
	known = append(slices.Clip(known), feedback.DefaultRoot)
	for _, id := range []string{m.To, m.From} {
		if id != "" && !slices.Contains(known, id) {
			return suggest.Nearest(id, known)
		}
	}
	return ""
}

// Status implements planActions.
func (h planFeedback) Status(ctx context.Context, planName string) ([]markdown.Text, error) {
	reg, err := planRegister(ctx, h.Deps, planName)
	if err != nil {
		return nil, err
	}
	reqs, err := requests.All(h.Ledger, h.Repo.String()).State(ctx)
	if err != nil {
		return nil, err
	}
	var open []feedback.Record
	for _, x := range reqs.Records {
		if x.Plan == reg.Build.Feedback && x.Status.Open() {
			open = append(open, x)
		}
	}
	return []markdown.Text{planview.Status(planName, reg, open, h.words())}, nil
}
