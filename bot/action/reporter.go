package action

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/ctrf"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/survey"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// readOnlyText says what to do about a token that may write nothing.
func (r *reporter) readOnlyText() string {
	return "The token of this run may only read, so nothing was posted or recorded: " +
		r.grant([]string{"checks: write", "contents: write", "issues: write", "pull-requests: write"}) +
		", or, for pull requests from forks, add a workflow `on: workflow_run` that uses Switchback."
}

// unrecordedText says what a token without contents: write costs.
func (r *reporter) unrecordedText() string {
	return "The token may not write the branch of the ledger, so this run is posted and not remembered: each failure counts as the first attempt, a green run does not update the comment, and nobody is called and no job is run again, because nothing would bound it. To change that, " +
		r.grant([]string{"contents: write"}) + "."
}

// missingText says what to do where GitHub refused a part of what was to be posted.
func (r *reporter) missingText(missing []string) string {
	return "GitHub refused a part of what this run posts; all else is posted. Please " + r.grant(missing) + "."
}

// grant asks for permissions, in the job that the step runs in.
func (r *reporter) grant(permissions []string) string {
	text := "add `" + strings.Join(permissions, "`, `") + "` to `permissions:`"
	if job := r.Getenv("GITHUB_JOB"); job != "" {
		text += " of the job `" + job + "`"
	}
	return text
}

// note is a text as a part of the job summary.
func note(text string) markdown.Text {
	return "\n> [!NOTE]\n> " + markdown.Prose(text) + "\n"
}

// reporter shows what the handlers did: log lines, annotations, outputs, the feedback file, the CTRF
// report and the job summary.
type reporter struct {
	runner
	in     Inputs
	tests  *ctrf.Writer // of the run that is analyzed, nil before
	failed bool         // the step fails although all work was done
}

var (
	_ handler.Reporter = (*reporter)(nil)
	_ handler.Goals    = (*reporter)(nil)
)

// Notice implements handler.Reporter.
func (r *reporter) Notice(text string) { r.say("notice", text) }

// Warning implements handler.Reporter.
func (r *reporter) Warning(text string) { r.say("warning", text) }

// Tests implements handler.Reporter.
func (r *reporter) Tests() analysis.Tests {
	r.close()
	r.tests = ctrf.NewWriter(testreport.DefaultLimits().Failing)
	r.tests.Redact = redact.Text
	return r.tests
}

// close removes what is kept of the tests.
func (r *reporter) close() {
	if r.tests != nil {
		_ = r.tests.Close() // temporary files
	}
}

// exitCode is that of the step after all work was done.
func (r *reporter) exitCode() int {
	if r.failed {
		return 1
	}
	return 0
}

// Routed implements handler.Reporter.
func (r *reporter) Routed(t handler.Routed) error {
	o, readOnly := t.Render, t.ReadOnly != nil
	d, c := t.Decision, t.Case
	fmt.Fprint(r.Stdout, inert(render.Text(c.Key+"/"+t.Checkpoint, d, o)))
	switch first := len(c.Checkpoints[t.Checkpoint].Runs) <= 1; {
	case d.Rule == routing.RuleReportsUnmatched && !d.Repeated:
		r.say("error", d.Reason)
	case t.Output.Unmatched != "" && first && !d.Repeated:
		r.Warning(t.Output.Unmatched)
	}
	var notes []string
	missing := slices.DeleteFunc(slices.Clone(t.Missing), func(p string) bool { return t.Unrecorded && p == "contents: write" })
	switch {
	case readOnly:
		notes = append(notes, r.readOnlyText())
		r.Warning(notes[0])
	case t.Unrecorded:
		notes = append(notes, r.unrecordedText())
		r.Warning(notes[0])
	}
	if !readOnly && len(missing) > 0 {
		notes = append(notes, r.missingText(missing))
		r.say("error", notes[len(notes)-1])
	}
	if readOnly || slices.Contains(missing, "checks: write") {
		r.annotate(render.Check(c, t.Checkpoint, t.Run.SHA, o))
	}
	outputs := map[string]string{
		"decision": string(d.Kind), "iteration": strconv.Itoa(d.Iteration), "max-iterations": strconv.Itoa(d.Max),
		"class": string(t.Output.Verdict.Class), "escalation-issue": issueNumber(c, t.Checkpoint), "artifact-name": artifactName(t.Run),
	}
	var err error
	if d.Kind == routing.KindRetry || addsToFeedback(d, c.Checkpoints[t.Checkpoint]) {
		if outputs["feedback-file"], err = r.feedbackFile(c, t.Checkpoint, d.Iteration, o); err != nil {
			return err
		}
	}
	if outputs["report"], err = r.reportFile(t.Output); err != nil {
		return err
	}
	if err := r.outputs(outputs); err != nil {
		return err
	}
	r.failed = r.in.fails(d) && !readOnly
	text := render.Summary(c, t.Checkpoint, d, o)
	for _, n := range notes {
		text += note(n)
	}
	return r.summary(text)
}

