package sqlledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/switchback-ci/switchback/bot/ledger"
)

// blobs are the blobs of a ledger in the database.
type blobs struct{ *Ledger }

var _ ledger.BlobKeeper = (*Ledger)(nil)

// Blobs implements ledger.BlobKeeper.
func (l *Ledger) Blobs() ledger.Blobs { return blobs{l} }

// Put implements ledger.Blobs.
func (b blobs) Put(ctx context.Context, stream string, data []byte) (string, error) {
	if err := errors.Join(ctx.Err(), ledger.CheckKey(stream)); err != nil {
		return "", err
	}
	name := ledger.BlobName(data)
	err := b.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO ledger_blob (folder, name, data) VALUES ($1, $2, $3) ON CONFLICT (folder, name) DO NOTHING",
			ledger.BlobFolder(stream), name, data)
		return err
	})
	return name, told(ctx, "keep a blob of", stream, err)
}

// Get implements ledger.Blobs.
func (b blobs) Get(ctx context.Context, stream, name string) ([]byte, error) {
	var data []byte
	err := b.db.Read.QueryRowContext(ctx, "SELECT data FROM ledger_blob WHERE folder = $1 AND name = $2", ledger.BlobFolder(stream), name).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, told(ctx, "read a blob of", stream, err)
	}
	return data, ledger.CheckBlob(name, data)
}

// List implements ledger.Blobs.
func (b blobs) List(ctx context.Context) (map[string][]string, error) {
	rows, err := b.db.Read.QueryContext(ctx, "SELECT folder, name FROM ledger_blob ORDER BY folder, name")
	if err != nil {
		return nil, told(ctx, "list", "the blobs", err)
	}
	defer rows.Close()
	out := map[string][]string{}
	for rows.Next() {
		var folder, name string
		if err := rows.Scan(&folder, &name); err != nil {
			return nil, told(ctx, "list", "the blobs", err)
		}
		out[folder] = append(out[folder], name)
	}
	return out, told(ctx, "list", "the blobs", rows.Err())
}

// Delete implements ledger.Blobs.
func (b blobs) Delete(ctx context.Context, folder, name string) error {
	err := b.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM ledger_blob WHERE folder = $1 AND name = $2", folder, name)
		return err
	})
	return told(ctx, "delete a blob of", folder, err)
}
