package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
)

// scanner searches repositories for events that no delivery announced.
type scanner struct {
	app          *github.Client
	installation func(id int64) (*github.Client, error)
	ledger       func(ctx context.Context, r Repository) (ledger.Ledger, error)
	inbox        Inbox
	marks        times
	grace        time.Duration
	now          func() time.Time
	log          *slog.Logger

	next int // the repository to begin with
}

func (s *scanner) run(ctx context.Context) (Found, error) {
	all, failed := s.repositories(ctx)
	var f Found
	looked := 0
	refused := map[int64]int{}
	for range all {
		repo := all[s.next%len(all)]
		s.next = (s.next + 1) % len(all)
		if refused[repo.Installation] >= mostRefused {
			continue
		}
		g, ours, err := s.scan(ctx, repo)
		f.Runs, f.Commands = f.Runs+g.Runs, f.Commands+g.Commands
		what := advice.Of(err)
		if what.Kind == advice.Gone {
			s.log.Info("the repository cannot be scanned", "repository", repo.Repo, "error", err) // it was listed a moment ago
			continue
		}
		failed = errors.Join(failed, err)
		if ours {
			looked++
		}
		if what.Kind == advice.Later {
			refused[repo.Installation]++
			if after := what.After; after > 0 {
				refused[repo.Installation] = mostRefused // a rate limit is the whole installation's
			}
		}
		if ctx.Err() != nil || looked == mostRepos {
			break
		}
	}
	return f, failed
}

