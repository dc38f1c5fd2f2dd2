package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/replays"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/replay"
)

// How much of the configuration is read, and how much is shown.
const (
	mostConfig    = 64 << 10
	mostShown     = 1000   // differing runs that are kept for the comment
	replayedAgain = 3      // times that a pull request that gets new commits is read
	mostReplayed  = 50_000 // events of all cases that are decided again
)

// Replayed is what came of a replay.
type Replayed struct {
	Comment markdown.Text // "" if there is nothing to show
	Invalid bool          // the configuration cannot be read
	Err     error         // of writing the comment
}

// configReplay writes one comment on a pull request that changes the configuration: what the new one would
// have decided for recorded runs. The file of the pull request is only parsed.
type configReplay struct{ Deps }

// Handle implements Handler.
func (h configReplay) Handle(ctx context.Context, e *Event) (bool, error) {
	if e.PullRequest == nil || e.PullRequest.Number <= 0 {
		h.notice("replay: the event is about no pull request; run it on pull_request")
		return true, nil
	}
	return true, h.pullRequest(ctx, e, e.PullRequest.Number)
}

func (h configReplay) pullRequest(ctx context.Context, e *Event, number int) error {
	pr, err := h.GitHub.PullRequests.Get(ctx, h.Repo, number)
	if err != nil {
		return err
	}
	for range replayedAgain { // whoever read an older commit and posts last reads again
		r, err := h.commit(ctx, e, pr)
		if err == nil {
			err = h.Reporter.Replayed(r)
		}
		if err != nil {
			return err
		}
		now, err := h.GitHub.PullRequests.Get(ctx, h.Repo, number)
		if err != nil {
			return err
		}
		if now.HeadSHA == pr.HeadSHA {
			break
		}
		pr = now
	}
	return nil
}

// commit replays the runs for a pull request as it was read.
func (h configReplay) commit(ctx context.Context, e *Event, pr github.PullRequest) (Replayed, error) {
	key := effect.Subject{Number: pr.Number}.Key(h.Repo)
	name := h.Options.ConfigFile
	shown := render.Replay{File: name, SHA: pr.HeadSHA}
	data, changed, err := h.configured(ctx, pr, name)
	if large := errors.Is(err, github.ErrTooLarge); large {
		shown.Problems = []string{fmt.Sprintf("%s: larger than %d KiB; a configuration of that size is not read", name, mostConfig>>10)}
	} else if err != nil {
		return Replayed{}, err
	}
	mark := marker.Format(render.ReplayKey(key), 0)
	o := h.words()
	if !changed && e.Action == "opened" {
		return Replayed{}, nil // there is no comment yet
	}
	if !changed {
		shown.Reverted = true
		_, err := h.GitHub.Comments.Revise(ctx, h.Repo, pr.Number, mark, render.ReplayComment(shown, o))
		return Replayed{Err: err}, nil
	}
	if len(shown.Problems) == 0 {
		if err := h.decide(ctx, &shown, pr, name, data); err != nil {
			return Replayed{}, err
		}
	}
	for _, p := range shown.Problems {
		h.notice("%s", p)
	}
	body := render.ReplayComment(shown, o)
	return Replayed{Comment: body, Invalid: len(shown.Problems) > 0, Err: h.post(ctx, pr.Number, mark, body)}, nil
}

// configured returns the configuration at the head of a pull request, nil if
// there is none, and whether the pull request changes it.
func (h configReplay) configured(ctx context.Context, pr github.PullRequest, name string) (data []byte, changed bool, err error) {
	if data, err = h.atHead(ctx, pr, name); err != nil {
		return nil, true, err
	}
	base, err := h.small(ctx, h.Repo, name, pr.BaseRef)
	if err == nil && bytes.Equal(base, data) {
		return data, false, nil // as in most pull requests: nothing else is read
	}
	from, _, err := h.GitHub.Commits.MergeBase(ctx, h.Repo, pr.BaseRef, pr.HeadSHA)
	if errors.Is(err, github.ErrNotFound) {
		from, err = pr.BaseRef, nil // no common history that GitHub knows
	}
	if err != nil {
		return nil, false, err
	}
	was, err := h.small(ctx, h.Repo, name, from)
	if errors.Is(err, github.ErrTooLarge) {
		return data, true, nil
	}
	return data, !bytes.Equal(was, data), err
}

// atHead reads a file of the head. GitHub gives a fork's commit in the
// repository too, once the pull request is open; else the fork is asked.
func (h configReplay) atHead(ctx context.Context, pr github.PullRequest, name string) ([]byte, error) {
	data, err := h.small(ctx, h.Repo, name, pr.HeadSHA)
	if err != nil || data != nil || !pr.Fork {
		return data, err
	}
	fork, err := github.ParseRepo(pr.HeadRepo)
	if err != nil {
		return nil, nil //nolint:nilerr // the fork was deleted
	}
	return h.small(ctx, fork, name, pr.HeadSHA)
}

// small reads a file of a configuration's size, nil if there is none.
func (h configReplay) small(ctx context.Context, r github.Repo, name, ref string) ([]byte, error) {
	data, err := h.GitHub.Contents.GetUpTo(ctx, r, name, ref, mostConfig)
	if errors.Is(err, github.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

// decide decides the recorded runs again under a configuration.
func (h configReplay) decide(ctx context.Context, shown *render.Replay, pr github.PullRequest, name string, data []byte) error {
	q := replays.Question{Most: h.Options.Replayed, Events: mostReplayed}
	if q.New, shown.Problems = readable(name, data); len(shown.Problems) > 0 {
		return nil
	}
	base, err := h.small(ctx, h.Repo, name, pr.BaseRef)
	if err != nil && !errors.Is(err, github.ErrTooLarge) {
		return err
	}
	if old, problems := readable(name, base); err == nil && len(problems) == 0 {
		q.Old = &old
	}
	shown.Recorded, shown.Unreadable = q.Old == nil, q.Old == nil
	rep, err := replays.Ask(ctx, h.Ledger, q, func(_ string, r replay.Result) error {
		left := max(0, mostShown-len(shown.Differences))
		shown.Differences = append(shown.Differences, r.Differences[:min(left, len(r.Differences))]...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("deciding recorded runs again: %w", err)
	}
	shown.All, shown.Sum = rep.Recorded, rep.Sum
	for _, i := range rep.Ignored {
		shown.Ignored = append(shown.Ignored, [2]string{i.Key, i.Why})
	}
	return nil
}

// readable parses a configuration, and returns what is wrong with it. Its rules are checked within
// the bounds of config.Parse, and match nothing.
func readable(name string, data []byte) (config.File, []string) {
	c, err := config.Parse(name, data)
	if err == nil {
		return c, nil
	}
	if bad := (*config.Error)(nil); errors.As(err, &bad) {
		var out []string
		for _, p := range bad.Problems {
			out = append(out, p.String())
		}
		return c, out
	}
	return c, []string{name + ": " + err.Error()}
}

// post writes the comment, or brings it up to date.
func (h configReplay) post(ctx context.Context, number int, marker string, body markdown.Text) error {
	found, err := h.GitHub.Comments.Revise(ctx, h.Repo, number, marker, body)
	if err != nil || found {
		return err
	}
	_, posted, err := h.GitHub.Comments.PostOnce(ctx, h.Repo, number, marker, body, false)
	if err == nil && !posted { // another run was first, and may have seen an older commit
		_, err = h.GitHub.Comments.Revise(ctx, h.Repo, number, marker, body)
	}
	return err
}
