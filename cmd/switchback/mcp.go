package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/mcp"
	"github.com/switchback-ci/switchback/bot/testhistory"
	"github.com/switchback-ci/switchback/routing"
)

// branchEvery is the interval at which the branch of a ledger is listed: one request each.
const branchEvery = 30 * time.Second

func mcpCommand(s streams, getenv func(string) string) *cobra.Command {
	var where, repo, branch string
	c := &cobra.Command{
		Use:   "mcp [--ledger PATH | --repo OWNER/NAME]",
		Short: "Serve tools that read cases to a coding agent, over the Model Context Protocol",
		Long: `Serve tools that read cases, failures, packets and histories to a coding agent, over the Model
Context Protocol on standard input and output. Nothing can be changed with them.

--ledger names a ledger on this machine. --repo reads that of a repository on GitHub, from the
branch that the Action writes, with the token in SWITCHBACK_GITHUB_TOKEN or GITHUB_TOKEN (contents:
read). ` + "`switchback dashboard`" + ` and ` + "`switchback serve`" + ` serve the same tools over HTTP, at /mcp.
docs/agents.md shows how to add them to an agent.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if repo != "" && c.Flags().Changed("ledger") {
				return usage("--ledger and --repo name two ledgers; give one")
			}
			w, every, err := mcpLedger(c.Context(), s, where, repo, branch, getenv)
			if err != nil {
				return err
			}
			stop := w.follow(c.Context(), every)
			log := slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
			err = mcp.ServeIO(c.Context(), w.tools(log), &sdk.IOTransport{Reader: io.NopCloser(s.in), Writer: unclosed{s.out}})
			stop()
			return failedIf(errors.Join(err, w.done()))
		},
	}
	c.Flags().StringVar(&where, "ledger", ".switchback/ledger", ledgerHelp)
	c.Flags().StringVar(&repo, "repo", "", "the repository whose ledger is read from GitHub, OWNER/NAME")
	c.Flags().StringVar(&branch, "ledger-branch", "switchback-ledger", "branch of the ledger in the repository")
	return c
}

// mcpLedger opens the ledger that the tools read, and says how often to look for what is new.
func mcpLedger(ctx context.Context, s streams, where, repo, branch string, getenv func(string) string) (w watched, every time.Duration, err error) {
	if repo == "" {
		w, err = openEvents(ctx, s, where)
		return w, followEvery, err
	}
	r, err := github.ParseRepo(repo)
	if err != nil {
		return w, 0, usage("--repo: %w", err)
	}
	gh, err := githubClient(repo, getenv)
	if err != nil {
		return w, 0, failed(err)
	}
	if gh == nil {
		return w, 0, usage("there is no token; set GITHUB_TOKEN to one with contents: read for %s", repo)
	}
	var led ledger.Ledger = gitbranch.NewGit(gh, r, branch)
	w, err = eventsOf(ctx, s, led)
	return w, branchEvery, err
}

// tools returns what the tools for agents read.
func (w watched) tools(log *slog.Logger) mcp.Options {
	return mcp.Options{Store: w.events, Stream: w.stream, Tests: testhistory.NewCache(w.led, nil), Version: versionString(), Log: log}
}

// stream returns the events of a case.
func (w watched) stream(ctx context.Context, key string) ([]routing.Event, error) {
	events, _, err := w.led.Load(ctx, key)
	return events, err
}

// unclosed is a writer that is not closed with the session: it is the program's own.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
