package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/survey"
)

// The feedback prompts: the issue, and what is said below it. All texts of a
// result and of an answer come from outside and are hostile.

// language returns the language in which the prompt was opened.
func language(p survey.Prompt) Language { return Language(p.Language) }

// PromptTitle returns the title of the issue: plain text on one line.
func PromptTitle(p survey.Prompt, o Options) string {
	title := language(p).ask("title", "workflow", line(o.redact(p.Result.WorkflowName), 120), "level", p.Result.AutomationLevel)
	return cut(strings.ReplaceAll(title, "@", "＠"), 200)
}

// PromptBody returns the issue that asks, without its marker: the result, the
// review in three items, and Submit. Suggestions are shortened until it fits.
func PromptBody(p survey.Prompt, o Options) string {
	for limit := longestSuggestion; ; limit /= 2 {
		body := promptBody(p, o, limit)
		if len(body) <= o.limit() || limit < 40 {
			return body
		}
	}
}

const longestSuggestion = 1200

func promptBody(p survey.Prompt, o Options, limit int) string {
	l := language(p)
	var b strings.Builder
	resultBlock(&b, p, o)
	fmt.Fprintf(&b, "\n### %s\n\n1. %s\n", l.ask("review"), l.ask("ask.level"))
	for _, c := range survey.Choices {
		fmt.Fprintf(&b, "   %s\n", answers.Line(survey.LevelBox(c), l.ask(string(c)), false))
	}
	fmt.Fprintf(&b, "2. %s\n", suggestionsAsked(p))
	for i, s := range p.Result.Suggestions {
		text := fmt.Sprintf("(%d) %s", i+1, proseLimit(o.redact(s.Text), limit))
		fmt.Fprintf(&b, "   %s\n", answers.Line(survey.SuggestionBox(s), text, false))
	}
	fmt.Fprintf(&b, "3. %s\n\n%s\n\n%s\n\n", l.ask("ask.text"), answers.TextBegin, answers.TextEnd)
	b.WriteString(answers.Line(answers.Submit, l.ask("submit"), false) + "\n\n")
	fmt.Fprintf(&b, "%s\n\n%s\n", l.ask("how", "command", code(exampleCommand(p))), l.ask("until", "deadline", minute(p.Deadline()), "level", p.Result.AutomationLevel))
	return b.String()
}

func suggestionsAsked(p survey.Prompt) string {
	if len(p.Result.Suggestions) == 0 {
		return language(p).ask("ask.none")
	}
	return language(p).ask("ask.accept")
}

func resultBlock(b *strings.Builder, p survey.Prompt, o Options) {
	l := language(p)
	fmt.Fprintf(b, "### %s\n\n", l.ask("result"))
	fmt.Fprintf(b, "- %s: %s\n", l.ask("workflow"), code(o.redact(p.Result.WorkflowName)))
	fmt.Fprintf(b, "- %s: %d\n", l.ask("level"), p.Result.AutomationLevel)
	fmt.Fprintf(b, "- %s: %s\n", l.ask("report"), code(o.redact(p.Result.ReportPath)))
	if p.Result.RunID != "" {
		fmt.Fprintf(b, "- %s: %s\n", l.ask("run"), code(o.redact(p.Result.RunID)))
	}
}

// exampleCommand is an answer to this very prompt.
func exampleCommand(p survey.Prompt) string {
	cmd := answers.Prefix + " " + survey.CommandName + " raise"
	switch n := len(p.Result.Suggestions); {
	case n >= 3:
		cmd += " accept 1,3"
	case n > 0:
		cmd += " accept 1"
	}
	return cmd + " " + language(p).ask("how.remarks")
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }

// PromptDone returns the issue once it is answered or timed out: what was asked,
// what was said, and no boxes to tick.
func PromptDone(p survey.Prompt, o Options) string {
	for limit := longestSuggestion; ; limit /= 2 {
		body := promptDone(p, o, limit)
		if len(body) <= o.limit() || limit < 40 {
			return body
		}
	}
}

func promptDone(p survey.Prompt, o Options, limit int) string {
	l := language(p)
	var b strings.Builder
	if p.Answered != nil {
		fmt.Fprintf(&b, "> %s\n\n", l.ask("answered", "who", responder(p, o), "at", minute(p.ClosedAt)))
	} else {
		fmt.Fprintf(&b, "> %s\n\n", l.ask("timedout", "deadline", minute(p.Deadline())))
	}
	resultBlock(&b, p, o)
	fmt.Fprintf(&b, "\n### %s\n\n1. %s\n", l.ask("review"), l.ask("ask.level"))
	for _, c := range survey.Choices {
		fmt.Fprintf(&b, "   - %s %s\n", sign(p.Answered != nil && p.Answered.Answer.Level == c), l.ask(string(c)))
	}
	fmt.Fprintf(&b, "2. %s\n", suggestionsAsked(p))
	for i, s := range p.Result.Suggestions {
		yes := p.Answered != nil && slices.Contains(p.Answered.Answer.Accepted, s.ID)
		fmt.Fprintf(&b, "   - %s (%d) %s\n", sign(yes), i+1, proseLimit(o.redact(s.Text), limit))
	}
	fmt.Fprintf(&b, "3. %s\n", l.ask("ask.text"))
	if p.Answered != nil && strings.TrimSpace(p.Answered.Answer.FreeText) != "" {
		b.WriteString("\n" + fence("text", wrapLines(o.redact(p.Answered.Answer.FreeText), 100, 300)) + "\n")
	}
	return b.String()
}

