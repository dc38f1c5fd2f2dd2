package main

import (
	"context"
	"errors"
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
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

func portsCommand(s streams, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{Use: "ports", Short: "Run, show or check a plan of ports, or make a workflow of it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usage("the subcommand is missing; name run, show, lint, workflow or simulate")
		}}
	c.AddCommand(portsRun(s, getenv), portsShow(s, getenv), portsLint(s), portsWorkflow(s), portsSimulate(s))
	return c
}

func portsLint(s streams) *cobra.Command {
	var cfg string
	c := &cobra.Command{
		Use:   "lint [PATH]",
		Short: "Report all errors of a plan, by file and line",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, _, name, err := loadPlan(cfg, args)
			if err != nil {
				return err
			}
			if err := runnable(cfg, p); err != nil {
				return err
			}
			for _, x := range p.Ports() {
				if x.Test == nil && x.Status != plan.Completed {
					fmt.Fprintf(s.err, "%s:%d: note: port %q has no test, so nothing can show that it is done\n", x.File, x.Line, x.ID)
				}
			}
			fmt.Fprintf(s.out, "%s is valid: %d ports, %d dependencies, %d levels\n", name, p.Len(), p.Edges(), len(p.Levels()))
			return nil
		},
	}
	c.Flags().StringVar(&cfg, "config", "", configHelp)
	return c
}

// runnable returns what would keep a plan from running that is not in its files: paths that cannot
// be read, and rules of the configuration that cannot be compiled.
func runnable(cfg string, p plan.Plan) error {
	f, err := configOr(cfg)
	if err != nil {
		return err
	}
	if _, err := analysis.Rules(f); err != nil {
		return failed(err)
	}
	_, err = planfile.Hashes(".", p)
	return failedIf(err)
}

// actionVersion is the Action that a written workflow uses by default.
const actionVersion = "switchback-ci/switchback/ports@v1.0.0"

func portsWorkflow(s streams) *cobra.Command {
	var cfg string
	o := plan.WorkflowOptions{}
	c := &cobra.Command{
		Use:   "workflow [PATH]",
		Short: "Print a plan as a workflow with one job for each port",
		Long: `Print a plan as a workflow with one job for each port, whose needs are the port's dependencies: no
level waits for another, and only what depends on a failed port is skipped.

  switchback ports workflow > .github/workflows/plan.yml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, set, name, err := loadPlan(cfg, args)
			if err != nil {
				return err
			}
			o.Plan = name
			out, err := plan.Workflow(p, set, o)
			if err != nil {
				return failed(err)
			}
			_, err = s.out.Write(out)
			return err
		},
	}
	c.Flags().StringVar(&cfg, "config", "", configHelp)
	c.Flags().StringVar(&o.Name, "name", "Plan", "the name of the workflow")
	c.Flags().StringVar(&o.Uses, "uses", actionVersion, "the Action that runs a port")
	return c
}

func portsSimulate(s streams) *cobra.Command {
	sim := plan.DefaultSimulation()
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Simulate random plans, and compare their schedules with the lower bound",
		Long: `Simulate random plans by ready set (a port starts as soon as its own dependencies have passed) and
by level (a level starts when the one before it has ended), and print how much longer than the lower
bound each takes. No schedule is shorter than the longest chain of ports, or than all work divided
by the number of ports that run at once. In a contended plan, the hard case, both are within a
factor of two. The same seed gives the same result.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, n := range sim.Sizes {
				if n < 1 || n > 100_000 {
					return usage("--ports is %d; it must be 1 to 100000", n)
				}
			}
			for _, n := range sim.Concurrency {
				if n < 1 {
					return usage("--at-once is %d; it must be at least 1", n)
				}
			}
			if sim.Rounds < 1 || sim.Rounds > 1000 {
				return usage("--rounds is %d; it must be 1 to 1000", sim.Rounds)
			}
			return plan.WriteTrials(s.out, sim.Run())
		},
	}
	c.Flags().Uint64Var(&sim.Seed, "seed", sim.Seed, "the seed of the random plans")
	c.Flags().IntVar(&sim.Rounds, "rounds", sim.Rounds, "the number of plans of each shape and size")
	c.Flags().IntSliceVar(&sim.Sizes, "ports", sim.Sizes, "the sizes of the plans")
	c.Flags().IntSliceVar(&sim.Concurrency, "at-once", sim.Concurrency, "how many ports run at once")
	return c
}

// planFlags are those of ports run and ports show.
type planFlags struct {
	portPlace
	path, out, config, output string
	most                      int
	events                    bool
	grace                     time.Duration
	workflows                 *worker.Workflows // nil: none can be dispatched
}

func (f *planFlags) common(c *cobra.Command) {
	f.flags(c)
	c.Flags().Lookup("plan").DefValue = ""
	c.Flags().Lookup("plan").Usage = "the name of the plan in the ledger; default: made from its path"
	c.Flags().StringVar(&f.config, "config", "", configHelp)
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
}

