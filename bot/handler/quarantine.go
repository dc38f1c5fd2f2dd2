package handler

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/quarantines"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/quarantineview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

// Quarantine returns the service that keeps the quarantine of the repository.
func Quarantine(d Deps) *quarantines.Service {
	return &quarantines.Service{
		Ledger: d.Ledger, Repo: d.Repo.String(), Config: d.Config, Render: d.words(), DefaultBranch: d.DefaultBranch, Owner: d.owner(), TTL: d.LeaseTTL, Now: d.Now,
		GitHub: &quarantines.GitHub{GitHub: trackedBy(d), CodeOwners: d.GitHub.CodeOwners},
	}
}

// withRegister returns v with what the quarantine of the repository says of its failures: one read of
// the ledger for a run that failed, or none where the default branch, with which the run is compared,
// says that there is no quarantine.
func withRegister(ctx context.Context, d Deps, base base, v routing.Verdict) (routing.Verdict, error) {
	if len(v.Tests()) == 0 {
		return v, nil
	}
	if base.branch != "" && base.branch == d.DefaultBranch && base.lost == nil && !base.cases.Quarantines {
		v.Register = &routing.Register{}
		return v, nil
	}
	st, err := Quarantine(d).State(ctx)
	why, err := permanent(err)
	if err != nil {
		return v, err
	}
	if why != nil {
		d.Log.Warn("the quarantine cannot be read; every failure counts", "repository", d.Repo.String(), "err", why)
		v.Register = &routing.Register{}
		return v, nil
	}
	v.Register = st.Register(v, d.Now())
	return v, nil
}

// sawFlakes records the tests that failed and passed on the commit of a run. What is interrupted, and
// what a read-only token cannot write, is found by reconcile.
func sawFlakes(ctx context.Context, d Deps, r Routed) error {
	if len(r.Decision.Flaky) == 0 || r.Decision.Repeated {
		return nil
	}
	var found []quarantine.Flaked
	for _, f := range flakesOf(r.Case, r.Checkpoint) {
		if f.Evidence.Failed.SHA == r.Run.SHA {
			found = append(found, f)
		}
	}
	err := Quarantine(d).Flaked(ctx, found)
	if ReadOnly(err) {
		return nil
	}
	return err
}

// flakesOf returns the flake evidence of a checkpoint of a case.
func flakesOf(c routing.Case, checkpoint string) []quarantine.Flaked {
	var out []quarantine.Flaked
	for _, f := range routing.Flips(c.Checkpoints[checkpoint]) {
		out = append(out, quarantine.Flaked{Test: f.TestRef, Evidence: quarantine.Evidence{Case: c.Key, Failed: f.Failed, Passed: f.Passed, At: f.At}})
	}
	return out
}

// enter puts the tests that a name means in a case into quarantine, before what a person did to the
// case is recorded, and returns the act with its end. What cannot be done is a *routing.RefusedError.
func (c cases) enter(ctx context.Context, now routing.Case, e routing.HumanActed) (routing.HumanActed, error) {
	d, base, err := defaultBranch(ctx, c.Deps)
	if err != nil {
		return e, err
	}
	s := Quarantine(d)
	e, entered, err := s.Enter(ctx, now, base, e)
	for _, entry := range entered {
		if err := s.Apply(ctx, entry); err != nil {
			c.Log.Warn("the issue of a flaky test is left to reconcile", "test", entry.ID, "err", err)
		}
	}
	return e, err
}

// defaultBranch returns the case of the default branch, and d with the branch's name, which not every
// event has.
func defaultBranch(ctx context.Context, d Deps) (Deps, routing.Case, error) {
	if d.DefaultBranch == "" {
		var err error
		if d.DefaultBranch, err = d.GitHub.Repositories.DefaultBranch(ctx, d.Repo); err != nil {
			return d, routing.Case{}, err
		}
	}
	c, err := load(ctx, d, effect.Subject{Branch: d.DefaultBranch}.Key(d.Repo))
	return d, c, err
}

