package ledger_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/routing"
)

// written makes a ledger of two streams and returns the lines of the first.
func written(t *testing.T, path string) []string {
	t.Helper()
	d := opened(t, ledger.Open, path)
	for _, key := range []string{"a", "b"} {
		for _, note := range []string{"1", "2", "3", "4"} {
			if err := ledgertest.AppendAnyhow(t.Context(), d, key, ledgertest.Note(key, note)); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(path, "cases", "a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(data)))
}

// TestS6_13_ForgedEventsAreNotBelieved is S6-13: whoever can write the files, but is not
// Switchback, cannot change what was recorded unseen.
func TestS6_13_ForgedEventsAreNotBelieved(t *testing.T) {
	t.Parallel()
	forged := func(line string) string { return strings.Replace(line, `"note":"`, `"note":"forged `, 1) }
	for name, c := range map[string]struct {
		change func(lines []string) []string
		event  string // the first that does not follow; "": nothing is seen
	}{
		"nothing":         {func(l []string) []string { return l }, ""},
		"first dropped":   {func(l []string) []string { return l[1:] }, "event 1"},
		"middle dropped":  {func(l []string) []string { return slices.Delete(l, 1, 2) }, "event 2"},
		"first changed":   {func(l []string) []string { l[0] = forged(l[0]); return l }, "event 2"},
		"middle changed":  {func(l []string) []string { l[2] = forged(l[2]); return l }, "event 4"},
		"inserted":        {func(l []string) []string { return slices.Insert(l, 2, forged(l[2])) }, "event 4"},
		"added":           {func(l []string) []string { return append(l, forged(l[3])) }, "event 5"},
		"added with none": {func(l []string) []string { return append(l, l[3][:strings.Index(l[3], `,"prev"`)]+"}\n") }, "event 5"},
		"order changed":   {func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }, "event 2"},
		"repeated":        {func(l []string) []string { return append(l, l[3]) }, "event 5"},
		"other stream's":  {func(l []string) []string { return append(l, strings.Replace(l[0], `"b"`, `"a"`, 1)) }, "event 5"},
		"white space":     {func(l []string) []string { l[1] = strings.Replace(l[1], `,"prev"`, `, "prev"`, 1); return l }, "event 3"},
		"the newest gone": {func(l []string) []string { return l[:3] }, ""},
		"all begun anew":  {func(l []string) []string { return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, file := t.TempDir(), filepath.Join(t.TempDir(), "l.jsonl")
			text := strings.Join(c.change(written(t, dir)), "")
			writeCase(t, dir, "a.jsonl", text)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{dir, file} {
				l, err := ledger.OpenPath(path)
				if err != nil {
					t.Fatal(err)
				}
				events, _, err := l.Load(t.Context(), "a")
				walked := ledger.Each(t.Context(), l, func(string, []routing.Event) error { return nil })
				if c.event == "" {
					if err != nil || walked != nil {
						t.Errorf("%v, %v", err, walked)
					}
					continue
				}
				for _, err := range []error{err, walked} {
					if !errors.Is(err, ledger.ErrChain) || events != nil || !strings.Contains(err.Error(), c.event+" of stream a does not follow") || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore") {
						t.Errorf("%v", err)
					}
				}
				if err := ledgertest.AppendAnyhow(t.Context(), l, "a", ledgertest.Note("a", "5")); !errors.Is(err, ledger.ErrChain) {
					t.Errorf("appended behind it: %v", err)
				}
			}
		})
	}
}

// TestS6_13_Verify is S6-13: verify finds damage in each stream, and by an earlier copy also
// what was dropped from the end.
func TestS6_13_Verify(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, path string)
		chain  string // found by the ledger alone
		since  string // found by an earlier copy
	}{
		"nothing": {func(*testing.T, string) {}, "", ""},
		"a forged event": {func(t *testing.T, path string) {
			rewrite(t, path, func(s string) string { return strings.Replace(s, `"note":"2"`, `"note":"9"`, 1) })
		}, "event 3 of stream a does not follow", ""},
		"the newest dropped": {func(t *testing.T, path string) {
			rewrite(t, path, func(s string) string { return s[:strings.LastIndex(s[:len(s)-1], "\n")+1] })
		}, "", "stream a: the newest 1 of the 4 events of the earlier copy are gone"},
		"a stream of others": {func(t *testing.T, path string) {
			if err := os.Remove(filepath.Join(path, "cases", "a.jsonl")); err != nil {
				t.Fatal(err)
			}
			d := opened(t, ledger.Open, path)
			if err := ledgertest.AppendAnyhow(t.Context(), d, "a", ledgertest.Note("a", "other")); err != nil {
				t.Fatal(err)
			}
		}, "", "stream a: event 1 is another than in the earlier copy"},
		"a stream dropped": {func(t *testing.T, path string) {
			if err := os.Remove(filepath.Join(path, "cases", "a.jsonl")); err != nil {
				t.Fatal(err)
			}
		}, "", "stream a is gone"},
		"more events": {func(t *testing.T, path string) {
			if err := ledgertest.AppendAnyhow(t.Context(), opened(t, ledger.Open, path), "a", ledgertest.Note("a", "5")); err != nil {
				t.Fatal(err)
			}
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, earlier := t.TempDir(), new(ledger.Memory)
			written(t, path)
			l := opened(t, ledger.Open, path)
			if _, err := ledger.Copy(context.Background(), l, earlier, nil); err != nil {
				t.Fatal(err)
			}
			c.change(t, path)
			for _, known := range []ledger.Ledger{nil, earlier} {
				want := c.chain
				if known != nil && want == "" {
					want = c.since
				}
				v, err := ledger.Verify(t.Context(), l, known)
				if err != nil || (want == "") != (len(v.Problems) == 0) || want != "" && !strings.Contains(strings.Join(v.Problems, "\n"), want) {
					t.Errorf("%v %+v, want %q", err, v, want)
				}
			}
		})
	}
}

func rewrite(t *testing.T, path string, change func(string) string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path, "cases", "a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	writeCase(t, path, "a.jsonl", change(string(data)))
}
