package reader

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// logReader reads a log line by line: it cleans each line, hands it to the
// observer, to a document embedded in the log, and to the consoles.
type logReader struct {
	in       *lines.Input
	out      *claimSink
	lim      model.Limits
	onLine   func(lines.Line)
	consoles consoles
	lineWise bool // no line is taken in bulk
	embedded *embedded
	bulk     format.BulkReader // see bulkLines
	bulkName string
	cutLines int
	texts    lines.Texts
	streams  streams

	only   *format.Format // the format to read with, nil for all
	first  *format.Format // the JSON document that the input begins with
	tried  bool           // the line in hand was looked at as the start of a JSON document
	looked int64          // bytes looked at for such starts
	peeked bool           // bytes were looked at since the last line was taken
	behind int            // bytes of lines that were taken and are still buffered
}

// newLogReader returns a reader with the console of only, or all if it is nil.
func newLogReader(in *lines.Input, out model.Sink, lim model.Limits, onLine func(lines.Line), only *format.Format) *logReader {
	sink := &claimSink{Sink: out, sessions: sessions{out: out}}
	lr := &logReader{in: in, out: sink, lim: lim, onLine: onLine, only: only, consoles: consoles{out: sink, lim: lim}}
	lr.consoles.use(consolesOf(only))
	return lr
}

// noJSON is the only format of a log in which no JSON document is read.
var noJSON = &format.Format{Name: "none"}

// Log says how ReadLog reads.
type Log struct {
	Consoles []string // the formats whose consoles alone read, nil for all
	Ungated  bool     // every console is given every line it looks at
	LineWise bool     // no line is taken in bulk
}

// ReadLog reads r as a log and no document, of which it may hold some; with
// Log.Consoles it reads no JSON documents. It is for the tests of formats.
func ReadLog(r io.Reader, opt model.Options, how Log, out model.Sink) (model.Info, error) {
	var only *format.Format
	if how.Consoles != nil {
		only = noJSON
	}
	lr := newLogReader(lines.NewInput(r), out, opt.Limits.WithDefaults(), opt.OnLine, only)
	for _, f := range format.All() {
		if f.Console != nil && slices.Contains(how.Consoles, f.Name) {
			lr.consoles.use([]*format.Format{f})
		}
	}
	lr.consoles.ungated, lr.lineWise = how.Ungated, how.LineWise
	return lr.read()
}

func (lr *logReader) read() (model.Info, error) {
	lr.consoles.dispatch()
	if !lr.lineWise {
		lr.bulk, lr.bulkName = lr.consoles.bulk()
	}
	var buf []byte
	no := 0
	for {
		lr.plainLines(&no)
		lr.bulkLines(&no)
		if err := lr.jsonDocument(&no); err != nil {
			return model.Info{Formats: lr.out.names, Lines: no, Bytes: lr.in.Count.N}, err
		}
		raw, cut, err := lr.in.ReadLine(lr.lim.Line, &buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			return model.Info{Lines: no, Bytes: lr.in.Count.N}, fmt.Errorf("reading line %d: %w", no+1, err)
		}
		no++
		if cut > 0 {
			lr.cutLines++
		}
		text, mark := lines.Clean(raw)
		l := lines.Line{No: no, Text: text, Mark: mark, Cut: cut}
		if mark != "" {
			l.Props = lines.Properties(raw)
		}
		lr.take(l)
	}
	if lr.embedded != nil {
		lr.embedded.close()
	}
	lr.consoles.end()
	lr.endStreams()
	lr.out.sessions.settle()
	lr.out.sessions.note()
	if lr.cutLines > 0 {
		lr.out.Cut(fmt.Sprintf("%d line(s) longer than %d bytes were cut", lr.cutLines, lr.lim.Line))
	}
	info := model.Info{Formats: lr.out.names, Lines: no, Bytes: lr.in.Count.N}
	if len(info.Formats) == 0 {
		return info, model.ErrUnknownFormat
	}
	return info, nil
}

func (lr *logReader) take(l lines.Line) {
	if lr.embedded != nil {
		if lr.embedded.write(l.Text) {
			return
		}
		lr.embedded = nil
	}
	lead := blanks(l.Text)
	if f := lr.opens(l.Text, lead); f != nil {
		if f.SelfDelimiting {
			lr.out.claim(f.Name)
		}
		lr.embedded = openEmbedded(f, lr.out.document(f.Name), lr.lim, l.No-1)
		if lr.embedded.write(l.Text) {
			return
		}
		lr.embedded = nil
	}
	lr.out.at, lr.out.passing, lr.out.other = l.No, false, false
	lr.out.sessions.echoes(&l)
	lr.out.sessions.follow(&l)
	if over := lines.StepOver(l); over || !lr.inStream(&l) {
		lr.consoles.take(&l, lead)
		if over {
			lr.endStreams()
			lr.out.sessions.settle()
		}
	}
	if lr.onLine != nil {
		lr.onLine(l)
	}
}

