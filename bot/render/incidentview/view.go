// Package incidentview writes the issue of an incident, and the comments below it. Names of hosts,
// tests and branches come from runs and are hostile.
package incidentview

import (
	"embed"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
)

//go:embed templates/*.md.tmpl
var files embed.FS

var pages = page.New(files, "templates/*.md.tmpl")

type md = markdown.Text

// mostMembers is how many members the issue lists.
const mostMembers = 100

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

// Body returns the issue, without its marker: how far the incident is, its causes, the cases that it
// holds, and how it ends.
func Body(i incident.Incident, o render.Options) markdown.Text {
	l := o.Language
	c := content{
		Mention: md(o.Mentions()), Kind: l.Say("incident.kind." + string(i.Kind())),
		State: l.Say("incident.state."+string(i.Standing), "since", minute(i.OpenedAt), "resolved", minute(i.ResolvedAt), "who", who(i.By, o)),
	}
	for _, k := range i.Causes {
		c.Causes = append(c.Causes, cell(k.Text(), 300, o))
	}
	var red []md
	for _, r := range i.Red {
		red = append(red, run(r, o))
	}
	c.Red = markdown.Join(red, ", ")
	for n, m := range i.Members {
		if n == mostMembers {
			c.More = l.Say("incident.more", "n", len(i.Members)-n)
			break
		}
		c.Members = append(c.Members, member{Case: where(m.Case, o), Checkpoint: cell(m.Checkpoint, 120, o), Run: run(m.Run, o), State: state(m, o)})
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
	return o.Language.Say("incident.member.restarted", "at", minute(m.Restarted))
}

// Note returns a comment.
func Note(n incident.Note, o render.Options) markdown.Text {
	id := "incident.note." + string(n.Kind)
	if n.By == "" && (n.Kind == incident.NoteResolved || n.Kind == incident.NoteReopened) {
		id += ".run"
	}
	return o.Language.Say(id, "who", who(n.By, o))
}

func who(login string, o render.Options) md {
	if login == "" {
		return o.Language.Say("act.someone")
	}
	return markdown.Code(o.Redacted(login))
}

// cell is code that does not end the cell of a table.
func cell(s string, most int, o render.Options) md {
	if s == "" {
		return "–"
	}
	return markdown.Code(strings.ReplaceAll(markdown.Cut(o.Redacted(s), most), "|", "¦"))
}

func where(key string, o render.Options) md {
	if i := strings.IndexAny(key, "#@"); i >= 0 {
		if key[i] == '#' {
			return md(key[i:])
		}
		return cell(key[i+1:], 120, o)
	}
	return cell(key, 120, o)
}

func run(r routing.Run, o render.Options) md {
	text := cell(r.ID, 40, o)
	if r.Attempt > 1 {
		text = cell(fmt.Sprintf("%s/%d", r.ID, r.Attempt), 40, o)
	}
	return markdown.Link(text, o.Address(r.URL))
}

func minute(t time.Time) md { return md(t.UTC().Format("2006-01-02 15:04") + " UTC") }
