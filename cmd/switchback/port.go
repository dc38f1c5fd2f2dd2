package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// portPlace names a port, its plan and its ledger.
type portPlace struct{ ledger, branch, repo, plan, port, journal string }

func (p *portPlace) flags(c *cobra.Command) {
	c.Flags().StringVar(&p.ledger, "ledger", "", ledgerHelp+"; default: the ledger branch of the repository in a job, else .switchback/ledger")
	c.Flags().StringVar(&p.branch, "ledger-branch", "switchback-ledger", "the ledger branch of the repository")
	c.Flags().StringVar(&p.repo, "repo", "", "the repository, owner/name; default: GITHUB_REPOSITORY, else local/local")
	c.Flags().StringVar(&p.plan, "plan", "ports", "the plan: its name in the ledger, or its path")
}

// planNamed reads --plan: it returns the plan's name in the ledger, and its path, which is "" if the
// plan was given by its name.
func planNamed(given string) (name, file string) {
	_, err := os.Stat(given)
	isFile := err == nil && slices.Contains([]string{".md", ".markdown", ".yml", ".yaml", ".json"}, strings.ToLower(filepath.Ext(given)))
	if strings.ContainsAny(given, `/\`) || isFile {
		return planfile.Name(given), given
	}
	return given, ""
}

var planName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// stream opens the stream of a port.
func (p portPlace) stream(ctx context.Context, getenv func(string) string) (*worker.Journal, error) {
	d, _, _, err := p.streamAt(ctx, getenv)
	return d, err
}

func (p portPlace) repository(getenv func(string) string) string {
	return cmp.Or(p.repo, getenv("GITHUB_REPOSITORY"), "local/local")
}

// streamAt opens the stream of a port. gh is nil without a token.
func (p portPlace) streamAt(ctx context.Context, getenv func(string) string) (d *worker.Journal, gh *github.Client, repo github.Repo, err error) {
	p.plan, _ = planNamed(p.plan)
	if !planName.MatchString(p.plan) {
		return nil, nil, repo, usage("--plan is %q; it must be a path, or a name of at most 100 letters, digits, dots, underscores and hyphens", p.plan)
	}
	name := p.repository(getenv)
	if repo, err = github.ParseRepo(name); err != nil {
		return nil, nil, repo, usage("--repo: %w", err)
	}
	if gh, err = githubClient(name, getenv); err != nil {
		return nil, nil, repo, failed(err)
	}
	led, err := p.open(ctx, repo, gh, getenv)
	if err != nil {
		return nil, nil, repo, err
	}
	return &worker.Journal{Ledger: led, Key: routing.PortKey(name, p.plan, p.port), Port: p.port, Now: time.Now}, gh, repo, nil
}

// githubClient returns a client for GitHub, nil without a token or a repository.
func githubClient(repo string, getenv func(string) string) (*github.Client, error) {
	token := cmp.Or(getenv("SWITCHBACK_GITHUB_TOKEN"), getenv("GITHUB_TOKEN")) // workers see neither
	if token == "" || repo == "local/local" {
		return nil, nil
	}
	interval, _ := time.ParseDuration(getenv("SWITCHBACK_CONTENT_INTERVAL")) // 0: the interval that GitHub asks for
	return github.New(github.Options{Token: token, BaseURL: getenv("GITHUB_API_URL"), MaxWait: time.Minute, ContentInterval: interval})
}

func (p portPlace) open(ctx context.Context, r github.Repo, gh *github.Client, getenv func(string) string) (ledger.Ledger, error) {
	if p.journal != "" {
		base := p
		base.journal = ""
		read, err := base.open(ctx, r, gh, getenv)
		if err != nil {
			return nil, err
		}
		own, err := ledger.Open(p.journal)
		if err != nil {
			return nil, usage("--journal: %w", err)
		}
		return &ledger.Overlay{Base: read, Own: own}, nil
	}
	path := p.ledger
	switch {
	case path == "" && getenv("GITHUB_ACTIONS") == "true":
		if gh == nil {
			return nil, usage("there is no token for the ledger of %s/%s; set SWITCHBACK_GITHUB_TOKEN (with contents: write), or name a ledger with --ledger", r.Owner, r.Name)
		}
		return gitbranch.NewGit(gh, r, p.branch), nil
	case path == "":
		path = filepath.Join(".switchback", "ledger")
	}
	return openLedger(ctx, path)
}

type portFlags struct {
	portPlace
	ports, out, build, config string
	again, takeOver           bool
	grace                     time.Duration
	portDrive
}

func portCommand(s streams, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{Use: "port", Short: "Run one port of a plan, or print its state",
		RunE: func(*cobra.Command, []string) error {
			return usage("the subcommand is missing; name run, show or feedback")
		}}
	var f portFlags
	run := &cobra.Command{
		Use:   "run ID",
		Short: "Run the implementer and the tester of a port until the test passes",
		Long: `Run the commands of a port, impl and then test, and return failures to impl until the test passes,
no attempt, time or token is left, or a worker escalates. Events are recorded in the ledger and
printed on the standard error, one JSON document per line. The result is printed on the standard
output and written to result.json in --out. A run that was killed is resumed by the next one.
Workers that are workflows are dispatched with the token in SWITCHBACK_GITHUB_TOKEN.

Exit codes: 0 passed, 1 anything else, 2 wrong usage.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.port = args[0]
			return runPort(c.Context(), s, f, getenv)
		},
	}
	f.flags(run)
	run.Flags().StringVar(&f.ports, "ports", "", "the path of the plan; default: that of --plan, or ports.path of the configuration")
	run.Flags().StringVar(&f.out, "out", "", "the directory for logs, feedback and result; default: .switchback/ports/PLAN/ID")
	run.Flags().StringVar(&f.build, "build", "", "the build that the port belongs to; default: the run of GitHub Actions, else the plan")
	run.Flags().StringVar(&f.config, "config", "", configHelp)
	run.Flags().StringVar(&f.journal, "journal", "", "a directory to record in, in place of the ledger, which is then only read; the Action's command collect records it")
	run.Flags().BoolVar(&f.again, "again", false, "run the port although it passed with the same content")
	run.Flags().BoolVar(&f.takeOver, "take-over", false, "take the port over from a process that has ended without recording it")
	run.Flags().DurationVar(&f.grace, "grace", 10*time.Second, "how long the processes of a worker may take to exit before they are killed")
	f.portDrive.driveFlags(run)
	var at portPlace
	show := &cobra.Command{
		Use: "show ID", Short: "Print the state of a port as JSON", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at.port = args[0]
			d, err := at.stream(c.Context(), getenv)
			if err != nil {
				return err
			}
			j, err := d.Load(c.Context())
			if err != nil {
				return failed(err)
			}
			if j.Loop == nil {
				return failed(fmt.Errorf("port %q of plan %q has not run; check --plan, --repo and --ledger", at.port, at.plan))
			}
			x, err := at.requests(c.Context(), d.Ledger, getenv)
			if err != nil {
				return failed(err)
			}
			return printJSON(s, struct {
				plan.Journal
				Feedback []plan.FeedbackRequest `json:"feedback,omitempty"` // open, from the port or to it
			}{j, x})
		},
	}
	at.flags(show)
	c.AddCommand(run, show, portFeedback(s, getenv))
	return c
}