// inStream gives l to the stream it belongs to, which it may be the first line of.
func (lr *logReader) inStream(l *lines.Line) bool {
	if l.Mark != "" {
		return false
	}
	if len(lr.streams.open) < maxStreams {
		if p := declaredPrefix(l.Text); p != "" && !lr.streams.knows(p) {
			lr.streams.made++
			st := &stream{prefix: strings.Clone(p), consoles: consoles{out: lr.out, lim: lr.lim, ungated: lr.consoles.ungated, stream: lr.streams.made}}
			st.consoles.use(lr.consoles.formats)
			st.consoles.dispatch()
			lr.streams.open = append(lr.streams.open, st)
		}
	}
	if len(lr.streams.open) == 0 {
		return false
	}
	st, text := lr.streams.of(l)
	if st == nil {
		return false
	}
	in := lines.Line{No: l.No, Text: text, Cut: l.Cut}
	st.consoles.take(&in, blanks(text))
	l.Passing = in.Passing
	return true
}

func (lr *logReader) endStreams() {
	for _, st := range lr.streams.open {
		st.consoles.end()
	}
	lr.streams.open, lr.streams.last = nil, 0
}

// opens returns the format of the document that begins with this line, whose
// first byte that is no blank stands at lead.
func (lr *logReader) opens(text string, lead int) *format.Format {
	if lead == len(text) || text[lead] != '<' && text[lead]|0x20 != '{' {
		return nil // inlined, for nearly all lines
	}
	return lr.opening(text, lead)
}

func (lr *logReader) opening(text string, lead int) *format.Format {
	switch text[lead] {
	case '<':
		return embeddedAt(text[lead:])
	case '{', '[':
		if !lr.tried {
			return lr.jsonAhead(text)
		}
	}
	return nil
}

// blanks returns how many blanks and tabs t begins with.
func blanks(t string) int {
	i := 0
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	return i
}

// embeddedAt returns the document format that starts with t, in a log.
func embeddedAt(t string) *format.Format {
	if len(t) < 5 || !strings.HasPrefix(t, "<?xml") && !format.EmbeddedRoots()[rootName(t)] {
		return nil
	}
	return format.Surest([]byte(t), func(f *format.Format) bool { return f.Document != nil && !f.SelfDelimiting })
}

// embedded feeds the lines of a document that stands inside a log to its
// parser, which runs in a goroutine of its own and stops at the document's end.
type embedded struct {
	w    *io.PipeWriter
	done chan struct{}
}

func openEmbedded(f *format.Format, out model.Sink, lim model.Limits, base int) *embedded {
	r, w := io.Pipe()
	e := &embedded{w: w, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		// No lines.NewInput: the lines are decoded, and its look ahead would swallow
		// lines behind the document.
		in := &lines.Input{Buf: bufio.NewReaderSize(r, lines.HeadSize), Count: &lines.CountingReader{R: r}}
		d := &format.Document{Reader: in.Buf, Out: out, Limits: lim, Base: base, Embedded: true}
		if err := f.Document(d); err != nil {
			out.Cut(fmt.Sprintf("a %s document at line %d could not be read: %v", f.Name, base+1, err))
		}
		_ = r.Close()
	}()
	return e
}

// write hands on one line; false means that the document ended before it.
func (e *embedded) write(text string) bool {
	if _, err := io.WriteString(e.w, text+"\n"); err != nil {
		<-e.done
		return false
	}
	return true
}

func (e *embedded) close() {
	_ = e.w.Close()
	<-e.done
}

// claimSink notes which formats recognised something.
type claimSink struct {
	model.Sink
	names    []string
	sessions sessions

	at             int  // the line that is read
	passing, other bool // it starts or passes a test; it says something else
}

// saw notes what a line said of a test.
func (s *claimSink) saw(t *model.Test) {
	switch {
	case t.Status != model.Passed:
		s.other = true
	case t.At == s.at:
		s.passing = true
	}
}

// PassesLine implements lineMarker.
func (n *namedSink) PassesLine() { n.s.passing = true }

func (s *claimSink) claim(name string) {
	for _, n := range s.names {
		if n == name {
			return
		}
	}
	s.names = append(s.names, name)
}

// document returns a sink for a document of a format inside the log.
func (s *claimSink) document(name string) model.Sink {
	return &namedSink{s: s, name: name, console: true, document: true}
}

// console returns a sink for the console of a format, which reads a stream or, as 0, what is in none.
func (s *claimSink) console(name string, stream int) model.Sink {
	return &namedSink{s: s, name: name, console: true, stream: stream}
}

type namedSink struct {
	s       *claimSink
	name    string
	console bool
	stream  int
	claimed bool
	// document says that it is read as one, which stands inside the log.
	document bool
	now      model.Test // the test in hand
}

func (n *namedSink) claim() {
	if !n.claimed {
		n.claimed = true
		n.s.claim(n.name)
	}
}

