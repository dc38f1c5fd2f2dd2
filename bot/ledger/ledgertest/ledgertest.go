// Package ledgertest is the conformance suite that every ledger passes.
package ledgertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// Size says how much of it there is. A zero field stands for the default.
type Size struct {
	Writers int // that race, 8
	Appends int // of each of them, 12
	Big     int // bytes of the big stream, 2 MB
}

// Run checks that the ledgers open makes are ledgers. Each call of open gives
// one that is empty and shares nothing with the others.
func Run(t *testing.T, open func(testing.TB) ledger.Ledger) { Size{}.Run(t, open) }

// Run is Run at another size.
func (s Size) Run(t *testing.T, open func(testing.TB) ledger.Ledger) {
	s = Size{orElse(s.Writers, 8), orElse(s.Appends, 12), orElse(s.Big, 2<<20)}
	for name, check := range map[string]func(*testing.T, ledger.Ledger){
		"absent stream":                          absent,
		"every field of an event comes back":     roundTrip,
		"a stream grows in order":                grows,
		"a stale version is refused":             conflict,
		"all events of an append or none":        allOrNothing,
		"no events change nothing":               nothing,
		"keys cannot reach each other (S4-69)":   keys,
		"a key that cannot name a stream":        badKeys,
		"all streams one after the other":        each,
		"blobs beside the streams":               blobs,
		"blobs that nothing needs":               forgotten,
		"a big stream":                           s.big,
		"a context that has ended":               cancelled,
		"racing writers lose nothing (S3-67)":    s.race,
		"racing updates count each once (S0-12)": s.updates,
		"a stream with its projection":           stream,
		"an update that others overtake":         streamConflict,
		"a subscription":                         subscribe,
		"an update that adds nothing":            updateNothing,
		"an update that does not follow":         updateBad,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t))
		})
	}
}

func orElse(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// At is the time of the suite's events.
var At = time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)

// Note returns an event that says note and follows from any stream.
func Note(key, note string) routing.Event {
	return routing.Event{Type: routing.EventLease, At: At, Stream: key, Data: routing.LeaseTaken{Note: note}}
}

func noteOf(e routing.Event) string {
	p, _ := routing.PayloadOf[routing.LeaseTaken](e)
	return p.Note
}

// Notes returns what the events of Note say.
func Notes(events []routing.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, noteOf(e))
	}
	return out
}

func load(t *testing.T, l ledger.Ledger, key string) ([]routing.Event, ledger.Version) {
	t.Helper()
	events, v, err := l.Load(t.Context(), key)
	if err != nil {
		t.Fatalf("Load(%q): %v", key, err)
	}
	return events, v
}

func add(t *testing.T, l ledger.Ledger, key string, seen ledger.Version, events ...routing.Event) ledger.Version {
	t.Helper()
	v, err := l.Append(t.Context(), key, seen, events)
	if err != nil {
		t.Fatalf("Append(%q): %v", key, err)
	}
	return v
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %.2000v\nwant %.2000v", what, got, want)
	}
}

const key = "acme/app#12"

func absent(t *testing.T, l ledger.Ledger) {
	events, v := load(t, l, key)
	if events != nil || v != "" {
		t.Errorf("Load = %v, %q", events, v)
	}
	keys, err := l.Keys(t.Context())
	if len(keys) > 0 || err != nil {
		t.Errorf("Keys = %q, %v", keys, err)
	}
}

