package python

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// robotConsoleFormat reads the console of Robot Framework (verbose).
var robotConsoleFormat = format.Format{
	Name:    "robot-console",
	Order:   720,
	Wakes:   &format.Wake{Flush: "=-"},
	Console: func(out model.Sink, lim model.Limits) format.Console { return &robotConsole{out: out, lim: lim} },
}

// robotConsole reads results as they come. A suite's result looks like a
// test's; only the totals below tell them apart.
type robotConsole struct {
	out model.Sink
	lim model.Limits

	at    int
	rule  bool   // the line before was a rule of =
	suite string // by the last heading
	head  string // between two rules
	last  *robotResult
	open  bool
	rows  bool
	depth int // suites that were opened and not closed
}

type robotResult struct {
	name, status string
	at           int
	text         []string
}

var robotTotals = lazyregexp.New(`^(\d+)(?: critical)? tests?(?: total)?, (\d+) passed, (\d+) failed(?:, (\d+) skipped)?$`)

func (r *robotConsole) Idle() bool {
	return !r.rule && !r.open && r.last == nil && r.head == ""
}

func (r *robotConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			r.End()
		}
		return false
	}
	r.at = l.No
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		r.rule, r.head = false, ""
		return r.message("")
	}
	switch {
	case t[0] == '=' && len(t) == 78 && strings.Trim(t, "=") == "":
		r.ruled()
		return r.open
	case t[0] == '-' && len(t) == 78 && strings.Trim(t, "-") == "":
		r.close()
		return r.open
	case t[len(t)-1] == '|' && len(t) > 9:
		for _, s := range [...]string{"| PASS |", "| FAIL |", "| SKIP |"} {
			if name, ok := strings.CutSuffix(t, s); ok && r.open {
				r.rule, r.head, r.rows = false, "", true
				r.close()
				r.last = &robotResult{name: strings.Clone(strings.TrimRight(strings.TrimRight(name, " "), ".")), status: s[2:6], at: r.at}
				return true
			}
		}
	}
	r.head = ""
	if r.rule {
		r.head, r.rule = strings.Clone(t), false
		return false
	}
	if r.open && r.last != nil && t[0] >= '0' && t[0] <= '9' {
		if m := robotTotals.FindStringSubmatch(t); m != nil {
			r.totals(m)
			return true
		}
	}
	return r.message(t)
}

func (r *robotConsole) message(t string) bool {
	if r.last != nil && len(r.last.text) < 200 {
		r.last.text = append(r.last.text, strings.Clone(t))
		return true
	}
	return false
}

// ruled takes a rule of "=": the first of two frames a suite's heading.
func (r *robotConsole) ruled() {
	if r.head != "" {
		name, _, _ := strings.Cut(r.head, " :: ")
		if r.open || plausibleSuite(name) {
			r.open = true
			r.depth++
			r.suite = name
		}
		r.head, r.rule = "", true // the next heading may share the rule
		return
	}
	if r.open && r.last != nil {
		r.close()
	}
	r.rule = true
}

func plausibleSuite(name string) bool {
	return name != "" && name[0] != ' ' && !strings.ContainsAny(name, "=|<>{}[]\"")
}

// close hands on the result that is open: a test's.
func (r *robotConsole) close() {
	if r.last == nil {
		return
	}
	res := r.last
	r.last = nil
	t := model.Test{Suite: strings.ReplaceAll(r.suite, ".", " > "), Name: parse.FirstOf(strings.TrimSpace(strings.Split(res.name, " :: ")[0]), res.name), At: res.at}
	msg := strings.TrimSpace(strings.Join(res.text, "\n"))
	switch res.status {
	case "PASS":
		t.Status = model.Passed
	case "SKIP":
		t.Status, t.Message = model.Skipped, msg
	default:
		t.Status, t.Message, t.Trace, t.Kind = model.Failed, msg, msg, model.KindAssertion
		switch {
		case strings.HasPrefix(msg, "Parent suite setup failed") || strings.HasPrefix(msg, "Setup failed") || strings.HasPrefix(msg, "Parent suite teardown failed"):
			t.Kind = model.KindSetup
		case strings.Contains(msg, "timeout") && strings.Contains(msg, "exceeded"):
			t.Kind = model.KindTimeout
		case strings.HasPrefix(msg, "No keyword with name"):
			t.Kind = model.KindError
		}
		if a, e, ok := strings.Cut(parse.HeadLine(msg), " != "); ok {
			t.Actual, t.Expected = a, e
		}
	}
	r.out.Test(t)
}

// totals ends a suite: the result above was the suite's own.
func (r *robotConsole) totals(m []string) {
	res := r.last
	r.last = nil
	failed, _, _ := parse.LeadingInt(m[3])
	all, _, _ := parse.LeadingInt(m[1])
	passed, _, _ := parse.LeadingInt(m[2])
	skipped, _, _ := parse.LeadingInt(m[4])
	if failed == 0 && res.status != "FAIL" {
		failtext.RanFewer(r.out, "robot", res.at, passed+skipped, all)
	}
	text := strings.TrimSpace(strings.Join(res.text, "\n"))
	if res.status == "FAIL" && failed == 0 {
		r.out.Problem(model.Problem{Kind: model.KindSetup, Name: res.name, Message: parse.FirstOf(text, "the suite failed"), At: res.at})
	}
	if i := strings.LastIndexByte(r.suite, '.'); i > 0 {
		r.suite = r.suite[:i]
	}
	if r.depth--; r.depth <= 0 {
		r.open, r.depth = false, 0
	}
}

func (r *robotConsole) End() {
	if r.open && r.rows {
		r.close()
		r.out.Problem(model.Problem{Kind: model.KindTruncated, At: r.at, Message: "the output of Robot Framework ends before its totals"})
	}
	*r = robotConsole{out: r.out, lim: r.lim}
}
