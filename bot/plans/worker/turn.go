package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/redact"
)

// What is kept of what a worker prints, in bytes.
const (
	keptHead = 256 << 10
	keptTail = 768 << 10
	keptSent = 4 << 10 // of its end, in the message to the other worker
)

// step is how the pair stands after something happened, and what is to be done.
type step struct {
	plan.Loop
	acts []plan.Action
}

// worked is what one worker left.
type worked struct {
	Ended
	err      error // of the machine
	took     time.Duration
	tokens   int64
	notes    []string
	tape     *Tape
	analyzed *plan.TestFeedback // of a testing worker
	broken   *step              // it was ended, and the pair stands so
	waits    string             // it sent feedback, for which the port waits
	rested   time.Duration      // since it ended, in which nobody was at work
	url      string             // of the run, if it is a workflow
}

// turn runs one worker, and takes the pair on.
func (p *Pair) turn(ctx context.Context, l plan.Loop, role plan.Role, r *relay) (plan.Loop, error) {
	command := p.command(role)
	if ctx.Err() != nil {
		return p.settle(ctx, l, role, worked{broken: p.cancelled(l), tape: NewTape(0, 0)})
	}
	var result []byte
	if role == plan.Test {
		j, err := p.Journal.Load(ctx)
		if err != nil {
			return l, err
		}
		result = resultOf(j, l)
	}
	feedback, feedbackJSON := p.edges.feed(l, p.Root)
	t, err := files{p.Dir}.prepare(p.Spec, l, role, result, feedback, feedbackJSON)
	if err != nil {
		return p.settle(ctx, l, role, worked{err: err, tape: NewTape(0, 0)})
	}
	if command == nil { // nothing is to be done: the content is tested as it is
		return p.settle(ctx, l, role, worked{tape: NewTape(0, 0)})
	}
	if command.Workflow != "" {
		w, err := p.remote(ctx, l, role, command)
		if err != nil {
			return l, err
		}
		return p.keepLog(ctx, l, role, w)
	}
	return p.keepLog(ctx, l, role, p.watch(ctx, l, role, t, Command{Lines: command.Run, Dir: p.Root, Env: p.environment(l, role, t, r), Mark: p.mark, Grace: p.Grace}))
}

// keepLog keeps what a worker printed, and settles its turn.
func (p *Pair) keepLog(ctx context.Context, l plan.Loop, role plan.Role, w worked) (plan.Loop, error) {
	name := fmt.Sprintf("%s-%d.log", role, l.Attempt)
	if err := (files{p.Dir}).write(name, []byte(redact.Text(w.tape.String()))); err != nil {
		w.notes = append(w.notes, err.Error())
	}
	if w.broken == nil && w.err == nil && (w.analyzed == nil || !w.analyzed.Success) {
		var err error
		if w.waits, err = p.waits(ctx, p.edges); err != nil {
			return l, err
		}
	}
	return p.settle(ctx, l, role, w)
}

// watch runs a command until it ends, or the pair is over its limits, a worker
// calls the operator, or ctx ends.
func (p *Pair) watch(ctx context.Context, l plan.Loop, role plan.Role, t turnFiles, c Command) worked {
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	began := p.Journal.Now()
	w := worked{tape: NewTape(keptHead, keptTail)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if role == plan.Test {
			p.analyze(wctx, c, t, &w, began)
			return
		}
		c.Out = w.tape
		w.Ended, w.err = c.Run(wctx)
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
		w.broken, w.took = s, p.Journal.Now().Sub(began)
		w.tokens, _ = readTokens(t.tokens) // why it cannot be read matters no longer
		return w
	}
	for {
		select {
		case <-done:
			w.took = p.Journal.Now().Sub(began)
			var err error
			if w.tokens, err = readTokens(t.tokens); err != nil {
				w.notes = append(w.notes, err.Error())
			}
			return w
		case <-ctx.Done():
			return end(p.cancelled(l))
		case q := <-p.raises:
			nl, acts, err := l.Raise(q.session, q.Type, q.Severity, redact.Text(q.Text), p.Journal.Now())
			q.answer <- err
			if err == nil {
				return end(&step{nl, acts})
			}
		case <-look.C:
			if s := p.over(l, t); s != nil {
				return end(s)
			}
		case <-deadline:
			if s := p.over(l, t); s != nil {
				return end(s)
			}
		}
	}
}

// over returns how the pair ends if it is over its limits, nil if it is not.
func (p *Pair) over(l plan.Loop, t turnFiles) *step {
	used, _ := readTokens(t.tokens) // half a line is read again
	nl, acts, err := l.Tick(used, p.Journal.Now())
	if err != nil || nl.Status == plan.Running {
		return nil
	}
	return &step{nl, acts}
}

func (p *Pair) cancelled(l plan.Loop) *step {
	nl, acts, err := l.Break("it was cancelled", p.Journal.Now())
	if err != nil {
		return nil // unreachable: the pair runs
	}
	return &step{nl, acts}
}

