package testreport

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// junitFormat reads the XML that Ant's JUnit task began and that nearly every
// test tool writes today, each in its own dialect.
var junitFormat = format{name: "junit", order: 10, opens: []string{"testsuites", "testsuite"}, detect: detectJUnit, document: readJUnit}

// detectJUnit looks for the root element behind declaration, comments and space.
var detectJUnit = detectRoot("testsuites", "testsuite")

// junitReader is the state of one document.
type junitReader struct {
	d      *document
	x      *xmlReader
	suites []junitSuite
	text   textBuf // of the element being read
	sysOut textBuf
	held   junitHold
	last   string // file of a suite without cases of its own, see Cypress below
	roots  int
	deep   bool
	short  junitShort // of the suites that ended
	failed bool       // a suite, not a test
}

// junitSuite is an open <testsuite> or <testsuites>.
type junitSuite struct {
	name, file string
	path       string // names of the suites around it and its own
	line       int
	root       bool // <testsuites>
	tests, bad int  // as declared, -1 if not
	cases      int  // found inside, nested ones too
	failures   int  // failing elements found inside, nested ones too
	accounted  int  // declared failures already said to be missing further in
	nested     bool
	mute       int // cases skipped without a word: GoogleTest's, where the suite's set-up failed or skipped
	junitTally
}

func readJUnit(d *document) error {
	r := &junitReader{d: d, x: newXMLReader(d.br, d.lim, d.base, !d.embedded)}
	r.x.inLog = d.embedded
	r.text.max = d.lim.Text
	r.sysOut.max = d.lim.Text / 4
	r.held.out = d.out
	err := r.read()
	r.held.flush()
	r.tellShort(r.short)
	if err != nil && err != io.EOF {
		return err
	}
	if _, err := d.br.Peek(1); !d.embedded && err != nil && err != io.EOF {
		return err
	}
	if r.roots == 0 {
		return fmt.Errorf("%w: it holds no <testsuite>", ErrUnknownFormat)
	}
	r.complain()
	return nil
}

// complain says what makes the document incomplete.
func (r *junitReader) complain() {
	p := Problem{Kind: KindTruncated, At: r.x.line}
	switch {
	case len(r.x.stack) > 0 && r.x.malformed > 0:
		p.At = r.x.malformed
		p.Message = fmt.Sprintf("the JUnit document is damaged at line %d (%s) and breaks off inside <%s>", p.At, r.x.damage, CutText(r.x.stack[len(r.x.stack)-1], 80))
	case len(r.x.stack) > 0:
		p.Message = fmt.Sprintf("the JUnit document breaks off at line %d inside <%s>", r.x.line, CutText(r.x.stack[len(r.x.stack)-1], 80))
	case r.x.malformed > 0:
		p.At = r.x.malformed
		p.Message = fmt.Sprintf("the JUnit document is damaged at line %d: %s", p.At, r.x.damage)
	default:
		return
	}
	if len(r.suites) > 0 {
		p.Name = r.path()
	}
	r.d.out.Problem(p)
}

func (r *junitReader) read() error {
	for {
		tok, err := r.x.next()
		if err != nil {
			return err
		}
		switch tok.kind {
		case xmlStart:
			err = r.start(tok)
		case xmlText:
			if r.d.embedded && len(r.suites) > 0 {
				r.x.spoil(tok.line, "text between the elements of a suite")
				return nil // the log goes on; the document did not end
			}
		}
		if err != nil {
			return err
		}
		// A damaged document may close suites from far inside.
		r.end(len(r.x.stack))
		if r.d.embedded && r.roots > 0 && len(r.x.stack) == 0 {
			return nil
		}
	}
}

func (r *junitReader) start(tok xmlToken) error {
	switch tok.name {
	case "testsuites", "testsuite":
		if len(r.suites) >= r.d.lim.Depth {
			return r.tooDeep(tok)
		}
		r.open(tok)
		return nil
	case "testcase":
		return r.testcase(tok)
	case "failure", "error":
		if len(r.suites) > 0 {
			return r.suiteFailure(tok)
		}
	}
	return r.x.skip()
}

func (r *junitReader) tooDeep(tok xmlToken) error {
	if !r.deep {
		r.deep = true
		note := fmt.Sprintf("suites nested deeper than %d are not read", r.d.lim.Depth)
		r.d.out.Cut(note)
		r.d.out.Problem(Problem{Kind: KindTruncated, Name: r.path(), At: tok.line, Message: note})
	}
	return r.x.skip()
}

func (r *junitReader) open(tok xmlToken) {
	x := r.x
	s := junitSuite{
		name: x.attr("name"), line: tok.line, root: tok.name == "testsuites",
		tests: declared(x.attr("tests")), bad: -1,
	}
	s.file = firstOf(x.attr("file"), x.attr("filepath"))
	s.declare(x)
	for _, a := range [...]string{"failures", "errors"} {
		if n := declared(x.attr(a)); n >= 0 {
			s.bad = max(s.bad, 0) + n
		}
	}
	if n := len(r.suites); n > 0 {
		r.suites[n-1].nested = true
		s.loose = s.loose || r.suites[n-1].loose
		if s.file == "" {
			s.file = r.suites[n-1].file
		}
	}
	// Cypress (mocha-junit-reporter) names the spec file only on an empty
	// "Root Suite" before the suites of that file.
	if s.name == "Root Suite" {
		r.last = s.file
	} else if s.file == "" {
		s.file = r.last
	}
	r.roots++
	r.suites = append(r.suites, s)
	r.suites[len(r.suites)-1].path = r.join()
}

// declared reads a counting attribute; -1 means none.
func declared(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > math.MaxInt32 {
		return -1
	}
	return n
}

func firstOf(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}

