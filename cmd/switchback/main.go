// Switchback takes failing CI back to whoever can fix it, a bounded number of
// times, and calls a human with a report when that no longer helps.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// heap is the heap at which the collector works harder: with the program
// itself, a run stays below 64 MiB.
const heap = 33 << 20

func main() {
	// A run is short and keeps little: at Go's own setting a tenth of it goes
	// into collecting a few megabytes again and again.
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(heap)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Getenv)
	stop()
	os.Exit(code)
}