func (s *scanner) repositories(ctx context.Context) (all []Repository, failed error) {
	ids, err := s.app.Apps.ListInstallations(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	for _, id := range ids {
		h, err := s.installation(id)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		list, err := h.Repositories.ListInstalled(ctx)
		if kind := advice.Of(err).Kind; kind == advice.Gone || errors.Is(err, github.ErrSuspended) {
			continue
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, x := range list {
			all = append(all, Repository{id, x})
		}
	}
	return all, failed
}

// scan searches one repository. ours is false if the App does not act there.
func (s *scanner) scan(ctx context.Context, repo Repository) (f Found, ours bool, err error) {
	led, err := s.ledger(ctx, repo)
	if err != nil || led == nil {
		return f, false, err
	}
	h, err := s.installation(repo.Installation)
	if err != nil {
		return f, true, err
	}
	if f.Runs, err = s.runs(ctx, h, repo, led); err == nil {
		f.Commands, err = s.commands(ctx, h, repo)
	}
	if err != nil {
		err = fmt.Errorf("scan %s: %w", repo.Repo, err)
	}
	return f, true, err
}

// runs accepts the newest runs that completed since the last scan and are not in the ledger.
func (s *scanner) runs(ctx context.Context, h *github.Client, repo Repository, led ledger.Ledger) (int, error) {
	name := fmt.Sprintf("runs/%d", repo.ID)
	mark, err := s.marks.get(ctx, name)
	if err != nil {
		return 0, err
	}
	until := s.now().Add(-s.grace)
	if mark.IsZero() {
		return 0, s.marks.set(ctx, name, mark, until)
	}
	var found []github.FinishedRun
	seen := map[string]bool{}
	next := mark
	for page := 1; page > 0 && page <= mostRunPages; {
		list, following, err := h.Runs.ListFinished(ctx, repo.Repo, page)
		if err != nil {
			return 0, err
		}
		for _, run := range list {
			if run.Updated.Before(mark) || run.Updated.After(until) {
				continue // its delivery may still arrive
			}
			if run.Updated.After(next) {
				next = run.Updated
			}
			if line := fmt.Sprintf("%d %s %s:%s", run.Workflow, run.Event, run.HeadRepo, run.HeadBranch); !seen[line] {
				seen[line] = true // the newest comes first, and older ones are stale
				found = append(found, run)
			}
		}
		if len(list) > 0 && list[len(list)-1].Created.Before(mark.Add(-reach)) {
			following = 0
		}
		page = following
	}
	slices.SortStableFunc(found, func(a, b github.FinishedRun) int { return a.Updated.Compare(b.Updated) })
	n, err := s.takeRuns(ctx, h, repo, led, found)
	if err != nil {
		return n, err
	}
	return n, s.marks.set(ctx, name, mark, next)
}

func (s *scanner) takeRuns(ctx context.Context, h *github.Client, repo Repository, led ledger.Ledger, found []github.FinishedRun) (n int, err error) {
	if len(found) == 0 {
		return 0, nil
	}
	pulls, err := h.PullRequests.ListOpen(ctx, repo.Repo)
	if err != nil {
		return 0, err
	}
	for _, run := range found {
		key, ok := subject(repo.Repo, run, pulls)
		if !ok {
			continue
		}
		known, err := analyzed(ctx, led, key, repo.Repo, run)
		if err != nil {
			return n, err
		}
		if known {
			continue
		}
		id := fmt.Sprintf("run-%d-%d-%d", repo.ID, run.ID, run.Attempt)
		fresh, err := s.accept(ctx, repo, "workflow_run", id, map[string]any{"action": "completed", "workflow_run": run.JSON, "sender": part(run.JSON, "triggering_actor")})
		if err != nil {
			return n, err
		}
		if fresh {
			n++
			s.log.Info("found a run without a delivery", "repository", repo.Repo, "run", run.ID, "attempt", run.Attempt, "case", key)
		}
	}
	return n, nil
}

// subject returns the key of the case of a run: an open pull request with the run's head, or the
// branch of a run that belongs to no pull request.
func subject(r github.Repo, run github.FinishedRun, pulls []github.PullRequest) (key string, ok bool) {
	for _, p := range pulls {
		if p.HeadSHA == run.HeadSHA && p.HeadRepo == run.HeadRepo {
			return effect.Subject{Number: p.Number}.Key(r), true
		}
	}
	switch {
	case run.Event == "pull_request" || run.Event == "pull_request_target" || run.HeadRepo != r.String() || run.HeadBranch == "":
		return "", false // the pull request is closed or has a newer head
	case slices.ContainsFunc(pulls, func(p github.PullRequest) bool { return p.HeadRef == run.HeadBranch && p.HeadRepo == run.HeadRepo }):
		return "", false
	}
	return effect.Subject{Branch: run.HeadBranch}.Key(r), true
}

// analyzed reports whether a case holds a run, or a later attempt of it.
func analyzed(ctx context.Context, led ledger.Ledger, key string, r github.Repo, run github.FinishedRun) (bool, error) {
	events, _, err := led.Load(ctx, key)
	if err != nil || len(events) == 0 {
		return false, err
	}
	c, err := routing.Fold(key, events)
	if err != nil {
		return false, err
	}
	this := routing.Run{Repository: r.String(), ID: strconv.FormatInt(run.ID, 10), Attempt: run.Attempt}
	for _, cp := range c.Checkpoints {
		if run, ok := cp.Runs[this.Key()]; ok && !run.Awaits() || cp.Last.ID == this.ID && cp.Last.Attempt > this.Attempt {
			return true, nil
		}
	}
	return false, nil
}

// commands accepts the comments since the last scan that hold commands.
func (s *scanner) commands(ctx context.Context, h *github.Client, repo Repository) (n int, err error) {
	name := fmt.Sprintf("comments/%d", repo.ID)
	mark, err := s.marks.get(ctx, name)
	if err != nil {
		return 0, err
	}
	until := s.now().Add(-s.grace)
	if mark.IsZero() {
		return 0, s.marks.set(ctx, name, mark, until)
	}
	next := mark
	for page := 1; page > 0 && page <= mostNotePages; {
		list, following, err := h.Comments.ListSince(ctx, repo.Repo, mark.Add(-time.Second), page)
		if err != nil {
			return n, err
		}
		for _, c := range list {
			if c.Updated.After(until) {
				following = 0
				break // the others are newer
			}
			fresh, err := s.takeComment(ctx, h, repo, c, mark)
			if err != nil {
				return n, err
			}
			if fresh {
				n++
			}
			if c.Updated.After(next) {
				next = c.Updated
			}
		}
		page = following
	}
	return n, s.marks.set(ctx, name, mark, next)
}

func (s *scanner) takeComment(ctx context.Context, h *github.Client, repo Repository, c github.PostedComment, mark time.Time) (fresh bool, err error) {
	if c.ByBot || c.Created.Before(mark.Truncate(time.Second)) || len(answers.Commands(c.Body)) == 0 {
		return false, nil
	}
	id := fmt.Sprintf("comment-%d-%d", repo.ID, c.ID)
	if stored, err := s.inbox.Stored(ctx, []string{id}); err != nil || stored[id] {
		return false, err
	}
	issue, err := h.Issues.GetJSON(ctx, repo.Repo, c.Issue)
	if kind := advice.Of(err).Kind; kind == advice.Gone {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fresh, err = s.accept(ctx, repo, "issue_comment", id, map[string]any{"action": "created", "issue": issue, "comment": c.JSON, "sender": c.Author})
	if fresh {
		s.log.Info("found a command without a delivery", "repository", repo.Repo, "issue", c.Issue, "comment", c.ID)
	}
	return fresh, err
}

// accept stores an event that was found as a delivery. fresh is false if it was stored before.
func (s *scanner) accept(ctx context.Context, repo Repository, event, id string, payload map[string]any) (fresh bool, err error) {
	payload["installation"] = map[string]any{"id": repo.Installation}
	payload["repository"] = map[string]any{"id": repo.ID, "name": repo.Repo.Name, "full_name": repo.Repo.String(),
		"owner": map[string]any{"login": repo.Repo.Owner}, "default_branch": repo.DefaultBranch}
	data, err := json.Marshal(payload)
	if err != nil {
		return false, err
	}
	return s.inbox.Accept(ctx, event, id, data)
}

// part returns a value of a JSON object, null if the object has none.
func part(doc json.RawMessage, name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(doc, &m) != nil || m[name] == nil {
		return json.RawMessage("null")
	}
	return m[name]
}
