package main

import (
	"path/filepath"
	"strings"
	"testing"
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
