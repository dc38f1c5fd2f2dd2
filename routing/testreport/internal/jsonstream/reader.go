package jsonstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// Reader reads JSON value by value in bounded memory: a string is kept
// only where it is asked for and only up to a limit, and what nobody asks for
// is passed over without an allocation. Its methods read the next value
// whatever its type: a value of another type than asked for is passed over and
// gives the zero value, so that a walk over a document says only what it wants.
//
// The first error stays: all later calls do nothing, loops end, and the walk
// needs no error handling of its own. What was read before it stands.
//
// It reads all that encoding/json reads, and forgives what tools write beyond
// that: NaN, Infinity, raw control characters in strings.
type Reader struct {
	br   *bufio.Reader // nil: win is all there is
	win  []byte        // of br, or the whole text
	pos  int           // in win
	line int           // 1-based line of the next byte
	Text int           // bytes kept of a string

	depth, maxDepth int
	values          int // read so far
	Err             error

	scratch []byte
	keep    bounded.Text
	keys    map[string]string
	stack   []byte // brackets open while passing over a value
	own     []byte // for reset
}

// SyntaxError is what makes a text no JSON. io.ErrUnexpectedEOF stands for one
// that breaks off.
type SyntaxError struct {
	line int
	what string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.what) }

// NewReader reads from br, which it leaves behind the last value read once
// done is called.
func NewReader(br *bufio.Reader, lim model.Limits, base int) *Reader {
	return &Reader{br: br, line: base + 1, Text: lim.Text, maxDepth: lim.Depth}
}

// Reset makes r read text, which it copies; it is for lines of JSON.
func (r *Reader) Reset(text string, lim model.Limits, no int) {
	r.own = append(r.own[:0], text...)
	r.br, r.win, r.pos, r.line = nil, r.own, 0, no
	r.Text, r.maxDepth, r.depth, r.Err = lim.Text, lim.Depth, 0, nil
}

// done gives back to the input what was looked at but not read.
func (r *Reader) done() {
	if r.br != nil {
		_, _ = r.br.Discard(r.pos)
		r.win, r.pos = nil, 0
	}
}

// more reports whether there is a byte at pos; it reads on if need be.
func (r *Reader) more() bool {
	if r.Err != nil {
		return false
	}
	if r.pos < len(r.win) {
		return true
	}
	if r.br == nil {
		r.Err = io.ErrUnexpectedEOF
		return false
	}
	_, _ = r.br.Discard(r.pos)
	r.win, r.pos = nil, 0
	if _, err := r.br.Peek(1); err != nil {
		if err == io.EOF || errors.Is(err, io.ErrClosedPipe) {
			err = io.ErrUnexpectedEOF
		}
		r.Err = err
		return false
	}
	r.win, _ = r.br.Peek(r.br.Buffered())
	return true
}

func (r *Reader) spoil(what string) {
	if r.Err == nil {
		r.Err = &SyntaxError{r.line, what}
	}
}

