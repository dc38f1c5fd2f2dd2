// Package action is Switchback as a GitHub Action: it reads the runner's environment, the inputs
// and the event, calls the handler of the event, and writes outputs, annotations and the job
// summary.
package action

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	githubactions "github.com/sethvargo/go-githubactions"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing"
)

// Env is what the runner gives a step.
type Env struct {
	Getenv  func(string) string
	Stdout  io.Writer
	Stderr  io.Writer
	Version string
	Now     func() time.Time // nil: time.Now
}

// step is one run of the Action.
type step struct {
	runner
	in       Inputs
	event    *handler.Event
	deps     handler.Deps
	reporter *reporter
}

// Run runs the Action once. It returns the step's exit code: 0, or 1 for a decision that fail-on
// lists or work that could not be done, 2 for wrong inputs or configuration.
func Run(ctx context.Context, env Env) int {
	if env.Now == nil {
		env.Now = time.Now
	}
	s, err := newStep(env)
	if err != nil {
		runner{env}.say("error", err.Error())
		return 2
	}
	code, err := s.run(ctx)
	if err != nil {
		s.say("error", err.Error()+s.remedy(err))
		var bad *config.Error
		if errors.As(err, &bad) {
			return 2
		}
		return max(code, 1)
	}
	return code
}

// remedy completes an error message where a permission is missing.
func (s *step) remedy(err error) string {
	missing := github.MissingPermissions(err)
	if len(missing) == 0 {
		return ""
	}
	return "; " + s.reporter.grant(missing)
}

func newStep(env Env) (*step, error) {
	in, err := readInputs(githubactions.New(githubactions.WithGetenv(env.Getenv), githubactions.WithWriter(env.Stdout)), env.Getenv)
	if err != nil {
		return nil, err
	}
	s := &step{runner: runner{env}, in: in}
	log := slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if env.Getenv("GITHUB_REPOSITORY") == "" {
		return nil, errors.New("GITHUB_REPOSITORY is not set; `switchback action` runs as a step of a workflow, where GitHub sets it")
	}
	repo, err := github.ParseRepo(env.Getenv("GITHUB_REPOSITORY"))
	if err != nil {
		return nil, fmt.Errorf("GITHUB_REPOSITORY: %w", err)
	}
	if s.event, err = readEvent(env.Getenv); err != nil {
		return nil, err
	}
	if in.Token == "" {
		return nil, errors.New("no token; give the action `token: ${{ github.token }}` (its default) or set GITHUB_TOKEN")
	}
	client, err := github.New(github.Options{
		Token: in.Token, BaseURL: env.Getenv("GITHUB_API_URL"), Login: in.BotLogin, Log: log,
		ContentInterval: duration(env, "SWITCHBACK_CONTENT_INTERVAL", 0), MaxWait: time.Minute, IssueCap: 100, // the register counts over processes
	})
	if err != nil {
		return nil, err
	}
	s.reporter = &reporter{runner: s.runner, in: in}
	s.deps = handler.Deps{
		Repo: repo, GitHub: client, Ledger: gitbranch.NewGit(client, repo, in.LedgerBranch),
		ServerURL: env.Getenv("GITHUB_SERVER_URL"), DefaultBranch: s.event.Repository.DefaultBranch,
		Process: processName(env.Getenv), LeaseTTL: duration(env, "SWITCHBACK_LEASE_TTL", 3*time.Minute), Now: env.Now, Log: log,
		Reporter: s.reporter, Goals: s.reporter, Metrics: uncounted{}, Waiter: waiter{}, Builds: handler.WorkflowBuilds{},
	}
	return s, nil
}

// duration reads a positive duration of the environment.
func duration(env Env, name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(env.Getenv(name)); err == nil && d > 0 {
		return d
	}
	return otherwise
}

// processName names this process; a process that runs the same job again has another name.
func processName(getenv func(string) string) string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("run %s/%s job %s %s", getenv("GITHUB_RUN_ID"), getenv("GITHUB_RUN_ATTEMPT"), getenv("GITHUB_JOB"), hex.EncodeToString(b[:]))
}

