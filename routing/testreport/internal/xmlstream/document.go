package xmlstream

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// Root returns the local name of the root element of the XML document that
// starts with head and what stands behind the name; "" if none starts there.
func Root(head []byte) (name string, rest []byte) {
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

// RootTag returns what stands in the root's start tag, given what follows its name.
func RootTag(rest []byte) []byte {
	if i := bytes.IndexByte(rest, '>'); i >= 0 {
		return rest[:i]
	}
	return rest
}

// DetectRoot returns a detector that is sure of a document by its root's name.
func DetectRoot(names ...string) func(head []byte) int {
	return func(head []byte) int {
		if n, _ := Root(head); n != "" && slices.Contains(names, n) {
			return 90
		}
		return 0
	}
}

// Doc reads an XML report element by element: roots, then the children of
// each element down to those whose text is wanted.
type Doc struct {
	*format.Document
	XML    *Reader
	Label  string // the format in words, for messages
	text   bounded.Text
	seen   int // roots of the format
	Failed int // failing tests handed on
	Passed int // passing tests handed on
	Bad    int // problems handed on
}

// NewDoc returns a reader of d; label names the format in messages.
func NewDoc(d *format.Document, label string) *Doc {
	r := &Doc{Document: d, Label: label, XML: NewReader(d.Reader, d.Limits, d.Base, !d.Embedded)}
	r.XML.InLog = d.Embedded
	r.text.Max = d.Limits.Text
	return r
}

// Roots calls fn for each root element with one of the names, which is open
// then, and says what makes the document incomplete. Tools append documents to
// one file, so there may be several.
func (r *Doc) Roots(fn func(tok Token) error, names ...string) error {
	for {
		tok, err := r.XML.Next()
		if err == nil && tok.Kind == Start {
			if slices.Contains(names, tok.Name) {
				r.seen++
				err = fn(tok)
			} else {
				err = r.XML.Skip()
			}
		}
		if err == io.EOF || err == nil && r.Embedded && r.seen > 0 && len(r.XML.Stack) == 0 {
			break
		}
		if err != nil {
			return err
		}
	}
	if !r.Embedded {
		if _, err := r.Reader.Peek(1); err != nil && err != io.EOF {
			return err
		}
	}
	if r.seen == 0 {
		return fmt.Errorf("%w: it holds no <%s>", model.ErrUnknownFormat, names[0])
	}
	r.Complain()
	return nil
}

// Complain says what makes the document incomplete.
func (r *Doc) Complain() {
	x := r.XML
	p := model.Problem{Kind: model.KindTruncated, At: x.Line}
	switch {
	case x.Malformed > 0:
		p.At = x.Malformed
		p.Message = fmt.Sprintf("the %s document is damaged at line %d: %s", r.Label, p.At, x.Damage)
	case len(x.Stack) > 0:
		p.Message = fmt.Sprintf("the %s document breaks off at line %d inside <%s>", r.Label, x.Line, bounded.CutText(x.Stack[len(x.Stack)-1], 80))
	default:
		return
	}
	r.Problem(p)
}

// AnyRoot calls fn with each root element, whatever its name, and reads to the end of the input. It
// leaves it to the caller to say what makes the document incomplete.
func (r *Doc) AnyRoot(fn func(tok Token) error) error {
	for {
		tok, err := r.XML.Next()
		if err == nil && tok.Kind == Start {
			err = fn(tok)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if _, err := r.Reader.Peek(1); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// Children calls fn for each child of the element just opened and reads to its
// end. fn must read its element to the end.
func (r *Doc) Children(fn func(tok Token) error) error {
	depth := len(r.XML.Stack) - 1
	for len(r.XML.Stack) > depth {
		r.XML.byLine = true
		tok, err := r.XML.Next()
		r.XML.byLine = false
		if err != nil {
			return err
		}
		switch {
		case tok.Kind == Start:
			if err := fn(tok); err != nil {
				return err
			}
		case tok.Kind == Text && r.Embedded:
			r.XML.Spoil(tok.Line, "text between its elements")
			return io.EOF // the log goes on; the document did not end
		}
	}
	return nil
}

// Content returns the text of the element just opened, trimmed and bounded.
func (r *Doc) Content() (string, error) {
	err := r.XML.Content(&r.text)
	return strings.TrimSpace(r.text.String()), err
}

// OwnText returns the text of the element just opened without that of its
// children, trimmed and bounded.
func (r *Doc) OwnText() (string, error) {
	r.text.Reset()
	depth := len(r.XML.Stack) - 1
	for len(r.XML.Stack) > depth {
		r.XML.Keep = &r.text
		tok, err := r.XML.Next()
		r.XML.Keep = nil
		r.XML.Carry = r.XML.Carry[:0]
		if err == nil && tok.Kind == Start {
			err = r.XML.Skip()
		}
		if err != nil {
			return strings.TrimSpace(r.text.String()), err
		}
	}
	return strings.TrimSpace(r.text.String()), nil
}

// Into reads the text of the element just opened into s.
func (r *Doc) Into(s *string) error {
	t, err := r.Content()
	*s = t
	return err
}

// Fields reads the children of the element just opened: the text of those named
// in to; others are skipped. Of several with one name the first counts.
func (r *Doc) Fields(to map[string]*string) error {
	return r.Children(func(tok Token) error {
		if s := to[tok.Name]; s != nil && *s == "" {
			return r.Into(s)
		}
		return r.XML.Skip()
	})
}

// Attr returns an attribute of the last start tag, cleaned, "" if it has none.
func (r *Doc) Attr(name string) string { return bounded.CleanText(r.XML.Attr(name)) }

// Test hands on a test and counts it.
func (r *Doc) Test(t model.Test) {
	switch t.Status {
	case model.Failed:
		r.Failed++
	case model.Passed:
		r.Passed++
	}
	if t.Name == "" {
		t.Name = parse.FirstOf(t.Suite, "(no name)")
	}
	r.Out.Test(t)
}

// Problem hands on a problem and counts it.
func (r *Doc) Problem(p model.Problem) {
	r.Bad++
	r.Out.Problem(p)
}

// Shortfall says so if more failures were declared than found.
func (r *Doc) Shortfall(name string, line, declared, found int) {
	if declared > found {
		r.Problem(model.Problem{Kind: model.KindPackage, Name: name, At: line,
			Message: fmt.Sprintf("the report declares %d failures, but its tests show %d", declared, found)})
	}
}

// Fewer says so if more tests were declared as passed than found.
func (r *Doc) Fewer(name string, line, declared, found int) {
	if declared > found {
		red := r.Failed+r.Bad > 0
		r.Bad++
		failtext.Incomplete(r.Out, red, model.Problem{Name: name, At: line, Message: failtext.FewerTests(found, declared)})
	}
}

// Explain completes a failing test from its message and trace: the place, the
// two sides of an assertion, and the kind if the format does not state it.
func (r *Doc) Explain(t *model.Test) {
	if t.Message == "" {
		t.Message = bounded.CutText(failtext.Meaningful("", t.Trace, t.Type), r.Limits.Text)
	}
	if e, a, ok := failtext.SplitAssertion(t.Message); ok {
		t.Expected, t.Actual = e, a
	} else if e, a, ok := failtext.SplitAssertion(t.Trace); ok {
		t.Expected, t.Actual = e, a
	}
	if t.File == "" || t.Line == 0 {
		f, l := failtext.PlaceIn(t.Trace, t.Suite, t.File)
		if f == "" {
			f, l = failtext.PlaceIn(t.Message, t.Suite, t.File)
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

// statedKind says what the type and the first words of the message state.
func statedKind(t *model.Test) model.Kind {
	typ, msg := strings.ToLower(t.Type), strings.ToLower(t.Message)
	switch {
	case strings.Contains(msg, "exceeded timeout") || strings.Contains(msg, "timed out after") || strings.HasSuffix(typ, "timeoutexception") && strings.Contains(typ, "test"):
		return model.KindTimeout
	case typ == "" && t.Expected != "", parse.HasAny(typ, "assert", "xunit.sdk.", "comparison"), strings.HasPrefix(msg, "assert."), typ == "" && strings.Contains(msg, "assert"):
		return model.KindAssertion
	case typ != "":
		return model.KindError
	}
	return ""
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
