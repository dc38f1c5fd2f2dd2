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

// Line returns the migrations of the tables of sessions and of used states.
func Line() database.Line { return database.Embedded("signin", migrations) }

const (
	idle     = 24 * time.Hour     // after which an unused session ends
	absolute = 7 * 24 * time.Hour // after which every session ends
	perUser  = 20                 // sessions of one user; the oldest ends when there are more
	touched  = time.Minute        // between two records of use
)

// token is a user access token.
type token struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"` // the refresh token, which is valid once
	Until   time.Time `json:"until"`             // zero: it does not expire
}

// session is a browser in which a person signed in.
type session struct {
	id     string // hash of the secret in the browser
	user   int64
	login  string
	avatar string
	token  token
	repos  []int64 // that the user may read, as GitHub answered at asked
	began  time.Time
	used   time.Time
	asked  time.Time
	tried  time.Time // last question without an answer
}

// over reports whether a session has expired.
func (s session) over(now time.Time) bool {
	return now.Sub(s.used) >= idle || now.Sub(s.began) >= absolute
}

// errEnded is the error of a session that does not exist or has ended.
var errEnded = errors.New("the session has ended")

// sessions are the sessions of all replicas.
type sessions struct {
	db   *database.DB
	seal *seal
}

// add stores a session, and deletes the user's oldest if there are too many.
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

// find returns a session. It returns errEnded if there is none, or if its token cannot be decrypted
// because the App's client secret has changed.
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
		return s, fmt.Errorf("sessions: the repositories: %w", err)
	}
	s.began, s.used, s.asked, s.tried = time.UnixMilli(began), time.UnixMilli(used), time.UnixMilli(asked), time.UnixMilli(tried)
	return s, nil
}

// use records the use of a session.
func (t sessions) use(ctx context.Context, id string, at time.Time) error {
	return t.exec(ctx, "UPDATE signin_session SET used_at = $2 WHERE id = $1 AND used_at < $2", id, at.UnixMilli())
}

// see records the repositories that the user may read, as GitHub answered at asked.
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

// try records that GitHub did not answer.
func (t sessions) try(ctx context.Context, id string, at time.Time) error {
	return t.exec(ctx, "UPDATE signin_session SET tried_at = $2 WHERE id = $1", id, at.UnixMilli())
}

// claim takes the lease to renew a session's token until a time. won is false if another process
// holds it.
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

// renew stores a new token and releases the lease.
func (t sessions) renew(ctx context.Context, id string, k token) error {
	sealed, err := closeWith(t.seal.tokens, k, id)
	if err != nil {
		return err
	}
	return t.exec(ctx, "UPDATE signin_session SET token = $2, renewing = 0 WHERE id = $1", id, sealed)
}

// release releases the lease.
func (t sessions) release(ctx context.Context, id string) error {
	return t.exec(ctx, "UPDATE signin_session SET renewing = 0 WHERE id = $1", id)
}

// end deletes a session with its token. The tokens of its agents are good for nothing without it.
func (t sessions) end(ctx context.Context, id string) error {
	return t.exec(ctx, "DELETE FROM signin_session WHERE id = $1", id)
}

// spent reports whether the state of a sign-in was used before. It only reads, so that whoever repeats
// one holds up nobody.
func (t sessions) spent(ctx context.Context, state string) (bool, error) {
	var n int
	err := t.db.Read.QueryRowContext(ctx, "SELECT count(*) FROM signin_used WHERE state = $1", hash(state)).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("sign-ins: %w", err)
	}
	return n > 0, nil
}

// spend uses the state of a sign-in, which is valid until a time. first is true for one caller of all
// processes.
func (t sessions) spend(ctx context.Context, state string, until time.Time) (first bool, err error) {
	err = t.tx(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "INSERT INTO signin_used (state, valid_until) VALUES ($1, $2) ON CONFLICT (state) DO NOTHING", hash(state), until.UnixMilli())
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		first = n == 1
		return err
	})
	return first && err == nil, err
}

// prune deletes expired sessions and states, and the tokens of agents whose session has ended.
func (t sessions) prune(ctx context.Context, now time.Time) error {
	// The clocks of replicas differ by less than an hour.
	if err := t.exec(ctx, "DELETE FROM signin_used WHERE valid_until <= $1", now.Add(-time.Hour).UnixMilli()); err != nil {
		return err
	}
	if err := t.exec(ctx, "DELETE FROM signin_session WHERE used_at <= $1 OR began_at <= $2", now.Add(-idle).UnixMilli(), now.Add(-absolute).UnixMilli()); err != nil {
		return err
	}
	return t.exec(ctx, "DELETE FROM signin_agent WHERE session NOT IN (SELECT id FROM signin_session)")
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
