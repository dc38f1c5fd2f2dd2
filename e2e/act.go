package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Act is how act runs a workflow. Steps run on this machine, not in Docker.
type Act struct {
	Files     map[string]string // the checkout, by path; act copies it for each run
	Mode      map[string]os.FileMode
	Workflow  string // such as ".github/workflows/ci.yml"
	Job       string // only this job and those it needs; "" for all
	Repo      *Repo
	Token     string // GITHUB_TOKEN and github.token
	Event     string // default workflow_run
	Payload   any
	RunID     int64
	Attempt   int
	SHA       string // GITHUB_SHA of the steps; github.sha stays that of the checkout
	Actor     string
	Env       map[string]string
	Secrets   map[string]string
	Local     map[string]string // "owner/repo@ref" of a used action → directory
	Artifacts string            // directory of act's own artifact server; "" for none
	Kill      *Hold
	Timeout   time.Duration
}

// ActResult is what became of a run.
type ActResult struct {
	Result                    // of act itself
	Jobs    map[string]string // job id → success, failure or skipped
	Steps   []ActStep         // in the order in which they began
	Console string            // what all steps printed
}

// ActStep is a step that ran. ID is the path of ids: a step of a composite
// action comes after its parent's, "a/run"; a step without id has its index.
type ActStep struct {
	Job, ID, Result string
	Outputs         map[string]string
	Summary         string
	Log             string
}

// Step returns a step of a job; the zero step if it did not run.
func (r ActResult) Step(job, id string) ActStep {
	for _, s := range r.Steps {
		if s.Job == job && s.ID == id {
			return s
		}
	}
	return ActStep{}
}

// RunAct runs a workflow with act against the bench and waits for its end.
func (b *Bench) RunAct(tb testing.TB, a Act) ActResult {
	tb.Helper()
	dir := tb.TempDir()
	work := b.checkout(tb, dir, a)
	cmd := exec.Command(b.Tool(tb, "act"), b.actArgs(tb, dir, a)...)
	cmd.Dir = work
	// Act keeps its copy of the checkout below the cache directory, by the
	// directory's name: parallel runs need one each.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + mkdir(tb, dir, "home"), "XDG_CACHE_HOME=" + mkdir(tb, dir, "cache"), "GIT_CONFIG_GLOBAL=" + os.DevNull}
	res := ActResult{Result: runCmd(tb, cmd, killAll, a.Kill, a.Timeout), Jobs: map[string]string{}}
	res.Outputs = map[string]string{}
	if err := res.read(strings.NewReader(res.Stdout)); err != nil {
		tb.Errorf("act's log: %v", err)
	}
	return res
}

// checkout writes the files and commits them, since act asks git for the SHA.
func (b *Bench) checkout(tb testing.TB, dir string, a Act) string {
	tb.Helper()
	work := mkdir(tb, dir, "checkout")
	for name, text := range a.Files {
		p := filepath.Join(work, filepath.FromSlash(name))
		mkdir(tb, filepath.Dir(p), ".")
		mode := os.FileMode(0o644)
		if m, ok := a.Mode[name]; ok {
			mode = m
		}
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			tb.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "checkout"},
		{"remote", "add", "origin", b.URL + "/" + a.Repo.FullName + ".git"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = work, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
	return work
}

func (b *Bench) actArgs(tb testing.TB, dir string, a Act) []string {
	tb.Helper()
	event := a.Event
	if event == "" {
		event = "workflow_run"
	}
	actor := a.Actor
	if actor == "" {
		actor = Owner
	}
	payload := a.Payload
	if payload == nil {
		payload = map[string]any{}
	}
	var secrets strings.Builder
	all := map[string]string{"GITHUB_TOKEN": a.Token}
	maps.Copy(all, a.Secrets)
	for k, v := range all {
		secrets.WriteString(k + "=" + strconv.Quote(v) + "\n")
	}
	args := []string{event, "--json", "-W", a.Workflow, "-e", write(tb, dir, "event.json", string(marshal(payload))),
		"-P", "ubuntu-latest=-self-hosted", "-P", "ubuntu-24.04=-self-hosted", "-P", "ubuntu-22.04=-self-hosted",
		"--secret-file", write(tb, dir, "secrets", secrets.String()), "--env-file", write(tb, dir, "env", ""),
		"--var-file", write(tb, dir, "vars", ""), "--actor", actor, "--defaultbranch", "main", "--no-cache-server"}
	if a.Job != "" {
		args = append(args, "-j", a.Job)
	}
	if a.Artifacts != "" {
		args = append(args, "--artifact-server-path", a.Artifacts, "--artifact-server-addr", "127.0.0.1", "--artifact-server-port", strconv.Itoa(freePort()))
	}
	for use, path := range a.Local {
		args = append(args, "--local-repository", use+"="+path)
	}
	env := map[string]string{"GITHUB_API_URL": b.URL, "GITHUB_SERVER_URL": b.URL, "GITHUB_GRAPHQL_URL": b.URL + "/graphql",
		"GITHUB_REPOSITORY": a.Repo.FullName, "GITHUB_REPOSITORY_OWNER": a.Repo.Owner,
		"GITHUB_RUN_ID": strconv.FormatInt(max(1, a.RunID), 10), "GITHUB_RUN_ATTEMPT": strconv.Itoa(max(1, a.Attempt))}
	if a.SHA != "" {
		env["GITHUB_SHA"] = a.SHA
	}
	maps.Copy(env, a.Env)
	for _, k := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "--env", k+"="+env[k])
	}
	return args
}

// actLine is a line of act's JSON log.
type actLine struct {
	JobID     string   `json:"jobID"`
	StepID    []string `json:"stepID"`
	Stage     string   `json:"stage"`
	Msg       string   `json:"msg"`
	Raw       bool     `json:"raw_output"`
	Command   string   `json:"command"`
	Name, Arg string
	Content   string `json:"content"`
	Step      string `json:"stepResult"`
	Job       string `json:"jobResult"`
}

func (r *ActResult) read(log io.Reader) error {
	in := bufio.NewReader(log)
	for {
		text, err := in.ReadString('\n')
		var l actLine
		if json.Unmarshal([]byte(text), &l) == nil {
			r.take(l)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *ActResult) take(l actLine) {
	if l.Raw {
		r.Console += l.Msg
	}
	if l.Job != "" {
		r.Jobs[l.JobID] = l.Job
	}
	if len(l.StepID) == 0 || l.Stage != "Main" {
		return
	}
	s := r.step(l.JobID, strings.Join(l.StepID, "/"))
	switch {
	case l.Raw:
		s.Log += l.Msg
	case l.Command == "set-output":
		s.Outputs[l.Name] = l.Arg
	case l.Command == "summary":
		s.Summary += l.Content
	case l.Step != "":
		s.Result = l.Step
	}
}

func (r *ActResult) step(job, id string) *ActStep {
	for i := range r.Steps {
		if r.Steps[i].Job == job && r.Steps[i].ID == id {
			return &r.Steps[i]
		}
	}
	r.Steps = append(r.Steps, ActStep{Job: job, ID: id, Outputs: map[string]string{}})
	return &r.Steps[len(r.Steps)-1]
}
