// Switchback returns failing CI to the author or agent who can fix it, a bounded number of times,
// and opens one escalation issue when retries no longer help.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/switchback-ci/switchback/bot/tokenpipe"
	"github.com/switchback-ci/switchback/routing/redact"
)

// heap is the size of the heap, in bytes, from which the garbage collector runs more often. With the
// program itself a run then stays below 64 MiB.
const heap = 33 << 20

func main() {
	// A run is short and keeps little. At Go's default setting a tenth of its time goes into
	// collecting a few megabytes again and again.
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(heap)
	}
	tokens, err := takeTokens(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "switchback:", err)
		os.Exit(1)
	}
	// Logs and errors go to standard error, so this is where they are masked.
	redact.HideEnvironment(os.Environ())
	redact.Hide(tokens.Values()...)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, screen{redact.Writer(os.Stderr), os.Stderr}}, tokens.Getenv(os.Getenv))
	stop()
	os.Exit(code)
}

// takeTokens moves the tokens out of the environment for the commands that run workers. It may
// replace this process.
func takeTokens(args []string) (tokenpipe.Tokens, error) {
	if len(args) == 0 || !slices.Contains([]string{"action", "port", "ports"}, args[0]) {
		return nil, nil
	}
	return tokenpipe.Take()
}
