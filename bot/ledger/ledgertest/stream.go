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

// notebook is a projection that a test can read at a glance: the notes of a stream. It refuses the
// note "no", and changes its state in place, so that it depends on being cloned.
var notebook = routing.Projection[[]string]{
	New:   func(key string) []string { return []string{"of " + key} },
	Clone: slices.Clone[[]string],
	Apply: func(s []string, e routing.Event) ([]string, error) {
		if noteOf(e) == "no" {
			return s, errors.New("no")
		}
		s[0] += "."
		return append(s, noteOf(e)), nil
	},
}

// stream checks what Stream makes of any projection.
func stream(t *testing.T, l ledger.Ledger) {
	ctx := t.Context()
	s := ledger.Of(l, key, notebook)
	if got, err := s.Load(ctx); err != nil || !slices.Equal(got, []string{"of " + key}) {
		t.Errorf("of an absent stream: %q, %v", got, err)
	}
	var was []string
	got, err := s.Update(ctx, func(old []string) ([]routing.Event, error) {
		was = old
		return []routing.Event{Note("", "1"), Note("", "2")}, nil
	})
	if want := []string{"of " + key + "..", "1", "2"}; err != nil || !slices.Equal(got, want) || was[0] != "of "+key {
		t.Errorf("Update = %q, %v; it was given %q", got, err, was)
	}
	if again, err := s.Load(ctx); err != nil || !slices.Equal(again, got) {
		t.Errorf("Load = %q, %v; want %q", again, err, got)
	}
	if kept, err := s.Update(ctx, func([]string) ([]routing.Event, error) {
		return []routing.Event{Note("", "3"), Note("", "no")}, nil
	}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("event 4 of stream %s", key)) || !slices.Equal(kept, got) {
		t.Errorf("an event that does not follow: %q, %v", kept, err)
	}
	if events, _ := load(t, l, key); len(events) != 2 {
		t.Errorf("%d events are stored, want 2", len(events))
	}
}

// streamConflict checks that an update that others overtake decides again, on what they appended.
func streamConflict(t *testing.T, l ledger.Ledger) {
	ctx := t.Context()
	s, tries := ledger.Of(l, key, notebook), 0
	got, err := s.Update(ctx, func(old []string) ([]routing.Event, error) {
		if tries++; tries == 1 {
			if err := AppendAnyhow(ctx, l, key, Note(key, "theirs")); err != nil {
				return nil, err
			}
		}
		return []routing.Event{Note("", fmt.Sprint("after ", len(old)-1))}, nil
	})
	if want := []string{"of " + key + "..", "theirs", "after 1"}; err != nil || tries != 2 || !slices.Equal(got, want) {
		t.Errorf("%d tries, %q, %v", tries, got, err)
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	if _, err := s.Update(ended, func([]string) ([]routing.Event, error) { return []routing.Event{Note("", "never")}, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

// subscribe checks that a subscriber is given the state at once and whatever is appended later, and
// that it ends when its wait does.
func subscribe(t *testing.T, l ledger.Ledger) {
	ctx := t.Context()
	enough, waits := errors.New("enough"), 0
	var got []int
	var last error
	for state, err := range ledger.Of(l, key, notebook).Subscribe(ctx, func([]string) error {
		switch waits++; waits {
		case 1, 3:
			return AppendAnyhow(ctx, l, key, Note(key, fmt.Sprint(waits)))
		case 4:
			return enough
		}
		return nil
	}) {
		got, last = append(got, len(state)-1), err
	}
	if !slices.Equal(got, []int{0, 1, 1, 2, 2}) || !errors.Is(last, enough) {
		t.Errorf("states of %v events, then %v", got, last)
	}
}
