package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Action is how the runner starts a program as a step. Empty fields get
// plausible values.
type Action struct {
	Binary    string
	Args      []string
	Repo      *Repo
	Token     string // GITHUB_TOKEN; "" sets none
	Event     string // GITHUB_EVENT_NAME
	Payload   any    // the file GITHUB_EVENT_PATH names
	RunID     int64
	Attempt   int
	SHA, Ref  string
	Workflow  string
	Job       string
	Actor     string
	Inputs    map[string]string // each is INPUT_<NAME>: upper case, blanks to "_"
	Env       map[string]string // wins over all others; nothing else is inherited but PATH
	Workspace string            // GITHUB_WORKSPACE and working directory; "" makes an empty one
	Kill      *Hold             // kills the program when it is reached
	Timeout   time.Duration     // 0 means a minute; then the program is killed and the test fails
}

// Result is what became of a step.
type Result struct {
	ExitCode       int // -1 if killed
	Stdout, Stderr string
	Outputs        map[string]string
	Summary        string
	Killed         bool // at the hold
	Took           time.Duration
	Dir            string // has the runner's files: env, path, output, state, summary
}

// RunAction runs a program directly, as a runner would, and waits for its end.
func (b *Bench) RunAction(tb testing.TB, a Action) Result {
	tb.Helper()
	dir := tb.TempDir()
	env := b.actionEnv(tb, &a, dir)
	cmd := exec.Command(a.Binary, a.Args...)
	cmd.Dir = a.Workspace
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	res := runCmd(tb, cmd, killGroup, a.Kill, a.Timeout)
	var err error
	if res.Outputs, err = parseOutputs(readAll(env["GITHUB_OUTPUT"])); err != nil {
		tb.Errorf("GITHUB_OUTPUT: %v", err)
	}
	res.Summary, res.Dir = readAll(env["GITHUB_STEP_SUMMARY"]), dir
	return res
}

// RunCommand runs a command of any other kind, such as a server under test,
// with the same kill point and limit. Cmd.Stdout and Stderr must be unset.
func (b *Bench) RunCommand(tb testing.TB, cmd *exec.Cmd, kill *Hold, limit time.Duration) Result {
	tb.Helper()
	return runCmd(tb, cmd, killGroup, kill, limit)
}

func (b *Bench) actionEnv(tb testing.TB, a *Action, dir string) map[string]string {
	tb.Helper()
	if a.Workspace == "" {
		a.Workspace = mkdir(tb, dir, "workspace")
	}
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	def(&a.Event, "workflow_run")
	def(&a.Workflow, "Switchback")
	def(&a.Job, "switchback")
	def(&a.Actor, Owner)
	def(&a.Ref, "refs/heads/main")
	if a.SHA == "" {
		a.SHA = a.Repo.SHA(tb, "main")
	}
	payload := a.Payload
	if payload == nil {
		payload = map[string]any{}
	}
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": mkdir(tb, dir, "home"), "CI": "true", "GITHUB_ACTIONS": "true",
		"GITHUB_API_URL": b.URL, "GITHUB_SERVER_URL": b.URL, "GITHUB_GRAPHQL_URL": b.URL + "/graphql",
		"GITHUB_REPOSITORY": a.Repo.FullName, "GITHUB_REPOSITORY_OWNER": a.Repo.Owner, "GITHUB_REPOSITORY_ID": fmt.Sprint(a.Repo.ID),
		"GITHUB_EVENT_NAME": a.Event, "GITHUB_EVENT_PATH": write(tb, dir, "event.json", string(marshal(payload))),
		"GITHUB_RUN_ID": fmt.Sprint(max(1, a.RunID)), "GITHUB_RUN_NUMBER": "1", "GITHUB_RUN_ATTEMPT": fmt.Sprint(max(1, a.Attempt)),
		"GITHUB_SHA": a.SHA, "GITHUB_REF": a.Ref, "GITHUB_REF_NAME": strings.TrimPrefix(a.Ref, "refs/heads/"), "GITHUB_REF_TYPE": "branch",
		"GITHUB_WORKFLOW": a.Workflow, "GITHUB_JOB": a.Job, "GITHUB_ACTOR": a.Actor, "GITHUB_TRIGGERING_ACTOR": a.Actor,
		"GITHUB_WORKFLOW_REF": a.Repo.FullName + "/.github/workflows/switchback.yml@" + a.Ref,
		"GITHUB_OUTPUT":       write(tb, dir, "output", ""), "GITHUB_STEP_SUMMARY": write(tb, dir, "summary", ""),
		"GITHUB_ENV": write(tb, dir, "env", ""), "GITHUB_PATH": write(tb, dir, "path", ""), "GITHUB_STATE": write(tb, dir, "state", ""),
		"GITHUB_WORKSPACE": a.Workspace, "RUNNER_TEMP": mkdir(tb, dir, "temp"), "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
	}
	// A short lease lets the next process soon take over from one that is killed. On a busy machine it
	// may end while its holder works, and renewing it costs requests, so all others have a long one.
	env["SWITCHBACK_LEASE_TTL"] = "10m"
	if a.Kill != nil {
		env["SWITCHBACK_LEASE_TTL"] = "2s"
	}
	if a.Token != "" {
		env["GITHUB_TOKEN"] = a.Token
	}
	for k, v := range a.Inputs {
		env["INPUT_"+strings.ToUpper(strings.ReplaceAll(k, " ", "_"))] = v
	}
	maps.Copy(env, a.Env)
	return env
}