// analyze runs a testing worker and reads what it prints while it does, so that
// no length of it fills memory or disk.
func (p *Pair) analyze(ctx context.Context, c Command, t turnFiles, w *worked, began time.Time) {
	r, out := io.Pipe()
	c.Out = io.MultiWriter(w.tape, &through{w: out})
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		w.Ended, w.err = c.Run(ctx)
		out.Close()
	}()
	printed := bufio.NewReader(r)
	var sources []analysis.Source
	if _, err := printed.Peek(1); err == nil { // a test that only writes reports is no empty log
		sources = []analysis.Source{{Name: "what the test printed", Open: func() (io.ReadCloser, error) { return io.NopCloser(printed), nil }}}
	}
	read, err := analysis.Analyze(analysis.Input{
		Sources: sources, Rules: p.Rules, Criteria: p.Criteria, Language: p.Language, Looked: []string{"what the test printed", "files in SWITCHBACK_REPORTS"},
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
	switch took := p.Journal.Now().Sub(began); {
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

func failing(why string) plan.TestFeedback {
	return plan.TestFeedback{FailedTests: []plan.FailedTest{}, Suggestions: []string{why}}
}

// settle records how a worker ended, and what the pair does then.
func (p *Pair) settle(ctx context.Context, l plan.Loop, role plan.Role, w worked) (plan.Loop, error) {
	now := p.Journal.Now()
	s, err := p.next(l.Rested(w.rested), role, w, now)
	if err != nil {
		return l, err
	}
	hash := ""
	if s.Status == plan.Success {
		if hash, err = p.hash(); err != nil { // what passed is not known
			w.err = fmt.Errorf("the files of the port cannot be read: %w", err)
			if s, err = p.next(l, role, w, now); err != nil {
				return l, err
			}
		}
	}
	p.mark = newID()
	err = p.record(ctx, func(j plan.Journal) []plan.Event {
		var out []plan.Event
		if p.command(role) != nil {
			session := sessionOf(l, role)
			out = append(out, plan.Event{Kind: plan.WorkerComplete, At: now, Session: session, Iteration: l.Attempt, Exit: w.exit(role)})
		}
		return append(out, p.events(s.Loop, s.acts, j, hash, now)...)
	})
	return s.Loop, err
}

// next is what the pair does after a worker ended.
func (p *Pair) next(l plan.Loop, role plan.Role, w worked, now time.Time) (step, error) {
	var s step
	var err error
	switch {
	case w.broken != nil:
		return *w.broken, nil
	case w.waits != "":
		s.Loop, s.acts, err = l.Pause(w.waits, w.tokens, now)
	case w.err != nil:
		s.Loop, s.acts, err = l.Break("the runner failed: "+w.err.Error(), now)
	case role == plan.Test:
		s.Loop, s.acts, err = l.TestEnded(*w.analyzed, w.tokens, now)
	default:
		payload, _ := json.Marshal(w.result(l)) // plain values
		s.Loop, s.acts, err = l.ImplEnded(plan.Worked{OK: w.Code == 0, Payload: payload, Reason: w.why(), Tokens: w.tokens}, now)
	}
	return s, err
}

func (w worked) exit(role plan.Role) *plan.Exit {
	e := &plan.Exit{Role: role, Code: w.Code, Reason: w.Reason, Seconds: w.took.Seconds(), Tokens: w.tokens, Printed: w.tape.Total(), Cut: w.tape.Cut(), URL: w.url}
	e.OK = w.Code == 0 && w.err == nil && w.broken == nil && (w.analyzed == nil || w.analyzed.Success)
	reasons := w.notes
	if w.broken != nil && w.broken.Reason != "" {
		reasons = append(reasons, w.broken.Reason)
	} else if w.Reason != "" {
		reasons = append(reasons, w.Reason)
	}
	e.Reason = strings.Join(reasons, "; ")
	return e
}

// why says why a worker failed, with the last line that it printed.
func (w worked) why() string {
	if w.url != "" {
		return w.Reason // the log of a run ends with the runner's words
	}
	lines := strings.Split(strings.TrimSpace(w.tape.End(500)), "\n")
	if last := oneLine(redact.Text(lines[len(lines)-1])); last != "" && w.Code != 0 {
		return w.Reason + ", and its last words are: " + last
	}
	return w.Reason
}

// implResult is the payload of an implementing worker's result.
type implResult struct {
	Attempt int      `json:"attempt"`
	Seconds float64  `json:"seconds"`
	Tokens  int64    `json:"tokens_used"`
	Output  string   `json:"output"` // the end of it
	Printed int64    `json:"printed"`
	Notes   []string `json:"notes,omitempty"`
	URL     string   `json:"url,omitempty"` // of the run, if it is a workflow
}

func (w worked) result(l plan.Loop) implResult {
	return implResult{l.Attempt, w.took.Seconds(), w.tokens, markdown.Printable(redact.Text(w.tape.End(keptSent))), w.tape.Total(), w.notes, w.url}
}

// resultOf returns what the implementing worker sent in the present turn.
func resultOf(j plan.Journal, l plan.Loop) []byte {
	var out []byte
	for _, m := range j.Mail.Messages {
		if m.ChannelID == l.ChannelID && m.From == l.ImplSession && m.Type == plan.ResultMessage {
			out = m.Payload
		}
	}
	return out
}
