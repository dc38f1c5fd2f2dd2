package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
)

// administration handles the events of installations and repositories themselves.
type administration struct{ *contexts }

// administer handles an event if it is about installations or repositories; done says that the event
// is nothing else. No ledger is deleted: that of a repository which the App lost stays, and is used
// again if it comes back.
func (a administration) administer(ctx context.Context, d delivery) (done bool, err error) {
	switch d.Event {
	case "installation":
		return true, a.installation(ctx, d)
	case "installation_repositories":
		return true, a.selection(ctx, d)
	case "installation_target":
		return true, nil // GitHub is asked for names when they are needed
	case "repository":
		return true, a.repositoryEvent(ctx, d)
	case "push":
		a.stale(d.event.Repository.ID) // it may have another configuration, and another plan
	}
	return false, nil
}

func (a administration) installation(ctx context.Context, d delivery) error {
	if d.Installation <= 0 {
		return fmt.Errorf("%w: no installation", handler.ErrMalformed)
	}
	a.installations.forget(d.Installation) // its token may be of a suspended installation, or have other permissions
	switch d.Action {
	case "deleted":
		return a.store.Repositories.LoseInstallation(ctx, d.Installation)
	case "created":
		return a.refresh(ctx, d)
	case "unsuspend", "new_permissions_accepted":
		return a.store.Deliveries.Hurry(ctx, d.Installation)
	}
	return nil
}

// selection handles repositories that were added to an installation or removed from it.
func (a administration) selection(ctx context.Context, d delivery) error {
	a.installations.forget(d.Installation) // its token is for the repositories of before
	return a.refresh(ctx, d)
}

// refresh asks GitHub for the present state of the known repositories that an event names, as added or
// removed: it may be older than another event. An unknown one gets a row when something happens there.
func (a administration) refresh(ctx context.Context, d delivery) error {
	for _, x := range slices.Concat(d.event.Repositories, d.event.RepositoriesAdded, d.event.RepositoriesRemoved) {
		r, known, err := a.store.Repositories.Get(ctx, x.ID)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if _, err := a.follow(ctx, r, d.Installation); err != nil && !errors.Is(err, github.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (a administration) repositoryEvent(ctx context.Context, d delivery) error {
	a.stale(d.event.Repository.ID)
	r, known, err := a.store.Repositories.Get(ctx, d.event.Repository.ID)
	switch {
	case err != nil || !known:
		return err
	case d.Action == "deleted":
		return a.store.Repositories.Lose(ctx, d.event.Repository.ID)
	case d.Action == "renamed", d.Action == "transferred":
		_, err = a.follow(ctx, r, d.Installation)
	case d.Action == "unarchived":
		err = a.store.Deliveries.Hurry(ctx, r.Installation)
	}
	return err
}
