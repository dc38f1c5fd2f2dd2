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

	"github.com/switchback-ci/switchback/routing/plan"
)

// port runs the pair of one port as a process of its own, `port run`, whose
// workers see neither this step's inputs nor its token.
func (f *face) port(ctx context.Context) (int, error) {
	in := f.in.Ports
	if in.Port == "" {
		return 2, errors.New("input port is missing; name the port to run")
	}
	env, secrets, err := workerEnv(in.WorkerEnv)
	if err != nil {
		return 2, err
	}
	for _, s := range secrets {
		fmt.Fprintf(f.env.Stdout, "::add-mask::%s\n", escapeData(s))
	}
	_, name := f.planPath()
	if err := setOutputs(f.env.Getenv("GITHUB_OUTPUT"), map[string]string{"port-artifact": "switchback-port-" + name + "-" + in.Port}); err != nil {
		return 1, err
	}
	out, err := f.runPort(ctx, in.Port, in.Build, env)
	var exit *exec.ExitError
	if errors.As(err, &exit) && in.Build != "" && paused(filepath.Join(out, "result.json")) {
		f.notice("port %s waits for feedback that it sent; a later round runs it again", in.Port)
		return 0, nil
	}
	if errors.As(err, &exit) {
		return max(1, exit.ExitCode()), nil // it has said why
	}
	if err != nil {
		return 1, fmt.Errorf("running port %s: %w", in.Port, err)
	}
	return 0, nil
}

// runPort runs `port run` with more arguments, and returns where it keeps what it
// leaves.
func (f *face) runPort(ctx context.Context, id, build string, env []string, more ...string) (out string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, name := f.planPath()
	out = filepath.Join(f.temp(), "switchback-port", name, id)
	args := []string{"port", "run", id, "--ports", file, "--plan", name, "--repo", f.repo.String(), "--ledger-branch", f.in.LedgerBranch, "--out", out}
	if build != "" {
		args = append(args, "--build", build)
	}
	if f.in.Config != "" {
		args = append(args, "--config", f.in.Config)
	}
	c := exec.CommandContext(ctx, self, append(args, more...)...)
	c.Dir = f.path(".")
	c.Env = append(withoutInputs(os.Environ()), append(env, "SWITCHBACK_GITHUB_TOKEN="+f.in.Token)...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 30 * time.Second // to end its workers and say so
	stdout, stderr := &inertLines{w: f.env.Stdout}, &inertLines{w: f.env.Stderr}
	live := f.live(ctx, id, build)
	c.Stdout, c.Stderr = stdout, io.MultiWriter(stderr, live)
	err = c.Run()
	live.end()
	stdout.flush()
	stderr.flush()
	return out, err
}

// paused reports whether a port ended because it waits for feedback. Only where
// rounds follow is that no failure of its job.
func paused(result string) bool {
	var r plan.Result
	data, err := os.ReadFile(result)
	return err == nil && json.Unmarshal(data, &r) == nil && r.Status == plan.Paused
}

// withoutInputs returns an environment without the token and the inputs of the
// step.
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

// inertLines writes lines in which the runner finds no commands.
type inertLines struct {
	w    io.Writer
	rest []byte
}

func (l *inertLines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	if i := bytes.LastIndexByte(l.rest, '\n'); i >= 0 {
		if _, err := io.WriteString(l.w, inert(string(l.rest[:i+1]))); err != nil {
			return 0, err
		}
		l.rest = append([]byte(nil), l.rest[i+1:]...)
	}
	return len(p), nil
}

func (l *inertLines) flush() {
	if len(l.rest) > 0 {
		_, _ = io.WriteString(l.w, inert(string(l.rest))+"\n") // of what is only shown
		l.rest = nil
	}
}
