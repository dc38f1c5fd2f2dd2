package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// The issue in which a plan of ports is shown. Titles, reasons and ids come from
// outside and are hostile.

// PlanTitle returns the title of the issue: plain text on one line.
func PlanTitle(name string, o Options) string {
	return cut(strings.ReplaceAll(o.Language.say("plan.title", "name", line(o.redact(name), 120)), "@", "＠"), 200)
}

// PlanProgress says in a line how far a plan is: plain text.
func PlanProgress(b plan.Board, o Options) string {
	out := o.Language.say("plan.counts", "passed", b.Counts[plan.IsPassed], "all", len(b.Rows))
	for _, st := range []plan.Standing{plan.IsRunning, plan.IsEscalated, plan.IsFailed, plan.IsPaused} {
		if n := b.Counts[st]; n > 0 {
			out += fmt.Sprintf(" · %d %s", n, o.Language.say("plan."+string(st)))
		}
	}
	return out
}

// PlanBody returns the issue without its marker: how many have passed, a row for
// each port, and the graph. Where it would grow beyond o.Limit, rows of ports
// that need nobody are left out first.
func PlanBody(name string, b plan.Board, o Options) string {
	graph := o.graph(b)
	for most := len(b.Rows); ; most /= 2 {
		body := o.planHead(name, b) + o.planTable(b, most) + graph
		if len(body) <= o.limit() || most == 0 {
			return body
		}
	}
}

func (o Options) planHead(name string, b plan.Board) string {
	l := o.Language
	var s strings.Builder
	build := code(o.redact(b.Build.ID))
	fmt.Fprintf(&s, "## %s\n\n", l.say("plan.head", "name", code(o.redact(name))))
	fmt.Fprintf(&s, "%s %s", l.say("plan.counts", "passed", b.Counts[plan.IsPassed], "all", len(b.Rows)),
		l.say("plan.build", "build", link(build, o.address(b.Build.URL)), "round", b.Build.Rounds))
	switch done, passed := b.Done(); {
	case passed:
		s.WriteString(" " + l.say("plan.done"))
	case done:
		s.WriteString(" " + l.say("plan.stuck"))
	}
	var counts []string
	for _, st := range plan.Standings {
		if n := b.Counts[st]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d %s", signs[st], n, l.say("plan."+string(st))))
		}
	}
	return s.String() + "\n\n" + strings.Join(counts, " · ") + "\n"
}

var signs = map[plan.Standing]string{plan.IsPending: "⏳", plan.IsReady: "🟡", plan.IsRunning: "🔵", plan.IsPassed: "✅",
	plan.IsFailed: "❌", plan.IsEscalated: "🙋", plan.IsBlocked: "⛔", plan.IsPaused: "🔁", plan.IsHeld: "⏸️"}

// planTable shows at most so many ports, those that somebody has to look at
// before the others, all in the order of the plan.
func (o Options) planTable(b plan.Board, most int) string {
	l := o.Language
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
	var s strings.Builder
	fmt.Fprintf(&s, "\n| %s | %s | %s | %s | %s |\n|---|---|--:|--:|---|\n", l.say("plan.port"), l.say("plan.status"), l.say("plan.turns"), l.say("plan.time"), l.say("plan.what"))
	for i, r := range b.Rows {
		if show[i] {
			s.WriteString(o.planRow(r))
		}
	}
	if n := len(b.Rows) - most; n > 0 {
		s.WriteString("\n" + l.count("plan.more", n) + "\n")
	}
	return s.String()
}

func (o Options) planRow(r plan.Row) string {
	l := o.Language
	name, turns, took := code(r.ID), "", ""
	if t := strings.TrimSpace(r.Title); t != "" {
		name += " " + proseLimit(o.redact(t), 100)
	}
	if r.Turns > 0 {
		turns = strconv.Itoa(r.Turns)
	}
	if r.Seconds > 0 {
		took = time.Duration(r.Seconds * float64(time.Second)).Round(time.Second).String()
	}
	var what []string
	if len(r.By) > 0 {
		what = append(what, l.say("plan.waits", "ports", codes(r.By, 5)))
	}
	what = append(what, o.edges(r)...)
	if r.Reason != "" && r.Standing != plan.IsPaused {
		what = append(what, proseLimit(o.redact(r.Reason), 200))
	}
	if a := r.Decided; a != nil {
		what = append(what, l.say("port.decidedby", "what", l.say("port."+string(a.Action)), "who", code("@"+o.redact(a.By))))
	}
	if r.Issue > 0 {
		issue := fmt.Sprintf("#%d", r.Issue)
		what = append(what, link(issue, o.address(fmt.Sprintf("%s/%s/issues/%d", o.server(), o.Repo, r.Issue))))
	}
	if u := o.address(r.URL); u != "" {
		what = append(what, link(l.say("plan.run"), u))
	}
	return fmt.Sprintf("| %s | %s %s | %s | %s | %s |\n", cell(name), signs[r.Standing], l.say("plan."+string(r.Standing)), turns, took, cell(strings.Join(what, ", ")))
}

