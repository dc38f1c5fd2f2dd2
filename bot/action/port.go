package action

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/bot/tokenpipe"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/redact"
)

// runPort runs the implementer and the tester of one port in a process of their own, `port run`: its
// workers see neither this step's inputs nor its token.
func (p planCommands) runPort(ctx context.Context) (int, error) {
	in := p.in
	if in.Port == "" {
		return 2, errors.New("input port is missing; name the port to run")
	}
	env, secrets, err := workerEnv(in.WorkerEnv)
	if err != nil {
		return 2, err
	}
	redact.Hide(secrets...)
	for _, s := range secrets {
		fmt.Fprintf(p.Stdout, "::add-mask::%s\n", escapeData(s))
	}
	if err := p.outputs(map[string]string{"port-artifact": plans.ArtifactName(p.deps.Options.PlanName, in.Port)}); err != nil {
		return 1, err
	}
	show, more := p.attempts(in.Port, in.Build), []string(nil)
	if in.Journal == "artifact" { // the job may not write, neither to the ledger nor to the issue
		show = func(context.Context, int) error { return nil }
		journal := filepath.Join(p.port.out(in.Port), plans.JournalDir)
		if err := os.RemoveAll(journal); err != nil { // of another job on this machine
			return 1, err
		}
		more = []string{"--journal", journal}
	}
	out, err := p.port.run(ctx, in.Port, in.Build, show, env, more...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && in.Build != "" && paused(filepath.Join(out, "result.json")) {
		p.notice("port %s waits for feedback that it sent; a later round runs it again", in.Port)
		return 0, nil
	}
	if errors.As(err, &exit) {
		return max(1, exit.ExitCode()), nil // the process printed why
	}
	if err != nil {
		return 1, fmt.Errorf("running port %s: %w", in.Port, err)
	}
	return 0, nil
}

// portProcess runs `port run`.
type portProcess struct {
	runner
	deps handler.Deps
	in   Inputs
}

// out is the folder of a port's results.
func (p portProcess) out(id string) string {
	return filepath.Join(p.temp(), "switchback-port", p.deps.Options.PlanName, id)
}

// run runs a port with more arguments, and returns the directory of its results. show is called with each
// iteration.
func (p portProcess) run(ctx context.Context, id, build string, show func(context.Context, int) error, env []string, more ...string) (out string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, name := p.deps.Options.PlanFile, p.deps.Options.PlanName
	out = p.out(id)
	args := []string{"port", "run", id, "--ports", file, "--plan", name, "--repo", p.deps.Repo.String(), "--ledger-branch", p.in.LedgerBranch, "--out", out}
	if build != "" {
		args = append(args, "--build", build)
	}
	if p.in.Config != "" {
		args = append(args, "--config", p.in.Config)
	}
	c := exec.CommandContext(ctx, self, append(args, more...)...)
	c.Dir = p.path(".")
	c.Env = append(withoutInputs(os.Environ()), append(env, redact.EnvNames+"="+namesOf(env), worker.GivenNames+"="+namesOf(env))...)
	tokenpipe.Pass(c, tokenpipe.Tokens{"SWITCHBACK_GITHUB_TOKEN": p.in.Token})
	files, err := worker.KeepRunnerFiles(p.Getenv)
	if err != nil {
		return "", err
	}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 30 * time.Second // to end its workers and say so
	stdout, stderr := &inertLines{w: p.Stdout}, &inertLines{w: p.Stderr}
	live := showIterations(ctx, id, show, p.deps.Log)
	c.Stdout, c.Stderr = stdout, io.MultiWriter(stderr, live)
	err = c.Run()
	live.end()
	stdout.flush()
	stderr.flush()
	if c.ProcessState != nil && c.ProcessState.ExitCode() < 0 { // killed, so it has not restored them
		_, failed := files.Restore()
		err = errors.Join(err, failed)
	}
	return out, err
}

// paused reports whether a port ended because it waits for feedback. That is no failure of its job if
// rounds follow.
func paused(result string) bool {
	var r plan.Result
	data, err := os.ReadFile(result)
	return err == nil && json.Unmarshal(data, &r) == nil && r.Status == plan.Paused
}

// withoutInputs returns an environment without the token and the inputs of the step.
func withoutInputs(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if up := strings.ToUpper(name); up != "GITHUB_TOKEN" && !strings.HasPrefix(up, "INPUT_") {
			out = append(out, kv)
		}
	}
	return out
}

// namesOf returns the names of variables, separated by commas.
func namesOf(env []string) string {
	var names []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return strings.Join(names, ",")
}

// inertLines writes lines of which the runner takes none for a workflow command, with secrets masked.
type inertLines struct {
	w    io.Writer
	rest []byte
}

func (l *inertLines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	if i := bytes.LastIndexByte(l.rest, '\n'); i >= 0 {
		if _, err := io.WriteString(l.w, redact.Text(inert(string(l.rest[:i+1])))); err != nil {
			return 0, err
		}
		l.rest = append([]byte(nil), l.rest[i+1:]...)
	}
	return len(p), nil
}

func (l *inertLines) flush() {
	if len(l.rest) > 0 {
		_, _ = io.WriteString(l.w, redact.Text(inert(string(l.rest)))+"\n") // only shown
		l.rest = nil
	}
}
