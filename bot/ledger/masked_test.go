package ledger_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

// TestS6_5_EventsAreMasked is S6-5: no ledger gets a token or a value that the process holds, whoever
// forgot to mask it.
func TestS6_5_EventsAreMasked(t *testing.T) {
	t.Parallel()
	const held = "kept for the ledger's test"
	redact.Hide(held)
	token := "ghs_" + "12345_" + "eyJhbGciOiJSUzI1NiJ9" + "." + "eyJzdWIiOiIxMjM0NTYifQ" + "." + strings.Repeat("aB3_", 12)
	ctx, key := context.Background(), routing.StreamKey("acme/shop", "pr-1")
	file, err := ledger.OpenPath(filepath.Join(t.TempDir(), "l.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]ledger.Ledger{"memory": &ledger.Memory{}, "file": file} {
		note := ledgertest.Note("", "got "+token+" and "+held+" and "+base64.URLEncoding.EncodeToString([]byte("a"+held)))
		if _, err := l.Append(ctx, key, "", []routing.Event{note}); err != nil {
			t.Fatal(err)
		}
		events, _, err := l.Load(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(events)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(data); strings.Contains(got, "eyJ") || strings.Contains(got, "ledger's") || !strings.Contains(got, "got ghs_*** and *** and ") || strings.Count(got, "***") != 3 {
			t.Errorf("%s keeps %s", name, got)
		}
	}
}
