package server

import (
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// progress is an event of a port's stream (S2-81).
func progress(key, session string, n int) routing.Event {
	e := plan.Event{Kind: plan.WorkerProgress, At: time.Date(2026, 5, 4, 12, 0, n, 0, time.UTC), Session: session, Port: "a",
		Progress: &plan.Progress{Session: session, Port: "a", Progress: float64(n) / 100}}.Record()
	e.Stream = key
	return e
}

// What is on a repository's branch is told once, whoever wrote it: the App itself, or a
// workflow of which a push told; by the name under which the repository's streams are
// kept, also when it has another name meanwhile, or another has its old one.
func TestBranchIsShown(t *testing.T) {
	t.Parallel()
	db, err := database.OpenFile(t.Context(), filepath.Join(t.TempDir(), "feed.db"), true)
	if err == nil {
		err = db.Migrate(t.Context(), nil, sqlledger.Line(), eventstream.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f := eventstream.New(db)
	l := newNotifier(f, nil, time.Hour, slog.New(slog.DiscardHandler))
	theirs := &ledger.Memory{}
	open := func(repo, name string) *repoLedger {
		b := newRepoLedger(repo, name, &ledger.Memory{}, theirs)
		b.shown = l.shown
		return b
	}
	look := func(b *repoLedger) int {
		t.Helper()
		n, err := eventstream.NewMirror(f.Projector, branch{b}, b.name+"!", slog.New(slog.DiscardHandler)).Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	streams := func() (out []string) {
		t.Helper()
		list, err := f.Log.After(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			out = append(out, e.Stream)
		}
		return out
	}
	const key, now = "octo/app!ports/p/a", "acme/tool!ports/p/a"
	b := open("octo/app", "octo/app")
	v, err := b.Append(t.Context(), key, "", []routing.Event{progress(key, "b1/a/impl", 1)})
	if err != nil {
		t.Fatal(err)
	}
	if got := streams(); !slices.Equal(got, []string{key}) {
		t.Fatalf("at once: %v", got)
	}
	if n := look(b); n != 0 {
		t.Errorf("told again: %d", n)
	}
	if v, err = theirs.Append(t.Context(), key, v, []routing.Event{progress(key, "b1/a/impl", 2)}); err != nil { // a workflow
		t.Fatal(err)
	}
	if n, again := look(b), look(b); n != 1 || again != 0 {
		t.Errorf("%d told, then %d", n, again)
	}
	if _, err = b.Append(t.Context(), key, v, []routing.Event{progress(key, "b1/a/impl", 3)}); err != nil { // not read before
		t.Fatal(err)
	}
	if n := look(b); n != 1 {
		t.Errorf("%d told of what was written unread", n)
	}
	if _, v, err = b.Load(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if _, err = b.Append(t.Context(), key, v, []routing.Event{progress(key, "b1/a/impl", 4)}); err != nil {
		t.Fatal(err)
	}
	if got := streams(); len(got) != 4 {
		t.Errorf("%v", got)
	}

	moved := open("acme/tool", "octo/app") // renamed: its workflows begin anew
	if _, err := moved.Append(t.Context(), now, "", []routing.Event{progress(now, "b9/a/impl", 5)}); err != nil {
		t.Fatal(err)
	}
	if n := look(moved); n != 0 {
		t.Errorf("told again: %d", n)
	}
	other := open("octo/app", "octo/app~7") // made anew under the name that is free
	if n := look(other); n != 4 {
		t.Errorf("%d of another repository", n)
	}
	got := streams()
	if len(got) != 9 || got[4] != key || got[5] != "octo/app~7!ports/p/a" {
		t.Errorf("%v", got)
	}
}
