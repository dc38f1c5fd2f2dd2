package reader

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/internal/testruns"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// session is a run of a test tool that was read from its start to its totals.
type session struct {
	format   string
	stream   int
	since    int  // line behind the run before it, or behind the command before it
	from, to int  // lines
	passed   bool // its totals count no failure
}

// heldEvent is what a console or a document found, until the step ends.
type heldEvent struct {
	format   string
	stream   int
	at       int
	document bool
	test     *model.Test
	problem  *model.Problem
	message  *model.Diagnostic
}

// maxHeld bounds the events of one step that wait for its end. A step with more is handed on as
// it is read: what a test prints of another tool is short.
const maxHeld = 4000

// sessions keeps what the consoles find until the step ends, and then leaves out what is only
// printed by a test: a fragment of another tool's output (a failing line without the totals that
// the tool ends with) inside a run that is complete. A fragment that no complete run encloses
// stays, and so does a second complete run: a step may mix the output of two tools.
type sessions struct {
	out     model.Sink
	done    []session
	held    []heldEvent
	through bool
	dropped int
	first   int // line of the first dropped event
	echo    int // line of the last command that was echoed
	command string
	tapAt   int // line that opens a stream of TAP
	goAt    int // line that starts a test of go

	begun   [testruns.MaxRunners]int // first lines of runs whose totals are to come
	running uint64                   // those of which a run was begun

	totals totals

	passedAt int // line of the last test that a console passed, 0 if it was not looked for
}

// completed notes a run that was read whole. It starts no earlier than the last command that was
// echoed, and right there if that names the tool.
func (s *sessions) completed(format string, stream, from, to int) {
	if s.echo > from || s.echo > 0 && s.echoNames(format) {
		from = s.echo
	}
	since := s.echo
	for _, d := range s.done {
		if d.stream == stream && d.to < from {
			since = max(since, d.to)
		}
	}
	if len(s.done) < 1000 {
		s.done = append(s.done, session{format: format, stream: stream, since: since, from: from, to: to})
	}
}

// follow notes the first line and the totals of a run, by the words of its runner: not every
// console says what it has read whole, and nothing that stands between them is another run that
// began there and has no totals.
func (s *sessions) follow(l *lines.Line) {
	t := l.Text
	if t == "" || l.Mark != "" {
		return
	}
	s.totals.read(l.No, t)
	if t[0] == ' ' || t[0] == '\t' {
		if t = strings.TrimLeft(t, " \t"); t == "" {
			return
		}
	}
	for m := s.running; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if !testruns.All[i].Completes(t) {
			continue
		}
		s.running &^= 1 << i
		if len(s.done) < 1000 {
			s.done = append(s.done, session{format: testruns.All[i].Format, since: s.begun[i], from: s.begun[i], to: l.No})
		}
	}
	for _, i := range testruns.ByFirst[t[0]] {
		r := &testruns.All[i]
		if r.Format == "" || r.Once && s.running>>i&1 == 1 || !r.Begins(t) {
			continue
		}
		for m := s.running; m != 0; m &= m - 1 { // what was begun before was cut off, or runs beside it
			if j := bits.TrailingZeros64(m); testruns.All[j].Format != r.Format {
				s.running &^= 1 << j
			}
		}
		s.begun[i] = l.No
		s.running |= 1 << i
	}
}