// runCmd runs cmd, and ends it with end at the hold or after the limit.
func runCmd(tb testing.TB, cmd *exec.Cmd, end func(*exec.Cmd), kill *Hold, limit time.Duration) Result {
	tb.Helper()
	if limit == 0 {
		limit = time.Minute
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	began := time.Now()
	if err := startCmd(cmd); err != nil {
		tb.Fatalf("start %s: %v", cmd.Path, err)
	}
	done, stopped := make(chan error, 1), make(chan struct{})
	go func() { done <- cmd.Wait() }()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	res := Result{}
	go func() {
		defer close(stopped)
		select {
		case <-reached(kill):
			res.Killed = true
			end(cmd)
			kill.Drop()
		case <-ctx.Done():
			end(cmd)
		}
	}()
	err := <-done
	timedOut := errors.Is(ctx.Err(), context.DeadlineExceeded)
	cancel()
	<-stopped
	res.ExitCode, res.Stdout, res.Stderr, res.Took = cmd.ProcessState.ExitCode(), out.String(), errs.String(), time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		tb.Errorf("%s: %v", cmd.Path, err)
	}
	if timedOut {
		tb.Errorf("%s did not end within %v\nstdout: %s\nstderr: %s", cmd.Path, limit, res.Stdout, res.Stderr)
	}
	return res
}

func reached(h *Hold) <-chan Request {
	if h == nil {
		return nil
	}
	return h.Reached
}

// parseOutputs reads the runner's file of outputs: name=value lines and
// name<<DELIMITER blocks. It is as strict as the runner.
func parseOutputs(text string) (map[string]string, error) {
	out := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\r")
		if line == "" {
			continue
		}
		eq, here := strings.Index(line, "="), strings.Index(line, "<<")
		if eq >= 0 && (here < 0 || eq < here) {
			out[line[:eq]] = line[eq+1:]
			continue
		}
		if here < 0 {
			return out, fmt.Errorf("line %d: invalid format %q", i+1, line)
		}
		name, delimiter, start := line[:here], line[here+2:], i+1
		for i++; i < len(lines) && lines[i] != delimiter; i++ {
		}
		if i == len(lines) {
			return out, fmt.Errorf("line %d: no %q ends the value", start, delimiter)
		}
		out[name] = strings.Join(lines[start:i], "\n")
	}
	return out, nil
}

func readAll(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func write(tb testing.TB, dir, name, text string) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func mkdir(tb testing.TB, dir, name string) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		tb.Fatal(err)
	}
	return path
}
