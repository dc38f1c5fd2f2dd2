package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
)

type channelFlags struct {
	portPlace
	channel, session, kind, payload, severity, text, task string
	progress                                              float64
	tokens                                                int64
}

// relayed reports whether this process is a worker of `port run`.
func (f channelFlags) relayed(getenv func(string) string) bool {
	return f.ledger == "" && getenv("SWITCHBACK_CHANNEL_URL") != ""
}

func ask(ctx context.Context, s streams, getenv func(string) string, what string, in any) error {
	out, err := worker.Ask(ctx, getenv("SWITCHBACK_CHANNEL_URL"), getenv("SWITCHBACK_CHANNEL_TOKEN"), what, in)
	if err != nil {
		return failed(err)
	}
	_, err = s.out.Write(out)
	return err
}

func channelCommand(s streams, getenv func(string) string) *cobra.Command {
	var f channelFlags
	c := &cobra.Command{
		Use:   "channel",
		Short: "Send messages between the workers of a port",
		Long: "In a worker of `switchback port run` no flag is needed to say who sends. Elsewhere --ledger, --port,\n" +
			"--channel and --session name the stream of a port, and the sender.",
		RunE: func(*cobra.Command, []string) error {
			return usage("the subcommand is missing; name send, receive, progress or escalate")
		},
	}
	send := &cobra.Command{Use: "send --type query [--payload JSON]", Short: "Send a message to the other worker", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runChannelSend(c.Context(), s, f, getenv) }}
	send.Flags().StringVar(&f.kind, "type", "query", "result, feedback or query")
	send.Flags().StringVar(&f.payload, "payload", "", "the message as JSON; - for the standard input")
	receive := &cobra.Command{Use: "receive", Short: "Print the messages that this worker has not received yet, as JSON", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runChannelReceive(c.Context(), s, f, getenv) }}
	progress := &cobra.Command{Use: "progress --progress 0.5 --task TEXT", Short: "Report the progress of this worker", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := plan.Progress{Session: f.session, Progress: f.progress, Task: f.task, Tokens: f.tokens}
			if err := p.Validate(); err != nil {
				return usage("%w", err)
			}
			if f.relayed(getenv) {
				return ask(c.Context(), s, getenv, "progress", p)
			}
			d, err := f.member(c.Context(), getenv)
			if err != nil {
				return err
			}
			if err := d.Progress(c.Context(), p); err != nil {
				return failed(err)
			}
			return nil
		}}
	progress.Flags().Float64Var(&f.progress, "progress", 0, "0.0 to 1.0")
	progress.Flags().StringVar(&f.task, "task", "", "the current task")
	progress.Flags().Int64Var(&f.tokens, "tokens", 0, "tokens used so far")
	call := &cobra.Command{Use: "escalate --type blocked --text TEXT", Short: "Stop the port and escalate it to a maintainer", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !f.relayed(getenv) {
				return usage("only a worker of `switchback port run` can escalate its port; SWITCHBACK_CHANNEL_URL is not set")
			}
			if strings.TrimSpace(f.text) == "" {
				return usage("--text is missing; say what a maintainer has to know")
			}
			return ask(c.Context(), s, getenv, "escalate", worker.Raised{Type: escalation.Type(f.kind), Severity: escalation.Severity(f.severity), Text: f.text})
		}}
	call.Flags().StringVar(&f.kind, "type", "blocked", "the type of the escalation")
	call.Flags().StringVar(&f.severity, "severity", "medium", "low, medium, high or critical")
	call.Flags().StringVar(&f.text, "text", "", "what a maintainer has to know (required)")
	for _, sub := range []*cobra.Command{send, receive, progress, call} {
		f.flags(sub)
		sub.Flags().StringVar(&f.port, "port", getenv("SWITCHBACK_PORT"), "the port")
		sub.Flags().StringVar(&f.channel, "channel", getenv("SWITCHBACK_CHANNEL"), "the channel")
		sub.Flags().StringVar(&f.session, "session", getenv("SWITCHBACK_SESSION"), "the session that sends or receives")
		c.AddCommand(sub)
	}
	return c
}

// member opens the stream of a port for a session outside of `port run`.
func (f channelFlags) member(ctx context.Context, getenv func(string) string) (*worker.Journal, error) {
	for name, v := range map[string]string{"--port": f.port, "--session": f.session} {
		if v == "" {
			return nil, usage("%s is missing; it can only be left out in a worker of `switchback port run`", name)
		}
	}
	return f.stream(ctx, getenv)
}

func runChannelSend(ctx context.Context, s streams, f channelFlags, getenv func(string) string) error {
	payload := f.payload
	if payload == "-" {
		data, err := io.ReadAll(io.LimitReader(s.in, 2<<20))
		if err != nil {
			return failed(err)
		}
		payload = string(data)
	}
	if payload != "" && !json.Valid([]byte(payload)) {
		return usage("--payload is not JSON: %.80q", payload)
	}
	kind := plan.MessageType(f.kind)
	if f.relayed(getenv) {
		return ask(ctx, s, getenv, "send", worker.Sent{Type: kind, Payload: json.RawMessage(payload)})
	}
	d, err := f.member(ctx, getenv)
	if err != nil {
		return err
	}
	m, err := d.Send(ctx, plan.Message{ChannelID: f.channel, From: f.session, Type: kind, Payload: json.RawMessage(payload)})
	if err != nil {
		return failed(fmt.Errorf("not sent: %w", err))
	}
	return printJSON(s, m)
}

func runChannelReceive(ctx context.Context, s streams, f channelFlags, getenv func(string) string) error {
	if f.relayed(getenv) {
		return ask(ctx, s, getenv, "receive", struct{}{})
	}
	d, err := f.member(ctx, getenv)
	if err != nil {
		return err
	}
	got, err := d.Receive(ctx, f.channel, f.session)
	if err != nil {
		return failed(err)
	}
	if got == nil {
		got = []plan.Message{}
	}
	return printJSON(s, got)
}
