package queue

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/switchback-ci/switchback/bot/database"
)

// tx is a transaction of either database.
type tx interface {
	exec(ctx context.Context, text string, args ...any) (rows int64, err error)
	insert(ctx context.Context, ids []string) error // jobs for deliveries
}

// queue is River on one of the databases.
type queue interface {
	migrate(ctx context.Context) error
	committers() int // batches at once
	accept(ctx context.Context, rows []row) (fresh map[string]bool, err error)
	tx(ctx context.Context, fn func(tx) error) error
	// change makes changes in one transaction.
	change(ctx context.Context, all []*change) error
	enqueue(ctx context.Context, jobs []river.InsertManyParams) error
	work(ctx context.Context, c *river.Config) (client, error)
	// present announces until leave is called that this process runs as the client id.
	present(ctx context.Context, id string) error
	leave()
	// revive returns the jobs of killed processes to the queue.
	revive(ctx context.Context) error
}

// client is a River client that works.
type client interface {
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}

// deliveryArgs are those of the job of a delivery.
type deliveryArgs struct {
	Delivery string `json:"delivery"`
}

// Kind implements river.JobArgs.
func (deliveryArgs) Kind() string { return "delivery" }

// Attempts is how often processing a delivery may fail, or crash the process, before it becomes a
// dead letter.
const Attempts = 10

// begins is how often River begins a job at most: effectively unbounded, because attempts are
// counted with the delivery.
const begins = 1 << 14

// deliveryQueue is the queue of River for the jobs of deliveries.
const deliveryQueue = "deliveries"

func jobsOf(ids []string) []river.InsertManyParams {
	var out []river.InsertManyParams
	for _, id := range ids {
		out = append(out, river.InsertManyParams{Args: deliveryArgs{id}, InsertOpts: &river.InsertOpts{MaxAttempts: begins, Queue: deliveryQueue}})
	}
	return out
}

var silent = slog.New(slog.DiscardHandler)

// rivers is the part that both databases share.
type rivers[T any] struct {
	db     *database.DB
	driver riverdriver.Driver[T]
	client *river.Client[T] // that inserts and does not work
}

func newRivers[T any](db *database.DB, driver riverdriver.Driver[T]) (rivers[T], error) {
	c, err := river.NewClient(driver, &river.Config{Logger: silent})
	return rivers[T]{db, driver, c}, err
}

// migrate brings River's tables up to date. The caller keeps others out.
func (r rivers[T]) migrate(ctx context.Context) error {
	m, err := rivermigrate.New(r.driver, &rivermigrate.Config{Logger: silent})
	if err != nil {
		return err
	}
	all := m.AllVersions()
	known, at := all[len(all)-1].Version, 0
	// Without the table there is nothing yet, and Migrate says what else is wrong.
	err = r.db.Read.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM river_migration").Scan(&at)
	if err == nil && at > known {
		return fmt.Errorf("%w: River's tables are at %d, known are %d; run the version of switchback that made them or a later one", database.ErrNewer, at, known)
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// enqueue puts other jobs than those of deliveries into the queue.
func (r rivers[T]) enqueue(ctx context.Context, jobs []river.InsertManyParams) error {
	_, err := r.client.InsertMany(ctx, jobs)
	return err
}

// work starts a client that works.
func (r rivers[T]) work(ctx context.Context, cfg *river.Config) (client, error) {
	c, err := river.NewClient(r.driver, cfg)
	if err != nil {
		return nil, err
	}
	return c, c.Start(ctx)
}
