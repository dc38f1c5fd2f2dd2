package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/plans/worker"
)

// portDrive says how a port whose workers are workflows goes on.
type portDrive struct {
	drive    string
	heard    string // the key of the dispatch of which something was heard
	heardRun int64  // the run that it started, which has ended
}

func (d *portDrive) driveFlags(c *cobra.Command) {
	c.Flags().StringVar(&d.drive, "drive", "", "how a port whose workers are workflows goes on: wait for them; or events, to end while one is at work; default: ports.drive of the configuration")
	c.Flags().StringVar(&d.heard, "heard", "", "go on, by events, only if the workflow that was dispatched with this key is at work")
	c.Flags().Int64Var(&d.heardRun, "heard-run", 0, "with --heard, the number of the run that has ended")
}

// driven lets a pair wait for workflows, or leave while one is at work. A pair
// that has a command waits.
func (d portDrive) driven(ctx context.Context, pair *worker.Pair, gh *github.Hub, repo github.Repo, cfg config.File, getenv func(string) string) error {
	drive := cmp.Or(d.drive, cfg.Ports.Drive, "wait")
	switch {
	case drive != "wait" && drive != "events":
		return usage("--drive is %q; write wait or events", d.drive)
	case d.heardRun != 0 && d.heard == "":
		return usage("--heard-run goes with --heard; give the key that the run's name shows")
	case gh == nil && d.heard != "":
		return usage("--heard needs a token and a repository; set SWITCHBACK_GITHUB_TOKEN, and see --repo")
	case gh == nil:
		return nil
	}
	pair.Workflows = worker.WorkflowsOf(gh, repo, getenv)
	pair.Workflows.Leave = worker.Away(pair.Spec) && (drive == "events" || d.heard != "")
	pair.Expect = d.heard
	if d.heardRun == 0 {
		return nil
	}
	run, err := gh.Run(ctx, repo, d.heardRun, 0)
	if err != nil {
		return failed(err)
	}
	pair.Heard = &run
	return nil
}

// notOurs reports whether what was heard is another process's to go on with, or
// nobody's.
func notOurs(err error) bool {
	return errors.Is(err, worker.ErrNotAwaited) || errors.Is(err, worker.ErrBusy) || errors.Is(err, worker.ErrTaken)
}
