package eventstream

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
)

// Incident is a row of the table of incidents.
type Incident struct {
	Repo, ID string
	Kind     routing.IncidentKind
	Cause    string
	Standing incident.Standing
	Opened   time.Time
	Ended    time.Time // zero while it is live
	Members  int
	OnHold   int // of the members
	Reopened int // how often
	Number   int // of the issue, 0 if it has none
	URL      string
}

// Incidents reads the table of incidents.
type Incidents struct{ db *database.DB }

// IncidentCounts are figures of the incidents of one kind.
type IncidentCounts struct {
	Open     int // that take members
	OnHold   int // members
	Opened   int // in all, each time
	Resolved int // in all, each time
	Oldest   time.Time
}

// List returns at most n incidents, those that take members first and of both the newest, after
// skipping some. live selects those that take members.
func (t Incidents) List(ctx context.Context, repos []string, live bool, skip, n int) ([]Incident, error) {
	var q query
	where := q.repos(repos)
	if live {
		where += " AND live = 1"
	}
	var out []Incident
	err := q.each(ctx, t.db, "incidents", fmt.Sprintf(`SELECT repo, id, kind, cause, standing, opened, ended, members, on_hold, reopened, number, url
		FROM projection_incident WHERE %s ORDER BY live DESC, opened DESC, key LIMIT %d OFFSET %d`, where, n, skip), func(rows *sql.Rows) error {
		var i Incident
		var opened, ended int64
		err := rows.Scan(&i.Repo, &i.ID, &i.Kind, &i.Cause, &i.Standing, &opened, &ended, &i.Members, &i.OnHold, &i.Reopened, &i.Number, &i.URL)
		i.Opened, i.Ended = fromMillis(opened), fromMillis(ended)
		out = append(out, i)
		return err
	})
	return out, err
}

// Counts returns the figures of all incidents, by kind. An incident that is not open any more was
// resolved once more often than it was opened again.
func (t Incidents) Counts(ctx context.Context) (map[routing.IncidentKind]IncidentCounts, error) {
	var q query
	out := map[routing.IncidentKind]IncidentCounts{}
	err := q.each(ctx, t.db, "incidents", `SELECT kind, sum(live), sum(on_hold), sum(1 + reopened), sum(reopened + CASE WHEN standing = 'open' THEN 0 ELSE 1 END),
		coalesce(min(CASE WHEN live = 1 THEN opened END), 0) FROM projection_incident GROUP BY kind`, func(rows *sql.Rows) error {
		var kind routing.IncidentKind
		var c IncidentCounts
		var oldest int64
		err := rows.Scan(&kind, &c.Open, &c.OnHold, &c.Opened, &c.Resolved, &oldest)
		c.Oldest = fromMillis(oldest)
		out[kind] = c
		return err
	})
	return out, err
}

// incidents updates the rows of a repository's incidents of which seen events are projected.
func (w writer) incidents(events []routing.Event, seen int) error {
	before, err := incident.Fold(events[:seen])
	if err != nil {
		return err
	}
	now, err := incident.Projection.Extend(before, w.key, seen, events[seen:])
	if err != nil {
		return err
	}
	for _, i := range now.Incidents {
		was, known := before.ByID(i.ID)
		if known && was.Gen == i.Gen && was.Standing == i.Standing && was.Number == i.Number {
			continue
		}
		live, held := 0, 0
		if i.Live() {
			live, held = 1, i.OnHold()
		}
		err := w.exec(`INSERT INTO projection_incident (key, repo, id, kind, cause, standing, live, opened, ended, members, on_hold, reopened, number, url)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
			ON CONFLICT (key) DO UPDATE SET cause = excluded.cause, standing = excluded.standing, live = excluded.live, ended = excluded.ended, members = excluded.members,
			on_hold = excluded.on_hold, reopened = excluded.reopened, number = excluded.number, url = excluded.url`,
			w.key+"/"+i.ID, w.repo, i.ID, string(i.Kind()), i.What(), string(i.Standing), live, millis(i.OpenedAt), millis(i.EndedAt), len(i.Members), held, i.Reopened, i.Number, i.URL)
		if err != nil {
			return err
		}
	}
	return nil
}
