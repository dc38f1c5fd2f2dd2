package planview

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	_ "github.com/switchback-ci/switchback/routing/plan/plancommands" // the boxes of the issues of ports
)

// PortReport is what the escalation issue of a port is about.
type PortReport struct {
	Plan, Port string
	Journal    plan.Journal
	Attempts   []plan.Attempt // that failed, the oldest first
	Record     escalation.Record
}

// PortTitle returns the title of the escalation issue of a port: plain text on one line. key is that
// of the port's stream.
func PortTitle(key string, t escalation.Type, o render.Options) string {
	plan, id, _ := routing.ParsePortKey(key)
	of := o.Language.Plain("port.of", "port", markdown.Line(o.Redacted(id), 80), "plan", markdown.Line(o.Redacted(plan), 80), "type", string(t))
	return render.Title(o.Language.Plain("issue.title") + " — " + of)
}

// shown is how much of a report is shown; it shrinks until the report fits.
type shown struct{ tests, rows, text int }

// portContent is what the template of a port's issue prints.
type portContent struct {
	Mention, Why, Questions, Marker md
	Facts                           []page.Fact
	Attempts                        []attemptRow
	MoreAttempts, MoreFailed        int
	Failed                          []failedTest
	Suggested                       []md
}

type attemptRow struct {
	Pair md
	Turn int
	At   md
	What md
}

type failedTest struct{ Name, Place, Said, Fix md }

// PortBody returns the escalation report of a port, its last line the marker.
func PortBody(r PortReport, o render.Options) markdown.Text {
	p := portContent{Mention: md(o.Mentions()), Why: why(r, o), Facts: portFacts(r, o), Questions: o.Shared.Questions, Marker: md(o.Shared.Marker)}
	for _, t := range r.Record.Suggested {
		p.Suggested = append(p.Suggested, markdown.ProseLimit(o.Redacted(t), 1000))
	}
	for s := (shown{8, 20, 1500}); ; s = (shown{s.tests / 2, s.rows / 2, s.text / 2}) {
		p.Attempts, p.MoreAttempts = attempts(r.Attempts, s, o)
		if loop := r.Journal.Loop; loop != nil && loop.Last != nil {
			p.Failed, p.MoreFailed = failedTests(loop.Last.FailedTests, s, o)
		}
		if body := pages.Print(o.Language, "port", p); len(body) <= o.MaxBytes() || s.rows == 0 {
			return body
		}
	}
}

func why(r PortReport, o render.Options) md {
	attempts := 1
	if r.Journal.Loop != nil {
		attempts = r.Journal.Loop.Attempt
	}
	return o.Language.Say("port.why", "port", markdown.Code(o.Redacted(r.Port)), "attempts", o.Language.Count("plan.attempt", attempts), "reason", markdown.ProseLimit(o.Redacted(r.Record.Description), 600))
}

func portFacts(r PortReport, o render.Options) []page.Fact {
	rec := r.Record
	out := []page.Fact{
		{ID: "port.plan", Value: markdown.Code(o.Redacted(r.Plan))}, {ID: "plan.port", Value: markdown.Code(o.Redacted(r.Port))},
		{ID: "issue.type", Value: markdown.Code(string(rec.Type)) + ", " + o.Language.Say("sev."+string(rec.Severity))},
	}
	if loop := r.Journal.Loop; loop != nil {
		out = append(out, page.Fact{ID: "issue.attempts", Value: md(fmt.Sprintf("%d/%d", min(loop.CurrentTry, loop.MaxRetries), loop.MaxRetries))},
			page.Fact{ID: "plan.time", Value: md(loop.EndedAt.Sub(loop.StartedAt).Round(time.Second).String())})
		if loop.Tokens > 0 {
			out = append(out, page.Fact{ID: "port.tokens", Value: md(strconv.FormatInt(loop.Tokens, 10))})
		}
	}
	if u := o.Address(rec.Host().RunURL); u != "" {
		out = append(out, page.Fact{ID: "port.run", Value: markdown.Link(o.Language.Say("run.link"), u)})
	}
	return out
}

