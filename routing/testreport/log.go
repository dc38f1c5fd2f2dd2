package testreport

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// logReader reads a log line by line: it cleans each line, hands it to the
// observer, to a document embedded in the log, and to the consoles.
type logReader struct {
	in        *input
	out       *claimSink
	lim       Limits
	onLine    func(Line)
	names     []string
	consoles  []console
	gate      gate
	rewriters []rewriter // of the consoles, nil for those that are none
	ungated   bool       // every console is given every line it looks at
	slowly    bool       // no line is taken by the bulk reader
	claimed   []bool     // consoles that claimed a line
	embedded  *embedded
	bulk      bulkReader // see bulkLines
	bulkName  string
	cutLines  int
	texts     texts

	only   *format // the format to read with, nil for all
	first  *format // the JSON document that the input begins with
	tried  bool    // the line in hand was looked at as the start of a JSON document
	looked int64   // bytes looked at for such starts
	peeked bool    // bytes were looked at since the last line was taken
	behind int     // bytes of lines that were taken and are still buffered
}

// newLogReader returns a reader with the console of only, or all if it is nil.
func newLogReader(in *input, out Sink, lim Limits, onLine func(Line), only *format) *logReader {
	lr := &logReader{in: in, out: &claimSink{Sink: out}, lim: lim, onLine: onLine, only: only}
	for _, f := range consolesOf(only) {
		lr.names = append(lr.names, f.name)
		lr.consoles = append(lr.consoles, f.console(lr.out.as(f.name), lim))
	}
	return lr
}

// consolesOf returns only, if it reads lines, or every format that does.
func consolesOf(only *format) []*format {
	var fs []*format
	for _, f := range allFormats() {
		if f.console != nil && only == nil {
			fs = append(fs, f)
		}
	}
	if only != nil && only.console != nil {
		fs = append(fs, only)
	}
	return fs
}

// dispatch builds the gate.
func (lr *logReader) dispatch() {
	lr.gate, lr.rewriters, lr.claimed = nil, make([]rewriter, len(lr.consoles)), make([]bool, len(lr.consoles))
	for i, name := range lr.names {
		lr.gate.add(formatOf(name), lr.consoles[i], !lr.ungated)
		lr.rewriters[i], _ = lr.consoles[i].(rewriter)
		if b, ok := lr.consoles[i].(bulkReader); ok && lr.bulk == nil && !lr.slowly {
			lr.bulk, lr.bulkName = b, name
		}
	}
}

// formatOf returns the format of that name, or one that states nothing.
func formatOf(name string) *format {
	if f := formatNamed(name); f != nil {
		return f
	}
	return &format{name: name}
}

func (lr *logReader) read() (Info, error) {
	lr.dispatch()
	var buf []byte
	no := 0
	for {
		lr.plainLines(&no)
		lr.bulkLines(&no)
		if err := lr.jsonDocument(&no); err != nil {
			return Info{Formats: lr.out.names, Lines: no, Bytes: lr.in.count.n}, err
		}
		raw, cut, err := lr.in.line(lr.lim.Line, &buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			return Info{Lines: no, Bytes: lr.in.count.n}, fmt.Errorf("reading line %d: %w", no+1, err)
		}
		no++
		if cut > 0 {
			lr.cutLines++
		}
		text, mark := clean(raw)
		lr.take(Line{No: no, Text: text, Mark: mark, Cut: cut})
	}
	if lr.embedded != nil {
		lr.embedded.close()
	}
	for _, c := range lr.consoles {
		c.end()
	}
	if lr.cutLines > 0 {
		lr.out.Cut(fmt.Sprintf("%d line(s) longer than %d bytes were cut", lr.cutLines, lr.lim.Line))
	}
	info := Info{Formats: lr.out.names, Lines: no, Bytes: lr.in.count.n}
	if len(info.Formats) == 0 {
		return info, ErrUnknownFormat
	}
	return info, nil
}

func (lr *logReader) take(l Line) {
	if lr.embedded != nil {
		if lr.embedded.write(l.Text) {
			return
		}
		lr.embedded = nil
	}
	lead := blanks(l.Text)
	if f := lr.opens(l.Text, lead); f != nil {
		if f.leaves {
			lr.out.claim(f.name)
		}
		lr.embedded = openEmbedded(f, lr.out.as(f.name), lr.lim, l.No-1)
		if lr.embedded.write(l.Text) {
			return
		}
		lr.embedded = nil
	}
	lr.out.at, lr.out.passing, lr.out.other = l.No, false, false
	for i := range lr.gate {
		if lr.offer(i, &l, lead) {
			break
		}
	}
	if lr.onLine != nil {
		lr.onLine(l)
	}
}

