package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Replies to the command that sends feedback. What comes from the comment is
// hostile.

func (o Options) refused(c answers.Command, why ...string) string {
	return o.Language.say("edge.refused", "line", code(cut(o.redact(c.Line), 200)), "why", strings.Join(why, " "))
}

// NotSent says why feedback was refused, and where that led. nearest is what may
// have been meant, or "".
func NotSent(c answers.Command, s feedback.Sent, nearest string, o Options) string {
	l := o.Language
	var why []string
	for _, t := range s.Refusal.Lines() {
		why = append(why, code(cut(line(o.redact(t), 700), 600))+".")
	}
	if nearest != "" {
		why = append(why, l.say("edge.nearest", "word", code(o.redact(nearest))))
	}
	why = append(why, l.say("edge.recorded", "id", code(s.ID)))
	if e := s.Escalation; e != nil && e.Node != "" {
		why = append(why, l.say("edge.escalated", "node", code(o.redact(e.Node)), "id", code(e.Feedback)))
	} else if e != nil {
		why = append(why, l.say("edge.human"))
	}
	return o.refused(c, why...)
}

// NoPlan says that it is not clear which plan feedback is about. plan is the one
// it names, or "".
func NoPlan(c answers.Command, plan string, o Options) string {
	if plan == "" {
		return o.refused(c, o.Language.say("edge.noplan", "plan", code("plan:NAME")))
	}
	return o.refused(c, o.Language.say("edge.noplan.of", "plan", code(o.redact(plan))))
}

// NoPort says that a plan has no port of a name, and which comes nearest.
func NoPort(c answers.Command, id, nearest string, o Options) string {
	return o.refused(c, o.Language.say("edge.unknown", "word", code(o.redact(id))), o.Language.say("edge.nearest", "word", code(o.redact(nearest))))
}

// WhoSends asks which port feedback comes from.
func WhoSends(c answers.Command, to string, may []string, o Options) string {
	list := "–"
	if len(may) > 0 {
		list = codes(o.all(may), 20)
	}
	return o.refused(c, o.Language.say("edge.from", "from", code("from:PORT"), "to", code(o.redact(to)), "ports", list))
}

// NotAsked says that a command answers what nobody asked.
func NotAsked(c answers.Command, o Options) string {
	return o.Language.say("reply.notdone", "what", code(cut(o.redact(c.Line), 200)), "why", o.Language.say("edge.notask"))
}

// PlanStatus says how the ports of a plan stand, and what feedback is open.
func PlanStatus(name string, r plan.Register, open []feedback.Record, o Options) string {
	l := o.Language
	counts := map[plan.Standing]int{}
	for _, k := range r.Ports {
		counts[k.Standing]++
	}
	var parts []string
	for _, s := range plan.Standings {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d %s", signs[s], n, l.say("plan."+string(s))))
		}
	}
	if len(parts) == 0 {
		parts = []string{"–"}
	}
	lines := []string{l.say("planstatus", "plan", code(o.redact(name)), "counts", strings.Join(parts, " · "))}
	for _, id := range slices.Sorted(maps.Keys(r.Ports)) {
		if k := r.Ports[id]; (k.Standing == plan.IsEscalated || k.Standing == plan.IsFailed || k.Standing == plan.IsRunning) && len(lines) < 40 {
			lines = append(lines, "- "+l.say("planstatus.port", "port", code(o.redact(id)), "state", l.say("plan."+string(k.Standing)), "turns", l.count("plan.turn", k.Turns)))
		}
	}
	for _, x := range open[:min(len(open), 40)] {
		lines = append(lines, "- "+l.say("planstatus.edge", "id", code(x.ID), "from", code(o.redact(x.Message.From)), "to", code(o.redact(x.Message.To)), "type", code(string(x.Message.Type)), "status", code(string(x.Status))))
	}
	return strings.Join(lines, "\n")
}
