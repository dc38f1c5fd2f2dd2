package testreport

import (
	"bytes"
	"errors"
	"fmt"
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
		d := &document{br: lr.in.br, out: lr.out.as(f.name), lim: lr.lim, base: *no, embedded: true}
		switch err := f.document(d); {
		case errors.Is(err, ErrUnknownFormat):
			lr.out.Cut(fmt.Sprintf("a document at line %d could not be read: %v", *no+1, err))
		case err != nil:
			return fmt.Errorf("%s: %w", f.name, err)
		default:
			lr.out.claim(f.name)
		}
		*no += d.lines
		lr.endLine(no)
	}
	return nil
}

// opensJSON reports whether the next byte that is no white space opens an
// object or an array, in the first bytes of the input.
func (lr *logReader) opensJSON() bool {
	b, _ := lr.in.br.Peek(256)
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// endLine takes the white space behind a document, up to the end of its line.
func (lr *logReader) endLine(no *int) {
	for {
		b, err := lr.in.br.Peek(1)
		if err != nil {
			if lr.in.br.Buffered() == 0 {
				*no++ // the last line had no end
			}
			return
		}
		switch b[0] {
		case ' ', '\t', '\r':
			_, _ = lr.in.br.Discard(1)
		case '\n':
			_, _ = lr.in.br.Discard(1)
			*no++
			return
		default:
			return
		}
	}
}

// jsonStart returns the format of a document that begins at the next byte.
func (lr *logReader) jsonStart() *format {
	b, _ := lr.in.br.Peek(1)
	if len(b) == 0 || b[0] != '{' && b[0] != '[' && b[0] != ' ' && b[0] != '\t' {
		return nil
	}
	b, _ = lr.in.br.Peek(256)
	if yes, _ := startsJSONDocument(b); !yes {
		return nil
	}
	lr.tried = true
	if !lr.mayLook() {
		return nil
	}
	head, _ := lr.in.br.Peek(headSize)
	lr.looked += int64(len(head))
	return jsonDocumentAt(head, lr.only)
}

// mayLook bounds the bytes looked at by the bytes read.
func (lr *logReader) mayLook() bool { return lr.looked < 16<<20+lr.in.count.n/4 }

// jsonAhead returns the format of a document whose first line text is, which
// opens an object or an array behind a time stamp, say: the lines behind it are cleaned to be looked at.
func (lr *logReader) jsonAhead(text string) *format {
	if !lr.mayLook() {
		return nil
	}
	yes, undecided := startsJSONDocument(text[:min(len(text), headSize)])
	if !yes && !undecided {
		return nil
	}
	head := append([]byte(text[:min(len(text), headSize)]), '\n')
	lr.catchUp()
	raw, _ := lr.in.br.Peek(lookahead)
	lr.peeked = true
	lr.looked += int64(len(raw))
	for len(raw) > 0 {
		line, rest, found := bytes.Cut(raw, newline)
		if !found {
			break // cut anywhere, in a time stamp say
		}
		t, _ := clean(bytes.TrimSuffix(line, []byte("\r")))
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
