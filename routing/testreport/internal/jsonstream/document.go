package jsonstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// ReadDocument reads one JSON document with walk and says if it is damaged or
// breaks off. It leaves the input behind the document. walk returns whether it
// found what a document of the format must have.
func ReadDocument(d *format.Document, name string, walk func(r *Reader) bool) error {
	r := NewReader(d.Reader, d.Limits, d.Base)
	known := walk(r)
	r.done()
	d.Lines = r.line - d.Base - 1
	if r.Err == nil {
		if !known {
			return fmt.Errorf("%w: it is no %s document", model.ErrUnknownFormat, name)
		}
		return nil
	}
	p := model.Problem{Kind: model.KindTruncated, At: r.line}
	var bad *SyntaxError
	switch {
	case errors.As(r.Err, &bad):
		p.At = bad.line
		p.Message = fmt.Sprintf("the %s document is damaged at line %d: %s", name, bad.line, bad.what)
	case r.Err == io.ErrUnexpectedEOF:
		p.Message = fmt.Sprintf("the %s document breaks off at line %d", name, r.line)
	default:
		return r.Err
	}
	d.Out.Problem(p)
	return nil
}

// Detect returns a detector for documents that hold the bytes need and
// whose paths, as far as the head shows them, satisfy ok.
func Detect(need string, ok func(h Head) bool) func(head []byte) int {
	return func(head []byte) int {
		head = bytes.TrimLeft(head, " \t\r\n\ufeff")
		if len(head) == 0 || head[0] != '{' && head[0] != '[' || !bytes.Contains(head, []byte(need)) {
			return 0
		}
		if ok(scanJSONHead(head)) {
			return 90
		}
		return 0
	}
}

// Head holds the paths of the first part of a document and, for strings
// and numbers, the first value seen there: "stats.tests", "[].elements[].keyword".
type Head map[string]string

// Has reports whether all paths are there.
func (h Head) Has(paths ...string) bool {
	for _, p := range paths {
		if _, ok := h[p]; !ok {
			return false
		}
	}
	return true
}

// Any reports whether one of the paths is there.
func (h Head) Any(paths ...string) bool {
	for _, p := range paths {
		if _, ok := h[p]; ok {
			return true
		}
	}
	return false
}

// scanJSONHead gathers the paths of head, at most a thousand and six deep.
func scanJSONHead(head []byte) Head {
	h := Head{}
	r := &Reader{win: head, line: 1, Text: 256, maxDepth: 20}
	var walk func(path string, depth int)
	walk = func(path string, depth int) {
		if len(h) > 1000 {
			r.Err = io.EOF
			return
		}
		switch c := r.Peek(); {
		case c == 0 || depth > 6:
			r.skip()
		case c == '{':
			r.Object(func(key string) {
				p := key
				if path != "" {
					p = path + "." + key
				}
				if _, ok := h[p]; !ok && len(p) < 200 {
					h[p] = ""
				}
				walk(p, depth+1)
			})
		case c == '[':
			r.Array(func() { walk(path+"[]", depth+1) })
		default:
			v := r.Short(100)
			if old, ok := h[path]; ok && old == "" {
				h[path] = v
			}
		}
	}
	walk("", 0)
	return h
}
