package e2e

import (
	"net/http"
	"testing"
)

// Only the body of a webhook is signed. Whoever saw one sends it under other ids and as other events.
func TestAppReplayed(t *testing.T) {
	t.Run("S6-16 a signed body is handled once", func(t *testing.T) {
		t.Parallel()
		s := newServed(t, appConfig)
		run := s.ran(failing("TestAdd"), "failure")
		s.app.Idle()
		s.r.Comment(t, Writer, s.number, "/switchback help")
		comment := s.heard("issue_comment", "created", Writer)
		s.app.Idle()
		before, handled := s.world(), s.app.Metric("switchback_delivery_work_seconds_count")
		replay := func() {
			t.Helper()
			for _, d := range []Delivery{run, comment} {
				for _, event := range []string{d.Event, d.Event, "issues", "pull_request", "check_run", "push"} {
					if code := s.app.Again(Delivery{GUID: randomHex(16), Event: event, Body: d.Body}); code != http.StatusAccepted {
						t.Errorf("%s as %s: %d", d.Event, event, code)
					}
				}
			}
			s.app.Idle()
		}
		replay()
		if n := s.app.Metric("switchback_delivery_work_seconds_count"); n != handled {
			t.Errorf("%v deliveries were handled, want %v", n, handled)
		}
		s.app.Kill()
		s.app.Start()
		replay()
		if n := s.app.Metric("switchback_delivery_work_seconds_count"); n != 0 {
			t.Errorf("after a restart %v deliveries were handled", n)
		}
		if after := s.world(); after != before {
			t.Errorf("a replay does something:\n%s\nbefore:\n%s", after, before)
		}
		run.GUID = randomHex(16)
		run.Body = append([]byte(" "), run.Body...) // another body, which the signature of the bench covers
		if code := s.app.Again(run); code != http.StatusAccepted || s.app.Metric("switchback_deliveries_total", `outcome="accepted"`) != 1 {
			t.Errorf("another body is not accepted: %d", code)
		}
	})
}
