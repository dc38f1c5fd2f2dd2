package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/switchback-ci/switchback/routing"
)

// Overlay is a ledger that reads one ledger and appends to another: that of a job which may read the
// branch of the ledger and not write to it. What it appends follows what Base held when a stream was
// first read; later changes there are not seen.
type Overlay struct {
	Base Ledger // is only read
	Own  Ledger // has what was appended

	mu   sync.Mutex
	read map[string][]routing.Event // streams of Base
}

var _ Ledger = (*Overlay)(nil)

// Load implements Ledger.
func (o *Overlay) Load(ctx context.Context, key string) ([]routing.Event, Version, error) {
	base, err := o.base(ctx, key)
	if err != nil {
		return nil, "", err
	}
	own, v, err := o.Own.Load(ctx, key)
	if err != nil || len(base)+len(own) == 0 {
		return nil, "", err
	}
	return slices.Concat(base, own), Version(fmt.Sprintf("%d+%s", len(base), v)), nil
}

// Append implements Ledger.
func (o *Overlay) Append(ctx context.Context, key string, seen Version, events []routing.Event) (Version, error) {
	base, err := o.base(ctx, key)
	if err != nil || len(events) == 0 {
		return seen, err
	}
	n, own, ok := strings.Cut(string(seen), "+")
	if ok != (seen != "") || ok && n != fmt.Sprint(len(base)) || !ok && len(base) > 0 {
		return "", ErrConflict
	}
	v, err := o.Own.Append(ctx, key, Version(own), events)
	if err != nil {
		return "", err
	}
	return Version(fmt.Sprintf("%d+%s", len(base), v)), nil
}

// Keys implements Ledger.
func (o *Overlay) Keys(ctx context.Context) ([]string, error) {
	keys, err := o.Base.Keys(ctx)
	if err != nil {
		return nil, err
	}
	own, err := o.Own.Keys(ctx)
	keys = append(keys, own...)
	slices.Sort(keys)
	return slices.Compact(keys), err
}

func (o *Overlay) base(ctx context.Context, key string) ([]routing.Event, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if events, ok := o.read[key]; ok {
		return events, nil
	}
	events, _, err := o.Base.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	if o.read == nil {
		o.read = map[string][]routing.Event{}
	}
	o.read[key] = events
	return events, nil
}
