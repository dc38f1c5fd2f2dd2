package testreport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// jsonReader reads JSON value by value in bounded memory: a string is kept
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
type jsonReader struct {
	br   *bufio.Reader // nil: win is all there is
	win  []byte        // of br, or the whole text
	pos  int           // in win
	line int           // 1-based line of the next byte
	text int           // bytes kept of a string

	depth, maxDepth int
	values          int // read so far
	err             error

	scratch []byte
	keep    textBuf
	keys    map[string]string
	stack   []byte // brackets open while passing over a value
	own     []byte // for reset
}

// errJSON is what makes a text no JSON. io.ErrUnexpectedEOF stands for one
// that breaks off.
type errJSON struct {
	line int
	what string
}

func (e *errJSON) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.what) }

// newJSONReader reads from br, which it leaves behind the last value read once
// done is called.
func newJSONReader(br *bufio.Reader, lim Limits, base int) *jsonReader {
	return &jsonReader{br: br, line: base + 1, text: lim.Text, maxDepth: lim.Depth}
}

// reset makes r read text, which it copies; it is for lines of JSON.
func (r *jsonReader) reset(text string, lim Limits, no int) {
	r.own = append(r.own[:0], text...)
	r.br, r.win, r.pos, r.line = nil, r.own, 0, no
	r.text, r.maxDepth, r.depth, r.err = lim.Text, lim.Depth, 0, nil
}

// done gives back to the input what was looked at but not read.
func (r *jsonReader) done() {
	if r.br != nil {
		_, _ = r.br.Discard(r.pos)
		r.win, r.pos = nil, 0
	}
}

// more reports whether there is a byte at pos; it reads on if need be.
func (r *jsonReader) more() bool {
	if r.err != nil {
		return false
	}
	if r.pos < len(r.win) {
		return true
	}
	if r.br == nil {
		r.err = io.ErrUnexpectedEOF
		return false
	}
	_, _ = r.br.Discard(r.pos)
	r.win, r.pos = nil, 0
	if _, err := r.br.Peek(1); err != nil {
		if err == io.EOF || errors.Is(err, io.ErrClosedPipe) {
			err = io.ErrUnexpectedEOF
		}
		r.err = err
		return false
	}
	r.win, _ = r.br.Peek(r.br.Buffered())
	return true
}

func (r *jsonReader) spoil(what string) {
	if r.err == nil {
		r.err = &errJSON{r.line, what}
	}
}

// peek returns the first byte of the next token, 0 at the end or after an error.
func (r *jsonReader) peek() byte {
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

// at returns the line of the next value.
func (r *jsonReader) at() int { r.peek(); return r.line }

// object calls fn for each key of the next value; fn reads the value or leaves
// it. It returns true if the value was an object and is complete.
func (r *jsonReader) object(fn func(key string)) bool {
	if !r.enter('{', '}') {
		return false
	}
	if r.leave('}') {
		return true
	}
	for r.err == nil {
		if r.peek() != '"' {
			r.spoil("a key is missing in an object")
			return false
		}
		key := r.key()
		if r.peek() != ':' {
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

// array calls fn for each element of the next value; fn reads it or leaves it.
// It returns true if the value was an array and is complete.
func (r *jsonReader) array(fn func()) bool {
	if !r.enter('[', ']') {
		return false
	}
	if r.leave(']') {
		return true
	}
	for r.err == nil {
		if r.peek() == 0 {
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

func (r *jsonReader) enter(open, end byte) bool {
	if c := r.peek(); c != open {
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

func (r *jsonReader) leave(end byte) bool {
	if r.peek() != end {
		return false
	}
	r.pos++
	r.depth--
	r.values++
	return true
}

func (r *jsonReader) comma() {
	if r.peek() != ',' {
		r.spoil("a comma is missing between two values")
		return
	}
	r.pos++
}

// key reads a key; keys seen before cost nothing.
func (r *jsonReader) key() string {
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
	r.keep.max = 512
	r.keep.reset()
	r.string(true)
	return r.keep.String()
}

func (r *jsonReader) intern(b []byte) string {
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
func (r *jsonReader) skip() {
	r.values++
	r.stack = r.stack[:0]
	for {
		c := r.peek()
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
		if r.err != nil || len(r.stack) == 0 {
			return
		}
	}
}

// longestNumber is how many bytes a number may have.
const longestNumber = 400

// word passes over a number or a word in a value that nobody reads.
func (r *jsonReader) word() {
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
	if r.err == io.ErrUnexpectedEOF && n > 0 && r.depth == 0 && len(r.stack) == 0 {
		r.err = nil
	}
	if n == 0 || n > longestNumber {
		r.spoil("neither a value nor the end of one")
	}
}