func roundTrip(t *testing.T, l ledger.Ledger) {
	n := 0
	var run routing.RunRecorded
	var effect routing.EffectDone
	var lease routing.LeaseTaken
	var human routing.HumanActed
	for _, p := range []any{&run, &effect, &lease, &human} {
		fill(reflect.ValueOf(p).Elem(), &n)
	}
	run.Decision.Verdict = routing.Verdict{} // not recorded, the event's own is
	human.By = ""                            // recorded as the actor
	events := []routing.Event{
		{Type: routing.EventRun, Data: run}, {Type: routing.EventEffect, Data: effect}, {Type: routing.EventLease, Data: lease},
		{Type: routing.EventHuman, Actor: "mona <&> \u2028", Data: human},
		{Type: "odd.type", Data: json.RawMessage(`{"of":"a newer release <&>"}`)}, {Type: "odd.empty"},
	}
	for i := range events {
		events[i].At, events[i].Stream = At, key
	}
	v := add(t, l, key, "", events...)
	got, at := load(t, l, key)
	if v != at || v == "" {
		t.Errorf("Append returned version %q, Load %q", v, at)
	}
	equal(t, "events", got, events)
}

// fill gives every field below v a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("v%d <&> \"\\ \t\n\r\u2028 \x00 ünï 🙂", *n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n % 256))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.25)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(fmt.Appendf(nil, `{"n":%d,"text":"<&> ünï 🙂"}`, *n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k, n)
		fill(e, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, e)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(At.Add(time.Duration(*n) * time.Second)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("ledgertest: an event has a field of kind " + v.Kind().String())
	}
}

func grows(t *testing.T, l ledger.Ledger) {
	seen := map[ledger.Version]bool{"": true}
	var v ledger.Version
	var want []string
	for i := range 5 {
		note := fmt.Sprint("note ", i)
		v = add(t, l, key, v, Note(key, note))
		want = append(want, note)
		if seen[v] {
			t.Errorf("append %d: version %q again", i, v)
		}
		seen[v] = true
	}
	events, at := load(t, l, key)
	equal(t, "notes", Notes(events), want)
	if at != v {
		t.Errorf("version %q after Append, %q after Load", v, at)
	}
}

func conflict(t *testing.T, l ledger.Ledger) {
	v1 := add(t, l, key, "", Note(key, "1"))
	v2 := add(t, l, key, v1, Note(key, "2"))
	for _, seen := range []ledger.Version{"", v1, "no such version"} {
		if _, err := l.Append(t.Context(), key, seen, []routing.Event{Note(key, "never")}); !errors.Is(err, ledger.ErrConflict) {
			t.Errorf("Append at version %q: %v, want ErrConflict", seen, err)
		}
	}
	if _, err := l.Append(t.Context(), "other", v2, []routing.Event{Note("other", "never")}); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("Append to an absent stream at a version of another: %v, want ErrConflict", err)
	}
	add(t, l, key, v2, Note(key, "3"))
	events, _ := load(t, l, key)
	equal(t, "notes", Notes(events), []string{"1", "2", "3"})
}

func allOrNothing(t *testing.T, l ledger.Ledger) {
	v := add(t, l, key, "", Note(key, "1"), Note(key, "2"), Note(key, "3"))
	stranger := []routing.Event{Note(key, "4"), Note("acme/app#13", "5")}
	if _, err := l.Append(t.Context(), key, v, stranger); err == nil || errors.Is(err, ledger.ErrConflict) {
		t.Errorf("Append of another case's event: %v", err)
	}
	noCase := Note("", "4")
	add(t, l, key, v, noCase)
	events, _ := load(t, l, key)
	equal(t, "notes", Notes(events), []string{"1", "2", "3", "4"})
	if got := events[len(events)-1].Stream; got != key {
		t.Errorf("an event without case is of case %q", got)
	}
}

func nothing(t *testing.T, l ledger.Ledger) {
	v, err := l.Append(t.Context(), key, "", nil)
	if v != "" || err != nil {
		t.Errorf("Append of nothing = %q, %v", v, err)
	}
	absent(t, l)
}