func runPort(ctx context.Context, s streams, f portFlags, getenv func(string) string) error {
	if f.grace < 0 {
		return usage("--grace is %s; it must be 0 or more", f.grace)
	}
	var file string
	if f.plan, file = planNamed(f.plan); file != "" {
		if _, err := os.Stat(file); err != nil {
			return usage("--plan: %w; give the name of the plan in the ledger, or its path", err)
		}
		f.ports = orDefault(f.ports, file)
	}
	ports, settings, name, err := loadPlan(f.config, f.path())
	if err != nil {
		return err
	}
	spec, ok := ports.Port(f.port)
	if !ok {
		return usage("there is no port %q in %s; known are %s", f.port, name, someOf(ports.Order(), 20))
	}
	cfg, err := configOr(f.config)
	if err != nil {
		return err
	}
	rules, err := analysis.Rules(cfg)
	if err != nil {
		return failed(err)
	}
	d, gh, repo, err := f.streamAt(ctx, getenv)
	if err != nil {
		return err
	}
	if f.journal != "" {
		if spec.Test != nil && spec.Test.Workflow != "" || spec.Impl != nil && spec.Impl.Workflow != "" {
			return usage("port %s has a worker that is a workflow, and a job with --journal dispatches none; make both of its workers commands, or both workflows", spec.ID)
		}
		gh = nil
	}
	if err := worker.Check(spec, gh != nil); err != nil {
		return usage("%w", err)
	}
	d.Tell = printEvents(s)
	if f.out == "" {
		f.out = filepath.Join(".switchback", "ports", f.plan, f.port)
	}
	dir, err := filepath.Abs(f.out)
	if err != nil {
		return failed(err)
	}
	root, err := os.Getwd()
	if err != nil {
		return failed(err)
	}
	reqs, err := f.requests(ctx, d.Ledger, ports, getenv)
	if err != nil {
		return failed(err)
	}
	pair := &worker.Pair{
		Journal: d, Plan: f.plan, Requests: reqs, Spec: spec, Settings: settings, Build: buildName(f, getenv), Root: root, Dir: dir,
		Env: os.Environ(), Me: worker.Self(getenv), Again: f.again, TakeOver: f.takeOver, Grace: f.grace,
		Rules: rules, Criteria: cfg.CriteriaOf(spec.ID), Language: cfg.Language,
	}
	if err := f.driven(ctx, pair, gh, repo, cfg, getenv); err != nil {
		return err
	}
	files, err := worker.KeepRunnerFiles(getenv)
	if err != nil {
		return failed(err)
	}
	r, err := pair.Run(ctx)
	if err := restore(s, files); err != nil {
		return failed(err)
	}
	if f.heard != "" && notOurs(err) {
		fmt.Fprintf(s.err, "switchback: nothing to do: %v\n", err)
		return nil
	}
	if errors.Is(err, worker.ErrBusy) {
		err = fmt.Errorf("%w; if that process has ended, resume with --take-over", err)
	}
	if err != nil {
		return failed(err)
	}
	if err := portOutputs(getenv("GITHUB_OUTPUT"), r, filepath.Join(dir, "result.json")); err != nil {
		return failed(err)
	}
	if err := printJSON(s, r); err != nil {
		return err
	}
	if r.Status != plan.Success && r.Status != plan.Running && f.heard == "" {
		return failed(fmt.Errorf("port %s: %s", r.Port, because(r)))
	}
	return nil
}

