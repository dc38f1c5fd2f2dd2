package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
)

// pattern is the pull request whose case the others are made of.
const pattern = 999_999

// grow measures what a run of a case costs while the ledger fills, and prints a
// row for each level. The cases are copies of one that the server recorded.
func (l load) grow(ctx context.Context, p place) error {
	if err := l.settle(ctx, &p); err != nil {
		return err
	}
	g, err := newGitHub()
	if err != nil {
		return err
	}
	var first cost
	cases := 0
	for level, want := range append([]int{0}, l.levels...) {
		if want > 0 {
			if err := p.fill(ctx, cases, want); err != nil {
				return err
			}
			cases = want
		}
		s, err := serve(l.bin, p, g, level)
		if err != nil {
			return err
		}
		c, err := l.probe(ctx, s, level, cases)
		if _, stopped := s.stop(); err != nil || stopped != nil {
			return errors.Join(err, stopped)
		}
		if level == 0 {
			continue // it has made the pattern
		}
		if level == 1 {
			first = c
		}
		n := float64(l.probes)
		fmt.Printf("| %s | %d | %.1f | %.2f | %.1f | %.2f |\n", p.name, cases, c.cpu*1000/n, c.cpu/first.cpu, c.work*1000/n, c.work/first.work)
	}
	for path, n := range g.unknown {
		return fmt.Errorf("this program's GitHub does not know %s, asked %d times", path, n)
	}
	return nil
}

// probe lets the server analyze a run of each of some cases, after a few by which
// it gets warm. With no cases it makes the pattern.
func (l load) probe(ctx context.Context, s *server, level, cases int) (cost, error) {
	all := []*server{s}
	if cases == 0 {
		return l.measure(ctx, all, 1, 0, func(int64) (delivery, error) { return failed(pattern, 1) })
	}
	picked := mathrand.Perm(cases)
	next := func(n int64) (delivery, error) {
		d, err := failed(int64(picked[0]+1), 1+level)
		picked = picked[1:]
		return d, err
	}
	if _, err := l.measure(ctx, all, l.warm, 0, next); err != nil {
		return cost{}, err
	}
	return l.measure(ctx, all, l.probes, 0, next)
}

// fill makes cases of the pattern until there are so many.
func (p place) fill(ctx context.Context, have, want int) error {
	var db *database.DB
	var err error
	if p.database == "" {
		db, err = database.OpenFile(ctx, filepath.Join(p.dir, "switchback.db"), false)
	} else {
		db, err = database.OpenURL(ctx, p.database)
	}
	if err != nil {
		return err
	}
	defer db.Close()
	from := fmt.Sprintf("%s#%d", fullName, pattern)
	events, _, err := sqlledger.New(db).Load(ctx, from)
	if err != nil {
		return err
	}
	lines, err := ledger.Encode(from, "", events)
	if err != nil {
		return err
	}
	values := make([]string, len(events))
	for i := range values {
		values[i] = fmt.Sprintf("($1, $%d, $%d)", 2*i+2, 2*i+3)
	}
	insert := "INSERT INTO ledger_event (stream, seq, event) VALUES " + strings.Join(values, ", ")
	return db.Tx(ctx, func(tx *sql.Tx) error {
		for i := have + 1; i <= want; i++ {
			key := fmt.Sprintf("%s#%d", fullName, i)
			var id int64
			if err := tx.QueryRowContext(ctx, "INSERT INTO ledger_stream (key) VALUES ($1) RETURNING id", key).Scan(&id); err != nil {
				return fmt.Errorf("filling the ledger: %w", err)
			}
			args := []any{id}
			for line := range bytes.Lines(ledger.Chain(key, nil, bytes.ReplaceAll(lines, []byte(from), []byte(key)))) {
				args = append(args, int64(len(args)/2+1), string(bytes.TrimSuffix(line, []byte("\n"))))
			}
			if _, err := tx.ExecContext(ctx, insert, args...); err != nil {
				return fmt.Errorf("filling the ledger: %w", err)
			}
		}
		return nil
	})
}
