package generic

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// luaunitFormat reads the text output of luaunit, the library of Lua.
var luaunitFormat = format.Format{
	Name:  "luaunit",
	Order: 860,
	Wakes: &format.Wake{Flush: "TFR"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &luaunitConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// luaunitConsole holds the lists of failures until the totals, which stand below them.
type luaunitConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	heading string // "Failed tests:" or "Tests with errors:", whose rule follows
	list    string // the list that is read
	cur     *failtext.Entry
	tests   []*failtext.Entry
	quoted  []string // totals with failures that no list names: a test printed them if others follow
	at      int      // their line
}

var luaunitTotals = lazyregexp.New(`^Ran (\d+) tests in \d+(?:\.\d+)? seconds, (\d+) success(?:es)?(?:, (\d+) failures?)?(?:, (\d+) errors?)?(?:, (\d+) skipped)?(?:, (\d+) non-selected)?$`)

func (c *luaunitConsole) Idle() bool {
	return c.heading == "" && c.list == "" && len(c.tests) == 0 && c.quoted == nil
}

func (c *luaunitConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			c.End()
		}
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	heading := c.heading
	c.heading = ""
	switch {
	case t == "Failed tests:" || t == "Tests with errors:":
		c.heading = t
		return c.list != ""
	case heading != "" && parse.OnlyOf(t, '-', len(heading)):
		c.list, c.cur = heading, nil
		return true
	case strings.HasPrefix(t, "Ran "):
		if m := luaunitTotals.FindStringSubmatch(t); m != nil {
			if c.quoted = nil; atoi(m[3])+atoi(m[4]) > 0 && len(c.tests) == 0 {
				c.quoted, c.at = m, l.No
				return true
			}
			c.totals(m, l.No)
			return true
		}
	}
	if c.list == "" {
		return false
	}
	if n, rest, ok := parse.LeadingInt(t); ok && n > 0 && strings.HasPrefix(rest, ") ") && !strings.Contains(rest[2:], " ") {
		test := model.Test{Name: rest[2:], At: l.No, Kind: model.KindAssertion}
		if i := strings.LastIndexByte(test.Name, '.'); i > 0 {
			test.Suite, test.Name = test.Name[:i], test.Name[i+1:]
		}
		if c.list == "Tests with errors:" {
			test.Kind = model.KindError
		}
		c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.tests)), test)
		if len(c.tests) < 5*c.lim.Failing {
			c.tests = append(c.tests, c.cur)
		}
		return true
	}
	if c.cur != nil && c.cur.Lines < failtext.FailureLines {
		c.cur.Add(t)
		return true
	}
	return false
}

func (c *luaunitConsole) totals(m []string, at int) {
	failed := atoi(m[3]) + atoi(m[4])
	if failed > 0 {
		for _, f := range c.tests {
			text := strings.TrimSpace(f.Text.String())
			msg, _, _ := strings.Cut(text, "\nstack traceback:")
			if file, line, _, ok := parse.Location(placeOf(msg)); ok {
				f.Test.File, f.Test.Line = file, line
				msg = strings.TrimPrefix(msg[len(placeOf(msg)):], ": ")
			}
			f.Test.Message = msg
			c.out.Test(f.Done())
		}
		failtext.Unnamed(c.out, "luaunit", failed, len(c.tests), at)
	}
	c.anon.Emit(c.out, atoi(m[2]), model.Test{Status: model.Passed, At: at})
	c.anon.Emit(c.out, atoi(m[5]), model.Test{Status: model.Skipped, At: at})
	*c = luaunitConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// placeOf returns "file.lua:5" of "file.lua:5: message".
func placeOf(msg string) string {
	i := strings.Index(msg, ": ")
	if i < 0 || strings.ContainsAny(msg[:i], " \n") {
		return ""
	}
	return msg[:i]
}

func atoi(s string) int {
	n, _, _ := parse.LeadingInt(s)
	return n
}

func (c *luaunitConsole) End() {
	if c.quoted != nil {
		c.totals(c.quoted, c.at)
	}
	*c = luaunitConsole{out: c.out, lim: c.lim, anon: c.anon}
}
