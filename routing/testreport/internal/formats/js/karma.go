package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// karmaFormat reads Karma's progress and dots reporters.
var karmaFormat = format.Format{
	Name:  "karma",
	Order: 560,
	Wakes: &format.Wake{Flush: "S", Holds: '('},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &karmaConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type karmaConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	browsers []karmaBrowser
	cur      *failtext.Entry
	at       int
	sum      *karmaSummary
	marks    int // one more than the lines "✖ name" since "START:", 0 before it
}

// karmaSummary is what karma-mocha-reporter ends with.
type karmaSummary struct {
	passed, skipped, failed, named int
	list                           bool // below "FAILED TESTS:"
	tree                           []nodeGroup
	at                             int
}

// karmaBrowser is the last progress of one browser.
type karmaBrowser struct {
	name                             string
	executed, total, failed, skipped int
	named                            int
	problem                          bool
	at                               int
}

func (c *karmaConsole) Idle() bool {
	return c.cur == nil && c.sum == nil && c.marks == 0
}

func (c *karmaConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if c.sum != nil && t != "" {
		if claimed, done := c.summary(l.No, t); done {
			return claimed
		}
	}
	c.mark(t)
	if len(t) < 8 {
		if c.cur != nil {
			c.cur.Add(t)
		}
		return false
	}
	if t[0] == '\t' || t[0] == ' ' {
		if c.cur != nil && c.cur.Lines < failtext.FailureLines {
			c.cur.Add(strings.ReplaceAll(t, "\t", "    "))
			return true
		}
		return false
	}
	if t == "SUMMARY:" {
		c.closeEntry()
		c.sum = &karmaSummary{at: l.No}
		return false
	}
	if i := strings.Index(t, "): Executed "); i > 0 && strings.IndexByte(t[:i], '(') > 0 && c.progress(l.No, t[:i+1], t[i+len("): Executed "):]) {
		return true
	}
	if name, ok := strings.CutSuffix(t, " FAILED"); ok && c.failed(l.No, name) {
		return true
	}
	return c.trouble(l.No, t)
}

// mark counts the failing lines of karma-mocha-reporter's tree.
func (c *karmaConsole) mark(t string) {
	switch {
	case t == "START:":
		c.marks = 1
	case c.marks > 0 && strings.HasPrefix(strings.TrimLeft(t, " "), "✖ "):
		c.marks++
	}
}

// summary takes the lines of karma-mocha-reporter's end.
func (c *karmaConsole) summary(no int, t string) (claimed, done bool) {
	s := strings.TrimLeft(t, " ")
	indent := len(t) - len(s)
	u := c.sum
	if mark, rest, ok := strings.Cut(t, " "); ok && indent == 0 {
		if n, word, ok := parse.Counted(rest); ok && (strings.HasPrefix(word, "test ") || strings.HasPrefix(word, "tests ")) {
			switch {
			case mark == "✔" && strings.HasSuffix(word, " completed"):
				u.passed = n
				return true, true
			case mark == "ℹ" && strings.HasSuffix(word, " skipped"):
				u.skipped = n
				return true, true
			case mark == "✖" && strings.HasSuffix(word, " failed"):
				u.failed = n
				return true, true
			}
		}
	}
	if t == "FAILED TESTS:" && u.failed > 0 {
		u.list = true
		return true, true
	}
	if indent == 0 || !u.list {
		c.closeSummary()
		return false, false
	}
	if c.cur != nil && indent > u.tree[len(u.tree)-1].indent {
		if karmaBrowserName(s+" ") == 0 { // the browsers it failed in
			c.cur.Add(t)
		}
		return true, true
	}
	if c.cur != nil && indent == u.tree[len(u.tree)-1].indent && !strings.HasPrefix(s, "✖ ") && c.cur.Lines == 0 {
		c.cur.Add(t)
		return true, true
	}
	return c.summaryTree(no, indent, s), true
}

func (c *karmaConsole) summaryTree(no, indent int, s string) bool {
	u := c.sum
	c.closeEntry()
	for n := len(u.tree); n > 0 && u.tree[n-1].indent >= indent; n-- {
		u.tree = u.tree[:n-1]
	}
	if name, ok := strings.CutPrefix(s, "✖ "); ok {
		path := make([]string, len(u.tree))
		for i, g := range u.tree {
			path[i] = g.name
		}
		c.cur = failtext.NewEntry(c.lim, model.Test{Suite: strings.Join(path, " > "), Name: name, At: no})
		u.named++
	}
	if len(u.tree) < 50 {
		u.tree = append(u.tree, nodeGroup{indent, s})
	}
	return true
}

