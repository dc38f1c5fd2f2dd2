package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/redact"
)

// WorkerArtifact is the name of the artifact in which a workflow leaves what a
// command would write to its files, or what the names of several begin with: the
// folder reports, and the files tokens and test-feedback.json.
const WorkerArtifact = "switchback-worker"

// runResult reads the result of a worker from a run that has ended.
type runResult struct {
	github  *github.Client
	repo    github.Repo
	run     github.WorkflowRun
	loop    plan.Loop
	role    plan.Role
	analyze analysis.Input // how the run of a testing worker is analyzed
	now     time.Time
	since   time.Time // of the last event that is recorded
}

func (a *await) result() runResult {
	return runResult{
		github: a.workflows.GitHub, repo: a.workflows.Repo, run: a.found, loop: a.loop, role: a.role, analyze: a.analyze,
		now: a.recorder.journal.Now(), since: a.recorder.since,
	}
}

// read reads what a run that has ended left. Only success, failure and a time
// limit of its own say something of the work.
func (a runResult) read(ctx context.Context) (worked, error) {
	run, now := a.run, a.now
	w := worked{tape: NewTape(keptHead, keptTail), url: run.URL, took: max(0, run.UpdatedAt.Sub(run.StartedAt))}
	w.rested = min(max(0, now.Sub(run.UpdatedAt)), max(0, now.Sub(a.since)))
	switch run.Conclusion {
	case "success":
	case "failure", "timed_out":
		w.Ended = Ended{1, fmt.Sprintf("its run %s ended as %s", run.URL, run.Conclusion)}
	default:
		l, acts, err := a.loop.Break(fmt.Sprintf("the run %s of its worker ended as %s", run.URL, run.Conclusion), now)
		w.broken = &step{l, acts}
		return w, err
	}
	dir, err := os.MkdirTemp("", "switchback-artifacts-")
	if err != nil {
		return w, err
	}
	defer os.RemoveAll(dir)
	left, err := a.artifacts(ctx, &w, dir)
	if err != nil {
		return w, err
	}
	if a.role == plan.Test {
		return w, a.analyzeRun(ctx, &w, left)
	}
	if w.Code != 0 {
		return w, a.lastWords(ctx, &w)
	}
	return w, nil
}

// leftBehind is what a run left in its artifact.
type leftBehind struct {
	reports []analysis.Source
	said    *plan.TestFeedback
	bad     error // why what it said is of no use
}

// artifacts reads what the run left behind, and keeps its archives in dir. What is there and cannot
// be read is no report that passes.
func (a runResult) artifacts(ctx context.Context, w *worked, dir string) (leftBehind, error) {
	var out leftBehind
	all, err := a.github.Artifacts.List(ctx, a.repo, a.run.ID)
	if err != nil {
		return out, err
	}
	archives := a.github.Artifacts.Archives(a.repo, dir)
	for _, art := range github.Newest(all) {
		if art.Name != WorkerArtifact && !strings.HasPrefix(art.Name, WorkerArtifact+"-") {
			continue
		}
		files, err := archives.Open(ctx, art, func(name string) bool {
			return name == "tokens" || a.role == plan.Test && (name == "test-feedback.json" || strings.HasPrefix(name, "reports/"))
		})
		for _, f := range files {
			switch f.Name {
			case "tokens":
				err = errors.Join(err, open(f, func(r io.Reader) {
					used, bad := sumTokens(io.LimitReader(r, mostTokensRead))
					if bad != nil {
						w.notes = append(w.notes, bad.Error())
					}
					w.tokens = plus(w.tokens, used)
				}))
			case "test-feedback.json":
				err = errors.Join(err, open(f, func(r io.Reader) { out.said, out.bad = saidIn(r) }))
			default:
				out.reports = append(out.reports, analysis.Source{Name: art.Name + "/" + f.Name, Open: f.Open})
			}
		}
		if kind := advice.Of(err).Kind; kind == advice.Later {
			return out, err
		} else if err != nil {
			w.notes = append(w.notes, err.Error())
			out.reports = append(out.reports, analysis.Source{Name: "artifact " + art.Name, Open: func() (io.ReadCloser, error) { return nil, err }})
		}
	}
	return out, nil
}

