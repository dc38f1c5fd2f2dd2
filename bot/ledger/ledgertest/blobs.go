package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
)

// blobs checks the blobs of a ledger that keeps any.
func blobs(t *testing.T, l ledger.Ledger) {
	ctx := t.Context()
	b := ledger.BlobsOf(l)
	if b == nil {
		t.Skip("it keeps none")
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

func put(t *testing.T, b ledger.Blobs, stream string, data []byte) string {
	t.Helper()
	name, err := b.Put(t.Context(), stream, data)
	if err != nil || name != ledger.BlobName(data) {
		t.Fatalf("Put: %q, %v", name, err)
	}
	return name
}
