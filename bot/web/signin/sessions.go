package signin

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
)

//go:embed migrations
var migrations embed.FS

// Line is the migrations of the table of sessions.
func Line() database.Line { return database.Embedded("signin", migrations) }

const (
	idle     = 24 * time.Hour     // after which a session that is not used ends
	absolute = 7 * 24 * time.Hour // after which every session ends
	perUser  = 20                 // sessions of one user; the oldest ends when there are more
	touched  = time.Minute        // use is noted no more often
)

// token is what GitHub takes for a user's.
type token struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"` // makes a new one, once
	Until   time.Time `json:"until"`             // zero: it does not end
}

// session is one browser that somebody signed in with.
type session struct {
	id     string // hash of what the browser holds
	user   int64
	login  string
	avatar string
	token  token
	repos  []int64 // that may be seen, by what GitHub said at asked
	began  time.Time
	used   time.Time
	asked  time.Time
	tried  time.Time // when GitHub did not answer
}

// over reports whether a session has ended at a time.
func (s session) over(now time.Time) bool {
	return now.Sub(s.used) >= idle || now.Sub(s.began) >= absolute
}

// errEnded says that there is no such session, or not any more.
var errEnded = errors.New("the session has ended")

// sessions are those of all replicas.
type sessions struct {
	db   *database.DB
	seal *seal
}

// add keeps a new session, and ends the user's oldest if there are too many.
func (t sessions) add(ctx context.Context, s session) error {
	sealed, err := closeWith(t.seal.tokens, s.token, s.id)
	if err != nil {
		return err
	}
	return t.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO signin_session (id, user_id, login, avatar, token, repos, began_at, used_at, asked_at, tried_at, renewing)
			VALUES ($1, $2, $3, $4, $5, '[]', $6, $6, 0, 0, 0)`, s.id, s.user, s.login, s.avatar, sealed, s.began.UnixMilli())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM signin_session WHERE user_id = $1 AND id NOT IN
			(SELECT id FROM signin_session WHERE user_id = $1 ORDER BY began_at DESC, id LIMIT $2)`, s.user, perUser)
		return err
	})
}

// find returns the session of an id; errEnded if there is none, or if its token
// cannot be opened, because the App has another client secret now.
func (t sessions) find(ctx context.Context, id string) (session, error) {
	s := session{id: id}
	var sealed, repos string
	var began, used, asked, tried int64
	err := t.db.Read.QueryRowContext(ctx, "SELECT user_id, login, avatar, token, repos, began_at, used_at, asked_at, tried_at FROM signin_session WHERE id = $1", id).
		Scan(&s.user, &s.login, &s.avatar, &sealed, &repos, &began, &used, &asked, &tried)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s, errEnded
	case err != nil:
		return s, fmt.Errorf("sessions: %w", err)
	case openWith(t.seal.tokens, sealed, id, &s.token) != nil:
		return s, errEnded
	}
	if err := json.Unmarshal([]byte(repos), &s.repos); err != nil {
		return s, fmt.Errorf("sessions: what may be seen: %w", err)
	}
	s.began, s.used, s.asked, s.tried = time.UnixMilli(began), time.UnixMilli(used), time.UnixMilli(asked), time.UnixMilli(tried)
	return s, nil
}

// use notes that a session was used.
func (t sessions) use(ctx context.Context, id string, at time.Time) error {
	return t.exec(ctx, "UPDATE signin_session SET used_at = $2 WHERE id = $1 AND used_at < $2", id, at.UnixMilli())
}

// see notes what GitHub said may be seen, when it was asked.
func (t sessions) see(ctx context.Context, id string, repos []int64, asked time.Time) error {
	if repos == nil {
		repos = []int64{}
	}
	data, err := json.Marshal(repos)
	if err != nil {
		return err
	}
	return t.exec(ctx, "UPDATE signin_session SET repos = $2, asked_at = $3, tried_at = 0 WHERE id = $1 AND asked_at <= $3", id, string(data), asked.UnixMilli())
}

// try notes that GitHub did not say what may be seen.
func (t sessions) try(ctx context.Context, id string, at time.Time) error {
	return t.exec(ctx, "UPDATE signin_session SET tried_at = $2 WHERE id = $1", id, at.UnixMilli())
}

// claim takes the turn to renew a session's token, unless another process has it.
func (t sessions) claim(ctx context.Context, id string, now, until time.Time) (won bool, err error) {
	err = t.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE signin_session SET renewing = $3 WHERE id = $1 AND renewing <= $2", id, now.UnixMilli(), until.UnixMilli())
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		won = n == 1
		return err
	})
	return won, err
}

// renew keeps another token, and gives up the turn.
func (t sessions) renew(ctx context.Context, id string, k token) error {
	sealed, err := closeWith(t.seal.tokens, k, id)
	if err != nil {
		return err
	}
	return t.exec(ctx, "UPDATE signin_session SET token = $2, renewing = 0 WHERE id = $1", id, sealed)
}

// release gives up the turn.
func (t sessions) release(ctx context.Context, id string) error {
	return t.exec(ctx, "UPDATE signin_session SET renewing = 0 WHERE id = $1", id)
}

// end forgets a session, and with it the token.
func (t sessions) end(ctx context.Context, id string) error {
	return t.exec(ctx, "DELETE FROM signin_session WHERE id = $1", id)
}

// prune forgets the sessions that are over.
func (t sessions) prune(ctx context.Context, now time.Time) error {
	return t.exec(ctx, "DELETE FROM signin_session WHERE used_at <= $1 OR began_at <= $2", now.Add(-idle).UnixMilli(), now.Add(-absolute).UnixMilli())
}

func (t sessions) exec(ctx context.Context, query string, args ...any) error {
	return t.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

func (t sessions) tx(ctx context.Context, fn func(*sql.Tx) error) error {
	if err := t.db.Tx(ctx, fn); err != nil {
		return fmt.Errorf("sessions: %w", err)
	}
	return nil
}
