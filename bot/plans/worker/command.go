package worker

import (
	"bufio"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/redact"
)

// commandRunner runs workers that are commands.
type commandRunner struct {
	plan, build string
	spec        plan.Spec
	root        string // where commands run
	env         []string
	grace       time.Duration // between the signals that ask a worker to end and that end it
	rules       *diagnosis.Rules
	criteria    config.Criteria
	language    string
	now         func() time.Time
	relay       *relay
	raises      chan raising // what the workers escalate
}

type raising struct {
	session string
	Raised
	answer chan error
}

// commands returns what runs the commands of the port; build is how a worker names the build.
func (p *Pair) commands(build string) commandRunner {
	return commandRunner{
		plan: p.Plan, build: build, spec: p.Spec, root: p.Root, env: p.Env, grace: p.Grace, rules: p.Rules, criteria: p.Criteria, language: p.Language,
		now: p.Journal.Now, raises: make(chan raising),
	}
}

// run runs the command of a turn.
func (c commandRunner) run(ctx context.Context, l plan.Loop, role plan.Role, t turnFiles, mark string) worked {
	return c.watch(ctx, l, role, t, Command{Lines: commandOf(c.spec, role).Run, Dir: c.root, Env: c.environment(l, role, t), Mark: mark, Grace: c.grace})
}

// environment returns the environment of a worker: the one it was given without
// what the program and GitHub's runner keep for themselves, then the port's, then
// what the worker is told.
func (c commandRunner) environment(l plan.Loop, role plan.Role, t turnFiles) []string {
	session := sessionOf(l, role)
	var out []string
	for _, kv := range c.env {
		name, _, _ := strings.Cut(kv, "=")
		if up := strings.ToUpper(name); !strings.HasPrefix(up, "SWITCHBACK_") && !strings.HasPrefix(up, "INPUT_") {
			out = append(out, kv)
		}
	}
	for _, k := range sorted(c.spec.Env) {
		out = append(out, k+"="+c.spec.Env[k])
	}
	self, _ := os.Executable() // without it a worker looks for the program in its PATH
	for _, kv := range [][2]string{
		{"PORT", c.spec.ID}, {"PLAN", c.plan}, {"BUILD", c.build}, {"ROLE", string(role)}, {"SESSION", session}, {"BIN", self}, {"BRIEF", t.brief},
		{"TURN", strconv.Itoa(l.Attempt)}, {"ITERATION", strconv.Itoa(l.CurrentTry)}, {"MAX_ITERATIONS", strconv.Itoa(l.MaxRetries)},
		{"FEEDBACK", t.feedback}, {"FEEDBACK_JSON", t.feedbackJSON}, {"TOKENS_FILE", t.tokens}, {"TOKEN_BUDGET", strconv.FormatInt(l.TokenBudget, 10)},
		{"RESULT_JSON", t.result}, {"REPORTS", t.reports}, {"TEST_FEEDBACK", t.said},
		{"CHANNEL", l.ChannelID}, {"CHANNEL_URL", c.relay.url}, {"CHANNEL_TOKEN", c.relay.tokens[session]},
	} {
		out = append(out, "SWITCHBACK_"+kv[0]+"="+kv[1])
	}
	return out
}

// watch runs a command until it ends, or the pair is over its limits, a worker
// calls the operator, or ctx ends.
func (c commandRunner) watch(ctx context.Context, l plan.Loop, role plan.Role, t turnFiles, cmd Command) worked {
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	began := c.now()
	w := worked{tape: NewTape(keptHead, keptTail)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if role == plan.Test {
			c.analyze(wctx, cmd, t, &w, began)
			return
		}
		cmd.Out = w.tape
		w.Ended, w.err = cmd.Run(wctx)
	}()
	look := time.NewTicker(time.Second)
	defer look.Stop()
	deadline := make(<-chan time.Time)
	if l.Timeout > 0 {
		timer := time.NewTimer(l.StartedAt.Add(l.Timeout).Sub(began) + time.Millisecond)
		defer timer.Stop()
		deadline = timer.C
	}
	end := func(s *step) worked {
		stop()
		<-done
		w.broken, w.took = s, c.now().Sub(began)
		w.tokens, _ = readTokens(t.tokens) // why it cannot be read matters no longer
		return w
	}
	for {
		select {
		case <-done:
			w.took = c.now().Sub(began)
			var err error
			if w.tokens, err = readTokens(t.tokens); err != nil {
				w.notes = append(w.notes, err.Error())
			}
			return w
		case <-ctx.Done():
			return end(cancelled(l, c.now()))
		case q := <-c.raises:
			nl, acts, err := l.Raise(q.session, q.Type, q.Severity, redact.Text(q.Text), c.now())
			q.answer <- err
			if err == nil {
				return end(&step{nl, acts})
			}
		case <-look.C:
			if s := c.over(l, t); s != nil {
				return end(s)
			}
		case <-deadline:
			if s := c.over(l, t); s != nil {
				return end(s)
			}
		}
	}
}

// over returns how the pair ends if it is over its limits, nil if it is not.
func (c commandRunner) over(l plan.Loop, t turnFiles) *step {
	used, _ := readTokens(t.tokens) // half a line is read again
	nl, acts, err := l.Tick(used, c.now())
	if err != nil || nl.Status == plan.Running {
		return nil
	}
	return &step{nl, acts}
}

// analyze runs a testing worker and reads what it prints while it does, so that
// no length of it fills memory or disk.
func (c commandRunner) analyze(ctx context.Context, cmd Command, t turnFiles, w *worked, began time.Time) {
	r, out := io.Pipe()
	cmd.Out = io.MultiWriter(w.tape, &through{w: out})
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		w.Ended, w.err = cmd.Run(ctx)
		out.Close()
	}()
	printed := bufio.NewReader(r)
	var sources []analysis.Source
	if _, err := printed.Peek(1); err == nil { // a test that only writes reports is no empty log
		sources = []analysis.Source{{Name: "what the test printed", Open: func() (io.ReadCloser, error) { return io.NopCloser(printed), nil }}}
	}
	read, err := analysis.Analyze(analysis.Input{
		Sources: sources, Rules: c.rules, Criteria: c.criteria, Language: c.language, Looked: []string{"what the test printed", "files in SWITCHBACK_REPORTS"},
		Ended: func() (string, []analysis.Source) {
			r.Close()
			<-ran
			if w.Code == 0 && w.err == nil {
				return "success", reports(t.reports)
			}
			return "failure", reports(t.reports)
		},
	})
	r.Close()
	<-ran
	own, bad := said(t.said)
	var f plan.TestFeedback
	switch took := c.now().Sub(began); {
	case err != nil:
		w.err = err
		return
	case bad != nil:
		f = failing("the testing worker's own feedback is of no use: " + bad.Error())
	case own != nil && own.Success && w.Code != 0:
		f = failing("the testing worker says that all passed, but " + w.Reason)
	case own != nil:
		f = *own
	default:
		f = plan.FeedbackOf(read.Verdict, took)
	}
	w.analyzed = &f
}
