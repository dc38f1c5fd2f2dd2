package render

import (
	"maps"
	"slices"
	"strings"

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
	Summary     string // Markdown
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
			return lookAt(c, checkpoint, i, o).check(i == len(story)-1)
		}
	}
	return undecided(cp, sha, o)
}

func (v view) check(newest bool) CheckRun {
	r := CheckRun{Conclusion: v.conclusion(), Title: v.checkTitle()}
	if newest {
		v.answered(&r)
	}
	if n := len(v.excused); n > 0 {
		r.Title = v.lang.say("check.excused", "title", r.Title, "n", n)
	}
	v.o.Mention = "" // a check tells nobody
	r.Summary = fit(min(v.o.limit(), checkSummaryLimit), func(d detail) string {
		d.packet, d.packetText = 0, 0
		p := v.comment(d)
		p.Packet, p.cutPacket = "", 0
		p.Notes = v.notes(p)
		if !newest {
			p.State, p.Acts = "", ""
		}
		return strings.TrimSpace(p.print(v.lang, "comment"))
	}, func() string { return v.lang.say("note.cut", "what", v.lang.say("cut.all")) })
	if v.turn.Kind != routing.KindPass {
		r.Annotations = annotations(v.turn.Verdict.Failures)
	}
	return r
}

// answered brings the check of an escalation to what a person decided on it.
func (v view) answered(r *CheckRun) {
	switch {
	case !v.turn.Kind.Escalates():
	case v.cp.WontFix != nil:
		r.Conclusion, r.Title = "failure", v.lang.say("check.wontfix", "kind", v.stopped(v.turn.Kind))
	case v.cp.Skipped && v.onMax() != routing.OnMaxSkip:
		r.Conclusion, r.Title = "neutral", v.lang.say("check.skipped")
	case v.resumed():
		r.Conclusion, r.Title = "failure", v.lang.say("check.resumed")
	}
}

// conclusion is what the check ends with: an escalation asks for action, unless
// the policy lets the checkpoint fail for good or be skipped.
func (v view) conclusion() string {
	switch k := v.turn.Kind; {
	case k == routing.KindPass:
		return "success"
	case k.Escalates() && v.onMax() == routing.OnMaxSkip:
		return "neutral"
	case k.Escalates() && v.onMax() == routing.OnMaxError:
		return "failure"
	case k.Escalates():
		return "action_required"
	}
	return "failure"
}

func (v view) checkTitle() string {
	n := escalation.FailedCount(v.turn.Verdict)
	switch k := v.turn.Kind; {
	case k == routing.KindPass && v.turn.Iteration > 0:
		return v.lang.say("check.passafter", "n", v.turn.Iteration)
	case k == routing.KindPass:
		return v.lang.say("check.pass")
	case k.Escalates():
		return v.lang.say("check.stop", "kind", v.stopped(v.turn.Kind))
	}
	return v.lang.say("check.retry", "n", v.turn.Iteration, "max", v.max, "what", v.lang.say("check.failures", "n", n))
}

// undecided is the check of a commit on which nothing was decided: a person is
// awaited, a run of it failed, or it is neutral.
func undecided(cp routing.Checkpoint, sha string, o Options) CheckRun {
	r := CheckRun{Title: o.Language.say("check.none"), Conclusion: "neutral"}
	reason := ""
	for _, key := range slices.Sorted(maps.Keys(cp.Runs)) {
		rs := cp.Runs[key]
		for _, part := range slices.Sorted(maps.Keys(rs.Parts)) {
			p := rs.Parts[part]
			if p.Run.SHA != sha {
				continue
			}
			reason = rs.Decision.Reason
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
		v := view{lang: o.Language}
		r.Conclusion, r.Title = "action_required", o.Language.say("check.stop", "kind", v.stopped(cp.Escalation.Kind))
		if cp.WontFix != nil {
			r.Conclusion, r.Title = "failure", o.Language.say("check.wontfix", "kind", v.stopped(cp.Escalation.Kind))
		}
	}
	r.Summary = prose(o.redact(orElse(reason, o.Language.say("none.empty"))))
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
		a := Annotation{Path: f.File, Line: f.Line, Level: "failure", Title: line(escalation.Name(f), 200), Message: annotationText(f), Raw: cutMiddle(clean(f.Trace), 4000)}
		if f.Flaky || f.Class == routing.Flaky {
			a.Level = "warning"
		}
		out = append(out, a)
	}
	return out
}

func annotationText(f routing.Failure) string {
	var parts []string
	if m := strings.TrimSpace(clean(f.Message)); m != "" {
		parts = append(parts, cutMiddle(m, 2000))
	}
	if f.Expected != "" || f.Actual != "" {
		parts = append(parts, "expected: "+cutMiddle(clean(f.Expected), 500)+"\nactual: "+cutMiddle(clean(f.Actual), 500))
	}
	if f.Suggestion != "" {
		parts = append(parts, cut(clean(f.Suggestion), 500))
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
