package feedback

import (
	"strings"
	"testing"
)

func TestAgain(t *testing.T) {
	t.Parallel()
	g := planOf("root", "check: model")
	verifies := func(t *testing.T) (*book, string) {
		b := newBook(t, g)
		id := b.queued(fix("check", "model"))
		b.begin(id)
		b.do(b.reg.Lifecycle(g, b.now).Processed(id, Outcome{OK: true, Summary: "done"}))
		return b, id
	}
	m := fix("check", "model")
	m.Text, m.Trace = "it still fails", "line 42"
	t.Run("the same asked again while verifying is the next round (S3-48)", func(t *testing.T) {
		b, id := verifies(t)
		s := b.send(m)
		if x := b.is(id, Queued); s.ID != id || s.Status != Queued || s.Round != 2 || x.Round != 2 || x.Priority != High || len(b.reg.Records) != 1 {
			t.Errorf("%+v %+v", s, x)
		}
		if again := b.send(m); again.ID != id || again.Refusal != nil || len(again.Events) != 0 {
			t.Errorf("said twice: %+v", again)
		}
		b.begin(id)
		if h := b.reg.Of("p").For("model")[0]; len(h.Earlier) != 1 || h.Earlier[0].Trace != "line 42" || h.Earlier[0].Fix != "done" {
			t.Errorf("%+v", h)
		}
	})
	t.Run("in round 2 it has failed, is escalated to the root, and the third sending is rejected (S3-49 S3-39)", func(t *testing.T) {
		b, id := verifies(t)
		b.send(m)
		b.begin(id)
		b.do(b.reg.Lifecycle(g, b.now).Processed(id, Outcome{OK: true}))
		m.Text = "and still"
		s := b.send(m)
		x := b.is(id, Failed)
		if s.Refusal == nil || s.Refusal.Why != Rounds || !strings.Contains(s.Refusal.Text, "check → model") || s.Escalation == nil || s.Escalation.Node != "root" || x.FailedAt.IsZero() {
			t.Errorf("%+v %+v", s, x)
		}
		if e := b.is(s.Escalation.Feedback, Queued); e.Message.Type != ArchitectureIssue || e.Escalates != id {
			t.Errorf("%+v", e)
		}
		b.is("FB-003", Rejected)
	})
	t.Run("another kind of thing is a feedback of its own (S3-31)", func(t *testing.T) {
		b, id := verifies(t)
		q := m
		q.Type, q.RequestedInfo = ContextRequest, "the name"
		if s := b.send(q); s.ID == id || s.Round != 2 {
			t.Errorf("%+v", s)
		}
		b.is(id, Verifying)
		if w := b.reg.Of("p").Waiting("check"); len(w) != 1 || w[0].ID == id {
			t.Errorf("%+v", w)
		}
	})
	t.Run("what is sent before the target has run is no verification", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(fix("check", "model"))
		if s := b.send(m); s.ID == id || s.Round != 2 {
			t.Errorf("%+v", s)
		}
	})
}
