package eventstream

import (
	"context"
	"embed"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
)

//go:embed migrations
var migrations embed.FS

// Line returns the migrations of the tables. They follow those of the ledger.
func Line() database.Line { return database.Embedded("feed", migrations) }

// Store is the event stream in a database, with the tables behind the dashboard.
type Store struct {
	Log       *Log       // the published events
	Projector *Projector // derives events and tables from streams
	Tail      *Tail      // projects the ledger in the same database

	Cases    Cases
	Failures Failures
	Figures  Figures
	Plans    Plans

	Incidents Incidents
}

// New returns the Store in a database that is migrated by Line.
func New(db *database.DB) *Store {
	log := &Log{db: db, changed: newNotifier(), poll: notifiedPoll}
	projector := &Projector{db: db, log: log}
	return &Store{
		Log:       log,
		Projector: projector,
		Tail:      &Tail{db: db, ledger: sqlledger.New(db), projector: projector, poll: notifiedPoll},
		Cases:     Cases{db},
		Failures:  Failures{db},
		Figures:   Figures{db},
		Plans:     Plans{db},
		Incidents: Incidents{db},
	}
}

// Beside returns the Store in the database of an App, nil if there is none. It changes nothing, so
// the App may run.
func Beside(ctx context.Context, db *database.DB) (*Store, error) {
	exists := "SELECT count(*) FROM sqlite_master WHERE name = 'projection_event'"
	if db.Kind == database.Postgres {
		exists = "SELECT count(to_regclass('projection_event'))"
	}
	var n int
	if err := db.Read.QueryRowContext(ctx, exists).Scan(&n); err != nil || n == 0 {
		return nil, err
	}
	return New(db), nil
}

// text returns s as PostgreSQL can store it: UTF-8 without U+0000.
func text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
