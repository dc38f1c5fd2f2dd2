package python

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// pytestPlace is a line of a traceback that names a file.
type pytestPlace struct {
	file string
	line int
	what string // exception type, or "in f"
	at   int
}

// pytestBlock is one entry of FAILURES or ERRORS.
type pytestBlock struct {
	at       int
	header   string
	text     bounded.Block // traceback
	output   bounded.Block // captured output
	captured bool
	places   []pytestPlace // the first and the last few
	message  string        // last group of E lines
	inError  bool          // the line before was an E line
	native   bool
	thrown   bool   // the message is that of an exception and goes on
	doctest  bool   // of a documented example
	stated   bool   // both sides of one are being read
	indent   int    // of the first of the E lines
	crashed  string // node id of a test a worker died with
}

const pytestPlaces = 40

func (b *pytestBlock) add(no int, t string) {
	if b.captured {
		b.output.Add(t)
		return
	}
	if strings.HasPrefix(t, "[gw") && b.text.Head.Len() == 0 && strings.Contains(t, "] ") {
		return // the worker of xdist
	}
	b.text.Add(t)
	if t == "" {
		b.inError, b.stated = false, false
		return
	}
	if strings.HasPrefix(t, "E  ") || t == "E" {
		b.errorLine(t)
		return
	}
	b.inError = false
	if strings.HasPrefix(t, "Traceback (most recent call last):") {
		b.native = true
	}
	if i := strings.Index(t, " crashed while running '"); i >= 0 && strings.HasPrefix(t, "worker ") {
		b.message = strings.Clone(t)
		b.crashed = parse.Quoted(b.message[i:])
		return
	}
	if file, line, what, ok := pytestLocation(t); ok {
		b.addPlace(pytestPlace{file, line, what, no})
		return
	}
	switch {
	case b.native && (strings.HasPrefix(t, "During handling of the above exception") || strings.HasPrefix(t, "The above exception was the direct")):
		b.thrown = false
	case b.native && t[0] != ' ' && failtext.IsException(t):
		b.message = strings.Clone(bounded.CutText(t, b.text.Max))
		b.thrown = true
	case b.thrown && !strings.HasPrefix(t, "Traceback ") && len(b.message) < b.text.Max:
		b.message += "\n" + t
	case b.doctest && (t == "Expected:" || t == "Got:" || strings.HasPrefix(t, "Expected nothing") || strings.HasPrefix(t, "UNEXPECTED EXCEPTION: ") || b.stated):
		b.stated = !strings.HasPrefix(t, "UNEXPECTED EXCEPTION: ")
		b.message = strings.TrimPrefix(b.message+"\n"+t, "\n")
	}
}

// errorLine takes a line that starts with E. The last group of them is the
// message: earlier ones belong to exceptions that caused it.
func (b *pytestBlock) errorLine(t string) {
	t = strings.TrimPrefix(t[1:], " ")
	t = strings.TrimPrefix(strings.TrimPrefix(t, " "), " ")
	if !b.inError {
		b.message = strings.Clone(strings.TrimLeft(t, " "))
		b.indent = len(t) - len(b.message)
	} else if len(b.message) < b.text.Max {
		b.message += "\n" + t[min(b.indent, len(t)-len(strings.TrimLeft(t, " "))):]
	}
	b.inError = true
}

func (b *pytestBlock) addPlace(p pytestPlace) {
	if len(b.places) >= pytestPlaces {
		copy(b.places[pytestPlaces/2:], b.places[pytestPlaces/2+1:])
		b.places = b.places[:pytestPlaces-1]
	}
	p.file, p.what = strings.Clone(p.file), strings.Clone(p.what)
	b.places = append(b.places, p)
}

func (b *pytestBlock) sawFile(file string) bool {
	if b == nil || file == "" {
		return false
	}
	for _, p := range b.places {
		if p.file == file || strings.HasSuffix(p.file, "/"+file) {
			return true
		}
	}
	return false
}

// place returns where it failed: the deepest place in the project, which a
// place in the test's own file beats only if nothing else is known.
func (b *pytestBlock) place(testFile string) pytestPlace {
	for i := len(b.places) - 1; i >= 0; i-- {
		if p := b.places[i]; !parse.Foreign(p.file) {
			return p
		}
	}
	return pytestPlace{file: testFile}
}

