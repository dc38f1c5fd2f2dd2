package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

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

// loopRun is this process's run of a port's loop: the workers in turn, each recorded as it ends.
type loopRun struct {
	spec     plan.Spec
	root     string // where commands run
	files    files
	hash     func() (string, error) // of the port's content
	inbox    *inbox
	recorder *loopRecorder
	commands commandRunner
	workflow func(l plan.Loop, role plan.Role, c *plan.Command) *await
}

// next advances the loop by one worker, or ends it if the port waits for feedback.
func (r *loopRun) next(ctx context.Context, l plan.Loop) (plan.Loop, error) {
	why, err := r.inbox.waits(ctx)
	switch {
	case err != nil:
		return l, err
	case why != "" && !dispatched(r.spec, r.recorder.worker, l):
		return r.pause(ctx, l, why)
	}
	return r.turn(ctx, l, roleOf(l))
}

// turn runs one worker, and takes the pair on.
func (r *loopRun) turn(ctx context.Context, l plan.Loop, role plan.Role) (plan.Loop, error) {
	command := commandOf(r.spec, role)
	if ctx.Err() != nil {
		return r.settle(ctx, l, role, worked{broken: cancelled(l, r.recorder.journal.Now()), tape: NewTape(0, 0)})
	}
	var result []byte
	if role == plan.Test {
		j, err := r.recorder.journal.Load(ctx)
		if err != nil {
			return l, err
		}
		result = resultOf(j, l)
	}
	feedback, feedbackJSON := r.inbox.feed(l, r.root)
	t, err := r.files.prepare(r.spec, l, role, result, feedback, feedbackJSON)
	if err != nil {
		return r.settle(ctx, l, role, worked{err: err, tape: NewTape(0, 0)})
	}
	if command == nil { // nothing is to be done: the content is tested as it is
		return r.settle(ctx, l, role, worked{tape: NewTape(0, 0)})
	}
	if command.Workflow != "" {
		w, err := r.workflow(l, role, command).run(ctx)
		if err != nil {
			return l, err
		}
		return r.keepLog(ctx, l, role, w)
	}
	return r.keepLog(ctx, l, role, r.commands.run(ctx, l, role, t, r.recorder.mark))
}

// pause ends a pair before its next worker begins.
func (r *loopRun) pause(ctx context.Context, l plan.Loop, why string) (plan.Loop, error) {
	now := r.recorder.journal.Now()
	nl, acts, err := l.Pause(why, 0, now)
	if err != nil {
		return l, err
	}
	return nl, r.recorder.record(ctx, func(j plan.Journal) []plan.Event { return r.recorder.step(nl, acts, j, "", now) })
}

// keepLog keeps what a worker printed, and settles its turn.
func (r *loopRun) keepLog(ctx context.Context, l plan.Loop, role plan.Role, w worked) (plan.Loop, error) {
	name := fmt.Sprintf("%s-%d.log", role, l.Attempt)
	if err := r.files.write(name, []byte(redact.Text(w.tape.String()))); err != nil {
		w.notes = append(w.notes, err.Error())
	}
	if w.broken == nil && w.err == nil && (w.analyzed == nil || !w.analyzed.Success) {
		var err error
		if w.waits, err = r.inbox.waits(ctx); err != nil {
			return l, err
		}
	}
	return r.settle(ctx, l, role, w)
}

func failing(why string) plan.TestFeedback {
	return plan.TestFeedback{FailedTests: []plan.FailedTest{}, Suggestions: []string{why}}
}

// settle records how a worker ended, and what the pair does then.
func (r *loopRun) settle(ctx context.Context, l plan.Loop, role plan.Role, w worked) (plan.Loop, error) {
	now := r.recorder.journal.Now()
	s, err := stepAfter(l.Rested(w.rested), role, w, now)
	if err != nil {
		return l, err
	}
	hash := ""
	if s.Status == plan.Success {
		if hash, err = r.hash(); err != nil { // what passed is not known
			w.err = fmt.Errorf("the files of the port cannot be read: %w", err)
			if s, err = stepAfter(l, role, w, now); err != nil {
				return l, err
			}
		}
	}
	r.recorder.mark = newID()
	err = r.recorder.record(ctx, func(j plan.Journal) []plan.Event {
		var out []plan.Event
		if commandOf(r.spec, role) != nil {
			session := sessionOf(l, role)
			out = append(out, plan.Event{Kind: plan.WorkerComplete, At: now, Session: session, Iteration: l.Attempt, Exit: w.exit(role)})
		}
		return append(out, r.recorder.step(s.Loop, s.acts, j, hash, now)...)
	})
	return s.Loop, err
}

// cancelled returns how the loop ends if it was cancelled.
func cancelled(l plan.Loop, now time.Time) *step {
	nl, acts, err := l.Break("it was cancelled", now)
	if err != nil {
		return nil // unreachable: the pair runs
	}
	return &step{nl, acts}
}

// stepAfter is what the loop does after a worker ended.
func stepAfter(l plan.Loop, role plan.Role, w worked, now time.Time) (step, error) {
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
	Turn    int      `json:"turn"`
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
