package action

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/switchback-ci/switchback/routing/plan"
)

// iterationView shows the iterations of a port in the plan's issue while it runs: the newest one if
// several came at once.
type iterationView struct {
	rest       []byte
	last       int // shown last
	iterations chan int
	done       chan struct{}
}

// attempts returns how an iteration of a port is shown, where a build has assigned the port. What cannot
// be shown now is shown at the end of the round.
func (p planCommands) attempts(id, build string) func(context.Context, int) error {
	if build != "" {
		if d, err := p.build(); err == nil {
			return func(ctx context.Context, n int) error { return d.Issue().ShowProgress(ctx, id, n) }
		}
	}
	return func(context.Context, int) error { return nil }
}

// showIterations begins to show the iterations of a port.
func showIterations(ctx context.Context, id string, show func(context.Context, int) error, log *slog.Logger) *iterationView {
	l := &iterationView{iterations: make(chan int, 1), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for n := range l.iterations {
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			if err := show(ctx, n); err != nil {
				log.Warn("the plan's issue does not show an iteration", "port", id, "iteration", n, "err", err)
			}
			stop()
		}
	}()
	return l
}

// Write reads the events that the process of the port prints, one per line.
func (l *iterationView) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			break
		}
		l.rest = rest
		var e plan.Event
		if bytes.Contains(line, []byte(plan.WorkerSpawn)) && json.Unmarshal(line, &e) == nil && e.Kind == plan.WorkerSpawn && e.Iteration > l.last {
			l.last = e.Iteration
			l.offer(l.last)
		}
	}
	if len(l.rest) > 1<<20 { // no event is that long
		l.rest = nil
	}
	return len(p), nil
}

// offer leaves an iteration to be shown, in the place of one that is not shown yet.
func (l *iterationView) offer(n int) {
	select {
	case <-l.iterations:
	default:
	}
	l.iterations <- n
}

// end shows how the port ended, and waits for that.
func (l *iterationView) end() {
	l.offer(0)
	close(l.iterations)
	<-l.done
}