func (b *pytestBlock) where(at int) int {
	if b.at > 0 {
		return b.at
	}
	return at
}

// summary returns the message: the block's, else the short one of the summary.
func (b *pytestBlock) summary(short string) string {
	if b.message != "" {
		return strings.TrimSpace(b.message)
	}
	if short == "" && len(b.places) == 0 {
		return parse.HeadLine(strings.TrimSpace(b.text.String()))
	}
	return short
}

// exception returns the exception's type: the last place names it without its
// module, the message with it.
func (b *pytestBlock) exception(msg string) string {
	if n := len(b.places); n > 0 {
		if w := b.places[n-1].what; w != "" && !strings.HasPrefix(w, "in ") {
			w, _, _ = strings.Cut(w, ":")
			if failtext.IsException(w) {
				return w
			}
		}
	}
	head, _, _ := strings.Cut(msg, "\n")
	head, _, _ = strings.Cut(head, ":")
	if failtext.IsException(head) {
		return head
	}
	if strings.HasPrefix(msg, "assert ") {
		return "AssertionError"
	}
	return ""
}

func (b *pytestBlock) kind(msg, phase string) model.Kind {
	switch {
	case b.crashed != "":
		return model.KindCrash
	case strings.HasPrefix(msg, "Failed: Timeout >"), strings.HasPrefix(msg, "Failed: Timeout ("),
		strings.HasPrefix(msg, "Timeout >"), strings.HasPrefix(msg, "Timeout ("):
		return model.KindTimeout
	case phase != "":
		return model.KindSetup
	case strings.HasPrefix(msg, "assert"), strings.HasPrefix(msg, "AssertionError"), strings.HasPrefix(msg, "Failed: "),
		strings.HasPrefix(msg, "[XPASS(strict)]"), strings.Contains(parse.HeadLine(msg), "AssertionError"):
		return model.KindAssertion
	case msg == "":
		return ""
	}
	return model.KindError
}

// inBlocks takes a line of FAILURES, ERRORS or PASSES.
func (s *pytestSession) inBlocks(no int, t string) bool {
	if len(t) > 4 && (t[0] == '_' || t[0] == ' ') {
		title, ok := parse.Ruled(t, '_')
		if !ok {
			title, ok = unruledHeader(t)
		}
		if ok && strings.Trim(title, "_ ") != "" {
			s.closeBlock()
			if strings.HasPrefix(title, "coverage: ") {
				s.section = pytestRest
				return true
			}
			if s.section != pytestQuietBlocks {
				s.blocks++
			}
			title, doctest := strings.CutPrefix(title, "[doctest] ")
			s.block = &pytestBlock{at: no, doctest: doctest, header: strings.Clone(title), text: bounded.Block{Max: s.lim.Text}, output: bounded.Block{Max: s.lim.Text}}
			return true
		}
	}
	if s.block == nil {
		if t != "" && len(s.lineTB) < 20*s.lim.Failing && s.section == pytestFailures { // --tb=line: a line for each
			p := pytestPlace{at: no, what: strings.Clone(bounded.CutText(t, 1<<10))}
			if file, line, what, ok := pytestLocation(t); ok {
				p.file, p.line, p.what = strings.Clone(file), line, strings.Clone(bounded.CutText(what, 1<<10))
			}
			s.lineTB = append(s.lineTB, p)
		}
		return true
	}
	if len(t) > 0 && t[0] == '-' {
		if title, ok := parse.Ruled(t, '-'); ok {
			if strings.HasPrefix(title, "Captured ") || strings.HasPrefix(title, "live log") {
				s.block.captured = true
			} else if strings.HasPrefix(title, "coverage: ") {
				s.closeBlock()
				s.section = pytestRest
				return true
			}
		}
	}
	if title, ok := parse.Ruled(t, '+'); ok && title == "Timeout" {
		return true
	}
	s.block.add(no, t)
	return true
}

// unruledHeader reads a header that fills the line, which pytest before 4.0
// printed without rules: " TestX.test_y[param] _".
func unruledHeader(t string) (string, bool) {
	title := strings.TrimSpace(strings.TrimSuffix(t, " _"))
	if t[0] != ' ' || t[1] == ' ' || len(title) < 72 {
		return "", false
	}
	i := strings.IndexByte(title, '[')
	if i > 0 && !strings.HasSuffix(title, "]") {
		return "", false
	}
	if i < 0 {
		i = len(title)
	}
	return title, parse.IsDotted(title[:i]) && strings.Contains(title[:i], "test")
}

