package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
	_ "github.com/switchback-ci/switchback/routing/plan/plancommands" // the boxes of the issues of ports
)

// The issues of plans: of a port that calls a human, and of feedback that people
// are to act on. All that a worker or a port's file says is hostile.

// PortReport is what the escalation issue of a port is about.
type PortReport struct {
	Plan, Port string
	Journal    plan.Journal
	Attempts   []plan.Attempt // that failed, the oldest first
	Record     escalation.Record
}

// PortTitle returns the title of the escalation issue of a port: plain text on
// one line. key is that of the port's stream.
func PortTitle(key string, t escalation.Type, o Options) string {
	plan, id, _ := routing.ParsePortKey(key)
	of := o.Language.say("port.of", "port", line(o.redact(id), 80), "plan", line(o.redact(plan), 80), "type", string(t))
	return cut(strings.ReplaceAll(o.Language.say("issue.title")+" — "+of, "@", "＠"), 200)
}

// shown is how much of a report is shown; it shrinks until the report fits.
type shown struct{ tests, rows, text int }

// PortBody returns the escalation report of a port, its last line the marker.
func PortBody(r PortReport, o Options) string {
	for s := (shown{8, 20, 1500}); ; s = (shown{s.tests / 2, s.rows / 2, s.text / 2}) {
		if body := portBody(r, s, o); len(body) <= o.limit() || s.rows == 0 {
			return body
		}
	}
}

func portBody(r PortReport, s shown, o Options) string {
	l := o.Language
	rec, m := r.Record, r.Record.Host()
	parts := []string{"## " + l.say("issue.title")}
	if who := o.mention(); who != "" {
		parts = append(parts, l.say("issue.notify", "mention", who))
	}
	turns := 1
	if r.Journal.Loop != nil {
		turns = r.Journal.Loop.Turn
	}
	why := l.say("port.why", "port", code(o.redact(r.Port)), "turns", l.count("plan.turn", turns), "reason", proseLimit(o.redact(rec.Description), 600))
	rows := [][2]string{
		{"port.plan", code(o.redact(r.Plan))}, {"plan.port", code(o.redact(r.Port))},
		{"issue.type", code(string(rec.Type)) + ", " + l.say("sev."+string(rec.Severity))},
	}
	if loop := r.Journal.Loop; loop != nil {
		rows = append(rows, [2]string{"issue.attempts", fmt.Sprintf("%d/%d", min(loop.CurrentTry, loop.MaxRetries), loop.MaxRetries)},
			[2]string{"plan.time", loop.EndedAt.Sub(loop.StartedAt).Round(time.Second).String()})
		if loop.Tokens > 0 {
			rows = append(rows, [2]string{"port.tokens", strconv.FormatInt(loop.Tokens, 10)})
		}
	}
	if u := o.address(m.RunURL); u != "" {
		rows = append(rows, [2]string{"port.run", link(l.say("run.link"), u)})
	}
	parts = append(parts, why, o.pairs(rows), "### "+l.say("port.turns"), o.attempts(r.Attempts, s))
	if loop := r.Journal.Loop; loop != nil && loop.Last != nil && len(loop.Last.FailedTests) > 0 {
		parts = append(parts, "### "+l.say("port.failed"), o.failedTests(loop.Last.FailedTests, s))
	}
	if len(rec.Suggested) > 0 {
		parts = append(parts, "### "+l.say("port.actions"), bullets(o.proses(rec.Suggested)))
	}
	if o.Shared.Prompt != "" {
		parts = append(parts, o.Shared.Prompt)
	}
	return strings.Join(append(parts, l.say("port.closes"), o.Shared.Marker), "\n\n")
}

// pairs is a table of names and values, which are safe Markdown.
func (o Options) pairs(rows [][2]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|---|---|\n", o.Language.say("issue.item"), o.Language.say("issue.value"))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", o.Language.say(r[0]), cell(r[1]))
	}
	return strings.TrimRight(b.String(), "\n")
}