// closeSummary emits the totals, unless the browsers' own are known.
func (c *karmaConsole) closeSummary() {
	u := c.sum
	c.closeEntry()
	c.sum = nil
	if u == nil || u.passed+u.skipped+u.failed == 0 || len(c.browsers) > 0 {
		return
	}
	c.anon.Emit(c.out, u.passed, model.Test{Status: model.Passed, At: u.at})
	c.anon.Emit(c.out, u.skipped, model.Test{Status: model.Skipped, At: u.at})
	failtext.Unnamed(c.out, "karma", u.failed, u.named, u.at)
	if u.failed == 0 && c.marks > 1 {
		c.out.Problem(failtext.CutOff("karma", "the summary ends before the number of failures", u.at))
	}
	c.marks = 0
}

// progress takes "3 of 3 (1 FAILED) (skipped 1) (0.01 secs / 0.002 secs)"; only
// the last of a browser counts.
func (c *karmaConsole) progress(no int, browser, s string) bool {
	n, rest, ok := parse.LeadingInt(s)
	if !ok || !strings.HasPrefix(rest, " of ") {
		return false
	}
	total, rest, ok := parse.LeadingInt(rest[len(" of "):])
	if !ok {
		return false
	}
	c.closeEntry()
	b := c.browser(browser)
	if n < b.executed || total != b.total && b.total > 0 {
		c.flush(b) // another run
		b = c.browser(browser)
	}
	b.executed, b.total, b.at = n, total, no
	if i := strings.Index(rest, " FAILED)"); i > 0 {
		b.failed, _, _ = parse.LeadingInt(rest[strings.LastIndexByte(rest[:i], '(')+1:])
	}
	if _, skipped, found := strings.Cut(rest, "(skipped "); found {
		b.skipped, _, _ = parse.LeadingInt(skipped)
	}
	c.at = no
	return true
}

func (c *karmaConsole) browser(name string) *karmaBrowser {
	for i := range c.browsers {
		if c.browsers[i].name == name {
			return &c.browsers[i]
		}
	}
	if len(c.browsers) >= 64 {
		return &c.browsers[0]
	}
	c.browsers = append(c.browsers, karmaBrowser{name: name})
	return &c.browsers[len(c.browsers)-1]
}

// karmaBrowserName reads "Chrome Headless 114.0.5735.90 (Linux x86_64) " at the
// start of a line and returns its length.
func karmaBrowserName(t string) int {
	i := strings.Index(t, ") ")
	if i < 0 || i > 120 {
		return 0
	}
	open := strings.LastIndexByte(t[:i], '(')
	if open < 3 || t[open-1] != ' ' {
		return 0
	}
	version := t[strings.LastIndexByte(t[:open-1], ' ')+1 : open-1]
	if _, rest, ok := parse.LeadingInt(version); !ok || !strings.HasPrefix(rest, ".") || t[0] < 'A' || t[0] > 'Z' {
		return 0
	}
	return i + 2
}

// failed takes "Chrome 114.0.0.0 (Linux) suite name FAILED".
func (c *karmaConsole) failed(no int, t string) bool {
	n := karmaBrowserName(t)
	if n == 0 || n >= len(t) {
		return false
	}
	c.closeEntry()
	c.cur = failtext.NewEntry(c.lim, model.Test{Name: t[n:], Output: t[:n-1], At: no})
	return true
}

// trouble takes what a browser says apart from tests.
func (c *karmaConsole) trouble(no int, t string) bool {
	if c.cur != nil {
		c.closeEntry()
	}
	n := karmaBrowserName(t)
	if n == 0 {
		return false
	}
	switch rest := t[n:]; {
	case rest == "ERROR", strings.HasPrefix(rest, "DISCONNECTED"):
		b := c.browser(t[:n-1])
		if !b.problem {
			b.problem = true
			c.out.Problem(model.Problem{Kind: model.KindExit, Name: t[:n-1], Message: t, At: no})
		}
		return true
	}
	return false
}

func (c *karmaConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	if f == nil {
		return
	}
	if c.sum != nil {
		c.out.Test(f.Done())
		return
	}
	b := c.browser(f.Test.Output)
	f.Test.Output = ""
	b.named++
	b.at = max(b.at, f.Test.At)
	c.out.Test(f.Done())
}

// flush emits a browser's totals and forgets it.
func (c *karmaConsole) flush(b *karmaBrowser) {
	skipped := min(b.skipped, b.executed)
	if b.executed < b.total && b.skipped > 0 && b.executed+b.skipped >= b.total {
		skipped = b.total - b.executed // newer versions do not count them as executed
		c.anon.Emit(c.out, b.executed-max(b.failed, b.named), model.Test{Status: model.Passed, At: b.at})
	} else {
		c.anon.Emit(c.out, b.executed-max(b.failed, b.named)-skipped, model.Test{Status: model.Passed, At: b.at})
	}
	c.anon.Emit(c.out, skipped, model.Test{Status: model.Skipped, At: b.at})
	failtext.Unnamed(c.out, "karma", b.failed, b.named, b.at)
	if b.executed+b.skipped < b.total && !b.problem || b.total == 0 && b.named > 0 {
		c.out.Problem(failtext.CutOff("karma", b.name+" did not execute all tests", b.at))
	}
	for i := range c.browsers {
		if &c.browsers[i] == b {
			c.browsers = append(c.browsers[:i], c.browsers[i+1:]...)
			return
		}
	}
}

