package action

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/edges"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/feedback"
	"github.com/switchback-ci/switchback/routing/port"
	"github.com/switchback-ci/switchback/routing/prompt"
)

// planOf returns the plan that an issue shows, "" if it is none's. What the issue
// says of itself is only asked first: the plan's register knows its issue.
func (f *face) planOf(ctx context.Context, is Issue) (string, error) {
	var names []string
	if key, _, ok := render.ParseMarker(strings.ReplaceAll(is.Body, "\r\n", "\n")); ok {
		if plan, ok := routing.ParsePlanKey(key); ok {
			names = append(names, plan)
		}
	}
	if len(names) == 0 {
		keys, err := f.led.Keys(ctx)
		if err != nil {
			return "", fmt.Errorf("listing the ledger: %w", err)
		}
		for _, k := range keys {
			if plan, ok := routing.ParsePlanKey(k); ok {
				names = append(names, plan)
			}
		}
	}
	for _, plan := range names {
		if reg, err := f.planRegister(ctx, plan); err != nil || reg.Issue == is.Number {
			return plan, err
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
	if plan, _, ok := routing.ParsePortKey(p.record.Host().Case); ok {
		return plan
	}
	plan, _, _ := routing.ParseEdgeKey(p.record.Host().Case)
	return plan
}

// portTargets returns the port of a plan that a command names, or the only one
// that waits for a human.
func (f *face) portTargets(ctx context.Context, plan, name string) ([]target, error) {
	reg, err := f.planRegister(ctx, plan)
	if err != nil {
		return nil, err
	}
	var waiting []string
	for _, id := range slices.Sorted(maps.Keys(reg.Ports)) {
		if reg.Ports[id].Standing == port.IsEscalated {
			waiting = append(waiting, id)
		}
	}
	known := slices.Sorted(maps.Keys(reg.Graph))
	switch {
	case name == "" && len(waiting) == 1:
		name = waiting[0]
	case name == "":
		return nil, unsure("name the port; there are `%s`", strings.Join(known[:min(len(known), 30)], "`, `"))
	case !slices.Contains(known, name):
		return nil, unsure("there is no port `%s`; the nearest is `%s`", name, prompt.Nearest(name, known))
	}
	return []target{{routing.PortKey(f.repo.String(), plan, name), name}}, nil
}

// send queues the feedback of a comment, once, and has the plan's next build take
// it up.
func (f *face) send(ctx context.Context, p place, cmd prompt.Command, key string) ([]string, error) {
	o := f.words()
	m, plan := cmd.Feedback.Message, cmd.Feedback.Plan
	if plan == "" {
		plan = p.planName()
	}
	if plan == "" {
		return []string{render.NoPlan(cmd, "", o)}, nil
	}
	reg, err := f.planRegister(ctx, plan)
	if err != nil {
		return nil, err
	}
	if reg.Build.ID == "" || len(reg.Graph) == 0 {
		return []string{render.NoPlan(cmd, plan, o)}, nil
	}
	if _, id, ok := routing.ParsePortKey(p.record.Host().Case); ok && m.From == "" && plan == p.planName() {
		m.From = id
	}
	known := slices.Sorted(maps.Keys(reg.Graph))
	if m.From == "" && m.To != "" {
		if m.To != feedback.DefaultRoot && !slices.Contains(known, m.To) {
			return []string{render.NoPort(cmd, m.To, prompt.Nearest(m.To, known), o)}, nil
		}
		from := senders(reg.Nodes(), m.To)
		if len(from) != 1 {
			return []string{render.WhoSends(cmd, m.To, from, o)}, nil
		}
		m.From = from[0]
	}
	m.Key = key
	var sent feedback.Sent
	_, err = edges.All(f.led, f.repo.String()).Change(ctx, func(r feedback.Register) (_ []routing.Event, err error) {
		sent, err = r.SendOnce(reg.Build.Feedback, reg.Nodes(), m, f.now())
		return sent.Events, err
	})
	if err != nil {
		return nil, err
	}
	if sent.Refusal == nil || sent.Escalation != nil && sent.Escalation.Node != "" {
		if err := f.nextBuild(ctx, plan, reg, key, sent.Status != feedback.Queued && sent.Refusal == nil); err != nil {
			return nil, err
		}
	}
	if sent.Refusal != nil {
		return []string{render.NotSent(cmd, sent, nearestOf(m, known), o)}, nil
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
		return prompt.Nearest(string(m.Type), words(feedback.Types()))
	case !m.Priority.Valid():
		var all []string
		for _, p := range feedback.Priorities() {
			all = append(all, string(p))
		}
		return prompt.Nearest(string(m.Priority), all)
	}
	known = append(slices.Clip(known), feedback.DefaultRoot)
	for _, id := range []string{m.To, m.From} {
		if id != "" && !slices.Contains(known, id) {
			return prompt.Nearest(id, known)
		}
	}
	return ""
}

// planStatus says how a plan stands, and what feedback of it is open.
func (f *face) planStatus(ctx context.Context, plan string) ([]string, error) {
	reg, err := f.planRegister(ctx, plan)
	if err != nil {
		return nil, err
	}
	edges, err := edges.All(f.led, f.repo.String()).Register(ctx)
	if err != nil {
		return nil, err
	}
	var open []feedback.Record
	for _, x := range edges.Records {
		if x.Plan == reg.Build.Feedback && x.Status.Open() {
			open = append(open, x)
		}
	}
	return []string{render.PlanStatus(plan, reg, open, f.words())}, nil
}
