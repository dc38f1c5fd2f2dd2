package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing"
	edge "github.com/switchback-ci/switchback/routing/plan/feedback"
)

type feedbackFlags struct {
	ledger, plan, ports, build, repo, output string

	relayed bool // a worker of `port run`: it asks the process that runs it

	from, to, kind, message, priority, fix, action, info, trace, key string // send
	artifacts                                                        []string

	text, summary string // answer, done
	files         []string
	failed        bool

	status, typ string // list
	audit       bool
}

func feedbackCommand(s streams, getenv func(string) string) *cobra.Command {
	var f feedbackFlags
	c := &cobra.Command{Use: "feedback", Short: "Send feedback from a node of a plan to an earlier one, and see what became of it",
		RunE: func(*cobra.Command, []string) error {
			return usage("name send, receive, answer, done, withdraw, list or stats")
		}}
	send, receive, answer := sendCommand(s, &f, getenv), receiveCommand(s, &f, getenv), answerCommand(s, &f, getenv)
	done, withdraw, list, stats := doneCommand(s, &f), withdrawCommand(s, &f), listCommand(s, &f), statsCommand(s, &f)
	for _, sub := range []*cobra.Command{send, receive, answer, done, withdraw, list, stats} {
		fl := sub.Flags()
		fl.StringVar(&f.ledger, "ledger", ".switchback/ledger", ledgerHelp)
		fl.StringVar(&f.build, "build", getenv("SWITCHBACK_BUILD"), "the build of the plan, whose rounds count for themselves (default $SWITCHBACK_BUILD, else the newest that the ledger knows)")
		fl.StringVar(&f.plan, "plan", "ports", "the plan: its name in the ledger, or its path, a folder of ports or a JSON file of nodes")
		fl.StringVar(&f.ports, "ports", "", "the plan's path, where --plan is its name; default: ports.path of the configuration")
		fl.StringVar(&f.repo, "repo", orDefault(getenv("GITHUB_REPOSITORY"), "local/local"), "the repository, owner/name")
		fl.StringVarP(&f.output, "output", "o", "text", "text or json")
		sub.PreRunE = func(c *cobra.Command, _ []string) error {
			f.relayed = !c.Flags().Changed("ledger") && getenv("SWITCHBACK_CHANNEL_URL") != ""
			return f.place()
		}
		c.AddCommand(sub)
	}
	return c
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

func sendCommand(s streams, f *feedbackFlags, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{
		Use:   "send [FILE|-]",
		Short: "Queue feedback for an ancestor: a JSON message, or one made of flags",
		Long: `Queue feedback for a node that the sender depends on, a parent of it, or the root.
The message is a JSON file, the standard input (-), or made of flags. A worker of a
port need name neither itself nor a plan or a ledger.

  switchback feedback send --from test-payment --to create-payment --type FIX_REQUEST \
    --message "email may be empty" --fix "validate that email is there" --artifact spec/payment_spec.rb:42

Two rounds are allowed from one node to another, and chains of three; what is refused
is recorded as rejected, and the exit code is 1.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range messageFlags {
				if len(args) == 1 && c.Flags().Changed(name) {
					return usage("--%s belongs into the message of %s; give a message as a file or by flags, not both", name, sourceName(args[0]))
				}
			}
			return runSend(c.Context(), s, *f, args, getenv)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.from, "from", getenv("SWITCHBACK_PORT"), "the node that sends (default $SWITCHBACK_PORT)")
	fl.StringVar(&f.to, "to", "", "the node that is to receive it")
	fl.StringVar(&f.kind, "type", "", "FIX_REQUEST, CONTEXT_REQUEST, DEPENDENCY_MISSING or ARCHITECTURE_ISSUE")
	fl.StringVar(&f.message, "message", "", "what is wrong")
	fl.StringVar(&f.priority, "priority", "medium", "critical, high, medium or low")
	fl.StringVar(&f.fix, "fix", "", "suggested_fix")
	fl.StringVar(&f.action, "action", "", "suggested_action")
	fl.StringVar(&f.info, "info", "", "requested_info")
	fl.StringVar(&f.trace, "trace", "", "a file with the trace of the failure")
	fl.StringVar(&f.key, "key", "", "names the sending: what was sent under it is not sent again")
	fl.StringArrayVar(&f.artifacts, "artifact", nil, "a place, path:line or path:line-line (several times)")
	return c
}

// messageFlags make up a message.
var messageFlags = []string{"from", "to", "type", "message", "priority", "fix", "action", "info", "trace", "key", "artifact"}

func runSend(ctx context.Context, s streams, f feedbackFlags, args []string, getenv func(string) string) error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	data, err := messageOf(s, f, args)
	if err != nil {
		return err
	}
	out, err := sendMessage(ctx, f, data, getenv)
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		return exit
	}
	if err != nil {
		return failed(err)
	}
	if f.output == "json" {
		if err := printJSON(s, out); err != nil {
			return err
		}
	} else if out.Refusal == nil {
		fmt.Fprintf(s.out, "%s %s at %s, round %d of %d\n", out.ID, out.Status, out.At.Format(time.RFC3339), out.Round, edge.MaxRounds)
	}
	if out.Refusal == nil {
		return nil
	}
	for _, l := range out.Refusal.Lines() {
		fmt.Fprintln(s.err, "switchback:", plain(l))
	}
	if e := out.Escalation; e != nil && e.Node != "" {
		fmt.Fprintf(s.err, "switchback: escalated to %s as %s\n", plain(e.Node), e.Feedback)
	} else if e != nil {
		fmt.Fprintln(s.err, "switchback: a human has to decide")
	}
	return &exitError{code: 1}
}

func sendMessage(ctx context.Context, f feedbackFlags, data []byte, getenv func(string) string) (requests.Sent, error) {
	var out requests.Sent
	if f.relayed {
		return out, relay(ctx, getenv, "edges/send", data, &out)
	}
	g, err := readPlan(f.path())
	if err != nil {
		return out, err
	}
	led, err := openLedger(ctx, f.ledger)
	if err != nil {
		return out, err
	}
	book, err := f.book(ctx, led)
	if err != nil {
		return out, err
	}
	book.Plan = g
	return book.Send(ctx, data)
}

// relay asks the process that runs the worker in which this is.
func relay(ctx context.Context, getenv func(string) string, what string, in, out any) error {
	data, err := worker.Ask(ctx, getenv("SWITCHBACK_CHANNEL_URL"), getenv("SWITCHBACK_CHANNEL_TOKEN"), what, in)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

// messageOf returns the message as JSON.
func messageOf(s streams, f feedbackFlags, args []string) ([]byte, error) {
	if len(args) == 1 {
		r, err := open(s, args[0])
		if err != nil {
			return nil, failed(err)
		}
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, 2<<20)) // the parser refuses less
		if err != nil {
			return nil, failed(err)
		}
		return data, nil
	}
	m := map[string]any{"from_node": f.from, "to_node": f.to, "feedback_type": f.kind, "message": f.message, "priority": f.priority,
		"suggested_fix": f.fix, "suggested_action": f.action, "requested_info": f.info, "key": f.key}
	if len(f.artifacts) > 0 {
		m["artifacts"] = f.artifacts
	}
	if f.trace != "" {
		data, err := os.ReadFile(f.trace)
		if err != nil {
			return nil, failed(err)
		}
		m["trace"] = string(data[max(0, len(data)-64<<10):]) // of which less is kept
	}
	return json.Marshal(m)
}

func receiveCommand(s streams, f *feedbackFlags, getenv func(string) string) *cobra.Command {
	return &cobra.Command{
		Use:   "receive [NODE]",
		Short: "Print the feedback that a node is to act on, and the answers to its questions, as JSON",
		Long: `Deliver what is queued for a node and print it, with the answers to the node's own
questions, as one JSON object. It is printed again until it is noted as done, so that
a run that is lost loses nothing. A worker of a port is given what its port runs for.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			node := getenv("SWITCHBACK_PORT")
			if len(args) == 1 {
				node = args[0]
			}
			switch {
			case f.relayed && node != getenv("SWITCHBACK_PORT"):
				return usage("a worker of port %s receives what is for that port; name none, or a ledger with --ledger", getenv("SWITCHBACK_PORT"))
			case node == "":
				return usage("name the node that is to receive")
			}
			return runReceive(c.Context(), s, *f, node, getenv)
		},
	}
}

