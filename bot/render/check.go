package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Limits of a check run, in bytes.
const (
	checkSummaryLimit = 60_000
	MaxAnnotations    = 50 // more than these make the page of the changes slow
)

// CheckRun is what the check of a commit shows.
type CheckRun struct {
	Title       string // plain text
	Summary     md
	Conclusion  string // success, failure, neutral, action_required
	Annotations []Annotation
}

// Annotation is a failure at a line of a file. Its texts are plain, not Markdown.
type Annotation struct {
	Path    string
	Line    int
	Level   string // failure, warning
	Title   string
	Message string
	Raw     string // details, "" for none
}

// Check returns the check run of commit sha of a checkpoint: what was decided
// on its newest run of that commit. "" is the commit of the newest turn.
func Check(c routing.Case, checkpoint, sha string, o Options) CheckRun {
	cp := c.Checkpoints[checkpoint]
	story := cp.Story()
	for i := len(story) - 1; i >= 0; i-- {
		if sha == "" || story[i].Verdict.Run.SHA == sha {
			return checkView{commentView{lookAt(c, checkpoint, i, o)}}.check(i == len(story)-1)
		}
	}
	return undecided(cp, sha, o)
}

// checkView writes the check run of a commit.
type checkView struct{ commentView }

func (v checkView) check(newest bool) CheckRun {
	r := CheckRun{Conclusion: v.conclusion(), Title: v.title()}
	if newest {
		v.answered(&r)
	}
	if n := len(v.excused); n > 0 {
		r.Title = v.lang.Plain("check.excused", "title", r.Title, "n", n)
	}
	v.o.Mention = "" // a check tells nobody
	r.Summary = fit(min(v.o.MaxBytes(), checkSummaryLimit), func(d detail) md {
		d.packet, d.packetText = 0, 0
		p := v.comment(d)
		p.Packet, p.cutPacket = "", 0
		p.Notes = v.notes(p)
		if !newest {
			p.State, p.Acts = "", ""
		}
		return md(strings.TrimSpace(string(pages.Print(v.lang, "comment", p))))
	}, func() md { return v.lang.Say("note.cut", "what", v.lang.Say("cut.all")) })
	if v.turn.Kind != routing.KindPass {
		r.Annotations = annotations(v.turn.Verdict.Failures)
	}
	return r
}

// answered brings the check of an escalation to what a person decided on it.
func (v checkView) answered(r *CheckRun) {
	switch {
	case !v.turn.Kind.Escalates():
	case v.cp.WontFix != nil:
		r.Conclusion, r.Title = "failure", v.lang.Plain("check.wontfix", "kind", v.stopped(v.turn.Kind))
	case v.cp.Skipped && v.onMax() != routing.OnMaxSkip:
		r.Conclusion, r.Title = "neutral", v.lang.Plain("check.skipped")
	case resumed(v.view):
		r.Conclusion, r.Title = "failure", v.lang.Plain("check.resumed")
	}
}

// conclusion is what the check ends with: an escalation asks for action, unless
// the policy lets the checkpoint fail for good or be skipped.
func (v checkView) conclusion() string {
	switch k := v.turn.Kind; {
	case k == routing.KindPass:
		return "success"
	case k == routing.KindRerun, k == routing.KindIncident:
		return "neutral"
	case k == routing.KindPreExisting:
		return orElse(v.decision().Check, "neutral")
	case k.Escalates() && v.onMax() == routing.OnMaxSkip:
		return "neutral"
	case k.Escalates() && v.onMax() == routing.OnMaxError:
		return "failure"
	case k.Escalates():
		return "action_required"
	}
	return "failure"
}

