package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing/plan"
)

func portsCommand(s streams, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{Use: "ports", Short: "Run a plan of ports, show how it stands, check it, write it as a workflow, or simulate plans", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return usage("name run, show, lint, workflow or simulate") }}
	c.AddCommand(walkCommand(s, getenv), standsCommand(s, getenv), lintCommand(s), workflowCommand(s), simulateCommand(s))
	return c
}

func lintCommand(s streams) *cobra.Command {
	var cfg string
	c := &cobra.Command{
		Use:   "lint [PATH]",
		Short: "Report everything wrong with a plan, by file and line",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, _, name, err := loadPlan(cfg, args)
			if err != nil {
				return err
			}
			for _, x := range p.Ports() {
				if x.Test == nil && x.Status != plan.Completed {
					fmt.Fprintf(s.err, "%s:%d: note: port %q has no test; nothing can show that it is done\n", x.File, x.Line, x.ID)
				}
			}
			fmt.Fprintf(s.out, "%s is valid: %d ports, %d dependencies, %d levels\n", name, p.Len(), p.Edges(), len(p.Levels()))
			return nil
		},
	}
	c.Flags().StringVar(&cfg, "config", "", "the configuration; default: "+config.Path+", if there is one")
	return c
}

// actionVersion is the Action that a written workflow uses, if nothing else is said.
const actionVersion = "switchback-ci/switchback@v1.0.0"

func workflowCommand(s streams) *cobra.Command {
	var cfg string
	o := plan.WorkflowOptions{}
	c := &cobra.Command{
		Use:   "workflow [PATH]",
		Short: "Write a plan as a static workflow, a job for each port",
		Long: `Write a plan as a workflow with one job for each port, whose needs are the port's
dependencies: no level waits for another, and only what depends on a failed port is
skipped.

  switchback ports workflow > .github/workflows/plan.yml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, set, name, err := loadPlan(cfg, args)
			if err != nil {
				return err
			}
			o.Plan = name
			out, err := p.Workflow(set, o)
			if err != nil {
				return failed(err)
			}
			_, err = s.out.Write(out)
			return err
		},
	}
	c.Flags().StringVar(&cfg, "config", "", "the configuration; default: "+config.Path+", if there is one")
	c.Flags().StringVar(&o.Name, "name", "Plan", "name of the workflow")
	c.Flags().StringVar(&o.Uses, "uses", actionVersion, "the Action that runs a port")
	return c
}

func simulateCommand(s streams) *cobra.Command {
	sim := plan.DefaultSimulation()
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Play random plans, and compare their schedules with the lower bound",
		Long: `Play random plans by ready set (a port starts as soon as its own dependencies have
passed) and by level (a level starts when the one before it has ended), and print how
much longer than the lower bound each takes. No schedule is shorter than the longest
chain of ports, or than all the work over the ports that run at once. In a contended
plan both are within a factor of two: the hard case. The same seed plays the same.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, n := range sim.Sizes {
				if n < 1 || n > 100_000 {
					return usage("--ports has %d; it must be 1 to 100000", n)
				}
			}
			for _, n := range sim.Concurrency {
				if n < 1 {
					return usage("--at-once has %d; it must be at least 1", n)
				}
			}
			if sim.Rounds < 1 || sim.Rounds > 1000 {
				return usage("--rounds is %d; it must be 1 to 1000", sim.Rounds)
			}
			return plan.WriteTrials(s.out, sim.Run())
		},
	}
	c.Flags().Uint64Var(&sim.Seed, "seed", sim.Seed, "seed of the random plans")
	c.Flags().IntVar(&sim.Rounds, "rounds", sim.Rounds, "plans of each shape and size")
	c.Flags().IntSliceVar(&sim.Sizes, "ports", sim.Sizes, "sizes of the plans")
	c.Flags().IntSliceVar(&sim.Concurrency, "at-once", sim.Concurrency, "ports that run at once")
	return c
}
