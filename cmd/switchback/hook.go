package main

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/plan"
)

type hookFlags struct {
	portPlace
	language string
}

func hookCommand(s streams, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{Use: "hook", Short: "Run as a hook of an agent: JSON in, JSON out",
		RunE: func(*cobra.Command, []string) error { return usage("the hook is missing; name test-feedback") }}
	var f hookFlags
	one := &cobra.Command{
		Use:   "test-feedback",
		Short: "Log the feedback of a tester, and pass it on to the agent",
		Long: `Read {"session_id": …, "payload": {"success": …, "failed_tests": […]}} from the standard input, log
a test_feedback event, and print the decision with one notification. In a worker of ` + "`port run`" + ` the
event is logged for its port, with --ledger and --port for the port they name. Otherwise it is
printed on the standard error as one line of JSON.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runHook(c.Context(), s, f, getenv) },
	}
	f.flags(one)
	one.Flags().StringVar(&f.port, "port", getenv("SWITCHBACK_PORT"), "the port")
	one.Flags().StringVar(&f.language, "language", "en", "en or ko")
	c.AddCommand(one)
	return c
}

// mostHook is how many bytes a hook reads at most.
const mostHook = 8 << 20

func runHook(ctx context.Context, s streams, f hookFlags, getenv func(string) string) error {
	if err := oneOf("--language", f.language, "en", "ko"); err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(s.in, mostHook+1))
	if err != nil {
		return failed(err)
	}
	if len(data) > mostHook {
		return unreadable("test-feedback: the input is larger than %d bytes", mostHook)
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

// logHook records the event in the stream of the port, or prints it if none is known.
func logHook(ctx context.Context, s streams, f hookFlags, getenv func(string) string, session string, fb plan.TestFeedback) error {
	switch url := getenv("SWITCHBACK_CHANNEL_URL"); {
	case f.ledger == "" && url != "":
		if _, err := worker.Ask(ctx, url, getenv("SWITCHBACK_CHANNEL_TOKEN"), "feedback", fb); err != nil {
			return failed(err)
		}
	case f.ledger != "":
		if f.port == "" {
			return usage("--port is missing; name the port that the event is logged for")
		}
		d, err := f.stream(ctx, getenv)
		if err != nil {
			return err
		}
		if err := d.Log(ctx, session, fb); err != nil {
			return failed(err)
		}
	default:
		printEvents(s)(plan.Event{Kind: plan.TestFeedbackLogged, At: time.Now(), Session: session, Port: f.port, Feedback: &fb})
	}
	return nil
}

// said is feedback that is safe to show: secrets are masked, and what is not printable is removed.
func said(f plan.TestFeedback) plan.TestFeedback {
	f.FailedTests = slices.Clone(f.FailedTests)
	for i := range f.FailedTests {
		t := &f.FailedTests[i]
		t.Name, t.SuggestedFix = markdown.Printable(diagnosis.Redact(t.Name)), markdown.Printable(diagnosis.Redact(t.SuggestedFix))
	}
	return f
}