// mostShown is how many feedbacks are told of one port.
const mostShown = 3

// edges says what feedback a port waits for, or what it runs for.
func (o Options) edges(r plan.Row) []string {
	l := o.Language
	var out []string
	switch r.Standing {
	case plan.IsPaused:
		for _, x := range r.Waits[:min(mostShown, len(r.Waits))] {
			if x.To == feedback.DefaultRoot {
				out = append(out, l.say("plan.replan", "id", x.ID, "from", code(x.From), "type", string(x.Type), "text", proseLimit(o.redact(x.Text), 200)))
				continue
			}
			out = append(out, l.say("plan.edge", "id", x.ID, "from", code(x.From), "to", code(x.To), "type", string(x.Type), "round", x.Round, "of", feedback.MaxRounds))
		}
	case plan.IsRunning, plan.IsReady:
		for _, x := range r.For[:min(mostShown, len(r.For))] {
			if x.From == r.ID {
				out = append(out, l.say("plan.verifies", "id", x.ID))
				continue
			}
			out = append(out, l.say("plan.for", "id", x.ID, "from", code(x.From)))
		}
	}
	return out
}

func codes(ids []string, most int) string {
	var out []string
	for _, id := range ids[:min(most, len(ids))] {
		out = append(out, code(id))
	}
	if len(ids) > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// Beyond these GitHub draws no picture, or one that nobody can read.
const (
	mostNodes = 150
	mostEdges = 400
)

// colours are those of GitHub's own states: fill and text.
var colours = map[plan.Standing][2]string{
	plan.IsPassed: {"#1a7f37", "#ffffff"}, plan.IsRunning: {"#0969da", "#ffffff"}, plan.IsReady: {"#bf8700", "#ffffff"}, plan.IsPending: {"#eaeef2", "#1f2328"},
	plan.IsPaused: {"#bf3989", "#ffffff"}, plan.IsEscalated: {"#8250df", "#ffffff"}, plan.IsFailed: {"#cf222e", "#ffffff"}, plan.IsBlocked: {"#6e7781", "#ffffff"}, plan.IsHeld: {"#afb8c1", "#1f2328"},
}

// graph is the plan as a picture. An id of a port holds nothing that Mermaid or
// Markdown reads anything into; nodes have numbers, as some words are Mermaid's.
func (o Options) graph(b plan.Board) string {
	edges := 0
	at := make(map[string]int, len(b.Rows))
	for i, r := range b.Rows {
		edges += len(r.DependsOn)
		at[r.ID] = i
	}
	if len(b.Rows) > mostNodes || edges > mostEdges {
		return "\n" + o.Language.say("plan.large") + "\n"
	}
	var s strings.Builder
	s.WriteString("\n```mermaid\ngraph LR\n")
	for i, r := range b.Rows {
		fmt.Fprintf(&s, "  p%d[\"%s\"]:::%s\n", i, r.ID, r.Standing)
	}
	for i, r := range b.Rows {
		for _, d := range r.DependsOn {
			fmt.Fprintf(&s, "  p%d --> p%d\n", at[d], i)
		}
	}
	for i, r := range b.Rows {
		for _, x := range r.Waits {
			if to, ok := at[x.To]; ok && x.From == r.ID {
				fmt.Fprintf(&s, "  p%d -. %s .-> p%d\n", i, x.ID, to)
			}
		}
	}
	for _, st := range plan.Standings {
		if slices.ContainsFunc(b.Rows, func(r plan.Row) bool { return r.Standing == st }) {
			fmt.Fprintf(&s, "  classDef %s fill:%s,color:%s\n", st, colours[st][0], colours[st][1])
		}
	}
	s.WriteString("```\n")
	return s.String()
}