func runReceive(ctx context.Context, s streams, f feedbackFlags, node string, getenv func(string) string) error {
	var out requests.Received
	if f.relayed {
		if err := relay(ctx, getenv, "edges/receive", struct{}{}, &out); err != nil {
			return failed(err)
		}
		return printJSON(s, out)
	}
	led, err := openExisting(ctx, f.ledger)
	if err != nil {
		return err
	}
	book, err := f.book(ctx, led)
	if err == nil {
		out, err = book.Receive(ctx, node)
	}
	if err != nil {
		return failed(err)
	}
	return printJSON(s, out)
}

func answerCommand(s streams, f *feedbackFlags, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{
		Use:   "answer ID --text TEXT",
		Short: "Answer a CONTEXT_REQUEST; the sender then runs again with the answer",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.relayed {
				var x edge.Record
				if err := relay(c.Context(), getenv, "edges/answer", worker.AnswerGiven{ID: args[0], Text: f.text, Files: f.files}, &x); err != nil {
					return failed(err)
				}
				return say(s, x)
			}
			return note(c.Context(), s, *f, args[0], func(r edge.Register, _ edge.Record) ([]routing.Event, error) {
				return r.Answer(args[0], f.text, f.files, time.Now())
			})
		},
	}
	c.Flags().StringVar(&f.text, "text", "", "the answer (required)")
	c.Flags().StringArrayVar(&f.files, "file", nil, "a file that it is about (several times)")
	return c
}

