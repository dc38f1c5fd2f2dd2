package golang

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// goTestJSONFormat reads the events of go test -json (see go doc test2json),
// also where other lines stand between them.
var goTestJSONFormat = format.Format{
	Name:    "gotest-json",
	Order:   350,
	Machine: true,
	Begins:  "{",
	Console: func(out model.Sink, lim model.Limits) format.Console { return newGoTestJSON(out, lim) },
}

// goTestJSON gathers events by package and test: names of tests alone repeat
// over packages.
type goTestJSON struct {
	out      model.Sink
	lim      model.Limits
	runs     goRuns
	open     map[string]*goPackage
	order    []string // of open
	builds   map[string]*goBuild
	buildIDs []string
	failed   map[string]bool // builds that failed
	event    goEvent
	text     string
	used     goUsed
	last     *goPackage
	lastTest *goTest
}

func newGoTestJSON(out model.Sink, lim model.Limits) *goTestJSON {
	return &goTestJSON{
		out: out, lim: lim, runs: goRuns{out: out, lim: lim},
		open: map[string]*goPackage{}, builds: map[string]*goBuild{}, failed: map[string]bool{},
	}
}

// Shown implements rewriter.
func (g *goTestJSON) Shown() string { return g.text }

func (g *goTestJSON) Line(l lines.Line) bool {
	if len(l.Text) < 12 || l.Text[0] != '{' || !strings.Contains(l.Text[:min(len(l.Text), 4096)], `"Action"`) {
		return false
	}
	e := &g.event
	ok, whole := e.scan(l.Text)
	if !ok || !whole && l.Cut == 0 || !goAction(e.Action) || e.Package == "" && e.ImportPath == "" && e.Time == "" && e.Test == "" && !e.hasOutput {
		// A stream without package names (test2json without -p) ends so.
		if !ok || !whole || len(g.open) == 0 || g.open[""] == nil || !goAction(e.Action) {
			return false
		}
	}
	e.Test = ownName(e.Test, l.Text)
	g.text = ""
	if e.hasOutput {
		g.text, _ = lines.Clean(lines.TrimEOL(e.Output))
	}
	g.take(e, l)
	return true
}

func goAction(a string) bool {
	switch a {
	case "start", "run", "pause", "cont", "pass", "bench", "fail", "output", "skip", "attr", "artifacts", "build-output", "build-fail":
		return true
	}
	return false
}

func (g *goTestJSON) take(e *goEvent, l lines.Line) {
	if e.Action == "build-output" || e.Action == "build-fail" {
		g.build(e, l)
		return
	}
	p := g.pkg(e.Package, l.No)
	if e.Test == "" {
		switch e.Action {
		case "output":
			g.output(p, nil, e, l)
		case "pass", "fail", "skip":
			p.result = strings.Clone(e.Action)
			p.failedFor = strings.Clone(e.FailedBuild)
			g.finish(p, l.No, true)
		}
		return
	}
	switch e.Action {
	case "run":
		g.lastTest = p.run(e.Test, l.No)
	case "output":
		g.output(p, g.test(p, e.Test, l.No), e, l)
	case "pass", "bench":
		p.end(p.test(e.Test, l.No), model.Passed, elapsed(e), l.No)
	case "fail":
		p.end(p.test(e.Test, l.No), model.Failed, elapsed(e), l.No)
	case "skip":
		p.end(p.test(e.Test, l.No), model.Skipped, elapsed(e), l.No)
	}
}

// pkg returns the open run of a package. The last one is looked at first: most
// lines come in long rows of one package.
func (g *goTestJSON) pkg(name string, at int) *goPackage {
	if p := g.last; p != nil && p.name == name && p.result == "" {
		return p
	}
	p := g.open[name]
	if p == nil {
		name = strings.Clone(name)
		p = newGoPackageOf(&g.used, name, g.lim, at)
		g.open[name] = p
		g.order = append(g.order, name)
	}
	g.last, g.lastTest = p, nil
	return p
}

