package sqlledger

import (
	"context"

	"github.com/switchback-ci/switchback/bot/ledger"
)

var _ ledger.Watched = (*Ledger)(nil)

// States implements ledger.Watched.
func (l *Ledger) States(ctx context.Context) (map[string]string, error) {
	rows, err := l.db.Read.QueryContext(ctx, `SELECT s.key, (SELECT coalesce(max(seq), 0) FROM ledger_event WHERE stream = s.id) FROM ledger_stream s`)
	if err != nil {
		return nil, told(ctx, "list", "the ledger", err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var key string
		var n int
		if err := rows.Scan(&key, &n); err != nil {
			return nil, told(ctx, "list", "the ledger", err)
		}
		out[Key(key)] = string(version(n))
	}
	return out, told(ctx, "list", "the ledger", rows.Err())
}
