package plan

import (
	"strings"
	"testing"
)

func TestHook(t *testing.T) {
	t.Parallel()
	failing := TestFeedback{FailedTests: []FailedTest{{Name: "TestSum", SuggestedFix: "add,\ndo not multiply"}, {Name: "TestBare"}, {Name: "Test\n- forged", SuggestedFix: " \n"}}}
	t.Run("S2-34 the text of a pass, in both languages", func(t *testing.T) {
		for lang, want := range map[string]string{"en": "✅ All tests passed\n", "ko": "✅ 모든 테스트 통과\n", "": "✅ All tests passed\n"} {
			if got := (TestFeedback{Success: true}).Answer(lang).Notifications[0].Message; got != want {
				t.Errorf("%s: %q", lang, got)
			}
		}
	})
	t.Run("S2-35 S2-37 the text of a failure, a line each, the name alone where nothing is suggested", func(t *testing.T) {
		const list = "\n\n- TestSum: add, do not multiply\n- TestBare\n- Test - forged\n"
		for lang, want := range map[string]string{"en": "❌ Tests failed" + list, "ko": "❌ 테스트 실패" + list} {
			if got := failing.Answer(lang).Notifications[0].Message; got != want {
				t.Errorf("%s: %q", lang, got)
			}
		}
	})
	t.Run("S2-36 it approves, with one notification", func(t *testing.T) {
		for _, f := range []TestFeedback{{Success: true}, failing} {
			got := string(encode(f.Answer("en")))
			if !strings.HasPrefix(got, `{"decision":"approve","notifications":[{"level":"info","title":"Test Feedback","message":"`) || strings.Count(got, `"level"`) != 1 {
				t.Error(got)
			}
		}
	})
	t.Run("S2-38 what is malformed is an error", func(t *testing.T) {
		in, f, err := ParseHook([]byte(`{"session_id":"s","payload":{"success":false,"failed_tests":[{"name":"a"}]}}`))
		if err != nil || in.SessionID != "s" || len(f.FailedTests) != 1 {
			t.Errorf("%+v %v", f, err)
		}
		for _, bad := range []string{"", "{", "null", "[]", `{"session_id":"s"}`, `{"payload":{"success":true}}`, `{"session_id":"s","payload":"text"}`, `{"session_id":"s","payload":null}`,
			`{"session_id":"s","payload":{}}`, `{"session_id":"s","payload":{"success":1}}`, `{"session_id":1,"payload":{"success":true}}`} {
			if _, _, err := ParseHook([]byte(bad)); err == nil {
				t.Errorf("%s is taken", bad)
			}
		}
	})
}