// Replayed implements handler.Reporter.
func (r *reporter) Replayed(p handler.Replayed) error {
	r.failed = p.Invalid
	readOnly := handler.ReadOnly(p.Err)
	switch {
	case p.Comment == "" && readOnly:
		return nil
	case p.Comment == "":
		return p.Err
	case readOnly:
		r.Warning(r.readOnlyText())
		return r.summary(p.Comment + note(r.readOnlyText()))
	}
	return errors.Join(p.Err, r.summary(p.Comment))
}

// addsToFeedback reports whether a run is a further leg of one that was returned for a fix: the
// feedback has its failures too.
func addsToFeedback(d routing.Decision, cp routing.Checkpoint) bool {
	return d.Again && d.Iteration > 0 && cp.State == routing.InProgress
}

// artifactName names the artifact of a job, or of one leg of a matrix: two of the same name are an
// error in a run.
func artifactName(run routing.Run) string {
	name := fmt.Sprintf("switchback-feedback-%s-%d", run.ID, run.Attempt)
	if run.Job != "" {
		name += "-" + run.Job
	}
	if run.Part != "" {
		h := fnv.New32a()
		_, _ = h.Write([]byte(run.Part)) // never fails
		name += fmt.Sprintf("-%08x", h.Sum32())
	}
	return name
}

// annotate prints the first ten annotations of a check as workflow commands: as many as GitHub shows
// of one step.
func (r *reporter) annotate(k render.CheckRun) {
	for i, a := range k.Annotations {
		if i == 10 {
			break
		}
		fmt.Fprintf(r.Stdout, "::error file=%s,line=%d,title=%s::%s\n", escapeProperty(a.Path), a.Line, escapeProperty(a.Title), escapeData(a.Message))
	}
}

func issueNumber(c routing.Case, checkpoint string) string {
	e := c.Checkpoints[checkpoint].Escalation
	if e == nil {
		return ""
	}
	n, _, _ := strings.Cut(c.Done[checkpoint+"/issue/"+string(e.Kind)], " ")
	return n
}

// feedbackFile writes the feedback of one iteration below the runner's temporary directory:
// {case}/{checkpoint}/iterations/{n}/feedback.md.
func (r *reporter) feedbackFile(c routing.Case, checkpoint string, n int, o render.Options) (string, error) {
	name := filepath.Join(r.temp(), "switchback", filepath.FromSlash(render.FeedbackPath(c.Key, checkpoint, n)))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	return name, os.WriteFile(name, redact.File([]byte(render.Feedback(c, checkpoint, n, o))), 0o644)
}

func (r *reporter) reportFile(out analysis.Output) (string, error) {
	if out.Report == nil || r.tests == nil {
		return "", nil
	}
	name := filepath.Join(r.temp(), "switchback", "ctrf-report.json")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	file, err := os.Create(name)
	if err != nil {
		return "", err
	}
	if err := r.tests.Document(file, r.Version, out.Report, out.Diagnosis.Failures); err != nil {
		_ = file.Close()
		return "", err
	}
	return name, file.Close()
}

// WriteGoals implements handler.Goals: each goal becomes a file, and the first one outputs.
func (r *reporter) WriteGoals(ps ...survey.Survey) error {
	outputs := map[string]string{}
	for _, p := range ps {
		if _, written := outputs["survey-issue"]; !written && p.Number > 0 {
			outputs["survey-issue"] = strconv.Itoa(p.Number)
		}
		if p.Goal == nil {
			continue
		}
		name := filepath.Join(r.temp(), "switchback-goal", p.ID, "goal.json")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, redact.File(p.Goal.JSON()), 0o644); err != nil {
			return err
		}
		if outputs["goal"] == "" {
			outputs["goal"], outputs["goal-file"], outputs["goal-artifact"] = p.Goal.Line(), name, "switchback-goal-"+p.ID
		}
	}
	if len(outputs) == 0 {
		return nil
	}
	return r.outputs(outputs)
}
