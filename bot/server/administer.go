package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/bot/action"
	"github.com/switchback-ci/switchback/bot/github"
)

// notice is what is read of an event about installations and repositories.
type notice struct {
	All     []named `json:"repositories"` // of a new installation
	Added   []named `json:"repositories_added"`
	Removed []named `json:"repositories_removed"`
}

type named struct {
	ID int64 `json:"id"`
}

// administer does what is to be done about an event that is not about a case.
// Nothing is deleted by it: a ledger stays, also of a repository that the App
// lost, and is gone on with if that comes back.
func (f *offices) administer(ctx context.Context, d delivery) (done bool, err error) {
	switch d.Event {
	case "installation":
		return true, f.installation(ctx, d)
	case "installation_repositories":
		return true, f.chosen(ctx, d)
	case "installation_target":
		return true, nil // names are looked up when they are met
	case "repository":
		return true, f.repositoryEvent(ctx, d)
	case "push":
		f.stale(d.repositoryID) // it may have another configuration, and another plan
	}
	return false, nil
}

func (f *offices) installation(ctx context.Context, d delivery) error {
	if d.Installation <= 0 {
		return fmt.Errorf("%w: no installation", action.ErrMalformed)
	}
	f.forget(d.Installation) // a new token says what is so now: suspended, or with other permissions
	switch d.Action {
	case "deleted":
		return f.store.LoseInstallation(ctx, d.Installation)
	case "created":
		return f.met(ctx, d)
	case "unsuspend", "new_permissions_accepted":
		return f.store.Hurry(ctx, d.Installation)
	}
	return nil
}

// chosen are repositories that were added to an installation or taken from it.
func (f *offices) chosen(ctx context.Context, d delivery) error {
	f.forget(d.Installation) // its token is for the repositories of before
	return f.met(ctx, d)
}

// met looks after the known repositories that a notice names, whichever way: it
// may be older than another, so GitHub is asked what is so now. Of one that is
// not known a row is made when something happens there.
func (f *offices) met(ctx context.Context, d delivery) error {
	var n notice
	if err := json.Unmarshal(d.Payload, &n); err != nil {
		return fmt.Errorf("%w: %w", action.ErrMalformed, err)
	}
	for _, x := range slices.Concat(n.All, n.Added, n.Removed) {
		r, known, err := f.store.Repository(ctx, x.ID)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if _, err := f.follow(ctx, r, d); err != nil && !errors.Is(err, github.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (f *offices) repositoryEvent(ctx context.Context, d delivery) error {
	f.stale(d.repositoryID)
	r, known, err := f.store.Repository(ctx, d.repositoryID)
	switch {
	case err != nil || !known:
		return err
	case d.Action == "deleted":
		return f.store.LoseRepository(ctx, d.repositoryID)
	case d.Action == "renamed", d.Action == "transferred":
		_, err = f.follow(ctx, r, d)
	case d.Action == "unarchived":
		err = f.store.Hurry(ctx, r.Installation)
	}
	return err
}
