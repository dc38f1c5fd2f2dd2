package render

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// Feedback returns feedback.md of one failing iteration of the streak, 1 for
// the first: what a worker is given to rework from. It is "" for an iteration
// that passed or is not there.
func Feedback(c routing.Case, checkpoint string, iteration int, o Options) string {
	i := turnOf(c.Checkpoints[checkpoint].Story(), iteration)
	if i < 0 {
		return ""
	}
	v := lookAt(c, checkpoint, i, o)
	return fit(o.limit(), func(d detail) string { return v.feedback(d).print(v.lang, "feedback") },
		func() string { return "# " + v.head() + "\n\n" + v.lang.say("note.cut", "what", v.lang.say("cut.all")) })
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
func turnOf(story []routing.Turn, n int) int {
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

func (v view) feedback(d detail) page {
	p := page{Head: v.lang.say("fb.title", "cp", code(v.name), "n", v.turn.Iteration, "max", v.max), What: v.what(), Excused: v.excusedText()}
	if v.turn.Kind.Escalates() {
		p.Head = v.head()
	}
	if v.turn.Phase != "" {
		p.Ask = v.lang.say("ask.target", "phase", v.phase())
	}
	p.Facts = v.counts()
	p.Since = orElse(v.since(20), v.lang.say("first.streak"))
	d.open = d.full
	v.failures(&p, d)
	p.Suggestions = numbered(v.suggestions(d.full+10), v.lang.say("fb.look"))
	p.History = v.history(v.story, d.rows)
	p.Earlier = orElse(v.earlier(d), v.lang.say("fb.none"))
	v.foot(&p, d)
	return p
}

// suggestions lists what to do, each thing once.
func (v view) suggestions(n int) []string {
	seen := map[string]bool{}
	var out []string
	for _, f := range decisiveFirst(v.turn.Verdict.Failures) {
		if f.Suggestion == "" || seen[f.Suggestion] || len(out) == n {
			continue
		}
		seen[f.Suggestion] = true
		s := prose(f.Suggestion)
		if w := v.place(f); w != "" {
			s += " (" + w + ")"
		}
		out = append(out, s)
	}
	return out
}

// earlier says of each earlier turn what was asked for, and what came of it.
func (v view) earlier(d detail) string {
	var out []string
	for i, t := range v.story[:len(v.story)-1] {
		s := fmt.Sprintf("%d. %s", i+1, v.lang.say("kind."+string(t.Kind)))
		fs := decisiveFirst(t.Verdict.Failures)
		for _, f := range fs[:min(len(fs), 3)] {
			s += fmt.Sprintf("\n   - %s: %s", code(escalation.Name(f)), proseLimit(orElse(f.Suggestion, f.Message), min(300, d.text)))
		}
		if len(fs) == 0 {
			s += "\n   - " + proseLimit(orElse(t.Verdict.Reason, t.Reason), 300)
		}
		out = append(out, s)
	}
	if extra := len(out) - d.rows; extra > 0 {
		out = out[extra:]
	}
	return strings.Join(out, "\n")
}
