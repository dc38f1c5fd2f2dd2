package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/worker"
	"github.com/switchback-ci/switchback/routing/diagnose"
	"github.com/switchback-ci/switchback/routing/port"
)

// hookInput is what an agent gives its hooks; other keys are passed over.
type hookInput struct {
	Session string          `json:"session_id"`
	Payload json.RawMessage `json:"payload"`
}

type hookOutput struct {
	Decision      string         `json:"decision"`
	Notifications []notification `json:"notifications"`
}

type notification struct {
	Level   string `json:"level"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

type hookFlags struct {
	portPlace
	language string
}

func hookCommand(s streams, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{Use: "hook", Short: "Be called by an agent as one of its hooks: JSON in, JSON out",
		RunE: func(*cobra.Command, []string) error { return usage("name the hook: test-feedback") }}
	var f hookFlags
	one := &cobra.Command{
		Use:   "test-feedback",
		Short: "Take feedback of a testing worker, log it, and say it to the agent",
		Long: "Read {\"session_id\": …, \"payload\": {\"success\": …, \"failed_tests\": […]}} from the\n" +
			"standard input, log a test_feedback event, and print the decision with one\n" +
			"notification. The event goes to the port that runs this worker, with --ledger and\n" +
			"--port to that port's journal, else to the standard error as a line of JSON.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runHook(c.Context(), s, f, getenv) },
	}
	f.flags(one)
	one.Flags().StringVar(&f.port, "port", getenv("SWITCHBACK_PORT"), "the port")
	one.Flags().StringVar(&f.language, "language", "en", "en or ko")
	c.AddCommand(one)
	return c
}

// mostHook bounds what a hook reads, in bytes.
const mostHook = 8 << 20

func runHook(ctx context.Context, s streams, f hookFlags, getenv func(string) string) error {
	if f.language != "en" && f.language != "ko" {
		return usage("--language is %q; it must be en or ko", f.language)
	}
	data, err := io.ReadAll(io.LimitReader(s.in, mostHook+1))
	if err != nil {
		return failed(err)
	}
	in, fb, err := readHook(data)
	if err != nil {
		return unreadable("test-feedback: %w", err)
	}
	if err := logHook(ctx, s, f, getenv, in.Session, fb); err != nil {
		return err
	}
	return printJSON(s, hookOutput{"approve", []notification{{"info", "Test Feedback", feedbackNote(fb, f.language)}}})
}

func readHook(data []byte) (hookInput, port.TestFeedback, error) {
	var in hookInput
	if len(data) > mostHook {
		return in, port.TestFeedback{}, fmt.Errorf("the input has more than %d bytes", mostHook)
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return in, port.TestFeedback{}, fmt.Errorf("the input is not readable: %w", err)
	}
	if len(in.Payload) == 0 {
		return in, port.TestFeedback{}, errors.New("the input has no payload; give the feedback as its value")
	}
	fb, err := port.ParseFeedback(in.Payload)
	return in, fb, err
}

// logHook records the event where there is a journal, else prints it.
func logHook(ctx context.Context, s streams, f hookFlags, getenv func(string) string, session string, fb port.TestFeedback) error {
	switch url := getenv("SWITCHBACK_CHANNEL_URL"); {
	case f.ledger == "" && url != "":
		if _, err := worker.Ask(ctx, url, getenv("SWITCHBACK_CHANNEL_TOKEN"), "feedback", fb); err != nil {
			return failed(err)
		}
	case f.ledger != "":
		if f.port == "" {
			return usage("--port is missing; it names the journal that the event goes to")
		}
		d, err := f.desk(getenv)
		if err != nil {
			return err
		}
		if err := d.Log(ctx, session, fb); err != nil {
			return failed(err)
		}
	default:
		teller(s)(port.Event{Kind: port.TestFeedbackLogged, At: time.Now(), Session: session, Port: f.port, Feedback: &fb})
	}
	return nil
}

// feedbackNote says feedback in words.
func feedbackNote(f port.TestFeedback, language string) string {
	ko := language == "ko"
	switch {
	case f.Success && ko:
		return "✅ 모든 테스트 통과\n"
	case f.Success:
		return "✅ All tests passed\n"
	}
	var b strings.Builder
	b.WriteString(map[bool]string{true: "❌ 테스트 실패\n\n", false: "❌ Tests failed\n\n"}[ko])
	for _, t := range f.FailedTests {
		b.WriteString("- " + plainLine(t.Name))
		if fix := plainLine(t.SuggestedFix); fix != "" {
			b.WriteString(": " + fix)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func plainLine(s string) string {
	return strings.Join(strings.Fields(render.Printable(diagnose.Redact(s))), " ")
}