// restore removes what workers wrote to the files of the runner.
func restore(s streams, files worker.RunnerFiles) error {
	changed, err := files.Restore()
	for _, name := range changed {
		fmt.Fprintf(s.err, "switchback: a worker wrote to the runner's file %s; its content from before the workers is restored\n", name)
	}
	return err
}

// path is the path of the plan, if it was given.
func (f portFlags) path() []string {
	if f.ports == "" {
		return nil
	}
	return []string{f.ports}
}

// configOr reads the configuration file of a name, or the repository's if the name is empty and there
// is one.
func configOr(name string) (config.File, error) {
	if name != "" {
		return loadConfig(name)
	}
	name, err := config.Find(os.DirFS("."))
	if err != nil {
		return config.File{}, failed(err)
	}
	return readConfig(name)
}

func because(r plan.Result) string {
	if r.Reason == "" {
		return string(r.Outcome)
	}
	return string(r.Outcome) + ": " + r.Reason
}

// requests returns the feedback requests of the build that the port belongs to.
func (f portFlags) requests(ctx context.Context, led ledger.Ledger, p plan.Plan, getenv func(string) string) (*requests.Store, error) {
	repo := f.repository(getenv)
	own := f.build
	if own == "" && getenv("GITHUB_ACTIONS") == "true" {
		own = buildName(f, getenv)
	}
	name, err := feedbackOf(ctx, led, repo, f.plan, f.build)
	if err != nil {
		return nil, err
	}
	if name == "" && own != "" {
		name = requests.Of(f.plan, own)
	}
	return &requests.Store{Ledger: led, Repo: repo, Build: name, Plan: p, Now: time.Now}, nil
}

