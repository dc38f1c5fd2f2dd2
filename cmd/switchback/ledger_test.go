package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
)

func TestLedgerExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	led, db := filepath.Join(dir, "ledger"), filepath.Join(dir, "out.db")
	if r := run(t, "", "route", "--ledger", led, "--case", "acme/app#1", "--run", "1", "--sha", "abc", recorded("1-not-implemented.txt")); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	r := run(t, "", "ledger", "export", "--ledger", led, "--sqlite", db)
	if r.code != 0 || !strings.Contains(r.out, "routing_history       1 rows, 1 new or changed") {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	r = run(t, "", "ledger", "export", "--ledger", led, "--sqlite", db)
	if r.code != 0 || !strings.Contains(r.out, "routing_history       1 rows, 0 new or changed") {
		t.Errorf("again: exit %d: %s%s", r.code, r.out, r.err)
	}
	for name, c := range map[string]struct {
		code int
		says string
		args []string
	}{
		"nothing to do":       {2, "export", []string{"ledger"}},
		"no database":         {2, "--sqlite is missing", []string{"ledger", "export", "--ledger", led}},
		"no ledger":           {1, "name it with --ledger", []string{"ledger", "export", "--ledger", led + "x", "--sqlite", db}},
		"no folder for it":    {1, "nowhere", []string{"ledger", "export", "--ledger", led, "--sqlite", filepath.Join(dir, "nowhere", "x.db")}},
		"a folder in its way": {1, "ledger", []string{"ledger", "export", "--ledger", led, "--sqlite", led}},
	} {
		if r := run(t, "", c.args...); r.code != c.code || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("%s: exit %d, said %q, printed %q", name, r.code, r.err, r.out)
		}
	}
}

// A ledger of any form is copied to any other, and the cases decide there as
// they would have here.
func TestLedgerCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from := filepath.Join(dir, "branch")
	route := func(led, sha string, want int) {
		t.Helper()
		if r := run(t, "", "route", "--ledger", led, "--case", "acme/app#1", "--run", sha, "--sha", sha, recorded("1-not-implemented.txt")); r.code != want {
			t.Fatalf("route in %s: exit %d: %s", led, r.code, r.err)
		}
	}
	shown := func(led string) string {
		t.Helper()
		r := run(t, "", "show", "--ledger", led, "acme/app#1")
		if r.code != 0 || r.out == "" {
			t.Fatalf("show in %s: exit %d: %s", led, r.code, r.err)
		}
		return r.out
	}
	copied := func(a, b, says string) {
		t.Helper()
		if r := run(t, "", "ledger", "copy", a, b); r.code != 0 || r.out != says+"\n" {
			t.Fatalf("copy to %s: exit %d: %q, want %q; %s", b, r.code, r.out, says, r.err)
		}
	}
	route(from, "a1", 0)
	targets := []string{"sqlite:" + filepath.Join(dir, "new", "l.db"), pgtest.URL(t), filepath.Join(dir, "l.jsonl")}
	last := from
	for _, to := range targets { // each from the one before
		copied(last, to, "1 streams of 1 events, 1 of them new")
		copied(last, to, "1 streams of 1 events, 0 of them new")
		if shown(to) != shown(from) {
			t.Errorf("%s shows\n%s\nwant\n%s", to, shown(to), shown(from))
		}
		last = to
	}
	copied(last, from, "1 streams of 1 events, 0 of them new")
	route(from, "b2", 0)
	for _, to := range targets[:2] {
		copied(from, to, "1 streams of 2 events, 1 of them new")
		route(to, "c3", 0)
		copied(from, to, "1 streams of 2 events, 0 of them new") // went on by itself
	}
	if files, err := filepath.Glob(filepath.Join(dir, "new", "*")); err != nil || len(files) != 1 {
		t.Errorf("left beside the database: %q, %v", files, err)
	}
	route(from, "d4", 0)
	for name, c := range map[string]struct {
		code int
		says string
		args []string
	}{
		"nothing":       {2, "accepts 2 arg", []string{"copy", from}},
		"no source":     {1, "name it with --ledger", []string{"copy", from + "x", from}},
		"empty source":  {1, "has the directory cases in it", []string{"copy", filepath.Join(from, "cases"), filepath.Join(dir, "other")}},
		"another story": {1, "stream acme/app#1: event 3 is another in the target", []string{"copy", from, targets[0]}},
		"no database":   {1, "no such file", []string{"copy", targets[0] + "x", targets[1]}},
	} {
		if r := run(t, "", append([]string{"ledger"}, c.args...)...); r.code != c.code || !strings.Contains(r.err, c.says) || r.out != "" {
			t.Errorf("%s: exit %d, said %q, printed %q", name, r.code, r.err, r.out)
		}
	}
}

// TestS6_13_LedgerVerify is S6-13: verify says what of a ledger cannot be believed, and exits
// with 1.
func TestS6_13_LedgerVerify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	led, earlier := filepath.Join(dir, "ledger"), "sqlite:"+filepath.Join(dir, "earlier.db")
	l, err := ledger.Open(led)
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range []string{"1", "2", "3"} {
		if err := ledgertest.AppendAnyhow(t.Context(), l, "acme/app#1", ledgertest.Note("acme/app#1", note)); err != nil {
			t.Fatal(err)
		}
	}
	if r := run(t, "", "ledger", "copy", led, earlier); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for _, sound := range [][]string{{led}, {earlier}, {led, "--since", earlier}} {
		if r := run(t, "", append([]string{"ledger", "verify"}, sound...)...); r.code != 0 || r.out != "1 streams of 3 events, each follows from the one before it\n" {
			t.Errorf("%v: %+v", sound, r)
		}
	}
	file := filepath.Join(led, "cases", "acme+app=1.jsonl")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for name, c := range map[string]struct {
		text, alone, since string
	}{
		"forged":  {strings.Replace(string(data), `"note":"2"`, `"note":"forged"`, 1), "acme+app=1.jsonl:3: event 3 of stream acme/app#1 does not follow", "event 3"},
		"dropped": {lines[0] + lines[1], "", "the newest 1 of the 3 events of the earlier copy are gone"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{led}, {led, "--since", earlier}} {
			want := c.alone
			if len(args) > 1 {
				want = c.since
			}
			r := run(t, "", append([]string{"ledger", "verify"}, args...)...)
			if want == "" && r.code == 0 {
				continue
			}
			if r.code != 1 || !strings.Contains(r.out, want) || !strings.Contains(r.err, "1 streams of") || !strings.Contains(r.err, "damaged") {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

func TestPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	led := strings.Replace(pgtest.URL(t), "postgres@", "postgres:sesame@", 1)
	if r := run(t, "", "show", "--ledger", led, "nowhere#1"); r.code != 1 || !strings.Contains(r.err, "no case") || strings.Contains(r.err+r.out, "sesame") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
