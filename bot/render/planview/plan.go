// Package planview writes what people read about plans of ports: the issue of a plan, the escalation
// issue of a port, the issue of a feedback request that people are to act on, and replies to commands
// about them. Titles, reasons and ids come from outside and are hostile.
package planview

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

//go:embed templates/*.md.tmpl
var files embed.FS

var pages = page.New(files, "templates/*.md.tmpl")

type md = markdown.Text

// Title returns the title of the issue that shows a plan: plain text on one line.
func Title(name string, o render.Options) string {
	return render.Title(o.Language.Plain("plan.title", "name", markdown.Line(o.Redacted(name), 120)))
}

// Progress says in a line how far a plan is: plain text.
func Progress(b plan.Board, o render.Options) string {
	out := o.Language.Plain("plan.counts", "passed", b.Counts[plan.IsPassed], "all", len(b.Rows))
	for _, st := range []plan.Standing{plan.IsRunning, plan.IsEscalated, plan.IsFailed, plan.IsPaused} {
		if n := b.Counts[st]; n > 0 {
			out += fmt.Sprintf(" · %d %s", n, o.Language.Plain("plan."+string(st)))
		}
	}
	return out
}

// board is what the template of a plan's issue prints.
type board struct {
	Name, Build, Counts md
	Passed, All, Round  int
	AllPassed, Stuck    bool
	Rows                []boardRow
	More                int
	Large               bool
	Graph               md
}

type boardRow struct{ Port, Status, Turns, Took, What md }

// Body returns the issue without its marker: how many ports have passed, a row for each, and the
// graph. Where it would grow beyond the limit of o, rows of ports that need nobody are left out first.
func Body(name string, b plan.Board, o render.Options) markdown.Text {
	done, passed := b.Done()
	p := board{
		Name: markdown.Code(o.Redacted(name)), Build: markdown.Link(markdown.Code(o.Redacted(b.Build.ID)), o.Address(b.Build.URL)),
		Counts: counts(b.Counts, o), Passed: b.Counts[plan.IsPassed], All: len(b.Rows), Round: b.Build.Rounds, AllPassed: passed, Stuck: done,
		Graph: graph(b), Large: large(b),
	}
	for most := len(b.Rows); ; most /= 2 {
		p.Rows, p.More = rows(b, most, o), len(b.Rows)-most
		body := pages.Print(o.Language, "plan", p) + "\n"
		if len(body) <= o.MaxBytes() || most == 0 {
			return body
		}
	}
}

var signs = map[plan.Standing]md{plan.IsPending: "⏳", plan.IsReady: "🟡", plan.IsRunning: "🔵", plan.IsPassed: "✅",
	plan.IsFailed: "❌", plan.IsEscalated: "🙋", plan.IsBlocked: "⛔", plan.IsPaused: "🔁", plan.IsHeld: "⏸️"}

// counts says how many ports there are of each standing.
func counts(all map[plan.Standing]int, o render.Options) md {
	var out []md
	for _, st := range plan.Standings {
		if n := all[st]; n > 0 {
			out = append(out, signs[st]+md(fmt.Sprintf(" %d ", n))+o.Language.Say("plan."+string(st)))
		}
	}
	return markdown.Join(out, " · ")
}

// rows shows at most so many ports, those that somebody has to look at before the others, all in the
// order of the plan.
func rows(b plan.Board, most int, o render.Options) []boardRow {
	show := make([]bool, len(b.Rows))
	left := most
	for _, st := range []plan.Standing{plan.IsEscalated, plan.IsFailed, plan.IsPaused, plan.IsRunning, plan.IsBlocked, plan.IsReady, plan.IsHeld, plan.IsPending, plan.IsPassed} {
		for i, r := range b.Rows {
			if r.Standing == st && left > 0 {
				show[i] = true
				left--
			}
		}
	}
	var out []boardRow
	for i, r := range b.Rows {
		if show[i] {
			out = append(out, newRow(r, o))
		}
	}
	return out
}

