package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

type feedbackFlags struct {
	ledger, plan, ports, build, repo, output string

	relayed bool // in a worker of `port run`, which sends requests to the process that runs it

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
	c := &cobra.Command{Use: "feedback", Short: "Send feedback requests from one node of a plan to an earlier one",
		RunE: func(*cobra.Command, []string) error {
			return usage("the subcommand is missing; name send, receive, answer, done, withdraw, list or stats")
		}}
	send, receive, answer := feedbackSend(s, &f, getenv), feedbackReceive(s, &f, getenv), feedbackAnswer(s, &f, getenv)
	done, withdraw, list, stats := feedbackDone(s, &f), feedbackWithdraw(s, &f), feedbackList(s, &f), feedbackStats(s, &f)
	for _, sub := range []*cobra.Command{send, receive, answer, done, withdraw, list, stats} {
		fl := sub.Flags()
		fl.StringVar(&f.ledger, "ledger", ".switchback/ledger", ledgerHelp)
		fl.StringVar(&f.build, "build", getenv("SWITCHBACK_BUILD"), "the build of the plan; each build counts its own rounds (default $SWITCHBACK_BUILD, else the newest build in the ledger)")
		fl.StringVar(&f.plan, "plan", "ports", "the plan: its name in the ledger, or its path: a directory of ports or a JSON file of nodes")
		fl.StringVar(&f.ports, "ports", "", "the path of the plan if --plan is its name; default: ports.path of the configuration")
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

func feedbackSend(s streams, f *feedbackFlags, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{
		Use:   "send [FILE|-]",
		Short: "Send a feedback request to an ancestor",
		Long: `Queue a feedback request for a node that the sender depends on, for a parent of it, or for the
root. The message is a JSON file, the standard input (-), or made of flags. In a worker of a port,
the sender, the plan and the ledger are known and need no flag.

  switchback feedback send --from test-payment --to create-payment --type FIX_REQUEST \
    --message "email may be empty" --fix "validate that email is there" \
    --artifact spec/payment_spec.rb:42

At most two rounds from one node to another and chains of three requests are accepted. A request
beyond that is recorded as rejected, and the exit code is 1.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range messageFlags {
				if len(args) == 1 && c.Flags().Changed(name) {
					return usage("--%s cannot be combined with a message from %s; give the message as a file or by flags", name, sourceName(args[0]))
				}
			}
			return runSend(c.Context(), s, *f, args, getenv)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.from, "from", getenv("SWITCHBACK_PORT"), "the node that sends (default $SWITCHBACK_PORT)")
	fl.StringVar(&f.to, "to", "", "the node that receives the request")
	fl.StringVar(&f.kind, "type", "", "FIX_REQUEST, CONTEXT_REQUEST, DEPENDENCY_MISSING or ARCHITECTURE_ISSUE")
	fl.StringVar(&f.message, "message", "", "what is wrong")
	fl.StringVar(&f.priority, "priority", "medium", "critical, high, medium or low")
	fl.StringVar(&f.fix, "fix", "", "the suggested fix")
	fl.StringVar(&f.action, "action", "", "the suggested action")
	fl.StringVar(&f.info, "info", "", "the information that is requested")
	fl.StringVar(&f.trace, "trace", "", "a file with the trace of the failure")
	fl.StringVar(&f.key, "key", "", "an idempotency key: a request with the same key is sent once")
	fl.StringArrayVar(&f.artifacts, "artifact", nil, "a place in a file, path:line or path:line-line; may be repeated")
	return c
}

// messageFlags are the flags that make up a message.
var messageFlags = []string{"from", "to", "type", "message", "priority", "fix", "action", "info", "trace", "key", "artifact"}

func runSend(ctx context.Context, s streams, f feedbackFlags, args []string, getenv func(string) string) error {
	if err := oneOf("-o", f.output, "text", "json"); err != nil {
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
		fmt.Fprintf(s.out, "%s %s at %s, round %d of %d\n", out.ID, out.Status, out.At.Format(time.RFC3339), out.Round, feedback.MaxRounds)
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
		fmt.Fprintln(s.err, "switchback: a maintainer has to decide")
	}
	return &exitError{code: 1}
}

func sendMessage(ctx context.Context, f feedbackFlags, data []byte, getenv func(string) string) (requests.Sent, error) {
	var out requests.Sent
	if f.relayed {
		return out, relay(ctx, getenv, "requests/send", data, &out)
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

// relay sends a request to the process that runs this worker.
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
		m["trace"] = string(data[max(0, len(data)-64<<10):]) // the record keeps less
	}
	return json.Marshal(m)
}

func feedbackReceive(s streams, f *feedbackFlags, getenv func(string) string) *cobra.Command {
	return &cobra.Command{
		Use:   "receive [NODE]",
		Short: "Print the requests and answers for a node, as JSON",
		Long: `Deliver the requests that are queued for a node, and print them with the answers to the node's own
questions as one JSON object. They are printed again until they are marked as done, so that a run
that is lost loses nothing. A worker of a port receives the requests that its port runs for.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			node := getenv("SWITCHBACK_PORT")
			if len(args) == 1 {
				node = args[0]
			}
			switch {
			case f.relayed && node != getenv("SWITCHBACK_PORT"):
				return usage("a worker of port %s receives the requests for that port; leave the node out, or name a ledger with --ledger", getenv("SWITCHBACK_PORT"))
			case node == "":
				return usage("the node is missing; name the node that receives")
			}
			return runReceive(c.Context(), s, *f, node, getenv)
		},
	}
}

func runReceive(ctx context.Context, s streams, f feedbackFlags, node string, getenv func(string) string) error {
	var out requests.Received
	if f.relayed {
		if err := relay(ctx, getenv, "requests/receive", struct{}{}, &out); err != nil {
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

func feedbackAnswer(s streams, f *feedbackFlags, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{
		Use:   "answer ID --text TEXT",
		Short: "Answer a CONTEXT_REQUEST; its sender runs again with the answer",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.relayed {
				var x feedback.Record
				if err := relay(c.Context(), getenv, "requests/answer", worker.AnswerGiven{ID: args[0], Text: f.text, Files: f.files}, &x); err != nil {
					return failed(err)
				}
				return say(s, x)
			}
			return note(c.Context(), s, *f, args[0], func(r feedback.State, _ feedback.Record) ([]routing.Event, error) {
				return r.Lifecycle(nil, time.Now()).Answer(args[0], f.text, f.files)
			})
		},
	}
	c.Flags().StringVar(&f.text, "text", "", "the answer (required)")
	c.Flags().StringArrayVar(&f.files, "file", nil, "a file that the answer is about; may be repeated")
	return c
}

func feedbackDone(s streams, f *feedbackFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "done ID [--failed]",
		Short: "Record the result of the target's run, or of the sender's run that verifies it",
		Long: `Record the result of a run. While a request is being processed, that is the target's run: if it
passed, the sender has to run again; if it failed, the request has failed. While the request is
being verified, it is the sender's run: if it passed, the request is resolved; if it failed, the
second round begins, or the request is escalated.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := readPlan(f.path())
			if err != nil {
				return failed(err)
			}
			o := feedback.Outcome{OK: !f.failed, Summary: f.summary, Files: f.files}
			if f.failed {
				o.Summary, o.Trace = "", f.summary
			}
			return note(c.Context(), s, *f, args[0], func(r feedback.State, x feedback.Record) ([]routing.Event, error) {
				if x.Status == feedback.Verifying {
					return r.Lifecycle(g, time.Now()).Verified(x.ID, o)
				}
				return r.Lifecycle(g, time.Now()).Processed(x.ID, o)
			})
		},
	}
	c.Flags().BoolVar(&f.failed, "failed", false, "the run failed")
	c.Flags().StringVar(&f.summary, "summary", "", "what was done, or what failed")
	c.Flags().StringArrayVar(&f.files, "file", nil, "a file that was changed; may be repeated")
	return c
}

func feedbackWithdraw(s streams, f *feedbackFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "withdraw ID --why TEXT",
		Short: "End a request that cannot be processed any more",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return note(c.Context(), s, *f, args[0], func(r feedback.State, _ feedback.Record) ([]routing.Event, error) {
				return r.Lifecycle(nil, time.Now()).Withdraw(args[0], f.text)
			})
		},
	}
	c.Flags().StringVar(&f.text, "why", "", "the reason (required)")
	return c
}

// note changes one request and prints its new state.
func note(ctx context.Context, s streams, f feedbackFlags, id string, fn func(feedback.State, feedback.Record) ([]routing.Event, error)) error {
	led, err := openExisting(ctx, f.ledger)
	if err != nil {
		return err
	}
	book, err := f.book(ctx, led)
	if err != nil {
		return failed(err)
	}
	r, err := book.Change(ctx, func(r feedback.State) ([]routing.Event, error) {
		x, ok := r.ByID(id)
		if !ok {
			return nil, fmt.Errorf("%s: %w; `switchback feedback list` lists the ids", id, feedback.ErrUnknown)
		}
		return fn(r, x)
	})
	if err != nil {
		return failed(err)
	}
	x, _ := r.ByID(id)
	return say(s, x)
}

// say prints the state of a request.
func say(s streams, x feedback.Record) error {
	fmt.Fprintf(s.out, "%s %s, round %d of %d\n", x.ID, x.Status, x.Round, feedback.MaxRounds)
	if e := x.Escalated; e != nil && e.Node != "" {
		fmt.Fprintf(s.out, "escalated to %s as %s\n", plain(e.Node), e.Feedback)
	} else if e != nil {
		fmt.Fprintln(s.out, "a maintainer has to decide")
	}
	return nil
}

func feedbackList(s streams, f *feedbackFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the requests of a build, or the audit trail of all builds",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runList(c.Context(), s, *f) },
	}
	c.Flags().StringVar(&f.status, "status", "", "only requests in this state: "+listed(feedback.Statuses()))
	c.Flags().StringVar(&f.typ, "type", "", "only requests of this type: "+listed(feedback.Types()))
	c.Flags().BoolVar(&f.audit, "audit", false, "print every change in all builds instead, one JSON document per line")
	return c
}

func runList(ctx context.Context, s streams, f feedbackFlags) error {
	if err := oneOf("-o", f.output, "text", "json"); err != nil {
		return err
	}
	status, ok := feedback.ParseStatus(f.status)
	if f.status != "" && !ok {
		return usage("--status is %q; it must be one of %s", f.status, listed(feedback.Statuses()))
	}
	if f.typ != "" && !feedback.Type(f.typ).Valid() {
		return usage("--type is %q; it must be one of %s", f.typ, listed(feedback.Types()))
	}
	events, err := edgeEvents(ctx, &f)
	if err != nil {
		return err
	}
	if f.audit {
		return printAudit(s, events)
	}
	all, err := recordsOf(f, events)
	if err != nil {
		return err
	}
	kept := []feedback.Record{}
	for _, x := range all {
		if (f.status == "" || x.Status == status) && (f.typ == "" || x.Message.Type == feedback.Type(f.typ)) {
			kept = append(kept, x)
		}
	}
	if f.output == "json" {
		return printJSON(s, kept)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, x := range kept {
		m := x.Message
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s → %s\t%s\n", x.ID, x.Status, x.Round, x.Priority, plain(string(m.Type)), plain(m.From), plain(m.To), plain(m.Text))
	}
	return failedIf(w.Flush())
}

func printAudit(s streams, events []routing.Event) error {
	lines, err := feedback.Audit(events)
	if err != nil {
		return failed(err)
	}
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return failed(err)
		}
	}
	return nil
}

// edgeEvents returns the events of the stream of feedback requests.
func edgeEvents(ctx context.Context, f *feedbackFlags) ([]routing.Event, error) {
	led, err := openExisting(ctx, f.ledger)
	if err != nil {
		return nil, err
	}
	book, err := f.book(ctx, led)
	if err != nil {
		return nil, failed(err)
	}
	f.build = book.Build
	events, _, err := led.Load(ctx, routing.StreamKey(f.repo, routing.StreamFeedbackRequests))
	if err != nil {
		return nil, failed(err)
	}
	return events, nil
}

// recordsOf returns the requests of the build.
func recordsOf(f feedbackFlags, events []routing.Event) ([]feedback.Record, error) {
	r, err := feedback.Fold(events)
	if err != nil {
		return nil, failed(err)
	}
	var out []feedback.Record
	for _, x := range r.Records {
		if x.Plan == f.build {
			out = append(out, x)
		}
	}
	return out, nil
}

func feedbackStats(s streams, f *feedbackFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Count the requests of a build, with success rate and average rounds",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runStats(c.Context(), s, *f) },
	}
}

func runStats(ctx context.Context, s streams, f feedbackFlags) error {
	if err := oneOf("-o", f.output, "text", "json"); err != nil {
		return err
	}
	events, err := edgeEvents(ctx, &f)
	if err != nil {
		return err
	}
	all, err := recordsOf(f, events)
	if err != nil {
		return err
	}
	st := feedback.StatsOf(all)
	if f.output == "json" {
		return printJSON(s, st)
	}
	for _, t := range feedback.Types() {
		fmt.Fprintf(s.out, "%-19s %d\n", t, st.ByType[t])
	}
	_, err = fmt.Fprintf(s.out, "Rejected: %d\nOpen: %d\nFeedback success rate: %s\nAverage rounds: %s\n", st.Rejected, st.Open, st.Success(), st.Average())
	return failedIf(err)
}

// planFile is a plan as JSON.
type planFile struct {
	Root  string `json:"root"`
	Nodes []struct {
		ID string `json:"id"`
		feedback.Links
	} `json:"nodes"`
}

// place reads --plan: a path if there is such a file or directory, else a name in the ledger.
func (f *feedbackFlags) place() error {
	if f.ports == "" {
		if name, file := planNamed(f.plan); file != "" {
			f.plan, f.ports = name, file
		} else if _, err := os.Stat(f.plan); err == nil {
			f.plan, f.ports = planfile.Name(f.plan), f.plan
		}
	}
	if !planName.MatchString(f.plan) {
		return usage("--plan is %q; it must be a path, or a name of at most 100 letters, digits, dots, underscores and hyphens", f.plan)
	}
	return nil
}

// path is the path of the plan.
func (f *feedbackFlags) path() string {
	if f.ports != "" {
		return f.ports
	}
	if cfg, err := configOr(""); err == nil {
		return cfg.PlanPath()
	}
	return "ports"
}

// book returns the requests of the build that --build names, else of the newest build of the plan,
// else those that belong to no build.
func (f *feedbackFlags) book(ctx context.Context, led ledger.Ledger) (requests.Store, error) {
	b := requests.Store{Ledger: led, Repo: f.repo, Build: f.build, Plan: feedback.Nodes{Top: feedback.DefaultRoot}, Now: time.Now}
	if f.build == "" {
		var err error
		b.Build, err = feedbackOf(ctx, led, f.repo, f.plan, "")
		return b, err
	}
	r, err := b.State(ctx)
	if err != nil {
		return b, err
	}
	// --build may leave out the name of the plan.
	if full := requests.Of(f.plan, f.build); !r.Of(f.build).Any() && r.Of(full).Any() {
		b.Build = full
	}
	return b, nil
}

// readPlan returns the graph of a plan: ports, or a JSON file of nodes.
func readPlan(name string) (feedback.Graph, error) {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no plan at %s; name it with --plan", name)
	} else if err != nil {
		return nil, fmt.Errorf("the plan: %w", err)
	}
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return readNodes(name)
	}
	p, err := planfile.Load(name)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func readNodes(name string) (feedback.Graph, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var p planFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	g := feedback.Nodes{Top: orDefault(p.Root, feedback.DefaultRoot), Links: map[string]feedback.Links{}}
	for _, n := range p.Nodes {
		if _, twice := g.Links[n.ID]; twice || n.ID == "" {
			return nil, fmt.Errorf("%s: node %q is listed twice, or has no id", name, n.ID)
		}
		g.Links[n.ID] = n.Links
	}
	return g, nil
}