// end closes suites until no more are open than elements.
func (r *junitReader) end(open int) {
	for len(r.suites) > open {
		n := len(r.suites) - 1
		s := r.suites[n]
		r.held.flush()
		missing := r.account(&s)
		r.suites = r.suites[:n]
		if n > 0 {
			p := &r.suites[n-1]
			p.cases += s.cases
			p.failures += s.failures
			p.accounted += missing
			p.add(&s)
		} else {
			r.short.add(s.short)
		}
	}
}

// path returns the names of the open suites.
func (r *junitReader) path() string {
	if n := len(r.suites); n > 0 {
		return r.suites[n-1].path
	}
	return ""
}

func (r *junitReader) join() string {
	var names []string
	for _, s := range r.suites {
		if s.name != "" && !s.root {
			names = append(names, cleanText(s.name))
		}
	}
	if len(names) == 0 && len(r.suites) > 0 {
		return cleanText(r.suites[0].name)
	}
	return strings.Join(names, " > ")
}

// suiteFailure reads <failure> or <error> that stands in a suite, not a case.
func (r *junitReader) suiteFailure(tok xmlToken) error {
	o, err := r.outcome(tok)
	s := &r.suites[len(r.suites)-1]
	s.failures++
	r.failed = true
	p := Problem{Kind: KindPackage, Name: r.path(), File: s.file, At: tok.line, Message: o.message, Trace: o.text}
	if tok.name == "error" || hasAny(strings.ToLower(o.message), "setup", "set-up", "beforeall", "before all", "before_all", "teardown", "afterall", "after all") {
		p.Kind = KindSetup
	}
	if f, l := placeIn(o.text, "", ""); f != "" && (p.File == "" || sameFile(p.File, f)) {
		p.File, p.Line = f, l
	}
	if p.Message == "" {
		p.Message = "the suite failed"
	}
	r.d.out.Problem(p)
	return err
}

// junitOutcome is one <failure>, <error>, <skipped> or a dialect's variant.
type junitOutcome struct {
	element string
	message string // never empty if the element says anything
	typ     string
	text    string
	line    int
}

// outcome reads the element just opened to its end.
func (r *junitReader) outcome(tok xmlToken) (junitOutcome, error) {
	o := junitOutcome{element: tok.name, line: tok.line}
	o.message, o.typ = cleanText(r.x.attr("message")), cleanText(strings.TrimSpace(r.x.attr("type")))
	err := r.x.content(&r.text)
	o.text = strings.TrimSpace(r.text.String())
	o.message = CutText(meaningful(o.message, o.text, o.typ), r.d.lim.Text)
	return o, err
}

// meaningful returns the message of a failure: the attribute, unless it is
// empty or an abbreviation of a text that says more.
func meaningful(message, text, typ string) string {
	message = strings.TrimSpace(message)
	if message != "" {
		// minitest cuts its message: "Expected: 2..."
		if short := strings.TrimSuffix(message, "..."); len(short) < len(message) && short != "" {
			if i := strings.Index(text, short); i >= 0 {
				rest, _, _ := strings.Cut(text[i:], "\n    ")
				return strings.TrimSpace(CutText(rest, 1<<10))
			}
		}
		return message
	}
	lines := strings.Split(text, "\n")
	var last string
	for i, l := range lines {
		if i > 500 {
			break
		}
		t := strings.TrimSpace(l)
		switch {
		case t == "", strings.HasPrefix(t, "Traceback (most recent"):
			continue
		case strings.HasPrefix(t, "at "), strings.HasPrefix(t, "File \""):
			if last == "" {
				continue
			}
			return last
		case last == "" && i+1 < len(lines) && strings.Contains(t, "::") && !strings.ContainsAny(t, " \t") && !strings.HasSuffix(t, ":"):
			continue // PHPUnit repeats the test's name first
		}
		if strings.HasPrefix(l, "E ") { // pytest
			return strings.TrimSpace(l[1:])
		}
		if last == "" {
			last = t
		}
	}
	if i := strings.LastIndex(text, "\n"); strings.HasPrefix(text, "Traceback (most recent") && i >= 0 {
		return strings.TrimSpace(text[i:])
	}
	return firstOf(last, typ)
}

// seconds reads a duration: "1.5", "1,234.56", "0,5", "1.5s", "PT1.5S".
func seconds(s string) time.Duration {
	if f, ok := plainDecimal(s); ok {
		if f <= 0 || f > 1e8 {
			return 0
		}
		return time.Duration(f * float64(time.Second))
	}
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	s = strings.TrimPrefix(strings.TrimRight(s, "sS "), "PT")
	if c, p := strings.LastIndexByte(s, ','), strings.LastIndexByte(s, '.'); c >= 0 {
		switch {
		case p > c: // 1,234.5
			s = strings.ReplaceAll(s, ",", "")
		case p >= 0: // 1.234,5
			s = strings.Replace(strings.ReplaceAll(s, ".", ""), ",", ".", 1)
		case strings.Count(s, ",") == 1: // 0,5
			s = strings.Replace(s, ",", ".", 1)
		default:
			s = strings.ReplaceAll(s, ",", "")
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f > 1e8 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// plainDecimal reads "12" or "1.234" of at most 15 digits, for which one
// division gives what strconv.ParseFloat does.
func plainDecimal(s string) (float64, bool) {
	if len(s) == 0 || len(s) > 16 {
		return 0, false
	}
	var n uint64
	digits, scale, point := 0, 1.0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + uint64(c-'0')
			digits++
			if point {
				scale *= 10
			}
		case c == '.' && !point:
			point = true
		default:
			return 0, false
		}
	}
	return float64(n) / scale, digits > 0 && digits <= 15
}

func hasAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
