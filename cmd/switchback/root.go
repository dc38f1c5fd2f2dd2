package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build.
var version = ""

// streams are the standard streams, injected for tests.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitError ends the program with a code; its error, if any, is printed.
type exitError struct {
	code int
	err  error
	list error // printed as it is, each line a finding as FILE:LINE: MESSAGE
}

func (e *exitError) Error() string {
	if e.list != nil {
		return e.list.Error()
	}
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// The exit codes: 1 for a finding or work that could not be done, 2 for wrong
// usage, 3 for input that is not readable as any known format, 4 for a
// difference that a replay was asked to tell by its code.
func usage(format string, a ...any) error { return &exitError{code: 2, err: fmt.Errorf(format, a...)} }
func failed(err error) error              { return &exitError{code: 1, err: err} }
func unreadable(format string, a ...any) error {
	return &exitError{code: 3, err: fmt.Errorf(format, a...)}
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, s streams, getenv func(string) string) int {
	root := &cobra.Command{
		Use:               "switchback",
		Short:             "Take failing CI back to whoever can fix it, a bounded number of times",
		SilenceUsage:      true,
		SilenceErrors:     true,
		Version:           versionString(),
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage("%w; see %s --help", err, c.CommandPath()) })
	root.AddCommand(parseCommand(s), diagnoseCommand(s), routeCommand(s), showCommand(s),
		caseCommand(s), configCommand(s), ledgerCommand(s), actionCommand(s, getenv), demoCommand(s), dashboardCommand(s), promptCommand(s, getenv),
		matrixCommand(s), portsCommand(s, getenv), feedbackCommand(s, getenv))
	root.AddCommand(portCommand(s, getenv), channelCommand(s, getenv), hookCommand(s, getenv), serveCommand(s, getenv), deliveriesCommand(s, getenv))
	root.AddCommand(ledgerStatsCommand(s), replayCommand(s))
	ctx, opened := closing(ctx)
	root.AddCommand(setupCommand(s, getenv), healthcheckCommand(s, getenv), eventsCommand(s))
	err := root.ExecuteContext(ctx)
	if e := opened.close(); e != nil && err == nil {
		err = failed(e)
	}
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.list != nil {
			fmt.Fprintln(s.err, exit.list)
		}
		if exit.err != nil {
			fmt.Fprintln(s.err, "switchback:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(s.err, "switchback:", err) // cobra's own: an unknown command, wrong arguments
	return 2
}

func versionString() string {
	if version != "" {
		return version
	}
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" {
		return bi.Main.Version
	}
	return "(devel)"
}
