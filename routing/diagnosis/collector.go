package diagnosis

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
	coursesteps "github.com/switchback-ci/switchback/routing/diagnosis/steps"
	"github.com/switchback-ci/switchback/routing/testreport"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Bounds of what a Collector keeps.
const (
	headPerStep = 24      // first candidates of a step
	tailPerStep = 40      // last candidates of a step
	weakPerStep = 32      // candidates of a step told only by structure or a word, first and last
	maxSteps    = 96      // steps with candidates or a stop
	maxStops    = 32      // stops, first half and last half
	textKept    = 2 << 10 // bytes of a kept line
	recentLines = 24      // context before a stop
	endLines    = 64      // lines before the end of the log
	maxHeader   = 400     // lines a step's header may have
)

// candidate is a line that may state why the run failed.
type candidate struct {
	no    int
	text  string
	rule  *Rule                   // nil: marked by the runner, or context
	by    *multimatch.Alternative // of rule; nil where text was cut
	group string                  // what the rule's first group matched, where text was cut
	mark  bool
	base  int

	// Of the last lines before a stop:
	last, head bool // the last output; the first line of the last paragraph
}

// stop is a line by which a step or the run ended in failure.
type stop struct {
	candidate
	step    int
	context []testreport.Line
}

// Collector reads the lines of a log one after the other and keeps, in bounded memory, those that
// may state why the run failed. It is used by one goroutine.
type Collector struct {
	rules matcher

	steps  steps
	stops  []stop
	recent recent
	shapes shapes
	last   int // number of the last line seen
	good   int // number of the last line that passes a test
	course *coursesteps.Reader
	runs   sessions
	said   statements

	header   bool // inside a step's header, which echoes its script
	evidence bool // the header has lines that only the runner prints
	held     []testreport.Line
}

// NewCollector returns an empty Collector; nil rules are the built-in ones.
func NewCollector(rules *Rules) *Collector {
	if rules == nil {
		rules = Default()
	}
	c := &Collector{rules: matcher{rules: rules}, course: coursesteps.NewReader()}
	c.steps.begin(false)
	return c
}

// Line reads the next line of the log. It retains l.Text only for the few lines that it keeps.
func (c *Collector) Line(l testreport.Line) {
	c.last = l.No
	c.course.Line(l)
	if c.header && c.inHeader(l) {
		return
	}
	c.take(l)
}

// take reads a line that is not part of a step's header.
func (c *Collector) take(l testreport.Line) {
	if c.structure(l) {
		return
	}
	switch l.Mark {
	case "warning", "notice", "debug", "command":
		return
	}
	if !c.steps.cur.cleanup { // the runner's own work behind the run says nothing of its end
		c.recent.add(l)
		if l.Passing {
			c.good = l.No
		}
		if l.Text != "" {
			c.runs.read(l)
			c.said.read(l)
		}
	}
	own := c.shape(l)
	if len(l.Text) < 3 || l.Passing {
		return
	}
	var m match
	text := l.Text
	if l.Mark == "error" {
		m = c.rules.first(l.Text, logRule)
	} else {
		m, text = c.rules.anywhere(l.Text)
	}
	switch {
	case m.rule == nil && l.Mark != "error":
		if own&(traceEnd|afterBanner|oddRow) != 0 {
			c.weak(candidate{no: l.No, text: keep(l.Text), base: 15})
		}
	case m.rule == nil:
		c.steps.add(candidate{no: l.No, text: keep(l.Text), mark: true, base: 62})
	case m.rule.Role == RoleIgnore:
	case m.rule.Role == RoleStop:
		c.classOfEnd(l)
		c.stop(candidateOf(l, m, 8))
	case m.rule.Role == RoleWrapper:
		c.classOfEnd(l)
		c.steps.add(candidate{no: l.No, text: keep(l.Text), rule: m.rule, base: 12})
	case m.rule.weak() && l.Mark != "error":
		c.weak(candidateOf(l, m, m.rule.Priority))
	case len(text) < len(l.Text):
		k := candidateOf(l, m, weight(m.rule, l)-3)
		k.by, k.group = nil, keep(m.group(text))
		c.steps.add(k)
	default:
		c.steps.add(candidateOf(l, m, weight(m.rule, l)))
	}
}