// readEvent reads the event's payload; without a file it is empty.
func readEvent(getenv func(string) string) (*handler.Event, error) {
	name, path := getenv("GITHUB_EVENT_NAME"), getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return &handler.Event{Name: name}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the event (GITHUB_EVENT_PATH): %w", err)
	}
	e, err := handler.ParseEvent(name, data)
	if err != nil {
		return nil, fmt.Errorf("the event (GITHUB_EVENT_PATH) is no valid JSON: %w", err)
	}
	return e, nil
}

// run carries out the command, and returns the exit code.
func (s *step) run(ctx context.Context) (int, error) {
	command := s.command()
	if command == "" {
		s.notice("nothing to do for event %q with action %q", s.event.Name, s.event.Action)
		return 0, nil
	}
	if err := s.configure(ctx, command); err != nil {
		return 2, err
	}
	if s.deps.Config.Acts == config.ActsApp && !s.onlyWorkflow(command) {
		s.notice("the configuration says `acts: app`: the App does the work of command %s here", command)
		return 0, nil
	}
	switch command {
	case "plan", "matrix", "port", "collect", "port-event":
		return newPlanCommands(s).run(ctx, command)
	case "survey":
		return s.openSurvey(ctx)
	}
	defer s.reporter.close()
	var err error
	if command == "step" {
		err = s.route(ctx)
	} else {
		err = handler.Run(ctx, s.deps, command, eventOf(command, s.event), s.event)
	}
	if err != nil {
		return 1, err
	}
	return s.reporter.exitCode(), nil
}

// command returns what to do: what the input says, or what the event asks for. The action of surveys
// reads no tests and no reviews.
func (s *step) command() string {
	if s.in.Command != "auto" {
		return s.in.Command
	}
	c := s.eventCommand()
	if s.Getenv(actionVariable) == "survey" && (c == "step" || c == "review") {
		return ""
	}
	return c
}

// eventCommand returns what the event asks for.
func (s *step) eventCommand() string {
	if s.in.Result != "" {
		return "survey"
	}
	if s.isAnswer() {
		return "answer"
	}
	switch s.event.Name {
	case "workflow_run":
		if s.event.Action == "completed" {
			return "workflow-run"
		}
		return ""
	case "pull_request_review":
		if s.event.Action == "submitted" {
			return "review"
		}
		return ""
	case "issue_comment", "issues":
		return ""
	case "schedule", "workflow_dispatch":
		if len(s.in.Reports) == 0 || s.isEmptyWorkspace() {
			return "reconcile"
		}
	}
	return "step"
}

// isEmptyWorkspace reports whether the job has left no file before this step, not even a checkout:
// it runs no tests, so the reports that its workflow names are those of other runs.
func (s *step) isEmptyWorkspace() bool {
	entries, err := os.ReadDir(s.path("."))
	return err == nil && len(entries) == 0
}

// isAnswer reports whether the event may hold a person's answer. The label of a pull request is one
// unless the step is to read reports; on pull_request_target it reads none.
func (s *step) isAnswer() bool {
	labeled := s.event.Action == "labeled" || s.event.Action == "unlabeled"
	switch s.event.Name {
	case "issue_comment", "issues":
		return handler.Wanted(s.event.Name, s.event.Action)
	case "pull_request":
		return labeled && len(s.in.Reports) == 0
	case "pull_request_target":
		return labeled && (len(s.in.Reports) == 0 || s.event.Label != nil && strings.EqualFold(s.event.Label.Name, effect.PausedLabel))
	}
	return false
}

// eventOf returns the event whose handlers carry out a command. That of an answer is found by what
// the payload holds.
func eventOf(command string, e *handler.Event) string {
	switch {
	case command == "workflow-run":
		return "workflow_run"
	case command == "review":
		return "pull_request_review"
	case command == "reconcile":
		return "schedule"
	case command == "answer" && e.Issue != nil && e.Comment != nil:
		return "issue_comment"
	case command == "answer" && e.Issue != nil:
		return "issues"
	}
	return "pull_request"
}