func (v checkView) title() string {
	n := escalation.FailedCount(v.turn.Verdict)
	switch k := v.turn.Kind; {
	case k == routing.KindPass && v.turn.Iteration > 0:
		return v.lang.Plain("check.passafter", "n", v.turn.Iteration)
	case k == routing.KindPass:
		return v.lang.Plain("check.pass")
	case k == routing.KindRerun:
		return v.lang.Plain("check.rerun", "n", n)
	case k == routing.KindIncident:
		return v.lang.Plain("check.incident", "incident", incidentView{v.view}.plain())
	case k == routing.KindPreExisting:
		return v.lang.Plain("check.base", "n", len(v.old), "base", baseView{v.view}.name())
	case k == routing.KindInteraction:
		return v.lang.Plain("check.interaction", "what", v.lang.Plain("check.failures", "n", n))
	case k == routing.KindGroupFailed:
		return v.lang.Plain("check.group", "what", v.lang.Plain("check.failures", "n", n))
	case k == routing.KindSuspect:
		return v.lang.Plain("check.suspect", "n", len(v.decision().Suspect))
	case k.Escalates():
		return v.lang.Plain("check.stop", "kind", v.stopped(v.turn.Kind))
	}
	return v.lang.Plain("check.retry", "n", v.turn.Iteration, "max", v.max, "what", v.lang.Plain("check.failures", "n", n))
}

// undecided is the check of a commit on which nothing was decided: a person is
// awaited, a run of it failed, or it is neutral.
func undecided(cp routing.Checkpoint, sha string, o Options) CheckRun {
	r := CheckRun{Title: o.Language.Plain("check.none"), Conclusion: "neutral"}
	reason := ""
	for _, key := range slices.Sorted(maps.Keys(cp.Runs)) {
		rs := cp.Runs[key]
		for _, part := range slices.Sorted(maps.Keys(rs.Parts)) {
			p := rs.Parts[part]
			if p.Run.SHA != sha {
				continue
			}
			reason = rs.Decision.Reason
			if p.Result == routing.Awaiting {
				r.Title = o.Language.Plain("check.awaiting")
			}
			if rs.Decision.Rule == routing.RuleReportsUnmatched {
				r.Conclusion, r.Title = "action_required", o.Language.Plain("check.unmatched")
			}
			if p.Result == routing.Fail || p.Result == routing.TimedOut {
				r.Conclusion = "failure"
				r.Annotations = append(r.Annotations, annotations(o.verdict(p).Failures)...)
			}
		}
	}
	if cp.Skipped {
		r.Conclusion = "neutral"
	}
	r.Annotations = r.Annotations[:min(len(r.Annotations), MaxAnnotations)]
	if cp.Escalation != nil && !cp.Skipped {
		v := commentView{view{lang: o.Language}}
		r.Conclusion, r.Title = "action_required", o.Language.Plain("check.stop", "kind", v.stopped(cp.Escalation.Kind))
		if cp.WontFix != nil {
			r.Conclusion, r.Title = "failure", o.Language.Plain("check.wontfix", "kind", v.stopped(cp.Escalation.Kind))
		}
	}
	r.Summary = markdown.Prose(o.Redacted(orElse(reason, o.Language.Plain("none.empty"))))
	return r
}

// annotations returns those failures that have a place in the repository, one
// for each place and name.
func annotations(fs []routing.Failure) []Annotation {
	type place struct {
		file, name string
		line       int
	}
	seen := map[place]bool{}
	var out []Annotation
	for _, f := range decisiveFirst(fs) {
		at := place{f.File, f.Name, f.Line}
		if f.Line <= 0 || !relative(f.File) || seen[at] || len(out) == MaxAnnotations {
			continue
		}
		seen[at] = true
		a := Annotation{Path: f.File, Line: f.Line, Level: "failure", Title: markdown.Line(escalation.Name(f), 200), Message: annotationText(f), Raw: markdown.CutMiddle(markdown.Clean(f.Trace), 4000)}
		if f.Flaky || f.Class == routing.Flaky {
			a.Level = "warning"
		}
		out = append(out, a)
	}
	return out
}

func annotationText(f routing.Failure) string {
	var parts []string
	if m := strings.TrimSpace(markdown.Clean(f.Message)); m != "" {
		parts = append(parts, markdown.CutMiddle(m, 2000))
	}
	if f.Expected != "" || f.Actual != "" {
		parts = append(parts, "expected: "+markdown.CutMiddle(markdown.Clean(f.Expected), 500)+"\nactual: "+markdown.CutMiddle(markdown.Clean(f.Actual), 500))
	}
	if f.Suggestion != "" {
		parts = append(parts, markdown.Cut(markdown.Clean(f.Suggestion), 500))
	}
	if len(parts) == 0 {
		parts = append(parts, string(f.Class))
	}
	return strings.Join(parts, "\n")
}

func orElse(s, t string) string {
	if strings.TrimSpace(s) != "" {
		return s
	}
	return t
}
