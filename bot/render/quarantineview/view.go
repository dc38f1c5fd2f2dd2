// Package quarantineview writes the issue of a flaky test, and the comments below it. The names of
// tests and files come from runs and are hostile.
package quarantineview

import (
	"embed"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

//go:embed templates/*.md.tmpl
var files embed.FS

var pages = page.New(files, "templates/*.md.tmpl")

type md = markdown.Text

// The ids of the boxes.
const (
	BoxQuarantine = "quarantine"
	BoxFix        = "fix"
	BoxRelease    = "release"
)

// Boxes lists the ids of the boxes in their order.
var Boxes = []string{BoxQuarantine, BoxFix, BoxRelease}

// Title returns the title of the issue: plain text on one line.
func Title(e quarantine.Entry, o render.Options) string {
	return render.Title(o.Language.Plain("quarantine.title", "test", markdown.Line(o.Redacted(e.Title()), 160)))
}

// Nonce names the boxes of an entry.
func Nonce(e quarantine.Entry) string { return answers.Nonce(e.ID, e.Asked.UTC().Format(time.RFC3339)) }

type evidence struct{ Case, Commit, Failed, Passed, When md }

type content struct {
	State, Fixer, Test, Checkpoint, File, Owner, Head md
	Evidence                                          []evidence
	Boxes                                             []md
}

// Body returns the issue, without its marker: how far the test is, whose it is, the evidence, and the
// boxes while there is something to decide. Days are how long a quarantine that is ticked lasts.
func Body(e quarantine.Entry, days int, o render.Options) markdown.Text {
	l := o.Language
	c := content{
		State: state(e, o), Test: render.Cell(e.Title(), 300, o), Checkpoint: render.Cell(e.Checkpoint, 120, o), Owner: owners(e, o),
	}
	if e.Fixer != "" && e.Open() {
		c.Fixer = l.Say("quarantine.fixer", "who", markdown.Code(o.Redacted(e.Fixer)))
	}
	if e.File != "" {
		c.File = render.Cell(e.File, 300, o)
	}
	for _, x := range e.Evidence {
		c.Evidence = append(c.Evidence, evidence{
			Case: render.CaseCell(x.Case, o), Commit: render.Cell(short(x.Failed.SHA), 20, o), Failed: render.RunCell(x.Failed, o), Passed: render.RunCell(x.Passed, o), When: render.Minute(x.At),
		})
	}
	if e.Open() {
		c.Head = md(answers.Head(Nonce(e), e.Gen, ""))
		for _, id := range Boxes {
			c.Boxes = append(c.Boxes, md(answers.Line(id, string(l.Say("quarantine.box."+id, "n", days)), false)))
		}
		c.Boxes = append(c.Boxes, md(answers.Line(answers.Submit, string(l.Say("box.submit")), false)))
	}
	return pages.Print(l, "quarantine", c) + "\n"
}

func state(e quarantine.Entry, o render.Options) md {
	switch e.Standing {
	case quarantine.ProposedTest:
		return o.Language.Count("quarantine.state.proposed", max(1, e.PullRequests()))
	case quarantine.Seen:
		return ""
	}
	return o.Language.Say("quarantine.state."+string(e.Standing), "until", render.Minute(e.Until), "who", render.Who(e.By, o))
}

// owners mentions the owners of the test: nobody else is mentioned in the issue.
func owners(e quarantine.Entry, o render.Options) md {
	o.Mention = strings.Join(e.Owners, " ")
	return md(o.Mentions())
}

// Kept returns a body with the boxes ticked that are ticked in the live one, unless those were
// submitted.
func Kept(body markdown.Text, live string) markdown.Text {
	boxes, _ := answers.Parse(live)
	if boxes.Submitted() {
		return body
	}
	return md(answers.Keep(string(body), boxes.Ticked))
}

// Unsubmitted returns the live body without the tick of Submit.
func Unsubmitted(live string) markdown.Text { return md(answers.Untick(live, answers.Submit)) }

// Undone returns the live body without a change of its boxes.
func Undone(live string, c answers.Change) markdown.Text { return md(answers.Undo(live, c)) }

// Note returns a comment.
func Note(e quarantine.Entry, n quarantine.Note, o render.Options) markdown.Text {
	id := "quarantine.note." + string(n.Kind)
	if n.Kind == quarantine.NoteFixing && e.File == "" {
		id += ".nofile"
	}
	text := o.Language.Say(id, "who", render.Who(n.By, o), "test", render.Cell(e.Title(), 300, o), "file", render.Cell(e.File, 300, o), "until", render.Minute(n.Until), "n", n.Passes)
	switch n.Kind {
	case quarantine.NoteFixing, quarantine.NoteReminder, quarantine.NoteExpired, quarantine.NotePassing:
		o.Mention = strings.TrimSpace(strings.Join(e.Owners, " ") + " " + o.Mention)
		return markdown.Sentences(md(o.Mentions()), text)
	}
	return text
}

// Refused says why an answer was not carried out.
func Refused(err error, o render.Options) markdown.Text {
	return render.NotDone(answers.Prefix+" quarantine", err, o)
}

// Settled says that there is nothing to decide.
func Settled(o render.Options) markdown.Text { return o.Language.Say("quarantine.settled") }

// Changed says that an answer was given to an older state of the issue.
func Changed(o render.Options) markdown.Text { return o.Language.Say("quarantine.changed") }

// Several says that not exactly one answer was ticked.
func Several(o render.Options) markdown.Text { return o.Language.Say("quarantine.one") }

func short(sha string) string { return sha[:min(len(sha), 7)] }
