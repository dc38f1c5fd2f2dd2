package planview

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Request is a feedback request that people are asked to act on.
type Request struct {
	Feedback feedback.Record
	Record   escalation.Record
}

// requestContent is what the template of a request's issue prints. Title and How are ids of the
// catalogue.
type requestContent struct {
	Title, How                       string
	Mention, From, Questions, Marker md
	Facts, Texts                     []page.Fact
	Tried                            []triedRound
	Planned, Answer, Declined        md
}

type triedRound struct {
	Round int
	Said  md
}

// RequestTitle returns the title of the issue that asks people to act on x.
func RequestTitle(x feedback.Record, o render.Options) string {
	return render.Title(o.Language.Plain("request.title", "from", markdown.Line(o.Redacted(x.Message.From), 80), "type", string(x.Message.Type), "id", x.ID))
}

// RequestBody returns that issue, its last line the marker.
func RequestBody(r Request, o render.Options) markdown.Text {
	x, m := r.Feedback, r.Feedback.Message
	p := requestContent{
		Title: "request.head." + string(m.Type), How: "request.how.plan", Mention: md(o.Mentions()), From: markdown.Code(o.Redacted(m.From)),
		Facts: requestFacts(x, o), Questions: o.Shared.Questions, Marker: md(o.Shared.Marker),
		Planned: command("planned TEXT"), Answer: command("answer TEXT"), Declined: command("declined TEXT"),
	}
	if m.Type.Asks() == feedback.Reply {
		p.How = "request.how.reply"
	}
	for s := (shown{10, 20, 4000}); ; s = (shown{s.tests / 2, s.rows / 2, s.text / 2}) {
		p.Texts = requestTexts(m, s, o)
		p.Tried = tried(x.Attempts, s, o)
		if body := pages.Print(o.Language, "request", p); len(body) <= o.MaxBytes() || s.rows == 0 {
			return body
		}
	}
}

func requestFacts(x feedback.Record, o render.Options) []page.Fact {
	m := x.Message
	out := []page.Fact{
		{ID: "request.id", Value: markdown.Code(x.ID)}, {ID: "request.from", Value: markdown.Code(o.Redacted(m.From))}, {ID: "request.type", Value: markdown.Code(string(m.Type))},
		{ID: "request.priority", Value: o.Language.Say("sev." + string(x.Priority))}, {ID: "request.round", Value: md(fmt.Sprintf("%d/%d", x.Round, feedback.MaxRounds))},
	}
	var at []string
	for _, a := range m.Artifacts {
		at = append(at, markdown.Cut(markdown.Line(o.Redacted(a.String()), 200), 120))
	}
	if len(at) > 0 {
		out = append(out, page.Fact{ID: "request.places", Value: markdown.Codes(at, 10)})
	}
	return out
}

func requestTexts(m feedback.Message, s shown, o render.Options) []page.Fact {
	var out []page.Fact
	for _, t := range [][2]string{{"request.message", m.Text}, {"request.action", m.SuggestedAction}, {"request.fix", m.SuggestedFix}, {"request.info", m.RequestedInfo}, {"request.trace", m.Trace}} {
		if strings.TrimSpace(t[1]) != "" {
			out = append(out, page.Fact{ID: t[0], Value: markdown.Fence("text", markdown.WrapLines(markdown.Cut(o.Redacted(t[1]), max(200, s.text)), 60, 300))})
		}
	}
	return out
}

func command(words string) md { return markdown.Code(escalation.DefaultCommand + " " + words) }

func tried(all []feedback.Attempt, s shown, o render.Options) []triedRound {
	var out []triedRound
	for _, a := range all {
		said := a.Fix.Summary
		if a.Verify != nil {
			said = strings.TrimSpace(said + "; " + a.Verify.Summary + "\n" + a.Verify.Trace)
		}
		out = append(out, triedRound{a.Round, markdown.ProseLimit(o.Redacted(said), max(100, s.text/8))})
	}
	return out
}

// RequestDone is what the issue is closed with: what people said of x, or that it ended without them.
func RequestDone(x feedback.Record, by string, o render.Options) markdown.Text {
	id := "request.ended"
	switch {
	case by == "":
	case x.Status == feedback.Failed || x.Status == feedback.Rejected:
		id = "request.declined"
	case x.Message.Type.Asks() == feedback.Reply:
		id = "request.answered"
	default:
		id = "request.planned"
	}
	return o.Language.Say(id, "who", markdown.Code("@"+o.Redacted(by)), "from", markdown.Code(o.Redacted(x.Message.From)), "id", markdown.Code(x.ID))
}

// refused is a reply to a command that sends feedback. What comes from the comment is hostile.
func refused(o render.Options, c answers.Command, why ...md) markdown.Text {
	return o.Language.Say("feedback.refused", "line", markdown.Code(markdown.Cut(o.Redacted(c.Line), 200)), "why", markdown.Join(why, " "))
}

// NotSent says why feedback was refused, and where that led. nearest is what may
// have been meant, or "".
func NotSent(c answers.Command, s feedback.Sent, nearest string, o render.Options) markdown.Text {
	l := o.Language
	var why []md
	for _, t := range s.Refusal.Lines() {
		why = append(why, markdown.Code(markdown.Cut(markdown.Line(o.Redacted(t), 700), 600))+".")
	}
	if nearest != "" {
		why = append(why, l.Say("feedback.nearest", "word", markdown.Code(o.Redacted(nearest))))
	}
	why = append(why, l.Say("feedback.recorded", "id", markdown.Code(s.ID)))
	if e := s.Escalation; e != nil && e.Node != "" {
		why = append(why, l.Say("feedback.escalated", "node", markdown.Code(o.Redacted(e.Node)), "id", markdown.Code(e.Feedback)))
	} else if e != nil {
		why = append(why, l.Say("feedback.human"))
	}
	return refused(o, c, why...)
}

// NoPlan says that it is not clear which plan feedback is about. plan is the one
// it names, or "".
func NoPlan(c answers.Command, plan string, o render.Options) markdown.Text {
	if plan == "" {
		return refused(o, c, o.Language.Say("feedback.noplan", "plan", markdown.Code("plan:NAME")))
	}
	return refused(o, c, o.Language.Say("feedback.noplan.of", "plan", markdown.Code(o.Redacted(plan))))
}

// NoPort says that a plan has no port of a name, and which comes nearest.
func NoPort(c answers.Command, id, nearest string, o render.Options) markdown.Text {
	return refused(o, c, o.Language.Say("feedback.unknown", "word", markdown.Code(o.Redacted(id))), o.Language.Say("feedback.nearest", "word", markdown.Code(o.Redacted(nearest))))
}

// WhoSends asks which port feedback comes from.
func WhoSends(c answers.Command, to string, may []string, o render.Options) markdown.Text {
	list := md("–")
	if len(may) > 0 {
		list = markdown.Codes(o.RedactedAll(may), 20)
	}
	return refused(o, c, o.Language.Say("feedback.from", "from", markdown.Code("from:PORT"), "to", markdown.Code(o.Redacted(to)), "ports", list))
}

// NotAsked says that a command answers what nobody asked.
func NotAsked(c answers.Command, o render.Options) markdown.Text {
	return o.Language.Say("reply.notdone", "what", markdown.Code(markdown.Cut(o.Redacted(c.Line), 200)), "why", o.Language.Say("feedback.notask"))
}