// closeBlock gives the open block to the test it is of.
func (s *pytestSession) closeBlock() {
	b := s.block
	s.block, s.depth = nil, 0
	if b == nil || s.section == pytestQuietBlocks {
		return
	}
	domain, phase := b.header, ""
	if s.section == pytestErrors {
		domain, phase = errorPhase(b.header)
	}
	if b.crashed != "" {
		t := s.fail(b.at, b.crashed, "", "")
		t.block = b
		return
	}
	if t := s.byID[domain+"\x00"+phaseKey(phase)]; t != nil && t.block == nil {
		t.block, t.phase = b, phase
		return
	}
	free := func(t *pytestTest) bool { return t.block == nil && t.id != "" }
	t := s.unmatched(domain, phase, func(t *pytestTest) bool { return free(t) && b.sawFile(fileOf(t.id)) }, free)
	if t == nil {
		t = &pytestTest{domain: domain, phase: phase, at: b.at, block: b}
		s.add(t)
		return
	}
	t.block, t.phase = b, phase
}

// errorPhase reads the header of an entry of ERRORS.
func errorPhase(header string) (domain, phase string) {
	for _, p := range [...][2]string{{"ERROR collecting ", "collect"}, {"ERROR at setup of ", "setup"}, {"ERROR at teardown of ", "teardown"}} {
		if d, ok := strings.CutPrefix(header, p[0]); ok {
			return d, p[1]
		}
	}
	return strings.TrimPrefix(header, "ERROR "), "error"
}

