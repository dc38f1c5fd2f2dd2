// Package trackingissues keeps the issues of the entries of a repository's stream, such as incidents
// and flaky tests: what is seen and said is recorded first, by compare and swap, then shown in the
// issue of the entry, then noted. A process that is killed anywhere leaves work that the next one finds
// in the stream.
package trackingissues

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// Issues is what is done to issues.
type Issues interface {
	Upsert(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (github.Issue, bool, error)
	CloseAs(ctx context.Context, r github.Repo, number int, reason string, comment markdown.Text, marker string) (bool, error)
	Reopen(ctx context.Context, r github.Repo, number int, comment markdown.Text, marker string) (bool, error)
}

// Comments is what is posted on issues.
type Comments interface {
	PostOnce(ctx context.Context, r github.Repo, issue int, marker string, body markdown.Text, fresh bool) (string, bool, error)
}

// Repositories tells a missing issue from a missing repository.
type Repositories interface {
	Absent(ctx context.Context, r github.Repo, err error) error
}

// GitHub is what is done there.
type GitHub struct {
	Issues       Issues
	Comments     Comments
	Repositories Repositories
}

// Stream is the stream of a repository with the state S and payloads P, whose entries E have an issue
// each.
type Stream[S any, E trackingissue.Entry, P any] struct {
	Ledger     ledger.Ledger
	Repo       string // owner/name
	Name       string // of the stream, such as routing.StreamIncidents
	Projection routing.Projection[S]
	Lease      ledger.Lease // of this process, with its clock

	Events func(ps []P, by string, now time.Time) []routing.Event
	Entry  func(s S, id string) (E, bool)
	Leased func(id string, l *routing.Lease) P
	Done   func(trackingissue.Done) P
}

// Texts are what is posted for entries, and the work that is not done in their issues.
type Texts[E any, P any] interface {
	// Issue returns the issue of an entry.
	Issue(e E) github.IssueSpec
	// Note returns the n-th note of an entry, counted from 1. It reports false if there is none.
	Note(e E, n int) (markdown.Text, bool)
	// Other does work that is neither the issue nor in it, and returns what records that it is done.
	Other(ctx context.Context, r github.Repo, e E, work string) (P, error)
}

// Key is the ledger key of the stream.
func (s Stream[S, E, P]) Key() string { return routing.StreamKey(s.Repo, s.Name) }

// Load reads the state.
func (s Stream[S, E, P]) Load(ctx context.Context) (S, error) {
	st, err := ledger.Of(s.Ledger, s.Key(), s.Projection).Load(ctx)
	if err != nil {
		err = fmt.Errorf("reading the %s: %w", s.Name, err)
	}
	return st, err
}

// Change appends what step returns for the newest state, said by a person or "", and returns the state
// with it. What cannot be done is a *routing.RefusedError.
func (s Stream[S, E, P]) Change(ctx context.Context, by string, step func(S, time.Time) ([]P, error)) (S, error) {
	st, err := ledger.Of(s.Ledger, s.Key(), s.Projection).Update(ctx, func(st S) ([]routing.Event, error) {
		at := s.now()
		ps, err := step(st, at)
		return s.Events(ps, by, at), err
	})
	var refused *routing.RefusedError
	if err != nil && !errors.As(err, &refused) {
		err = fmt.Errorf("recording in the %s: %w", s.Name, err)
	}
	return st, err
}

// Mark returns the marker of the issue of an entry, in a generation.
func (s Stream[S, E, P]) Mark(id string, gen int) string { return marker.Format(s.Key()+"/"+id, gen) }

// Apply does the pending work of an entry, unless another process is at it.
func (s Stream[S, E, P]) Apply(ctx context.Context, h GitHub, texts Texts[E, P], e E) error {
	if len(e.Tracked().Pending) == 0 {
		return nil
	}
	repo, err := github.ParseRepo(s.Repo)
	if err != nil {
		return err
	}
	if mine, err := s.take(ctx, e.Tracked()); err != nil || !mine {
		return err
	}
	p := poster[S, E, P]{s, h, texts, repo}
	for len(e.Tracked().Pending) > 0 {
		i := e.Tracked()
		done, err := p.do(ctx, e, i.Pending[0])
		if err != nil {
			return fmt.Errorf("the issue of %s in the %s: %w", i.ID, s.Name, err)
		}
		st, err := s.Change(ctx, "", func(st S, _ time.Time) ([]P, error) {
			if now, _ := s.Entry(st, i.ID); i.Pending[0] == trackingissue.WorkIssue && now.Tracked().Gen != i.Gen && now.Tracked().Number > 0 {
				return nil, nil // it changed while it was written
			}
			return []P{done}, nil
		})
		if err != nil {
			return err
		}
		e, _ = s.Entry(st, i.ID)
	}
	return nil
}

func (s Stream[S, E, P]) now() time.Time {
	if s.Lease.Now != nil {
		return s.Lease.Now().UTC()
	}
	return time.Now().UTC()
}

// take makes this process the one that does the work of an entry.
func (s Stream[S, E, P]) take(ctx context.Context, i trackingissue.Issue) (bool, error) {
	if s.Lease.Mine(i.Lease) {
		return true, nil
	}
	mine := false
	_, err := s.Change(ctx, "", func(st S, _ time.Time) ([]P, error) {
		e, _ := s.Entry(st, i.ID)
		if now := e.Tracked(); len(now.Pending) == 0 || s.Lease.Taken(now.Lease) {
			mine = false
			return nil, nil
		}
		mine = true
		return []P{s.Leased(i.ID, s.Lease.Take())}, nil
	})
	return mine, err
}

// poster writes to the issues of entries.
type poster[S any, E trackingissue.Entry, P any] struct {
	Stream[S, E, P]
	GitHub
	texts Texts[E, P]
	repo  github.Repo
}

// do carries out one piece of work.
func (p poster[S, E, P]) do(ctx context.Context, e E, work string) (P, error) {
	i := e.Tracked()
	done := trackingissue.Done{ID: i.ID, Work: work}
	note, ofIssue := strings.CutPrefix(work, trackingissue.WorkNote)
	var err error
	switch {
	case work == trackingissue.WorkIssue:
		done.Gen = i.Gen
		done.Number, done.URL, err = p.issue(ctx, e)
	case !ofIssue && work != trackingissue.WorkReopen && work != trackingissue.WorkClose:
		return p.texts.Other(ctx, p.repo, e, work)
	case i.Number == 0:
		return p.Done(done), fmt.Errorf("%s without an issue", work)
	case work == trackingissue.WorkReopen:
		_, err = p.Issues.Reopen(ctx, p.repo, i.Number, "", "")
	case work == trackingissue.WorkClose:
		_, err = p.Issues.CloseAs(ctx, p.repo, i.Number, "completed", "", "")
	default:
		n, bad := strconv.Atoi(note)
		text, ok := p.texts.Note(e, n)
		if bad != nil || !ok {
			return p.Done(done), fmt.Errorf("%q is no work that is known", work)
		}
		_, _, err = p.Comments.PostOnce(ctx, p.repo, i.Number, marker.Format(p.Key()+"/"+i.ID+"/"+work, 0), text, false)
	}
	if err != nil {
		err = p.Repositories.Absent(ctx, p.repo, err)
	}
	if !errors.Is(err, github.ErrAbsent) && (errors.Is(err, github.ErrMoved) || errors.Is(err, github.ErrNotFound)) {
		err = nil // the issue was deleted or transferred: there is nobody to tell
	}
	return p.Done(done), err
}

// issue files the issue, or brings it up to date.
func (p poster[S, E, P]) issue(ctx context.Context, e E) (number int, url string, err error) {
	i := e.Tracked()
	ref := ""
	if i.Number > 0 {
		ref = strconv.Itoa(i.Number)
	}
	filed, _, err := p.Issues.Upsert(ctx, p.repo, p.Mark(i.ID, i.Gen), p.texts.Issue(e), ref)
	return filed.Number, filed.URL, err
}
