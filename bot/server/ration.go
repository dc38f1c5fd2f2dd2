package server

import (
	"context"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
	"github.com/switchback-ci/switchback/bot/github/ratelimit/sqllimit"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// rationOf returns what all processes of the App may ask of GitHub as one.
func rationOf(s *queue.Store, name string) ratelimit.Keeper {
	return sqllimit.Keeper{DB: s.Database(), Name: name}
}

// holder names this process among those that share a ration. Who has an SQLite
// file has it alone, and comes back to it under the same name.
func holder(s *queue.Store, process string) string {
	if s.Database().Kind == database.SQLite {
		return ratelimit.Alone
	}
	return process
}

// room returns an error that says when to come back while no write gets through
// for longer than a moment: what is not begun until then is begun with all that
// came meanwhile, of which the newest is posted.
func (f *offices) room(ctx context.Context, installation int64) error {
	if installation <= 0 {
		return nil
	}
	h, err := f.speaker(installation)
	if err != nil {
		return err
	}
	return h.Room(ctx)
}
