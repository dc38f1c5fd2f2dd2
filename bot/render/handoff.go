package render

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// handoffView says who of the workers that are told in turn holds a failure, and who did not answer.
type handoffView struct{ view }

// holds reports whether the turn is in the hands of such a worker.
func (v handoffView) holds() bool {
	h := v.c.Handoff
	return h != nil && v.turn.Kind == routing.KindRetry && slices.Contains(h.Checkpoints, v.cp.Name)
}

func (v handoffView) text() md {
	h := v.c.Handoff
	worker := v.worker(h.Worker())
	parts := []md{v.lang.Say("ask.handoff", "worker", worker, "n", h.Place+1, "of", len(h.Workers))}
	switch {
	case h.Waits != nil:
		link := v.lang.Say("handoff.run")
		if u := v.o.Address(h.Waits.URL); u != "" {
			link = markdown.Link(link, u)
		}
		parts = append(parts, v.lang.Say("handoff.waits", "run", link))
	case h.Pushed != "":
		parts = append(parts, v.lang.Say("handoff.pushed", "sha", shortSHA(h.Pushed, v.o)))
	case h.Acknowledge != nil:
		parts = append(parts, v.lang.Say("handoff.acknowledged."+string(h.Acknowledge.How), "who", v.who(h.Acknowledge.By)), v.deliver(h.Worker()))
	default:
		parts = append(parts, limitsOf(h.Worker(), v.name, v.o))
	}
	var names []string
	for _, p := range h.Passed {
		names = append(names, v.o.Redacted(p.Worker.Name))
	}
	if len(names) > 0 {
		parts = append(parts, v.lang.Say("handoff.passed", "names", markdown.Codes(names, 10)))
	}
	return markdown.Sentences(parts...)
}

func (v handoffView) worker(w routing.Worker) md { return markdown.Code(v.o.Redacted(w.Name)) }

// deliver says how long a worker has to push, "" without limit.
func (v handoffView) deliver(w routing.Worker) md {
	w.Ack = 0
	return limitsOf(w, v.name, v.o)
}

// limitsOf says what a worker who is told in turn has to do, and how soon.
func limitsOf(w routing.Worker, checkpoint string, o Options) md {
	var parts []md
	if w.Ack > 0 {
		parts = append(parts, o.say("handoff.ack", "time", routing.ShortDuration(w.Ack), "ack", markdown.Code(strings.TrimSpace(escalation.DefaultCommand+" ack "+o.Redacted(checkpoint)))))
	}
	if w.Deliver > 0 {
		parts = append(parts, o.say("handoff.deliver", "time", routing.ShortDuration(w.Deliver)))
	}
	return markdown.Sentences(parts...)
}