func portsRun(s streams, getenv func(string) string) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "run [PATH]",
		Short: "Run a plan on this machine, each port as soon as its dependencies have passed",
		Long: `Run the ports of a plan on this machine, each as soon as its dependencies have passed, as many at
once as ports.max_concurrency allows, and deliver their feedback requests, until no port is left
that can run. Ports that depend on a failed one are blocked; the others continue. The plan is read
again whenever a port ends.

Everything is recorded in the ledger. A run that was killed is resumed by the next one, and a port
that has passed does not run again while its content stays the same. The logs of each port are in
.switchback/ports/PLAN/ID.

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
	c.Flags().StringVar(&f.out, "out", "", "the directory for logs, feedback and results; default: .switchback/ports/PLAN")
	c.Flags().IntVar(&f.most, "max-parallel", 0, "how many ports run at once; default: ports.max_concurrency of the configuration, else 3")
	c.Flags().BoolVar(&f.events, "events", false, "print the events of each port on the standard error, one JSON document per line")
	c.Flags().DurationVar(&f.grace, "grace", 10*time.Second, "how long the processes of a worker may take to exit before they are killed")
	return c
}

func portsShow(s streams, getenv func(string) string) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use: "show [PATH]", Short: "Print the state of the ports of a plan, and what they wait for", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.named(c, args)
			if err := oneOf("-o", f.output, "text", "json"); err != nil {
				return err
			}
			d, err := f.builder(c.Context(), getenv)
			if err != nil {
				return err
			}
			b, err := d.Board(c.Context())
			if err != nil {
				return failed(err)
			}
			return printBoard(s, b, f.output)
		},
	}
	f.common(c)
	return c
}

// named reads which plan is meant: that of the path, or of --plan.
func (f *planFlags) named(c *cobra.Command, args []string) {
	name, file := "", ""
	if c.Flags().Changed("plan") {
		name, file = planNamed(f.plan)
	}
	if f.path = file; len(args) == 1 {
		f.path = args[0]
	}
	f.plan = name
}

// builder opens the build of the plan.
func (f *planFlags) builder(ctx context.Context, getenv func(string) string) (*plans.Runner, error) {
	p, settings, file, err := loadPlan(f.config, portFlags{ports: f.path}.path())
	if err != nil {
		return nil, err
	}
	f.path = file
	if f.plan = orDefault(f.plan, planfile.Name(file)); !planName.MatchString(f.plan) {
		return nil, usage("--plan is %q; it must be a path, or a name of at most 100 letters, digits, dots, underscores and hyphens", f.plan)
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
	return &plans.Runner{Ledger: led, Repo: r, Name: f.plan, Plan: p, Settings: settings, Hashes: hashes, ID: plans.LocalBuild(time.Now(), os.Getpid()), Now: time.Now}, nil
}

func runWalk(ctx context.Context, s streams, f planFlags, getenv func(string) string) error {
	if err := oneOf("-o", f.output, "text", "json"); err != nil {
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
	unlock, err := alone(filepath.Join(".switchback", "ports", f.plan), f.plan) // the ports work in this directory, wherever their logs are
	if err != nil {
		return failed(err)
	}
	defer unlock()
	w, err := f.walk(s, d, dir, getenv)
	if err != nil {
		return failed(err)
	}
	files, err := worker.KeepRunnerFiles(getenv)
	if err != nil {
		return failed(err)
	}
	b, err := w.Run(ctx)
	if err := errors.Join(err, restore(s, files)); err != nil {
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

// alone prevents a second process from running the same plan.
func alone(dir, plan string) (func(), error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, "run.lock"))
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = fmt.Errorf("another process runs plan %s here; wait until it ends", plan)
	}
	return func() { _ = l.Unlock() }, err
}

// remedy says what to do when no port is left that can run.
func (f planFlags) remedy(ctx context.Context, b plan.Board) string {
	if ctx.Err() != nil {
		return "; the run was interrupted, run it again to resume"
	}
	said := map[string]bool{}
	var out strings.Builder
	for _, r := range b.Rows {
		for _, x := range r.Waits {
			if x.To == feedback.DefaultRoot && !said[x.ID] {
				said[x.ID] = true
				fmt.Fprintf(&out, "\n%s asks for a change of the plan: change %s, record it with `switchback feedback done %s --plan %s --summary TEXT`, and run again", x.ID, f.path, x.ID, f.path)
			}
		}
	}
	return out.String()
}

// walk returns what runs the plan.
func (f planFlags) walk(s streams, d *plans.Runner, dir string, getenv func(string) string) (*plans.Scheduler, error) {
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
		tell = printEvents(s)
	}
	run := func(ctx context.Context, name string, spec plan.Spec, book requests.Store) error {
		journal := &worker.Journal{Ledger: d.Ledger, Key: routing.PortKey(d.Repo.String(), f.plan, spec.ID), Port: spec.ID, Now: time.Now, Tell: tell}
		pair := &worker.Pair{
			Journal: journal, Plan: f.plan, Requests: &book, Spec: spec, Settings: d.Settings, Build: name, Root: root, Dir: filepath.Join(dir, spec.ID),
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
	return &plans.Scheduler{Runner: d, RunPort: run, Reload: read, OnChange: boardPrinter(s)}, nil
}

// boardPrinter prints the changes between one state of a plan and the next.
func boardPrinter(s streams) func(plan.Board) {
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

// rowText says why a port has not passed, and what it works at.
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
			out = append(out, fmt.Sprintf("works on %s of %s", x.ID, x.From))
		}
	}
	if r.Reason != "" && r.Standing != plan.IsPaused {
		out = append(out, markdown.Printable(strings.Join(strings.Fields(r.Reason), " ")))
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
		if r.Attempts > 0 {
			turns = fmt.Sprintf("%d", r.Attempts)
		}
		if r.Seconds > 0 {
			took = time.Duration(r.Seconds * float64(time.Second)).Round(10 * time.Millisecond).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Standing, turns, took, strings.Join(rowText(r), "; "))
	}
	return failedIf(w.Flush())
}
