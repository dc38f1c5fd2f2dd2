package generic

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// cucumberFormat reads the consoles of Cucumber (Ruby, JavaScript, JVM) and behave.
var cucumberFormat = format.Format{
	Name:  "cucumber",
	Order: 540,
	Wakes: &format.Wake{Flush: format.Digits + "AEFPSUW", Indent: format.Digits + "S"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &cucumberConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type cucumberConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	blocks  map[string]*failtext.Entry // by place "features/a.feature:5"
	cur     *failtext.Entry
	listing bool // below "Failing scenarios:"
	numbers bool // below "Failures:", where cucumber-js numbers scenarios
	failing []cucumberScenario
	strict  bool // undefined and pending ones are listed, as they fail a run
	behave  bool // "1 feature passed, …" was seen
	at      int
}

type cucumberScenario struct {
	place, name string
	at          int
}

func (c *cucumberConsole) Idle() bool {
	return c.cur == nil && !c.listing
}

func (c *cucumberConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		return false
	}
	s := strings.TrimLeft(t, " ")
	if c.listing {
		if c.listed(l.No, s) {
			return true
		}
		c.listing = strings.HasPrefix(s, "@")
	}
	switch {
	case t[0] >= '0' && t[0] <= '9' && c.totals(l.No, t):
		return true
	case t == "Failing Scenarios:" || t == "Failing scenarios:" || t == "Failed scenarios:" || t == "Errored scenarios:" || t == "Undefined scenarios:" || t == "Pending scenarios:" || t == "Ambiguous scenarios:":
		c.cur = nil
		c.listing = t[0] == 'F' || t[0] == 'E' || t[0] == 'A'
		c.numbers = c.listing
		c.strict = c.strict || t[0] == 'U' || t[0] == 'P'
		return false
	case t == "Failures:" || t == "Warnings:":
		c.cur, c.numbers = nil, t[0] == 'F'
		return false
	}
	return c.step(l.No, t, s)
}

// step follows scenarios and keeps what stands below one until it is known
// whether it failed: "  Scenario: name   # features/a.feature:5".
func (c *cucumberConsole) step(no int, t, s string) bool {
	if s[0] == '#' && c.cur != nil {
		return false
	}
	i := -1
	if s[0] == 'S' || s[0] >= '0' && s[0] <= '9' {
		if strings.HasPrefix(strings.TrimLeft(s, "0123456789) "), "Scenario") || c.numbers && numberedTitle(s) {
			i = strings.LastIndex(s, " # ")
		}
	}
	if i > 0 {
		place := strings.TrimPrefix(strings.Fields(s[i+3:] + " x")[0], "./")
		if file, _, _, ok := parse.Location(place); ok && strings.HasSuffix(file, ".feature") {
			if c.blocks == nil {
				c.blocks = map[string]*failtext.Entry{}
			}
			if _, seen := c.blocks[place]; !seen && len(c.blocks) > 2000 {
				clear(c.blocks) // what failed stands in the list anyway
			}
			c.cur = failtext.NewEntry(model.Limits{Text: min(c.lim.Text, 4<<10)}, model.Test{At: no})
			c.blocks[place] = c.cur
			if c.numbers && s[0] >= '0' && s[0] <= '9' {
				_, name, _ := strings.Cut(s[:i], ") ")
				return c.listed(no, place+" # "+strings.TrimSpace(name))
			}
			return false
		}
	}
	if c.cur == nil {
		return false
	}
	if c.cur.Lines > 200 {
		c.cur = nil
		return false
	}
	c.cur.Add(t)
	return false
}

// numberedTitle recognises "3) name".
func numberedTitle(s string) bool {
	_, rest, ok := parse.LeadingInt(s)
	return ok && strings.HasPrefix(rest, ") ")
}

// listed takes "cucumber features/a.feature:5 # Scenario: fails",
// "features/a.feature:5  fails", "file:///a.feature:5 # fails".
func (c *cucumberConsole) listed(no int, s string) bool {
	rest := s
	if r, ok := strings.CutPrefix(rest, "cucumber "); ok {
		rest = r
		for strings.HasPrefix(rest, "-") { // "-p profile"
			_, after, ok := strings.Cut(rest, " ")
			_, after2, ok2 := strings.Cut(after, " ")
			if !ok || !ok2 {
				return false
			}
			rest = after2
		}
	}
	place, name, _ := strings.Cut(rest, " ")
	place = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(place, "file://"), "classpath:"), "./")
	file, _, _, ok := parse.Location(place)
	if !ok || !strings.HasSuffix(file, ".feature") {
		return false
	}
	name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "# "))
	for _, p := range [...]string{"Scenario Outline: ", "Scenario: ", "Example: ", "Scenario Template: "} {
		name = strings.TrimPrefix(name, p)
	}
	if len(c.failing) < 20*c.lim.Failing {
		for _, f := range c.failing[max(0, len(c.failing)-100):] {
			if f.place == place {
				return true
			}
		}
		c.failing = append(c.failing, cucumberScenario{place, strings.TrimSpace(name), no})
	}
	return true
}