// open calls fn with what is in a file, and returns why that could not be read.
func open(f github.ArchiveFile, fn func(io.Reader)) error {
	rc, err := f.Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	r := &analysis.FailingReader{R: rc}
	fn(r)
	return r.Err
}

// analyzeRun analyzes the run of a testing worker: by its reports, and by the logs
// of its jobs where it left none or failed.
func (a runResult) analyzeRun(ctx context.Context, w *worked, left leftBehind) error {
	sources := left.reports
	if green := w.Code == 0; !green || len(sources) == 0 {
		logs, err := a.logs(ctx, green, w.tape)
		if err != nil {
			return err
		}
		sources = append(sources, logs...)
	}
	in := a.analyze
	in.Sources, in.Conclusion, in.Looked = sources, a.run.Conclusion, []string{"reports/ in the artifact " + WorkerArtifact, "the logs of the jobs"}
	read, err := analysis.Analyze(in)
	if err != nil {
		return err
	}
	f := ownFeedback(left, *w, plan.FeedbackOf(read.Verdict, w.took))
	w.analyzed = &f
	return nil
}

// ownFeedback is what the testing worker said itself, if it did, else what was read.
func ownFeedback(left leftBehind, w worked, read plan.TestFeedback) plan.TestFeedback {
	switch {
	case left.bad != nil:
		return failing("the testing worker's own feedback is of no use: " + left.bad.Error())
	case left.said != nil && left.said.Success && w.Code != 0:
		return failing("the testing worker says that all passed, but " + w.Reason)
	case left.said != nil:
		return *left.said
	}
	return read
}

// logs are the logs of the jobs that say how the run ended; what is read of them
// goes onto the tape as well.
func (a runResult) logs(ctx context.Context, green bool, tape *Tape) ([]analysis.Source, error) {
	jobs, err := a.github.Jobs.List(ctx, a.repo, a.run.ID, a.run.Attempt)
	if err != nil {
		return nil, err
	}
	var out []analysis.Source
	for _, j := range github.Telling(jobs, green) {
		out = append(out, analysis.Source{Name: "log of job " + j.Name, Open: func() (io.ReadCloser, error) {
			r, err := a.github.Jobs.Log(ctx, a.repo, j.ID)
			if err != nil {
				return nil, err
			}
			return struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r, tape), r}, nil
		}})
	}
	return out, nil
}

// lastWords adds to the reason of a failed run what its log says last.
func (a runResult) lastWords(ctx context.Context, w *worked) error {
	logs, err := a.logs(ctx, false, w.tape)
	if err != nil {
		return err
	}
	for _, s := range logs {
		r, err := s.Open()
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		if advice.Of(err).Kind == advice.Later {
			return err
		}
		if err != nil {
			w.notes = append(w.notes, err.Error())
		}
	}
	if words := lastOfLog(w.tape.End(keptSent)); words != "" {
		w.Reason += ", and its last words are: " + oneLine(redact.Text(words))
	}
	return nil
}

// stampRE is the time before every line of a log of GitHub Actions.
var stampRE = lazyregexp.New(`^\x{feff}?\d{4}-\d\d-\d\dT[\d:.]+Z `)

// lastOfLog returns the last line before the runner says that a step failed, or
// the last of all: behind it the runner tidies up.
func lastOfLog(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(stampRE.ReplaceAllString(lines[i], ""))
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	for i, l := range slices.Backward(lines) {
		said, failed := strings.CutPrefix(l, "##[error]")
		switch {
		case !failed:
			continue
		case !strings.HasPrefix(said, "Process completed with exit code"):
			return said
		case i > 0:
			return strings.TrimPrefix(lines[i-1], "##[error]")
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}
