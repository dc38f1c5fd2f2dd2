package plan

import (
	"encoding/json"
	"fmt"
	"strings"
)

// HookInput is what an agent's hook says when its tests have run.
type HookInput struct {
	SessionID string          `json:"session_id"`
	Payload   json.RawMessage `json:"payload"` // a TestFeedback
}

// HookOutput is what the agent is answered.
type HookOutput struct {
	Decision      string         `json:"decision"`
	Notifications []Notification `json:"notifications"`
}

// Notification is one thing that the agent is told.
type Notification struct {
	Level   string `json:"level"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// ParseHook reads what a hook says, with the feedback in it. What is not
// readable is an error that says what is missing.
func ParseHook(data []byte) (HookInput, TestFeedback, error) {
	var in HookInput
	if err := json.Unmarshal(data, &in); err != nil {
		return in, TestFeedback{}, fmt.Errorf("the hook's input is not readable: %w", err)
	}
	if strings.TrimSpace(in.SessionID) == "" {
		return in, TestFeedback{}, fmt.Errorf("the hook's input names no session; write \"session_id\"")
	}
	if len(in.Payload) == 0 {
		return in, TestFeedback{}, fmt.Errorf("the hook's input has no feedback; write \"payload\"")
	}
	f, err := ParseFeedback(in.Payload)
	return in, f, err
}

// hookTexts are the first lines of what a hook is answered.
var hookTexts = map[string]struct{ passed, failed string }{
	"en": {"✅ All tests passed", "❌ Tests failed"},
	"ko": {"✅ 모든 테스트 통과", "❌ 테스트 실패"},
}

// Answer returns what a hook that brought the feedback is told, in a language
// (en or ko; any other is en).
func (f TestFeedback) Answer(language string) HookOutput {
	text, ok := hookTexts[language]
	if !ok {
		text = hookTexts["en"]
	}
	message := text.passed + "\n"
	if !f.Success {
		message = text.failed + "\n\n"
		for _, t := range f.FailedTests {
			message += "- " + oneLine(t.Name)
			if fix := oneLine(t.SuggestedFix); fix != "" {
				message += ": " + fix
			}
			message += "\n"
		}
	}
	return HookOutput{"approve", []Notification{{"info", "Test Feedback", message}}}
}

// oneLine keeps a test from writing lines of its own into the list.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
