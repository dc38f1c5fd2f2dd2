package render

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// Feedback returns feedback.md of one failing iteration of the streak, 1 for
// the first: what a worker is given to rework from. It is "" for an iteration
// that passed or is not there.
func Feedback(c routing.Case, checkpoint string, iteration int, o Options) markdown.Text {
	i := turnOf(c.Checkpoints[checkpoint].Story(), iteration)
	if i < 0 {
		return ""
	}
	v := feedbackView{commentView{lookAt(c, checkpoint, i, o)}}
	return fit(o.MaxBytes(), func(d detail) md { return pages.Print(v.lang, "feedback", v.feedback(d)) },
		func() md { return pages.Print(v.lang, "cut", cutPage{Head: "# " + v.head()}) })
}

// FeedbackPath is where feedback.md of an iteration is kept within an artifact.
// Case and checkpoint are made safe as names of folders.
func FeedbackPath(caseKey, checkpoint string, iteration int) string {
	return fmt.Sprintf("%s/%s/iterations/%d/feedback.md", folder(caseKey), folder(checkpoint), iteration)
}

// folder makes one folder's name of a key: what an artifact's path may not
// hold is percent-encoded.
func folder(s string) string {
	s = strings.NewReplacer("/", "%2F", ":", "%3A", "#", "%23").Replace(marker.Escape(s))
	if strings.Trim(s, ".") == "" {
		return strings.ReplaceAll(s, ".", "%2E") + "_"
	}
	return s
}

// turnOf finds the turn that returned for a fix rework n, or where n was not handed
// back the nth run; -1 if it passed or is not there.
func turnOf(story []routing.Attempt, n int) int {
	for i, t := range story {
		if t.Kind == routing.KindRetry && t.Iteration == n {
			return i
		}
	}
	if n < 1 || n > len(story) || story[n-1].Kind == routing.KindPass {
		return -1
	}
	return n - 1
}

// feedbackView writes what a worker is given.
type feedbackView struct{ commentView }

// feedbackContent is what the template of feedback.md prints.
type feedbackContent struct {
	content
	Counts       routing.Counts
	Suggestions  []md
	EarlierAsked []earlierTurn
}

// earlierTurn is what an earlier turn asked for.
type earlierTurn struct {
	N        int
	Result   md
	Failures []struct{ Name, Asked md }
	Reason   md // where it named no failure
}

func (v feedbackView) feedback(d detail) feedbackContent {
	all := d
	all.open, all.packetBytes = all.full, 0
	p := feedbackContent{
		content: content{
			Head: v.lang.Say("fb.title", "cp", markdown.Code(v.name), "n", v.turn.Iteration, "max", v.max), What: outcomeView{v.view}.what(), Excused: v.excusedText(),
			Since: v.since(20), History: v.history(v.story, d.rows), failures: newFailures(v.view, all),
		},
		Counts: shown(v.turn.Verdict.Counts), Suggestions: v.suggestions(d.full + 10), EarlierAsked: v.earlier(d),
	}
	if v.turn.Kind.Escalates() {
		p.Head = v.head()
	}
	if v.turn.Phase != "" {
		p.Ask = v.lang.Say("ask.target", "phase", v.phase())
	}
	if len(p.Suggestions) == 0 {
		p.Suggestions = []md{v.lang.Say("fb.look")}
	}
	v.foot(&p.content, all)
	return p
}

// suggestions lists what to do, each thing once.
func (v feedbackView) suggestions(n int) []md {
	seen := map[string]bool{}
	var out []md
	for _, f := range decisiveFirst(v.turn.Verdict.Failures) {
		if f.Suggestion == "" || seen[f.Suggestion] || len(out) == n {
			continue
		}
		seen[f.Suggestion] = true
		s := markdown.Prose(inLanguage(v.lang, f.Suggestion))
		if w := v.place(f); w != "" {
			s += " (" + w + ")"
		}
		out = append(out, s)
	}
	return out
}

// earlier says of each earlier turn what was asked for.
func (v feedbackView) earlier(d detail) []earlierTurn {
	var out []earlierTurn
	for i, t := range v.story[:len(v.story)-1] {
		e := earlierTurn{N: i + 1, Result: v.lang.Say("kind." + string(t.Kind))}
		fs := decisiveFirst(t.Verdict.Failures)
		for _, f := range fs[:min(len(fs), 3)] {
			e.Failures = append(e.Failures, struct{ Name, Asked md }{markdown.Code(escalation.Name(f)), markdown.ProseLimit(orElse(f.Suggestion, f.Message), min(300, d.text))})
		}
		if len(fs) == 0 {
			e.Reason = markdown.ProseLimit(orElse(t.Verdict.Reason, t.Reason), 300)
		}
		out = append(out, e)
	}
	return out[max(0, len(out)-d.rows):]
}