func (g *goTestJSON) test(p *goPackage, name string, at int) *goTest {
	if t := g.lastTest; t != nil && t.name == name {
		return t
	}
	g.lastTest = p.test(name, at)
	return g.lastTest
}

func elapsed(e *goEvent) time.Duration {
	if e.Elapsed <= 0 || e.Elapsed > 1e8 {
		return 0
	}
	return time.Duration(e.Elapsed * float64(time.Second))
}

// output takes a line of output. Lines that begin in one event and end in
// another stay apart: only the first begins a panic or a place.
func (g *goTestJSON) output(p *goPackage, t *goTest, e *goEvent, l lines.Line) {
	text := g.text
	if t == nil {
		switch {
		case strings.HasSuffix(text, "[build failed]"):
			p.build = true
		case strings.HasSuffix(text, "[setup failed]"):
			p.setup = true
		}
	}
	p.print(t, text, l.No)
}

func (g *goTestJSON) build(e *goEvent, l lines.Line) {
	id := e.ImportPath
	if e.Action == "build-fail" {
		g.failed[strings.Clone(id)] = true
	}
	b := g.builds[id]
	if b == nil {
		if len(g.builds) >= g.lim.Failing {
			return
		}
		id = strings.Clone(id)
		pkg, _, _ := strings.Cut(id, " ")
		b = &goBuild{pkg: strings.TrimSuffix(pkg, ".test"), of: pkg, at: l.No}
		b.text.Max = g.lim.Text / 2
		g.builds[id] = b
		g.buildIDs = append(g.buildIDs, id)
	}
	if e.hasOutput && !b.line(g.text, l.No, g.out) {
		if strings.HasPrefix(g.text, "# ") {
			b.text.AddLine(g.text)
		} else {
			b.other(g.text)
		}
	}
}

// finish ends the run of a package.
func (g *goTestJSON) finish(p *goPackage, at int, whole bool) {
	delete(g.open, p.name)
	g.last, g.lastTest = nil, nil
	defer g.used.give(p)
	p.settle(whole)
	g.runs.take(p)
	if !whole {
		g.out.Problem(model.Problem{Kind: model.KindTruncated, Name: p.name, At: at, Message: "the output ends before package " + p.name + " does"})
	}
	if p.result != "fail" || p.failedTests() > 0 && !p.build && !p.setup {
		return
	}
	kind := model.KindBuild
	if p.setup {
		kind = model.KindSetup
	}
	if b := g.builds[p.failedFor]; p.failedFor != "" && b != nil {
		b.close(g.out)
		b.checked = true
		g.out.Problem(b.problem(p.name, kind))
		return
	}
	if p.failedFor != "" {
		p.build = p.build || !p.setup
	}
	g.out.Problem(p.problem(at))
}

func (g *goTestJSON) End() {
	for _, id := range g.buildIDs {
		b := g.builds[id]
		b.close(g.out)
		if g.failed[id] && !b.checked {
			g.out.Problem(b.problem(b.pkg, model.KindBuild))
		}
	}
	n := 0
	for _, name := range g.order {
		p := g.open[name]
		if p == nil {
			continue
		}
		if n++; n > g.lim.Failing {
			g.out.Cut(fmt.Sprintf("further packages without an end are not listed (limit %d)", g.lim.Failing))
			break
		}
		g.finish(p, p.at, false)
	}
	g.runs.end()
}

// goEvent is one line of go test -json. Output is valid until the next scan.
type goEvent struct {
	Time, Action, Package, ImportPath, Test, FailedBuild string

	Elapsed float64
	Output  []byte

	hasOutput bool
	buf       []byte
}

