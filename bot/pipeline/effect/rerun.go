package effect

import (
	"context"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// mostReruns is how many runs of a repository have their failed jobs run again within an hour.
const mostReruns = 20

// eventRerun is the event of the stream of a repository's reruns.
const eventRerun routing.EventType = routing.FamilyRerun + ".asked"

// rerunAsked is the payload of eventRerun.
type rerunAsked struct {
	Key string `json:"key"` // of the effect
}

func init() { routing.RegisterPayload[rerunAsked](eventRerun) }

// reruns are those of a repository: when each was asked for, by the key of its effect.
type reruns map[string]time.Time

var rerunProjection = routing.Projection[reruns]{
	New: func(string) reruns { return reruns{} },
	Clone: func(r reruns) reruns {
		out := reruns{}
		for k, at := range r {
			out[k] = at
		}
		return out
	},
	Apply: func(r reruns, e routing.Event) (reruns, error) {
		p, err := routing.PayloadOf[rerunAsked](e)
		if err == nil {
			r[p.Key] = e.At
		}
		return r, err
	},
}

// rerunner has failed jobs run again.
type rerunner struct{ *GitHub }

// takes records a rerun, false where there were too many within an hour, with the time when the next
// may be. One that was recorded before counts once.
func (g rerunner) takes(ctx context.Context, key string) (allowed bool, until time.Time, err error) {
	stream := ledger.Of(g.Ledger, routing.StreamKey(g.Repo.String(), routing.StreamReruns), rerunProjection)
	oldest := time.Time{}
	_, err = stream.Update(ctx, func(r reruns) ([]routing.Event, error) {
		now, recent := g.now(), 0
		oldest = time.Time{}
		for _, at := range r {
			if now.Sub(at) < time.Hour {
				if recent++; oldest.IsZero() || at.Before(oldest) {
					oldest = at
				}
			}
		}
		if _, known := r[key]; known {
			allowed = true
			return nil, nil
		}
		if allowed = recent < mostReruns; !allowed {
			return nil, nil
		}
		return []routing.Event{{Type: eventRerun, At: now, Data: rerunAsked{key}}}, nil
	})
	return allowed, oldest.Add(time.Hour), err
}

// rerunWaits says that a run is not to be run again before a time.
type rerunWaits struct{ until, now time.Time }

func (e *rerunWaits) Error() string {
	return fmt.Sprintf("%d runs were run again within an hour; the next is run after %s", mostReruns, e.until.UTC().Format(time.RFC3339))
}

// Advice implements advice.Adviser.
func (e *rerunWaits) Advice() advice.Advice {
	return advice.Advice{Kind: advice.NotYet, After: max(e.until.Sub(e.now), time.Second), Reason: "early"}
}

// run runs the failed jobs of a run again. What was decided is returned for a fix instead where
// that is refused; a person who asked for it is told.
func (g rerunner) run(ctx context.Context, c routing.Case, e routing.Effect) (string, error) {
	cp := c.Checkpoints[e.Checkpoint]
	kind := cp.Runs[cp.Last.Key()].Decision.Kind
	if kind != routing.KindRerun && kind != routing.KindIncident {
		return "", g.responder().rerun(ctx, e)
	}
	allowed, until, err := g.takes(ctx, e.Key)
	if err != nil {
		return "", err
	}
	if !allowed && kind == routing.KindIncident {
		return "", &rerunWaits{until, g.now()}
	}
	if !allowed {
		return routing.Refused(fmt.Errorf("%d runs were run again within an hour", mostReruns)), nil
	}
	err = g.responder().again(ctx, e)
	if err == nil || advice.Of(err).Kind == advice.Later {
		return "", err
	}
	g.log().Warn("the failed jobs are not run again", "repo", g.Repo.String(), "target", e.Target, "err", err)
	if g.Subject.Number > 0 {
		once := marker.Format(c.Key+"/rerun/refused", 0)
		if _, _, err := g.Hub.Comments.PostOnce(ctx, g.Repo, g.Subject.Number, once, render.RerunRefused(err, g.Render), false); err != nil {
			return "", err
		}
	}
	return routing.Refused(err), nil
}
