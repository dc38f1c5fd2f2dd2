package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing/plan"
)

// PortInputs are the inputs of the commands plan, matrix, port and collect.
type PortInputs struct {
	Path        string // of the plan, "" for the configuration's
	Name        string // of the plan in the ledger, "" for that of its path
	Port        string // the one that command port runs
	Build       string // to go on with; "" begins one
	Level       int    // the round that collect takes in, 0 without rounds
	MaxParallel int    // 0: the configuration's
	Dispatch    string // workflow to go on with in another run, self for this one's
	WorkerEnv   string // lines NAME=VALUE for the workers
}

func readPortInputs(get func(name, def string) string) (PortInputs, error) {
	in := PortInputs{Path: get("ports", ""), Name: get("plan", ""), Port: get("port", ""), Dispatch: get("dispatch", ""), WorkerEnv: get("worker-env", "")}
	in.Build, _, _ = strings.Cut(get("build", ""), "/") // what follows tells one dispatch from another
	for name, to := range map[string]*int{"level": &in.Level, "max-parallel": &in.MaxParallel} {
		if s := get(name, ""); s != "" {
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 {
				return in, fmt.Errorf("input %s is %q; it must be a whole number from 1 on", name, s)
			}
			*to = n
		}
	}
	if in.Name != "" && !planName.MatchString(in.Name) {
		return in, fmt.Errorf("input plan is %q; use letters, digits, dots, underscores and hyphens, at most 100", in.Name)
	}
	return in, nil
}

var planName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// planPath returns where the plan is, and its name in the ledger: that of the
// input, else its path with hyphens.
func (f *face) planPath() (file, name string) {
	file, name = f.in.Ports.Path, f.in.Ports.Name
	if file == "" {
		file = f.config.PlanPath()
	}
	if name == "" {
		name = planfile.Name(file)
	}
	return file, name
}

// ports is the Action as a part of a workflow that runs a plan of ports.
func (f *face) ports(ctx context.Context, command string) (int, error) {
	if command == "port" {
		return f.port(ctx)
	}
	d, err := f.builder()
	if err != nil {
		return 2, err
	}
	if command != "matrix" && f.config.Ports.Drive == "events" {
		if _, err := f.awaited(ctx, d); err != nil { // the next event, or the next round, goes on with it
			fmt.Fprintf(f.env.Stdout, "::warning title=Switchback::%s\n", escapeData(err.Error()))
		}
	}
	var r plans.Round
	in := f.in.Ports
	switch {
	case command == "matrix":
		return f.matrix(ctx, d)
	case command == "plan":
		r, err = d.Begin(ctx, in.Build)
	case in.Build == "" && in.Level == 0:
		r, err = d.CollectAll(ctx)
	case in.Build == "" || in.Level == 0:
		return 2, errors.New("inputs build and level go together; give both as the outputs of the step before, or neither")
	case in.Dispatch != "":
		r, err = f.goOn(ctx, d)
	default:
		r, err = d.Collect(ctx, in.Build, in.Level)
	}
	if err != nil {
		return 1, err
	}
	issue, shown := d.Show(ctx)
	if shown != nil { // the plan goes on; it is shown again with the next round
		fmt.Fprintf(f.env.Stdout, "::warning title=Switchback::%s\n", escapeData("the plan's issue: "+shown.Error()))
	}
	return 0, f.tellRound(d, r, issue)
}

// builder returns the desk of the plan in the checkout.
func (f *face) builder() (*plans.Desk, error) {
	file, name := f.planPath()
	p, err := planfile.Load(f.here(file))
	var wrong *plan.Error
	switch {
	case errors.As(err, &wrong):
		for _, x := range wrong.Problems[:min(10, len(wrong.Problems))] { // as many as GitHub shows of one step
			fmt.Fprintf(f.env.Stdout, "::error file=%s,line=%d,title=Switchback::%s\n", escapeProperty(x.File), x.Line, escapeData(x.Message))
		}
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such folder or file; check the repository out, and name the plan with the input ports", file)
	case err != nil:
		return nil, err
	}
	hashes, err := planfile.Hashes(f.path("."), p)
	if err != nil {
		return nil, err
	}
	settings := f.config.Plan()
	if n := f.in.Ports.MaxParallel; n > 0 {
		settings.MaxConcurrency = n
	}
	run := f.ownRun()
	o := f.renderOptions(trigger{})
	o.Mention = f.config.Escalation.Mention
	return &plans.Desk{
		Start:  f.starts(),
		Calls:  f.effects(trigger{}),
		Ledger: f.led, Issues: f.hub, Starts: f.hub, Checks: f.hub, Repo: f.repo, Name: name, Plan: p, SHA: f.env.Getenv("GITHUB_SHA"), Settings: settings, Hashes: hashes, Render: o,
		Run: run.ID, Attempt: run.Attempt, URL: run.URL, Now: f.now,
	}, nil
}

// here returns a path of the workspace as it is from the working directory, if it
// is below that: so people know it.
func (f *face) here(name string) string {
	full := f.path(name)
	wd, err := os.Getwd()
	if err != nil {
		return full
	}
	if rel, err := filepath.Rel(wd, full); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return full
}

// goOn takes in the last level that the workflow has, and starts it again.
func (f *face) goOn(ctx context.Context, d *plans.Desk) (plans.Round, error) {
	file := f.in.Ports.Dispatch
	if file == "self" {
		if file = f.ownWorkflow(); file == "" {
			return plans.Round{}, errors.New("input dispatch is self, but GITHUB_WORKFLOW_REF does not say which workflow this is; name its file")
		}
	}
	r, err := d.GoOn(ctx, f.in.Ports.Build, f.in.Ports.Level, file, f.env.Getenv("GITHUB_REF"), f.dispatched())
	if err != nil && r.More {
		return r, fmt.Errorf("ports are left, and going on in another run failed; the workflow needs `workflow_dispatch` with the input build, and the job `actions: write`: %w", err)
	}
	if r.More && err == nil {
		f.notice("ports are left; %s goes on in another run", file)
	}
	return r, err
}