// quarantineIssue handles the events of the issue of a flaky test. It is done with those alone.
type quarantineIssue struct{ Deps }

// Handle implements Handler.
func (h quarantineIssue) Handle(ctx context.Context, e *Event) (bool, error) {
	if e.Issue == nil || e.Issue.PullRequest != nil {
		return false, nil
	}
	s := Quarantine(h.Deps)
	st, err := s.State(ctx)
	if err != nil {
		return true, err
	}
	entry, ok := st.ByNumber(e.Issue.Number)
	if !ok {
		return false, nil
	}
	switch e.Action {
	case "edited":
		err = h.edited(ctx, e, s, entry)
	case "closed", "deleted", "transferred":
		err = h.closed(ctx, e, s, entry)
	}
	return true, err
}

// closed releases a test whose issue a person closed or deleted. Of one who may not answer, it is
// opened again.
func (h quarantineIssue) closed(ctx context.Context, e *Event, s *quarantines.Service, entry quarantine.Entry) error {
	who, err := h.sender(ctx, e, h.Config.Answers.PermissionOrDefault())
	if err != nil || who.ignored || !entry.Open() {
		return err
	}
	source := fmt.Sprintf("%s/%d/%s", e.Action, e.Issue.Number, cmp.Or(e.Issue.ClosedAt, e.Issue.UpdatedAt))
	if !who.may {
		if e.Action != "closed" {
			return nil
		}
		_, err := h.GitHub.Issues.Reopen(ctx, h.Repo, e.Issue.Number, "", "")
		return errors.Join(err, h.refuse(ctx, e.Issue.Number, who, true))
	}
	entry, err = s.Release(ctx, entry.ID, source, who.login)
	if err != nil {
		return err
	}
	return s.Apply(ctx, entry)
}

// edited handles an edit of the body: an answer once Submit is ticked. What a person who may not
// answer did is undone, and boxes that an edit removed are restored.
func (h quarantineIssue) edited(ctx context.Context, e *Event, s *quarantines.Service, entry quarantine.Entry) error {
	if e.Changes.Body == nil {
		return nil
	}
	from, to := e.Changes.Body.From, e.Issue.Body
	before, _ := answers.Parse(from)
	after, ok := answers.Parse(to)
	m, marked := marker.Parse(to)
	broken := entry.Open() && (!ok || after.Nonce != quarantineview.Nonce(entry) || !slices.Contains(after.Boxes, answers.Submit) || !marked || !s.IsMark(m.Key, entry.ID))
	change := answers.Diff(before, after)
	if change.Empty() && !broken {
		return nil
	}
	who, err := h.sender(ctx, e, h.Config.Answers.PermissionOrDefault())
	if err != nil || who.ignored {
		return err
	}
	sum := sha256.Sum256([]byte(e.Issue.UpdatedAt + "\x00" + who.login + "\x00" + to))
	source := fmt.Sprintf("edit/%d/%x", e.Issue.Number, sum[:8])
	rewrite := func(write func(live string) markdown.Text) error {
		_, _, err := h.GitHub.Issues.Rewrite(ctx, h.Repo, entry.Number, s.Mark(entry.ID, entry.Gen), write)
		return h.gone(ctx, err)
	}
	whole := func(string) markdown.Text { return s.Body(entry) }
	untick := quarantineview.Unsubmitted
	switch {
	case !who.may && broken:
		return errors.Join(rewrite(whole), h.refuse(ctx, entry.Number, who, true))
	case !who.may:
		return errors.Join(rewrite(func(live string) markdown.Text { return quarantineview.Undone(live, change) }), h.refuse(ctx, entry.Number, who, true))
	case broken:
		return rewrite(whole)
	case !after.Submitted():
		return nil
	case slices.Contains(entry.Sources, source):
		return s.Apply(ctx, entry) // handled before, as far as this
	case !entry.Open():
		return h.reply(ctx, entry.Number, source, quarantineview.Settled(h.words()))
	case after.Gen != entry.Gen:
		return errors.Join(rewrite(untick), h.reply(ctx, entry.Number, source, quarantineview.Changed(h.words())))
	}
	return h.answer(ctx, s, entry, after.Ticked, who.login, source, func() error { return rewrite(untick) })
}