// attempts is the history of turns, the newest s.rows of it.
func (o Options) attempts(all []plan.Attempt, s shown) string {
	l := o.Language
	if len(all) == 0 {
		return l.say("issue.norows")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s | %s | %s |\n|---|--:|---|---|\n", l.say("port.pair"), l.say("port.turn"), l.say("col.time"), l.say("port.failed"))
	if n := len(all) - s.rows; n > 0 {
		fmt.Fprintf(&b, "| … | | | %s |\n", l.say("list.more", "n", n))
		all = all[n:]
	}
	for _, a := range all {
		what := proseLimit(o.redact(a.Reason), 200)
		if len(a.Failed) > 0 {
			names := make([]string, len(a.Failed))
			for i, n := range a.Failed {
				names[i] = cut(line(o.redact(n), 200), 100)
			}
			what = codes(names, 3)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", cell(code(cut(line(o.redact(a.Pair), 100), 60))), a.Turn, a.At.UTC().Format("2006-01-02 15:04"), cell(what))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (o Options) failedTests(all []plan.FailedTest, s shown) string {
	l := o.Language
	var parts []string
	for _, t := range all[:min(len(all), s.tests)] {
		text := "**" + code(cut(line(o.redact(t.Name), 300), 200)) + "**"
		if t.File != "" {
			at := t.File
			if t.Line > 0 {
				at += ":" + strconv.Itoa(t.Line)
			}
			text += " · " + code(cut(line(o.redact(at), 300), 200))
		}
		var said []string
		for _, f := range [][2]string{{"port.expected", t.Expected}, {"port.actual", t.Actual}, {"", t.StackTrace}} {
			if v := strings.TrimSpace(f[1]); v != "" {
				if f[0] != "" {
					v = l.say(f[0]) + ": " + v
				}
				said = append(said, v)
			}
		}
		if len(said) > 0 {
			text += "\n\n" + fence("text", wrapLines(cut(o.redact(strings.Join(said, "\n")), max(100, s.text)), 30, 300))
		}
		if t.SuggestedFix != "" {
			text += "\n\n" + l.say("port.fix") + " " + proseLimit(o.redact(t.SuggestedFix), 400)
		}
		parts = append(parts, text)
	}
	if n := len(all) - s.tests; n > 0 {
		parts = append(parts, l.say("list.more", "n", n))
	}
	return strings.Join(parts, "\n\n")
}

func (o Options) proses(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = proseLimit(o.redact(t), 1000)
	}
	return out
}

// PortPassed is what the issue of a port is closed with once that has passed.
func PortPassed(r plan.Row, o Options) string {
	return o.Language.say("port.passed", "port", code(o.redact(r.ID)), "turns", o.Language.count("plan.turn", max(1, r.Turns)), "run", o.ran(r.URL))
}

// PortGone is what it is closed with where the plan has the port no more.
func PortGone(id string, o Options) string {
	return o.Language.say("port.gone", "port", code(o.redact(id)))
}

// PortDecided is what it is closed with once a human has decided.
func PortDecided(id string, a plan.Answer, o Options) string {
	l := o.Language
	what := l.say("port." + string(a.Action))
	if a.Action == routing.HumanExtend {
		what = l.count("port.extend", a.N)
	}
	return l.say("port.decided", "port", code(o.redact(id)), "who", code("@"+o.redact(a.By)), "what", what)
}

// NotStarted says that the next build of a plan could not be started.
func NotStarted(err error, o Options) string {
	return o.Language.say("port.notstarted", "why", prose(o.redact(err.Error())))
}

func (o Options) ran(address string) string {
	if u := o.address(address); u != "" {
		return " (" + link(o.Language.say("col.link"), u) + ")"
	}
	return ""
}

// PlanningRequest is feedback that people are asked to act on.
type PlanningRequest struct {
	Feedback feedback.Record
	Record   escalation.Record
}

// PlanningTitle returns the title of the issue that asks people to act on x.
func PlanningTitle(x feedback.Record, o Options) string {
	of := o.Language.say("planning.title", "from", line(o.redact(x.Message.From), 80), "type", string(x.Message.Type), "id", x.ID)
	return cut(strings.ReplaceAll(of, "@", "＠"), 200)
}

// PlanningBody returns that issue, its last line the marker.
func PlanningBody(r PlanningRequest, o Options) string {
	for s := (shown{10, 20, 4000}); ; s = (shown{s.tests / 2, s.rows / 2, s.text / 2}) {
		if body := planningBody(r, s, o); len(body) <= o.limit() || s.rows == 0 {
			return body
		}
	}
}

func planningBody(r PlanningRequest, s shown, o Options) string {
	l, x, m := o.Language, r.Feedback, r.Feedback.Message
	parts := []string{"## " + l.say("planning.head."+string(m.Type), "from", code(o.redact(m.From)))}
	if who := o.mention(); who != "" {
		parts = append(parts, l.say("issue.notify", "mention", who))
	}
	rows := [][2]string{
		{"planning.id", code(x.ID)}, {"planning.from", code(o.redact(m.From))}, {"planning.type", code(string(m.Type))},
		{"planning.priority", l.say("sev." + string(x.Priority))}, {"planning.round", fmt.Sprintf("%d/%d", x.Round, feedback.MaxRounds)},
	}
	var at []string
	for _, a := range m.Artifacts {
		at = append(at, cut(line(o.redact(a.String()), 200), 120))
	}
	if len(at) > 0 {
		rows = append(rows, [2]string{"planning.places", codes(at, 10)})
	}
	parts = append(parts, o.pairs(rows))
	text := func(id, value string) {
		if strings.TrimSpace(value) != "" {
			parts = append(parts, "### "+l.say(id), fence("text", wrapLines(cut(o.redact(value), max(200, s.text)), 60, 300)))
		}
	}
	text("planning.message", m.Text)
	text("planning.action", m.SuggestedAction)
	text("planning.fix", m.SuggestedFix)
	text("planning.info", m.RequestedInfo)
	text("planning.trace", m.Trace)
	if tried := o.tried(x.Attempts, s); tried != "" {
		parts = append(parts, "### "+l.say("planning.earlier"), tried)
	}
	parts = append(parts, l.say("planning.how."+doing(m.Type), "from", code(o.redact(m.From)), "planned", command("planned TEXT"), "answer", command("answer TEXT"), "declined", command("declined TEXT")))
	if o.Shared.Prompt != "" {
		parts = append(parts, o.Shared.Prompt)
	}
	return strings.Join(append(parts, o.Shared.Marker), "\n\n")
}

// doing tells a question from all else that people are asked.
func doing(t feedback.Type) string {
	if t.Asks() == feedback.Reply {
		return "reply"
	}
	return "plan"
}

func command(words string) string { return code(escalation.DefaultCommand + " " + words) }

func (o Options) tried(all []feedback.Attempt, s shown) string {
	var lines []string
	for _, a := range all {
		said := a.Fix.Summary
		if a.Verify != nil {
			said = strings.TrimSpace(said + "; " + a.Verify.Summary + "\n" + a.Verify.Trace)
		}
		lines = append(lines, o.Language.say("planning.tried", "n", a.Round, "what", proseLimit(o.redact(said), max(100, s.text/8))))
	}
	return bullets(lines)
}

// PlanningDone is what the issue is closed with: what people said of x, or that
// it ended without them.
func PlanningDone(x feedback.Record, by string, o Options) string {
	l := o.Language
	id := "planning.ended"
	switch {
	case by == "":
	case x.Status == feedback.Failed || x.Status == feedback.Rejected:
		id = "planning.declined"
	case x.Message.Type.Asks() == feedback.Reply:
		id = "planning.answered"
	default:
		id = "planning.planned"
	}
	return l.say(id, "who", code("@"+o.redact(by)), "from", code(o.redact(x.Message.From)), "id", code(x.ID))
}
