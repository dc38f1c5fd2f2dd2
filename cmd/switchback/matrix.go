package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/routing/plan"
)

func matrixCommand(s streams) *cobra.Command {
	var cfg, root, state string
	var ready bool
	var shard int
	c := &cobra.Command{
		Use:   "matrix [PATH]",
		Short: "Print the levels of a plan of ports, and its job matrix",
		Long: `Print a plan of ports as one JSON document on one line: its levels, and a matrix of the ports that
have to run, as strategy.matrix takes it.

  levels        all ports; each is in a later level than its dependencies
  matrix        the jobs; GitHub refuses an empty matrix, so check "empty" first
  shards        ranges of include that stay below GitHub's limit of 256 jobs, each as [FROM, TO),
                counted from 0; --shard 2 prints the second one alone
  empty         true if no port has to run
  max_parallel  for strategy.max-parallel
  blocked       ports that depend on one that failed or is on hold

--state says what is known already: {"passed": {"api": "HASH"}, "failed": [], "running": []}, with
the hash that the matrix gave for the port. A port that passed at the same hash is left out. PATH is
a directory or a file, by default ports.path of the configuration.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, set, _, err := loadPlan(cfg, args)
			if err != nil {
				return err
			}
			st, err := loadState(s, state)
			if err != nil {
				return err
			}
			hashes, err := planfile.Hashes(root, p)
			if err != nil {
				return failed(err)
			}
			m := p.Jobs(set, st, hashes, ready)
			if c.Flags().Changed("shard") {
				if shard < 1 || shard > max(1, len(m.Shards)) {
					return usage("--shard is %d; the matrix has %d shards, counted from 1", shard, len(m.Shards))
				}
				m.Matrix = m.Shard(shard - 1)
			}
			enc := json.NewEncoder(s.out)
			enc.SetEscapeHTML(false)
			return enc.Encode(m)
		},
	}
	c.Flags().StringVar(&cfg, "config", "", configHelp)
	c.Flags().StringVar(&root, "root", ".", "the root of the repository, which paths of ports are relative to")
	c.Flags().StringVar(&state, "state", "", "a JSON file of what passed, failed or runs; - for the standard input")
	c.Flags().IntVar(&shard, "shard", 0, "print only this shard of the matrix, counted from 1")
	c.Flags().BoolVar(&ready, "ready", false, "only ports whose dependencies have all passed")
	return c
}

// loadPlan reads the plan that the arguments or else the configuration name, and returns it with its
// settings and its path.
func loadPlan(cfg string, args []string) (plan.Plan, plan.Settings, string, error) {
	f, err := configOr(cfg)
	if err != nil {
		return plan.Plan{}, plan.Settings{}, "", err
	}
	name := f.PlanPath()
	if len(args) == 1 {
		name = args[0]
	}
	p, err := planfile.Load(name)
	var wrong *plan.Error
	switch {
	case errors.As(err, &wrong):
		return p, plan.Settings{}, "", &exitError{code: 1, list: wrong}
	case errors.Is(err, fs.ErrNotExist):
		return p, plan.Settings{}, "", failed(fmt.Errorf("%s: there is no such folder or file; name the plan, or set ports.path in the configuration", name))
	case err != nil:
		return p, plan.Settings{}, "", failed(err)
	}
	return p, plans.SettingsOf(f), name, nil
}

func loadState(s streams, name string) (plan.State, error) {
	var st plan.State
	if name == "" {
		return st, nil
	}
	in := s.in
	if name != "-" {
		if err := exist(s, []string{name}); err != nil {
			return st, failed(fmt.Errorf("--state: %w", err))
		}
		f, err := os.Open(name)
		if err != nil {
			return st, failed(err)
		}
		defer f.Close()
		in = f
	}
	dec := json.NewDecoder(in)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&st); err != nil {
		return st, failed(fmt.Errorf("--state: %s is not readable: %w", name, err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return st, failed(fmt.Errorf("--state: %s is not readable: there is text after the JSON object", name))
	}
	return st, nil
}
