package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Scan looks into the repositories of all installations for runs that ended and
// commands that were given since the last look, and that nobody told of. The
// first look into a repository finds nothing: what was before the App came is
// not its affair. Where nothing happened it costs two requests a repository,
// which a Client with a cache does for free. What goes wrong in one
// repository does not keep the others from being looked into; an installation
// that can be asked nothing just now is left for the next look.
func (r *Recovery) Scan(ctx context.Context) (Found, error) {
	all, failed := r.repositories(ctx)
	var f Found
	looked := 0
	refused := map[int64]int{}
	for range all {
		repo := all[r.turn%len(all)]
		r.turn = (r.turn + 1) % len(all)
		if refused[repo.Installation] >= mostRefused {
			continue
		}
		g, ours, err := r.scan(ctx, repo)
		f.Runs, f.Commands = f.Runs+g.Runs, f.Commands+g.Commands
		what := advice.Of(err)
		if what.Kind == advice.Gone {
			r.log().Info("cannot be looked into", "repository", repo.Repo, "error", err) // a moment ago it was there
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

func (r *Recovery) repositories(ctx context.Context) (all []Repository, failed error) {
	ids, err := r.App.Apps.ListInstallations(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	for _, id := range ids {
		h, err := r.Installation(id)
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

// scan looks into a repository, if the App does anything there.
func (r *Recovery) scan(ctx context.Context, repo Repository) (f Found, ours bool, err error) {
	led, err := r.Ledger(ctx, repo)
	if err != nil || led == nil {
		return f, false, err
	}
	h, err := r.Installation(repo.Installation)
	if err != nil {
		return f, true, err
	}
	if f.Runs, err = r.runs(ctx, h, repo, led); err == nil {
		f.Commands, err = r.commands(ctx, h, repo)
	}
	if err != nil {
		err = fmt.Errorf("look into %s: %w", repo.Repo, err)
	}
	return f, true, err
}

// runs takes in the newest runs that ended since the last look and that the
// ledger does not know.
func (r *Recovery) runs(ctx context.Context, h *github.Client, repo Repository, led ledger.Ledger) (int, error) {
	name := fmt.Sprintf("runs/%d", repo.ID)
	mark, err := r.mark(ctx, name)
	if err != nil {
		return 0, err
	}
	until := r.now().Add(-r.grace())
	if mark.IsZero() {
		return 0, r.setMark(ctx, name, mark, until)
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
				continue // one that ended just now may be on its way
			}
			if run.Updated.After(next) {
				next = run.Updated
			}
			if line := fmt.Sprintf("%d %s %s:%s", run.Workflow, run.Event, run.HeadRepo, run.HeadBranch); !seen[line] {
				seen[line] = true // the newest comes first: older ones are out of date
				found = append(found, run)
			}
		}
		if len(list) > 0 && list[len(list)-1].Created.Before(mark.Add(-reach)) {
			following = 0
		}
		page = following
	}
	slices.SortStableFunc(found, func(a, b github.FinishedRun) int { return a.Updated.Compare(b.Updated) })
	n, err := r.takeRuns(ctx, h, repo, led, found)
	if err != nil {
		return n, err
	}
	return n, r.setMark(ctx, name, mark, next)
}

func (r *Recovery) takeRuns(ctx context.Context, h *github.Client, repo Repository, led ledger.Ledger, found []github.FinishedRun) (n int, err error) {
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
		fresh, err := r.accept(ctx, repo, "workflow_run", id, map[string]any{"action": "completed", "workflow_run": run.JSON, "sender": part(run.JSON, "triggering_actor")})
		if err != nil {
			return n, err
		}
		if fresh {
			n++
			r.log().Info("found a run that nobody told of", "repository", repo.Repo, "run", run.ID, "attempt", run.Attempt, "case", key)
		}
	}
	return n, nil
}

// subject returns the key of the case that a run is of: an open pull request
// with the run's head, or the branch of a run that is of no pull request.
func subject(r github.Repo, run github.FinishedRun, pulls []github.PullRequest) (key string, ok bool) {
	for _, p := range pulls {
		if p.HeadSHA == run.HeadSHA && p.HeadRepo == run.HeadRepo {
			return effect.Subject{Number: p.Number}.Key(r), true
		}
	}
	switch {
	case run.Event == "pull_request" || run.Event == "pull_request_target" || run.HeadRepo != r.String() || run.HeadBranch == "":
		return "", false // it is closed, or has moved on
	case slices.ContainsFunc(pulls, func(p github.PullRequest) bool { return p.HeadRef == run.HeadBranch && p.HeadRepo == run.HeadRepo }):
		return "", false
	}
	return effect.Subject{Branch: run.HeadBranch}.Key(r), true
}

// analyzed reports whether a case knows a run, or a later attempt of it.
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
		if _, ok := cp.Runs[this.Key()]; ok || cp.Last.ID == this.ID && cp.Last.Attempt > this.Attempt {
			return true, nil
		}
	}
	return false, nil
}

// commands takes in the comments since the last look that hold commands.
func (r *Recovery) commands(ctx context.Context, h *github.Client, repo Repository) (n int, err error) {
	name := fmt.Sprintf("comments/%d", repo.ID)
	mark, err := r.mark(ctx, name)
	if err != nil {
		return 0, err
	}
	until := r.now().Add(-r.grace())
	if mark.IsZero() {
		return 0, r.setMark(ctx, name, mark, until)
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
				break // the rest was changed later still
			}
			fresh, err := r.takeComment(ctx, h, repo, c, mark)
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
	return n, r.setMark(ctx, name, mark, next)
}

func (r *Recovery) takeComment(ctx context.Context, h *github.Client, repo Repository, c github.PostedComment, mark time.Time) (fresh bool, err error) {
	if c.ByBot || c.Created.Before(mark.Truncate(time.Second)) || len(answers.Commands(c.Body)) == 0 {
		return false, nil
	}
	id := fmt.Sprintf("comment-%d-%d", repo.ID, c.ID)
	if stored, err := r.Inbox.Stored(ctx, []string{id}); err != nil || stored[id] {
		return false, err
	}
	issue, err := h.Issues.GetJSON(ctx, repo.Repo, c.Issue)
	if kind := advice.Of(err).Kind; kind == advice.Gone {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fresh, err = r.accept(ctx, repo, "issue_comment", id, map[string]any{"action": "created", "issue": issue, "comment": c.JSON, "sender": c.Author})
	if fresh {
		r.log().Info("found a command that nobody told of", "repository", repo.Repo, "issue", c.Issue, "comment", c.ID)
	}
	return fresh, err
}

// accept takes in a delivery of what was found, unless it was before.
func (r *Recovery) accept(ctx context.Context, repo Repository, event, id string, payload map[string]any) (fresh bool, err error) {
	payload["installation"] = map[string]any{"id": repo.Installation}
	payload["repository"] = map[string]any{"id": repo.ID, "name": repo.Repo.Name, "full_name": repo.Repo.String(),
		"owner": map[string]any{"login": repo.Repo.Owner}, "default_branch": repo.DefaultBranch}
	data, err := json.Marshal(payload)
	if err != nil {
		return false, err
	}
	return r.Inbox.Accept(ctx, event, id, data)
}

// part returns a value of a JSON object, null if it has none.
func part(doc json.RawMessage, name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(doc, &m) != nil || m[name] == nil {
		return json.RawMessage("null")
	}
	return m[name]
}
