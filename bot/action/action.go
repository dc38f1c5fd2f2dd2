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
	"path/filepath"
	"strconv"
	"strings"
	"time"

	githubactions "github.com/sethvargo/go-githubactions"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/ctrf"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Env is what the runner gives a step.
type Env struct {
	Getenv  func(string) string
	Stdout  io.Writer
	Stderr  io.Writer
	Version string
	Now     func() time.Time
}

// face is one run of the Action.
type face struct {
	env     Env
	gha     *githubactions.Action
	in      Inputs
	event   Event
	repo    github.Repo
	hub     *github.Hub
	led     ledger.Ledger
	process string // names this process among those that file issues
	config  config.File
	rules   *diagnosis.Rules
	tests   *ctrf.Writer // of the run being analyzed
	log     *slog.Logger
	app     *inside // in the App; nil in the Action
}

// trigger is what a run of the Action is about: a analyzed run of a subject.
type trigger struct {
	subject    effect.Subject
	checkpoint string
	run        routing.Run
	head       string
	input      analysis.Input
	review     *routing.ReviewResult
	labels     []string
}

// Run carries out the Action once. It returns the step's exit code: 0, or 1
// for a decision that fail-on lists or work that could not be done, 2 for
// wrong inputs or configuration.
func Run(ctx context.Context, env Env) int {
	f, err := newFace(env)
	if err != nil {
		fmt.Fprintf(env.Stdout, "::error title=Switchback::%s\n", escapeData(err.Error()))
		return 2
	}
	code, err := f.run(ctx)
	if err != nil {
		f.failure(err)
		var bad *config.Error
		if errors.As(err, &bad) {
			return 2
		}
		return max(code, 1)
	}
	return code
}