// attempts is the history of attempts, the newest s.rows of it, and how many are left out.
func attempts(all []plan.Attempt, s shown, o render.Options) (out []attemptRow, more int) {
	more = max(0, len(all)-s.rows)
	for _, a := range all[more:] {
		what := markdown.ProseLimit(o.Redacted(a.Reason), 200)
		if len(a.Failed) > 0 {
			names := make([]string, len(a.Failed))
			for i, n := range a.Failed {
				names[i] = markdown.Cut(markdown.Line(o.Redacted(n), 200), 100)
			}
			what = markdown.Codes(names, 3)
		}
		out = append(out, attemptRow{Pair: codeLine(a.Pair, 100, 60, o), Turn: a.Turn, At: md(a.At.UTC().Format("2006-01-02 15:04")), What: what})
	}
	return out, more
}

func codeLine(s string, line, most int, o render.Options) md {
	return markdown.Code(markdown.Cut(markdown.Line(o.Redacted(s), line), most))
}

// failedTests shows the first s.tests of the tests that failed, and how many are left out.
func failedTests(all []plan.FailedTest, s shown, o render.Options) (out []failedTest, more int) {
	l := o.Language
	for _, t := range all[:min(len(all), s.tests)] {
		f := failedTest{Name: codeLine(t.Name, 300, 200, o)}
		if at := t.File; at != "" {
			if t.Line > 0 {
				at += ":" + strconv.Itoa(t.Line)
			}
			f.Place = codeLine(at, 300, 200, o)
		}
		var said []string
		for _, part := range [][2]string{{"port.expected", t.Expected}, {"port.actual", t.Actual}, {"", t.StackTrace}} {
			if v := strings.TrimSpace(part[1]); v != "" {
				if part[0] != "" {
					v = l.Plain(part[0]) + ": " + v
				}
				said = append(said, v)
			}
		}
		if len(said) > 0 {
			f.Said = markdown.Fence("text", markdown.WrapLines(markdown.Cut(o.Redacted(strings.Join(said, "\n")), max(100, s.text)), 30, 300))
		}
		if t.SuggestedFix != "" {
			f.Fix = markdown.ProseLimit(o.Redacted(t.SuggestedFix), 400)
		}
		out = append(out, f)
	}
	return out, max(0, len(all)-s.tests)
}

// PortPassed is what the issue of a port is closed with once that has passed.
func PortPassed(r plan.Row, o render.Options) markdown.Text {
	run := md("")
	if u := o.Address(r.URL); u != "" {
		run = " (" + markdown.Link(o.Language.Say("col.link"), u) + ")"
	}
	return o.Language.Say("port.passed", "port", markdown.Code(o.Redacted(r.ID)), "attempts", o.Language.Count("plan.attempt", max(1, r.Attempts)), "run", run)
}

// PortGone is what it is closed with where the plan has the port no more.
func PortGone(id string, o render.Options) markdown.Text {
	return o.Language.Say("port.gone", "port", markdown.Code(o.Redacted(id)))
}

// PortDecided is what it is closed with once a person has decided.
func PortDecided(id string, a plan.Answer, o render.Options) markdown.Text {
	l := o.Language
	what := l.Say("port." + string(a.Action))
	if a.Action == routing.HumanExtend {
		what = l.Count("port.extend", a.N)
	}
	return l.Say("port.decided", "port", markdown.Code(o.Redacted(id)), "who", markdown.Code("@"+o.Redacted(a.By)), "what", what)
}

// BuildNotStarted says that the next build of a plan could not be started.
func BuildNotStarted(err error, o render.Options) markdown.Text {
	return o.Language.Say("port.notstarted", "why", markdown.Prose(o.Redacted(err.Error())))
}
