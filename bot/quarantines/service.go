// Package quarantines keeps the quarantine of a repository: which tests flake, what people say about
// them, and what the time brings about. What is recorded is then shown in the issue of the test, as
// package trackingissues does.
package quarantines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/quarantineview"
	"github.com/switchback-ci/switchback/bot/trackingissues"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/quarantine"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// CodeOwners says who owns files.
type CodeOwners interface {
	Owners(ctx context.Context, r github.Repo, ref, file string) ([]string, error)
}

// GitHub is what a service does there.
type GitHub struct {
	trackingissues.GitHub
	CodeOwners CodeOwners
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

// stream is the stream of the quarantine.
func (s *Service) stream() trackingissues.Stream[quarantine.State, quarantine.Entry, quarantine.Payload] {
	return trackingissues.Stream[quarantine.State, quarantine.Entry, quarantine.Payload]{
		Ledger: s.Ledger, Repo: s.Repo, Name: routing.StreamQuarantine, Projection: quarantine.Projection, Lease: s.lease(),
		Events: quarantine.Events, Entry: quarantine.State.Entry,
		Leased: func(id string, l *routing.Lease) quarantine.Payload { return quarantine.Leased{ID: id, Lease: l} },
		Done:   func(d trackingissue.Done) quarantine.Payload { return quarantine.WorkDone{Done: d} },
	}
}

func (s *Service) lease() ledger.Lease { return ledger.Lease{Owner: s.Owner, TTL: s.TTL, Now: s.Now} }

// State reads the quarantine of the repository.
func (s *Service) State(ctx context.Context) (quarantine.State, error) { return s.stream().Load(ctx) }

// change appends what step returns for the newest state, said by a person or "".
func (s *Service) change(ctx context.Context, by string, step func(quarantine.Steps) ([]quarantine.Payload, error)) (quarantine.State, error) {
	return s.stream().Change(ctx, by, func(st quarantine.State, now time.Time) ([]quarantine.Payload, error) {
		return step(quarantine.Steps{State: st, Now: now, Lease: s.lease().Take(), Configured: configured(s.Config, now)})
	})
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
	if s.GitHub == nil {
		return nil
	}
	return s.stream().Apply(ctx, s.GitHub.GitHub, texts{s}, e)
}

// Mark is the marker of the issue of a test, in a generation.
func (s *Service) Mark(id string, gen int) string { return s.stream().Mark(id, gen) }

// IsMark reports whether a key of a marker is that of the issue of a test.
func (s *Service) IsMark(key, id string) bool { return key == s.stream().Key()+"/"+id }

// Body returns the issue of a test.
func (s *Service) Body(e quarantine.Entry) markdown.Text {
	return quarantineview.Body(e, int(s.Config.QuarantineTime()/(24*time.Hour)), s.Render)
}

// texts are what is posted for flaky tests.
type texts struct{ *Service }

// Issue implements trackingissues.Texts. What people have ticked and not submitted stays.
func (p texts) Issue(e quarantine.Entry) github.IssueSpec {
	body := p.Body(e)
	return github.IssueSpec{
		Title: quarantineview.Title(e, p.Render), Body: body,
		Labels: []github.LabelSpec{{Name: "switchback:flaky", Color: "fbca04", Description: "A test that fails and passes on one commit"}},
		Write:  func(live string) markdown.Text { return quarantineview.Kept(body, live) },
	}
}

// Note implements trackingissues.Texts.
func (p texts) Note(e quarantine.Entry, n int) (markdown.Text, bool) {
	if n < 1 || n > len(e.Notes) {
		return "", false
	}
	note, o := e.Notes[n-1], p.Render
	if note.Kind == quarantine.NoteFixing {
		o.Mention = fixer(p.Config)
	}
	return quarantineview.Note(e, note, o), true
}

// Other implements trackingissues.Texts.
func (p texts) Other(ctx context.Context, r github.Repo, e quarantine.Entry, work string) (quarantine.Payload, error) {
	done := quarantine.WorkDone{Done: trackingissue.Done{ID: e.ID, Work: work}}
	if work != trackingissue.WorkOwners {
		return done, fmt.Errorf("%q is no work that is known", work)
	}
	var err error
	if done.Owners, err = p.GitHub.CodeOwners.Owners(ctx, r, "", e.File); err != nil {
		err = p.GitHub.Repositories.Absent(ctx, r, err)
	}
	if !errors.Is(err, github.ErrAbsent) && errors.Is(err, github.ErrMoved) {
		err = nil
	}
	return done, err
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
