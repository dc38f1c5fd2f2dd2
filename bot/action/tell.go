package action

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
)

// ReadOnlySentence is what a run with a token that may only read is told to do.
const ReadOnlySentence = "The token of this run may only read, so nothing was posted or recorded: give the job the permissions that the README lists, or, for pull requests from forks, add a workflow `on: workflow_run` that uses Switchback."

// tell writes what the runner shows: log lines, annotations, outputs, the
// feedback file, the CTRF report and the job summary.
func (f *face) tell(t trigger, out analysis.Output, d routing.Decision, c routing.Case, readOnly bool) error {
	o := f.renderOptions(t)
	fmt.Fprint(f.env.Stdout, inert(render.Text(t.subject.Key(f.repo)+"/"+t.checkpoint, d, o)))
	if readOnly {
		fmt.Fprintf(f.env.Stdout, "::warning title=Switchback::%s\n", escapeData(ReadOnlySentence))
		f.annotate(render.Check(c, t.checkpoint, t.run.SHA, o))
	}
	outputs := map[string]string{
		"decision": string(d.Kind), "iteration": strconv.Itoa(d.Iteration), "max-iterations": strconv.Itoa(d.Max),
		"class": string(out.Verdict.Class), "escalation-issue": issueNumber(c, t.checkpoint), "artifact-name": artifactName(t.run),
	}
	var err error
	if d.Kind == routing.KindRetry || addsToRework(d, c.Checkpoints[t.checkpoint]) {
		if outputs["feedback-file"], err = f.feedbackFile(c, t.checkpoint, d.Iteration, o); err != nil {
			return err
		}
	}
	if outputs["report"], err = f.reportFile(out); err != nil {
		return err
	}
	if err := setOutputs(f.env.Getenv("GITHUB_OUTPUT"), outputs); err != nil {
		return err
	}
	note := ""
	if readOnly {
		note = ReadOnlySentence
	}
	if note != "" {
		note = "\n> [!NOTE]\n> " + note + "\n"
	}
	return f.summary(render.Summary(c, t.checkpoint, d, o) + note)
}

// addsToRework is true of a further leg of a run that was returned for a fix: the
// feedback has its failures too.
func addsToRework(d routing.Decision, cp routing.Checkpoint) bool {
	return d.Again && d.Iteration > 0 && cp.State == routing.InProgress
}

// artifactName names the artifact of a job, or of one leg of a matrix: two of
// one name are an error in a run.
func artifactName(r routing.Run) string {
	name := fmt.Sprintf("switchback-feedback-%s-%d", r.ID, r.Attempt)
	if r.Job != "" {
		name += "-" + r.Job
	}
	if r.Part != "" {
		h := fnv.New32a()
		_, _ = h.Write([]byte(r.Part)) // never fails
		name += fmt.Sprintf("-%08x", h.Sum32())
	}
	return name
}

// annotate prints a check's annotations as workflow commands, ten of them: as
// many as GitHub shows of one step.
func (f *face) annotate(k render.CheckRun) {
	for i, a := range k.Annotations {
		if i == 10 {
			break
		}
		fmt.Fprintf(f.env.Stdout, "::error file=%s,line=%d,title=%s::%s\n", escapeProperty(a.Path), a.Line, escapeProperty(a.Title), escapeData(a.Message))
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

// feedbackFile writes the feedback of one turn below the runner's temporary
// folder: {case}/{checkpoint}/iterations/{n}/feedback.md.
func (f *face) feedbackFile(c routing.Case, checkpoint string, n int, o render.Options) (string, error) {
	name := filepath.Join(f.temp(), "switchback", filepath.FromSlash(render.FeedbackPath(c.Key, checkpoint, n)))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	return name, os.WriteFile(name, []byte(render.Feedback(c, checkpoint, n, o)), 0o644)
}

func (f *face) reportFile(out analysis.Output) (string, error) {
	if out.Report == nil || f.tests == nil {
		return "", nil
	}
	name := filepath.Join(f.temp(), "switchback", "ctrf-report.json")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	file, err := os.Create(name)
	if err != nil {
		return "", err
	}
	if err := f.tests.Document(file, f.env.Version, out.Report, out.Diagnosis.Failures); err != nil {
		_ = file.Close()
		return "", err
	}
	return name, file.Close()
}

func (f *face) temp() string {
	if t := f.env.Getenv("RUNNER_TEMP"); t != "" {
		return t
	}
	return os.TempDir()
}

func (f *face) summary(text string) error {
	name := f.env.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("the job summary: %w", err)
	}
	if _, err := file.WriteString(text + "\n"); err != nil {
		_ = file.Close()
		return fmt.Errorf("the job summary: %w", err)
	}
	return file.Close()
}

func (f *face) notice(format string, a ...any) {
	if f.app != nil {
		f.log.Info(fmt.Sprintf(format, a...))
		return
	}
	fmt.Fprintf(f.env.Stdout, "::notice title=Switchback::%s\n", escapeData(fmt.Sprintf(format, a...)))
}

func (f *face) failure(err error) {
	fmt.Fprintf(f.env.Stdout, "::error title=Switchback::%s\n", escapeData(err.Error()))
}
