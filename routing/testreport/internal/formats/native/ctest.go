package native

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// ctestFormat reads the console of CTest.
var ctestFormat = format.Format{
	Name:    "ctest",
	Order:   660,
	Wakes:   &format.Wake{Flush: format.Digits + "TNt", Indent: format.Digits},
	Console: func(out model.Sink, lim model.Limits) format.Console { return &ctestConsole{out: out, lim: lim} },
}

type ctestConsole struct {
	out model.Sink
	lim model.Limits

	open    bool
	ran     bool
	at      int
	failing []*failtext.Failure
	byName  map[string]*failtext.Failure
	passed  map[string]bool   // that failed before: --repeat until-pass
	cur     *failtext.Failure // of the last result; its output follows
	list    bool              // in "The following tests FAILED:"
	summed  bool
	stated  int
	running string         // the last one that began
	nth, of int            // "2/3" of the last result
	above   *bounded.Block // with -V what a test prints stands above its result
}

func (c *ctestConsole) Idle() bool {
	return !c.open && !c.list && c.cur == nil && c.above == nil
}

func (c *ctestConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			c.End()
		}
		return false
	}
	c.at = l.No
	t := l.Text
	if t == "" {
		return c.text("")
	}
	s := strings.TrimLeft(t, " ")
	switch {
	case s == "":
		return false
	case s[0] >= '0' && s[0] <= '9':
		if c.list && strings.Contains(s, " - ") {
			return c.listed(s)
		}
		if strings.Contains(s, " Test ") && strings.Contains(s, "/") && c.result(s) {
			return true
		}
		if c.open && strings.Contains(s, "% tests passed, ") {
			return c.totals(s)
		}
	case t[0] == 'T' && strings.HasPrefix(t, "Test project "):
		c.End()
		c.begin()
		return true
	case t[0] == 'T' && strings.HasPrefix(t, "The following tests FAILED:") && c.open:
		c.list, c.cur = true, nil
		return true
	case t[0] == 'T' && c.open && strings.HasPrefix(t, "Total Test time (real) ="):
		c.cur = nil
		return true
	case t[0] == 'N' && t == "No tests were found!!!":
		c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "ctest", Message: t, At: l.No})
		c.open = false
		return true
	case t[0] == 'E' && c.open && t == "Errors while running CTest":
		c.finish()
		return true
	case s[0] == 'S' && c.open && strings.HasPrefix(s, "Start "):
		c.cur = nil
		_, c.running, _ = strings.Cut(s, ": ")
		c.running = strings.Clone(c.running)
		return true
	case s[0] == 'T' && c.open && strings.HasPrefix(s, "Test ") && strings.Contains(s, "#"):
		if c.attempt(s) {
			return true
		}
	case t[0] == 't' && c.open && strings.HasPrefix(t, "test ") && parse.IsIdent(t[5:], ""):
		c.cur, c.above = nil, &bounded.Block{Max: c.lim.Text / 2}
		return true
	case t[0] == '\t' && c.list:
		return c.listed(strings.TrimSpace(t))
	}
	return c.text(t)
}

func (c *ctestConsole) begin() {
	if !c.open {
		*c = ctestConsole{out: c.out, lim: c.lim, open: true, byName: map[string]*failtext.Failure{}, passed: map[string]bool{}, stated: -1}
	}
}

// result reads "2/3 Test #2: name ......***Failed  Error text  0.01 sec".
func (c *ctestConsole) result(s string) bool {
	nth, rest, _ := parse.LeadingInt(s)
	if rest == "" || rest[0] != '/' {
		return false
	}
	of, rest, ok := parse.LeadingInt(rest[1:])
	if !ok || !strings.HasPrefix(rest, " Test ") || !c.attempt(rest[1:]) {
		return false
	}
	c.nth, c.of = nth, of
	return true
}

// attempt reads the same without its number, as a repeated test is printed.
func (c *ctestConsole) attempt(s string) bool {
	rest := strings.TrimLeft(s[len("Test "):], " ")
	if rest == "" || rest[0] != '#' {
		return false
	}
	_, rest, ok := parse.LeadingInt(rest[1:])
	if !ok || !strings.HasPrefix(rest, ": ") {
		return false
	}
	rest = rest[2:]
	name, how, ok := cutCTest(rest)
	if !ok || !strings.HasSuffix(how, " sec") && !(c.open && strings.HasPrefix(how, "***Failed")) {
		return false
	}
	c.begin()
	c.ran, c.cur, c.list, c.running = true, nil, false, ""
	fields := strings.Fields(how)
	secs := ""
	if len(fields) >= 2 && fields[len(fields)-1] == "sec" {
		secs = fields[len(fields)-2]
		how = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(how), "sec"), secs+" "))
	}
	t := model.Test{Name: name, Duration: parse.Spent(secs), At: c.at}
	switch {
	case strings.HasPrefix(how, "Passed"):
		t.Status = model.Passed
		if c.byName[name] != nil {
			c.passed[strings.Clone(name)] = true
			return true
		}
	case strings.Contains(how, "***Skipped"), strings.Contains(how, "***Not Run (Disabled)"):
		t.Status = model.Skipped
	default:
		t.Status = model.Failed
		t.Kind, t.Message = ctestOutcome(how)
		c.fail(t)
		return true
	}
	c.out.Test(t)
	return true
}

