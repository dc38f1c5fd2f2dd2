package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/notify"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing"
)

const (
	notifyQueue    = "notify"
	notifyAtOnce   = 8
	notifyPerPlace = 2                   // messages to one endpoint at once: one that hangs leaves the others their turn
	notifyEvery    = 2 * time.Second     // between two looks for events
	notifyPage     = 500                 // events of one look
	notifyAttempts = 30                  // with the queue's backoff about a day
	notifyKept     = 30 * 24 * time.Hour // of what was told
	notifyPatience = 3 * 24 * time.Hour  // with an endpoint that asks to wait
)

// notifyOne is the job that tells one endpoint of one message. It is inserted once for each, however
// many processes see the event.
type notifyOne struct {
	Endpoint string         `json:"endpoint" river:"unique"`
	ID       string         `json:"id" river:"unique"` // of the message
	Message  notify.Message `json:"message"`
}

// Kind implements river.JobArgs.
func (notifyOne) Kind() string { return "notify" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (notifyOne) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: notifyAttempts, Queue: notifyQueue, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// notifications tell endpoints what happens. An event becomes a job for each endpoint that wants to
// know of it; jobs are in a queue of their own, so that nobody waits for an endpoint.
type notifications struct {
	endpoints []notify.Endpoint
	events    *eventstream.Store
	positions notify.Positions
	jobs      *queue.Jobs
	names     *names
	sender    *notify.Sender
	web       string // where people see GitHub
	metrics   *metrics
	log       *slog.Logger

	mu   sync.Mutex
	busy map[string]int // messages being sent, by endpoint
}

func newNotifications(v *server) *notifications {
	return &notifications{endpoints: v.settings.Notify, events: v.live.events, positions: notify.Positions{DB: v.store.Database()}, jobs: v.store.Jobs,
		names: &names{store: v.store, log: v.log}, sender: notify.NewSender(), web: v.settings.App.WebURL(), metrics: v.metrics, log: v.log, busy: map[string]int{}}
}

// run makes jobs of what happens until ctx ends; wait returns when it has ended.
func (n *notifications) run(ctx context.Context) (wait func()) {
	var all sync.WaitGroup
	if len(n.endpoints) > 0 {
		all.Go(func() {
			var pruned time.Time
			for {
				for _, e := range n.endpoints {
					if err := n.look(ctx, e, time.Now()); err != nil && ctx.Err() == nil {
						n.log.Warn("notifications are made later", "endpoint", e.Name, "err", err)
					}
				}
				if now := time.Now(); now.Sub(pruned) > time.Hour {
					if err := n.positions.Prune(ctx, now.Add(-notifyKept)); err != nil && ctx.Err() == nil {
						n.log.Warn("old notifications could not be forgotten", "err", err)
					}
					pruned = now
				}
				if sleep.For(ctx, notifyEvery) != nil {
					return
				}
			}
		})
	}
	return all.Wait
}

// look makes jobs of what is new for an endpoint. Several processes may look at once, and a process
// that is killed before it has moved the position on makes the jobs that there are already.
func (n *notifications) look(ctx context.Context, e notify.Endpoint, now time.Time) error {
	last, err := n.events.Log.Last(ctx)
	if err != nil {
		return err
	}
	due, digests := e.Due(now)
	at, err := n.positions.Of(ctx, e.Name, notify.Position{Event: last, Digest: due})
	if err != nil {
		return err
	}
	var jobs []river.JobArgs
	if digests && due.After(at.Digest) {
		list, err := n.digests(ctx, e, due)
		if err != nil {
			return err
		}
		jobs = append(jobs, list...)
		at.Digest = due
	}
	page, err := n.events.Log.After(ctx, at.Event, notifyPage)
	if err != nil {
		return err
	}
	for _, x := range page {
		if m, ok := notify.Of(x, n.names.Now, n.web); ok && e.Wants(m) {
			jobs = append(jobs, notifyOne{e.Name, m.ID, m})
		}
		at.Event = x.ID
	}
	if len(page) == 0 && len(jobs) == 0 {
		return nil
	}
	if err := n.jobs.Enqueue(ctx, jobs...); err != nil {
		return err
	}
	return n.positions.Advance(ctx, e.Name, at)
}

// week is the time that a digest is about.
const week = 7 * 24 * time.Hour

// mostListed is how many names a digest lists of a kind.
const mostListed = 5

// digests returns the jobs of a weekly digest: one for each owner of repositories that the endpoint
// covers.
func (n *notifications) digests(ctx context.Context, e notify.Endpoint, due time.Time) ([]river.JobArgs, error) {
	all, err := n.events.Cases.Repos(ctx, nil)
	if err != nil {
		return nil, err
	}
	owned := map[string][]string{}
	for _, kept := range all {
		if name := n.names.Now(kept); e.Covers(name) {
			owner, _, _ := strings.Cut(name, "/")
			owned[owner] = append(owned[owner], kept)
		}
	}
	var out []river.JobArgs
	for owner, repos := range owned {
		f, err := n.figures(ctx, repos, due)
		if err != nil {
			return nil, err
		}
		m := notify.Message{ID: fmt.Sprintf("digest-%s-%s", owner, due.Format("2006-01-02")), Topic: notify.Digest, Repository: owner + "/*", At: due, Figures: &f}
		out = append(out, notifyOne{e.Name, m.ID, m})
	}
	return out, nil
}

// figures returns what a digest says of some repositories.
func (n *notifications) figures(ctx context.Context, repos []string, due time.Time) (notify.Figures, error) {
	f := notify.Figures{Longest: []string{}, Flaky: []string{}}
	outcomes, err := n.events.Figures.Outcomes(ctx, repos, due.Add(-week))
	if err != nil {
		return f, err
	}
	for _, o := range outcomes {
		switch {
		case o.Decision == routing.KindPass:
			f.Passed += o.N
		case o.Decision == routing.KindRetry:
			f.Returned += o.N
		case o.Decision.Escalates():
			f.Escalated += o.N
		}
	}
	states, err := n.events.Cases.InStates(ctx, repos)
	if err != nil {
		return f, err
	}
	f.Waiting = states[eventstream.Escalated]
	longest, err := n.events.Cases.List(ctx, repos, []eventstream.State{eventstream.Escalated}, eventstream.LongestWait, 0, mostListed)
	if err != nil {
		return f, err
	}
	for _, c := range longest {
		f.Longest = append(f.Longest, n.names.Now(c.Repo)+strings.TrimPrefix(c.Key, c.Repo))
	}
	clusters, err := n.events.Failures.Clusters(ctx, eventstream.Wanted{Repos: repos}, 0, notifyPage)
	if err != nil {
		return f, err
	}
	clusters = slices.DeleteFunc(clusters, func(c eventstream.Cluster) bool { return c.Flaky == 0 || c.Last.Before(due.Add(-week)) })
	slices.SortStableFunc(clusters, func(a, b eventstream.Cluster) int { return b.Flaky - a.Flaky })
	for _, c := range clusters[:min(len(clusters), mostListed)] {
		f.Flaky = append(f.Flaky, c.Name)
	}
	return f, nil
}

// send does the work of a notifyOne.
func (n *notifications) send(ctx context.Context, job *river.Job[notifyOne]) error {
	i := slices.IndexFunc(n.endpoints, func(e notify.Endpoint) bool { return e.Name == job.Args.Endpoint })
	if i < 0 {
		return river.JobCancel(fmt.Errorf("there is no endpoint %s any more", job.Args.Endpoint))
	}
	if !n.enter(job.Args.Endpoint) {
		return river.JobSnooze(time.Second)
	}
	defer n.leave(job.Args.Endpoint)
	// River records the end of a job a little later than it ends: a kill in between starts it again.
	if told, err := n.positions.Told(ctx, job.Args.Endpoint, job.Args.ID); told || err != nil {
		return err
	}
	err := n.sender.Send(ctx, n.endpoints[i], job.Args.Message)
	a := advice.Of(err)
	outcome := "retried"
	switch {
	case err == nil:
		outcome = "sent"
	case a.Kind != advice.Later, job.Attempt >= job.MaxAttempts, time.Since(job.CreatedAt) > notifyPatience:
		outcome = "dead_letter"
		n.log.Error("an endpoint is not notified", "endpoint", job.Args.Endpoint, "message", job.Args.ID, "err", err, "attempts", job.Attempt)
		err = river.JobCancel(err)
	case a.After > 0:
		err = river.JobSnooze(a.After)
	}
	if outcome != "retried" {
		err = errors.Join(err, n.positions.Tell(context.WithoutCancel(ctx), job.Args.Endpoint, job.Args.ID, time.Now()))
	}
	n.metrics.notifications.WithLabelValues(job.Args.Endpoint, outcome).Inc()
	return err
}

// enter takes a turn of an endpoint, if there is one.
func (n *notifications) enter(endpoint string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.busy[endpoint] >= notifyPerPlace {
		return false
	}
	n.busy[endpoint]++
	return true
}

func (n *notifications) leave(endpoint string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy[endpoint]--
}