// totals takes "3 scenarios (1 failed, 2 passed)" and behave's
// "3 scenarios passed, 1 failed, 0 skipped".
func (c *cucumberConsole) totals(no int, t string) bool {
	n, word, ok := parse.Counted(t)
	if !ok {
		return false
	}
	if rest, upper := strings.CutPrefix(word, "Scenario"); upper { // Cucumber-JVM
		word = "scenario" + rest
	}
	switch {
	case strings.HasPrefix(word, "feature passed, ") || strings.HasPrefix(word, "features passed, "):
		c.behave = true
		return true
	case c.behave && (strings.HasPrefix(word, "scenario passed, ") || strings.HasPrefix(word, "scenarios passed, ")):
		_, rest, _ := strings.Cut(word, ", ")
		return c.finish(no, n, n, rest)
	case strings.HasPrefix(word, "scenario"):
		word = strings.TrimPrefix(strings.TrimPrefix(word, "scenario"), "s")
		in := strings.TrimSuffix(strings.TrimPrefix(word, " ("), ")")
		if word != "" && (!strings.HasPrefix(word, " (") || !strings.HasSuffix(word, ")")) {
			return false
		}
		return c.finish(no, n, 0, in)
	}
	return false
}

func (c *cucumberConsole) finish(no, all, passed int, rest string) bool {
	var failed, skipped, undefined, untested int
	ok := parse.CountedList(strings.ReplaceAll(rest, "(", ""), func(n int, word string) bool {
		switch strings.TrimRight(word, ")") {
		case "passed":
			passed = n
		case "failed":
			failed += n
		case "error", "errored", "ambiguous":
			failed += n
		case "skipped":
			skipped += n
		case "untested":
			skipped += n
			untested = n
		case "undefined", "pending":
			undefined += n
		default:
			return false
		}
		return true
	})
	if !ok || c.blocks == nil && len(c.failing) == 0 && all > 0 && passed+failed+skipped+undefined == 0 {
		return false
	}
	for _, s := range c.failing {
		c.out.Test(c.failed(s))
	}
	c.anon.Emit(c.out, passed, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, skipped, model.Test{Status: model.Skipped, At: no})
	if extra := len(c.failing) - failed; extra > 0 { // strict: undefined ones are listed as failing
		undefined -= extra
	}
	c.anon.Emit(c.out, undefined, model.Test{Status: model.Pending, At: no})
	failtext.Unnamed(c.out, "cucumber", failed, len(c.failing), no)
	if c.strict && undefined > 0 && failed+len(c.failing) == 0 {
		c.out.Problem(model.Problem{Kind: model.KindExit, Name: "cucumber", Message: parse.Plural(undefined, "scenario") + " with undefined or pending steps, which fail a strict run", At: no})
	}
	if failed+len(c.failing) == 0 && passed > 0 {
		// behave counts those that it did not come to.
		failtext.RanFewer(c.out, "cucumber", no, passed+skipped+undefined-untested, passed+skipped+undefined)
	}
	*c = cucumberConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

func (c *cucumberConsole) failed(s cucumberScenario) model.Test {
	f := c.blocks[s.place]
	if f == nil {
		f = failtext.NewEntry(c.lim, model.Test{At: s.at})
	}
	file, line, _, _ := parse.Location(s.place)
	f.Test.Name, f.Test.Suite, f.Test.File, f.Test.Line = s.name, file, file, line
	text := parse.Unindent(f.Text.String())
	var msg []string
	for _, l := range strings.Split(text, "\n") {
		s := strings.TrimSpace(l)
		if s == "" {
			if len(msg) > 0 {
				msg = append(msg, "")
			}
			continue
		}
		if strings.Contains(s, " # ") || (failtext.IsStackFrame(s) || s == "+ expected - actual") && len(msg) > 0 {
			if len(msg) > 0 {
				break
			}
			continue
		}
		if r, ok := strings.CutPrefix(s, "Assertion Failed: "); ok {
			s, f.Test.Kind = r, model.KindAssertion
		}
		msg = append(msg, s)
	}
	if _, rest, found := strings.Cut(text, "Traceback (most recent call last):"); found {
		text = "Traceback (most recent call last):" + rest
		for strings.Contains(text, "\n ") && !strings.Contains(text, "\n  File") { // below the step's indentation
			text = strings.ReplaceAll(text, "\n ", "\n")
		}
	}
	if m, typ := failtext.PythonException(text); typ != "" {
		f.Test.Message, f.Test.Type, f.Test.Kind = m, typ, model.KindError
	} else {
		f.Test.Message = strings.TrimSpace(strings.Join(msg[:min(len(msg), 20)], "\n"))
	}
	if f.Test.Message == "" && strings.Contains(text, " # None") {
		f.Test.Message = "undefined step"
	}
	return f.Done()
}

func (c *cucumberConsole) End() {
	for _, s := range c.failing {
		c.out.Test(c.failed(s))
		c.at = s.at
	}
	if len(c.failing) > 0 {
		c.out.Problem(failtext.CutOff("cucumber", "the output ends before its totals", c.at))
	}
	*c = cucumberConsole{out: c.out, lim: c.lim, anon: c.anon}
}
