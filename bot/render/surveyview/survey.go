// Package surveyview writes the issue of a survey and what is said below it, in the language in which
// the survey was opened. All texts of a result and of an answer come from outside and are hostile.
package surveyview

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/survey"
)

//go:embed templates/*.md.tmpl
var files embed.FS

var pages = page.New(files, "templates/*.md.tmpl")

type md = markdown.Text

// language returns the language in which the survey was opened.
func language(p survey.Survey) render.Language { return render.Language(p.Language) }

// Title returns the title of the issue: plain text on one line.
func Title(p survey.Survey, o render.Options) string {
	return render.Title(language(p).Plain("survey.title", "workflow", markdown.Line(o.Redacted(p.Result.WorkflowName), 120), "level", p.Result.AutomationLevel))
}

// content is what the templates of the issue print, open and closed.
type content struct {
	Workflow, Report, Run      md
	Level                      int
	Levels, Suggestions        []md
	TextBegin, TextEnd, Submit md
	Command, Deadline          md
	Answered                   bool
	Who, At, Remarks           md
}

func newContent(p survey.Survey, o render.Options) content {
	c := content{Workflow: markdown.Code(o.Redacted(p.Result.WorkflowName)), Report: markdown.Code(o.Redacted(p.Result.ReportPath)), Level: p.Result.AutomationLevel, Deadline: render.Minute(p.Deadline())}
	if p.Result.RunID != "" {
		c.Run = markdown.Code(o.Redacted(p.Result.RunID))
	}
	return c
}

const longestSuggestion = 1200

// fit shortens suggestions until the page fits.
func fit(o render.Options, at func(limit int) md) markdown.Text {
	for limit := longestSuggestion; ; limit /= 2 {
		body := at(limit) + "\n"
		if len(body) <= o.MaxBytes() || limit < 40 {
			return body
		}
	}
}

// Body returns the issue that asks, without its marker: the result, the review in three items, and
// Submit. Suggestions are shortened until it fits.
func Body(p survey.Survey, o render.Options) markdown.Text {
	l := language(p)
	c := newContent(p, o)
	c.TextBegin, c.TextEnd = md(answers.TextBegin), md(answers.TextEnd)
	c.Submit = md(answers.Line(answers.Submit, string(l.Say("survey.submit")), false))
	c.Command = markdown.Code(exampleCommand(p))
	for _, choice := range survey.Choices {
		c.Levels = append(c.Levels, md(answers.Line(survey.LevelBox(choice), string(l.Say("survey."+string(choice))), false)))
	}
	return fit(o, func(limit int) md {
		c.Suggestions = nil
		for i, s := range p.Result.Suggestions {
			text := fmt.Sprintf("(%d) %s", i+1, markdown.ProseLimit(o.Redacted(s.Text), limit))
			c.Suggestions = append(c.Suggestions, md(answers.Line(survey.SuggestionBox(s), text, false)))
		}
		return pages.Print(l, "survey", c)
	})
}

// exampleCommand is an answer to this very survey.
func exampleCommand(p survey.Survey) string {
	cmd := answers.Prefix + " " + survey.CommandName + " raise"
	switch n := len(p.Result.Suggestions); {
	case n >= 3:
		cmd += " accept 1,3"
	case n > 0:
		cmd += " accept 1"
	}
	return cmd + " " + language(p).Plain("survey.how.remarks")
}

// Closed returns the issue once it is answered or timed out: what was asked, what was said, and no
// boxes to tick.
func Closed(p survey.Survey, o render.Options) markdown.Text {
	l := language(p)
	c := newContent(p, o)
	var answer survey.Answer
	if p.Answered != nil {
		c.Answered, c.Who, c.At, answer = true, responder(p, o), render.Minute(p.ClosedAt), p.Answered.Answer
		if strings.TrimSpace(answer.FreeText) != "" {
			c.Remarks = markdown.Fence("text", markdown.WrapLines(o.Redacted(answer.FreeText), 100, 300))
		}
	}
	for _, choice := range survey.Choices {
		c.Levels = append(c.Levels, sign(c.Answered && answer.Level == choice)+" "+l.Say("survey."+string(choice)))
	}
	return fit(o, func(limit int) md {
		c.Suggestions = nil
		for i, s := range p.Result.Suggestions {
			yes := slices.Contains(answer.Accepted, s.ID)
			c.Suggestions = append(c.Suggestions, sign(yes)+md(fmt.Sprintf(" (%d) ", i+1))+markdown.ProseLimit(o.Redacted(s.Text), limit))
		}
		return pages.Print(l, "closed survey", c)
	})
}

