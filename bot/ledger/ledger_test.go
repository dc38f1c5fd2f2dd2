package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/routing"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, func(testing.TB) ledger.Ledger { return &ledger.Memory{} })
}

// contended is a ledger whose every append comes too late.
type contended struct{ ledger.Memory }

func (*contended) Append(context.Context, string, ledger.Version, []routing.Event) (ledger.Version, error) {
	return "", ledger.ErrConflict
}

func TestUpdateGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, updateGivesUp)
}

func updateGivesUp(t *testing.T) {
	tries := 0
	count := func(routing.Case) ([]routing.Event, error) {
		tries++
		return []routing.Event{ledgertest.Note("", "never")}, nil
	}
	_, err := ledger.Case(&contended{}, "a").Update(t.Context(), count)
	if !errors.Is(err, ledger.ErrConflict) || tries != 20 || !strings.Contains(err.Error(), "stream a: gave up after 20 attempts") {
		t.Errorf("%d tries, %v", tries, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = ledger.Case(&contended{}, "a").Update(ctx, func(routing.Case) ([]routing.Event, error) {
		cancel()
		return []routing.Event{ledgertest.Note("", "never")}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
}

// TestFileName pins the names: a ledger outlives the program that wrote it.
func TestFileName(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"acme/app#12":          "acme+app=12.jsonl",
		"acme/app@main":        "acme+app@main.jsonl",
		"vercel/next.js#1":     "vercel+next.js=1.jsonl",
		"NixOS/nixpkgs#1":      "!nix!o!s+nixpkgs=1.jsonl",
		"acme/app@feat/x y":    "acme+app@feat+x~20y.jsonl",
		"..":                   "~2e~2e.jsonl",
		"@team":                "~40team.jsonl",
		"con":                  "~63on.jsonl",
		"nul.txt":              "~6eul.txt.jsonl",
		"é":                    "~c3~a9.jsonl",
		"ünï" + long(200, 'x'): "~c3~bcn~c3~af" + long(47, 'x') + "~~83c06c2598ed3bcb9ae78bbfd750f876.jsonl",
	} {
		if got := ledger.FileName(key); got != want {
			t.Errorf("FileName(%q) = %q, want %q", key, got, want)
		}
	}
}

func long(n int, c rune) string { return strings.Repeat(string(c), n) }

func TestFileNamesAreSafe(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, key := range ledgertest.Hostile() {
		checkName(t, key)
		folded := strings.ToLower(ledger.FileName(key))
		if other, taken := names[folded]; taken {
			t.Errorf("%q and %q share the name %s", key, other, folded)
		}
		names[folded] = key
	}
	for _, name := range []string{"README.md", "a", "A.jsonl", "a+b", "~zz.jsonl", "~6", "~61.jsonl", ".jsonl", "con.jsonl", "a~", "..jsonl", "a!.jsonl"} {
		if key, ours := ledger.KeyOf(name); ours {
			t.Errorf("KeyOf(%q) = %q", name, key)
		}
	}
}

func checkName(t *testing.T, key string) {
	t.Helper()
	name := ledger.FileName(key)
	if got, ours := ledger.KeyOf(name); !ours || got != key && got != "" {
		t.Errorf("KeyOf(FileName(%q)) = %q, %v", key, got, ours)
	}
	bad := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_+=!~@.")
	if bad != "" || len(name) > 130 || strings.Contains(name, "..") || strings.ToLower(name) != name || name[0] == '.' || name[0] == '@' {
		t.Errorf("FileName(%q) = %q", key, name)
	}
}

func FuzzFileName(f *testing.F) {
	for _, key := range ledgertest.Hostile() {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if ledger.CheckKey(key) == nil {
			checkName(t, key)
		}
		if again, ours := ledger.KeyOf(key); ours && again != "" && ledger.FileName(again) != key {
			t.Errorf("KeyOf(%q) = %q", key, again)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("{\"type\":\"lease\",\"stream\":\"a\"}\n"))
	f.Add([]byte("{\"type\":\"run\",\"stream\":\"a\",\"verdict\":{}}\n{\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, err := ledger.Decode("a", data)
		if err != nil {
			return
		}
		again, err := ledger.Encode("a", "", events)
		if err != nil {
			t.Fatalf("what Decode gave, Encode refuses: %v", err)
		}
		if back, err := ledger.Decode("a", again); err != nil || len(back) != len(events) {
			t.Errorf("%d events, then %d, %v", len(events), len(back), err)
		}
	})
}
