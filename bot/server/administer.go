package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
)

// administer handles the events of installations and repositories themselves; done says that an event
// is nothing else. No ledger is deleted: that of a repository which the App lost stays, and is used
// again if it comes back.
func (f *contexts) administer(ctx context.Context, d delivery) (done bool, err error) {
	switch d.Event {
	case "installation":
		return true, f.installation(ctx, d)
	case "installation_repositories":
		return true, f.selection(ctx, d)
	case "installation_target":
		return true, nil // names are looked up when they are met
	case "repository":
		return true, f.repositoryEvent(ctx, d)
	case "push":
		f.stale(d.event.Repository.ID) // it may have another configuration, and another plan
	}
	return false, nil
}

func (f *contexts) installation(ctx context.Context, d delivery) error {
	if d.Installation <= 0 {
		return fmt.Errorf("%w: no installation", handler.ErrMalformed)
	}
	f.installations.forget(d.Installation) // its token may be of a suspended installation, or have other permissions
	switch d.Action {
	case "deleted":
		return f.store.LoseInstallation(ctx, d.Installation)
	case "created":
		return f.refresh(ctx, d)
	case "unsuspend", "new_permissions_accepted":
		return f.store.Hurry(ctx, d.Installation)
	}
	return nil
}

// selection handles repositories that were added to an installation or removed from it.
func (f *contexts) selection(ctx context.Context, d delivery) error {
	f.installations.forget(d.Installation) // its token is for the repositories of before
	return f.refresh(ctx, d)
}

// refresh asks GitHub for the present state of the known repositories that an event names, as added or
// removed: it may be older than another event. An unknown one gets a row when something happens there.
func (f *contexts) refresh(ctx context.Context, d delivery) error {
	for _, x := range slices.Concat(d.event.Repositories, d.event.RepositoriesAdded, d.event.RepositoriesRemoved) {
		r, known, err := f.store.Repository(ctx, x.ID)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if _, err := f.follow(ctx, r, d.Installation); err != nil && !errors.Is(err, github.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (f *contexts) repositoryEvent(ctx context.Context, d delivery) error {
	f.stale(d.event.Repository.ID)
	r, known, err := f.store.Repository(ctx, d.event.Repository.ID)
	switch {
	case err != nil || !known:
		return err
	case d.Action == "deleted":
		return f.store.LoseRepository(ctx, d.event.Repository.ID)
	case d.Action == "renamed", d.Action == "transferred":
		_, err = f.follow(ctx, r, d.Installation)
	case d.Action == "unarchived":
		err = f.store.Hurry(ctx, r.Installation)
	}
	return err
}
