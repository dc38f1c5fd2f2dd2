package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/stats"
)

// told returns the ledger of the demo, which is of recorded output.
func told(t testing.TB) string {
	t.Helper()
	led := filepath.Join(t.TempDir(), "led")
	if r := run(t, "", "demo", "--quiet", "--ledger", led); r.code != 0 {
		t.Fatal(r.err)
	}
	return led
}

func statsOf(t testing.TB, args ...string) stats.Report {
	t.Helper()
	r := run(t, "", append([]string{"stats", "-o", "json"}, args...)...)
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	var out stats.Report
	decode(t, r.out, &out)
	return out
}

func TestStats(t *testing.T) {
	t.Parallel()
	led := told(t)
	r := statsOf(t, "--ledger", led)
	t.Run("figures of recorded runs", func(t *testing.T) {
		x := r.Total
		if x.Cases != 3 || x.Runs != 8 || x.Passes != 1 || x.Retries != 5 || x.Escalations != 2 || x.ByType[routing.KindEnv] != 1 || x.ByType[routing.KindMaxRetry] != 1 {
			t.Errorf("%+v", x)
		}
		if x.Streaks != 3 || x.Green != 1 || x.Unescalated != 1 || x.Escalated != 2 || *x.UnescalatedShare != 33 || *x.Attempts.Median != 2 || *x.Time.Median != 34*60 {
			t.Errorf("%+v", x)
		}
		if x.Followed != 5 || x.Unchanged != 3 || *x.UnchangedShare != 60 {
			t.Errorf("%d of %d retries changed nothing", x.Unchanged, x.Followed)
		}
		if len(r.Repositories) != 1 || r.Repositories[0].Key != "acme/shop" || len(r.Tables) != len(stats.Dimensions()) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S3-79 without records the rates between ports are n or a", func(t *testing.T) {
		if r.FeedbackRequests.SuccessRate != nil || r.FeedbackRequests.AverageRounds != nil || r.FeedbackRequests.Success() != "n/a" {
			t.Errorf("%+v", r.FeedbackRequests)
		}
	})
	t.Run("S0-60 how many checkpoints had effective feedback", func(t *testing.T) {
		if x := r.Total; x.Effective != 1 || x.Ineffective != 1 || x.NoFeedback != 1 {
			t.Errorf("%+v", x)
		}
	})
	t.Run("S0-57 S0-58 S0-59 the metrics of each case", func(t *testing.T) {
		out := run(t, "", "stats", "--cases", "-o", "json", "--ledger", led).out
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != 3 {
			t.Fatalf("%s", out)
		}
		hasKeys(t, "the metrics", lines[0], "session", "checkpoint", "routing_history", "total_time", "feedback_quality")
		var m routing.Metrics
		if err := json.Unmarshal([]byte(lines[0]), &m); err != nil {
			t.Fatal(err)
		}
		h := m.RoutingHistory
		if m.Session != "acme/shop#7" || m.Checkpoint != "unit" || m.TotalTime != "34m" || m.FeedbackQuality != "effective" || len(h) != 3 ||
			h[0].Iteration != 1 || h[0].Result != routing.KindRetry || h[0].Reason != "NOT_IMPLEMENTED" || h[2].Result != routing.KindPass || h[2].Reason != "" {
			t.Errorf("%+v", m)
		}
	})
	t.Run("the text fits 100 columns, whatever the names", func(t *testing.T) {
		long := filepath.Join(t.TempDir(), "led.jsonl")
		for n, cp := range []string{strings.Repeat("ünit ", 40), "a\x1b[31mb\nc"} {
			route(t, long, "--run", "1", "--sha", sha(n), "--checkpoint", cp, recorded("2-wrong-result.txt"))
		}
		for _, l := range []string{led, long} {
			out := run(t, "", "stats", "--ledger", l)
			if out.code != 0 || !strings.Contains(out.out, "LOGIC_ERROR") || strings.Contains(out.out, "\x1b") {
				t.Fatalf("%q %s", out.out, out.err)
			}
			for _, line := range strings.Split(out.out, "\n") {
				if n := utf8.RuneCountInString(line); n > 100 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		}
	})
	t.Run("CSV has a row for each key, and they add up", func(t *testing.T) {
		all, err := csv.NewReader(strings.NewReader(run(t, "", "stats", "-o", "csv", "--ledger", led).out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if got := all[0][:5]; !reflect.DeepEqual(got, []string{"repository", "dimension", "key", "cases", "runs"}) {
			t.Error(got)
		}
		want := 2 + 2*(4+4+4+1) + 1 // totals; class, rule, signal, checkpoint of all and of the repository; the day
		if len(all)-1 != want {
			t.Errorf("%d rows, want %d", len(all)-1, want)
		}
	})
	t.Run("by a repository and a time", func(t *testing.T) {
		if x := statsOf(t, "--ledger", led, "--repo", "acme/other").Total; x.Cases != 0 {
			t.Errorf("%+v", x)
		}
		if x := statsOf(t, "--ledger", led, "--repo", "acme/shop,acme/other").Total; x.Cases != 3 {
			t.Errorf("%+v", x)
		}
		early := statsOf(t, "--ledger", led, "--until", "2026-01-12T09:40:00Z")
		if early.Total.Runs != 2 || early.Until == nil || early.Since != nil || *early.Total.Attempts.Median != 2 {
			t.Errorf("%+v", early)
		}
	})
	for args, want := range map[string]string{
		"-o yaml":                               "it must be text, json or csv",
		"--since yesterday":                     "write a day such as 2026-03-01",
		"--since 2026-03-02 --until 2026-03-01": "--since must be before --until",
		"--ledger nowhere.jsonl":                "name it with --ledger",
		"--ledger stats_test.go":                "stats_test.go:1:",
	} {
		if r := run(t, "", append([]string{"stats"}, strings.Fields(args)...)...); r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("stats %s: exit %d, %q, want %q", args, r.code, r.err, want)
		}
	}
}

// The page names every figure and flag there is.
func TestStatsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "stats.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := reflect.TypeFor[stats.Row]()
	for i := range row.NumField() {
		name, _, _ := strings.Cut(row.Field(i).Tag.Get("json"), ",")
		if !strings.Contains(string(page), "`"+name) {
			t.Errorf("docs/stats.md does not tell what %s is", name)
		}
	}
	for _, c := range statsColumns {
		name, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(c.name, "_mean"), "_median"), "_p90"), ",")
		if !strings.Contains(string(page), "`"+name) {
			t.Errorf("docs/stats.md does not tell what %s is", c.name)
		}
	}
	for _, d := range stats.Dimensions() {
		if !strings.Contains(string(page), "| `"+string(d)+"`") {
			t.Errorf("docs/stats.md does not tell what %s is", d)
		}
	}
}
