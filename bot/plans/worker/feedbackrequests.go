package worker

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// inbox is the feedback between ports that a pair processes: what it runs
// for, and what it sent.
type inbox struct {
	store *requests.Store // nil: the pair has none
	port  string
	requests.Before
	sent chan struct{} // has one while a worker may have sent something
}

// noted says that a worker sent something.
func (e *inbox) noted() {
	select {
	case e.sent <- struct{}{}:
	default:
	}
}

// openInbox settles what the pair before left, and asks for feedback before anybody
// acts.
func (p *Pair) openInbox(ctx context.Context) (*inbox, error) {
	e := &inbox{store: p.Requests, port: p.Spec.ID, sent: make(chan struct{}, 1)}
	if p.Requests == nil {
		return e, nil
	}
	j, err := p.Journal.Load(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.settle(ctx, j); err != nil {
		return nil, err
	}
	if e.Before, err = p.Requests.Before(ctx, p.Spec.ID); err != nil {
		return nil, fmt.Errorf("feedback to port %s: %w", p.Spec.ID, err)
	}
	return e, nil
}

// settle notes what the newest pair came to, for the feedback it ran for.
func (e *inbox) settle(ctx context.Context, j plan.Journal) error {
	if e.store == nil || j.Loop == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer stop()
	if err := e.store.Settle(ctx, *j.Loop, j.Output()); err != nil {
		return fmt.Errorf("the feedback that port %s ran for: %w", e.port, err)
	}
	return nil
}

// waits returns why the pair is to stop, "" if it is not: it sent feedback, and
// the target has not run.
func (e *inbox) waits(ctx context.Context) (string, error) {
	select {
	case <-e.sent:
	default:
		if len(e.Waits) == 0 {
			return "", nil
		}
	}
	all, err := e.store.Waiting(context.WithoutCancel(ctx), e.port)
	if err != nil {
		return "", fmt.Errorf("feedback of port %s: %w", e.port, err)
	}
	if e.Waits = all; len(all) == 0 {
		return "", nil
	}
	return plan.WaitsFor(all), nil
}

// fed is the feedback of a turn as a worker reads it: what its own test said, and
// what other ports want.
type fed struct {
	plan.TestFeedback
	Requests *requests.Received `json:"requests,omitempty"`
}

// feed returns the feedback of a turn, as Markdown and as JSON, "" if there is
// none. A port is handed what others want in each turn, until it is done.
func (e *inbox) feed(l plan.Loop, root string) (text string, data []byte) {
	var out fed
	last := l.Last != nil && l.CurrentTry > 0
	if last {
		out.TestFeedback = *l.Last
		text = FeedbackText(*l.Last, l.CurrentTry)
	}
	if len(e.Feedback) == 0 && len(e.Answers) == 0 {
		if !last {
			return "", nil
		}
		return text, asJSON(out)
	}
	out.FailedTests, out.Suggestions = orNone(out.FailedTests), orNone(out.Suggestions)
	out.Requests = &requests.Received{Feedback: orNone(e.Feedback), Answers: orNone(e.Answers)}
	for _, h := range e.Feedback {
		for _, s := range []string{h.SuggestedFix, h.SuggestedAction, h.RequestedInfo} {
			if s != "" {
				out.Suggestions = append(out.Suggestions, s)
			}
		}
	}
	return requestsText(*out.Requests, root) + text, asJSON(out)
}

// requestsText writes what other ports want, and what they answered, as Markdown.
func requestsText(r requests.Received, root string) string {
	var b strings.Builder
	for _, h := range r.Feedback {
		fmt.Fprintf(&b, "# Feedback from %s: %s (%s, round %d of %d, %s)\n", oneLine(h.From), h.Type, h.ID, h.Round, feedback.MaxRounds, h.Priority)
		block(&b, "What is wrong", h.Text)
		block(&b, "Suggested fix", h.SuggestedFix)
		block(&b, "Suggested action", h.SuggestedAction)
		block(&b, "Asked for", h.RequestedInfo)
		if h.Type == feedback.ContextRequest {
			fmt.Fprintf(&b, "\nAnswer with `\"$SWITCHBACK_BIN\" feedback answer %s --text TEXT`.\n", h.ID)
		}
		for _, a := range h.Artifacts {
			block(&b, "At "+oneLine(a.String()), excerpt(root, a))
		}
		block(&b, "Trace", h.Trace)
		if len(h.Files) > 0 {
			fmt.Fprintf(&b, "\nFiles it is about: %s\n", oneLine(strings.Join(h.Files, ", ")))
		}
		for _, x := range h.Earlier {
			fmt.Fprintf(&b, "\n## Round %d was tried before (%s)\n", x.Round, x.ID)
			block(&b, "What was done", x.Fix)
			block(&b, "What failed then", x.Trace)
		}
		b.WriteString("\n")
	}
	for _, a := range r.Answers {
		fmt.Fprintf(&b, "# Answer of %s (%s)\n", oneLine(a.By), a.ID)
		block(&b, "Asked for", a.RequestedInfo)
		block(&b, "Answer", a.Answer)
		if len(a.Files) > 0 {
			fmt.Fprintf(&b, "\nFiles: %s\n", oneLine(strings.Join(a.Files, ", ")))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// What is shown of a file that feedback names.
const (
	around    = 2 // lines before and after
	mostLines = 40
	mostLine  = 300 // bytes

	mostSearched = 16 << 20 // of a file, in bytes
)

// excerpt returns the lines that an artifact names, each with its number, "" if
// they are not there. A link that leads out of the repository is not followed.
func excerpt(root string, a feedback.Artifact) string {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return ""
	}
	defer dir.Close()
	f, err := dir.OpenFile(a.Path, os.O_RDONLY|nonblocking, 0) // a pipe would be waited for
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	var b strings.Builder
	lines := bufio.NewReader(io.LimitReader(f, mostSearched))
	first, last := a.Line-around, min(a.End+around, a.Line-around+mostLines)
	for n := 1; n <= last; n++ {
		text, err := lines.ReadString('\n')
		if n >= first && (err == nil || text != "") {
			text = strings.TrimRight(text, "\r\n")
			fmt.Fprintf(&b, "%d: %s\n", n, strings.ToValidUTF8(text[:min(len(text), mostLine)], "\uFFFD"))
		}
		if err != nil {
			break
		}
	}
	return b.String()
}

// signed returns a message as its port's. Without a key it gets one, so that the
// same worker says the same thing once, however often it sends it. What is no
// message is left as it is: it is to be recorded as rejected.
func (e *inbox) signed(body []byte, session string) ([]byte, error) {
	var m map[string]any
	if json.Unmarshal(body, &m) != nil || m == nil {
		return body, nil
	}
	for _, name := range []string{"from_node", "source"} {
		if s, _ := m[name].(string); strings.TrimSpace(s) != "" {
			if s = strings.TrimSpace(s); s != e.port {
				return nil, fmt.Errorf("a worker of port %s speaks for that port, not for %q", e.port, s)
			}
		} else {
			delete(m, name)
		}
	}
	if m["source"] == nil {
		m["from_node"] = e.port
	}
	if s, _ := m["key"].(string); m["key"] == nil || s == "" {
		sum := sha256.Sum256(fmt.Append(asJSON(m), session, e.Requests))
		m["key"] = "switchback/" + hex.EncodeToString(sum[:12])
	}
	return asJSON(m), nil
}

// AnswerGiven is what a worker answers to a question of another port.
type AnswerGiven struct {
	ID    string   `json:"feedback_id"`
	Text  string   `json:"text"`
	Files []string `json:"files,omitempty"`
}

// routes are what the workers may ask of the feedback between ports: each speaks
// for its own port alone.
func (e *inbox) routes() map[string]func(context.Context, string, []byte) (any, error) {
	book := func() (*requests.Store, error) {
		if e.store == nil {
			return nil, fmt.Errorf("port %s belongs to no plan that feedback could go along", e.port)
		}
		return e.store, nil
	}
	return map[string]func(context.Context, string, []byte) (any, error){
		"POST /requests/send": func(ctx context.Context, session string, body []byte) (any, error) {
			b, err := book()
			if err != nil {
				return nil, err
			}
			if body, err = e.signed(body, session); err != nil {
				return nil, err
			}
			defer e.noted()
			return b.Send(ctx, body)
		},
		"POST /requests/receive": func(ctx context.Context, _ string, _ []byte) (any, error) {
			if _, err := book(); err != nil {
				return nil, err
			}
			return requests.Received{Feedback: orNone(e.Feedback), Answers: orNone(e.Answers)}, nil
		},
		"POST /requests/answer": func(ctx context.Context, _ string, body []byte) (any, error) {
			b, err := book()
			if err != nil {
				return nil, err
			}
			var in AnswerGiven
			if err := json.Unmarshal(body, &in); err != nil {
				return nil, err
			}
			return b.Answer(ctx, e.port, in.ID, in.Text, in.Files)
		},
	}
}

// buildName is how a worker names the build in commands about feedback.
func (e *inbox) buildName() string {
	if e.store == nil {
		return ""
	}
	return e.store.Build
}
