package rust

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// nextest reads a run of cargo-nextest, from "Starting 3 tests across …" to
// its summary.
type nextest struct {
	c    *cargoConsole
	open bool
	at   int

	tests   []*nextestTest
	byName  map[string]*nextestTest
	passed  int
	retries map[string]int // failed attempts of tests not decided yet
	sums    *nextestTotals
	last    *nextestTest // named by the last line of a failure
	block   *nextestTest
	text    bounded.Block
	problem bool
}

type nextestTest struct {
	binary, name string
	at           int
	kind         model.Kind
	status       string
	duration     time.Duration
	text         string
}

func (n *nextest) blank() {
	if n.block != nil {
		n.text.Add("")
	}
}

func (n *nextest) end() {
	if n.open {
		n.finish()
	}
}

func (n *nextest) line(no int, t string) bool {
	if strings.HasPrefix(t, "    Starting ") && strings.Contains(t, " across ") && strings.Contains(t, " binar") {
		n.end()
		*n = nextest{c: n.c, open: true, at: no, byName: map[string]*nextestTest{}, retries: map[string]int{}}
		return true
	}
	if !n.open {
		return false
	}
	if strings.HasPrefix(t, "     Summary [") {
		n.closeBlock()
		n.sums = parseNextestTotals(t)
		return true
	}
	if n.startBlock(t) {
		return true
	}
	if status, dur, binary, name, ok := nextestLine(t); ok {
		n.closeBlock()
		n.status(no, status, dur, binary, name)
		return true
	}
	if strings.HasPrefix(t, "error: test run failed") || strings.HasPrefix(t, "error: ") && n.sums != nil {
		n.finish()
		return strings.HasPrefix(t, "error: test run failed")
	}
	if n.sums != nil && t[0] != ' ' && !strings.HasPrefix(t, "─") {
		n.finish()
		return false
	}
	if n.block != nil {
		n.text.Add(t)
		return true
	}
	return false
}

// nextestLine reads "        PASS [   0.005s] (1/3) crate::bin mod::test".
func nextestLine(t string) (status string, dur time.Duration, binary, name string, ok bool) {
	if len(t) < 12 || t[0] != ' ' {
		return "", 0, "", "", false
	}
	i := strings.Index(t, " [")
	if i < 0 || i > 24 {
		return "", 0, "", "", false
	}
	status = strings.TrimSpace(t[:i])
	if status == "" || status[0] < 'A' || status[0] > 'Z' {
		return "", 0, "", "", false
	}
	in, rest, found := strings.Cut(t[i+2:], "] ")
	in = strings.TrimLeft(in, " >")
	if !found || !strings.HasSuffix(in, "s") {
		return "", 0, "", "", false
	}
	dur, err := time.ParseDuration(in)
	if err != nil {
		return "", 0, "", "", false
	}
	rest = strings.TrimLeft(rest, " ")
	if strings.HasPrefix(rest, "(") {
		if _, after, cut := strings.Cut(rest, ") "); cut {
			rest = strings.TrimLeft(after, " ")
		}
	}
	binary, name, ok = strings.Cut(rest, " ")
	return status, dur, binary, strings.TrimSpace(name), ok && name != ""
}

// startBlock reads the head of a failed test's output:
// "--- STDERR:  crate mod::test ---", "──── STDOUT:  crate mod::test", and
// "  stdout ───", which follows the test's own line.
func (n *nextest) startBlock(t string) bool {
	for _, w := range [...]string{"STDOUT:", "STDERR:", "OUTPUT:"} {
		i := strings.Index(t, w)
		if i <= 0 || !onlyRule(t[:i]) {
			continue
		}
		binary, name, ok := strings.Cut(strings.Trim(t[i+len(w):], " -─"), " ")
		if !ok {
			return false
		}
		n.into(binary + " " + strings.TrimSpace(name))
		return true
	}
	s := strings.TrimLeft(t, " ")
	if len(t)-len(s) == 2 && (isNextestStream(s)) {
		if n.block == nil && n.last != nil {
			n.enter(n.last)
		}
		return true
	}
	return false
}

// onlyRule recognises what stands before STDOUT: a rule, and "TRY 1".
func onlyRule(s string) bool {
	s = strings.Trim(s, "-─ ")
	rest, ok := strings.CutPrefix(s, "TRY ")
	if ok {
		_, s, _ = parse.LeadingInt(rest)
	}
	return strings.TrimSpace(s) == ""
}

func isNextestStream(s string) bool {
	word, rule, _ := strings.Cut(s, " ")
	return (word == "stdout" || word == "stderr" || word == "output") && rule != "" && strings.Trim(rule, "-─ ") == ""
}

func (n *nextest) into(key string) {
	t := n.byName[key]
	if n.block == t && t != nil {
		return // its other stream
	}
	n.closeBlock()
	if t != nil {
		n.enter(t)
	}
}

func (n *nextest) enter(t *nextestTest) {
	n.block = t
	n.text = bounded.Block{Max: n.c.lim.Text}
}

func (n *nextest) closeBlock() {
	if n.block != nil {
		if text := parse.Unindent(n.text.String()); n.block.text == "" {
			n.block.text = text
		} else if len(n.block.text) < n.c.lim.Text {
			n.block.text += "\n" + text
		}
	}
	n.block = nil
}