// answer carries out the one box that is ticked.
func (h quarantineIssue) answer(ctx context.Context, s *quarantines.Service, entry quarantine.Entry, ticked []string, by, source string, untick func() error) error {
	chosen := slices.DeleteFunc(slices.Clone(ticked), func(id string) bool { return !slices.Contains(quarantineview.Boxes, id) })
	if len(chosen) != 1 {
		return errors.Join(untick(), h.reply(ctx, entry.Number, source, quarantineview.Several(h.words())))
	}
	var err error
	switch chosen[0] {
	case quarantineview.BoxQuarantine:
		var base routing.Case
		if h.Deps, base, err = defaultBranch(ctx, h.Deps); err != nil {
			return err
		}
		s = Quarantine(h.Deps)
		entry, err = s.Quarantine(ctx, quarantine.Request{Test: entry.TestRef, Source: source, Broken: quarantines.BrokenIn(h.Repo.String(), entry.TestRef, base)}, by)
	case quarantineview.BoxFix:
		entry, err = s.Fix(ctx, entry.ID, source, by)
	case quarantineview.BoxRelease:
		entry, err = s.Release(ctx, entry.ID, source, by)
	}
	if refused(err) {
		return errors.Join(untick(), h.reply(ctx, entry.Number, source, quarantineview.Refused(err, h.words())))
	}
	if err != nil {
		return err
	}
	return s.Apply(ctx, entry)
}

// flakeSearch collects, while reconcile looks at the cases, what the quarantine needs to know of them.
type flakeSearch struct {
	open  []quarantine.Entry
	found []quarantine.Flaked
	runs  map[string][]history.Run // by checkpoint, of all cases
}

func newFlakeSearch(st quarantine.State) *flakeSearch {
	s := &flakeSearch{runs: map[string][]history.Run{}}
	for _, e := range st.Entries {
		if e.Open() {
			s.open = append(s.open, e)
		}
	}
	return s
}

// add looks at a case.
func (s *flakeSearch) add(c routing.Case) {
	for _, name := range c.Names() {
		s.found = append(s.found, flakesOf(c, name)...)
		if slices.ContainsFunc(s.open, func(e quarantine.Entry) bool { return e.Checkpoint == name }) {
			s.runs[name] = append(s.runs[name], routing.TestRuns(c.Checkpoints[name])...)
		}
	}
}

// passes returns how often the tests of open entries passed in a row since they are watched.
func (s *flakeSearch) passes() map[string]int {
	for _, runs := range s.runs {
		slices.SortStableFunc(runs, func(a, b history.Run) int { return a.At.Compare(b.At) })
	}
	out := map[string]int{}
	for _, e := range s.open {
		runs := s.runs[e.Checkpoint]
		since, _ := slices.BinarySearchFunc(runs, e.WatchedSince(), func(r history.Run, at time.Time) int { return r.At.Compare(at) })
		out[e.ID] = history.PassesInARow(runs[since:], e.TestID())
	}
	return out
}

// reconcileQuarantine records what the cases say, reminds of what ends, and finishes what was
// interrupted.
func reconcileQuarantine(ctx context.Context, d Deps, known bool, found *flakeSearch) error {
	if !known && len(found.found) == 0 {
		return nil
	}
	if known {
		var err error
		if d, _, err = defaultBranch(ctx, d); err != nil {
			return err
		}
	}
	return Quarantine(d).Reconcile(ctx, found.found, found.passes())
}
