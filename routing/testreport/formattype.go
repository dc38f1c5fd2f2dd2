package testreport

import "bufio"

// format is one kind of test output. A document is read whole from its first
// byte to its last; a console reads cleaned lines among other lines. Exactly
// one of document and console is set.
type format struct {
	name string
	// order is the place among the other formats. Of two formats that are equally
	// sure of a document, the one with the lower order reads it; consoles see each
	// line in this order. The formats of this module are ten apart. A format
	// without an order comes behind all others.
	order int
	// detect says how sure it is, 0 to 100, that a document with this decoded
	// head is of this format. 50 and more is sure enough. Documents only.
	detect func(head []byte) int
	// document reads the input to its end. It returns an error only for what
	// makes the whole input unreadable as this format; a document that breaks
	// off is a Problem of KindTruncated and no error.
	document func(d *document) error
	// leaves says that document reads no further than the document's end and
	// sets document.lines: what stands behind it is read as a log. JSON documents.
	leaves bool
	// opens lists how the document begins where it stands inside a log: the names
	// of the root elements of XML, the first keys of the objects of JSON. Nothing
	// else in a log is tried as a document.
	opens []string
	// console returns a fresh reader of lines.
	console func(out Sink, lim Limits) console
	// begins, if not empty, holds the bytes one of which every line that the
	// console looks at begins with; it is not given others. That is for consoles
	// for which such lines mean nothing in any state, JSON lines say: it spares
	// each of them a call on every line of every log.
	begins string
	// wakes, if not nil, names the lines that can end the console's idleness.
	wakes *wake
	// machine says that a console's lines are written for machines: events.
	machine bool
	// lint says that a document holds diagnostics and no tests.
	lint bool
}

// machines reports whether the format is written for machines, not for people:
// a document of tests, or a stream of events.
func (f *format) machines() bool { return (f.document != nil || f.machine) && !f.lint }

// console reads cleaned lines one by one. It must not claim what it cannot
// recognise with certainty: every console sees every line of every log.
type console interface {
	// line takes one line. It returns true if the line certainly belongs to
	// this format, which ends the line's way past later consoles.
	line(l Line) bool
	// end is called once after the last line; what is still open is emitted.
	end()
}

// document is the input of a document format.
type document struct {
	br   *bufio.Reader // decoded: UTF-8 without a byte order mark
	out  Sink
	lim  Limits
	base int // lines before the document's first, where it stands inside a log
	// embedded says that log lines follow: the reader stops at the document's end.
	embedded bool
	lines    int // line ends up to the end of the document, for formats that leave the rest
}

// rewriter is a console whose lines wrap what a tool printed (go test -json).
type rewriter interface {
	// shown returns the text that the line last claimed stands for.
	shown() string
}

// wake says which lines can change a console that is idle. It is given those,
// the lines the runner marked and the ends of steps; while it is not idle it is
// given all. A line need only fit one field, and may fit and mean nothing.
type wake struct {
	flush  string // first bytes of lines that are not indented
	indent string // first bytes behind the indentation of those that are
	ends   string // last bytes, spaces aside
	holds  byte   // a byte that stands anywhere, 0 for none
	dots   bool   // ".." stands anywhere
	prefix bool   // the line has what may be a tool's prefix, see outputPrefix
}

// sleeper is a console of a format with wakes.
type sleeper interface {
	// idle reports whether blank lines and all that wakes does not name mean
	// nothing to the console as it is now, and leave nothing behind.
	idle() bool
}

const (
	digits  = "0123456789"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// anyByte holds every byte.
var anyByte = func() string {
	var b [256]byte
	for i := range b {
		b[i] = byte(i)
	}
	return string(b[:])
}()

// bulkReader is a console that takes its lines straight from the buffered input,
// for lines that come by the million: they are not made strings, cleaned or
// shown to other consoles, for which they mean nothing.
type bulkReader interface {
	rewriter
	// takeRaw takes the line that b begins with as line number no of the input
	// and returns its length with its end, or 0 if b does not hold all of it, if
	// it is longer than most, or if it is not one to be taken so.
	takeRaw(b []byte, most, no int) int
}
