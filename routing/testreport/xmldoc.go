package testreport

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// xmlRoot returns the local name of the root element of the XML document that
// starts with head and what stands behind the name; "" if none starts there.
func xmlRoot(head []byte) (name string, rest []byte) {
	for {
		head = bytes.TrimLeft(head, " \t\r\n\ufeff")
		end := ""
		switch {
		case bytes.HasPrefix(head, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(head, []byte("<!--")):
			end = "-->"
		case bytes.HasPrefix(head, []byte("<!")):
			end = ">"
			if i, j := bytes.IndexByte(head, '['), bytes.IndexByte(head, '>'); i >= 0 && i < j {
				end = "]>"
			}
		case len(head) > 1 && head[0] == '<' && isNameStart(head[1]):
			i := bytes.IndexAny(head, " \t\r\n/>")
			if i < 0 {
				i = len(head)
			}
			return localName(head[1:i]), head[i:]
		default:
			return "", nil
		}
		i := bytes.Index(head, []byte(end))
		if i < 0 {
			return "", nil
		}
		head = head[i+len(end):]
	}
}

// rootName returns the name of the tag that a line starts with.
func rootName(line string) string {
	i := strings.IndexAny(line, " \t/>")
	if i < 0 {
		i = len(line)
	}
	return line[1:i]
}

// rootTag returns what stands in the root's start tag, given what follows its name.
func rootTag(rest []byte) []byte {
	if i := bytes.IndexByte(rest, '>'); i >= 0 {
		return rest[:i]
	}
	return rest
}

// detectRoot returns a detector that is sure of a document by its root's name.
func detectRoot(names ...string) func(head []byte) int {
	return func(head []byte) int {
		if n, _ := xmlRoot(head); n != "" && slices.Contains(names, n) {
			return 90
		}
		return 0
	}
}

// xmlDoc reads an XML report element by element: roots, then the children of
// each element down to those whose text is wanted.
type xmlDoc struct {
	*document
	x      *xmlReader
	label  string // the format in words, for messages
	text   textBuf
	seen   int // roots of the format
	failed int // failing tests handed on
	passed int // passing tests handed on
	bad    int // problems handed on
}

func newXMLDoc(d *document, label string) *xmlDoc {
	r := &xmlDoc{document: d, label: label, x: newXMLReader(d.br, d.lim, d.base, !d.embedded)}
	r.x.inLog = d.embedded
	r.text.max = d.lim.Text
	return r
}

// roots calls fn for each root element with one of the names, which is open
// then, and says what makes the document incomplete. Tools append documents to
// one file, so there may be several.
func (r *xmlDoc) roots(fn func(tok xmlToken) error, names ...string) error {
	for {
		tok, err := r.x.next()
		if err == nil && tok.kind == xmlStart {
			if slices.Contains(names, tok.name) {
				r.seen++
				err = fn(tok)
			} else {
				err = r.x.skip()
			}
		}
		if err == io.EOF || err == nil && r.embedded && r.seen > 0 && len(r.x.stack) == 0 {
			break
		}
		if err != nil {
			return err
		}
	}
	if !r.embedded {
		if _, err := r.br.Peek(1); err != nil && err != io.EOF {
			return err
		}
	}
	if r.seen == 0 {
		return fmt.Errorf("%w: it holds no <%s>", ErrUnknownFormat, names[0])
	}
	r.complain()
	return nil
}

// complain says what makes the document incomplete.
func (r *xmlDoc) complain() {
	x := r.x
	p := Problem{Kind: KindTruncated, At: x.line}
	switch {
	case x.malformed > 0:
		p.At = x.malformed
		p.Message = fmt.Sprintf("the %s document is damaged at line %d: %s", r.label, p.At, x.damage)
	case len(x.stack) > 0:
		p.Message = fmt.Sprintf("the %s document breaks off at line %d inside <%s>", r.label, x.line, CutText(x.stack[len(x.stack)-1], 80))
	default:
		return
	}
	r.problem(p)
}

// children calls fn for each child of the element just opened and reads to its
// end. fn must read its element to the end.
func (r *xmlDoc) children(fn func(tok xmlToken) error) error {
	depth := len(r.x.stack) - 1
	for len(r.x.stack) > depth {
		r.x.byLine = true
		tok, err := r.x.next()
		r.x.byLine = false
		if err != nil {
			return err
		}
		switch {
		case tok.kind == xmlStart:
			if err := fn(tok); err != nil {
				return err
			}
		case tok.kind == xmlText && r.embedded:
			r.x.spoil(tok.line, "text between its elements")
			return io.EOF // the log goes on; the document did not end
		}
	}
	return nil
}

// content returns the text of the element just opened, trimmed and bounded.
func (r *xmlDoc) content() (string, error) {
	err := r.x.content(&r.text)
	return strings.TrimSpace(r.text.String()), err
}

// ownText returns the text of the element just opened without that of its
// children, trimmed and bounded.
func (r *xmlDoc) ownText() (string, error) {
	r.text.reset()
	depth := len(r.x.stack) - 1
	for len(r.x.stack) > depth {
		r.x.keep = &r.text
		tok, err := r.x.next()
		r.x.keep = nil
		r.x.carry = r.x.carry[:0]
		if err == nil && tok.kind == xmlStart {
			err = r.x.skip()
		}
		if err != nil {
			return strings.TrimSpace(r.text.String()), err
		}
	}
	return strings.TrimSpace(r.text.String()), nil
}

// into reads the text of the element just opened into s.
func (r *xmlDoc) into(s *string) error {
	t, err := r.content()
	*s = t
	return err
}

// fields reads the children of the element just opened: the text of those named
// in to; others are skipped. Of several with one name the first counts.
func (r *xmlDoc) fields(to map[string]*string) error {
	return r.children(func(tok xmlToken) error {
		if s := to[tok.name]; s != nil && *s == "" {
			return r.into(s)
		}
		return r.x.skip()
	})
}

func (r *xmlDoc) attr(name string) string { return cleanText(r.x.attr(name)) }

func (r *xmlDoc) test(t Test) {
	switch t.Status {
	case Failed:
		r.failed++
	case Passed:
		r.passed++
	}
	if t.Name == "" {
		t.Name = firstOf(t.Suite, "(no name)")
	}
	r.out.Test(t)
}

func (r *xmlDoc) problem(p Problem) {
	r.bad++
	r.out.Problem(p)
}

// shortfall says so if more failures were declared than found.
func (r *xmlDoc) shortfall(name string, line, declared, found int) {
	if declared > found {
		r.problem(Problem{Kind: KindPackage, Name: name, At: line,
			Message: fmt.Sprintf("the report declares %d failures, but its tests show %d", declared, found)})
	}
}

// fewer says so if more tests were declared as passed than found.
func (r *xmlDoc) fewer(name string, line, declared, found int) {
	if declared > found {
		red := r.failed+r.bad > 0
		r.bad++
		incomplete(r.out, red, Problem{Name: name, At: line, Message: fewerTests(found, declared)})
	}
}

// explain completes a failing test from its message and trace: the place, the
// two sides of an assertion, and the kind if the format does not state it.
func (r *xmlDoc) explain(t *Test) {
	if t.Message == "" {
		t.Message = CutText(meaningful("", t.Trace, t.Type), r.lim.Text)
	}
	if e, a, ok := splitAssertion(t.Message); ok {
		t.Expected, t.Actual = e, a
	} else if e, a, ok := splitAssertion(t.Trace); ok {
		t.Expected, t.Actual = e, a
	}
	if t.File == "" || t.Line == 0 {
		f, l := placeIn(t.Trace, t.Suite, t.File)
		if f == "" {
			f, l = placeIn(t.Message, t.Suite, t.File)
		}
		if f != "" && t.File == "" {
			t.File = f
		}
		if f != "" && l > 0 {
			t.Line = l
		}
	}
	if t.Kind == "" {
		t.Kind = statedKind(t)
	}
}

// sidesBy sets the sides of an assertion that a format words in its own way.
func sidesBy(t *Test, expected, actual *multimatch.Regexp) {
	e, a := expected.FindStringSubmatch(t.Message), actual.FindStringSubmatch(t.Message)
	if e != nil && a != nil {
		t.Expected, t.Actual = strings.TrimSpace(e[1]), strings.TrimSpace(a[1])
	}
}

// dotNetType is the exception that .NET runners put before the message.
var dotNetType = multimatch.New(`^(?:(?:OneTime)?(?:SetUp|TearDown) ?: )?([A-Za-z_][\w.+` + "`" + `]*(?:Exception|Error)) ?: `)

// statedKind says what the type and the first words of the message state.
func statedKind(t *Test) Kind {
	typ, msg := strings.ToLower(t.Type), strings.ToLower(t.Message)
	switch {
	case strings.Contains(msg, "exceeded timeout") || strings.Contains(msg, "timed out after") || strings.HasSuffix(typ, "timeoutexception") && strings.Contains(typ, "test"):
		return KindTimeout
	case typ == "" && t.Expected != "", hasAny(typ, "assert", "xunit.sdk.", "comparison"), strings.HasPrefix(msg, "assert."), typ == "" && strings.Contains(msg, "assert"):
		return KindAssertion
	case typ != "":
		return KindError
	}
	return ""
}

// milliseconds reads a duration in milliseconds, with "," or "." as its mark.
func milliseconds(s string) time.Duration { return seconds(s) / 1000 }

// splitMember parts the full name of a method, with its arguments, at the last
// dot outside brackets and quotes.
func splitMember(full string) (class, name string) {
	depth, dot := 0, -1
	var quote byte
	for i := 0; i < len(full); i++ {
		c := full[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' && depth > 0:
			quote = c
		case c == '(' || c == '[' || c == '<':
			depth++
		case c == ')' || c == ']' || c == '>':
			depth = max(0, depth-1)
		case c == '.' && depth == 0:
			dot = i
		case c == ' ' && depth == 0:
			if strings.HasPrefix(full[i:], " (") { // arguments
				return cutMember(full, dot)
			}
			return "", full // a sentence
		}
	}
	return cutMember(full, dot)
}

func cutMember(full string, dot int) (class, name string) {
	if dot <= 0 || dot == len(full)-1 {
		return "", full
	}
	return full[:dot], full[dot+1:]
}

func init() {
	for _, n := range []string{
		"test-case", "test-suite", "test-run", "result", "fullname", "duration", "label", "methodname", "asserts", "site", "failure", "reason", "stack-trace",
		"message", "test", "assembly", "collection", "method", "traits", "trait", "UnitTestResult", "UnitTest", "TestEntry", "outcome", "testName", "testId",
		"executionId", "TestMethod", "className", "Output", "ErrorInfo", "Message", "StackTrace", "StdOut", "Execution", "test-method", "signature", "is-config",
		"params", "param", "kw", "msg", "status", "suite", "arg", "source", "library", "owner", "starttime", "endtime", "start", "elapsed", "level", "TestFunction", "Incident",
		"Name", "Test", "DataTag", "Description", "Duration", "frame", "stack", "fn", "obj", "ip", "dir", "severity", "column",
	} {
		knownNames[n] = n
	}
}
