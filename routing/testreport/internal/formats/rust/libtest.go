package rust

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// libtest reads what one binary of tests prints, from "running 3 tests" to
// "test result: …".
type libtest struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	suite     string
	announced bool // cargo said what it runs
	expect    int
	at        int
	seen      bool // a line that only libtest prints
	done      bool
	pending   string // test that printed before its result
	pendingAt int
	printed   bounded.Block // by the pending test

	tests   []*rustTest
	byName  map[string]*rustTest
	passed  int
	ignored int

	block     *rustTest
	text      bounded.Block
	list      bool // in the list of names under "failures:"
	failing   bool // behind "failures:"
	lastWords string
	words     int
	sums      libtestTotals
}

type rustTest struct {
	name    string
	at      int
	text    string
	crashed bool
}

func (b *libtest) certain() bool { return b.seen || b.announced && b.expect > 0 }

func (b *libtest) inBlock() bool { return b.block != nil }

func (b *libtest) failures() int { return len(b.tests) }

func (b *libtest) blank() {
	if b.block != nil {
		b.text.Add("")
	} else if b.pending != "" {
		b.printed.Add("")
	}
}

func (b *libtest) line(no int, t string) bool {
	switch {
	case strings.HasPrefix(t, "test result: "):
		return b.result(no, t)
	case strings.HasPrefix(t, "test "):
		return b.test(no, t[5:])
	case strings.HasSuffix(t, " --- FAILED") && b.expect > 0 && !b.failing: // cargo test -q
		b.seen = true
		b.fail(no, trimTest(strings.TrimLeft(t[:len(t)-len(" --- FAILED")], ".i")))
		return true
	case b.pending != "" && b.lateResult(no, t):
		return true
	case t == "failures:" && b.certain():
		b.failing, b.list = true, true
		return true
	case b.failing && strings.HasPrefix(t, "---- "):
		return b.startBlock(no, t)
	case b.list && strings.HasPrefix(t, "    ") && t[4] != ' ':
		b.fail(no, t[4:])
		return true
	case strings.HasPrefix(t, "successes:") && b.certain():
		return true
	}
	b.note(t)
	return false
}

// note keeps what explains a binary that dies: an overflow or an abort, and
// the last panic.
func (b *libtest) note(t string) {
	switch {
	case strings.HasPrefix(t, "thread '") && strings.HasSuffix(t, " has overflowed its stack"):
		b.lastWords = t
		b.crashed(parse.Quoted(t))
	case strings.HasPrefix(t, "fatal runtime error: "), strings.HasPrefix(t, "memory allocation of "):
		b.lastWords = strings.TrimLeft(b.lastWords+"\n"+t, "\n")
	case strings.HasPrefix(t, "thread '") && strings.Contains(t, " panicked at "):
		b.lastWords, b.words = t, 3
	case b.words > 0:
		b.words--
		b.lastWords = bounded.CutText(b.lastWords+"\n"+t, 1<<12)
	}
}

// crashed marks the test a thread was named after as what brought it down.
func (b *libtest) crashed(name string) {
	if name == "" || name == "main" || name[0] == '<' {
		return
	}
	if t := b.fail(b.at, name); t != nil {
		t.crashed, t.text = true, b.lastWords
	}
}

// test reads "a::b ... ok", the "test " before it cut off.
func (b *libtest) test(no int, t string) bool {
	i := strings.LastIndex(t, " ... ")
	if i <= 0 {
		if strings.HasSuffix(t, " ...") {
			b.hold(no, trimTest(t[:len(t)-4]), "")
			return true
		}
		return strings.HasPrefix(t, "has been running for") || strings.Contains(t, " has been running for over ")
	}
	if first := strings.Index(t, " ... "); first < i {
		// What the test printed may hold dots too: the first is libtest's.
		if _, ok := b.outcome(t[i+5:]); !ok || b.known(t[first+5:]) {
			i = first
		}
	}
	name, st := trimTest(t[:i]), t[i+5:]
	b.seen, b.list = true, false
	if b.take(no, name, st) {
		b.pending = ""
		return true
	}
	b.hold(no, name, st)
	// The test printed without a line's end before its result.
	for _, w := range [...]string{"ok", "FAILED", "ignored"} {
		if strings.HasSuffix(st, w) && st != w {
			b.take(no, name, w)
			b.pending = ""
		}
	}
	return true
}

// hold remembers a test that printed before its result.
func (b *libtest) hold(no int, name, printed string) {
	b.pending, b.pendingAt, b.seen = name, no, true
	b.printed = bounded.Block{Max: b.lim.Text}
	if printed != "" {
		b.printed.Add(printed)
	}
}

func (b *libtest) known(st string) bool { _, ok := b.outcome(st); return ok }

// trimTest removes what libtest adds to a name.
func trimTest(name string) string {
	for _, s := range [...]string{" - should panic", " - compile fail", " - compile"} {
		name = strings.TrimSuffix(name, s)
	}
	return name
}

// outcome reads a result: "ok", "FAILED", "ignored, reason", "bench: …",
// with or without "<0.001s>".
func (b *libtest) outcome(st string) (model.Status, bool) {
	if i := strings.LastIndex(st, " <"); i > 0 && strings.HasSuffix(st, "s>") {
		st = st[:i]
	}
	switch {
	case st == "ok", strings.HasPrefix(st, "bench: "):
		return model.Passed, true
	case st == "FAILED", st == "FAILED (time limit exceeded)":
		return model.Failed, true
	case st == "ignored", strings.HasPrefix(st, "ignored, "):
		return model.Skipped, true
	}
	return "", false
}

