package format

import (
	"bufio"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// Format is one kind of test output. A document is read whole from its first
// byte to its last; a console reads cleaned lines among other lines. Exactly
// one of Document and Console is set.
type Format struct {
	// Name is what Options.Format asks for and what a report names, "junit" say.
	Name string
	// Order is its place among the other formats. Of two formats that are equally
	// sure of a document, the one with the lower order reads it; consoles see each
	// line in this order. The formats of this module are ten apart. A format
	// without an order comes behind all others.
	Order int
	// Detect says how sure it is, 0 to 100, that a document with this decoded
	// head is of this format. 50 and more is sure enough. Documents only.
	Detect func(head []byte) int
	// Document reads the input to its end. It returns an error only for what
	// makes the whole input unreadable as this format; a document that breaks
	// off is a Problem of KindTruncated and no error.
	Document func(d *Document) error
	// SelfDelimiting says that Document reads no further than the end of the document and
	// sets Document.Lines: what stands behind it is read as a log. JSON documents.
	SelfDelimiting bool
	// Opens lists how the document begins where it stands inside a log: the names
	// of the root elements of XML, the first keys of the objects of JSON. Nothing
	// else in a log is tried as a document.
	Opens []string
	// Console returns a fresh reader of lines.
	Console func(out model.Sink, lim model.Limits) Console
	// Begins, if not empty, holds the bytes one of which every line that the
	// console looks at begins with; it is not given others. That is for consoles
	// for which such lines mean nothing in any state, JSON lines say: it spares
	// each of them a call on every line of every log.
	Begins string
	// Wakes, if not nil, names the lines that can end the idleness of a console that is a Sleeper:
	// those without do not cost it a call.
	Wakes *Wake
	// Machine says that a console's lines are written for machines: events.
	Machine bool
	// Lint says that a document holds diagnostics and no tests.
	Lint bool
}

// IsMachine reports whether the format is written for machines, not for people:
// a document of tests, or a stream of events.
func (f *Format) IsMachine() bool { return (f.Document != nil || f.Machine) && !f.Lint }

// Console reads cleaned lines one by one. It must not claim what it cannot
// recognise with certainty: every console sees every line of every log.
type Console interface {
	// Line takes one line. It returns true if the line certainly belongs to
	// this format, which ends the line's way past later consoles.
	Line(l lines.Line) bool
	// End is called once after the last line; what is still open is emitted.
	End()
}

// Document is the input of a document format.
type Document struct {
	Reader *bufio.Reader // decoded: UTF-8 without a byte order mark
	Out    model.Sink
	Limits model.Limits
	Base   int // lines before the document's first, where it stands inside a log
	// Embedded says that log lines follow: the reader stops at the document's end.
	Embedded bool
	Lines    int // line ends up to the end of the document, for formats that leave the rest
}

// Rewriter is a console whose lines wrap what a tool printed (go test -json).
type Rewriter interface {
	// Shown returns the text that the line last claimed stands for.
	Shown() string
}

// Wake says which lines can change a console that is idle. It is given those,
// the lines the runner marked and the ends of steps; while it is not idle it is
// given all. A line need only fit one field, and may fit and mean nothing.
type Wake struct {
	Flush  string // first bytes of lines that are not indented
	Indent string // first bytes behind the indentation of those that are
	Ends   string // last bytes, spaces aside
	Holds  byte   // a byte that stands anywhere, 0 for none
	Dots   bool   // ".." stands anywhere
	Prefix bool   // the line has what may be a tool's prefix, see lines.OutputPrefix
}

// Commands is the name of the format of findings that linters write as workflow commands, and
// reporters of tests as well.
const Commands = "workflow-commands"

// Sleeper is a console of a format with Wakes.
type Sleeper interface {
	// Idle reports whether blank lines and all that Wakes does not name mean
	// nothing to the console as it is now, and leave nothing behind.
	Idle() bool
}

// Bytes that lines begin or end with, for Wake.
const (
	Digits   = "0123456789"
	Capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// AnyByte holds every byte.
var AnyByte = func() string {
	var b [256]byte
	for i := range b {
		b[i] = byte(i)
	}
	return string(b[:])
}()

// BulkReader is a console that takes its lines straight from the buffered input,
// for lines that come by the million: they are not made strings, cleaned or
// shown to other consoles, for which they mean nothing.
type BulkReader interface {
	Rewriter
	// TakeRaw takes the line that b begins with as line number no of the input
	// and returns its length with its end, or 0 if b does not hold all of it, if
	// it is longer than most, or if it is not one to be taken so.
	TakeRaw(b []byte, most, no int) int
}