func (c *karmaConsole) End() {
	c.closeSummary()
	c.closeEntry()
	for len(c.browsers) > 0 {
		c.flush(&c.browsers[0])
	}
	*c = karmaConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// karmaJSONFormat reads what karma-json-reporter writes.
var karmaJSONFormat = format.Format{
	Name:  "karma-json",
	Order: 270,
	Opens: []string{"browsers", "result", "summary"}, Document: readKarmaJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"browsers"`, func(h jsonstream.Head) bool {
		return h.Has("browsers") && h.Any("result", "summary", "browsers") && karmaBrowsers(h)
	}),
}

// karmaBrowsers looks for what karma states of each browser.
func karmaBrowsers(h jsonstream.Head) bool {
	for p := range h {
		if strings.HasPrefix(p, "browsers.") && strings.HasSuffix(p, ".lastResult") || strings.HasPrefix(p, "summary.disconnected") {
			return true
		}
	}
	return false
}

func readKarmaJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "karma-json", func(r *jsonstream.Reader) bool {
		at := r.At()
		var known, broken, disconnected bool
		n := failtext.NewTally(d)
		failed, passed, declared, exit := 0, 0, 0, 0
		whole := r.Object(func(key string) {
			switch key {
			case "result":
				known = true
				r.Object(func(string) {
					r.Array(func() {
						t, ok := karmaTest(r)
						if !ok {
							return
						}
						if t.Status == model.Failed {
							failed++
						}
						d.Out.Test(t)
					})
				})
			case "summary":
				known = true
				r.Object(func(key string) {
					switch key {
					case "failed":
						declared = r.Int()
					case "success":
						passed = r.Int()
					case "error":
						broken = r.Truth()
					case "disconnected":
						disconnected = r.Truth()
					case "exitCode":
						exit = r.Int()
					}
				})
			}
		})
		if !whole {
			return known
		}
		failtext.UnnamedFailures(d.Out, at, declared, failed, "karma")
		switch {
		case disconnected:
			d.Out.Problem(model.Problem{Kind: model.KindCrash, Name: "karma", At: at, Message: "a browser disconnected before its tests ended"})
		case (broken || exit != 0) && failed == 0 && declared == 0:
			d.Out.Problem(model.Problem{Kind: model.KindExit, Name: "karma", At: at, Message: "karma failed, but no test did: an error outside the tests, or none ran"})
		}
		n.Fewer("karma", at, passed, n.Passed)
		return known
	})
}

func karmaTest(r *jsonstream.Reader) (model.Test, bool) {
	t := model.Test{At: r.At()}
	var path, logs []string
	var full string
	var success, skipped, pending bool
	whole := r.Object(func(key string) {
		switch key {
		case "suite":
			r.Array(func() { path = append(path, r.Short(1000)) })
		case "description":
			t.Name = r.Short(2000)
		case "fullName":
			full = r.Short(2000)
		case "success":
			success = r.Truth()
		case "skipped", "disabled":
			skipped = r.Truth() || skipped
		case "pending":
			pending = r.Truth()
		case "time":
			t.Duration = parse.Millis(r.Float())
		case "log":
			r.Array(func() { logs = failtext.KeepSome(logs, r.Str()) })
		}
	})
	if !whole {
		return t, false
	}
	t.Suite, t.Name = parse.JoinPath(path...), parse.FirstOf(t.Name, full, "(no name)")
	switch {
	case skipped || pending:
		t.Status = model.Skipped
	case success:
		t.Status = model.Passed
	default:
		t.Status = model.Failed
		if len(logs) > 0 {
			jsFailure(&t, strings.ReplaceAll(logs[0], "\n    at <Jasmine>", ""))
			t.File = karmaPath(t.File)
			t.Trace = strings.Join(logs, "\n\n")
		}
	}
	return t, true
}

// karmaPath makes a path of the address at which karma serves a file:
// "http://localhost:9876/base/a.js?hash".
func karmaPath(file string) string {
	if !strings.HasPrefix(file, "http://") && !strings.HasPrefix(file, "https://") {
		return file
	}
	file, _, _ = strings.Cut(file, "?")
	if _, path, ok := strings.Cut(file, "/base/"); ok {
		return path
	}
	if _, path, ok := strings.Cut(file, "/absolute/"); ok {
		return "/" + path
	}
	return file
}
