package main

import (
	"context"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchback-ci/switchback/bot/server"
)

func serveCommand(s streams, getenv func(string) string) *cobra.Command {
	var show bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the GitHub App: receive webhooks and act on them",
		Long: `Receive GitHub's webhooks at /webhook, queue them in a database, and do in every repository of the
App what the Action does in one. SQLite in the data directory serves one process; several processes
share a PostgreSQL database.

On the first SIGTERM or SIGINT the server stops receiving webhooks and finishes the deliveries in
progress; on a second one it exits at once. Either way nothing is lost.

The dashboard at / shows people who sign in with GitHub what happens in the repositories that they
can read.

/healthz answers while the process is up, /readyz while it can queue and process webhooks. /metrics
serves Prometheus on the address that --metrics-listen names, and nowhere without it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := server.Load(given(c.Flags()), getenv)
			if show {
				if printed := set.Print(s.out); printed != nil {
					return failed(printed)
				}
			}
			switch {
			case err != nil:
				return usage("%w", err)
			case show:
				return nil
			}
			if getenv("GOGC") == "" && getenv("GOMEMLIMIT") == "" { // main sets both for short runs
				debug.SetGCPercent(100)
				debug.SetMemoryLimit(math.MaxInt64)
			}
			if err := server.Serve(c.Context(), secondSignal(c.Context()), set, versionString(), set.Logger(s.err)); err != nil {
				return failed(err)
			}
			return nil
		},
	}
	settingFlags(c.Flags())
	c.Flags().BoolVar(&show, "print-config", false, "print the configuration with secrets masked, and exit")
	return c
}

// settingFlags adds a flag for each setting of the App.
func settingFlags(f *pflag.FlagSet) {
	for _, x := range server.All() {
		f.String(x.Flag, x.Default, x.Usage+" ("+x.Env+")")
		if x.Switch {
			f.Lookup(x.Flag).NoOptDefVal = "true"
		}
	}
}

// given returns the flags that are set on the command line.
func given(f *pflag.FlagSet) map[string]string {
	out := map[string]string{}
	f.Visit(func(x *pflag.Flag) { out[x.Name] = x.Value.String() })
	return out
}

// secondSignal returns a context that ends with the next signal after the first one ended ctx.
func secondSignal(ctx context.Context) context.Context {
	hard, end := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		<-ctx.Done()
		ch := make(chan os.Signal, 1)
		signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
		<-ch
		end()
	}()
	return hard
}