// offer gives l to those consoles of group n that look at it, in their order,
// until one claims it.
func (lr *logReader) offer(n int, l *Line, lead int) bool {
	g := &lr.gate[n]
	to, more := g.to(l, lead)
	for {
		if more != 0 && more&-more <= to&-to-1 { // the first of more stands before the first of to, or there is none
			to, more = to|g.woken(l.Text, more), 0
		}
		if to == 0 {
			return false
		}
		bit := next(&to)
		i := n*groupSize + bit
		if !lr.consoles[i].line(*l) {
			g.after(bit)
			continue
		}
		g.claimed(bit)
		l.Passing = lr.out.passing && !lr.out.other
		if !lr.claimed[i] {
			lr.claimed[i] = true
			lr.out.claim(lr.names[i])
		}
		if r := lr.rewriters[i]; r != nil {
			l.Text = r.shown()
		}
		return true
	}
}

// opens returns the format of the document that begins with this line, whose
// first byte that is no blank stands at lead.
func (lr *logReader) opens(text string, lead int) *format {
	if lead == len(text) || text[lead] != '<' && text[lead]|0x20 != '{' {
		return nil // inlined, for nearly all lines
	}
	return lr.opening(text, lead)
}

func (lr *logReader) opening(text string, lead int) *format {
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
func embeddedAt(t string) *format {
	if len(t) < 5 || !strings.HasPrefix(t, "<?xml") && !embeddedRoots()[rootName(t)] {
		return nil
	}
	return surest([]byte(t), func(f *format) bool { return f.document != nil && !f.leaves })
}

// embedded feeds the lines of a document that stands inside a log to its
// parser, which runs in a goroutine of its own and stops at the document's end.
type embedded struct {
	w    *io.PipeWriter
	done chan struct{}
}

func openEmbedded(f *format, out Sink, lim Limits, base int) *embedded {
	r, w := io.Pipe()
	e := &embedded{w: w, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		// No newInput: the lines are decoded, and its look ahead would swallow
		// lines behind the document.
		in := &input{br: bufio.NewReaderSize(r, headSize), count: &countingReader{r: r}}
		d := &document{br: in.br, out: out, lim: lim, base: base, embedded: true}
		if err := f.document(d); err != nil {
			out.Cut(fmt.Sprintf("a %s document at line %d could not be read: %v", f.name, base+1, err))
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
	Sink
	names []string

	at             int  // the line that is read
	passing, other bool // it starts or passes a test; it says something else
}

// saw notes what a line said of a test.
func (s *claimSink) saw(t *Test) {
	switch {
	case t.Status != Passed:
		s.other = true
	case t.At == s.at:
		s.passing = true
	}
}

// passesLine implements lineMarker.
func (n *namedSink) passesLine() { n.s.passing = true }

func (s *claimSink) claim(name string) {
	for _, n := range s.names {
		if n == name {
			return
		}
	}
	s.names = append(s.names, name)
}

func (s *claimSink) as(name string) Sink { return &namedSink{s: s, name: name} }

type namedSink struct {
	s       *claimSink
	name    string
	claimed bool
}

func (n *namedSink) claim() {
	if !n.claimed {
		n.claimed = true
		n.s.claim(n.name)
	}
}

func (n *namedSink) Test(t Test) {
	n.claim()
	n.s.saw(&t)
	if c, ok := n.s.Sink.(*Collector); ok {
		c.now = t // spares a copy
		c.take(&c.now)
		return
	}
	n.s.Sink.Test(t)
}

// takeTest implements testTaker.
func (n *namedSink) takeTest(t *Test) {
	if c, ok := n.s.Sink.(*Collector); ok {
		n.claim()
		n.s.saw(t)
		c.take(t)
		return
	}
	n.Test(*t)
}

func (n *namedSink) Problem(p Problem)       { n.claim(); n.s.other = true; n.s.Sink.Problem(p) }
func (n *namedSink) Diagnostic(d Diagnostic) { n.claim(); n.s.other = true; n.s.Sink.Diagnostic(d) }
func (n *namedSink) Cut(note string)         { n.s.Sink.Cut(note) }
