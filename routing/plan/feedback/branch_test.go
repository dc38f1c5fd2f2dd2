package feedback

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func held(b *book, nodes ...string) string {
	var out []string
	for _, n := range nodes {
		if len(b.reg.Of("p").Held(b.g, n)) > 0 {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

func TestBranches(t *testing.T) {
	t.Parallel()
	g := planOf("root", "service: model", "controller: service", "e2e: controller", "view: model", "other: base")
	all := []string{"root", "model", "service", "controller", "e2e", "view", "other", "base"}
	t.Run("S3-68 S3-69 queued feedback pauses its branch, and no other", func(t *testing.T) {
		b := newBook(t, g)
		b.queued(fix("service", "model"))
		if got := held(b, all...); got != "service controller e2e" {
			t.Error(got)
		}
		if x := b.reg.Of("p").Held(g, "e2e"); len(x) != 1 || x[0].ID != "FB-001" {
			t.Errorf("%+v", x)
		}
		if b.reg.Of("q").Held(g, "service") != nil {
			t.Error("another plan is held")
		}
	})
	t.Run("S3-70 S3-71 the branch goes on when it is closed, one way or the other", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(fix("service", "model"))
		for _, step := range []func(){
			func() { b.do(b.reg.Lifecycle(nil, b.now).Deliver(id)) }, func() { b.do(b.reg.Lifecycle(nil, b.now).Begin(id)) },
			func() { b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{OK: true})) },
		} {
			step()
			if got := held(b, all...); got != "service controller e2e" {
				t.Errorf("%s: %s", b.rec(id).Status, got)
			}
		}
		b.do(b.reg.Lifecycle(b.g, b.now).Verified(id, Outcome{OK: true}))
		if got := held(b, all...); got != "" {
			t.Error(got)
		}
		id = b.queued(fix("view", "model"))
		b.begin(id)
		b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{}))
		if got := held(b, all...); got != "" {
			t.Errorf("failed: %s", got)
		}
	})
	t.Run("S3-75 parallel branches use it at the same time", func(t *testing.T) {
		b := newBook(t, g)
		b.queued(fix("service", "model"))
		b.queued(fix("other", "base"))
		for range 2 {
			x, ok := b.reg.Of("p").Next()
			if !ok {
				t.Fatal("the second waits for the first")
			}
			b.do(b.reg.Lifecycle(nil, b.now).Deliver(x.ID))
		}
		if w := b.reg.Of("p").Work(); len(w) != 2 || w[0].Node != "model" || w[1].Node != "base" {
			t.Errorf("%+v", w)
		}
		if got := held(b, all...); got != "service controller e2e other" {
			t.Error(got)
		}
	})
	t.Run("a target that waits for its own feedback is asked later", func(t *testing.T) {
		b := newBook(t, g)
		b.begin(b.queued(fix("controller", "service")))
		b.queued(fix("service", "model")) // found while it fixes
		if w := b.reg.Of("p").Work(); len(w) != 0 {
			t.Errorf("%+v", w)
		}
		b.queued(fix("e2e", "service"))
		if x, ok := b.reg.Of("p").Next(); !ok || x.ID != "FB-002" {
			t.Errorf("%+v", x)
		}
		b.round("FB-002", true)
		if w := b.reg.Of("p").Work(); len(w) != 1 || w[0].ID != "FB-001" {
			t.Errorf("%+v", w)
		}
	})
	t.Run("a sender verifies once all it sent was worked at", func(t *testing.T) {
		b := newBook(t, planOf("root", "a: x y"))
		first, second := b.queued(fix("a", "x")), b.queued(fix("a", "y"))
		b.begin(first)
		b.do(b.reg.Lifecycle(b.g, b.now).Processed(first, Outcome{OK: true}))
		if w := b.reg.Of("p").Work(); len(w) != 0 {
			t.Errorf("%+v", w)
		}
		b.begin(second)
		b.do(b.reg.Lifecycle(b.g, b.now).Processed(second, Outcome{OK: true}))
		if w := b.reg.Of("p").Work(); len(w) != 2 || w[0].Do != Verify || w[1].Do != Verify {
			t.Errorf("%+v", w)
		}
	})
}

func TestAudit(t *testing.T) {
	t.Parallel()
	g := planOf("root", "test: model", "other: model")
	t.Run("S3-63 S3-66 a line for each change", func(t *testing.T) {
		b := newBook(t, g)
		b.now = time.Date(2024, 1, 15, 10, 30, 0, 5e8, time.UTC)
		b.begin(b.queued(fix("test", "model")))
		lines, err := Audit(b.events)
		if err != nil || len(lines) != 3 {
			t.Fatal(lines, err)
		}
		got, err := json.Marshal(lines[1])
		want := `{"timestamp":"2024-01-15T10:30:01Z","feedback_id":"FB-001","type":"FIX_REQUEST","source":"test","target":"model","round":1,"status":"delivered"}`
		if err != nil || string(got) != want || strings.Contains(string(got), "\n") {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		for _, e := range b.events {
			data, err := json.Marshal(e)
			if err != nil || !strings.Contains(string(data), `"feedback_id":"FB-001","type":"FIX_REQUEST","source":"test","target":"model"`) {
				t.Errorf("the ledger itself does not say it: %s, %v", data, err)
			}
		}
		b.events[0].Type = "run"
		if _, err := Audit(b.events); err == nil {
			t.Error("another stream's event has a line")
		}
	})
	t.Run("S3-76 S3-77 S3-78 counts by type, success and rounds", func(t *testing.T) {
		b := newBook(t, g)
		b.round(b.queued(fix("test", "model")), true)
		id := b.queued(fix("other", "model"))
		b.round(id, false)
		b.round(id, true)
		b.queued(Message{From: "test", To: "model", Type: ContextRequest, Text: "?", RequestedInfo: "x", Priority: Low})
		b.refused(fix("test", "nobody"), "Target node 'nobody' not found in ancestors of 'test'")
		s := StatsOf(b.reg.Records)
		if s.ByType[FixRequest] != 2 || s.ByType[ContextRequest] != 1 || s.Total != 3 || s.Resolved != 2 || s.Open != 1 || s.Rejected != 1 || s.Failed != 0 {
			t.Errorf("%+v", s)
		}
		if s.Success() != "66%" || s.Average() != "1.5" {
			t.Error(s.Success(), s.Average())
		}
	})
	t.Run("S3-79 n-a without records", func(t *testing.T) {
		s := StatsOf(nil)
		if s.Success() != "n/a" || s.Average() != "n/a" {
			t.Error(s.Success(), s.Average())
		}
		b := newBook(t, g)
		b.queued(fix("test", "model"))
		if s = StatsOf(b.reg.Records); s.Success() != "0%" || s.Average() != "n/a" {
			t.Error(s.Success(), s.Average())
		}
	})
}