// finish emits what the session holds. complete says that its totals were read.
func (s *pytestSession) finish(complete bool) {
	s.closeBlock()
	s.emitInternal()
	s.attachPlaces()
	failed, errors := 0, 0
	for _, t := range s.tests {
		if s.emit(t) {
			if t.phase == "" {
				failed++
			} else {
				errors++
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.reruns)) {
		n := s.reruns[id]
		if s.byID[id+"\x00"] == nil && complete {
			t := model.Test{Status: model.Passed, Flaky: true, Retries: n, File: fileOf(id)}
			t.Suite, t.Name = suiteAndName(id)
			s.out.Test(t)
			s.named.passed++
		}
	}
	if !complete && s.spare != nil {
		s.totals, complete = s.spare, true
	}
	if !complete {
		s.truncated()
		return
	}
	s.reconcile(failed, errors)
}

// reconcile makes the events agree with the totals pytest printed.
func (s *pytestSession) reconcile(failed, errors int) {
	sum := s.totals
	s.anon.Emit(s.out, sum.passed+sum.xpassed-s.named.passed, model.Test{Status: model.Passed})
	s.anon.Emit(s.out, sum.skipped-s.named.skipped+max(sum.xfailed-s.named.xfailed, 0), model.Test{Status: model.Skipped})
	if n := sum.failed - failed; n > 0 {
		s.problem(failtext.NotNamed("pytest", sum.failed, failed, s.at))
	}
	if n := sum.errors - errors; n > 0 {
		s.problem(model.Problem{Kind: model.KindSetup, Name: "pytest", At: s.at, Message: fmt.Sprintf("%d of %d errors are not named in the output", n, sum.errors)})
	}
	nothing := sum.passed+sum.xpassed+sum.failed+sum.errors+sum.skipped+sum.xfailed == 0
	if nothing && s.problems == 0 && !sum.collected {
		s.problem(model.Problem{Kind: model.KindEmpty, Name: "pytest", At: s.at, Message: "no tests ran"})
	}
}

// truncated reports a session without an end, and why if it says so.
func (s *pytestSession) truncated() {
	p := model.Problem{Kind: model.KindTruncated, Name: "pytest", At: s.at, Message: "the pytest session never ends"}
	if s.fatal != nil {
		p = *s.fatal
		if p.Name == "" {
			p.Name = "pytest"
		}
	}
	if s.running != "" {
		p.Message += ", while running " + s.running
		if p.Kind == model.KindTimeout { // it is that test which took too long
			t := model.Test{Status: model.Failed, Kind: p.Kind, Message: s.fatal.Message, Trace: p.Trace, File: parse.FirstOf(p.File, fileOf(s.running)), Line: p.Line, At: p.At}
			t.Suite, t.Name = suiteAndName(s.running)
			s.out.Test(t)
		}
	}
	s.problem(p)
}

func (s *pytestSession) emitInternal() {
	if s.internal == nil {
		return
	}
	trace := s.internal.String()
	p := model.Problem{Kind: model.KindCrash, Name: "pytest", At: s.internAt, Trace: trace, Message: lastUnindented(trace)}
	s.problem(p)
	s.internal = nil
}

// lastUnindented returns the last line of a native traceback that is not
// indented: the exception.
func lastUnindented(trace string) string {
	lines := strings.Split(trace, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := lines[i]; l != "" && l[0] != ' ' && !strings.HasPrefix(l, "Traceback") {
			return l
		}
	}
	return ""
}

// attachPlaces gives the lines of --tb=line to the failures without a block,
// which stand in the same order.
func (s *pytestSession) attachPlaces() {
	i := 0
	var bare []*pytestTest
	for _, t := range s.tests {
		if t.phase == "" && t.block == nil {
			bare = append(bare, t)
		}
	}
	for _, t := range bare {
		// Where their numbers differ, only what the summary says tells which belong together.
		for i < len(s.lineTB) && len(bare) != len(s.lineTB) && !strings.HasPrefix(s.lineTB[i].what, strings.TrimSuffix(t.short, "...")) {
			i++
		}
		if i >= len(s.lineTB) {
			break
		}
		p := s.lineTB[i]
		i++
		t.block = &pytestBlock{at: p.at, message: strings.TrimSpace(p.what), text: bounded.Block{Max: 64}, output: bounded.Block{Max: 64}}
		if p.file != "" {
			t.block.places = []pytestPlace{p}
		}
	}
}

// emit hands on one failure: a failed test, or a problem if it is a file that
// could not be collected. It reports whether it counts.
func (s *pytestSession) emit(t *pytestTest) bool {
	b := t.block
	if b == nil {
		b = &pytestBlock{at: t.at}
	}
	msg := b.summary(t.short)
	place := b.place(fileOf(t.id))
	if t.phase == "collect" {
		name := t.id
		if name == "" {
			name = t.domain
		}
		s.problem(model.Problem{Kind: model.KindSetup, Name: name, File: parse.FirstOf(place.file, fileOf(name)), Line: place.line, Message: msg, Trace: b.text.String(), At: b.where(t.at)})
		return true
	}
	id := t.id
	if id == "" {
		id = s.guessID(t)
	}
	out := model.Test{
		Status: model.Failed, Kind: b.kind(msg, t.phase), Type: b.exception(msg), Message: msg,
		File: parse.FirstOf(place.file, fileOf(id)), Line: place.line,
		Trace: b.text.String(), Output: b.output.String(), At: b.where(t.at), Retries: s.reruns[id],
	}
	delete(s.reruns, id)
	out.Suite, out.Name = suiteAndName(id)
	if e, a, ok := failtext.SplitAssertion(msg); ok {
		out.Expected, out.Actual = e, a
	}
	s.out.Test(out)
	return true
}

// guessID makes a node id of a block's header and the files of its traceback,
// for versions and options that print no summary.
func (s *pytestSession) guessID(t *pytestTest) string {
	file := ""
	for _, p := range t.block.places {
		if s.files[p.file] {
			file = p.file
			break
		}
	}
	for i := 0; file == "" && i < len(t.block.places); i++ {
		base := path.Base(t.block.places[i].file)
		if strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") {
			file = t.block.places[i].file
		}
	}
	for i := 0; file == "" && i < len(t.block.places); i++ {
		if !parse.Foreign(t.block.places[i].file) {
			file = t.block.places[i].file
		}
	}
	head, param := t.domain, ""
	if i := strings.IndexByte(head, '['); i >= 0 {
		head, param = head[:i], head[i:]
	}
	if file == "" {
		return strings.ReplaceAll(head, ".", "::") + param
	}
	return file + "::" + strings.ReplaceAll(head, ".", "::") + param
}