func doneCommand(s streams, f *feedbackFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "done ID [--failed]",
		Short: "Note what the run of the target came to, and then that of the sender that verifies",
		Long: `Note what a run came to. While a feedback is processed that is the target's run: if it
passed the sender is to run again, if it failed so has the feedback. While it is being
verified it is the sender's: if it passed the feedback is resolved, if it failed the
second round begins, or the feedback is escalated.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := readPlan(f.path())
			if err != nil {
				return failed(err)
			}
			o := edge.Outcome{OK: !f.failed, Summary: f.summary, Files: f.files}
			if f.failed {
				o.Summary, o.Trace = "", f.summary
			}
			return note(c.Context(), s, *f, args[0], func(r edge.Register, x edge.Record) ([]routing.Event, error) {
				if x.Status == edge.Verifying {
					return r.Verified(g, x.ID, o, time.Now())
				}
				return r.Processed(g, x.ID, o, time.Now())
			})
		},
	}
	c.Flags().BoolVar(&f.failed, "failed", false, "the run failed")
	c.Flags().StringVar(&f.summary, "summary", "", "what was done, or what failed")
	c.Flags().StringArrayVar(&f.files, "file", nil, "a file that was changed (several times)")
	return c
}

func withdrawCommand(s streams, f *feedbackFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "withdraw ID --why TEXT",
		Short: "End feedback that cannot go on, as when its target is no longer in the plan",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return note(c.Context(), s, *f, args[0], func(r edge.Register, _ edge.Record) ([]routing.Event, error) {
				return r.Withdraw(args[0], f.text, time.Now())
			})
		},
	}
	c.Flags().StringVar(&f.text, "why", "", "the reason (required)")
	return c
}

// note changes one feedback and says what became of it.
func note(ctx context.Context, s streams, f feedbackFlags, id string, fn func(edge.Register, edge.Record) ([]routing.Event, error)) error {
	led, err := openExisting(ctx, f.ledger)
	if err != nil {
		return err
	}
	book, err := f.book(ctx, led)
	if err != nil {
		return failed(err)
	}
	r, err := book.Change(ctx, func(r edge.Register) ([]routing.Event, error) {
		x, ok := r.ByID(id)
		if !ok {
			return nil, fmt.Errorf("%s: %w; `switchback feedback list` names those there are", id, edge.ErrUnknown)
		}
		return fn(r, x)
	})
	if err != nil {
		return failed(err)
	}
	x, _ := r.ByID(id)
	return say(s, x)
}

// say prints what became of a feedback.
func say(s streams, x edge.Record) error {
	fmt.Fprintf(s.out, "%s %s, round %d of %d\n", x.ID, x.Status, x.Round, edge.MaxRounds)
	if e := x.Escalated; e != nil && e.Node != "" {
		fmt.Fprintf(s.out, "escalated to %s as %s\n", plain(e.Node), e.Feedback)
	} else if e != nil {
		fmt.Fprintln(s.out, "a human has to decide")
	}
	return nil
}

var errOutput = errors.New("--output is text or json")

func checkOutput(o string) error {
	if !slices.Contains([]string{"text", "json"}, o) {
		return usage("%w", errOutput)
	}
	return nil
}