// requests returns the open feedback requests of the newest build from a port or to it.
func (p portPlace) requests(ctx context.Context, led ledger.Ledger, getenv func(string) string) ([]plan.FeedbackRequest, error) {
	b := requests.Store{Ledger: led, Repo: p.repository(getenv), Now: time.Now}
	name, _ := planNamed(p.plan)
	var err error
	if b.Build, err = feedbackOf(ctx, led, b.Repo, name, ""); err != nil {
		return nil, err
	}
	r, err := b.State(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(plan.FeedbackRequestsOf(r, b.Build).Open, func(x plan.FeedbackRequest) bool { return x.From != p.port && x.To != p.port }), nil
}

// feedbackOf returns the name under which the requests of a build of a plan are recorded: "" if it is
// not the newest build, or none was started. Without a build the newest is meant.
func feedbackOf(ctx context.Context, led ledger.Ledger, repo, name, build string) (string, error) {
	events, _, err := led.Load(ctx, routing.PlanKey(repo, name))
	if err != nil {
		return "", err
	}
	r, err := plan.FoldBuildState(events)
	if err != nil {
		return "", fmt.Errorf("the state of plan %s: %w", name, err)
	}
	if build != "" && build != r.Build.ID {
		return "", nil
	}
	return r.Build.Feedback, nil
}

func buildName(f portFlags, getenv func(string) string) string {
	switch {
	case f.build != "":
		return f.build
	case getenv("GITHUB_ACTIONS") == "true" && getenv("GITHUB_RUN_ID") != "":
		return "run-" + getenv("GITHUB_RUN_ID")
	}
	return f.plan
}

// printEvents returns a function that prints events as they are recorded, one per line and without
// payloads.
func printEvents(s streams) func(plan.Event) {
	var mu sync.Mutex
	return func(e plan.Event) {
		if e.Kind == plan.PairChanged || e.Kind == plan.RunnerChanged || e.Kind == plan.Delivered {
			return // internal
		}
		if e.Message != nil {
			m := *e.Message
			m.Payload = nil
			e.Message = &m
		}
		e.At = e.At.UTC()
		line, err := json.Marshal(e)
		if err != nil {
			return // unreachable: plain values
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(s.err, "%s\n", line)
	}
}

// portOutputs sets the outputs of a step, if this runs in one.
func portOutputs(file string, r plan.Result, result string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "port=%s\nstatus=%s\noutcome=%s\nattempts=%s\nresult-file=%s\n", r.Port, r.Status, r.Outcome, strconv.Itoa(r.Attempts), strings.ReplaceAll(result, "\n", " "))
	return errors.Join(err, f.Close())
}

func someOf(names []string, most int) string {
	if len(names) == 0 {
		return "none: the plan is empty"
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// portDrive says how a port whose workers are workflows continues.
type portDrive struct {
	drive    string
	heard    string // the key of the dispatch that an event is about
	heardRun int64  // the run that the dispatch started, which is completed
}

func (d *portDrive) driveFlags(c *cobra.Command) {
	c.Flags().StringVar(&d.drive, "drive", "", "for workers that are workflows: wait for their runs, or events, to exit and be resumed by an event; default: ports.drive of the configuration")
	c.Flags().StringVar(&d.heard, "heard", "", "resume only if the port waits for the workflow that was dispatched with this key")
	c.Flags().Int64Var(&d.heardRun, "heard-run", 0, "with --heard, the id of the completed run")
}

// driven lets a pair wait for workflows, or exit while one runs. A pair of which one worker is a
// command waits.
func (d portDrive) driven(ctx context.Context, pair *worker.Pair, gh *github.Client, repo github.Repo, cfg config.File, getenv func(string) string) error {
	drive := cmp.Or(d.drive, cfg.Ports.Drive, "wait")
	switch {
	case drive != "wait" && drive != "events":
		return usage("--drive is %q; it must be wait or events", d.drive)
	case d.heardRun != 0 && d.heard == "":
		return usage("--heard is missing for --heard-run; give the key in the name of the run")
	case gh == nil && d.heard != "":
		return usage("--heard needs a token and a repository; set SWITCHBACK_GITHUB_TOKEN and --repo")
	case gh == nil:
		return nil
	}
	pair.Workflows = worker.WorkflowsOf(gh, repo, getenv)
	pair.Workflows.Leave = worker.Away(pair.Spec) && (drive == "events" || d.heard != "")
	pair.Expect = d.heard
	if d.heardRun == 0 {
		return nil
	}
	run, err := gh.Runs.Get(ctx, repo, d.heardRun, 0)
	if err != nil {
		return failed(err)
	}
	pair.Heard = &run
	return nil
}

// notOurs reports whether another process, or none, has to continue after an event.
func notOurs(err error) bool {
	return errors.Is(err, worker.ErrNotAwaited) || errors.Is(err, worker.ErrBusy) || errors.Is(err, worker.ErrTaken)
}

// portFeedback prints the feedback of an attempt in full: the inputs of a dispatched workflow hold as
// much of it as GitHub takes.
func portFeedback(s streams, getenv func(string) string) *cobra.Command {
	var at portPlace
	attempt := 0
	c := &cobra.Command{
		Use: "feedback ID", Short: "Print the feedback of the last failed test of a port, as JSON",
		Long: `Print the feedback of the last failed test of a port, as JSON and in full. The inputs of a
dispatched workflow hold it truncated if it is too long.

Exit codes: 0 printed, 1 there is none or it could not be read, 2 wrong usage.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at.port = args[0]
			if attempt < 0 {
				return usage("--attempt is %d; turns are counted from 1", attempt)
			}
			d, err := at.stream(c.Context(), getenv)
			if err != nil {
				return err
			}
			f, err := d.Feedback(c.Context(), attempt)
			if err != nil {
				return failed(err)
			}
			if f == nil {
				return failed(fmt.Errorf("port %q of plan %q has no feedback%s; check `switchback port show`, --plan, --repo and --ledger", at.port, at.plan, ofAttempt(attempt)))
			}
			return printJSON(s, f)
		},
	}
	at.flags(c)
	c.Flags().IntVar(&attempt, "attempt", 0, "the attempt of the newest run of the port, from 1; default: the last one that failed")
	return c
}

func ofAttempt(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" of attempt %d", n)
}
