package main

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/redact"
)

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
	if len(data) > mostHook {
		return unreadable("test-feedback: the input has more than %d bytes", mostHook)
	}
	in, fb, err := plan.ParseHook(data)
	if err != nil {
		return unreadable("test-feedback: %w", err)
	}
	if err := logHook(ctx, s, f, getenv, in.SessionID, fb); err != nil {
		return err
	}
	return printJSON(s, said(fb).Answer(f.language))
}

// logHook records the event where there is a journal, else prints it.
func logHook(ctx context.Context, s streams, f hookFlags, getenv func(string) string, session string, fb plan.TestFeedback) error {
	switch url := getenv("SWITCHBACK_CHANNEL_URL"); {
	case f.ledger == "" && url != "":
		if _, err := worker.Ask(ctx, url, getenv("SWITCHBACK_CHANNEL_TOKEN"), "feedback", fb); err != nil {
			return failed(err)
		}
	case f.ledger != "":
		if f.port == "" {
			return usage("--port is missing; it names the journal that the event goes to")
		}
		d, err := f.desk(ctx, getenv)
		if err != nil {
			return err
		}
		if err := d.Log(ctx, session, fb); err != nil {
			return failed(err)
		}
	default:
		teller(s)(plan.Event{Kind: plan.TestFeedbackLogged, At: time.Now(), Session: session, Port: f.port, Feedback: &fb})
	}
	return nil
}

// said is feedback as it may be shown: without secrets and what is not text.
func said(f plan.TestFeedback) plan.TestFeedback {
	f.FailedTests = slices.Clone(f.FailedTests)
	for i := range f.FailedTests {
		t := &f.FailedTests[i]
		t.Name, t.SuggestedFix = render.Printable(redact.Text(t.Name)), render.Printable(redact.Text(t.SuggestedFix))
	}
	return f
}
