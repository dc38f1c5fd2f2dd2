package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/replays"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/replay"
)

// What is read for one comment: of the configuration, and of the ledger. On its
// branch each case is a request.
const (
	mostConfig    = 64 << 10
	mostOnBranch  = 200
	mostInStore   = 2000
	mostShown     = 1000 // differing runs that are kept for the comment
	replayedAgain = 3    // times that a pull request which moves on is looked at
)

// replayActions are the actions of a pull request that may change what it changes.
var replayActions = []string{"opened", "synchronize", "reopened"}

// replay says in one comment what the configuration of a pull request would
// have decided, if it changes that. The head's file is only parsed.
func (f *face) replay(ctx context.Context) (int, error) {
	if f.event.PullRequest == nil || f.event.PullRequest.Number <= 0 {
		f.notice("replay: the event is about no pull request; run it on pull_request")
		return 0, nil
	}
	number := f.event.PullRequest.Number
	pr, err := f.hub.PullRequest(ctx, f.repo, number)
	if err != nil {
		return 1, err
	}
	var bad bool
	for range replayedAgain { // whoever looked at an older commit and posts last looks again
		if bad, err = f.replayOf(ctx, pr); err != nil {
			return 1, err
		}
		now, err := f.hub.PullRequest(ctx, f.repo, number)
		if err != nil {
			return 1, err
		}
		if now.HeadSHA == pr.HeadSHA {
			break
		}
		pr = now
	}
	if bad && f.app == nil {
		return 1, nil
	}
	return 0, nil
}

// replayOf does it for a pull request as it was read. It is bad if its
// configuration cannot be read.
func (f *face) replayOf(ctx context.Context, pr github.PullRequest) (bad bool, err error) {
	key := effect.Subject{Number: pr.Number}.Key(f.repo)
	name := f.in.Config
	if name == "" {
		name = config.Path
	}
	shown := render.Replay{File: name, SHA: pr.HeadSHA}
	data, changed, err := f.configured(ctx, pr, name)
	if large := errors.Is(err, github.ErrTooLarge); large {
		shown.Problems = []string{fmt.Sprintf("%s: larger than %d KiB; a configuration of that size is not read", name, mostConfig>>10)}
	} else if err != nil {
		return false, err
	}
	mark := marker.Format(render.ReplayKey(key), 0)
	o := render.Options{ServerURL: f.env.Getenv("GITHUB_SERVER_URL"), Repo: f.repo.String(), Language: render.Language(f.config.Language), Redact: redact.Text}
	if !changed && f.event.Action == "opened" {
		return false, nil // there is no comment yet
	}
	if !changed {
		shown.Reverted = true
		_, err := f.hub.ReviseComment(ctx, f.repo, pr.Number, mark, render.ReplayComment(shown, o))
		if mayOnlyRead(err) && f.app == nil {
			err = nil
		}
		return false, err
	}
	if len(shown.Problems) == 0 {
		if err := f.whatIf(ctx, &shown, pr, name, data); err != nil {
			return false, err
		}
	}
	for _, p := range shown.Problems {
		f.notice("%s", p)
	}
	return len(shown.Problems) > 0, f.postReplay(ctx, pr.Number, mark, render.ReplayComment(shown, o))
}

// configured returns the configuration at the head of a pull request, nil if
// there is none, and whether the pull request changes it.
func (f *face) configured(ctx context.Context, pr github.PullRequest, name string) (data []byte, changed bool, err error) {
	if data, err = f.atHead(ctx, pr, name); err != nil {
		return nil, true, err
	}
	base, err := f.small(ctx, f.repo, name, pr.BaseRef)
	if err == nil && bytes.Equal(base, data) {
		return data, false, nil // as of most pull requests: no more is asked
	}
	from, err := f.hub.MergeBase(ctx, f.repo, pr.BaseRef, pr.HeadSHA)
	if errors.Is(err, github.ErrNotFound) {
		from, err = pr.BaseRef, nil // no common history that GitHub knows
	}
	if err != nil {
		return nil, false, err
	}
	was, err := f.small(ctx, f.repo, name, from)
	if errors.Is(err, github.ErrTooLarge) {
		return data, true, nil
	}
	return data, !bytes.Equal(was, data), err
}

// atHead reads a file of the head. GitHub gives a fork's commit in the
// repository too, once the pull request is open; else the fork is asked.
func (f *face) atHead(ctx context.Context, pr github.PullRequest, name string) ([]byte, error) {
	data, err := f.small(ctx, f.repo, name, pr.HeadSHA)
	if err != nil || data != nil || !pr.Fork {
		return data, err
	}
	fork, err := github.ParseRepo(pr.HeadRepo)
	if err != nil {
		return nil, nil //nolint:nilerr // the fork was deleted
	}
	return f.small(ctx, fork, name, pr.HeadSHA)
}

// small reads a file of a configuration's size, nil if there is none.
func (f *face) small(ctx context.Context, r github.Repo, name, ref string) ([]byte, error) {
	data, err := f.hub.FileUpTo(ctx, r, name, ref, mostConfig)
	if errors.Is(err, github.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

// whatIf decides the recorded runs again under a configuration.
func (f *face) whatIf(ctx context.Context, shown *render.Replay, pr github.PullRequest, name string, data []byte) error {
	q := replays.Question{Most: mostOnBranch}
	if f.app != nil {
		q.Most = mostInStore
	}
	if q.New, shown.Problems = readable(name, data); len(shown.Problems) > 0 {
		return nil
	}
	base, err := f.small(ctx, f.repo, name, pr.BaseRef)
	if err != nil && !errors.Is(err, github.ErrTooLarge) {
		return err
	}
	if old, problems := readable(name, base); err == nil && len(problems) == 0 {
		q.Old = &old
	}
	shown.Recorded, shown.Unreadable = q.Old == nil, q.Old == nil
	rep, err := replays.Ask(ctx, f.led, q, func(_ string, r replay.Result) error {
		room := max(0, mostShown-len(shown.Differences))
		shown.Differences = append(shown.Differences, r.Differences[:min(room, len(r.Differences))]...)
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

// readable parses a configuration, and returns what is wrong with it.
func readable(name string, data []byte) (config.File, []string) {
	c, err := config.Parse(name, data)
	if err == nil {
		if _, err = analysis.Rules(c); err == nil {
			return c, nil
		}
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

// postReplay brings the comment up to date, and the job summary of the Action.
func (f *face) postReplay(ctx context.Context, number int, marker, body string) error {
	found, err := f.hub.ReviseComment(ctx, f.repo, number, marker, body)
	if err == nil && !found {
		posted := false
		_, posted, err = f.hub.PostOnce(ctx, f.repo, number, marker, body, false)
		if err == nil && !posted { // another run was first, and may have seen an older commit
			_, err = f.hub.ReviseComment(ctx, f.repo, number, marker, body)
		}
	}
	if f.app != nil {
		return err
	}
	if mayOnlyRead(err) {
		fmt.Fprintf(f.env.Stdout, "::warning title=Switchback::%s\n", escapeData(ReadOnlySentence))
		body, err = strings.TrimRight(body, "\n")+"\n\n> [!NOTE]\n> "+ReadOnlySentence+"\n", nil
	}
	return errors.Join(err, f.summary(body))
}

// mayReplay reports whether an event may change what a pull request changes.
func (f *face) mayReplay(event string) bool {
	return event == "pull_request" && slices.Contains(replayActions, f.event.Action)
}
