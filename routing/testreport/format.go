package testreport

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A format is one kind of test output. To add one: write a file that holds its
// parser, and name it in the table below. A document is read whole from its
// first byte to its last; a console reads cleaned lines among other lines.
// Exactly one of document and console is set.
type format struct {
	name string
	// detect says how sure it is, 0 to 100, that a document with this decoded
	// head is of this format. Documents only.
	detect func(head []byte) int
	// document reads the input to its end. It returns an error only for what
	// makes the whole input unreadable as this format; a document that breaks
	// off is a Problem of KindTruncated and no error.
	document func(d *document) error
	// leaves says that document reads no further than the document's end and
	// sets document.lines: what stands behind it is read as a log. JSON documents.
	leaves bool
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

// formats lists every known format; documents are tried in this order when
// two are equally sure, consoles see each line in this order.
var formats = []format{
	junitFormat,
	trxFormat,
	nunit3Format,
	nunit2Format,
	xunitFormat,
	testngFormat,
	robotFormat,
	cppunitFormat,
	aunitFormat,
	checkFormat,
	cunitFormat,
	qtestFormat,
	valgrindFormat,
	ctestXMLFormat,
	boostXMLFormat,
	catch2XMLFormat,
	checkstyleFormat,
	ctrfFormat,
	jestJSONFormat,
	playwrightJSONFormat,
	mochawesomeFormat,
	mochaJSONFormat,
	rspecJSONFormat,
	pytestJSONFormat,
	cucumberJSONFormat,
	ginkgoJSONFormat,
	karmaJSONFormat,
	testcafeJSONFormat,
	sarifFormat,
	mochaStreamFormat,
	pytestReportLogFormat,
	dartJSONFormat,
	bazelBEPFormat,
	libtestJSONFormat,
	goTestJSONFormat,
	goTestFormat,
	pytestFormat,
	jestFormat,
	vitestFormat,
	cargoFormat,
	unittestFormat,
	junitTextFormat,
	mochaFormat,
	rspecFormat,
	minitestFormat,
	phpunitFormat,
	pestFormat,
	tapFormat,
	nodeTestFormat,
	bunFormat,
	denoFormat,
	playwrightFormat,
	exunitFormat,
	cucumberFormat,
	jasmineFormat,
	karmaFormat,
	avaFormat,
	sympyFormat,
	surefireFormat,
	gradleFormat,
	junitConsoleFormat,
	antFormat,
	testNGFormat,
	mozlogFormat,
	lintFormat,
	ctestFormat,
	gtestFormat,
	catch2Format,
	doctestFormat,
	boostTestFormat,
	batsFormat,
	robotConsoleFormat,
	dotnetFormat,
	sbtFormat,
	leiningenFormat,
	xctestFormat,
}

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
	in   *input
	out  Sink
	lim  Limits
	base int // lines before the document's first, where it stands inside a log
	// embedded says that log lines follow: the reader stops at the document's end.
	embedded bool
	lines    int // line ends up to the end of the document, for formats that leave the rest
}

// Machine reports whether the format name is written for machines, not for
// people: a document of tests, or a stream of events. Where both were read of one run,
// it is the one to count.
func Machine(name string) bool {
	for i := range formats {
		if formats[i].name == name {
			return (formats[i].document != nil || formats[i].machine) && !formats[i].lint
		}
	}
	return false
}

// Names returns the names of all formats, sorted. A tool of errorformat whose
// name another format has is read as "errorformat:NAME".
func Names() []string {
	names := make([]string, 0, len(formats))
	for _, f := range formats {
		names = append(names, f.name)
	}
	names = append(names, errorformatNames()...)
	slices.Sort(names)
	return names
}

// ErrUnknownFormat says that no format recognised anything in the input.
var ErrUnknownFormat = errors.New("not readable as any known test output")

// ErrEmpty says that the input holds no byte but white space.
var ErrEmpty = errors.New("the input is empty")

// Options steer Read. The zero value detects the format and uses DefaultLimits.
type Options struct {
	Format string     // a name of Names, or "" or "auto"
	Limits Limits     // zero fields take the defaults
	OnLine func(Line) // called with every cleaned line of a log, in order
}

// Info says what Read saw.
type Info struct {
	Formats []string // names of the formats that recognised something
	Lines   int
	Bytes   int64 // of the input, unpacked, before decoding
}

// Read reads r to its end, unpacked if it is packed with gzip, and hands what
// it finds to out. It returns ErrEmpty, ErrUnknownFormat or ErrPacked (wrapped),
// an unknown Options.Format, or an error of r.
func Read(r io.Reader, opt Options, out Sink) (Info, error) {
	lim := opt.Limits.withDefaults()
	r, err := unpack(r, maxUnpacked)
	if err != nil {
		return Info{}, err
	}
	in := newInput(r)
	head := in.head()
	if len(head) == 0 && in.broken != nil {
		return Info{}, in.broken
	}
	if len(strings.TrimSpace(string(head))) == 0 && len(head) < headSize {
		return Info{Bytes: in.count.n}, ErrEmpty
	}
	f, err := choose(opt.Format, head)
	if err != nil {
		return Info{}, err
	}
	if f != nil && f.document != nil && !f.leaves {
		err := f.document(&document{in: in, out: out, lim: lim})
		info := Info{Formats: []string{f.name}, Bytes: in.count.n}
		if err != nil {
			return info, fmt.Errorf("%s: %w", f.name, err)
		}
		return info, nil
	}
	var only *format
	if opt.Format != "" && opt.Format != "auto" {
		only = f
	}
	lr := newLogReader(in, out, lim, opt.OnLine, only)
	if f != nil && f.leaves {
		lr.first = f
	}
	return lr.read()
}

// choose returns the format to read with; nil means: a log, all consoles.
func choose(name string, head []byte) (*format, error) {
	if name != "" && name != "auto" {
		for i := range formats {
			if formats[i].name == name {
				return &formats[i], nil
			}
		}
		if f := errorformats()[strings.TrimPrefix(name, "errorformat:")]; f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("unknown format %q; known are: auto, %s", name, strings.Join(Names(), ", "))
	}
	best, sure := -1, 49
	for i := range formats {
		if formats[i].detect == nil {
			continue
		}
		if n := formats[i].detect(head); n > sure {
			best, sure = i, n
		}
	}
	if best < 0 {
		return nil, nil
	}
	return &formats[best], nil
}