// ownWorkflow is the file of the workflow that this run is of, "" if that is not
// known.
func (f *face) ownWorkflow() string {
	at, _, _ := strings.Cut(f.env.Getenv("GITHUB_WORKFLOW_REF"), "@")
	if file := path.Base(at); file != "." && file != "/" {
		return file
	}
	return ""
}

// starts is how a build like this one is begun by a dispatch.
func (f *face) starts() *plan.Start {
	file, ref := f.ownWorkflow(), f.env.Getenv("GITHUB_REF")
	if file == "" || !strings.HasPrefix(ref, "refs/heads/") {
		return nil
	}
	return &plan.Start{Workflow: file, Ref: ref, Inputs: f.dispatched()}
}

// dispatched are the inputs that this run was started with, if it was.
func (f *face) dispatched() map[string]string {
	var in map[string]any
	if f.env.Getenv("GITHUB_EVENT_NAME") != "workflow_dispatch" || json.Unmarshal(f.event.Inputs, &in) != nil {
		return nil
	}
	out := map[string]string{}
	for k, v := range in {
		if k != "build" && v != nil {
			out[k] = fmt.Sprint(v)
		}
	}
	return out
}

// tellRound writes a round's outputs and the job summary.
func (f *face) tellRound(d *plans.Desk, r plans.Round, issue int) error {
	matrix, err := oneLine(r.Matrix.Matrix)
	if err != nil {
		return err
	}
	outputs := map[string]string{
		"matrix": matrix, "empty": strconv.FormatBool(r.Empty), "more": strconv.FormatBool(r.More), "level": strconv.Itoa(r.Level),
		"build": r.Build, "max-parallel": strconv.Itoa(r.MaxParallel), "plan-issue": "",
	}
	if issue > 0 {
		outputs["plan-issue"] = strconv.Itoa(issue)
	}
	if n := outputLength(outputs); n > mostOutput {
		return tooLong(n)
	}
	if err := setOutputs(f.env.Getenv("GITHUB_OUTPUT"), outputs); err != nil {
		return err
	}
	b := r.Board
	fmt.Fprintf(f.env.Stdout, "plan %s, build %s: %d of %d ports passed, %d in the next level\n", d.Name, r.Build, b.Counts[plan.IsPassed], len(b.Rows), len(r.Matrix.Matrix.Include))
	return f.summary(planview.Body(d.Name, b, d.Render))
}

// matrix writes the ports that need work, and records nothing.
func (f *face) matrix(ctx context.Context, d *plans.Desk) (int, error) {
	reg, err := d.Register(ctx)
	if err != nil {
		return 1, err
	}
	st := d.Plan.State(reg, d.Hashes)
	st.Failed, st.Running = nil, nil // what did not pass is to be done
	m := d.Plan.Jobs(d.Settings, st, d.Hashes, false)
	outputs := map[string]string{"empty": strconv.FormatBool(m.Empty), "more": strconv.FormatBool(len(m.Shards) > 1), "max-parallel": strconv.Itoa(m.MaxParallel)}
	parts := make([]plan.Include, len(m.Shards))
	for i := range parts {
		parts[i] = m.Shard(i)
	}
	for name, v := range map[string]any{"matrix": m.Shard(0), "shards": parts, "levels": m.Levels} {
		if outputs[name], err = oneLine(v); err != nil {
			return 1, err
		}
	}
	if outputLength(outputs) > mostOutput {
		outputs["shards"], outputs["levels"] = "", ""
		fmt.Fprintf(f.env.Stdout, "::warning title=Switchback::%s\n", escapeData(fmt.Sprintf("the plan is too long for the outputs of a job: "+
			"shards and levels are left empty, and matrix holds the first %d of %d ports. The command plan hands out one level after the other, without such a bound",
			len(m.Shard(0).Include), len(m.Matrix.Include))))
	}
	if n := outputLength(outputs); n > mostOutput {
		return 1, tooLong(n)
	}
	return 0, setOutputs(f.env.Getenv("GITHUB_OUTPUT"), outputs)
}

// mostOutput is how much the outputs of a job may hold, in the units of UTF-16
// that GitHub counts: 1 MiB, less some for what else the job has.
const mostOutput = 500_000

func outputLength(values map[string]string) int {
	n := 0
	for _, v := range values {
		for _, r := range v {
			n += utf16.RuneLen(r)
		}
	}
	return n
}

func tooLong(n int) error {
	return fmt.Errorf("the matrix of the next ports has %d characters, and GitHub takes %d as the outputs of a job; shorten labels in runs_on, or the paths of the plan's files", n, mostOutput)
}

func oneLine(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// workerEnv returns the lines of worker-env, and their values, which are to be
// hidden in the log.
func workerEnv(text string) (env, secrets []string, err error) {
	for i, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		name, value, ok := strings.Cut(l, "=")
		up := strings.ToUpper(name)
		if !ok || !envName.MatchString(name) || strings.HasPrefix(up, "SWITCHBACK_") || strings.HasPrefix(up, "GITHUB_") {
			return nil, nil, fmt.Errorf("input worker-env, line %d: write NAME=VALUE, and no name that begins with SWITCHBACK_ or GITHUB_", i+1)
		}
		env = append(env, l)
		if len(value) > 3 && !slices.Contains(secrets, value) {
			secrets = append(secrets, value)
		}
	}
	return env, secrets, nil
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