func newFace(env Env) (*face, error) {
	a := githubactions.New(githubactions.WithGetenv(env.Getenv), githubactions.WithWriter(env.Stdout))
	in, err := readInputs(a, env.Getenv)
	if err != nil {
		return nil, err
	}
	f := &face{process: owner(env.Getenv), env: env, gha: a, in: in, log: slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	if f.repo, err = github.ParseRepo(env.Getenv("GITHUB_REPOSITORY")); err != nil {
		return nil, fmt.Errorf("GITHUB_REPOSITORY: %w", err)
	}
	if f.event, err = ReadEvent(env.Getenv("GITHUB_EVENT_PATH")); err != nil {
		return nil, err
	}
	if in.Token == "" {
		return nil, errors.New("no token; give the action `token: ${{ github.token }}` (its default) or set GITHUB_TOKEN")
	}
	f.hub, err = github.New(github.Options{
		Token: in.Token, BaseURL: env.Getenv("GITHUB_API_URL"), Login: in.BotLogin, Log: f.log,
		ContentInterval: f.interval(), MaxWait: time.Minute, IssueCap: 100, // the register counts over processes
	})
	if err != nil {
		return nil, err
	}
	f.led = gitbranch.NewGit(f.hub.Client(), f.repo.Owner, f.repo.Name, in.LedgerBranch)
	return f, nil
}

// interval is how far content-creating requests are apart. GitHub asks for a
// second; a server of one's own may be asked more often.
func (f *face) interval() time.Duration {
	if d, err := time.ParseDuration(f.env.Getenv("SWITCHBACK_CONTENT_INTERVAL")); err == nil {
		return d
	}
	return 0
}

func (f *face) run(ctx context.Context) (int, error) {
	command := f.command()
	if command == "" {
		f.notice("nothing to do for event %q with action %q", f.env.Getenv("GITHUB_EVENT_NAME"), f.event.Action)
		return 0, nil
	}
	if err := f.configure(ctx, command); err != nil {
		return 2, err
	}
	if f.config.Acts == config.ActsApp {
		return f.beside(ctx, command)
	}
	switch command {
	case "reconcile":
		return f.reconcileAll(ctx)
	case "plan", "matrix", "port", "collect":
		return f.ports(ctx, command)
	case "port-event":
		return f.portEvent(ctx)
	case "answer":
		return f.answer(ctx)
	case "replay":
		return f.replay(ctx)
	case "prompt":
		return f.openPrompt(ctx)
	}
	var reentry error
	if command == "workflow-run" {
		reentry = f.reenter(ctx)
	}
	code, err := f.decide(ctx, command)
	if reentry != nil {
		return max(code, 1), errors.Join(reentry, err)
	}
	return code, err
}

// decide analyzes the run that the event is about, and routes it.
func (f *face) decide(ctx context.Context, command string) (int, error) {
	var t *trigger
	var err error
	switch command {
	case "step":
		t, err = f.step(ctx)
	case "workflow-run":
		if len(f.in.Reports) == 0 {
			f.in.Reports = f.config.Reports
		}
		t, err = f.workflowRun(ctx)
	case "review":
		t, err = f.review(ctx)
	}
	if err != nil {
		return 1, err
	}
	if t == nil {
		return 0, nil
	}
	return f.route(ctx, *t)
}

// command returns what to do: as the input says, or by the event.
func (f *face) command() string {
	if f.in.Command != "auto" {
		return f.in.Command
	}
	if f.in.Result != "" {
		return "prompt"
	}
	name := f.env.Getenv("GITHUB_EVENT_NAME")
	if f.isAnswer(name) {
		return "answer"
	}
	switch name {
	case "workflow_run":
		if f.event.Action == "completed" {
			return "workflow-run"
		}
		return ""
	case "pull_request_review":
		if f.event.Action == "submitted" {
			return "review"
		}
		return ""
	case "issue_comment", "issues":
		return ""
	case "schedule", "workflow_dispatch":
		if len(f.in.Reports) == 0 {
			return "reconcile"
		}
	}
	return "step"
}

// configure reads the configuration: of the checkout where the step runs in
// the workflow of the change itself, whose file the change could edit as well;
// else from the default branch.
func (f *face) configure(ctx context.Context, command string) error {
	name := f.in.Config
	if name == "" {
		name = config.Path
	}
	var data []byte
	var err error
	switch command {
	case "step", "plan", "matrix", "port", "collect", "port-event":
		data, err = os.ReadFile(f.path(name))
		if errors.Is(err, os.ErrNotExist) && f.in.Config == "" {
			err = nil
		}
	default:
		data, err = f.hub.File(ctx, f.repo, name, "")
		if errors.Is(err, github.ErrNotFound) && f.in.Config == "" {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	if f.config, err = config.Parse(name, data); err != nil && command != "replay" { // which may fix it
		return err
	}
	f.rules, err = analysis.Rules(f.config)
	return err
}

// path resolves name below the workspace.
func (f *face) path(name string) string {
	ws := f.env.Getenv("GITHUB_WORKSPACE")
	if ws == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(ws, name)
}

// route sends the analyzed run down the pipeline and reports what came of it.
func (f *face) route(ctx context.Context, t trigger) (int, error) {
	out, err := f.analyze(t)
	if f.tests != nil {
		defer f.tests.Close()
	}
	if err != nil {
		return 1, err
	}
	v := out.Verdict
	v.Checkpoint, v.Run, v.Head = t.checkpoint, t.run, t.head
	line := f.line(f.effects(t))
	policy := f.policies(t)
	rec, err := line.Record(ctx, t.subject.Key(f.repo), v, policy)
	readOnly := false
	if err != nil {
		if !mayOnlyRead(err) || f.app != nil {
			return 1, fmt.Errorf("recording the decision: %w", err)
		}
		if rec.Case, err = f.dry(ctx, t.subject.Key(f.repo), v, &rec.Decision, policy); err != nil {
			return 1, err
		}
		readOnly = true
	}
	if f.app != nil {
		return 0, f.carry(ctx, line, rec, v.Class)
	}
	c := rec.Case
	var stuck error
	if !readOnly {
		c, stuck = line.Carry(ctx, rec)
		if mayOnlyRead(stuck) {
			readOnly, stuck = true, nil
		}
	}
	if err := f.tell(t, out, rec.Decision, c, readOnly); err != nil {
		return 1, err
	}
	if stuck != nil {
		return 1, stuck
	}
	if f.in.fails(rec.Decision) && !readOnly {
		return 1, nil
	}
	return 0, nil
}

// mayOnlyRead reports whether GitHub refused err's request because the token
// may not write. The ledger's errors are those of the client under the hub.
func mayOnlyRead(err error) bool {
	kind, _ := github.Verdict(github.Wrap("", err))
	return kind == github.ReadOnly
}

// dry decides without recording, for a token that may only read.
func (f *face) dry(ctx context.Context, key string, v routing.Verdict, d *routing.Decision, policy pipeline.Policies) (routing.Case, error) {
	events, _, err := f.led.Load(ctx, key)
	if err != nil {
		return routing.Case{}, fmt.Errorf("reading the ledger: %w", err)
	}
	c, err := routing.Fold(key, events)
	if err != nil {
		return c, err
	}
	*d = routing.Decide(c, v, policy(v.Checkpoint), f.now())
	if d.Repeated {
		return c, nil
	}
	return c.Apply(routing.RunEvent(key, v, *d, f.now()))
}

func (f *face) analyze(t trigger) (analysis.Output, error) {
	if t.review != nil {
		v := routing.ReviewVerdict(t.checkpoint, t.run, *t.review, f.config.Policy(t.checkpoint, "", nil).FailOn)
		return analysis.Output{Verdict: analysis.Bound(analysis.Redacted(v))}, nil
	}
	in := t.input
	in.Rules, in.Criteria, in.Language = f.rules, f.config.CriteriaOf(t.checkpoint), f.config.Language
	in.FailOn = f.config.Policy(t.checkpoint, "", nil).FailOn
	f.tests = ctrf.NewWriter(testreport.DefaultLimits().Failing)
	f.tests.Redact, in.Tests = diagnosis.Redact, f.tests
	return analysis.Analyze(in)
}

func (f *face) policies(t trigger) pipeline.Policies {
	label := overrideLabel(t.labels)
	return func(cp string) routing.Policy { return f.config.Policy(cp, t.subject.Ref(), label) }
}

// overrideLabel reads the label "switchback:max=5" of a pull request.
func overrideLabel(labels []string) *int {
	for _, l := range labels {
		rest, ok := strings.CutPrefix(strings.ToLower(l), "switchback:max=")
		if n, err := strconv.Atoi(rest); ok && err == nil && n >= 0 && n <= routing.HardCap {
			return &n
		}
	}
	return nil
}

func (f *face) renderOptions(t trigger) render.Options {
	return render.Options{
		ServerURL: f.env.Getenv("GITHUB_SERVER_URL"), Repo: f.repo.String(), Language: render.Language(f.config.Language),
		RunURL: t.run.URL, Redact: diagnosis.Redact,
	}
}

// claimTTL is how long a process may be silent before another takes over.
func (f *face) claimTTL() time.Duration {
	if d, err := time.ParseDuration(f.env.Getenv("SWITCHBACK_CLAIM_TTL")); err == nil && d > 0 {
		return d
	}
	return 3 * time.Minute
}

func (f *face) line(eff pipeline.Effector) *pipeline.Line {
	return &pipeline.Line{
		Ledger: f.led, Effector: f.counted(eff), Analyze: effect.Analyze, Owner: owner(f.env.Getenv), LeaseTTL: f.claimTTL(),
		Now: f.now, Sleep: f.pause, Log: f.log, MaxActions: f.config.Policy("", "", nil).MaxActions,
	}
}

// owner names this process; a process that runs the same job again is another.
func owner(getenv func(string) string) string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("run %s/%s job %s %s", getenv("GITHUB_RUN_ID"), getenv("GITHUB_RUN_ATTEMPT"), getenv("GITHUB_JOB"), hex.EncodeToString(b[:]))
}

func (f *face) now() time.Time {
	if f.env.Now != nil {
		return f.env.Now()
	}
	return time.Now()
}