// onlyWorkflow reports whether a workflow alone can carry out a command: all else the App does,
// where it acts, and both would post otherwise.
func (s *step) onlyWorkflow(command string) bool {
	switch command {
	case "plan", "matrix", "port", "collect", "survey":
		return true
	case "port-event": // the App knows the plan of the configuration
		return s.deps.Options.PlanName != planfile.Name(s.deps.Config.PlanPath())
	}
	return false
}

// ofCheckout reports whether the configuration is that of the checkout: where the step runs in the
// workflow of the change itself, whose file the change could edit as well. A workflow of the default
// branch that an outsider's event starts may have checked out anything, with rights that the outsider
// lacks.
func ofCheckout(command, event string) bool {
	switch command {
	case "step", "plan", "matrix", "port", "collect", "port-event":
	default:
		return false
	}
	switch event {
	case "push", "pull_request", "merge_group", "workflow_dispatch", "repository_dispatch", "schedule", "workflow_call", "":
		return true
	}
	return false
}

// configure reads the configuration: of the checkout, see ofCheckout, or of the default branch.
func (s *step) configure(ctx context.Context, command string) error {
	name, data, err := s.readConfig(ctx, command)
	if err != nil {
		return err
	}
	c, err := config.Parse(name, data)
	if err != nil && command != "replay" { // which may fix it
		return err
	}
	s.deps.Config = c
	s.deps.Options = handler.Options{
		Checkpoint: s.in.Checkpoint, Reports: s.in.Reports, Workflows: s.in.Workflows, ConfigFile: name,
		Replayed: mostReplayed, Temp: s.Getenv("RUNNER_TEMP"), Resume: s.in.Ports.Dispatch,
	}
	if len(s.in.Reports) == 0 && command == "workflow-run" {
		s.deps.Options.Reports = c.Reports
	}
	if s.Getenv(actionVariable) == "survey" { // a completed run starts the next cycle, and is not analyzed
		s.deps.Options.Workflows = []string{""}
	}
	s.deps.Options.PlanFile, s.deps.Options.PlanName = s.in.Ports.plan(c)
	s.deps.Rules, err = analysis.Rules(c)
	return err
}

// readConfig returns the path of the configuration and what it holds: nothing where none is named and
// there is none.
func (s *step) readConfig(ctx context.Context, command string) (name string, data []byte, err error) {
	name = s.in.Config
	switch {
	case !ofCheckout(command, s.event.Name) && name == "":
		if name, data, err = handler.ReadConfig(ctx, s.deps.GitHub, s.deps.Repo); errors.Is(err, github.ErrNotFound) {
			err = nil
		}
	case !ofCheckout(command, s.event.Name):
		data, err = s.deps.GitHub.Contents.Get(ctx, s.deps.Repo, name, "")
	default:
		if name == "" {
			found, err := config.Find(os.DirFS(s.path(".")))
			if err != nil || found == "" {
				return config.Path, nil, err
			}
			name = found
		}
		data, err = os.ReadFile(s.path(name))
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, github.ErrNotFound) {
		return name, nil, fmt.Errorf("there is no %s; check the input config, which is a path below the root of the repository", name)
	}
	if err != nil {
		return name, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return name, data, nil
}

// mostReplayed is how many cases a replay reads: each is a request.
const mostReplayed = 200

// waiter waits on the spot: nothing else is to be done by this process.
type waiter struct{}

// Pause implements handler.Waiter.
func (waiter) Pause(ctx context.Context, d time.Duration) error {
	return sleep.For(ctx, d)
}

// Delay implements handler.Waiter.
func (w waiter) Delay(ctx context.Context, d time.Duration) error { return w.Pause(ctx, d) }

// Defers implements handler.Waiter: no later run of the Action is known to come.
func (waiter) Defers() bool { return false }

// Defer implements handler.Waiter.
func (waiter) Defer(string) bool { return false }

// uncounted implements handler.Metrics: nobody reads metrics of a step.
type uncounted struct{}

// Decided implements handler.Metrics.
func (uncounted) Decided(routing.Decision, routing.Class) {}

// Applied implements handler.Metrics.
func (uncounted) Applied(routing.EffectKind, error) {}
