package ledgertest

import (
	"context"
	"sync/atomic"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// alternating is several handles of one ledger, as several processes have them.
type alternating struct {
	handles []ledger.Ledger
	n       atomic.Uint32
}

// Alternate makes one ledger of several handles of the same: each call goes to
// the next of them.
func Alternate(handles ...ledger.Ledger) ledger.Ledger { return &alternating{handles: handles} }

func (a *alternating) next() ledger.Ledger { return a.handles[int(a.n.Add(1))%len(a.handles)] }

func (a *alternating) Load(ctx context.Context, key string) ([]routing.Event, ledger.Version, error) {
	return a.next().Load(ctx, key)
}

func (a *alternating) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (ledger.Version, error) {
	return a.next().Append(ctx, key, seen, events)
}

func (a *alternating) Keys(ctx context.Context) ([]string, error) { return a.next().Keys(ctx) }

// Blobs implements ledger.BlobKeeper: each call goes to the next handle's.
func (a *alternating) Blobs() ledger.Blobs { return alternatingBlobs{a} }

type alternatingBlobs struct{ *alternating }

func (b alternatingBlobs) of() ledger.Blobs { return ledger.BlobsOf(b.next()) }

func (b alternatingBlobs) Put(ctx context.Context, stream string, data []byte) (string, error) {
	return b.of().Put(ctx, stream, data)
}

func (b alternatingBlobs) Get(ctx context.Context, stream, name string) ([]byte, error) {
	return b.of().Get(ctx, stream, name)
}

func (b alternatingBlobs) List(ctx context.Context) (map[string][]string, error) {
	return b.of().List(ctx)
}

func (b alternatingBlobs) Delete(ctx context.Context, folder, name string) error {
	return b.of().Delete(ctx, folder, name)
}
