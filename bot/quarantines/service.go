// Package quarantines keeps the quarantine of a repository: what is seen and said is recorded first,
// by compare and swap, then shown in the issue of the test, then noted. A process that is killed
// anywhere leaves work that the next one finds in the stream.
package quarantines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/quarantineview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

// Issues is what a service does to issues.
type Issues interface {
	Upsert(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (github.Issue, bool, error)
	Rewrite(ctx context.Context, r github.Repo, number int, marker string, write func(live string) markdown.Text) (github.Issue, bool, error)
	CloseAs(ctx context.Context, r github.Repo, number int, reason string, comment markdown.Text, marker string) (bool, error)
	Reopen(ctx context.Context, r github.Repo, number int, comment markdown.Text, marker string) (bool, error)
}

// Comments is what a service posts on issues.
type Comments interface {
	PostOnce(ctx context.Context, r github.Repo, issue int, marker string, body markdown.Text, fresh bool) (string, bool, error)
}

// Repositories tells a missing issue from a missing repository.
type Repositories interface {
	Absent(ctx context.Context, r github.Repo, err error) error
}

// CodeOwners says who owns files.
type CodeOwners interface {
	Owners(ctx context.Context, r github.Repo, ref, file string) ([]string, error)
}

// GitHub is what a service does there.
type GitHub struct {
	Issues       Issues
	Comments     Comments
	Repositories Repositories
	CodeOwners   CodeOwners
}

// Service keeps the quarantine of a repository. Without GitHub it only records: what is to be posted
// stays pending.
type Service struct {
	Ledger ledger.Ledger
	GitHub *GitHub
	Repo   string // owner/name
	Config config.File
	Render render.Options

	DefaultBranch string // of the repository, "" if unknown

	Owner string        // names this process
	TTL   time.Duration // how long a process may be silent before another takes over
	Now   func() time.Time
}

// Key is the ledger key of the repository's quarantine.
func (s *Service) Key() string { return routing.StreamKey(s.Repo, routing.StreamQuarantine) }

func (s *Service) lease() ledger.Lease { return ledger.Lease{Owner: s.Owner, TTL: s.TTL, Now: s.Now} }

// State reads the quarantine of the repository.
func (s *Service) State(ctx context.Context) (quarantine.State, error) {
	st, err := ledger.Of(s.Ledger, s.Key(), quarantine.Projection).Load(ctx)
	if err != nil {
		err = fmt.Errorf("reading the quarantine: %w", err)
	}
	return st, err
}

// change appends what step returns for the newest state, said by a person or "", and returns the ids
// of the entries that this process is to work on.
func (s *Service) change(ctx context.Context, by string, step func(quarantine.Steps) ([]quarantine.Payload, error)) (quarantine.State, error) {
	st, err := ledger.Of(s.Ledger, s.Key(), quarantine.Projection).Update(ctx, func(st quarantine.State) ([]routing.Event, error) {
		now := s.Now().UTC()
		ps, err := step(quarantine.Steps{State: st, Now: now, Lease: s.lease().Take(), Configured: configured(s.Config, now)})
		return quarantine.Events(ps, by, now), err
	})
	var refused *routing.RefusedError
	if err != nil && !errors.As(err, &refused) {
		err = fmt.Errorf("recording in the quarantine: %w", err)
	}
	return st, err
}

// configured counts the tests in quarantine by the configuration.
func configured(c config.File, now time.Time) int {
	n := 0
	for _, q := range c.Quarantine {
		if now.Before(q.Until.Begin()) {
			n++
		}
	}
	return n
}

// Flaked records tests that failed and passed on one commit of a case, and asks a maintainer about
// those that did so often enough.
func (s *Service) Flaked(ctx context.Context, found []quarantine.Flaked) error {
	if len(found) == 0 {
		return nil
	}
	st, err := s.change(ctx, "", func(q quarantine.Steps) ([]quarantine.Payload, error) { return q.Flaked(found), nil })
	if err != nil {
		return err
	}
	var failed error
	for _, f := range found {
		if e, ok := st.Entry(quarantine.IDOf(f.Test)); ok {
			failed = errors.Join(failed, s.Apply(ctx, e))
		}
	}
	return failed
}

// Quarantine puts a test into quarantine, as a person said. What cannot be done is a
// *routing.RefusedError.
func (s *Service) Quarantine(ctx context.Context, r quarantine.Request, by string) (quarantine.Entry, error) {
	r.For = s.Config.QuarantineTime()
	if err := s.announce(ctx); err != nil {
		return quarantine.Entry{}, err
	}
	st, err := s.change(ctx, by, func(q quarantine.Steps) ([]quarantine.Payload, error) { return q.Quarantine(r) })
	e, _ := st.Entry(quarantine.IDOf(r.Test))
	return e, err
}

// announce notes in the case of the default branch that there is a quarantine, before anything is in
// it: who compares a run with that branch reads the quarantine only then.
func (s *Service) announce(ctx context.Context) error {
	if s.DefaultBranch == "" {
		return nil
	}
	key := s.Repo + "@" + s.DefaultBranch
	_, err := ledger.Case(s.Ledger, key).Update(ctx, func(c routing.Case) ([]routing.Event, error) {
		if c.Quarantines {
			return nil, nil
		}
		return []routing.Event{routing.RegisterEvent(key, s.Now().UTC())}, nil
	})
	return err
}

// Fix has a test fixed, and Release ends its quarantine.
func (s *Service) Fix(ctx context.Context, id, source, by string) (quarantine.Entry, error) {
	st, err := s.change(ctx, by, func(q quarantine.Steps) ([]quarantine.Payload, error) { return q.Fix(id, source), nil })
	e, _ := st.Entry(id)
	return e, err
}

// Release ends the quarantine of a test, or declines it.
func (s *Service) Release(ctx context.Context, id, source, by string) (quarantine.Entry, error) {
	st, err := s.change(ctx, by, func(q quarantine.Steps) ([]quarantine.Payload, error) { return q.Release(id, source), nil })
	e, _ := st.Entry(id)
	return e, err
}

// Reconcile records what was found in the cases and what the time brings about, and finishes what
// others left.
func (s *Service) Reconcile(ctx context.Context, found []quarantine.Flaked, passes map[string]int) error {
	st, err := s.change(ctx, "", func(q quarantine.Steps) ([]quarantine.Payload, error) {
		out := q.Flaked(found)
		for _, e := range quarantine.Events(out, "", q.Now) {
			next, err := q.Apply(e)
			if err != nil {
				return nil, err
			}
			q.State = next
		}
		return append(out, q.Due(passes)...), nil
	})
	if err != nil {
		return err
	}
	if len(st.Excused(s.Now())) > 0 {
		err = s.announce(ctx) // the default branch may be another one
	}
	for _, e := range st.Entries {
		err = errors.Join(err, s.Apply(ctx, e))
	}
	return err
}

// Apply does the pending work of an entry, unless another process is at it.
func (s *Service) Apply(ctx context.Context, e quarantine.Entry) error {
	if len(e.Pending) == 0 || s.GitHub == nil {
		return nil
	}
	repo, err := github.ParseRepo(s.Repo)
	if err != nil {
		return err
	}
	if mine, err := s.take(ctx, e); err != nil || !mine {
		return err
	}
	p := poster{s, repo}
	for len(e.Pending) > 0 {
		work := e.Pending[0]
		done, err := p.do(ctx, e, work)
		if err != nil {
			return fmt.Errorf("the issue of %s: %w", e.ID, err)
		}
		st, err := s.change(ctx, "", func(quarantine.Steps) ([]quarantine.Payload, error) { return []quarantine.Payload{done}, nil })
		if err != nil {
			return err
		}
		e, _ = st.Entry(e.ID)
	}
	return nil
}

// take makes this process the one that does the work of an entry.
func (s *Service) take(ctx context.Context, e quarantine.Entry) (bool, error) {
	l := s.lease()
	if l.Mine(e.Lease) {
		return true, nil
	}
	mine := false
	_, err := s.change(ctx, "", func(q quarantine.Steps) ([]quarantine.Payload, error) {
		now, _ := q.Entry(e.ID)
		if mine = len(now.Pending) > 0 && !l.Taken(now.Lease); !mine {
			return nil, nil
		}
		return []quarantine.Payload{quarantine.Leased{ID: e.ID, Lease: q.Lease}}, nil
	})
	return mine, err
}

// Mark is the marker of the issue of a test, in a generation.
func (s *Service) Mark(id string, gen int) string { return marker.Format(s.Key()+"/"+id, gen) }

// Body returns the issue of a test.
func (s *Service) Body(e quarantine.Entry) markdown.Text {
	return quarantineview.Body(e, int(s.Config.QuarantineTime()/(24*time.Hour)), s.Render)
}

// poster writes to the issues of flaky tests.
type poster struct {
	*Service
	repo github.Repo
}

// do carries out one piece of work.
func (p poster) do(ctx context.Context, e quarantine.Entry, work string) (quarantine.WorkDone, error) {
	done := quarantine.WorkDone{ID: e.ID, Work: work}
	var err error
	switch {
	case work == quarantine.WorkOwners:
		done.Owners, err = p.GitHub.CodeOwners.Owners(ctx, p.repo, "", e.File)
	case work == quarantine.WorkIssue:
		var i github.Issue
		i, err = p.issue(ctx, e)
		done.Number, done.URL = i.Number, i.URL
	case e.Number == 0:
		return done, fmt.Errorf("%s without an issue", work)
	case work == quarantine.WorkReopen:
		_, err = p.GitHub.Issues.Reopen(ctx, p.repo, e.Number, "", "")
	case work == quarantine.WorkClose:
		_, err = p.GitHub.Issues.CloseAs(ctx, p.repo, e.Number, "completed", "", "")
	default:
		n, bad := strconv.Atoi(strings.TrimPrefix(work, quarantine.WorkNote))
		if bad != nil || n < 1 || n > len(e.Notes) {
			return done, fmt.Errorf("%q is no work that is known", work)
		}
		note := e.Notes[n-1]
		o := p.Render
		if note.Kind == quarantine.NoteFixing {
			o.Mention = fixer(p.Config)
		}
		_, _, err = p.GitHub.Comments.PostOnce(ctx, p.repo, e.Number, marker.Format(p.Key()+"/"+e.ID+"/"+work, 0), quarantineview.Note(e, note, o), false)
	}
	if err != nil {
		err = p.GitHub.Repositories.Absent(ctx, p.repo, err)
	}
	if !errors.Is(err, github.ErrAbsent) && (errors.Is(err, github.ErrMoved) || work != quarantine.WorkOwners && errors.Is(err, github.ErrNotFound)) {
		return done, nil // the issue was deleted or transferred: there is nobody to tell
	}
	return done, err
}

// issue files the issue, or brings it up to date. What people have ticked and not submitted stays.
func (p poster) issue(ctx context.Context, e quarantine.Entry) (github.Issue, error) {
	body := p.Body(e)
	ref := ""
	if e.Number > 0 {
		ref = strconv.Itoa(e.Number)
	}
	i, _, err := p.GitHub.Issues.Upsert(ctx, p.repo, p.Mark(e.ID, e.Gen), github.IssueSpec{
		Title: quarantineview.Title(e, p.Render), Body: body,
		Labels: []github.LabelSpec{{Name: "switchback:flaky", Color: "fbca04", Description: "A test that fails and passes on one commit"}},
		Write:  func(live string) markdown.Text { return quarantineview.Kept(body, live) },
	}, ref)
	return i, err
}

// fixer returns the worker that the configuration has mentioned for fixes, "" for the author of a
// change or none.
func fixer(c config.File) string {
	i := slices.IndexFunc(c.Handoff.To, func(h config.Handoff) bool { return h.Mention != "" && h.Mention != "author" })
	if i < 0 {
		return ""
	}
	return c.Handoff.To[i].Mention
}