// shape reads the structure of a line. The line above it, if that is what stands out, becomes a
// candidate.
func (c *Collector) shape(l testreport.Line) shape {
	own, head := c.shapes.line(l)
	if a := c.shapes.above; head&^traceFrame != 0 && !a.Passing {
		if m := c.rules.line(a.Text); m.rule == nil {
			c.weak(candidate{no: a.No, text: keep(a.Text), base: 15})
		}
	}
	c.shapes.seen(l)
	return own
}

// weak adds a candidate that only its structure or a word in it tells.
func (c *Collector) weak(k candidate) { c.steps.cur.addWeak(k) }

func candidateOf(l testreport.Line, m match, base int) candidate {
	k := candidate{no: l.No, text: keep(l.Text), rule: m.rule, by: m.by, mark: l.Mark == "error", base: base}
	if len(l.Text) > textKept {
		k.by, k.group = nil, keep(m.group(l.Text))
	}
	return k
}

// match returns what the first group of the rule's pattern matched.
func (k candidate) match() string {
	if k.by == nil {
		return k.group
	}
	return k.by.Group(k.text)
}

// classOfEnd adds the class that the last line itself implies: "exit code 137".
func (c *Collector) classOfEnd(l testreport.Line) {
	m := c.rules.first(l.Text, func(r *Rule) bool { return r.Role == RoleError && r.Class != "" && r.Scope == ScopeLine })
	if m.rule != nil {
		k := candidateOf(l, m, m.rule.Priority-25)
		k.mark = false
		c.steps.add(k)
	}
}

func logRule(r *Rule) bool { return r.Scope != ScopeFailure }

// weight returns how strongly a line that r matches states why the run failed.
func weight(r *Rule, l testreport.Line) int {
	w := r.Priority
	if r.user {
		w = 100
	}
	if l.Mark == "error" && w < 90 {
		w += 6
	}
	return w
}

func keep(s string) string {
	return strings.Clone(truncate.Counted(s, textKept))
}

// folds are the marks of Travis and GitLab, which begin and end folds.
var folds = [...]string{"travis_fold:", "travis_time:", "section_start:", "section_end:"}

// structure interprets the runner's own marks and reports whether l is one.
func (c *Collector) structure(l testreport.Line) bool {
	switch l.Mark {
	case "group":
		if strings.HasPrefix(l.Text, "Run ") {
			c.header, c.evidence = true, false
			c.held = append(c.held[:0], l)
		}
		return true
	case "endgroup", "section":
		return true
	}
	if strings.HasPrefix(l.Text, "Post job cleanup.") {
		c.steps.begin(true)
		return true
	}
	return hasPrefixOf(l.Text, folds[:])
}

// inHeader reads a line between "##[group]Run" and its end. Only the runner's own header prints
// "shell:", "with:" or "env:"; another group of that name is output of the program, and its lines
// count.
func (c *Collector) inHeader(l testreport.Line) bool {
	if l.Mark == "endgroup" {
		if c.evidence || len(c.held) <= 1 {
			c.steps.begin(false)
			c.recent.clear() // the step before did not fail, or its stop keeps its context
			c.header, c.held = false, c.held[:0]
			return true
		}
		c.release()
		return true
	}
	if strings.HasPrefix(l.Text, "shell: ") || l.Text == "with:" || l.Text == "env:" {
		c.evidence = true
	}
	if len(c.held) >= maxHeader || l.Mark == "group" {
		c.release()
		return false
	}
	c.held = append(c.held, l)
	return true
}

// release reads the held lines of a group that turned out not to be a header.
func (c *Collector) release() {
	held := c.held
	c.header, c.held = false, nil
	for i, l := range held {
		if i > 0 {
			c.take(l)
		}
	}
}

func (c *Collector) stop(k candidate) {
	cur := c.steps.cur
	cur.stopped = true
	s := stop{candidate: k, step: cur.index, context: c.recent.context()}
	if len(c.stops) >= maxStops {
		c.stops = append(c.stops[:maxStops/2], c.stops[maxStops/2+1:]...)
	}
	c.stops = append(c.stops, s)
}

// finish reads the lines still held at the end of the log.
func (c *Collector) finish() {
	if c.header {
		if c.evidence {
			c.header, c.held = false, nil
			return
		}
		c.release()
	}
}