func sign(yes bool) string {
	if yes {
		return "☑"
	}
	return "☐"
}

func responder(p survey.Prompt, o Options) string {
	if p.Answered == nil || p.Answered.By == "" {
		return language(p).ask("nobody")
	}
	return code(o.redact(p.Answered.By))
}

// PromptAnswered acknowledges the answer with what was understood, as much of
// it as fits.
func PromptAnswered(p survey.Prompt, o Options) string {
	for part := 1; ; part *= 2 {
		if s := promptAnswered(p, o, part); len(s) <= o.limit() || part > 16 {
			return s
		}
	}
}

// promptAnswered shows one part in so many of what is long.
func promptAnswered(p survey.Prompt, o Options, part int) string {
	l, a := language(p), p.Answered
	var yes, no []string
	for i, s := range p.Result.Suggestions {
		item := fmt.Sprintf("(%d) %s", i+1, proseLimit(o.redact(s.Text), 200/part))
		if slices.Contains(a.Answer.Accepted, s.ID) {
			yes = append(yes, item)
		} else {
			no = append(no, item)
		}
	}
	list := func(items []string) string {
		if len(items) == 0 {
			return l.ask("ack.none")
		}
		return strings.Join(items, "; ")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", l.ask("ack", "who", responder(p, o)))
	fmt.Fprintf(&b, "- %s\n", l.ask("ack.level", "before", p.Result.AutomationLevel, "after", a.Goal.NextAutomationLevel, "choice", l.ask(string(a.Answer.Level))))
	fmt.Fprintf(&b, "- %s\n- %s\n", l.ask("ack.accepted", "list", list(yes)), l.ask("ack.rejected", "list", list(no)))
	if strings.TrimSpace(a.Answer.FreeText) != "" {
		fmt.Fprintf(&b, "\n%s\n\n%s\n", l.ask("ack.text"), fence("text", wrapLines(o.redact(a.Answer.FreeText), 100/part, 300)))
	}
	fmt.Fprintf(&b, "\n%s\n\n%s\n", l.ask("ack.row", "id", code(a.Feedback.ID), "audit", code(p.Audit)), goalBlock(a.Goal, 120/part, o))
	return b.String()
}

func goalBlock(g survey.Goal, lines int, o Options) string {
	return fence("json", wrapLines(o.redact(string(g.JSON())), lines, 400))
}

// PromptReminder returns the n-th reminder.
func PromptReminder(p survey.Prompt, n int, o Options) string {
	l := language(p)
	id := "remind.1"
	if n > 1 {
		id = "remind.2"
	}
	s := l.ask(id) + " " + l.ask("until", "deadline", minute(p.Deadline()), "level", p.Result.AutomationLevel)
	if m := o.mention(); m != "" {
		s = m + " " + s
	}
	return s
}

// PromptTimedOut says that nobody answered, and what follows.
func PromptTimedOut(p survey.Prompt, o Options) string {
	return language(p).ask("expired", "level", p.Result.AutomationLevel) + "\n\n" + goalBlock(*p.Goal, 120, o)
}

// PromptRefused says why nothing was recorded of an answer.
func PromptRefused(p survey.Prompt, err error, o Options) string {
	l := language(p)
	var r *survey.Refused
	if !errors.As(err, &r) {
		return prose(o.redact(err.Error()))
	}
	var words []string
	for _, w := range r.Words[:min(len(r.Words), 10)] {
		words = append(words, code(o.redact(w)))
	}
	return l.ask("refused."+string(r.Why), "words", strings.Join(words, ", "), "most", len(p.Result.Suggestions),
		"command", code(answers.Prefix+" "+survey.CommandName+" raise|lower|keep"))
}

// PromptSecond says that another answer came first.
func PromptSecond(p survey.Prompt, o Options) string {
	return language(p).ask("second", "who", responder(p, o), "at", minute(p.ClosedAt))
}

// PromptLate says that an answer came after the timeout.
func PromptLate(p survey.Prompt, o Options) string {
	return language(p).ask("late", "deadline", minute(p.Deadline()))
}

// PromptRestored says that the text of the issue was put back.
func PromptRestored(p survey.Prompt) string { return language(p).ask("restored") }