// Hostile are keys that are alike, or would be trouble as names of files.
func Hostile() []string {
	long := strings.Repeat("very/long/", 60)
	return []string{
		"acme/app#12", "acme/app@main", "acme/app-12", "acme+app=12", "acme/app#12 ", "Acme/App#12", "ACME/APP#12", "!acme/app#12",
		"acme/app~2312", "..", ".", "../../etc/passwd", "/etc/passwd", `..\..\windows`, "C:evil", "con", "CON", "nul.txt", "com1", "a.", ".git", "a..b",
		"a\x00b", "a\nb", "a\r\nb", "\x1b[2J", `"quoted"`, "a%2fb", "a?b*c|d<e>", "@team", "fixes #1", "-rf", "~", "~~", "é", "e\u0301", "日本語/リポ#1", "🙂",
		long + "a", long + "b", strings.ToUpper(long) + "A", strings.Repeat("🙂", 200), "README.md", "a.jsonl", "a",
	}
}

func keys(t *testing.T, l ledger.Ledger) {
	want := Hostile()
	for i, k := range want {
		add(t, l, k, "", Note(k, fmt.Sprint(i)))
	}
	for i, k := range want {
		events, _ := load(t, l, k)
		equal(t, fmt.Sprintf("%q", k), events, []routing.Event{Note(k, fmt.Sprint(i))})
	}
	slices.Sort(want)
	got, err := l.Keys(t.Context())
	if err != nil {
		t.Fatalf("Keys: %v", err)
	}
	equal(t, "Keys", got, want)
}

func badKeys(t *testing.T, l ledger.Ledger) {
	for _, k := range []string{"", "a\xffb", strings.Repeat("x", 1025)} {
		if _, _, err := l.Load(t.Context(), k); err == nil {
			t.Errorf("Load(%.20q) succeeds", k)
		}
		if _, err := l.Append(t.Context(), k, "", []routing.Event{Note(k, "")}); err == nil {
			t.Errorf("Append(%.20q) succeeds", k)
		}
	}
}

func (s Size) big(t *testing.T, l ledger.Ledger) {
	const one = 50_000
	var events []routing.Event
	for i := range s.Big/one + 1 {
		events = append(events, Note(key, fmt.Sprint(i, strings.Repeat("x", one))))
	}
	half := len(events) / 2
	v := add(t, l, key, "", events[:half]...)
	add(t, l, key, v, events[half:]...)
	got, v := load(t, l, key)
	if !reflect.DeepEqual(got, events) {
		t.Errorf("%d events came back of %d, or others", len(got), len(events))
	}
	add(t, l, key, v, Note(key, "last"))
	if got, _ = load(t, l, key); len(got) != len(events)+1 {
		t.Errorf("%d events, want %d", len(got), len(events)+1)
	}
}

func cancelled(t *testing.T, l ledger.Ledger) {
	v := add(t, l, key, "", Note(key, "1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Load(ctx, key); !errors.Is(err, context.Canceled) {
		t.Errorf("Load: %v", err)
	}
	if _, err := l.Append(ctx, key, v, []routing.Event{Note(key, "2")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Append: %v", err)
	}
	if _, err := l.Keys(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Keys: %v", err)
	}
	events, at := load(t, l, key)
	if len(events) != 1 || at != v {
		t.Errorf("%d events at %q, want 1 at %q", len(events), at, v)
	}
}

func updateNothing(t *testing.T, l ledger.Ledger) {
	c, err := ledger.Case(l, key).Update(t.Context(), func(routing.Case) ([]routing.Event, error) { return nil, nil })
	if err != nil || c.Key != key {
		t.Errorf("Update = %+v, %v", c, err)
	}
	failed := errors.New("failed")
	if _, err = ledger.Case(l, key).Update(t.Context(), func(routing.Case) ([]routing.Event, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("Update: %v", err)
	}
	absent(t, l)
}

func updateBad(t *testing.T, l ledger.Ledger) {
	for _, e := range []routing.Event{{Type: routing.EventRun, At: At}, {Type: "nonsense", At: At}, Note("other", "")} {
		_, err := ledger.Case(l, key).Update(t.Context(), func(routing.Case) ([]routing.Event, error) {
			return []routing.Event{Note(key, ""), e}, nil
		})
		if err == nil {
			t.Errorf("Update took %+v", e)
		}
	}
	absent(t, l)
}