func newRow(r plan.Row, o render.Options) boardRow {
	l := o.Language
	out := boardRow{Port: markdown.Code(r.ID), Status: signs[r.Standing] + " " + l.Say("plan."+string(r.Standing))}
	if t := strings.TrimSpace(r.Title); t != "" {
		out.Port += " " + markdown.ProseLimit(o.Redacted(t), 100)
	}
	if r.Attempts > 0 {
		out.Turns = md(strconv.Itoa(r.Attempts))
	}
	if r.Seconds > 0 {
		out.Took = md(time.Duration(r.Seconds * float64(time.Second)).Round(time.Second).String())
	}
	var what []md
	if len(r.By) > 0 {
		what = append(what, l.Say("plan.waits", "ports", markdown.Codes(r.By, 5)))
	}
	what = append(what, requestsOf(r, o)...)
	if r.Reason != "" && r.Standing != plan.IsPaused {
		what = append(what, markdown.ProseLimit(o.Redacted(r.Reason), 200))
	}
	if a := r.Decided; a != nil {
		what = append(what, l.Say("port.decidedby", "what", l.Say("port."+string(a.Action)), "who", markdown.Code("@"+o.Redacted(a.By))))
	}
	if r.Issue > 0 {
		what = append(what, markdown.Link(md(fmt.Sprintf("#%d", r.Issue)), o.Address(fmt.Sprintf("%s/%s/issues/%d", o.Server(), o.Repo, r.Issue))))
	}
	if u := o.Address(r.URL); u != "" {
		what = append(what, markdown.Link(l.Say("plan.run"), u))
	}
	out.What = markdown.Join(what, ", ")
	return out
}

// mostShown is how many feedback requests are shown of one port.
const mostShown = 3

// requestsOf says what feedback a port waits for, or what it runs for.
func requestsOf(r plan.Row, o render.Options) []md {
	l := o.Language
	var out []md
	switch r.Standing {
	case plan.IsPaused:
		for _, x := range r.Waits[:min(mostShown, len(r.Waits))] {
			if x.To == feedback.DefaultRoot {
				out = append(out, l.Say("plan.replan", "id", id(x.ID), "from", markdown.Code(x.From), "type", id(string(x.Type)), "text", markdown.ProseLimit(o.Redacted(x.Text), 200)))
				continue
			}
			out = append(out, l.Say("plan.request", "id", id(x.ID), "from", markdown.Code(x.From), "to", markdown.Code(x.To), "type", id(string(x.Type)), "round", x.Round, "of", feedback.MaxRounds))
		}
	case plan.IsRunning, plan.IsReady:
		for _, x := range r.For[:min(mostShown, len(r.For))] {
			if x.From == r.ID {
				out = append(out, l.Say("plan.verifies", "id", id(x.ID)))
				continue
			}
			out = append(out, l.Say("plan.runsfor", "id", id(x.ID), "from", markdown.Code(x.From)))
		}
	}
	return out
}

// id shows an id that the program made, such as FB-001 or FIX_REQUEST, outside a code span.
func id(s string) md {
	if strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" {
		return md(s)
	}
	return markdown.Code(s)
}

// Beyond these GitHub draws no picture, or one that nobody can read.
const (
	mostNodes = 150
	mostEdges = 400
)

func large(b plan.Board) bool {
	n := 0
	for _, r := range b.Rows {
		n += len(r.DependsOn)
	}
	return len(b.Rows) > mostNodes || n > mostEdges
}

// colours are those of GitHub's own states: fill and text.
var colours = map[plan.Standing][2]string{
	plan.IsPassed: {"#1a7f37", "#ffffff"}, plan.IsRunning: {"#0969da", "#ffffff"}, plan.IsReady: {"#bf8700", "#ffffff"}, plan.IsPending: {"#eaeef2", "#1f2328"},
	plan.IsPaused: {"#bf3989", "#ffffff"}, plan.IsEscalated: {"#8250df", "#ffffff"}, plan.IsFailed: {"#cf222e", "#ffffff"}, plan.IsBlocked: {"#6e7781", "#ffffff"}, plan.IsHeld: {"#afb8c1", "#1f2328"},
}

