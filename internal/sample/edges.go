package sample

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// EdgeOptions say what feedback between ports is made.
type EdgeOptions struct {
	Seed  uint64
	Repo  string
	N     int // messages that are sent
	Start time.Time
}

// Edges returns the register of a repository's feedback between ports: some is
// resolved, in its first round or in its second, some fails, some is refused, and the
// newest is still open.
func Edges(o EdgeOptions) Stream {
	r := rand.New(rand.NewPCG(o.Seed, 91))
	links := map[string]feedback.Links{}
	for i := range 12 {
		l := feedback.Links{Parent: "plan"}
		if i > 0 {
			l.DependsOn = []string{portName(i - 1)}
		}
		links[portName(i)] = l
	}
	m := edgeMaker{g: feedback.Nodes{Links: links, Top: "plan"}, at: o.Start}
	for n := range o.N {
		m.at = m.at.Add(time.Duration(1+r.IntN(50)) * time.Minute)
		from := 1 + r.IntN(11)
		msg := feedback.Message{From: portName(from), To: portName(r.IntN(from)), Type: feedback.Types()[r.IntN(4)], Text: "the total is off by one cent", Priority: feedback.High,
			SuggestedFix: "round at the end", SuggestedAction: "plan the currency first", RequestedInfo: "which currency is it?"}
		if msg.Type.Asks() == feedback.Replan {
			msg.To = "plan"
		}
		if r.IntN(9) == 0 {
			msg.SuggestedFix, msg.SuggestedAction, msg.RequestedInfo = "", "", "" // too vague to be sent
		}
		sent := must(m.reg.Outbox(fmt.Sprint("plan-", n), m.g, m.at).Send(msg))
		m.add(sent.Events)
		if sent.Status != feedback.Queued || n >= o.N-2 {
			continue
		}
		m.add(must(m.reg.Lifecycle(nil, m.at).Deliver(sent.ID)))
		if m.fix(sent.ID, msg.Type, r.IntN(6) > 0) && !m.verify(sent.ID, r.IntN(4) > 0) {
			m.add(must(m.reg.Lifecycle(nil, m.at).Deliver(sent.ID)))
			if m.fix(sent.ID, msg.Type, true) {
				m.verify(sent.ID, r.IntN(2) > 0)
			}
		}
	}
	return Stream{routing.StreamKey(o.Repo, routing.StreamFeedbackRequests), m.out}
}

// edgeMaker makes a register of feedback.
type edgeMaker struct {
	g   feedback.Nodes
	reg feedback.State
	at  time.Time
	out []routing.Event
}

func (m *edgeMaker) add(events []routing.Event) {
	for _, e := range events {
		m.reg = must(m.reg.Apply(e))
	}
	m.out = append(m.out, events...)
}

// fix runs the target.
func (m *edgeMaker) fix(id string, t feedback.Type, ok bool) bool {
	m.at = m.at.Add(5 * time.Minute)
	m.add(must(m.reg.Lifecycle(nil, m.at).Begin(id)))
	if ok && t.Asks() == feedback.Reply {
		m.add(must(m.reg.Lifecycle(nil, m.at).Answer(id, "in euros", nil)))
		return true
	}
	m.add(must(m.reg.Lifecycle(m.g, m.at).Processed(id, feedback.Outcome{OK: ok, Summary: "rounded at the end"})))
	return ok
}

// verify runs the sender.
func (m *edgeMaker) verify(id string, ok bool) bool {
	m.at = m.at.Add(5 * time.Minute)
	m.add(must(m.reg.Lifecycle(m.g, m.at).Verified(id, feedback.Outcome{OK: ok, Trace: "still off"})))
	return ok
}

// must returns what the real rules made. What they refuse is a fault of this package.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
