// Package incidentview writes the issue of an incident, and the comments below it. Names of hosts,
// tests and branches come from runs and are hostile.
package incidentview

import (
	"embed"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing/incident"
)

//go:embed templates/*.md.tmpl
var files embed.FS

var pages = page.New(files, "templates/*.md.tmpl")

type md = markdown.Text

// How many members and causes the issue lists at most.
const (
	mostMembers = 100
	mostCauses  = 20
)

// Title returns the title of the issue: plain text on one line.
func Title(i incident.Incident, o render.Options) string {
	return render.Title(o.Language.Plain("incident.title", "cause", markdown.Line(o.Redacted(i.What()), 160)))
}

type member struct{ Case, Checkpoint, Run, State md }

type content struct {
	Mention, State, Kind, Red, More, How md
	Causes                               []md
	Members                              []member
}

// forMarker is what the marker of the issue needs.
const forMarker = 500

// Body returns the issue, without its marker: how far the incident is, its causes, the cases that it
// holds, as many as fit, and how it ends.
func Body(i incident.Incident, o render.Options) markdown.Text {
	for most := mostMembers; ; most /= 2 {
		if text := body(i, most, o); len(text) <= o.MaxBytes()-forMarker || most == 0 {
			return text
		}
	}
}

// body is Body with a number of members.
func body(i incident.Incident, most int, o render.Options) markdown.Text {
	l := o.Language
	c := content{
		Mention: md(o.Mentions()), Kind: l.Say("incident.kind." + string(i.Kind())),
		State: l.Say("incident.state."+string(i.Standing), "since", render.Minute(i.OpenedAt), "resolved", render.Minute(i.ResolvedAt), "who", render.Who(i.By, o)),
	}
	for _, k := range i.Causes[:min(len(i.Causes), mostCauses)] {
		c.Causes = append(c.Causes, render.Cell(k.Text(), 300, o))
	}
	if n := len(i.Causes) - mostCauses; n > 0 {
		c.Causes = append(c.Causes, l.Say("incident.more", "n", n))
	}
	var red []md
	for _, r := range i.Red[:min(len(i.Red), mostCauses)] {
		red = append(red, render.RunCell(r, o))
	}
	c.Red = markdown.Join(red, ", ")
	for n, m := range i.Members {
		if n == most {
			c.More = l.Say("incident.more", "n", len(i.Members)-n)
			break
		}
		c.Members = append(c.Members, member{Case: render.CaseCell(m.Case, o), Checkpoint: render.Cell(m.Checkpoint, 120, o), Run: render.RunCell(m.Run, o), State: state(m, o)})
	}
	if i.Standing == incident.Open {
		c.How = l.Say("incident.how." + string(i.Kind()))
	}
	return pages.Print(l, "incident", c) + "\n"
}

func state(m incident.Member, o render.Options) md {
	switch {
	case m.Left != "":
		return o.Language.Say("incident.member." + string(m.Left))
	case m.Restarted.IsZero():
		return o.Language.Say("incident.member.waiting")
	}
	return o.Language.Say("incident.member.restarted", "at", render.Minute(m.Restarted))
}

// Note returns a comment.
func Note(n incident.Note, o render.Options) markdown.Text {
	id := "incident.note." + string(n.Kind)
	if n.By == "" && (n.Kind == incident.NoteResolved || n.Kind == incident.NoteReopened) {
		id += ".run"
	}
	return o.Language.Say(id, "who", render.Who(n.By, o))
}
