package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing/activity"
)

// ran runs a command that must not fail, and returns the lines that it prints.
func ran(t *testing.T, args ...string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := execute(t.Context(), args, streams{strings.NewReader(""), &out, &errs}, func(string) string { return "" }); code != 0 {
		t.Fatalf("%v: %d\n%s", args, code, errs.String())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestEventsOfALedger(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	made := slices.Collect(sample.Cases(sample.Options{Seed: 5, Cases: 8, End: end}))
	where := filepath.Join(t.TempDir(), "ledger")
	led, err := ledger.OpenPath(where)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, s := range made[:6] {
		if _, err := led.Append(t.Context(), s.Key, "", s.Events); err != nil {
			t.Fatal(err)
		}
		told, err := activity.Since(s.Key, s.Events, 0)
		if err != nil {
			t.Fatal(err)
		}
		total += len(told)
	}
	lines := ran(t, "events", "--ledger", where)
	if len(lines) != total {
		t.Fatalf("%d lines, want %d", len(lines), total)
	}
	all := make([]activity.Event, total)
	for i, l := range lines {
		if err := json.Unmarshal([]byte(l), &all[i]); err != nil {
			t.Fatal(err)
		}
		if all[i].ID != int64(i+1) || i > 0 && all[i].At.Before(all[i-1].At) {
			t.Errorf("event %d has id %d and is of %v", i+1, all[i].ID, all[i].At)
		}
	}
	if again := ran(t, "events", "--ledger", where); !slices.Equal(lines, again) {
		t.Error("the same ledger gives other events")
	}
	if rest := ran(t, "events", "--ledger", where, "--after", "10"); !slices.Equal(rest, lines[10:]) {
		t.Errorf("%d after 10", len(rest))
	}
	of := made[2].Key
	for i, l := range ran(t, "events", "--ledger", where, "--session", of, "--repo", activity.Repo(of), "-o", "text") {
		if !strings.Contains(l, of) {
			t.Errorf("%d: %s", i, l)
		}
	}

	t.Run("follows it", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r, w := io.Pipe()
		ended := make(chan int, 1)
		go func() {
			ended <- execute(ctx, []string{"events", "--follow", "--ledger", where, "--after", "10"}, streams{strings.NewReader(""), w, io.Discard}, func(string) string { return "" })
			_ = w.Close()
		}()
		in := bufio.NewReader(r)
		take := func() (e activity.Event) {
			t.Helper()
			line, err := in.ReadBytes('\n')
			if err == nil {
				err = json.Unmarshal(line, &e)
			}
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		for i := 10; i < total; i++ {
			if e := take(); e.ID != int64(i+1) {
				t.Fatalf("event %d has id %d", i+1, e.ID)
			}
		}
		for _, s := range made[6:] {
			if _, err := led.Append(ctx, s.Key, "", s.Events); err != nil {
				t.Fatal(err)
			}
			told, _ := activity.Since(s.Key, s.Events, 0)
			for i, want := range told {
				if e := take(); e.Stream != s.Key || e.Type != want.Type || !bytes.Equal(e.Data, want.Data) {
					t.Errorf("%s, event %d: %+v", s.Key, i+1, e)
				}
			}
		}
		stop()
		_, _ = io.Copy(io.Discard, r)
		if code := <-ended; code != 0 {
			t.Error(code)
		}
	})
}

// Of an App's database they are what the App tells, with its ids.
func TestEventsOfAnApp(t *testing.T) {
	t.Parallel()
	where := filepath.Join(t.TempDir(), "switchback.db")
	db, err := database.OpenFile(t.Context(), where, true)
	if err == nil {
		err = db.Migrate(t.Context(), nil, sqlledger.Line(), eventstream.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f := eventstream.New(db)
	for s := range sample.Cases(sample.Options{Seed: 5, Cases: 3, End: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}) {
		if _, err := f.Projector.Fill(t.Context(), []eventstream.Stream{{Key: s.Key, Events: s.Events}}); err != nil { // not in order of time
			t.Fatal(err)
		}
	}
	want, err := f.Log.After(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	lines := ran(t, "events", "--ledger", "sqlite:"+where)
	for i, l := range lines {
		if data, _ := json.Marshal(want[i]); string(data) != l {
			t.Errorf("%s\nwant\n%s", l, data)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("%d, want %d", len(lines), len(want))
	}
}
