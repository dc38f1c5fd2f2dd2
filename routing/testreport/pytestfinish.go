package testreport

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

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
			t := Test{Status: Passed, Flaky: true, Retries: n, File: fileOf(id)}
			t.Suite, t.Name = suiteAndName(id)
			s.out.Test(t)
			s.named.passed++
		}
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
	s.anon.emit(s.out, sum.passed+sum.xpassed-s.named.passed, Test{Status: Passed})
	s.anon.emit(s.out, sum.skipped-s.named.skipped+max(sum.xfailed-s.named.xfailed, 0), Test{Status: Skipped})
	if n := sum.failed - failed; n > 0 {
		s.problem(Problem{Kind: KindExit, Name: "pytest", At: s.at, Message: fmt.Sprintf("%d of %d failed tests are not named in the output", n, sum.failed)})
	}
	if n := sum.errors - errors; n > 0 {
		s.problem(Problem{Kind: KindSetup, Name: "pytest", At: s.at, Message: fmt.Sprintf("%d of %d errors are not named in the output", n, sum.errors)})
	}
	nothing := sum.passed+sum.xpassed+sum.failed+sum.errors+sum.skipped+sum.xfailed == 0
	if nothing && s.problems == 0 && !sum.collected {
		s.problem(Problem{Kind: KindEmpty, Name: "pytest", At: s.at, Message: "no tests ran"})
	}
}

// truncated reports a session without an end, and why if it says so.
func (s *pytestSession) truncated() {
	p := Problem{Kind: KindTruncated, Name: "pytest", At: s.at, Message: "the pytest session never ends"}
	if s.fatal != nil {
		p = *s.fatal
		if p.Name == "" {
			p.Name = "pytest"
		}
	}
	if s.running != "" {
		p.Message += ", while running " + s.running
		if p.Kind == KindTimeout { // it is that test which took too long
			t := Test{Status: Failed, Kind: p.Kind, Message: s.fatal.Message, Trace: p.Trace, File: firstNonEmpty(p.File, fileOf(s.running)), Line: p.Line, At: p.At}
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
	p := Problem{Kind: KindCrash, Name: "pytest", At: s.internAt, Trace: trace, Message: lastUnindented(trace)}
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
	for _, t := range s.tests {
		if t.phase != "" || t.block != nil || i >= len(s.lineTB) {
			continue
		}
		p := s.lineTB[i]
		i++
		t.block = &pytestBlock{at: p.at, places: []pytestPlace{p}, message: p.what, text: kept{max: 64}, output: kept{max: 64}}
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
		s.problem(Problem{Kind: KindSetup, Name: name, File: firstNonEmpty(place.file, fileOf(name)), Line: place.line, Message: msg, Trace: b.text.String(), At: b.where(t.at)})
		return true
	}
	id := t.id
	if id == "" {
		id = s.guessID(t)
	}
	out := Test{
		Status: Failed, Kind: b.kind(msg, t.phase), Type: b.exception(msg), Message: msg,
		File: firstNonEmpty(place.file, fileOf(id)), Line: place.line,
		Trace: b.text.String(), Output: b.output.String(), At: b.where(t.at), Retries: s.reruns[id],
	}
	delete(s.reruns, id)
	out.Suite, out.Name = suiteAndName(id)
	if e, a, ok := splitAssertion(msg); ok {
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
		if !foreign(t.block.places[i].file) {
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

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