// Peek returns the first byte of the next token, 0 at the end or after an error.
func (r *Reader) Peek() byte {
	for r.more() {
		switch c := r.win[r.pos]; c {
		case '\n':
			r.line++
			r.pos++
		case ' ', '\t', '\r':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// At returns the line of the next value.
func (r *Reader) At() int { r.Peek(); return r.line }

// Object calls fn for each key of the next value; fn reads the value or leaves
// it. It returns true if the value was an object and is complete.
func (r *Reader) Object(fn func(key string)) bool {
	if !r.enter('{', '}') {
		return false
	}
	if r.leave('}') {
		return true
	}
	for r.Err == nil {
		if r.Peek() != '"' {
			r.spoil("a key is missing in an object")
			return false
		}
		key := r.key()
		if r.Peek() != ':' {
			r.spoil("a colon is missing behind a key")
			return false
		}
		r.pos++
		n := r.values
		fn(key)
		if r.values == n {
			r.skip()
		}
		if r.leave('}') {
			return true
		}
		r.comma()
	}
	return false
}

// Array calls fn for each element of the next value; fn reads it or leaves it.
// It returns true if the value was an array and is complete.
func (r *Reader) Array(fn func()) bool {
	if !r.enter('[', ']') {
		return false
	}
	if r.leave(']') {
		return true
	}
	for r.Err == nil {
		if r.Peek() == 0 {
			return false
		}
		n := r.values
		fn()
		if r.values == n {
			r.skip()
		}
		if r.leave(']') {
			return true
		}
		r.comma()
	}
	return false
}

func (r *Reader) enter(open, end byte) bool {
	if c := r.Peek(); c != open {
		r.skip()
		return false
	}
	if r.depth++; r.depth > r.maxDepth {
		r.spoil("nested deeper than " + strconv.Itoa(r.maxDepth))
		return false
	}
	r.pos++
	return true
}

func (r *Reader) leave(end byte) bool {
	if r.Peek() != end {
		return false
	}
	r.pos++
	r.depth--
	r.values++
	return true
}

func (r *Reader) comma() {
	if r.Peek() != ',' {
		r.spoil("a comma is missing between two values")
		return
	}
	r.pos++
}

// key reads a key; keys seen before cost nothing.
func (r *Reader) key() string {
	r.pos++
	// Most keys have no escape and stand whole in the window.
	for i := r.pos; i < len(r.win) && i < r.pos+64; i++ {
		c := r.win[i]
		if c == '\\' || c < 0x20 {
			break
		}
		if c == '"' {
			b := r.win[r.pos:i]
			r.pos = i + 1
			return r.intern(b)
		}
	}
	r.keep.Max = 512
	r.keep.Reset()
	r.string(true)
	return r.keep.String()
}

func (r *Reader) intern(b []byte) string {
	if s, ok := r.keys[string(b)]; ok {
		return s
	}
	s := string(b)
	if r.keys == nil {
		r.keys = map[string]string{}
	}
	if len(r.keys) < 512 {
		r.keys[s] = s
	}
	return s
}

// skip passes over the next value.
func (r *Reader) skip() {
	r.values++
	r.stack = r.stack[:0]
	for {
		c := r.Peek()
		switch c {
		case 0:
			return
		case '"':
			r.pos++
			r.string(false)
		case '{', '[':
			if len(r.stack) >= 10000 {
				r.spoil("nested deeper than 10000")
				return
			}
			r.stack = append(r.stack, c+2)
			r.pos++
		case '}', ']':
			if len(r.stack) == 0 || r.stack[len(r.stack)-1] != c {
				r.spoil("a bracket that closes nothing")
				return
			}
			r.stack = r.stack[:len(r.stack)-1]
			r.pos++
		case ',', ':':
			if len(r.stack) == 0 {
				r.spoil("a value is missing")
				return
			}
			r.pos++
			continue
		default:
			r.word()
		}
		if r.Err != nil || len(r.stack) == 0 {
			return
		}
	}
}

// longestNumber is how many bytes a number may have.
const longestNumber = 400

// word passes over a number or a word in a value that nobody reads.
func (r *Reader) word() {
	n := 0
	for r.more() {
		c := r.win[r.pos]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
			r.pos++
			n++
			continue
		}
		break
	}
	if r.Err == io.ErrUnexpectedEOF && n > 0 && r.depth == 0 && len(r.stack) == 0 {
		r.Err = nil
	}
	if n == 0 || n > longestNumber {
		r.spoil("neither a value nor the end of one")
	}
}

// Str returns the next value: a string without what terminals and readers do
// not show, and cut to the limit of texts; a number or a word as it is written;
// "" for null, an object or an array.
func (r *Reader) Str() string { return r.Short(r.Text) }

// Short is str with at most max bytes at each end of the string.
func (r *Reader) Short(max int) string {
	switch r.Peek() {
	case '"':
	case '{', '[', 0:
		r.skip()
		return ""
	default:
		s := r.literal()
		if s == "null" {
			return ""
		}
		return s
	}
	r.pos++
	r.values++
	r.keep.Max = max
	r.keep.Reset()
	r.string(true)
	return r.keep.String()
}

// string reads a string behind its first quote into r.keep, or nowhere.
func (r *Reader) string(keep bool) {
	for r.more() {
		b := r.win[r.pos:]
		i := 0
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] != '\n' {
			i++
		}
		if keep && i > 0 {
			r.keep.Add(b[:i])
		}
		r.pos += i
		if i == len(b) {
			continue
		}
		switch b[i] {
		case '"':
			r.pos++
			return
		case '\n':
			// Not JSON, but nothing is lost by reading it.
			if keep {
				r.keep.Add(b[i : i+1])
			}
			r.line++
			r.pos++
		case '\\':
			r.pos++
			r.escape(keep)
		}
	}
}

func (r *Reader) escape(keep bool) {
	if !r.more() {
		return
	}
	c := r.win[r.pos]
	r.pos++
	var out [utf8.UTFMax]byte
	if c != 'u' {
		d, known := Unescaped(c)
		if !known {
			r.spoil("an unknown escape in a string")
			return
		}
		if keep {
			out[0] = d
			r.keep.Add(out[:1])
		}
		return
	}
	u := r.hex()
	for utf16.IsSurrogate(u) && r.Err == nil {
		// The other half follows as a second escape, or it is none.
		if !r.more() || r.win[r.pos] != '\\' {
			break
		}
		r.pos++
		if !r.more() {
			return
		}
		if r.win[r.pos] != 'u' {
			if keep {
				r.keep.Add(utf8.AppendRune(out[:0], utf8.RuneError))
			}
			r.escape(keep)
			return
		}
		r.pos++
		second := r.hex()
		if p := utf16.DecodeRune(u, second); p != utf8.RuneError {
			u = p
			break
		}
		if keep {
			r.keep.Add(utf8.AppendRune(out[:0], utf8.RuneError))
		}
		u = second
	}
	if keep && r.Err == nil {
		r.keep.Add(utf8.AppendRune(out[:0], u))
	}
}

func (r *Reader) hex() rune {
	var u rune
	for range 4 {
		if !r.more() {
			return 0
		}
		c := r.win[r.pos]
		switch {
		case c >= '0' && c <= '9':
			u = u<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			u = u<<4 | rune(c|0x20-'a'+10)
		default:
			r.spoil("a malformed escape in a string")
			return 0
		}
		r.pos++
	}
	return u
}

// literal reads a number or a word.
func (r *Reader) literal() string {
	r.values++
	b := r.scratch[:0]
	for r.more() {
		c := r.win[r.pos]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
			if len(b) >= longestNumber {
				r.spoil("a number without an end")
				return ""
			}
			b = append(b, c)
			r.pos++
			continue
		}
		break
	}
	r.scratch = b
	if r.Err == io.ErrUnexpectedEOF && len(b) > 0 && r.depth == 0 {
		r.Err = nil // a text that is nothing else
	}
	if r.Err != nil {
		return ""
	}
	switch s := r.intern(b); s {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return s
	default:
		if _, err := strconv.ParseFloat(s, 64); s == "" || err != nil && !errors.Is(err, strconv.ErrRange) {
			r.spoil("neither a value nor the end of one")
			return ""
		}
		return s
	}
}

// Float returns the next value if it is a number or a string that is one.
func (r *Reader) Float() float64 {
	f, err := strconv.ParseFloat(r.Short(64), 64)
	if err != nil || f != f {
		return 0
	}
	return f
}

// Int is float without its fraction, and 0 for what no count or line can be.
func (r *Reader) Int() int {
	f := r.Float()
	if f < -1e9 || f > 1e9 {
		return 0
	}
	return int(f)
}

// Truth returns the next value if it is true or false.
func (r *Reader) Truth() bool { return r.Short(8) == "true" }

// Unescaped returns what a backslash and c stand for in a string, for all but \u.
func Unescaped(c byte) (byte, bool) {
	switch c {
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case '"', '\\', '/':
		return c, true
	}
	return 0, false
}