// scan reads a flat JSON object. It returns false if s is not the beginning of
// one; whole tells that it was read to its end. A line that was cut still gives
// the fields before the cut. Fields it does not know are skipped.
//
// It is about ten times faster than encoding/json and forgives the cut, which
// that cannot. On well-formed input the two agree.
func (e *goEvent) scan(s string) (ok, whole bool) {
	*e = goEvent{buf: e.buf[:0]}
	sc := jsonScan{s: s}
	sc.space()
	if !sc.eat('{') {
		return false, false
	}
	sc.space()
	if sc.eat('}') {
		return true, sc.atEnd()
	}
	for {
		sc.space()
		if sc.i >= len(s) {
			return true, false
		}
		key, kok, kwhole := sc.str(nil)
		if !kok {
			return false, false
		}
		if !kwhole {
			return true, false
		}
		sc.space()
		if !sc.eat(':') {
			return sc.i >= len(s), false
		}
		sc.space()
		vok, vwhole := e.value(&sc, key)
		if !vok || !vwhole {
			return vok, false
		}
		sc.space()
		switch {
		case sc.eat(','):
		case sc.eat('}'):
			return true, sc.atEnd()
		default:
			return sc.i >= len(s), false
		}
	}
}

func (e *goEvent) value(sc *jsonScan, key string) (ok, whole bool) {
	if sc.i >= len(sc.s) {
		return true, false
	}
	if sc.s[sc.i] != '"' {
		start := sc.i
		ok, whole = sc.skip(0)
		if key == "Elapsed" && ok && whole {
			if f, err := strconv.ParseFloat(sc.s[start:sc.i], 64); err == nil {
				e.Elapsed = f
			}
		}
		return ok, whole
	}
	var to *string
	switch key {
	case "Output":
		var b string
		b, ok, whole = sc.str(&e.buf)
		e.hasOutput = true
		if len(e.buf) > 0 {
			e.Output = e.buf
		} else {
			e.Output = append(e.buf, b...)
			e.buf = e.Output
		}
		return ok, whole
	case "Action":
		to = &e.Action
	case "Package":
		to = &e.Package
	case "Test":
		to = &e.Test
	case "ImportPath":
		to = &e.ImportPath
	case "FailedBuild":
		to = &e.FailedBuild
	case "Time":
		to = &e.Time
	default:
		var sink []byte
		_, ok, whole = sc.str(&sink)
		return ok, whole
	}
	v, ok, whole := sc.str(nil)
	if whole {
		*to = v // half a name is no name
	}
	return ok, whole
}

// jsonScan is a position in a JSON text.
type jsonScan struct {
	s string
	i int
}

func (c *jsonScan) space() {
	for c.i < len(c.s) {
		switch c.s[c.i] {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return
		}
	}
}

func (c *jsonScan) eat(b byte) bool {
	if c.i < len(c.s) && c.s[c.i] == b {
		c.i++
		return true
	}
	return false
}

func (c *jsonScan) atEnd() bool {
	c.space()
	return c.i == len(c.s)
}

// str reads a string. Without escapes it is a part of the text; with them it
// is decoded into buf, or a new buffer if that is nil.
func (c *jsonScan) str(buf *[]byte) (v string, ok, whole bool) {
	if !c.eat('"') {
		return "", false, false
	}
	start := c.i
	for c.i < len(c.s) {
		switch b := c.s[c.i]; {
		case b == '"':
			v = c.s[start:c.i]
			c.i++
			return v, true, true
		case b == '\\':
			return c.escaped(start, buf)
		case b < 0x20:
			return "", false, false
		}
		c.i++
	}
	return c.s[start:], true, false
}

// escaped reads on from the first escape of a string that began at start.
func (c *jsonScan) escaped(start int, buf *[]byte) (v string, ok, whole bool) {
	var own []byte
	if buf == nil {
		buf = &own
	}
	b := append((*buf)[:0], c.s[start:c.i]...)
	defer func() { *buf = b }()
	give := func() string {
		if buf == &own {
			return string(b)
		}
		return ""
	}
	for c.i < len(c.s) {
		switch ch := c.s[c.i]; {
		case ch == '"':
			c.i++
			return give(), true, true
		case ch < 0x20:
			return "", false, false
		case ch != '\\':
			b = append(b, ch)
			c.i++
		default:
			if c.i+1 >= len(c.s) {
				c.i = len(c.s)
				return give(), true, false
			}
			esc := c.s[c.i+1]
			if esc == 'u' {
				r, n := c.unicode()
				if n < 0 {
					return "", false, false
				}
				if n == 0 {
					c.i = len(c.s)
					return give(), true, false
				}
				b = utf8.AppendRune(b, r)
				c.i += n
				continue
			}
			d, known := jsonstream.Unescaped(esc)
			if !known {
				return "", false, false
			}
			b = append(b, d)
			c.i += 2
		}
	}
	return give(), true, false
}

