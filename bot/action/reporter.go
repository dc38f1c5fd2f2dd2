package action

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/ctrf"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/survey"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// ReadOnlySentence says what to do about a read-only token.
const ReadOnlySentence = "The token of this run may only read, so nothing was posted or recorded: give the job the permissions that the README lists, or, for pull requests from forks, add a workflow `on: workflow_run` that uses Switchback."

// UnrecordedSentence says what a token without contents: write costs.
const UnrecordedSentence = "The token may not write the branch of the ledger, so this run is posted and not remembered: each failure counts as the first attempt, a green run does not update the comment, and nobody is called and no job is run again, because nothing would bound it. Give the job `contents: write` to change that."

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
	if readOnly {
		r.Warning(ReadOnlySentence)
		r.annotate(render.Check(c, t.Checkpoint, t.Run.SHA, o))
	}
	if t.Unrecorded {
		r.Warning(UnrecordedSentence)
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
	if readOnly {
		text += readOnlyNote
	}
	if t.Unrecorded {
		text += "\n> [!NOTE]\n> " + UnrecordedSentence + "\n"
	}
	return r.summary(text)
}

// readOnlyNote is ReadOnlySentence as a part of the job summary.
const readOnlyNote = "\n> [!NOTE]\n> " + ReadOnlySentence + "\n"

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
		r.Warning(ReadOnlySentence)
		return r.summary(p.Comment + readOnlyNote)
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
