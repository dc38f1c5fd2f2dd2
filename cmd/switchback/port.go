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

// portPlace says which port of which plan, and where its ledger is.
type portPlace struct{ ledger, branch, repo, plan, port string }

func (p *portPlace) flags(c *cobra.Command) {
	c.Flags().StringVar(&p.ledger, "ledger", "", ledgerHelp+"; default: in a job the branch of the repository, else .switchback/ledger")
	c.Flags().StringVar(&p.branch, "ledger-branch", "switchback-ledger", "the branch of the repository that is the ledger in a job")
	c.Flags().StringVar(&p.repo, "repo", "", "the repository, owner/name; default: GITHUB_REPOSITORY, else local/local")
	c.Flags().StringVar(&p.plan, "plan", "ports", "the plan: its name in the ledger, or its path")
}

// planNamed takes a plan that was given by its path apart: its name in the ledger is
// returned, and its path, "" if it was given by its name.
func planNamed(given string) (name, file string) {
	_, err := os.Stat(given)
	isFile := err == nil && slices.Contains([]string{".md", ".markdown", ".yml", ".yaml", ".json"}, strings.ToLower(filepath.Ext(given)))
	if strings.ContainsAny(given, `/\`) || isFile {
		return planfile.Name(given), given
	}
	return given, ""
}

var planName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// desk opens the journal of a port.
func (p portPlace) desk(ctx context.Context, getenv func(string) string) (*worker.Desk, error) {
	d, _, _, err := p.deskAt(ctx, getenv)
	return d, err
}

func (p portPlace) repository(getenv func(string) string) string {
	return cmp.Or(p.repo, getenv("GITHUB_REPOSITORY"), "local/local")
}

// deskAt opens the journal of a port. gh is GitHub, if there is a token for it.
func (p portPlace) deskAt(ctx context.Context, getenv func(string) string) (d *worker.Desk, gh *github.Hub, repo github.Repo, err error) {
	p.plan, _ = planNamed(p.plan)
	if !planName.MatchString(p.plan) {
		return nil, nil, repo, usage("--plan is %q; use letters, digits, dots, underscores and hyphens, at most 100", p.plan)
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
	return &worker.Desk{Ledger: led, Key: routing.PortKey(name, p.plan, p.port), Port: p.port, Now: time.Now}, gh, repo, nil
}

// githubClient returns GitHub, nil without a token or a repository of its own.
func githubClient(repo string, getenv func(string) string) (*github.Hub, error) {
	token := cmp.Or(getenv("SWITCHBACK_GITHUB_TOKEN"), getenv("GITHUB_TOKEN")) // the first is kept from the workers
	if token == "" || repo == "local/local" {
		return nil, nil
	}
	interval, _ := time.ParseDuration(getenv("SWITCHBACK_CONTENT_INTERVAL")) // 0: as GitHub asks for
	return github.New(github.Options{Token: token, BaseURL: getenv("GITHUB_API_URL"), MaxWait: time.Minute, ContentInterval: interval})
}

func (p portPlace) open(ctx context.Context, r github.Repo, gh *github.Hub, getenv func(string) string) (ledger.Ledger, error) {
	path := p.ledger
	switch {
	case path == "" && getenv("GITHUB_ACTIONS") == "true":
		if gh == nil {
			return nil, usage("no token for the ledger of %s/%s; set SWITCHBACK_GITHUB_TOKEN (with contents: write), or name a ledger with --ledger", r.Owner, r.Name)
		}
		return gitbranch.NewGit(gh.Client(), r.Owner, r.Name, p.branch), nil
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
	c := &cobra.Command{Use: "port", Short: "Run one port of a plan, or show how it stands",
		RunE: func(*cobra.Command, []string) error { return usage("name run, show or feedback") }}
	var f portFlags
	run := &cobra.Command{
		Use:   "run ID",
		Short: "Run the pair of a port: the work, its test, and back with feedback, until it passes",
		Long: "Run the commands of a port, impl and then test, and hand what failed back to impl\n" +
			"until the test passes, the reworks, the time or the tokens are used up, or a worker\n" +
			"calls for help. What happens is recorded in the ledger and printed on the standard\n" +
			"error, one JSON document a line; the result is printed on the standard output and\n" +
			"kept in the file result.json below --out. A run that was killed goes on where it was.\n" +
			"Workers that are workflows are dispatched with the token in SWITCHBACK_GITHUB_TOKEN.\n\n" +
			"Exit codes: 0 passed, 1 anything else, 2 wrong usage.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.port = args[0]
			return runPort(c.Context(), s, f, getenv)
		},
	}
	f.flags(run)
	run.Flags().StringVar(&f.ports, "ports", "", "the plan: a folder, or a file; default: what --plan names, or ports.path of the configuration")
	run.Flags().StringVar(&f.out, "out", "", "where logs, feedback and result are kept; default: .switchback/ports/PLAN/ID")
	run.Flags().StringVar(&f.build, "build", "", "the name of the build it belongs to; default: the run of GitHub Actions, else the plan")
	run.Flags().StringVar(&f.config, "config", "", "the configuration; default: "+config.Path+", if there is one")
	run.Flags().BoolVar(&f.again, "again", false, "although the same content passed")
	run.Flags().BoolVar(&f.takeOver, "take-over", false, "although another process is recorded to run it, which has ended")
	run.Flags().DurationVar(&f.grace, "grace", 10*time.Second, "between asking a worker's processes to end and ending them")
	f.portDrive.driveFlags(run)
	var at portPlace
	show := &cobra.Command{
		Use: "show ID", Short: "Print how a port stands, as JSON", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at.port = args[0]
			d, err := at.desk(c.Context(), getenv)
			if err != nil {
				return err
			}
			j, err := d.Journal(c.Context())
			if err != nil {
				return failed(err)
			}
			if j.Loop == nil {
				return failed(fmt.Errorf("port %q of plan %q was never run; see --plan, --repo and --ledger", at.port, at.plan))
			}
			x, err := at.edges(c.Context(), d.Ledger, getenv)
			if err != nil {
				return failed(err)
			}
			return printJSON(s, struct {
				plan.Journal
				Feedback []plan.Edge `json:"feedback,omitempty"` // open, from the port or to it
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
			return usage("--plan: %w; name the plan as it is in the ledger, or its path", err)
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
	d, gh, repo, err := f.deskAt(ctx, getenv)
	if err != nil {
		return err
	}
	if err := worker.Check(spec, gh != nil); err != nil {
		return usage("%w", err)
	}
	d.Tell = teller(s)
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
	book, err := f.book(ctx, d.Ledger, ports, getenv)
	if err != nil {
		return failed(err)
	}
	pair := &worker.Pair{
		Desk: d, Plan: f.plan, Edges: book, Spec: spec, Settings: settings, Build: buildName(f, getenv), Root: root, Dir: dir,
		Env: os.Environ(), Me: worker.Self(getenv), Again: f.again, TakeOver: f.takeOver, Grace: f.grace,
		Rules: rules, Criteria: cfg.CriteriaOf(spec.ID), Language: cfg.Language,
	}
	if err := f.driven(ctx, pair, gh, repo, cfg, getenv); err != nil {
		return err
	}
	r, err := pair.Run(ctx)
	if f.heard != "" && notOurs(err) {
		fmt.Fprintf(s.err, "switchback: nothing to do: %v\n", err)
		return nil
	}
	if errors.Is(err, worker.ErrBusy) {
		err = fmt.Errorf("%w; if it has ended, --take-over goes on where it was", err)
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

// path is the plan as it was named, if it was.
func (f portFlags) path() []string {
	if f.ports == "" {
		return nil
	}
	return []string{f.ports}
}

// configOr reads the configuration that was named, or the repository's if there
// is one.
func configOr(name string) (config.File, error) {
	if name == "" {
		if _, err := os.Stat(config.Path); err != nil {
			return config.File{}, nil
		}
		name = config.Path
	}
	return loadConfig(name)
}

func because(r plan.Result) string {
	if r.Reason == "" {
		return string(r.Outcome)
	}
	return string(r.Outcome) + ": " + r.Reason
}

// book is the feedback between the ports of the plan: that of the build that the
// port belongs to.
func (f portFlags) book(ctx context.Context, led ledger.Ledger, p plan.Plan, getenv func(string) string) (*requests.Book, error) {
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
	return &requests.Book{Ledger: led, Repo: repo, Build: name, Plan: p, Now: time.Now}, nil
}

// edges returns the open feedback of the newest build that a port sent or is sent.
func (p portPlace) edges(ctx context.Context, led ledger.Ledger, getenv func(string) string) ([]plan.Edge, error) {
	b := requests.Book{Ledger: led, Repo: p.repository(getenv), Now: time.Now}
	name, _ := planNamed(p.plan)
	var err error
	if b.Build, err = feedbackOf(ctx, led, b.Repo, name, ""); err != nil {
		return nil, err
	}
	r, err := b.Register(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(plan.EdgesOf(r, b.Build).Open, func(x plan.Edge) bool { return x.From != p.port && x.To != p.port }), nil
}

// feedbackOf returns under what name the feedback of a build of a plan stands, as
// the register of the plan knows it: "" if it is not the newest build, or none was
// begun. Without a build the newest is meant.
func feedbackOf(ctx context.Context, led ledger.Ledger, repo, name, build string) (string, error) {
	events, _, err := led.Load(ctx, routing.PlanKey(repo, name))
	if err != nil {
		return "", err
	}
	r, err := plan.FoldRegister(events)
	if err != nil {
		return "", fmt.Errorf("the register of plan %s: %w", name, err)
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

// teller prints events as they are recorded, one a line; payloads are not shown.
func teller(s streams) func(plan.Event) {
	var mu sync.Mutex
	return func(e plan.Event) {
		if e.Kind == plan.PairChanged || e.Kind == plan.RunnerChanged || e.Kind == plan.Delivered {
			return // the program's own
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

// portOutputs appends the outputs of a step, if it is one.
func portOutputs(file string, r plan.Result, result string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "port=%s\nstatus=%s\noutcome=%s\nturns=%s\nresult-file=%s\n", r.Port, r.Status, r.Outcome, strconv.Itoa(r.Turns), strings.ReplaceAll(result, "\n", " "))
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
