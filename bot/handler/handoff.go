package handler

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
)

// handoffs follow the hand-offs to workers who are told in turn: whether they acknowledge, and when
// their time is over. Times are GitHub's, since the process that told a worker may have another clock
// than the one that looks.
type handoffs struct{ Deps }

// follow looks after the active hand-off of a case, and tells the next worker if the time of the one
// who holds it is over. It may be done again.
func (h handoffs) follow(ctx context.Context, c routing.Case) error {
	for {
		now := c.Handoff
		if now == nil || now.Told.IsZero() || now.Acknowledge != nil && now.Waits == nil && !routing.HandoffDue(c, h.GitHub.Time()) {
			return nil
		}
		subject, head, err := h.subject(ctx, c.Key)
		if err != nil {
			return err
		}
		p, news, err := h.look(ctx, c, subject, head)
		if err != nil || !news {
			return err
		}
		if c, err = h.record(ctx, c, subject, p); err != nil {
			return err
		}
		if p.Change != routing.HandoffContinues && !routing.HandoffDue(c, h.GitHub.Time()) {
			return nil
		}
	}
}

// overdue follows the hand-off of a case that something was done to, if its worker's time is over.
func (h handoffs) overdue(ctx context.Context, c routing.Case) error {
	if !routing.HandoffDue(c, h.GitHub.Time()) {
		return nil
	}
	return h.follow(ctx, c)
}

// record records what happened to the active hand-off of a case, and applies what follows.
func (h handoffs) record(ctx context.Context, c routing.Case, s effect.Subject, p routing.HandoffChanged) (routing.Case, error) {
	p.Number, p.Place = c.Handoff.Number, c.Handoff.Place
	if p.At.IsZero() {
		p.At = h.GitHub.Time()
	}
	line := newLine(h.Deps, s, h.Effects(s, ""))
	rec, err := line.Handoff(ctx, c.Key, p, policies(h.Deps, s))
	if err != nil || h.Waiter.Defer(c.Key) {
		return rec.Case, err
	}
	return line.Apply(ctx, rec)
}

// subject returns the subject of a case and its newest commit, "" if there is nothing to fix any more:
// the pull request is closed, or the branch gone.
func (h handoffs) subject(ctx context.Context, key string) (s effect.Subject, head string, err error) {
	if s, err = effect.ParseSubject(h.Repo, key); err != nil {
		return s, "", err
	}
	if s.Number == 0 {
		s.DefaultBranch = h.DefaultBranch
		head, err = h.GitHub.Branches.Head(ctx, h.Repo, s.Branch)
		return s, head, h.gone(ctx, err)
	}
	pr, err := h.GitHub.PullRequests.Get(ctx, h.Repo, s.Number)
	if err != nil || pr.State != "open" {
		return s, "", h.gone(ctx, err)
	}
	s, err = h.trusted(ctx, effect.PullRequest(pr, h.DefaultBranch))
	return s, pr.HeadSHA, err
}

// look returns what happened to the active hand-off of a case whose subject has the commit head, and
// false for nothing new.
func (h handoffs) look(ctx context.Context, c routing.Case, s effect.Subject, head string) (routing.HandoffChanged, bool, error) {
	now := c.Handoff
	switch {
	case head == "":
		return routing.HandoffChanged{Change: routing.HandoffEnded}, true, nil
	case now.SHA != "" && head != now.SHA && head != now.Pushed:
		return routing.HandoffChanged{Change: routing.HandoffAcknowledged, How: routing.AckPush, SHA: head}, true, nil
	}
	worker, known := h.Config.Handoff.ByName(now.Worker().Name, now.Place+1)
	if known && (now.Acknowledge == nil || now.Waits != nil) && now.Pushed == "" && !now.Unreached {
		p, news, err := h.answered(ctx, c, s, worker)
		if err != nil || news {
			return p, news, err
		}
	}
	at := h.GitHub.Time() // there was a response by now
	return routing.HandoffChanged{Change: routing.HandoffExpired, At: at}, routing.HandoffDue(c, at), nil
}

// answered returns whether the worker who holds a hand-off acknowledges it: by a run that carries its
// key, or by a reaction or a comment. A run that waits for an approval acknowledges nothing yet.
func (h handoffs) answered(ctx context.Context, c routing.Case, s effect.Subject, worker config.Handoff) (routing.HandoffChanged, bool, error) {
	none := routing.HandoffChanged{}
	if worker.Workflow != "" || worker.Dispatch != "" {
		run, found, err := h.started(ctx, c, worker)
		switch {
		case err != nil || !found:
			return none, false, err
		case awaits(run):
			since := run.CreatedAt
			if since.Before(c.Handoff.Told) {
				since = c.Handoff.Told
			}
			return routing.HandoffChanged{Change: routing.HandoffWaits, URL: run.URL, At: since}, c.Handoff.Waits == nil, nil
		case c.Handoff.Waits != nil:
			return routing.HandoffChanged{Change: routing.HandoffContinues}, true, nil
		}
		return routing.HandoffChanged{Change: routing.HandoffAcknowledged, How: routing.AckRun, By: run.Actor, At: run.CreatedAt}, c.Handoff.Acknowledge == nil, nil
	}
	login := loginOf(ctx, h.Deps, s, worker)
	if login == "" || s.Number == 0 || c.Handoff.Acknowledge != nil {
		return none, false, nil
	}
	a, found, err := h.GitHub.Acks.Find(ctx, h.Repo, s.Number, told(c), login, c.Handoff.Told)
	how := routing.AckComment
	if a.Reaction {
		how = routing.AckReaction
	}
	return routing.HandoffChanged{Change: routing.HandoffAcknowledged, How: how, By: a.Login, At: a.At}, found, err
}

