package xmlstream

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// xmlEvents reads a document with our tokenizer: "<a x='1'", "text", ">a". ok
// is false if it calls the document damaged.
func xmlEvents(doc []byte) (events []string, ok bool) {
	lim := model.Limits{Line: 1 << 24, Text: 1 << 24, Depth: 1000}.WithDefaults()
	x := NewReader(bufio.NewReaderSize(bytes.NewReader(doc), 64), lim, 0, false)
	buf := &bounded.Text{Max: 1 << 24}
	flush := func() {
		if s := buf.String(); strings.TrimSpace(s) != "" {
			events = append(events, "="+s)
		}
		buf.Reset()
	}
	for {
		x.Keep = buf
		tok, err := x.Next()
		if tok.Kind != Text {
			flush()
		}
		if err != nil {
			return events, errors.Is(err, io.EOF) && x.Malformed == 0 && len(x.Stack) == 0
		}
		switch tok.Kind {
		case Start:
			e := "<" + tok.Name
			for _, a := range x.Attrs {
				e += fmt.Sprintf(" %s=%q", a.Name, a.Value)
			}
			events = append(events, e)
		case End:
			events = append(events, ">"+tok.Name)
		}
	}
}

// stdEvents reads it with encoding/xml.
func stdEvents(doc []byte) (events []string, ok bool) {
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	text := ""
	for {
		t, err := d.RawToken()
		if err != nil {
			if strings.TrimSpace(text) != "" {
				events = append(events, "="+text)
			}
			return events, errors.Is(err, io.EOF)
		}
		if c, is := t.(xml.CharData); is {
			text += string(c)
			continue
		}
		switch t.(type) {
		case xml.StartElement, xml.EndElement:
			if strings.TrimSpace(text) != "" {
				events = append(events, "="+text)
			}
			text = ""
		}
		switch t := t.(type) {
		case xml.StartElement:
			e := "<" + t.Name.Local
			for _, a := range t.Attr {
				e += fmt.Sprintf(" %s=%q", a.Name.Local, a.Value)
			}
			events = append(events, e)
		case xml.EndElement:
			events = append(events, ">"+t.Name.Local)
		}
	}
}

// agree compares the two on a document that encoding/xml finds well formed in
// all that it checks. Where it refuses, ours may forgive or refuse.
func agree(t *testing.T, doc []byte) (compared bool) {
	t.Helper()
	// encoding/xml turns \r\n into \n in texts; ours leaves that to whoever cleans them.
	doc = bytes.ReplaceAll(bytes.ReplaceAll(doc, []byte("\r\n"), newline), []byte("\r"), newline)
	whole := xml.NewDecoder(bytes.NewReader(doc))
	whole.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	depth, roots := 0, 0
	for {
		tok, err := whole.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return false
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				roots++
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(tok)) > 0 {
				return false // no document; encoding/xml does not mind
			}
		case xml.Directive:
			if depth > 0 || !bytes.HasPrefix(tok, []byte("DOCTYPE ")) {
				return false
			}
		}
	}
	if roots != 1 {
		return false
	}
	want, ok := stdEvents(doc)
	if !ok {
		return false
	}
	got, complete := xmlEvents(doc)
	if !complete || !slices.Equal(got, want) {
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		at := func(e []string) string {
			if i < len(e) {
				return fmt.Sprintf("%.300q", e[i])
			}
			return "nothing"
		}
		t.Errorf("complete %v; event %d: got %s, want %s", complete, i, at(got), at(want))
	}
	return true
}

// TestXMLAgainstStd reads every XML file there is with both.
func TestXMLAgainstStd(t *testing.T) {
	n := 0
	for _, dir := range []string{"testdata", "../../../shared/fixtures"} {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".xml") && !strings.HasSuffix(path, ".trx") {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
				return nil
			}
			b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
			if !utf8.Valid(b) {
				return nil // decoded before either sees it
			}
			t.Run(path, func(t *testing.T) {
				if agree(t, b) {
					n++
				}
			})
			return nil
		})
	}
	if n < 20 {
		t.Errorf("compared %d files only", n)
	}
	t.Log(n, "files compared")
}

// FuzzXMLAgainstStd holds the tokenizer to encoding/xml on well-formed input.
func FuzzXMLAgainstStd(f *testing.F) {
	for _, s := range []string{
		`<a x="1" y='"2"'>t&lt;&#65;&#x42;&amp;<b/><![CDATA[<c>]]]]></a>`,
		`<?xml version="1.0"?><!DOCTYPE a><a><!-- <b> --><n:b n:c="&quot;&apos;"> x </n:b ></a>`,
		"<a>\n<b\n c = \"d\"\n/>\n</a >", `<a b="x>y"><c d='/>'/></a>`, `<a><?pi <b>?>é😀</a>`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if utf8.Valid(doc) && bytes.IndexByte(doc, 0) < 0 {
			agree(t, doc)
		}
	})
}
