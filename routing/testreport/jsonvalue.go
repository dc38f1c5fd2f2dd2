package testreport

import (
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str returns the next value: a string without what terminals and readers do
// not show, and cut to the limit of texts; a number or a word as it is written;
// "" for null, an object or an array.
func (r *jsonReader) str() string { return r.short(r.text) }

// short is str with at most max bytes at each end of the string.
func (r *jsonReader) short(max int) string {
	switch r.peek() {
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
	r.keep.max = max
	r.keep.reset()
	r.string(true)
	return r.keep.String()
}

// string reads a string behind its first quote into r.keep, or nowhere.
func (r *jsonReader) string(keep bool) {
	for r.more() {
		b := r.win[r.pos:]
		i := 0
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] != '\n' {
			i++
		}
		if keep && i > 0 {
			r.keep.add(b[:i])
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
				r.keep.add(b[i : i+1])
			}
			r.line++
			r.pos++
		case '\\':
			r.pos++
			r.escape(keep)
		}
	}
}

func (r *jsonReader) escape(keep bool) {
	if !r.more() {
		return
	}
	c := r.win[r.pos]
	r.pos++
	var out [utf8.UTFMax]byte
	if c != 'u' {
		d, known := unescaped(c)
		if !known {
			r.spoil("an unknown escape in a string")
			return
		}
		if keep {
			out[0] = d
			r.keep.add(out[:1])
		}
		return
	}
	u := r.hex()
	for utf16.IsSurrogate(u) && r.err == nil {
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
				r.keep.add(utf8.AppendRune(out[:0], utf8.RuneError))
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
			r.keep.add(utf8.AppendRune(out[:0], utf8.RuneError))
		}
		u = second
	}
	if keep && r.err == nil {
		r.keep.add(utf8.AppendRune(out[:0], u))
	}
}

func (r *jsonReader) hex() rune {
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
func (r *jsonReader) literal() string {
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
	if r.err == io.ErrUnexpectedEOF && len(b) > 0 && r.depth == 0 {
		r.err = nil // a text that is nothing else
	}
	if r.err != nil {
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

// float returns the next value if it is a number or a string that is one.
func (r *jsonReader) float() float64 {
	f, err := strconv.ParseFloat(r.short(64), 64)
	if err != nil || f != f {
		return 0
	}
	return f
}

// int is float without its fraction, and 0 for what no count or line can be.
func (r *jsonReader) int() int {
	f := r.float()
	if f < -1e9 || f > 1e9 {
		return 0
	}
	return int(f)
}

// truth returns the next value if it is true or false.
func (r *jsonReader) truth() bool { return r.short(8) == "true" }
