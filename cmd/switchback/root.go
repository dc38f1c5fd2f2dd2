package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// version is set by the release build.
var version = ""

// streams are the standard streams, injected for tests.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitError ends the program with an exit code. Its error is printed if there is one.
type exitError struct {
	code int
	err  error
	list error // printed as it is: one finding per line, as FILE:LINE: MESSAGE
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

// The exit codes: 1 for a finding or work that failed, 2 for wrong usage, 3 for input that is in no
// known format, 4 for a difference that `replay --exit-code` found.
func usage(format string, a ...any) error { return &exitError{code: 2, err: fmt.Errorf(format, a...)} }
func failed(err error) error              { return &exitError{code: 1, err: err} }
func unreadable(format string, a ...any) error {
	return &exitError{code: 3, err: fmt.Errorf(format, a...)}
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, s streams, getenv func(string) string) int {
	root := &cobra.Command{
		Use:           "switchback",
		Short:         "Return failing CI to the author or agent who can fix it",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       versionString(),
	}
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.DisableSuggestions = true // they take lines; misused makes one of them
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%s", flagMistake(c, err))
	})
	wrapUsage(root)
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, c := range commands {
			c.GroupID = id
		}
		root.AddCommand(commands...)
	}
	group("runs", "Runs and their test output:", parseCommand(s), diagnoseCommand(s), routeCommand(s), demoCommand(s))
	group("cases", "Cases and ledgers:", showCommand(s), caseCommand(s), historyCommand(s), statsCommand(s), replayCommand(s), packetCommand(s, getenv), eventsCommand(s), dashboardCommand(s), mcpCommand(s, getenv), ledgerCommand(s))
	group("github", "On GitHub:", initCommand(s), doctorCommand(s, getenv), configCommand(s), actionCommand(s, getenv), setupCommand(s, getenv), serveCommand(s, getenv), deliveriesCommand(s, getenv), notifyCommand(s, getenv), healthcheckCommand(s, getenv))
	group("plans", "Plans of ports:", matrixCommand(s), portsCommand(s, getenv), portCommand(s, getenv), feedbackCommand(s, getenv), channelCommand(s, getenv), hookCommand(s, getenv))
	group("surveys", "Surveys:", surveyCommand(s, getenv))
	group("program", "This program:", versionCommand(s))
	root.AddCommand(manCommand())
	root.SetCompletionCommandGroupID("program")
	root.SetHelpCommandGroupID("program")
	ctx, opened := closing(ctx)
	used, err := root.ExecuteContextC(ctx)
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
	fmt.Fprintln(s.err, "switchback:", misused(used, err)) // cobra's own: an unknown command, wrong arguments
	return 2
}

// helpWidth is how many columns help takes at most.
const helpWidth = 100

// addWrapped adds the template function once: cobra keeps these functions for all commands of the
// process, in a map without a lock.
var addWrapped = sync.OnceFunc(func() {
	cobra.AddTemplateFunc("wrapped", func(f *pflag.FlagSet) string { return f.FlagUsagesWrapped(helpWidth) })
})

// wrapUsage wraps the flags in the help of a command and its subcommands.
func wrapUsage(root *cobra.Command) {
	addWrapped()
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", " | wrapped "))
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
