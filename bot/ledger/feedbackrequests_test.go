package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// star is a plan in which every node depends on the hub.
type star struct{}

func (star) Has(n string) bool         { return n == "hub" || len(n) > 1 && n[0] == 'n' }
func (star) Parent(string) string      { return "" }
func (star) DependsOn(string) []string { return []string{"hub"} }
func (star) Root() string              { return "" }

func edgeMessage(from string) feedback.Message {
	return feedback.Message{From: from, To: "hub", Type: feedback.FixRequest, Text: "it fails", Priority: feedback.Low, SuggestedFix: "fix it"}
}

func TestFeedbackRequests(t *testing.T) {
	t.Parallel()
	ctx, key := context.Background(), routing.StreamKey("acme/shop", routing.StreamFeedbackRequests)
	now := time.Date(2025, 1, 21, 14, 0, 0, 0, time.UTC)
	change := func(l ledger.Ledger, fn func(feedback.State) ([]routing.Event, error)) (feedback.State, error) {
		return ledger.Of(l, key, feedback.Projection).Update(ctx, fn)
	}
	send := func(l ledger.Ledger, from string) error {
		_, err := change(l, func(r feedback.State) ([]routing.Event, error) {
			s, err := r.Outbox("p", star{}, now).Send(edgeMessage(from))
			return s.Events, err
		})
		return err
	}
	openDir := func(t *testing.T, path string) ledger.Ledger {
		t.Helper()
		d, err := ledger.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	t.Run("S3-67 concurrent writers lose nothing", func(t *testing.T) {
		for name, l := range map[string]ledger.Ledger{"memory": &ledger.Memory{}, "directory": openDir(t, t.TempDir())} {
			const senders = 4 // each sends three times, of which the pair's limit lets two through
			var wg sync.WaitGroup
			for i := range senders {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for range 3 {
						if err := send(l, fmt.Sprintf("n%d", i)); err != nil {
							t.Error(name, err)
						}
					}
				}()
			}
			wg.Wait()
			r, err := change(l, func(feedback.State) ([]routing.Event, error) { return nil, nil })
			if err != nil {
				t.Fatal(err)
			}
			stats := feedback.StatsOf(r.Records)
			if stats.Total != 2*senders || stats.Rejected != senders || len(r.Of("p").Queue()) != 2*senders {
				t.Errorf("%s: %+v", name, stats)
			}
			for i := range senders {
				if n := r.Rounds("p", fmt.Sprintf("n%d", i), "hub"); n != feedback.MaxRounds {
					t.Errorf("%s: n%d has had %d rounds", name, i, n)
				}
			}
		}
	})
	t.Run("S3-63 S3-64 S3-65 one JSON per line, that stays and is only added to", func(t *testing.T) {
		dir := t.TempDir()
		if err := send(openDir(t, dir), "n1"); err != nil {
			t.Fatal(err)
		}
		var before []byte
		for _, next := range []func(feedback.State) ([]routing.Event, error){
			func(r feedback.State) ([]routing.Event, error) { return r.Lifecycle(nil, now).Deliver("FB-001") },
			func(r feedback.State) ([]routing.Event, error) { return r.Lifecycle(nil, now).Begin("FB-001") },
			func(r feedback.State) ([]routing.Event, error) {
				return r.Lifecycle(star{}, now).Processed("FB-001", feedback.Outcome{OK: true, Summary: "two\nlines"})
			},
			func(r feedback.State) ([]routing.Event, error) {
				return r.Lifecycle(star{}, now).Verified("FB-001", feedback.Outcome{OK: true})
			},
		} {
			if _, err := change(openDir(t, dir), next); err != nil { // as another process
				t.Fatal(err)
			}
			data := stored(t, dir)
			if !bytes.HasPrefix(data, before) || len(data) <= len(before) {
				t.Fatalf("what stood there was changed:\n%s\nafter\n%s", data, before)
			}
			before = data
		}
		lines := bytes.Split(bytes.TrimSuffix(before, []byte("\n")), []byte("\n"))
		for _, l := range lines {
			if !json.Valid(l) {
				t.Errorf("not JSON: %s", l)
			}
		}
		r, err := change(openDir(t, dir), func(feedback.State) ([]routing.Event, error) { return nil, nil })
		if x, ok := r.ByID("FB-001"); err != nil || !ok || x.Status != feedback.Resolved || len(lines) != 5 {
			t.Errorf("%+v %v, %d lines", x, err, len(lines))
		}
	})
}

// stored returns the only stream of a directory as it is on disk.
func stored(t *testing.T, dir string) []byte {
	t.Helper()
	var out []byte
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".jsonl" {
			return err
		}
		if out != nil {
			t.Errorf("a second stream: %s", p)
		}
		out, err = os.ReadFile(p)
		return err
	})
	if err != nil || out == nil {
		t.Fatalf("no stream: %v", err)
	}
	return out
}
