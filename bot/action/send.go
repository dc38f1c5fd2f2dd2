package action

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
	"github.com/switchback-ci/switchback/routing/plan/plancommands"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// planOf returns the plan that an issue shows, "" if it is none's. What the issue
// says of itself is only asked first: the plan's register knows its issue.
func (f *face) planOf(ctx context.Context, is Issue) (string, error) {
	var names []string
	if key, _, ok := render.ParseMarker(strings.ReplaceAll(is.Body, "\r\n", "\n")); ok {
		if planName, ok := routing.ParsePlanKey(key); ok {
			names = append(names, planName)
		}
	}
	if len(names) == 0 {
		keys, err := f.led.Keys(ctx)
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
		if reg, err := f.planRegister(ctx, planName); err != nil || reg.Issue == is.Number {
			return planName, err
		}
	}
	return "", nil
}

// asks reports whether the place is an issue that asks people for a plan or an
// answer.
func (p place) asks() bool {
	_, _, ok := routing.ParseEdgeKey(p.record.Host().Case)
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
	planName, _, _ := routing.ParseEdgeKey(p.record.Host().Case)
	return planName
}

// portTargets returns the port of a plan that a command names, or the only one
// that waits for a human.
func (f *face) portTargets(ctx context.Context, planName, name string) ([]target, error) {
	reg, err := f.planRegister(ctx, planName)
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
	return []target{{routing.PortKey(f.repo.String(), planName, name), name}}, nil
}

// send queues the feedback of a comment, once, and has the plan's next build take
// it up.
func (f *face) send(ctx context.Context, p place, cmd answers.Command, key string) ([]string, error) {
	o := f.words()
	req := plancommands.RequestOf(cmd)
	m, planName := req.Message, req.Plan
	if planName == "" {
		planName = p.planName()
	}
	if planName == "" {
		return []string{planview.NoPlan(cmd, "", o)}, nil
	}
	reg, err := f.planRegister(ctx, planName)
	if err != nil {
		return nil, err
	}
	if reg.Build.ID == "" || len(reg.Graph) == 0 {
		return []string{planview.NoPlan(cmd, planName, o)}, nil
	}
	if _, id, ok := routing.ParsePortKey(p.record.Host().Case); ok && m.From == "" && planName == p.planName() {
		m.From = id
	}
	known := slices.Sorted(maps.Keys(reg.Graph))
	if m.From == "" && m.To != "" {
		if m.To != feedback.DefaultRoot && !slices.Contains(known, m.To) {
			return []string{planview.NoPort(cmd, m.To, suggest.Nearest(m.To, known), o)}, nil
		}
		from := senders(reg.Nodes(), m.To)
		if len(from) != 1 {
			return []string{planview.WhoSends(cmd, m.To, from, o)}, nil
		}
		m.From = from[0]
	}
	m.Key = key
	var sent feedback.Sent
	_, err = requests.All(f.led, f.repo.String()).Change(ctx, func(r feedback.Register) (_ []routing.Event, err error) {
		sent, err = r.SendOnce(reg.Build.Feedback, reg.Nodes(), m, f.now())
		return sent.Events, err
	})
	if err != nil {
		return nil, err
	}
	if sent.Refusal == nil || sent.Escalation != nil && sent.Escalation.Node != "" {
		if err := f.nextBuild(ctx, planName, reg, key, sent.Status != feedback.Queued && sent.Refusal == nil); err != nil {
			return nil, err
		}
	}
	if sent.Refusal != nil {
		return []string{planview.NotSent(cmd, sent, nearestOf(m, known), o)}, nil
	}
	return nil, f.hub.React(ctx, f.repo, p.comment)
}

// senders returns the ports that may send feedback to a node: those that build on
// it directly if there are any, else all that have it above them.
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

// nearestOf returns what comes nearest to the first word of a message that is not
// known: its type, its priority or one of its ports. "" if all are.
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

// planStatus says how a plan stands, and what feedback of it is open.
func (f *face) planStatus(ctx context.Context, planName string) ([]string, error) {
	reg, err := f.planRegister(ctx, planName)
	if err != nil {
		return nil, err
	}
	edges, err := requests.All(f.led, f.repo.String()).Register(ctx)
	if err != nil {
		return nil, err
	}
	var open []feedback.Record
	for _, x := range edges.Records {
		if x.Plan == reg.Build.Feedback && x.Status.Open() {
			open = append(open, x)
		}
	}
	return []string{planview.Status(planName, reg, open, f.words())}, nil
}
