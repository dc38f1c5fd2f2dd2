package handler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Bounds of what is asked about a merge group.
const (
	mostGroupPulls = 100 // pull requests, as GitHub bounds a group
	mostUnnamed    = 5   // commits whose message names no pull request, which GitHub is asked for
)

// mergeGroup notes when a merge group begins and ends. Its runs come as events of their own.
type mergeGroup struct{ Deps }

// Handle implements Handler.
func (h mergeGroup) Handle(ctx context.Context, e *Event) (bool, error) {
	g := e.MergeGroup
	key := effect.Subject{Branch: g.Branch()}.Key(h.Repo)
	noted := routing.GroupNoted{Base: branchOfRef(g.BaseRef), BaseSHA: g.BaseSHA, SHA: g.HeadSHA}
	if e.Action == "destroyed" {
		noted.Ended = e.Reason
		if noted.Ended == "" {
			noted.Ended = routing.GroupDequeued
		}
		if noted.Ended == routing.GroupMerged {
			return true, nil
		}
	}
	_, err := ledger.Case(h.Ledger, key).Update(ctx, func(c routing.Case) ([]routing.Event, error) {
		if c.Noted != nil && (noted.Ended == "" || c.Noted.Ended != "") {
			return nil, nil // delivered again
		}
		return []routing.Event{routing.GroupEvent(key, noted, h.Now())}, nil
	})
	return true, err
}

// cancelled reports whether a run of a merge group ended without a result: GitHub cancels the runs of a
// group that it makes anew.
func cancelled(conclusion string) bool { return conclusion == "cancelled" || conclusion == "skipped" }

// groupOf returns the merge group that a run is of. Of a green run only those pull requests are told
// that were told of a failure before; the ledger is read for each, and GitHub is asked once.
func groupOf(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict) (*routing.MergeGroup, error) {
	base, last, begin, _ := routing.ParseQueueBranch(t.Subject.Branch)
	g := &routing.MergeGroup{Branch: t.Subject.Branch, Base: base}
	if t.Group != nil {
		g.Base, begin = branchOfRef(t.Group.BaseRef), t.Group.BaseSHA
	}
	if g.Base == "" {
		g.Base = d.DefaultBranch
	}
	c, err := load(ctx, d, t.Subject.Key(d.Repo))
	if err != nil {
		return nil, err
	}
	if c.Noted != nil && c.Noted.BaseSHA != "" {
		begin = c.Noted.BaseSHA
	}
	numbers, whole, err := pullsBetween(ctx, d, g.Base, begin, t.Run.SHA)
	if err != nil {
		return nil, err
	}
	if last > 0 && !slices.Contains(numbers, last) {
		numbers = append(numbers, last)
	}
	g.Partial = !whole || len(numbers) > mostGroupPulls
	green := v.Result == routing.Pass
	for _, n := range numbers[max(0, len(numbers)-mostGroupPulls):] {
		p, in, err := groupPull(ctx, d, t.Checkpoint, g.Base, n, green)
		if err != nil {
			return nil, err
		}
		if in {
			g.Pulls = append(g.Pulls, p)
		}
	}
	if !green && len(routing.FailedTests(t.Checkpoint, v)) == 0 {
		_, err := d.GitHub.Branches.Head(ctx, d.Repo, t.Subject.Branch)
		if g.Gone = errors.Is(err, github.ErrNotFound); err != nil && !g.Gone {
			return nil, err
		}
	}
	return g, nil
}

// groupPull returns a pull request of a merge group into base. It is not in it if it is another
// branch's, as a number in the message of a commit may be.
func groupPull(ctx context.Context, d Deps, checkpoint, base string, number int, green bool) (p routing.GroupPull, in bool, err error) {
	p.Number = number
	c, err := load(ctx, d, effect.Subject{Number: number}.Key(d.Repo))
	if err != nil {
		return p, false, err
	}
	if green {
		known, was := c.Groups[checkpoint]
		p.Told = was && known.Kind != routing.KindPass
		return p, true, nil
	}
	pr, err := d.GitHub.PullRequests.Get(ctx, d.Repo, number)
	if why, err := permanent(err); err != nil || why != nil {
		return p, false, err
	}
	p.Head, p.Told = pr.HeadSHA, pr.State == "open"
	cp := c.Checkpoints[checkpoint]
	p.Passes = cp.State == routing.Completed && cp.Green != "" && cp.Green == pr.HeadSHA
	return p, pr.BaseRef == base, nil
}

