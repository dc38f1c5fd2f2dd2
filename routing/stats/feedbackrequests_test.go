package stats

import (
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
	"github.com/switchback-ci/switchback/routing/routingtest"
)

// sent is the register of feedback that three nodes sent to another: one is
// resolved, one is open, one was refused.
func sent(t *testing.T) []routing.Event {
	t.Helper()
	g := feedback.Nodes{Top: "root", Links: map[string]feedback.Links{"test": {DependsOn: []string{"model"}}, "lint": {DependsOn: []string{"model"}}, "model": {}}}
	var all []routing.Event
	at := routingtest.Start
	step := func(fn func(feedback.State) ([]routing.Event, error)) {
		t.Helper()
		reg, err := feedback.Fold(all)
		if err != nil {
			t.Fatal(err)
		}
		events, err := fn(reg)
		if err != nil {
			t.Fatal(err)
		}
		all, at = append(all, events...), at.Add(time.Hour)
	}
	send := func(m feedback.Message) func(feedback.State) ([]routing.Event, error) {
		return func(r feedback.State) ([]routing.Event, error) {
			s, err := r.Outbox("p", g, at).Send(m)
			return s.Events, err
		}
	}
	fix := feedback.Message{From: "test", To: "model", Type: feedback.FixRequest, Text: "it fails", Priority: feedback.High, SuggestedFix: "fix it"}
	step(send(fix))
	step(func(r feedback.State) ([]routing.Event, error) { return r.Lifecycle(nil, at).Deliver("FB-001") })
	step(func(r feedback.State) ([]routing.Event, error) { return r.Lifecycle(nil, at).Begin("FB-001") })
	step(func(r feedback.State) ([]routing.Event, error) {
		return r.Lifecycle(g, at).Processed("FB-001", feedback.Outcome{OK: true})
	})
	step(func(r feedback.State) ([]routing.Event, error) {
		return r.Lifecycle(g, at).Verified("FB-001", feedback.Outcome{OK: true})
	})
	fix.From = "lint"
	step(send(fix))
	fix.To = "nobody"
	step(send(fix))
	return all
}

func TestFeedbackRequests(t *testing.T) {
	t.Parallel()
	events := sent(t)
	all := New(Window{})
	t.Run("S3-79 no records, no rates", func(t *testing.T) {
		if s := all.FeedbackRequests(); s.Success() != "n/a" || s.Average() != "n/a" {
			t.Errorf("%+v", s)
		}
	})
	for _, repo := range []string{"acme/app", "acme/lib"} {
		if err := all.Add(routing.StreamKey(repo, routing.StreamFeedbackRequests), events); err != nil {
			t.Fatal(err)
		}
	}
	s := all.FeedbackRequests()
	t.Run("S3-76 the count by type, over repositories", func(t *testing.T) {
		if s.ByType[feedback.FixRequest] != 4 || s.Total != 4 || s.Open != 2 || s.Resolved != 2 || s.Rejected != 2 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("S3-77 the success rate in whole percent", func(t *testing.T) {
		if s.Success() != "50%" {
			t.Error(s.Success())
		}
	})
	t.Run("S3-78 the average rounds of what is resolved", func(t *testing.T) {
		if s.Average() != "1" {
			t.Error(s.Average())
		}
	})
	t.Run("of one register they are those of the register", func(t *testing.T) {
		one := New(Window{})
		if err := one.Add(routing.StreamKey("acme/app", routing.StreamFeedbackRequests), events); err != nil {
			t.Fatal(err)
		}
		reg, err := feedback.Fold(events)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := asJSON(t, one.FeedbackRequests()), asJSON(t, feedback.StatsOf(reg.Records)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("by when it was sent", func(t *testing.T) {
		late := New(Window{Since: routingtest.Start.Add(time.Hour)})
		if err := late.Add(routing.StreamKey("acme/app", routing.StreamFeedbackRequests), events); err != nil {
			t.Fatal(err)
		}
		if s := late.FeedbackRequests(); s.Total != 1 || s.Resolved != 0 || s.Rejected != 1 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("other registers count nothing", func(t *testing.T) {
		if err := New(Window{}).Add(routing.PortKey("acme/app", "p", "x"), []routing.Event{{Type: "port.pair"}}); err != nil {
			t.Error(err)
		}
	})
}
