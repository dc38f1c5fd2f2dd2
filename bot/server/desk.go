package server

import (
	"context"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// OpenStore opens the database that the flags and the environment name. The
// App's credentials are not needed, and the server may run.
func OpenStore(ctx context.Context, flags map[string]string, getenv func(string) string) (*queue.Store, error) {
	s, err := load(flags, getenv)
	if err != nil {
		return nil, err
	}
	return queue.OpenBeside(ctx, s.Database, s.Data)
}
