package server

import (
	"context"
	"log/slog"
	"testing"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// What is kept of installations is bounded, whatever their number; one that is asked for
// stays.
func TestHubsAreBounded(t *testing.T) {
	s, err := queue.Open(context.Background(), "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := &installations{app: someApp(t), store: s, metrics: newMetrics(), log: slog.New(slog.DiscardHandler), process: "p"}
	get := func(id int64) *github.Client {
		h, err := f.client(id)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := get(1)
	for id := range int64(3 * maxClients) {
		get(2 + id)
		if get(1) != first {
			t.Fatalf("the one that is asked for all the time was dropped at %d", id)
		}
	}
	if len(f.clients) != maxClients || len(f.asked) != maxClients {
		t.Errorf("%d hubs, %d asked, want %d", len(f.clients), len(f.asked), maxClients)
	}
	f.forget(1)
	if get(1) == first || len(f.clients) != len(f.asked) {
		t.Error("it was not forgotten")
	}
}