// graph is the plan as a Mermaid graph. Nodes have numbers, as some words are Mermaid's.
func graph(b plan.Board) md {
	out := []string{"graph LR"}
	add := func(format string, a ...any) { out = append(out, "  "+fmt.Sprintf(format, a...)) }
	at := make(map[string]int, len(b.Rows))
	for i, r := range b.Rows {
		at[r.ID] = i
		add(`p%d["%s"]:::%s`, i, label(r.ID), r.Standing)
	}
	for i, r := range b.Rows {
		for _, d := range r.DependsOn {
			add("p%d --> p%d", at[d], i)
		}
	}
	for i, r := range b.Rows {
		for _, x := range r.Waits {
			if to, ok := at[x.To]; ok && x.From == r.ID {
				add("p%d -. %s .-> p%d", i, label(x.ID), to)
			}
		}
	}
	for _, st := range plan.Standings {
		if slices.ContainsFunc(b.Rows, func(r plan.Row) bool { return r.Standing == st }) {
			add("classDef %s fill:%s,color:%s", st, colours[st][0], colours[st][1])
		}
	}
	return md("```mermaid\n" + strings.Join(out, "\n") + "\n```") // an arrow is "-->", which Fence breaks
}

// label returns id without what Mermaid reads anything into.
func label(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || r == '/' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, markdown.Cut(id, 100))
}

// NotStartedTitle is the title of the check of a commit whose plan was not started.
func NotStartedTitle(o render.Options) string { return o.Language.Plain("plan.notbegun") }

// Invalid says what is wrong with the files of a plan. Messages quote them and are hostile.
func Invalid(name string, all []plan.Problem, o render.Options) markdown.Text {
	type problem struct{ Where, Message md }
	const most = 50
	var shown []problem
	for _, p := range all[:min(most, len(all))] {
		where := p.File
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		shown = append(shown, problem{markdown.Code(o.Redacted(where)), markdown.Prose(o.Redacted(p.Message))})
	}
	return pages.Print(o.Language, "invalid plan", struct {
		Name     md
		Problems []problem
		More     bool
	}{markdown.Code(o.Redacted(name)), shown, len(all) > most}) + "\n"
}

// NeedsRunner says that a plan has workers that are commands, and that the workflow which runs it is
// not known.
func NeedsRunner(name string, o render.Options) markdown.Text {
	return o.Language.Say("plan.norunner", "name", markdown.Code(o.Redacted(name)))
}

// CannotStart says why the workflow that runs a plan could not be started.
func CannotStart(err error, o render.Options) markdown.Text {
	return o.Language.Say("plan.cannot", "why", markdown.Prose(o.Redacted(err.Error())))
}

// Status says how the ports of a plan stand, and what feedback is open.
func Status(name string, r plan.BuildState, open []feedback.Record, o render.Options) markdown.Text {
	l := o.Language
	standings := map[plan.Standing]int{}
	for _, k := range r.Ports {
		standings[k.Standing]++
	}
	p := struct {
		Name, Counts    md
		Ports, Requests []md
	}{Name: markdown.Code(o.Redacted(name)), Counts: counts(standings, o)}
	if p.Counts == "" {
		p.Counts = "–"
	}
	for _, id := range slices.Sorted(maps.Keys(r.Ports)) {
		if k := r.Ports[id]; (k.Standing == plan.IsEscalated || k.Standing == plan.IsFailed || k.Standing == plan.IsRunning) && len(p.Ports) < 39 {
			p.Ports = append(p.Ports, l.Say("planstatus.port", "port", markdown.Code(o.Redacted(id)), "state", l.Say("plan."+string(k.Standing)), "attempts", l.Count("plan.attempt", k.Attempts)))
		}
	}
	for _, x := range open[:min(len(open), 40)] {
		p.Requests = append(p.Requests, l.Say("planstatus.request", "id", markdown.Code(x.ID), "from", markdown.Code(o.Redacted(x.Message.From)), "to", markdown.Code(o.Redacted(x.Message.To)), "type", markdown.Code(string(x.Message.Type)), "status", markdown.Code(string(x.Status))))
	}
	return pages.Print(l, "plan status", p)
}
