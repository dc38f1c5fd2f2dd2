package render

import (
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// outcomeView says what came of a run: in a headline, in a sentence, in a title.
type outcomeView struct{ view }

// counted says how much failed, in a few words.
func (v outcomeView) counted() md {
	vd := v.turn.Verdict
	n := escalation.FailedCount(vd)
	switch of := vd.Counts.Tests - vd.Counts.Parents; {
	case n == 0 && vd.Result == routing.TimedOut:
		return v.lang.Say("failed.timeout")
	case n == 0:
		return v.lang.Say("failed.none")
	case vd.Counts.Failed == n && of >= n:
		return v.lang.Count("failed.tests", n, "of", of)
	}
	return v.lang.Count("failed.other", n)
}

// without is the reason of a run that names no failure.
func (v outcomeView) without() md {
	if r := strings.TrimSpace(v.turn.Verdict.Reason); r != "" && len(v.turn.Verdict.Failures) == 0 {
		return markdown.Sentence(reasonText(v.lang, r))
	}
	return ""
}

// what says in one sentence how much failed, and why where no failure is named.
func (v outcomeView) what() md {
	vd := v.turn.Verdict
	if len(vd.Unmet) > 0 && vd.Result == routing.Pass {
		return v.lang.Say("what.unmet", "unmet", markdown.Prose(strings.Join(vd.Unmet, "; ")))
	}
	said := "**" + v.lang.Say("what.at", "what", v.counted(), "sha", v.sha(vd.Run.SHA))
	if why := v.without(); why != "" {
		return said + "**: " + why
	}
	return said + v.lang.Say("what.end") + "**"
}

// headline says in a few plain words why a person is asked.
func (v outcomeView) headline() string {
	what := v.lang.Plain("title.run")
	fs := decisiveFirst(v.turn.Verdict.Failures)
	n := escalation.FailedCount(v.turn.Verdict)
	switch {
	case n == 1 && len(fs) == 1 || n > 0 && len(fs) > 0 && len(causesOf(fs)) == 1 && len(fs) == n:
		what = markdown.Line(escalation.Name(fs[0]), 100)
		if base := baseName(causesOf(fs)[0]); n > 1 && base != "" {
			what = markdown.Line(base, 100)
		} else if n > 1 {
			what = v.lang.Plain("title.tests", "n", n)
		}
	case n > 0:
		what = v.lang.Plain("title.tests", "n", n)
	}
	form := ".many" // of the verb
	if n <= 1 || what != v.lang.Plain("title.tests", "n", n) {
		form = ".one"
	}
	text := what
	switch v.turn.Kind {
	case routing.KindEnv:
		return v.lang.Plain("title.env")
	case routing.KindUnclear:
		return v.lang.Plain("title.unclear")
	case routing.KindSuspect:
		return v.lang.Plain("title.suspect")
	case routing.KindDesign:
		return v.lang.Plain("title.design", "what", what)
	case routing.KindNoAnswer:
		return v.lang.Plain("title.noanswer", "what", what)
	case routing.KindTimeout:
		text = v.lang.Plain("title.timeout")
	case routing.KindNoProgress:
		text = v.lang.Plain("title.same"+form, "what", what)
	default:
		text = v.lang.Plain("title.fails"+form, "what", what)
	}
	switch k := v.turn.Iteration; {
	case k == 1:
		text = v.lang.Plain("title.after.one", "what", text)
	case k > 1:
		text = v.lang.Plain("title.after.many", "what", text, "n", k)
	}
	return text
}