// cutCTest splits "name ....   Passed" and "name ....***Failed". The dots fill
// the line; a name may hold dots and blanks of its own.
func cutCTest(s string) (name, how string, ok bool) {
	i := strings.LastIndex(s, " ..")
	if i <= 0 {
		return "", "", false
	}
	how = strings.TrimSpace(strings.TrimLeft(s[i+1:], "."))
	if how == "" || !strings.HasPrefix(how, "Passed") && !strings.Contains(how, "***") && !strings.HasPrefix(how, "Bad Command") {
		return "", "", false
	}
	return s[:i], how, true
}

// ctestOutcome reads "***Failed", "***Timeout", "***Exception: SegFault", "***Not Run".
func ctestOutcome(how string) (model.Kind, string) {
	how = strings.TrimSpace(strings.Replace(how, "***", " ", 1))
	switch {
	case strings.HasPrefix(how, "Timeout"):
		return model.KindTimeout, how
	case strings.Contains(how, "Exception"), strings.Contains(how, "Subprocess aborted"), strings.Contains(how, "Subprocess killed"), strings.HasPrefix(how, "SEGFAULT"):
		return model.KindCrash, how
	case strings.HasPrefix(how, "Not Run"), strings.HasPrefix(how, "Bad Command"):
		return model.KindSetup, how
	}
	return model.KindError, how
}

func (c *ctestConsole) fail(t model.Test) {
	if old := c.byName[t.Name]; old != nil {
		old.Test.Retries++
		c.cur = old
		return
	}
	f := failtext.NewFailure(t, failtext.Shrunk(c.lim, len(c.failing)))
	c.cur = f
	if c.above != nil {
		f.Says(c.above)
		c.above, c.cur = nil, nil
	}
	if len(c.failing) < 5*c.lim.Failing {
		c.failing = append(c.failing, f)
		c.byName[f.Test.Name] = f
	}
}

// listed reads "	  2 - name (Failed)" of the list at the end.
func (c *ctestConsole) listed(s string) bool {
	_, rest, ok := parse.LeadingInt(s)
	if !ok || !strings.HasPrefix(rest, " - ") {
		return false
	}
	name := rest[3:]
	how := ""
	if i := strings.LastIndex(name, " ("); i > 0 {
		name, how, _ = strings.Cut(name[:i]+"\x00"+strings.TrimRight(strings.Split(name[i+2:]+")", ")")[0], ")"), "\x00")
	}
	if c.byName[name] == nil {
		t := model.Test{Name: name, Status: model.Failed, At: c.at}
		t.Kind, t.Message = ctestOutcome(how)
		c.fail(t)
		c.cur = nil
	}
	return true
}

// totals reads "67% tests passed, 1 tests failed out of 3".
func (c *ctestConsole) totals(s string) bool {
	c.cur = nil
	_, rest, _ := strings.Cut(s, "% tests passed, ")
	n, rest, ok := parse.LeadingInt(rest)
	if !ok || !strings.Contains(rest, " failed out of ") {
		return false
	}
	c.summed, c.stated = true, n
	return true
}

func (c *ctestConsole) text(t string) bool {
	if c.above != nil && t != "" && t[0] >= '0' && t[0] <= '9' {
		if _, rest, ok := parse.LeadingInt(t); ok && strings.HasPrefix(rest, ": ") {
			c.above.Add(rest[2:])
		}
		return false
	}
	if c.cur != nil {
		c.cur.Text.Add(t)
	}
	return false
}

func (c *ctestConsole) finish() {
	if !c.open {
		return
	}
	named := 0
	for _, f := range c.failing {
		t := &f.Test
		how := t.Message
		if c.passed[t.Name] {
			t.Status, t.Flaky, t.Retries = model.Passed, true, t.Retries+1
		} else {
			named++
		}
		if text := strings.TrimSpace(f.Text.String()); text != "" {
			kind := t.Kind
			explainCpp(t, text)
			t.Kind, t.Message = kind, how
			if said := failtext.LastWords(text); said != "" {
				t.Message = how + ": " + said
			}
		}
		c.out.Test(*t)
	}
	switch {
	case c.stated > named:
		failtext.Unnamed(c.out, "ctest", c.stated, named, c.at)
	case !c.summed && (c.ran || c.running != ""):
		p := model.Problem{Kind: model.KindTruncated, At: c.at, Message: "the output of CTest ends before its totals"}
		if c.running != "" {
			p.Name, p.Message = c.running, "the output of CTest ends while "+c.running+" runs"
		}
		c.out.Problem(p)
	case named == 0 && c.stated <= 0:
		failtext.RanFewer(c.out, "ctest", c.at, c.nth, c.of)
	}
	c.open = false
}

func (c *ctestConsole) End() { c.finish() }