func (n *namedSink) Test(t model.Test) {
	n.claim()
	n.s.saw(&t)
	if n.holds(t.At) {
		held := t // t itself stays off the heap
		n.s.sessions.hold(heldEvent{format: n.name, stream: n.stream, at: t.At, document: n.document, test: &held})
		return
	}
	if c, ok := n.s.Sink.(model.TestTaker); ok {
		n.now = t // spares a copy
		c.TakeTest(&n.now)
		return
	}
	n.s.Sink.Test(t)
}

// TakeTest implements model.TestTaker.
func (n *namedSink) TakeTest(t *model.Test) {
	if n.holds(t.At) {
		n.Test(*t)
		return
	}
	if c, ok := n.s.Sink.(model.TestTaker); ok {
		n.claim()
		n.s.saw(t)
		c.TakeTest(t)
		return
	}
	n.Test(*t)
}

// Problem implements model.Sink.
func (n *namedSink) Problem(p model.Problem) {
	n.claim()
	n.s.other = true
	if n.holds(p.At) {
		held := p
		n.s.sessions.hold(heldEvent{format: n.name, stream: n.stream, at: p.At, document: n.document, problem: &held})
		return
	}
	n.s.Sink.Problem(p)
}

// holds reports whether an event of that line waits for the end of its step.
func (n *namedSink) holds(at int) bool { return n.console && at > 0 && n.s.sessions.holds() }

// Session implements sessionMarker.
func (n *namedSink) Session(from, to int) {
	n.s.sessions.completed(n.name, n.stream, from, to)
}

// PassedSession implements passedMarker.
func (n *namedSink) PassedSession(from, to int) {
	n.s.sessions.completed(n.name, n.stream, from, to)
	if d := n.s.sessions.done; len(d) > 0 {
		d[len(d)-1].passed = true
	}
}

func (n *namedSink) Diagnostic(d model.Diagnostic) {
	n.claim()
	n.s.other = true
	if n.holds(d.At) {
		held := d
		n.s.sessions.hold(heldEvent{format: n.name, stream: n.stream, at: d.At, document: n.document, message: &held})
		return
	}
	n.s.Sink.Diagnostic(d)
}

func (n *namedSink) Cut(note string) { n.s.Sink.Cut(note) }

// plainLines takes the lines that stand whole in the buffer, up to one that
// may begin a JSON document or has to be cut: those are left to others, which
// look at the input anew for every line. no counts the lines read.
func (lr *logReader) plainLines(no *int) {
	if lr.first != nil {
		return
	}
	defer lr.catchUp()
	b, _ := lr.in.Buf.Peek(lr.in.Buf.Buffered())
	for len(b) > 0 {
		if lr.embedded == nil && mayOpenJSON(b) {
			return
		}
		n := bytes.IndexByte(b, '\n')
		if n < 0 || n >= lr.lim.Line {
			return
		}
		text, mark := lr.texts.Clean(lines.TrimEOL(b[:n+1]))
		lr.behind += n + 1
		*no++
		lr.tried, lr.peeked = false, false
		l := lines.Line{No: *no, Text: text, Mark: mark}
		if mark != "" {
			l.Props = lines.Properties(b[:n])
		}
		lr.take(l)
		if lr.peeked {
			return // what b holds may have moved
		}
		b = b[n+1:]
	}
}

// catchUp discards the lines that were taken from the buffer.
func (lr *logReader) catchUp() {
	_, _ = lr.in.Buf.Discard(lr.behind) // they are buffered
	lr.behind = 0
}

// mayOpenJSON reports whether bulkLines or jsonStart may find something in b,
// which holds what of the input is buffered.
func mayOpenJSON(b []byte) bool {
	switch b[0] {
	case '{':
		return true
	case '[':
		if len(b) > 1 && b[1] > ' ' && b[1] != '{' {
			return false
		}
	case ' ', '\t':
		for i, c := range b[1:min(len(b), 256)] {
			if c != ' ' && c != '\t' {
				return c == '{' || c == '[' || c <= ' ' || i > 250
			}
		}
	default:
		return false
	}
	return true
}

// bulkLines takes the lines that stand in the buffer as long as the bulk reader
// takes them. The first line that is anything else is left to plainLines.
func (lr *logReader) bulkLines(no *int) {
	if lr.bulk == nil || lr.embedded != nil || lr.first != nil {
		return
	}
	b, _ := lr.in.Buf.Peek(lr.in.Buf.Buffered())
	at := 0
	for {
		n := lr.bulk.TakeRaw(b[at:], min(lr.lim.Line, lines.HeadSize), *no+1)
		if n == 0 {
			break
		}
		at += n
		*no++
		lr.out.claim(lr.bulkName)
		if lr.onLine != nil {
			lr.onLine(lines.Line{No: *no, Text: lr.bulk.Shown()})
		}
	}
	_, _ = lr.in.Buf.Discard(at)
}

// rootName returns the name of the tag that a line starts with.
func rootName(line string) string {
	i := strings.IndexAny(line, " \t/>")
	if i < 0 {
		i = len(line)
	}
	return line[1:i]
}
