package testreport

import "bytes"

// plainLines takes the lines that stand whole in the buffer, up to one that
// may begin a JSON document or has to be cut: those are left to others, which
// look at the input anew for every line. no counts the lines read.
func (lr *logReader) plainLines(no *int) {
	if lr.first != nil {
		return
	}
	defer lr.catchUp()
	b, _ := lr.in.br.Peek(lr.in.br.Buffered())
	for len(b) > 0 {
		if lr.embedded == nil && mayOpenJSON(b) {
			return
		}
		n := bytes.IndexByte(b, '\n')
		if n < 0 || n >= lr.lim.Line {
			return
		}
		text, mark := lr.texts.clean(trimEOL(b[:n+1]))
		lr.behind += n + 1
		*no++
		lr.tried, lr.peeked = false, false
		lr.take(Line{No: *no, Text: text, Mark: mark})
		if lr.peeked {
			return // what b holds may have moved
		}
		b = b[n+1:]
	}
}

// catchUp discards the lines that were taken from the buffer.
func (lr *logReader) catchUp() {
	_, _ = lr.in.br.Discard(lr.behind) // they are buffered
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
	b, _ := lr.in.br.Peek(lr.in.br.Buffered())
	at := 0
	for {
		n := lr.bulk.takeRaw(b[at:], min(lr.lim.Line, headSize), *no+1)
		if n == 0 {
			break
		}
		at += n
		*no++
		lr.out.claim(lr.bulkName)
		if lr.onLine != nil {
			lr.onLine(Line{No: *no, Text: lr.bulk.shown()})
		}
	}
	_, _ = lr.in.br.Discard(at)
}