// started returns the run that a dispatch to a worker has started, whichever checkpoint it is about.
func (h handoffs) started(ctx context.Context, c routing.Case, worker config.Handoff) (github.WorkflowRun, bool, error) {
	event := "repository_dispatch"
	if worker.Workflow != "" {
		event = "workflow_dispatch"
	}
	for _, name := range c.Handoff.Checkpoints {
		// It may have begun before the process that dispatched it could record that.
		since := c.Handoff.Told.Add(-time.Hour)
		run, found, err := h.GitHub.Dispatches.RunSince(ctx, h.Repo, event, since, c.Handoff.Key(c, name))
		if err != nil || found {
			return run, found, err
		}
	}
	return github.WorkflowRun{}, false, nil
}

// awaits reports whether a run waits for somebody to approve it.
func awaits(run github.WorkflowRun) bool {
	return run.Status == "waiting" || run.Status == analysis.AwaitsApproval || run.Conclusion == analysis.AwaitsApproval
}

// loginOf returns whose comments and reactions acknowledge for a worker, "" for nobody's: a team has
// no login.
func loginOf(ctx context.Context, d Deps, s effect.Subject, worker config.Handoff) string {
	switch {
	case worker.Login != "":
		return worker.Login
	case worker.ToAuthor():
		if s.Author == "" && s.Number > 0 {
			if pr, err := d.GitHub.PullRequests.Get(ctx, d.Repo, s.Number); err == nil {
				return pr.Author
			}
		}
		return s.Author
	case strings.Contains(worker.Mention, "/"):
		return ""
	}
	return strings.TrimPrefix(worker.Mention, "@")
}

// told returns the id of the comment that told the worker who holds the hand-off, 0 for none.
func told(c routing.Case) int64 {
	for _, name := range c.Handoff.Checkpoints {
		id, ok := strings.CutPrefix(c.Done[name+"/"+string(routing.EffectHandoff)], "comment:")
		if n, err := strconv.ParseInt(id, 10, 64); ok && err == nil {
			return n
		}
	}
	return 0
}

// handoffAnswer acknowledges hand-offs by what an event says, and leaves the event to the handlers
// behind it: a comment of the worker's login, a run that carries the key, a push, a closed pull
// request. What it does not see, reconcile does.
type handoffAnswer struct{ handoffs }

// Handle implements Handler.
func (h handoffAnswer) Handle(ctx context.Context, e *Event) (bool, error) {
	number := 0
	switch {
	case !h.Config.Handoff.InTurn():
	case e.Comment != nil && e.Issue != nil && e.Issue.PullRequest != nil && e.Action == "created":
		number = e.Issue.Number
	case e.WorkflowRun != nil:
		number = numberIn(e.WorkflowRun.Title, h.Repo)
	case e.PullRequest != nil:
		number = e.PullRequest.Number
	}
	if number == 0 {
		return false, nil
	}
	c, err := load(ctx, h.Deps, effect.Subject{Number: number}.Key(h.Repo))
	if err != nil || c.Handoff == nil || c.Handoff.Told.IsZero() {
		return false, err
	}
	p, news := h.says(ctx, c, e)
	if !news {
		return false, h.overdue(ctx, c)
	}
	s, err := subjectOf(ctx, h.Deps, c.Key)
	if err == nil {
		c, err = h.record(ctx, c, s, p)
	}
	if err == nil && p.Change == routing.HandoffContinues {
		err = h.follow(ctx, c)
	}
	return false, err
}

// says returns what an event says of the active hand-off of a case.
func (h handoffAnswer) says(ctx context.Context, c routing.Case, e *Event) (routing.HandoffChanged, bool) {
	ack := routing.HandoffChanged{Change: routing.HandoffAcknowledged}
	now := c.Handoff
	switch {
	case e.Comment != nil:
		worker, known := h.Config.Handoff.ByName(now.Worker().Name, now.Place+1)
		at, err := time.Parse(time.RFC3339, e.Comment.CreatedAt)
		s, _ := effect.ParseSubject(h.Repo, c.Key)
		if err != nil {
			at = h.GitHub.Time()
		}
		if !known || at.Before(now.Told.Truncate(time.Second)) || now.Acknowledge != nil {
			return ack, false
		}
		ack.How, ack.By, ack.At = routing.AckComment, e.Comment.User.Login, at
		return ack, github.SameLogin(ack.By, loginOf(ctx, h.Deps, s, worker))
	case e.WorkflowRun != nil:
		ack.How, ack.By = routing.AckRun, e.WorkflowRun.Actor.Login
		carries := slices.ContainsFunc(now.Checkpoints, func(name string) bool { return strings.Contains(e.WorkflowRun.Title, now.Key(c, name)) })
		if now.Waits != nil {
			ack = routing.HandoffChanged{Change: routing.HandoffContinues}
		}
		return ack, carries && (now.Acknowledge == nil || now.Waits != nil) && e.WorkflowRun.Conclusion != analysis.AwaitsApproval
	case e.Action == "closed":
		return routing.HandoffChanged{Change: routing.HandoffEnded}, true
	}
	ack.How, ack.By, ack.SHA = routing.AckPush, e.Sender.Login, e.PullRequest.Head.SHA
	return ack, ack.SHA != "" && ack.SHA != now.SHA && ack.SHA != now.Pushed
}

// numberIn returns the number of the pull request whose case a key in the title of a run names, 0 for
// none.
func numberIn(title string, r github.Repo) int {
	_, rest, ok := strings.Cut(title, r.String()+"#")
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
