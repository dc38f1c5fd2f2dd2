package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

func TestHookTestFeedback(t *testing.T) {
	t.Parallel()
	failing := `{"session_id":"s","hook_event_name":"x","payload":{"success":false,"failed_tests":[{"name":"sum","suggested_fix":"add"},{"name":"empty\u001b[31m"}]}}`
	for _, c := range []struct{ name, in, language, want string }{
		{"S2-34 passed", `{"session_id":"s","payload":{"success":true}}`, "en", "✅ All tests passed\n"},
		{"S2-34 passed in Korean", `{"session_id":"s","payload":{"success":true}}`, "ko", "✅ 모든 테스트 통과\n"},
		{"S2-35 S2-37 failed", failing, "en", "❌ Tests failed\n\n- sum: add\n- empty\n"},
		{"S2-35 failed in Korean", failing, "ko", "❌ 테스트 실패\n\n- sum: add\n- empty\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, c.in, "hook", "test-feedback", "--language", c.language)
			var out plan.HookOutput
			decode(t, r.out, &out)
			if r.code != 0 || out.Decision != "approve" || len(out.Notifications) != 1 || out.Notifications[0] != (plan.Notification{Level: "info", Title: "Test Feedback", Message: c.want}) {
				t.Errorf("exit %d %+v", r.code, out)
			}
			var e plan.Event
			decode(t, r.err, &e)
			if e.Kind != plan.TestFeedbackLogged || e.Session != "s" || e.Feedback == nil {
				t.Errorf("S2-33: %s", r.err)
			}
		})
	}
	t.Run("S2-36 the keys of the answer", func(t *testing.T) {
		t.Parallel()
		r := run(t, failing, "hook", "test-feedback")
		hasKeys(t, "the answer", r.out, "decision", "notifications")
	})
	t.Run("S2-33 the event goes to a ledger", func(t *testing.T) {
		t.Parallel()
		led := filepath.Join(t.TempDir(), "ledger")
		if r := run(t, failing, "hook", "test-feedback", "--ledger", led, "--port", "greet"); r.code != 0 || r.err != "" {
			t.Fatalf("exit %d %s", r.code, r.err)
		}
		d, err := portPlace{ledger: led, plan: "ports", port: "greet"}.stream(t.Context(), func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := d.Ledger.Load(t.Context(), d.Key)
		if err != nil || len(events) != 1 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		if e, ours, err := plan.Recorded(events[0]); err != nil || !ours || e.Kind != plan.TestFeedbackLogged || e.Session != "s" || len(e.Feedback.FailedTests) != 2 {
			t.Errorf("%+v %v", e, err)
		}
		if r := run(t, failing, "hook", "test-feedback", "--ledger", led); r.code != 2 || !strings.Contains(r.err, "--port") {
			t.Errorf("exit %d %s", r.code, r.err)
		}
	})
	for name, in := range map[string]string{
		"no JSON": "{", "nothing": "", "no payload": `{"session_id":"s"}`, "no session": `{"payload":{"success":true}}`, "a list": `[]`, "a payload of another kind": `{"session_id":"s","payload":3}`,
		"no success": `{"session_id":"s","payload":{"failed_tests":[]}}`, "a contradiction": `{"session_id":"s","payload":{"success":true,"failed_tests":[{"name":"x"}]}}`,
		"a test without a name": `{"session_id":"s","payload":{"success":false,"failed_tests":[{}]}}`, "null": `{"session_id":"s","payload":null}`,
	} {
		t.Run("S2-38 malformed, "+name, func(t *testing.T) {
			t.Parallel()
			if r := run(t, in, "hook", "test-feedback"); r.code != 3 || r.out != "" || !strings.Contains(r.err, "test-feedback") {
				t.Errorf("exit %d %q %q", r.code, r.out, r.err)
			}
		})
	}
	t.Run("usage", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{"hook"}, {"hook", "test-feedback", "--language", "fr"}, {"hook", "gossip"}} {
			if r := run(t, failing, args...); r.code != 2 {
				t.Errorf("%v: exit %d", args, r.code)
			}
		}
	})
}