// unicode reads \uXXXX and a second one that completes a pair. It returns the
// length, 0 where the text ends within, -1 where it is malformed.
func (c *jsonScan) unicode() (rune, int) {
	r, n := hex4(c.s[c.i:])
	if n <= 0 || !utf16.IsSurrogate(r) {
		return r, n
	}
	if r2, n2 := hex4(c.s[c.i+6:]); n2 > 0 {
		if p := utf16.DecodeRune(r, r2); p != utf8.RuneError {
			return p, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s string) (rune, int) {
	if len(s) >= 2 && s[:2] != "\\u" {
		return 0, -1
	}
	if len(s) < 6 {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	if err != nil {
		return 0, -1
	}
	return rune(n), 6
}

// skip passes over any other value: numbers, words, nested ones.
func (c *jsonScan) skip(depth int) (ok, whole bool) {
	if c.i >= len(c.s) {
		return true, false
	}
	switch b := c.s[c.i]; {
	case b == '"':
		_, ok, whole := c.str(nil)
		return ok, whole
	case b == '{' || b == '[':
		return c.skipNested(depth)
	case b == '-' || b >= '0' && b <= '9' || b == 't' || b == 'f' || b == 'n':
		start := c.i
		for c.i < len(c.s) {
			b := c.s[c.i]
			if b == ',' || b == '}' || b == ']' || b <= ' ' {
				return jsonLiteral(c.s[start:c.i]), true
			}
			c.i++
		}
		return true, false
	}
	return false, false
}

func jsonLiteral(s string) bool {
	if s == "true" || s == "false" || s == "null" {
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && s[len(s)-1] != '.'
}

func (c *jsonScan) skipNested(depth int) (ok, whole bool) {
	if depth > 50 {
		return false, false
	}
	object := c.s[c.i] == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	c.i++
	c.space()
	if c.eat(end) {
		return true, true
	}
	for {
		c.space()
		if c.i >= len(c.s) {
			return true, false
		}
		if object {
			if _, ok, whole := c.str(nil); !ok || !whole {
				return ok, false
			}
			c.space()
			if !c.eat(':') {
				return c.i >= len(c.s), false
			}
			c.space()
		}
		if ok, whole := c.skip(depth + 1); !ok || !whole {
			return ok, false
		}
		c.space()
		switch {
		case c.eat(','):
		case c.eat(end):
			return true, true
		default:
			return c.i >= len(c.s), false
		}
	}
}

// TakeRaw implements format.BulkReader: it takes events of go test -json that are
// written as test2json does, their fields in their order, plain ASCII.
func (g *goTestJSON) TakeRaw(b []byte, most, no int) int {
	n := g.plain(b, most)
	if n > 0 {
		g.take(&g.event, lines.Line{No: no})
	}
	return n
}

var (
	goTimeKey    = []byte(`{"Time":"`)
	goFirstKey   = []byte(`{"Action":"`)
	goActionKey  = []byte(`,"Action":"`)
	goPackageKey = []byte(`,"Package":"`)
	goTestKey    = []byte(`,"Test":"`)
	goElapsedKey = []byte(`,"Elapsed":`)
	goOutputKey  = []byte(`,"Output":"`)
)

// goPlainActions are the actions of plain events, the frequent ones first.
var goPlainActions = [...]string{"output", "run", "pass", "fail", "skip", "pause", "cont", "start", "bench"}

// plain reads the event on the line that b begins with into g.event and
// g.text. It returns the line's length, at most most, or 0 if the line is not
// there whole or not plain.
func (g *goTestJSON) plain(b []byte, most int) int {
	e := &g.event
	*e = goEvent{buf: e.buf[:0]}
	i := 0
	switch {
	case bytes.HasPrefix(b, goTimeKey):
		n := plainLen(b[len(goTimeKey):])
		if i = len(goTimeKey) + n; n == 0 || i >= len(b) || b[i] != '"' || !bytes.HasPrefix(b[i+1:], goActionKey) {
			return 0
		}
		i += 1 + len(goActionKey)
	case bytes.HasPrefix(b, goFirstKey):
		i = len(goFirstKey)
	default:
		return 0
	}
	for _, a := range &goPlainActions {
		if b[min(i, len(b)-1)] == a[0] && i+len(a) < len(b) && b[i+len(a)] == '"' && string(b[i:i+len(a)]) == a {
			e.Action = a
			i += len(a) + 1
			break
		}
	}
	if e.Action == "" || !bytes.HasPrefix(b[i:], goPackageKey) {
		return 0
	}
	last := ""
	if g.last != nil {
		last = g.last.name
	}
	if e.Package, i = plainName(b, i+len(goPackageKey), last); i == 0 {
		return 0
	}
	if bytes.HasPrefix(b[i:], goTestKey) {
		last = ""
		if g.lastTest != nil {
			last = g.lastTest.name
		}
		if e.Test, i = plainName(b, i+len(goTestKey), last); i == 0 {
			return 0
		}
	}
	if bytes.HasPrefix(b[i:], goElapsedKey) {
		i += len(goElapsedKey)
		n := i
		for n < len(b) && (b[n] >= '0' && b[n] <= '9' || b[n] == '.') {
			n++
		}
		f, ok := parse.PlainDecimal(string(b[i:n]))
		if !ok || b[i] == '.' || b[n-1] == '.' {
			return 0
		}
		e.Elapsed, i = f, n
	}
	g.text = ""
	if bytes.HasPrefix(b[i:], goOutputKey) {
		n := e.plainOutput(b[i+len(goOutputKey):])
		if n == 0 {
			return 0
		}
		i += len(goOutputKey) + n
	}
	if i+1 >= len(b) || b[i] != '}' || b[i+1] != '\n' || i > most {
		return 0
	}
	if e.hasOutput {
		g.text, _ = lines.Clean(lines.TrimEOL(e.Output))
	}
	return i + 2
}

// plainName reads a name of plain ASCII at b[i:], up to its quote; last is
// what it probably is. It returns where it ends, 0 if it is empty or not plain.
func plainName(b []byte, i int, last string) (string, int) {
	if n := len(last); n > 0 && i+n < len(b) && b[i+n] == '"' && string(b[i:i+n]) == last {
		return last, i + n + 1
	}
	n := plainLen(b[i:])
	if n == 0 || i+n >= len(b) || b[i+n] != '"' {
		return "", 0
	}
	return string(b[i : i+n]), i + n + 1
}

// plainOutput decodes the string that b begins with, behind its quote, into
// Output. It returns its length with the quote at its end, 0 if it is not plain.
func (e *goEvent) plainOutput(b []byte) int {
	for i := 0; ; {
		n := plainLen(b[i:])
		e.buf = append(e.buf, b[i:i+n]...)
		i += n
		if i+1 >= len(b) {
			return 0
		}
		if b[i] == '"' {
			e.Output, e.hasOutput = e.buf, true
			return i + 1
		}
		if b[i] != '\\' {
			return 0
		}
		if b[i+1] != 'u' {
			c, ok := jsonstream.Unescaped(b[i+1])
			if !ok {
				return 0
			}
			e.buf = append(e.buf, c)
			i += 2
			continue
		}
		if i+6 > len(b) {
			return 0
		}
		r, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 32)
		if err != nil || r >= 0xd800 && r < 0xe000 {
			return 0 // a pair is left to the slower reader
		}
		e.buf = utf8.AppendRune(e.buf, rune(r))
		i += 6
	}
}

// plainByte holds what stands in a JSON string for itself: ASCII that is
// neither a control character nor a quote nor a backslash.
var plainByte = func() (t [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func plainLen(b []byte) int {
	for i, c := range b {
		if !plainByte[c] {
			return i
		}
	}
	return len(b)
}
