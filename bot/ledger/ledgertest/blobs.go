package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
)

// blobsOf returns the blobs of a ledger. An overlay alone keeps none: it is for the runs of ports,
// which record no inventories. A ledger that loses the interface by accident fails.
func blobsOf(t *testing.T, l ledger.Ledger) (b ledger.Blobs, keeps bool) {
	t.Helper()
	b = ledger.BlobsOf(l)
	if _, overlay := l.(*ledger.Overlay); overlay != (b == nil) {
		t.Fatalf("%T keeps blobs: %v", l, b != nil)
	}
	return b, b != nil
}

// blobs checks the blobs of a ledger that keeps any.
func blobs(t *testing.T, l ledger.Ledger) {
	ctx := t.Context()
	b, keeps := blobsOf(t, l)
	if !keeps {
		return
	}
	list := func() map[string][]string {
		t.Helper()
		all, err := b.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	get := func(stream, name string) []byte {
		t.Helper()
		data, err := b.Get(ctx, stream, name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if all := list(); len(all) != 0 {
		t.Errorf("an empty ledger lists %v", all)
	}
	other := "acme/app@" + strings.Repeat("Ä/", 200) // of which the name of a file is cut
	small, large := []byte{0, 1, 2, 0xff, '\n', 0}, bytes.Repeat([]byte("\x00\xfe inventory"), 40_000)
	first, second := put(t, b, key, small), put(t, b, key, large)
	if put(t, b, key, small) != first || first == second || put(t, b, other, small) != first {
		t.Errorf("names %s, %s", first, second)
	}
	if !bytes.Equal(get(key, first), small) || !bytes.Equal(get(key, second), large) || !bytes.Equal(get(other, first), small) {
		t.Error("a blob comes back as another")
	}
	if get(other, second) != nil || get("acme/none#1", first) != nil || get(key, "../"+first) != nil {
		t.Error("a blob is found where none is")
	}
	want := []string{first, second}
	slices.Sort(want)
	if all := list(); len(all) != 2 || !slices.Equal(all[ledger.BlobFolder(key)], want) || !slices.Equal(all[ledger.BlobFolder(other)], []string{first}) {
		t.Errorf("listed %v", all)
	}
	for range 2 {
		if err := b.Delete(ctx, ledger.BlobFolder(key), first); err != nil {
			t.Fatal(err)
		}
	}
	if get(key, first) != nil || get(key, second) == nil || get(other, first) == nil || len(list()[ledger.BlobFolder(key)]) != 1 {
		t.Errorf("after one is deleted: %v", list())
	}
	if keys, err := l.Keys(ctx); err != nil || len(keys) != 0 {
		t.Errorf("blobs are streams: %v, %v", keys, err)
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	if _, err := b.Put(ended, key, []byte("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

// forgotten checks that blobs are deleted once nothing needs them, some at a time.
func forgotten(t *testing.T, l ledger.Ledger) {
	ctx := t.Context()
	b, keeps := blobsOf(t, l)
	if !keeps {
		return
	}
	other, third := "acme/app@main", "acme/app@"+strings.Repeat("Ä/", 200)
	keep := map[string]bool{}
	for i := range 7 {
		name := put(t, b, key, fmt.Appendf(nil, "blob %d", i))
		if i%3 == 0 {
			keep[name] = true
		}
		put(t, b, third, fmt.Appendf(nil, "blob %d", i))
	}
	put(t, b, other, []byte("blob 1"))
	needed := map[string]map[string]bool{ledger.BlobFolder(key): keep, ledger.BlobFolder(third): nil}
	for round, left := range []int{14 - 4, 14 - 8, 3, 3} { // 3 of the 14 are needed
		if err := ledger.ForgetBlobs(ctx, l, needed, 4); err != nil {
			t.Fatal(err)
		}
		all, err := b.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(all[ledger.BlobFolder(key)]) + len(all[ledger.BlobFolder(third)]); n != left {
			t.Errorf("round %d leaves %d blobs, want %d: %v", round+1, n, left, all)
		}
		for name := range keep {
			if data, err := b.Get(ctx, key, name); err != nil || data == nil {
				t.Errorf("round %d deletes %s, which is needed: %v", round+1, name, err)
			}
		}
		if len(all[ledger.BlobFolder(other)]) != 1 {
			t.Errorf("round %d deletes what was not looked at: %v", round+1, all)
		}
	}
	if err := ledger.ForgetBlobs(ctx, l, nil, 4); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, b ledger.Blobs, stream string, data []byte) string {
	t.Helper()
	name, err := b.Put(t.Context(), stream, data)
	if err != nil || name != ledger.BlobName(data) {
		t.Fatalf("Put: %q, %v", name, err)
	}
	return name
}