// echoNames reports whether the echoed command runs the tool of a format and nothing else.
func (s *sessions) echoNames(format string) bool {
	if strings.ContainsAny(s.command, ";&|`") {
		return false
	}
	words := strings.Fields(s.command)
	for len(words) > 1 && (words[0] == "npx" || strings.Contains(words[0], "=") || words[0] == "cross-env" || words[0] == "exec") {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	tool := words[0][strings.LastIndexByte(words[0], '/')+1:]
	switch format {
	case "node-test":
		return tool == "node" && len(words) > 1 && strings.HasPrefix(words[1], "--test")
	case "gotest":
		return tool == "go" && len(words) > 1 && words[1] == "test"
	}
	return tool == format
}

// echoes notes a line by which npm, yarn, a shell or make shows the command that it starts.
func (s *sessions) echoes(l *lines.Line) {
	t := l.Text
	if len(t) < 4 {
		return
	}
	switch {
	case s.tapAt == 0 && t[0] == 'T' && strings.HasPrefix(t, "TAP version 1"), s.tapAt == 0 && t[0] == '1' && strings.HasPrefix(t, "1.."):
		s.tapAt = l.No
	case s.goAt == 0 && t[0] == '=' && strings.HasPrefix(t, "=== RUN "):
		s.goAt = l.No
	}
	if t[1] != ' ' || t[0] != '>' && t[0] != '$' && t[0] != '+' || t[2] != '.' && t[2] != '@' && (t[2]|0x20 < 'a' || t[2]|0x20 > 'z') {
		return
	}
	if t[0] == '+' { // also a line of a diff
		switch word, _, _ := strings.Cut(t[2:], " "); word {
		case "npm", "npx", "yarn", "pnpm", "bun", "node", "deno", "go", "make", "jest", "vitest", "mocha", "ava", "python", "python3", "pytest", "cargo", "mvn", "bundle", "rake":
		default:
			return
		}
	}
	s.echo, s.command = l.No, strings.Clone(t[2:min(len(t), 200)])
}

// holds reports whether events wait. The first beyond the bound releases all.
func (s *sessions) holds() bool {
	if !s.through && len(s.held) >= maxHeld {
		s.through = true
		s.release(false)
	}
	return !s.through
}

// hold keeps an event.
func (s *sessions) hold(e heldEvent) { s.held = append(s.held, e) }

// settle hands on what was found in the step that ends.

func (s *sessions) settle() {
	s.release(true)
	s.done, s.through, s.echo, s.tapAt, s.goAt, s.running = s.done[:0], false, 0, 0, 0, 0
}

func (s *sessions) release(choose bool) {
	named := s.namedElsewhere()
	for i := range s.held {
		e := &s.held[i]
		if choose && s.loose(e) {
			if e.test != nil {
				e.test.Loose = true
			} else if e.problem != nil {
				e.problem.Loose = true
			}
		}
		switch {
		case named != nil && e.format == format.Commands:
		case named != nil && e.format == Annotations && e.test != nil && named[e.test.Name]:
		case choose && s.fragment(e):
			if s.dropped++; s.dropped == 1 {
				s.first = e.at
			}
		case e.test != nil:
			s.out.Test(*e.test)
		case e.problem != nil:
			s.out.Problem(*e.problem)
		default:
			s.out.Diagnostic(*e.message)
		}
	}
	clear(s.held)
	s.held, s.passedAt = s.held[:0], 0
	s.totals = totals{}
}

// Annotations is the format of the annotations that reporters write for GitHub. They repeat what
// another reporter of the same run may say in full.
const Annotations = "github-annotations"

// namedElsewhere returns the names of failing tests that are no annotations; nil if there are no annotations.
func (s *sessions) namedElsewhere() map[string]bool {
	var named map[string]bool
	for i := range s.held {
		if f := s.held[i].format; f == Annotations || f == format.Commands && failsTest(s.held) {
			named = map[string]bool{}
			break
		}
	}
	for i := range s.held {
		switch e := &s.held[i]; {
		case named == nil || e.format == Annotations || e.message != nil:
		case e.problem != nil: // "a.test.js > suite", whose hook failed
			name := e.problem.Name
			named[strings.TrimSpace(name[strings.LastIndex(name, "> ")+1:])] = true
		case e.test.Status == model.Failed:
			named[e.test.Name] = true
		}
	}
	return named
}

// failsTest reports whether a test that failed is among the events.
func failsTest(events []heldEvent) bool {
	return slices.ContainsFunc(events, func(e heldEvent) bool { return e.test != nil && e.test.Status == model.Failed })
}

// failsIn reports whether something of the run d failed.
func (s *sessions) failsIn(d session) bool {
	for i := range s.held {
		e := &s.held[i]
		if e.format == d.format && e.stream == d.stream && e.at >= d.from && e.at <= d.to && e.message == nil && (e.test == nil || e.test.Status == model.Failed) {
			return true
		}
	}
	return false
}

// fragment reports whether e stands inside a complete run of another tool and its own tool was
// not read to an end there. A document, and a message of a compiler, may say more of a test that
// failed; in a run of which none did they are what a test prints.
func (s *sessions) fragment(e *heldEvent) bool {
	inside := false
	for _, d := range s.done {
		if d.stream != e.stream || e.at > d.to {
			continue
		}
		if e.at < d.from && (!s.bare(e) || e.at < d.since) {
			continue
		}
		if d.format == e.format && e.at >= d.from {
			return d.passed && e.test != nil && e.test.Status == model.Failed && !e.document
		}
		if (e.document || e.message != nil) && (e.at < d.from || s.failsIn(d)) {
			continue
		}
		if e.fails() && headless[d.format] && !s.failsIn(d) && s.totals.stand(e, d, s.bare(e)) {
			continue
		}
		inside = inside || d.format != e.format
	}
	return inside
}

func (e *heldEvent) fails() bool {
	return e.problem != nil || e.test != nil && e.test.Status == model.Failed
}

// totals are the lines of a step with totals that count failures.
type totals struct {
	lines  []int
	proved int // the last of them by which prove ended
}

func (s *totals) read(no int, t string) {
	if len(s.lines) >= 1000 || !testruns.CountsFailures(t) {
		return
	}
	s.lines = append(s.lines, no)
	if strings.HasPrefix(t, "Result: FAIL") {
		s.proved = no
	}
}

// stand reports whether some stand between the failure e and those of the green run d, which may
// then have begun behind them. A single line of TAP or of go test is no run that has any, but for
// what prove makes of it.
func (s *totals) stand(e *heldEvent, d session, bare bool) bool {
	if bare {
		return e.format == "tap" && s.proved >= e.at && s.proved < d.to
	}
	return slices.ContainsFunc(s.lines, func(n int) bool { return n >= e.at && n < d.to })
}

// headless are the formats of runners that print no line before their first test: where a run of one
// begins is a guess.
var headless = map[string]bool{"mocha": true, "node-test": true, "ava": true, "uvu": true, "jest": true}

// loose reports whether e may be what a test prints: it stands within a run of another tool, it is a
// document behind which other tests passed, or no line opens a run of go test, nor do totals end one.
// What looks like a run that was cut off is none of these.
func (s *sessions) loose(e *heldEvent) bool {
	if e.message != nil {
		return false
	}
	own := false
	for _, d := range s.done {
		switch {
		case d.stream != e.stream:
		case d.format != e.format && e.at >= d.from && e.at <= d.to:
			return true
		case d.format == e.format:
			own = true
		}
	}
	if own {
		return false
	}
	if e.document {
		return s.passBehind(e)
	}
	return e.format == "gotest" && s.bare(e) && e.test != nil && e.test.Status == model.Failed
}

// passBehind reports whether a console passes tests behind e.
func (s *sessions) passBehind(e *heldEvent) bool {
	if s.passedAt == 0 {
		for i := range s.held {
			if o := &s.held[i]; !o.document && o.test != nil && o.test.Status == model.Passed {
				s.passedAt = max(s.passedAt, o.at)
			}
		}
	}
	return s.passedAt > e.at
}

// bare reports whether e is of a format whose single lines are believed and no line of the step
// before it opens a run of that format. The first test of a run may print before the run shows
// its first mark.
func (s *sessions) bare(e *heldEvent) bool {
	switch e.format {
	case "tap":
		return s.tapAt == 0 || s.tapAt > e.at
	case "gotest":
		return s.goAt == 0 || s.goAt > e.at
	}
	return false
}

// note says how much was left out.
func (s *sessions) note() {
	if s.dropped > 0 {
		s.out.Cut(fmt.Sprintf("%d result(s) from line %d on look like another tool's and were printed by a test", s.dropped, s.first))
	}
}