func sign(yes bool) md {
	if yes {
		return "☑"
	}
	return "☐"
}

func responder(p survey.Survey, o render.Options) md {
	if p.Answered == nil || p.Answered.By == "" {
		return language(p).Say("survey.nobody")
	}
	return markdown.Code(o.Redacted(p.Answered.By))
}

// Acknowledged says what was understood of the answer, as much of it as fits.
func Acknowledged(p survey.Survey, o render.Options) markdown.Text {
	for part := 1; ; part *= 2 {
		if s := acknowledged(p, o, part); len(s) <= o.MaxBytes() || part > 16 {
			return s
		}
	}
}

// acknowledged shows one part in so many of what is long.
func acknowledged(p survey.Survey, o render.Options, part int) markdown.Text {
	l, a := language(p), p.Answered
	var yes, no []md
	for i, s := range p.Result.Suggestions {
		item := md(fmt.Sprintf("(%d) ", i+1)) + markdown.ProseLimit(o.Redacted(s.Text), 200/part)
		if slices.Contains(a.Answer.Accepted, s.ID) {
			yes = append(yes, item)
		} else {
			no = append(no, item)
		}
	}
	list := func(items []md) md {
		if len(items) == 0 {
			return l.Say("survey.ack.none")
		}
		return markdown.Join(items, "; ")
	}
	c := struct {
		Who, Choice, Accepted, Rejected, Remarks, ID, Audit, Goal md
		Before, After                                             int
	}{
		Who: responder(p, o), Choice: l.Say("survey." + string(a.Answer.Level)), Accepted: list(yes), Rejected: list(no),
		ID: markdown.Code(a.Feedback.ID), Audit: markdown.Code(p.Audit), Goal: goalBlock(a.Goal, 120/part, o),
		Before: p.Result.AutomationLevel, After: a.Goal.NextAutomationLevel,
	}
	if strings.TrimSpace(a.Answer.FreeText) != "" {
		c.Remarks = markdown.Fence("text", markdown.WrapLines(o.Redacted(a.Answer.FreeText), 100/part, 300))
	}
	return pages.Print(l, "acknowledgement", c) + "\n"
}

func goalBlock(g survey.Goal, lines int, o render.Options) md {
	return markdown.Fence("json", markdown.WrapLines(o.Redacted(string(g.JSON())), lines, 400))
}

// Reminder returns the n-th reminder.
func Reminder(p survey.Survey, n int, o render.Options) markdown.Text {
	l := language(p)
	id := "survey.remind.1"
	if n > 1 {
		id = "survey.remind.2"
	}
	return markdown.Sentences(md(o.Mentions()), l.Say(id), l.Say("survey.until", "deadline", render.Minute(p.Deadline()), "level", p.Result.AutomationLevel))
}

// TimedOut says that nobody answered, and what follows.
func TimedOut(p survey.Survey, o render.Options) markdown.Text {
	return language(p).Say("survey.expired", "level", p.Result.AutomationLevel) + "\n\n" + goalBlock(*p.Goal, 120, o)
}

// Refused says why nothing was recorded of an answer.
func Refused(p survey.Survey, err error, o render.Options) markdown.Text {
	var r *survey.Refused
	if !errors.As(err, &r) {
		return markdown.Prose(o.Redacted(err.Error()))
	}
	return language(p).Say("survey.refused."+string(r.Why), "words", markdown.Join(words(r, o), ", "), "most", len(p.Result.Suggestions),
		"command", markdown.Code(answers.Prefix+" "+survey.CommandName+" raise|lower|keep"))
}

func words(r *survey.Refused, o render.Options) []md {
	var out []md
	for _, w := range r.Words[:min(len(r.Words), 10)] {
		out = append(out, markdown.Code(o.Redacted(w)))
	}
	return out
}

// Second says that another answer came first.
func Second(p survey.Survey, o render.Options) markdown.Text {
	return language(p).Say("survey.second", "who", responder(p, o), "at", render.Minute(p.ClosedAt))
}

// Late says that an answer came after the timeout.
func Late(p survey.Survey, o render.Options) markdown.Text {
	return language(p).Say("survey.late", "deadline", render.Minute(p.Deadline()))
}

// Restored says that the text of the issue was put back.
func Restored(p survey.Survey) markdown.Text { return language(p).Say("survey.restored") }
