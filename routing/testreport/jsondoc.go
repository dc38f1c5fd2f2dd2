package testreport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// readJSON reads one JSON document with walk and says if it is damaged or
// breaks off. It leaves the input behind the document. walk returns whether it
// found what a document of the format must have.
func readJSON(d *document, name string, walk func(r *jsonReader) bool) error {
	r := newJSONReader(d.br, d.lim, d.base)
	known := walk(r)
	r.done()
	d.lines = r.line - d.base - 1
	if r.err == nil {
		if !known {
			return fmt.Errorf("%w: it is no %s document", ErrUnknownFormat, name)
		}
		return nil
	}
	p := Problem{Kind: KindTruncated, At: r.line}
	var bad *errJSON
	switch {
	case errors.As(r.err, &bad):
		p.At = bad.line
		p.Message = fmt.Sprintf("the %s document is damaged at line %d: %s", name, bad.line, bad.what)
	case r.err == io.ErrUnexpectedEOF:
		p.Message = fmt.Sprintf("the %s document breaks off at line %d", name, r.line)
	default:
		return r.err
	}
	d.out.Problem(p)
	return nil
}

// detectJSON returns a detector for documents that hold the bytes need and
// whose paths, as far as the head shows them, satisfy ok.
func detectJSON(need string, ok func(h jsonHead) bool) func(head []byte) int {
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

// jsonHead holds the paths of the first part of a document and, for strings
// and numbers, the first value seen there: "stats.tests", "[].elements[].keyword".
type jsonHead map[string]string

func (h jsonHead) has(paths ...string) bool {
	for _, p := range paths {
		if _, ok := h[p]; !ok {
			return false
		}
	}
	return true
}

func (h jsonHead) any(paths ...string) bool {
	for _, p := range paths {
		if _, ok := h[p]; ok {
			return true
		}
	}
	return false
}

// scanJSONHead gathers the paths of head, at most a thousand and six deep.
func scanJSONHead(head []byte) jsonHead {
	h := jsonHead{}
	r := &jsonReader{win: head, line: 1, text: 256, maxDepth: 20}
	var walk func(path string, depth int)
	walk = func(path string, depth int) {
		if len(h) > 1000 {
			r.err = io.EOF
			return
		}
		switch c := r.peek(); {
		case c == 0 || depth > 6:
			r.skip()
		case c == '{':
			r.object(func(key string) {
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
			r.array(func() { walk(path+"[]", depth+1) })
		default:
			v := r.short(100)
			if old, ok := h[path]; ok && old == "" {
				h[path] = v
			}
		}
	}
	walk("", 0)
	return h
}

// startsJSONDocument reports whether text begins with a brace or bracket and a
// key of embeddedKeys; undecided tells that text ends before the key does.
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
			return embeddedKeys()[string(t[1:i])], false
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
func jsonDocumentAt(head []byte, only *format) *format {
	if yes, _ := startsJSONDocument(head); !yes {
		return nil
	}
	return surest(head, func(f *format) bool { return f.leaves && (only == nil || only.name == f.name) })
}

// millis makes a duration of milliseconds as a tool states them.
func millis(f float64) time.Duration {
	if f <= 0 || f > 1e12 {
		return 0
	}
	return time.Duration(f * float64(time.Millisecond))
}

// secs makes a duration of seconds as a tool states them.
func secs(f float64) time.Duration { return millis(f * 1000) }

// nanos makes a duration of nanoseconds as a tool states them.
func nanos(f float64) time.Duration { return millis(f / 1e6) }

// joinPath joins the parts of a suite's name, without empty ones.
func joinPath(parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " > ")
}