func (b *libtest) take(no int, name, st string) bool {
	s, ok := b.outcome(st)
	if !ok {
		return false
	}
	switch s {
	case model.Failed:
		b.fail(no, name)
	case model.Passed:
		b.passed++
		b.out.Test(model.Test{Suite: b.suite, Name: name, Status: model.Passed, At: no})
	default:
		b.ignored++
		_, why, _ := strings.Cut(st, ", ")
		b.out.Test(model.Test{Suite: b.suite, Name: name, Status: model.Skipped, Message: why, At: no})
	}
	return true
}

// lateResult reads the result of a test that printed before it.
func (b *libtest) lateResult(no int, t string) bool {
	name := b.pending
	if !b.take(no, name, t) {
		b.printed.Add(t)
		return false
	}
	if f := b.byName[name]; f != nil && f.text == "" {
		f.text, f.at = b.printed.String(), b.pendingAt
	}
	b.pending = ""
	return true
}

func (b *libtest) fail(no int, name string) *rustTest {
	if b.byName == nil {
		b.byName = map[string]*rustTest{}
	}
	if t := b.byName[name]; t != nil {
		return t
	}
	if len(b.tests) >= 20*b.lim.Failing {
		return nil
	}
	t := &rustTest{name: name, at: no}
	b.byName[name] = t
	b.tests = append(b.tests, t)
	return t
}

// startBlock reads "---- a::b stdout ----".
func (b *libtest) startBlock(no int, t string) bool {
	title, ok := parse.Ruled(t, '-')
	if !ok {
		return false
	}
	name, ok := strings.CutSuffix(title, " stdout")
	if !ok {
		if name, ok = strings.CutSuffix(title, " stderr"); !ok {
			return false
		}
	}
	b.closeBlock()
	b.list = false
	if b.block = b.fail(no, trimTest(name)); b.block == nil {
		b.block = &rustTest{}
	}
	b.block.at = no
	b.text = bounded.Block{Max: b.lim.Text}
	return true
}

// blockLine takes a line of what a failed test printed.
func (b *libtest) blockLine(no int, t string) bool {
	if strings.HasPrefix(t, "---- ") && b.startBlock(no, t) {
		return true
	}
	if t == "failures:" {
		b.closeBlock()
		b.list = true
		return true
	}
	if strings.HasPrefix(t, "test result: ") && b.result(no, t) {
		return true
	}
	b.text.Add(t)
	return true
}

func (b *libtest) closeBlock() {
	if b.block != nil && b.block.text == "" {
		b.block.text = b.text.String()
	}
	b.block = nil
}

type libtestTotals struct{ passed, failed, ignored, measured int }

// result reads "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; …".
func (b *libtest) result(_ int, t string) bool {
	rest := t[len("test result: "):]
	word, rest, ok := strings.Cut(rest, ". ")
	if !ok || word != "ok" && word != "FAILED" {
		return false
	}
	if b.printedTotals(rest) {
		b.failing, b.list = false, false
		return false
	}
	for _, part := range strings.Split(rest[:min(len(rest), 300)], "; ") {
		n, what, ok := parse.LeadingInt(part)
		if !ok {
			continue
		}
		switch what {
		case " passed":
			b.sums.passed = n
		case " failed":
			b.sums.failed = n
		case " ignored":
			b.sums.ignored = n
		case " measured":
			b.sums.measured = n
		}
	}
	if word == "FAILED" && b.sums.failed == 0 {
		b.sums.failed = max(1, len(b.tests))
	}
	b.closeBlock()
	b.seen, b.done = true, true
	return true
}

// printedTotals reports whether the totals behind "test result: FAILED. " are
// not those of all tests that the binary set out to run: a test printed them.
func (b *libtest) printedTotals(rest string) bool {
	n := 0
	for _, part := range strings.Split(rest[:min(len(rest), 300)], "; ") {
		k, what, ok := parse.LeadingInt(part)
		switch {
		case !ok:
		case what == " passed", what == " failed", what == " ignored", what == " measured":
			n += k
		}
	}
	return b.expect > 0 && n < b.expect
}

// dropPrinted takes away failures that only lines name which a test printed: the
// totals count fewer, and nothing is said of them.
func (b *libtest) dropPrinted() {
	if !b.done || b.sums.failed == 0 {
		return
	}
	for i := 0; i < len(b.tests) && len(b.tests) > b.sums.failed; {
		if b.tests[i].text == "" && !b.tests[i].crashed {
			b.tests = slices.Delete(b.tests, i, i+1)
			continue
		}
		i++
	}
}

// emit hands on what failed, and what the totals count beyond.
func (b *libtest) emit() {
	b.closeBlock()
	if b.pending != "" && !b.done {
		if t := b.fail(b.pendingAt, b.pending); t != nil {
			t.crashed, t.text = true, b.printed.String()
		}
	}
	b.dropPrinted()
	for _, t := range b.tests {
		b.out.Test(rustFailure(b.suite, t.name, t.text, t.at, t.crashed))
	}
	if !b.done {
		return
	}
	b.anon.Emit(b.out, b.sums.passed+b.sums.measured-b.passed, model.Test{Suite: b.suite, Status: model.Passed})
	b.anon.Emit(b.out, b.sums.ignored-b.ignored, model.Test{Suite: b.suite, Status: model.Skipped})
	if n := b.sums.failed - len(b.tests); n > 0 {
		b.out.Problem(failtext.NotNamed(parse.FirstOf(b.suite, "libtest"), b.sums.failed, len(b.tests), b.at))
	}
	if s := b.sums; s.failed == 0 {
		failtext.RanFewer(b.out, b.suite, b.at, s.passed+s.ignored+s.measured, b.expect)
	}
}
