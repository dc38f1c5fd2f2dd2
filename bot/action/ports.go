package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/plan"
)

// PortInputs are the inputs of the commands plan, matrix, port and collect.
type PortInputs struct {
	Path        string // of the plan, "" for the configuration's
	Name        string // of the plan in the ledger, "" for that of its path
	Port        string // the one that command port runs
	Build       string // to continue; "" begins one
	Level       int    // the round that collect takes in, 0 without rounds
	MaxParallel int    // 0: the configuration's
	Dispatch    string // workflow to continue in another run, self for this one's
	WorkerEnv   string // lines NAME=VALUE for the workers
	Journal     string // where command port records: ledger or artifact
	Results     string // folder with the artifacts of ports, for command collect; "" for the default
}

func readPortInputs(get func(name, def string) string) (PortInputs, error) {
	in := PortInputs{Path: get("ports", ""), Name: get("plan", ""), Port: get("port", ""), Dispatch: get("dispatch", ""), WorkerEnv: get("worker-env", ""),
		Journal: get("journal", "ledger"), Results: get("results", "")}
	if in.Journal != "ledger" && in.Journal != "artifact" {
		return in, fmt.Errorf("input journal is %q; it must be ledger or artifact", in.Journal)
	}
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

var planName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// plan returns where the plan is, and its name in the ledger: that of the input, else its path with
// hyphens.
func (in PortInputs) plan(c config.File) (file, name string) {
	file, name = in.Path, in.Name
	if file == "" {
		file = c.PlanPath()
	}
	if name == "" {
		name = planfile.Name(file)
	}
	return file, name
}

// planCommands are the commands of a workflow that runs a plan of ports.
type planCommands struct {
	runner
	deps  handler.Deps
	in    PortInputs
	event *handler.Event
	own   routing.Run // the run of the step
	port  portProcess
}

func newPlanCommands(s *step) planCommands {
	return planCommands{runner: s.runner, deps: s.deps, in: s.in.Ports, event: s.event, own: ownRun(s.runner, s.deps.Repo, s.in),
		port: portProcess{runner: s.runner, deps: s.deps, in: s.in}}
}

// run carries out one of the commands, and returns the exit code.
func (p planCommands) run(ctx context.Context, command string) (int, error) {
	if command == "port" {
		return p.runPort(ctx)
	}
	if command == "port-event" {
		return p.portEvent(ctx)
	}
	d, err := p.build()
	if err != nil {
		return 2, err
	}
	if command != "matrix" && p.deps.Config.Ports.Drive == "events" {
		if _, err := p.advanceDue(ctx, d); err != nil { // the next event, or the next round, continues it
			p.say("warning", err.Error())
		}
	}
	var r plans.Round
	in := p.in
	if command == "collect" {
		if err := p.importResults(ctx, d); err != nil {
			return 1, err
		}
	}
	switch {
	case command == "matrix":
		return p.matrix(ctx, d)
	case command == "plan":
		r, err = d.Begin(ctx, in.Build)
	case in.Build == "" && in.Level == 0:
		r, err = d.CollectAll(ctx)
	case in.Build == "" || in.Level == 0:
		return 2, errors.New("inputs build and level go together; give both as the outputs of the step before, or neither")
	case in.Dispatch != "":
		r, err = p.resume(ctx, d)
	default:
		r, err = d.Collect(ctx, in.Build, in.Level)
	}
	if err != nil {
		return 1, err
	}
	issue, shown := d.Issue().Show(ctx)
	if shown != nil { // the plan continues; it is shown again with the next round
		p.say("warning", "the plan's issue: "+shown.Error())
	}
	return 0, p.writeRound(d, r, issue)
}

// importResults records what the jobs of ports left in their artifacts, as far as it is theirs to say.
// A port whose artifact is refused has failed.
func (p planCommands) importResults(ctx context.Context, d *plans.Runner) error {
	dir := p.in.Results
	if dir == "" {
		dir = filepath.Join(p.temp(), "switchback-results")
	}
	refused, err := d.Import(ctx, plans.Artifacts{Dir: dir, Name: d.Name}, p.in.Build)
	for _, id := range slices.Sorted(maps.Keys(refused)) {
		p.say("warning", fmt.Sprintf("the artifact of port %s is not taken: %v", id, refused[id]))
	}
	return err
}

// build returns the build of the plan in the checkout.
func (p planCommands) build() (*plans.Runner, error) {
	file, name := p.deps.Options.PlanFile, p.deps.Options.PlanName
	graph, err := planfile.Load(p.here(file))
	var wrong *plan.Error
	switch {
	case errors.As(err, &wrong):
		for _, x := range wrong.Problems[:min(10, len(wrong.Problems))] { // as many as GitHub shows of one step
			fmt.Fprintf(p.Stdout, "::error file=%s,line=%d,title=Switchback::%s\n", escapeProperty(x.File), x.Line, escapeData(x.Message))
		}
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such folder or file; check the repository out, and name the plan with the input ports", file)
	case err != nil:
		return nil, err
	}
	hashes, err := planfile.Hashes(p.path("."), graph)
	if err != nil {
		return nil, err
	}
	settings := plans.SettingsOf(p.deps.Config)
	if n := p.in.MaxParallel; n > 0 {
		settings.MaxConcurrency = n
	}
	o := p.deps.Render("")
	o.Mention = p.deps.Config.Escalation.Mention
	return &plans.Runner{
		Start:     p.starts(),
		Escalator: p.deps.Effects(effect.Subject{}, ""),
		Ledger:    p.deps.Ledger, Issues: p.deps.GitHub.Issues, Labels: p.deps.GitHub.Labels, Starts: p.deps.GitHub.Dispatches, Checks: p.deps.GitHub.Checks, Repo: p.deps.Repo, Name: name, Plan: graph, SHA: p.Getenv("GITHUB_SHA"), Settings: settings, Hashes: hashes, Render: o,
		Run: p.own.ID, Attempt: p.own.Attempt, URL: p.own.URL, Now: p.deps.Now,
	}, nil
}

// here returns a path of the workspace relative to the working directory, if it is below that: people
// know it in that form.
func (r runner) here(name string) string {
	full := r.path(name)
	wd, err := os.Getwd()
	if err != nil {
		return full
	}
	if rel, err := filepath.Rel(wd, full); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return full
}

// resume takes in the last level that the workflow has, and starts it again.
func (p planCommands) resume(ctx context.Context, d *plans.Runner) (plans.Round, error) {
	file := p.in.Dispatch
	if file == "self" {
		if file = p.ownWorkflow(); file == "" {
			return plans.Round{}, errors.New("input dispatch is self, but GITHUB_WORKFLOW_REF does not say which workflow this is; name its file")
		}
	}
	r, err := d.Continue(ctx, p.in.Build, p.in.Level, file, p.Getenv("GITHUB_REF"), p.dispatched())
	if err != nil && r.More {
		return r, fmt.Errorf("ports are left, and going on in another run failed; the workflow needs `workflow_dispatch` with the input build, and the job `actions: write`: %w", err)
	}
	if r.More && err == nil {
		p.notice("ports are left; %s goes on in another run", file)
	}
	return r, err
}

// ownWorkflow is the file of the workflow that this run is of, "" if that is unknown.
func (r runner) ownWorkflow() string {
	at, _, _ := strings.Cut(r.Getenv("GITHUB_WORKFLOW_REF"), "@")
	if file := path.Base(at); file != "." && file != "/" {
		return file
	}
	return ""
}

// starts describes the dispatch that begins a build like this one.
func (p planCommands) starts() *plan.Start {
	file, ref := p.ownWorkflow(), p.Getenv("GITHUB_REF")
	if file == "" || !strings.HasPrefix(ref, "refs/heads/") {
		return nil
	}
	return &plan.Start{Workflow: file, Ref: ref, Inputs: p.dispatched()}
}

// dispatched are the inputs that this run was started with, if it was.
func (p planCommands) dispatched() map[string]string {
	var in map[string]any
	if p.Getenv("GITHUB_EVENT_NAME") != "workflow_dispatch" || json.Unmarshal(p.event.Inputs, &in) != nil {
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

// writeRound writes a round's outputs and the job summary.
func (p planCommands) writeRound(d *plans.Runner, r plans.Round, issue int) error {
	matrix, err := oneLine(r.Matrix.Matrix)
	if err != nil {
		return err
	}
	outputs := map[string]string{
		"matrix": matrix, "empty": strconv.FormatBool(r.Empty), "more": strconv.FormatBool(r.More), "level": strconv.Itoa(r.Level),
		"build": r.Build, "max-parallel": strconv.Itoa(r.MaxParallel), "plan-issue": "",
	}
	commands, workflows := split(d.Plan, r.Matrix.Matrix.Include)
	for name, part := range map[string][]plan.Entry{"command": commands, "workflow": workflows} {
		text, err := oneLine(plan.Include{Include: part})
		if err != nil {
			return err
		}
		outputs[name+"-matrix"], outputs[name+"-empty"] = text, strconv.FormatBool(len(part) == 0)
	}
	if issue > 0 {
		outputs["plan-issue"] = strconv.Itoa(issue)
	}
	if n := outputLength(outputs); n > mostOutput {
		return tooLong(n)
	}
	if err := p.outputs(outputs); err != nil {
		return err
	}
	b := r.Board
	fmt.Fprintf(p.Stdout, "plan %s, build %s: %d of %d ports passed, %d in the next level\n", d.Name, r.Build, b.Counts[plan.IsPassed], len(b.Rows), len(r.Matrix.Matrix.Include))
	return p.summary(planview.Body(d.Name, b, d.Render))
}

// split separates the ports whose workers are commands, which run in a job that may not write, from
// those that a job dispatches as workflows.
func split(p plan.Plan, entries []plan.Entry) (commands, workflows []plan.Entry) {
	commands, workflows = []plan.Entry{}, []plan.Entry{} // null is no matrix
	for _, e := range entries {
		if spec, ok := p.Port(e.ID); ok && spec.Dispatched() {
			workflows = append(workflows, e)
		} else {
			commands = append(commands, e)
		}
	}
	return commands, workflows
}

// matrix writes the ports that need work as outputs, and records nothing.
func (p planCommands) matrix(ctx context.Context, d *plans.Runner) (int, error) {
	reg, err := d.Store().State(ctx)
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
		p.say("warning", fmt.Sprintf("the plan is too long for the outputs of a job: "+
			"shards and levels are left empty, and matrix holds the first %d of %d ports. The command plan hands out one level after the other, without such a bound",
			len(m.Shard(0).Include), len(m.Matrix.Include)))
	}
	if n := outputLength(outputs); n > mostOutput {
		return 1, tooLong(n)
	}
	return 0, p.outputs(outputs)
}

// mostOutput is how much the outputs of a job may hold, in UTF-16 code units as GitHub counts them:
// 1 MiB, less a reserve for the job's other outputs.
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

// workerEnv returns the lines of the input worker-env, and their values, which the log masks.
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

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
