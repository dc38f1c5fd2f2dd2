package action

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/switchback-ci/switchback/routing/plan"
)

// liveTurns shows the turns of a port in the plan's issue as the port tells them:
// the newest while several came at once.
type liveTurns struct {
	rest  []byte
	turn  int // told last
	turns chan int
	done  chan struct{}
}

// live begins to show a port's turns where a build has handed it out. What cannot
// be shown is shown with the end of the round.
func (f *face) live(ctx context.Context, id, build string) *liveTurns {
	l := &liveTurns{turns: make(chan int, 1), done: make(chan struct{})}
	show := func(context.Context, int) error { return nil }
	if build != "" {
		if d, err := f.builder(); err == nil {
			show = func(ctx context.Context, turn int) error { return d.Live(ctx, id, turn) }
		}
	}
	go func() {
		defer close(l.done)
		for turn := range l.turns {
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			if err := show(ctx, turn); err != nil {
				f.log.Warn("the plan's issue does not show a turn", "port", id, "turn", turn, "err", err)
			}
			stop()
		}
	}()
	return l
}

// Write reads the events that the process of the port prints, one a line.
func (l *liveTurns) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			break
		}
		l.rest = rest
		var e plan.Event
		if bytes.Contains(line, []byte(`"pair"`)) && json.Unmarshal(line, &e) == nil && e.Pair != nil && e.Pair.Status == plan.Running && e.Pair.Turn > l.turn {
			l.turn = e.Pair.Turn
			l.tell(l.turn)
		}
	}
	if len(l.rest) > 1<<20 { // no event is that long
		l.rest = nil
	}
	return len(p), nil
}

// tell leaves a turn to be shown in the place of one that nobody has begun to
// show.
func (l *liveTurns) tell(turn int) {
	select {
	case <-l.turns:
	default:
	}
	l.turns <- turn
}

// end shows how the port ended, and waits for that.
func (l *liveTurns) end() {
	l.tell(0)
	close(l.turns)
	<-l.done
}
