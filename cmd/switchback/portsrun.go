package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// walkFlags are those of ports run and ports show.
type walkFlags struct {
	portPlace
	path, out, config, output string
	most                      int
	events                    bool
	grace                     time.Duration
	workflows                 *worker.Workflows // nil: none can be dispatched
}

func (f *walkFlags) common(c *cobra.Command) {
	f.flags(c)
	c.Flags().Lookup("plan").DefValue = ""
	c.Flags().Lookup("plan").Usage = "the name of the plan in the ledger; default: that of its path"
	c.Flags().StringVar(&f.config, "config", "", "the configuration; default: "+config.Path+", if there is one")
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
}

func walkCommand(s streams, getenv func(string) string) *cobra.Command {
	var f walkFlags
	c := &cobra.Command{
		Use:   "run [PATH]",
		Short: "Run a whole plan on this machine: each port as soon as what it depends on has passed",
		Long: `Run the ports of a plan on this machine, each as soon as what it depends on has
passed, as many at once as ports.max_concurrency allows, and deliver the feedback that
they send to each other, until nothing is left that may run. What depends on a port
that failed is blocked; the rest goes on. The plan is read again as ports end.

All is recorded in the ledger. A run that was killed is gone on with by the next one;
what has passed is not run again while its content stays the same. The logs of each
port are kept below .switchback/ports/PLAN/ID.

Exit codes: 0 every port has passed, 1 anything else, 2 wrong usage.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("max-parallel") && f.most < 1 {
				return usage("--max-parallel is %d; it must be at least 1", f.most)
			}
			f.named(c, args)
			return runWalk(c.Context(), s, f, getenv)
		},
	}
	f.common(c)
	c.Flags().StringVar(&f.out, "out", "", "where logs, feedback and results are kept; default: .switchback/ports/PLAN")
	c.Flags().IntVar(&f.most, "max-parallel", 0, "ports at once; default: ports.max_concurrency of the configuration, else 3")
	c.Flags().BoolVar(&f.events, "events", false, "print what is recorded of each port on the standard error, one JSON document a line")
	c.Flags().DurationVar(&f.grace, "grace", 10*time.Second, "between asking a worker's processes to end and ending them")
	return c
}

func standsCommand(s streams, getenv func(string) string) *cobra.Command {
	var f walkFlags
	c := &cobra.Command{
		Use: "show [PATH]", Short: "Print how the ports of a plan stand, and who waits for whom", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.named(c, args)
			if err := checkOutput(f.output); err != nil {
				return err
			}
			d, err := f.builder(c.Context(), getenv)
			if err != nil {
				return err
			}
			b, err := d.Stands(c.Context())
			if err != nil {
				return failed(err)
			}
			return printBoard(s, b, f.output)
		},
	}
	f.common(c)
	return c
}

// named notes which plan is meant: by its path, or by what --plan says.
func (f *walkFlags) named(c *cobra.Command, args []string) {
	name, file := "", ""
	if c.Flags().Changed("plan") {
		name, file = planNamed(f.plan)
	}
	if f.path = file; len(args) == 1 {
		f.path = args[0]
	}
	f.plan = name
}

// builder opens the desk of the plan.
func (f *walkFlags) builder(ctx context.Context, getenv func(string) string) (*plans.Desk, error) {
	p, settings, file, err := loadPlan(f.config, portFlags{ports: f.path}.path())
	if err != nil {
		return nil, err
	}
	f.path = file
	if f.plan = orDefault(f.plan, planfile.Name(file)); !planName.MatchString(f.plan) {
		return nil, usage("--plan is %q; use letters, digits, dots, underscores and hyphens, at most 100", f.plan)
	}
	if f.most > 0 {
		settings.MaxConcurrency, settings.Parallel = f.most, true
	}
	hashes, err := planfile.Hashes(".", p)
	if err != nil {
		return nil, failed(err)
	}
	r, err := github.ParseRepo(f.repository(getenv))
	if err != nil {
		return nil, usage("--repo: %w", err)
	}
	gh, err := githubClient(r.String(), getenv)
	if err != nil {
		return nil, failed(err)
	}
	led, err := f.open(ctx, r, gh, getenv)
	if err != nil {
		return nil, err
	}
	if gh != nil {
		f.workflows = worker.WorkflowsOf(gh, r, getenv)
	}
	return &plans.Desk{Ledger: led, Repo: r, Name: f.plan, Plan: p, Settings: settings, Hashes: hashes, ID: plans.LocalBuild(time.Now(), os.Getpid()), Now: time.Now}, nil
}

func runWalk(ctx context.Context, s streams, f walkFlags, getenv func(string) string) error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	d, err := f.builder(ctx, getenv)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(orDefault(f.out, filepath.Join(".switchback", "ports", f.plan)))
	if err != nil {
		return failed(err)
	}
	unlock, err := alone(filepath.Join(".switchback", "ports", f.plan), f.plan) // wherever logs are kept: the ports work here
	if err != nil {
		return failed(err)
	}
	defer unlock()
	w, err := f.walk(s, d, dir, getenv)
	if err != nil {
		return failed(err)
	}
	b, err := w.Go(ctx)
	if err != nil {
		return failed(err)
	}
	if err := printBoard(s, b, f.output); err != nil {
		return err
	}
	if _, passed := b.Done(); !passed {
		return failed(fmt.Errorf("%d of %d ports have passed%s", b.Counts[plan.IsPassed], len(b.Rows), f.remedy(ctx, b)))
	}
	return nil
}

// alone keeps a second process from running the same plan.
func alone(dir, plan string) (func(), error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, "run.lock"))
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = fmt.Errorf("another process runs plan %s here; wait until it has ended", plan)
	}
	return func() { _ = l.Unlock() }, err
}

// remedy says what a human can do where nothing is left that may run.
func (f walkFlags) remedy(ctx context.Context, b plan.Board) string {
	if ctx.Err() != nil {
		return "; it was interrupted, and the next run goes on"
	}
	said := map[string]bool{}
	var out strings.Builder
	for _, r := range b.Rows {
		for _, x := range r.Waits {
			if x.To == feedback.DefaultRoot && !said[x.ID] {
				said[x.ID] = true
				fmt.Fprintf(&out, "\n%s asks for a change of the plan: change %s, note it with `switchback feedback done %s --plan %s --summary TEXT`, and run again", x.ID, f.path, x.ID, f.path)
			}
		}
	}
	return out.String()
}

// walk makes what runs the plan.
func (f walkFlags) walk(s streams, d *plans.Desk, dir string, getenv func(string) string) (*plans.Walk, error) {
	cfg, err := configOr(f.config)
	if err != nil {
		return nil, err
	}
	rules, err := analysis.Rules(cfg)
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var tell func(plan.Event)
	if f.events {
		tell = teller(s)
	}
	run := func(ctx context.Context, name string, spec plan.Spec, book requests.Book) error {
		desk := &worker.Desk{Ledger: d.Ledger, Key: routing.PortKey(d.Repo.String(), f.plan, spec.ID), Port: spec.ID, Now: time.Now, Tell: tell}
		pair := &worker.Pair{
			Desk: desk, Plan: f.plan, Edges: &book, Spec: spec, Settings: d.Settings, Build: name, Root: root, Dir: filepath.Join(dir, spec.ID),
			Workflows: f.workflows, Env: os.Environ(), Me: worker.Self(getenv), Grace: f.grace, Rules: rules, Criteria: cfg.CriteriaOf(spec.ID), Language: cfg.Language,
		}
		_, err := pair.Run(ctx)
		return err
	}
	specs, hashes := d.Plan.Ports(), d.Hashes
	read := func() (plan.Plan, map[string]string, error) {
		p, err := planfile.Load(f.path)
		if err != nil || reflect.DeepEqual(p.Ports(), specs) {
			return p, hashes, err
		}
		specs = p.Ports()
		hashes, err = planfile.Hashes(".", p)
		return p, hashes, err
	}
	return &plans.Walk{Desk: d, Run: run, Read: read, Tell: boardTeller(s)}, nil
}

// boardTeller prints what changed between one state of a plan and the next.
func boardTeller(s streams) func(plan.Board) {
	before := map[string]string{}
	return func(b plan.Board) {
		for _, r := range b.Rows {
			now := string(r.Standing)
			if what := strings.Join(rowText(r), "; "); what != "" {
				now += ": " + what
			}
			if old := before[r.ID]; old != now && (old != "" || r.Standing != plan.IsPending) {
				fmt.Fprintf(s.err, "%s %s %s\n", time.Now().Format(time.TimeOnly), r.ID, now)
			}
			before[r.ID] = now
		}
	}
}

// rowText says what is to be known of a port that has not passed.
func rowText(r plan.Row) []string {
	var out []string
	if len(r.By) > 0 {
		out = append(out, "waits for "+strings.Join(r.By, ", "))
	}
	for _, x := range r.Waits {
		if r.Standing != plan.IsPaused {
			break
		}
		to := x.To
		if to == feedback.DefaultRoot {
			to = "a change of the plan"
		}
		out = append(out, fmt.Sprintf("%s: %s waits for %s (%s, round %d of %d)", x.ID, x.From, to, x.Type, x.Round, feedback.MaxRounds))
	}
	for _, x := range r.For {
		switch {
		case r.Standing != plan.IsRunning:
		case x.From == r.ID:
			out = append(out, "verifies "+x.ID)
		default:
			out = append(out, fmt.Sprintf("works at %s of %s", x.ID, x.From))
		}
	}
	if r.Reason != "" && r.Standing != plan.IsPaused {
		out = append(out, plain(r.Reason))
	}
	return out
}

func printBoard(s streams, b plan.Board, output string) error {
	if output == "json" {
		return printJSON(s, b)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, r := range b.Rows {
		turns, took := "", ""
		if r.Turns > 0 {
			turns = fmt.Sprintf("%d", r.Turns)
		}
		if r.Seconds > 0 {
			took = time.Duration(r.Seconds * float64(time.Second)).Round(10 * time.Millisecond).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Standing, turns, took, strings.Join(rowText(r), "; "))
	}
	return failedIf(w.Flush())
}
