package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// each checks that all streams are given as Keys and Load give them.
func each(t *testing.T, l ledger.Ledger) {
	ctx := context.Background()
	read := func(fn func(string, []routing.Event) error) error { return ledger.Each(ctx, l, fn) }
	if err := read(func(key string, _ []routing.Event) error { return fmt.Errorf("%s in an empty ledger", key) }); err != nil {
		t.Fatal(err)
	}
	for n, key := range []string{"acme/app#2", "acme/app#10", "acme/app!feedback-requests", "acme/app@main", "acme/App#2", "b/c@a\x00\x01", "ä/ö#1"} {
		seen := ledger.Version("")
		for i := range n + 1 {
			var err error
			if seen, err = l.Append(ctx, key, seen, []routing.Event{Note(key, fmt.Sprint(key, "/", i)), Note(key, "more")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := l.Keys(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	said := map[string]string{}
	if err := read(func(key string, events []routing.Event) error {
		got = append(got, key)
		said[key] = strings.Join(Notes(events), " ")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, the keys are %q", got, want)
	}
	for _, key := range want {
		if alone, _ := load(t, l, key); said[key] != strings.Join(Notes(alone), " ") || len(alone) < 2 {
			t.Errorf("%q: %s, alone %q", key, said[key], Notes(alone))
		}
	}
	enough := errors.New("enough")
	n := 0
	if err := read(func(string, []routing.Event) error { n++; return enough }); !errors.Is(err, enough) || n != 1 {
		t.Errorf("%d streams, then %v", n, err)
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	if err := ledger.Each(ended, l, func(string, []routing.Event) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}