// pullsBetween returns the pull requests whose commits a merge group adds to the commit that it begins
// at, in the order of the queue. It follows the first parents back from the group's commit: the queue
// puts a commit there for each pull request, whose own commits are behind a merge. whole is false where
// that does not lead to the beginning. It asks GitHub at most 1 + mostUnnamed times.
func pullsBetween(ctx context.Context, d Deps, base, begin, head string) (numbers []int, whole bool, err error) {
	if begin == "" {
		begin = base
	}
	commits, mergeBase, err := d.GitHub.Commits.Between(ctx, d.Repo, begin, head)
	if why, err := permanent(err); err != nil || why != nil {
		return nil, false, err // a commit that is gone is not known to GitHub
	}
	bySHA := map[string]github.Commit{}
	for _, c := range commits {
		bySHA[c.SHA] = c
	}
	asked, named := 0, true
	at := head
	for c, ok := bySHA[at]; ok && len(c.Parents) > 0; c, ok = bySHA[at] {
		n := pullIn(c.Subject)
		if n == 0 && asked < mostUnnamed {
			asked++
			linked, err := d.GitHub.PullRequests.OfCommit(ctx, d.Repo, c.SHA)
			if why, err := permanent(err); err != nil || why != nil {
				return nil, false, err
			}
			for _, p := range linked {
				if p.BaseRef == base && p.State == "open" {
					n = p.Number
				}
			}
		}
		named = named && n > 0
		if n > 0 && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
		at = c.Parents[0]
	}
	slices.Reverse(numbers)
	return numbers, named && len(numbers) > 0 && at == mergeBase, nil
}

var (
	mergedSubject   = lazyregexp.New(`^Merge pull request #([1-9][0-9]{0,8}) from `)
	squashedSubject = lazyregexp.New(`\(#([1-9][0-9]{0,8})\)\s*$`)
)

// pullIn returns the pull request that the first line of a commit's message names as GitHub does when
// it merges or squashes, 0 for none.
func pullIn(subject string) int {
	for _, form := range []*lazyregexp.Regexp{mergedSubject, squashedSubject} {
		if m := form.FindStringSubmatch(subject); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
	}
	return 0
}

// branchOfRef returns the branch that a ref names.
func branchOfRef(ref string) string {
	const heads = "refs/heads/"
	if len(ref) > len(heads) && ref[:len(heads)] == heads {
		return ref[len(heads):]
	}
	return ref
}

// effects applies what is decided about a subject, as Deps.Effects does; runURL is of the run that it
// is decided about. What a merge group came to stands in the cases of its pull requests.
func effects(d Deps, s effect.Subject, runURL string) pipeline.Effector {
	if s.Group() {
		return groupEffects{d.Effects(s, runURL), d}
	}
	return d.Effects(s, runURL)
}

// groupEffects applies the effects of a merge group.
type groupEffects struct {
	pipeline.Effector
	d Deps
}

// Do implements pipeline.Effector.
func (g groupEffects) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	if e.Kind != routing.EffectSection {
		return g.Effector.Do(ctx, c, e, fresh)
	}
	number, err := strconv.Atoi(e.Target)
	if err != nil {
		return "", fmt.Errorf("effect %s names no pull request: %w", e.Key, err)
	}
	return "", g.tell(ctx, c, e.Checkpoint, number)
}

// tell records in the case of a pull request what its merge group came to, and applies what follows:
// the comment of the case says it. Both may be done again.
func (g groupEffects) tell(ctx context.Context, group routing.Case, checkpoint string, number int) error {
	ran, ok := routing.GroupResult(group, checkpoint)
	if !ok {
		return nil
	}
	pr, err := g.d.GitHub.PullRequests.Get(ctx, g.d.Repo, number)
	if err != nil {
		return g.d.gone(ctx, err)
	}
	if pr.State != "open" && ran.Kind != routing.KindPass {
		return nil
	}
	subject, err := g.d.trusted(ctx, effect.PullRequest(pr, g.d.DefaultBranch))
	if err != nil {
		return err
	}
	line := newLine(g.d, subject, g.d.Effects(subject, ran.Run.URL))
	rec, err := line.GroupRan(ctx, subject.Key(g.d.Repo), ran)
	if err != nil || len(rec.Case.Pending) == 0 || g.d.Waiter.Defer(rec.Case.Key) {
		return err
	}
	_, err = line.Apply(ctx, rec)
	return err
}