// status takes the outcome of one attempt.
func (n *nextest) status(no int, status string, dur time.Duration, binary, name string) {
	key := binary + " " + name
	try, attempt := "", false
	if rest, ok := strings.CutPrefix(status, "TRY "); ok {
		_, try, _ = strings.Cut(rest, " ")
		status, attempt = try, true
	}
	word, _, _ := strings.Cut(status, " ")
	switch word {
	case "PASS", "LEAK":
		if n.sums == nil {
			n.pass(no, key, binary, name, dur)
		}
	case "SLOW", "TERMINATING", "START", "SETUP", "FLAKY", "RETRY", "DELAY", "SKIP":
		if status == "SETUP FAIL" {
			n.problem = true
			n.c.out.Problem(model.Problem{Kind: model.KindSetup, Name: key, Message: "a setup script failed", At: no})
		}
	default:
		kind := nextestKind(word)
		if kind == "" {
			return
		}
		if attempt {
			n.retries[key]++
		}
		n.fail(no, key, &nextestTest{binary: binary, name: name, at: no, kind: kind, status: status, duration: dur})
	}
}

func nextestKind(word string) model.Kind {
	switch {
	case word == "FAIL", word == "LEAK-FAIL", word == "EXECFAIL", word == "XFAIL":
		return model.KindError
	case word == "TIMEOUT", word == "TMT":
		return model.KindTimeout
	case strings.HasPrefix(word, "SIG"), word == "ABORT":
		return model.KindCrash
	}
	return ""
}

func (n *nextest) pass(no int, key, binary, name string, dur time.Duration) {
	t := model.Test{Suite: binary, Name: name, Status: model.Passed, Duration: dur, At: no}
	if r := n.retries[key]; r > 0 {
		t.Flaky, t.Retries = true, r
		n.drop(key)
	}
	n.passed++
	n.c.out.Test(t)
}

// drop takes back a failure: a later attempt passed.
func (n *nextest) drop(key string) {
	if t := n.byName[key]; t != nil {
		t.status = ""
	}
	delete(n.byName, key)
	delete(n.retries, key)
}

func (n *nextest) fail(_ int, key string, t *nextestTest) {
	if old := n.byName[key]; old != nil {
		if n.sums == nil {
			old.kind, old.status, old.duration = t.kind, t.status, t.duration
		}
		n.last = old
		return
	}
	if len(n.tests) < 20*n.c.lim.Failing {
		n.byName[key], n.last = t, t
		n.tests = append(n.tests, t)
	}
}

type nextestTotals struct{ run, planned, passed, failed, skipped int }

// parseNextestTotals reads "3/5 tests run: 2 passed (1 slow), 1 failed, 1 timed out, 1 skipped".
func parseNextestTotals(t string) *nextestTotals {
	var s nextestTotals
	_, rest, _ := strings.Cut(t, "] ")
	head, rest, _ := strings.Cut(rest, ": ")
	s.run, head, _ = parse.LeadingInt(strings.TrimLeft(head, " "))
	s.planned = s.run
	if after, ok := strings.CutPrefix(head, "/"); ok {
		s.planned, _, _ = parse.LeadingInt(after)
	}
	depth := 0
	flat := strings.Map(func(r rune) rune { // without what stands in brackets
		switch r {
		case '(':
			depth++
		case ')':
			depth--
			return -1
		}
		if depth > 0 {
			return -1
		}
		return r
	}, rest[:min(len(rest), 300)])
	for _, part := range strings.Split(flat, ", ") {
		n, word, ok := parse.LeadingInt(strings.TrimSpace(part))
		if !ok {
			continue
		}
		switch strings.TrimSpace(word) {
		case "passed":
			s.passed = n
		case "failed", "timed out", "exec failed":
			s.failed += n
		case "skipped":
			s.skipped = n
		}
	}
	return &s
}

// finish emits the run.
func (n *nextest) finish() {
	n.closeBlock()
	failed := 0
	for _, t := range n.tests {
		if t.status == "" {
			continue
		}
		failed++
		out := rustFailure(t.binary, t.name, t.text, t.at, false)
		if t.kind != model.KindError || out.Kind == "" {
			out.Kind = t.kind
		}
		if out.Message == "" {
			out.Message = t.status
		}
		out.Duration = t.duration
		if r := n.retries[t.binary+" "+t.name]; r > 1 {
			out.Retries = r - 1
		}
		n.c.out.Test(out)
	}
	if s := n.sums; s == nil {
		n.c.out.Problem(model.Problem{Kind: model.KindTruncated, Name: "nextest", At: n.at, Message: "the run of nextest never printed its summary"})
	} else {
		n.reconcile(failed)
	}
	*n = nextest{c: n.c}
}

func (n *nextest) reconcile(failed int) {
	s, out := n.sums, n.c.out
	n.c.anon.Emit(out, s.passed-n.passed, model.Test{Status: model.Passed})
	n.c.anon.Emit(out, s.skipped, model.Test{Status: model.Skipped})
	if k := s.failed - failed; k > 0 {
		out.Problem(failtext.NotNamed("nextest", s.failed, s.failed-k, n.at))
	}
	switch {
	case failed > 0 || s.failed > 0 || n.problem:
	case s.run < s.planned:
		out.Problem(model.Problem{Kind: model.KindTruncated, Name: "nextest", At: n.at, Message: fmt.Sprintf("%d of %d tests ran", s.run, s.planned)})
	case s.run == 0:
		out.Problem(model.Problem{Kind: model.KindEmpty, Name: "nextest", At: n.at, Message: "no tests ran"})
	}
}
