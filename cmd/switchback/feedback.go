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

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	edge "github.com/switchback-ci/switchback/routing/feedback"
)

type feedbackFlags struct {
	ledger, plan, build, repo, output string

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
	send, receive, answer := sendCommand(s, &f, getenv), receiveCommand(s, &f), answerCommand(s, &f)
	done, withdraw, list, stats := doneCommand(s, &f), withdrawCommand(s, &f), listCommand(s, &f), statsCommand(s, &f)
	for _, sub := range []*cobra.Command{send, receive, answer, done, withdraw, list, stats} {
		fl := sub.Flags()
		fl.StringVar(&f.ledger, "ledger", ".switchback/ledger", ledgerHelp)
		fl.StringVar(&f.build, "build", getenv("SWITCHBACK_BUILD"), "the build of the plan, whose rounds count for themselves (default $SWITCHBACK_BUILD)")
		fl.StringVar(&f.repo, "repo", orDefault(getenv("GITHUB_REPOSITORY"), "local/local"), "the repository, owner/name")
		fl.StringVarP(&f.output, "output", "o", "text", "text or json")
		c.AddCommand(sub)
	}
	for _, sub := range []*cobra.Command{send, done} {
		sub.Flags().StringVar(&f.plan, "plan", "ports", "the plan: a folder of ports, or a JSON file of nodes")
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
The message is a JSON file, the standard input (-), or made of flags:

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
			return runSend(c.Context(), s, *f, args)
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

// sent is what send prints as JSON.
type sent struct {
	ID         string           `json:"feedback_id"`
	Status     edge.Status      `json:"status"`
	Round      int              `json:"round"`
	Refusal    *edge.Refusal    `json:"refusal,omitempty"`
	Escalation *edge.Escalation `json:"escalation,omitempty"`
}

func runSend(ctx context.Context, s streams, f feedbackFlags, args []string) error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	data, err := messageOf(s, f, args)
	if err != nil {
		return err
	}
	g, err := readPlan(f.plan)
	if err != nil {
		return failed(err)
	}
	led, err := openLedger(ctx, f.ledger)
	if err != nil {
		return err
	}
	var out edge.Sent
	now := time.Now()
	_, err = changeEdges(ctx, led, f, func(r edge.Register) (_ []routing.Event, err error) {
		out, err = r.SendJSON(f.build, g, data, now)
		return out.Events, err
	})
	if err != nil {
		return failed(err)
	}
	if f.output == "json" {
		if err := printJSON(s, sent{out.ID, out.Status, out.Round, out.Refusal, out.Escalation}); err != nil {
			return err
		}
	} else if out.Refusal == nil {
		fmt.Fprintf(s.out, "%s %s at %s, round %d of %d\n", out.ID, out.Status, now.UTC().Format(time.RFC3339), out.Round, edge.MaxRounds)
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

// changeEdges changes the register of edges and returns it.
func changeEdges(ctx context.Context, led ledger.Ledger, f feedbackFlags, fn func(edge.Register) ([]routing.Event, error)) (edge.Register, error) {
	events, err := ledger.Change(ctx, led, routing.RegisterKey(f.repo, routing.RegisterEdges), func(old []routing.Event) ([]routing.Event, error) {
		r, err := edge.FoldEdges(old)
		if err != nil {
			return nil, err
		}
		return fn(r)
	})
	if err != nil {
		return edge.Register{}, err
	}
	return edge.FoldEdges(events)
}

func receiveCommand(s streams, f *feedbackFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "receive NODE",
		Short: "Print the feedback that a node is to act on, and the answers to its questions, as JSON",
		Long: `Deliver what is queued for a node and print it, with the answers to the node's own
questions, as one JSON object. It is printed again until it is noted as done, so that
a run that is lost loses nothing.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runReceive(c.Context(), s, *f, args[0]) },
	}
}

// received is what receive prints.
type received struct {
	Feedback []edge.Handover `json:"feedback"`
	Answers  []edge.Answered `json:"answers"`
}

func runReceive(ctx context.Context, s streams, f feedbackFlags, node string) error {
	led, err := openExisting(ctx, f.ledger)
	if err != nil {
		return err
	}
	r, err := changeEdges(ctx, led, f, func(r edge.Register) ([]routing.Event, error) { return r.Receive(f.build, node, time.Now()) })
	if err != nil {
		return failed(err)
	}
	out := received{Feedback: r.For(f.build, node), Answers: r.Answers(f.build, node)}
	if out.Feedback == nil {
		out.Feedback = []edge.Handover{}
	}
	if out.Answers == nil {
		out.Answers = []edge.Answered{}
	}
	return printJSON(s, out)
}

func answerCommand(s streams, f *feedbackFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "answer ID --text TEXT",
		Short: "Answer a CONTEXT_REQUEST; the sender then runs again with the answer",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
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
			g, err := readPlan(f.plan)
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
	r, err := changeEdges(ctx, led, f, func(r edge.Register) ([]routing.Event, error) {
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
