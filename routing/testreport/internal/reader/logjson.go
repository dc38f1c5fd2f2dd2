package reader

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// lookahead is how much of the input is looked at to tell a JSON document.
const lookahead = 16 << 10

// jsonDocument reads the JSON document that begins at the next line, if one
// does, straight from the input: it is often one line far longer than a line
// of a log is kept. no counts the lines read.
func (lr *logReader) jsonDocument(no *int) error {
	lr.tried = false
	for lr.embedded == nil {
		f := lr.first
		lr.first = nil
		if f == nil || !lr.opensJSON() {
			f = lr.jsonStart()
		}
		if f == nil {
			return nil
		}
		d := &format.Document{Reader: lr.in.Buf, Out: lr.out.document(f.Name), Limits: lr.lim, Base: *no, Embedded: true}
		switch err := f.Document(d); {
		case errors.Is(err, model.ErrUnknownFormat):
			lr.out.Cut(fmt.Sprintf("a document at line %d could not be read: %v", *no+1, err))
		case err != nil:
			return fmt.Errorf("%s: %w", f.Name, err)
		default:
			lr.out.claim(f.Name)
		}
		*no += d.Lines
		lr.endLine(no)
	}
	return nil
}

// opensJSON reports whether the next byte that is no white space opens an
// object or an array, in the first bytes of the input.
func (lr *logReader) opensJSON() bool {
	b, _ := lr.in.Buf.Peek(256)
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// endLine takes the white space behind a document, up to the end of its line.
func (lr *logReader) endLine(no *int) {
	for {
		b, err := lr.in.Buf.Peek(1)
		if err != nil {
			if lr.in.Buf.Buffered() == 0 {
				*no++ // the last line had no end
			}
			return
		}
		switch b[0] {
		case ' ', '\t', '\r':
			_, _ = lr.in.Buf.Discard(1)
		case '\n':
			_, _ = lr.in.Buf.Discard(1)
			*no++
			return
		default:
			return
		}
	}
}

// jsonStart returns the format of a document that begins at the next byte.
func (lr *logReader) jsonStart() *format.Format {
	b, _ := lr.in.Buf.Peek(1)
	if len(b) == 0 || b[0] != '{' && b[0] != '[' && b[0] != ' ' && b[0] != '\t' {
		return nil
	}
	b, _ = lr.in.Buf.Peek(256)
	if yes, _ := startsJSONDocument(b); !yes {
		return nil
	}
	lr.tried = true
	if !lr.mayLook() {
		return nil
	}
	head, _ := lr.in.Buf.Peek(lines.HeadSize)
	lr.looked += int64(len(head))
	return jsonDocumentAt(head, lr.only)
}

// mayLook bounds the bytes looked at by the bytes read.
func (lr *logReader) mayLook() bool { return lr.looked < 16<<20+lr.in.Count.N/4 }

// jsonAhead returns the format of a document whose first line text is, which opens an object or an
// array behind a time stamp, say: the lines behind it are cleaned to be looked at.
func (lr *logReader) jsonAhead(text string) *format.Format {
	if !lr.mayLook() {
		return nil
	}
	yes, undecided := startsJSONDocument(text[:min(len(text), lines.HeadSize)])
	if !yes && !undecided {
		return nil
	}
	head := append([]byte(text[:min(len(text), lines.HeadSize)]), '\n')
	lr.catchUp()
	raw, _ := lr.in.Buf.Peek(lookahead)
	lr.peeked = true
	lr.looked += int64(len(raw))
	for len(raw) > 0 {
		line, rest, found := bytes.Cut(raw, []byte("\n"))
		if !found {
			break // cut anywhere, in a time stamp say
		}
		t, _ := lines.Clean(bytes.TrimSuffix(line, []byte("\r")))
		head = append(append(head, t...), '\n')
		raw = rest
		if yes {
			continue
		}
		if yes, undecided = startsJSONDocument(head); !yes && !undecided {
			return nil
		}
	}
	return jsonDocumentAt(head, lr.only)
}

// startsJSONDocument reports whether text begins with a brace or bracket and a
// key of format.EmbeddedKeys; undecided tells that text ends before the key does.
func startsJSONDocument[T string | []byte](text T) (yes, undecided bool) {
	t := text[spaceLen(text):]
	if len(t) == 0 {
		return false, true
	}
	if t[0] == '[' {
		t = t[1:]
		if t = t[spaceLen(t):]; len(t) == 0 {
			return false, true
		}
	}
	if t[0] != '{' {
		return false, false
	}
	t = t[1:]
	if t = t[spaceLen(t):]; len(t) == 0 {
		return false, true
	}
	if t[0] != '"' {
		return false, false
	}
	for i := 1; i < len(t); i++ {
		if t[i] == '"' {
			return format.EmbeddedKeys()[string(t[1:i])], false
		}
	}
	return false, len(t) < 64
}

// spaceLen returns the length of the white space of JSON that text begins with.
func spaceLen[T string | []byte](text T) int {
	i := 0
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// jsonDocumentAt returns the JSON document format that head begins with.
func jsonDocumentAt(head []byte, only *format.Format) *format.Format {
	if yes, _ := startsJSONDocument(head); !yes {
		return nil
	}
	return format.Surest(head, func(f *format.Format) bool { return f.SelfDelimiting && (only == nil || only.Name == f.Name) })
}
