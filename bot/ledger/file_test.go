package ledger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
)

func TestFile(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, func(tb testing.TB) ledger.Ledger {
		path := filepath.Join(tb.TempDir(), "made", "ledger.jsonl")
		open := func() ledger.Ledger {
			l, err := ledger.OpenPath(path)
			if err != nil {
				tb.Fatal(err)
			}
			return l
		}
		return ledgertest.Alternate(open(), open())
	})
}

func TestOpenPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{empty: true, filepath.Join(dir, "new.jsonl"): true, filepath.Join(dir, "new"): false, dir: false} {
		l, err := ledger.OpenPath(path)
		if _, file := l.(*ledger.File); err != nil || file != want {
			t.Errorf("%s: %T, %v", path, l, err)
		}
	}
}

func TestFileNamesTheBadLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "l.jsonl")
	if err := os.WriteFile(path, []byte(`{"type":"lease","at":"2026-01-01T00:00:00Z","stream":"a"}`+"\nnonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.OpenPath(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Load(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "l.jsonl:2: is no line of a ledger") {
		t.Error(err)
	}
}
