package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/routing"
)

func filled(t *testing.T, l ledger.Ledger) {
	t.Helper()
	for i, key := range ledgertest.Hostile() {
		if err := ledgertest.AppendAnyhow(t.Context(), l, key, ledgertest.Note("", fmt.Sprint(i)), ledgertest.Note("", "<&>\u2028\x00")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := opened(t, ledger.Open, filepath.Join(t.TempDir(), "from"))
	filled(t, from)
	n := len(ledgertest.Hostile())
	to := new(ledger.Memory)
	for _, added := range []int{2 * n, 0} {
		if c, err := ledger.Copy(ctx, from, to, nil); err != nil || c != (ledger.Copied{Streams: n, Events: 2 * n, Added: added}) {
			t.Errorf("Copy = %+v, %v", c, err)
		}
	}
	if c, err := ledger.Copy(ctx, to, from, nil); err != nil || c.Added != 0 {
		t.Errorf("back: %+v, %v", c, err)
	}
	for _, l := range []ledger.Ledger{from, to} { // one goes on, then the other says something else
		if err := ledgertest.AppendAnyhow(ctx, l, "a", ledgertest.Note("", fmt.Sprintf("%T", l))); err != nil {
			t.Fatal(err)
		}
		c, err := ledger.Copy(ctx, from, to, nil)
		if l == from && (err != nil || c.Added != 1) {
			t.Errorf("Copy of one more: %+v, %v", c, err)
		}
	}
	if c, err := ledger.Copy(ctx, from, to, nil); err != nil || c.Added != 0 {
		t.Errorf("Copy to what went on: %+v, %v", c, err)
	}
	if err := ledgertest.AppendAnyhow(ctx, from, "a", ledgertest.Note("", "other")); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Copy(ctx, from, to, nil); err == nil || !strings.Contains(err.Error(), "stream a: event 4 is another") {
		t.Errorf("Copy to another story: %v", err)
	}
}

// broken is a ledger that fails at its n-th append, or forgets what it said.
type broken struct {
	ledger.Memory
	n       int
	forgets bool
}

var errBroken = errors.New("broken")

func (b *broken) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (ledger.Version, error) {
	b.n--
	switch {
	case b.n == 0 && b.forgets:
		return b.Memory.Append(ctx, key, seen, events[:len(events)-1])
	case b.n == 0:
		return "", errBroken
	}
	return b.Memory.Append(ctx, key, seen, events)
}

func TestCopyBrokenOff(t *testing.T) {
	t.Parallel()
	from := new(ledger.Memory)
	filled(t, from)
	to := &broken{n: 10}
	c, err := ledger.Copy(t.Context(), from, to, nil)
	if !errors.Is(err, errBroken) || c.Added != 18 {
		t.Errorf("Copy = %+v, %v", c, err)
	}
	if c, err = ledger.Copy(t.Context(), from, to, nil); err != nil || c.Added != c.Events-18 {
		t.Errorf("again: %+v, %v", c, err)
	}
	if _, err = ledger.Copy(t.Context(), from, &broken{n: 3, forgets: true}, nil); err == nil || !strings.Contains(err.Error(), "event 2 came back as another") {
		t.Errorf("Copy to one that forgets: %v", err)
	}
}
