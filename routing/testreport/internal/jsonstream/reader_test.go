package jsonstream

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

func TestJSONReaderAgreesWithEncodingJSON(t *testing.T) {
	for _, s := range []string{
		`{}`, `[]`, `""`, `0`, `-1.5e3`, `true`, `null`, "  {\n\"a\" : [ 1 , \"b\\n\\u00e9\\ud83d\\ude00\" , null ] }\n ",
		`{"a":{"b":{"c":[[[]]]}},"d":"\"\\\/\b\f\n\r\t"}`, `["` + strings.Repeat("long ", 5000) + `"]`,
		`{"` + strings.Repeat("k", 100) + `":1}`, `["\ud83dx","\ude00","\ud83d\n","\ud83d\ud83d\ude00"]`,
	} {
		checkJSON(t, []byte(s))
	}
}

// checkJSON holds the reader against encoding/json: what that reads, this
// reads alike, whole and from slow input; to skip a value takes as much of it.
func checkJSON(t *testing.T, b []byte) {
	t.Helper()
	var want any
	if err := json.Unmarshal(b, &want); err != nil || tooLong.Match(b) {
		return
	}
	lim := model.Limits{Text: 1 << 20, Depth: 9000}
	slow := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(string(b))), 16)
	for name, r := range map[string]*Reader{"slow": NewReader(slow, lim, 0), "whole": {win: b, Text: lim.Text, maxDepth: lim.Depth}} {
		got := r.value()
		if r.Err != nil {
			t.Fatalf("%s: %q: %v", name, b, r.Err)
		}
		if !plain(string(b)) {
			continue // texts are cleaned
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %q: got %#v, want %#v", name, b, got, want)
		}
		if r.Peek() != 0 || r.Err != io.ErrUnexpectedEOF {
			t.Fatalf("%s: %q: stands before its end", name, b)
		}
	}
	r := &Reader{win: b, maxDepth: 10}
	if r.skip(); r.Err != nil || r.Peek() != 0 {
		t.Fatalf("skip of %q: %v at %d", b, r.Err, r.pos)
	}
}

// tooLong matches numbers that are longer than longestNumber.
var tooLong = regexp.MustCompile(`[-+.0-9eE]{401,}`)

// plain reports whether texts in s are given as they are: nothing to clean.
func plain(s string) bool {
	for _, c := range s {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f {
			return false
		}
	}
	return !strings.Contains(s, `\u`) && !strings.Contains(s, `\r`) && !strings.Contains(s, `\b`) && !strings.Contains(s, `\f`)
}

func TestJSONReaderSaysWhatIsWrong(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1`: "unexpected EOF", `{"a"`: "unexpected EOF", `["x`: "unexpected EOF", `["\u12`: "unexpected EOF", ``: "unexpected EOF",
		`{"a" 1}`: "a colon is missing", `[1 2]`: "a comma is missing", `{1:2}`: "a key is missing", `["\q"]`: "unknown escape",
		`[tru]`: "neither a value", "[1,\n\nnpm WARN]": "line 3: ", `{"a":[}`: "neither a value", `["\u00zz"]`: "malformed escape",
	} {
		r := NewReader(bufio.NewReader(strings.NewReader(in)), model.DefaultLimits(), 0)
		r.value()
		if r.Err == nil || !strings.Contains(r.Err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, r.Err, want)
		}
	}
	for n, ok := range map[int]bool{longestNumber: true, longestNumber + 1: false} {
		num := strings.Repeat("1", n)
		r, s := NewReader(bufio.NewReader(strings.NewReader(num)), model.DefaultLimits(), 0), &Reader{win: []byte(num), maxDepth: 20}
		r.value()
		s.skip()
		if (r.Err == nil) != ok || (s.Err == nil) != ok {
			t.Errorf("a number of %d bytes: read %v, skipped %v", n, r.Err, s.Err)
		}
	}
	deep := strings.Repeat("[", 300)
	r := NewReader(bufio.NewReader(strings.NewReader(deep)), model.DefaultLimits(), 0)
	if r.value(); r.Err == nil || !strings.Contains(r.Err.Error(), "nested deeper than 200") {
		t.Errorf("depth: %v", r.Err)
	}
}

func TestJSONReaderBoundsAndTypes(t *testing.T) {
	in := `{"s":"` + strings.Repeat("ab", 1<<20) + `","n":12.9,"q":"7","b":true,"z":null,"o":{"x":[1]},"a":[1,2]} rest`
	br := bufio.NewReader(strings.NewReader(in))
	r := NewReader(br, model.Limits{Text: 1000, Depth: 5}, 0)
	got := map[string]string{}
	r.Object(func(k string) {
		switch k {
		case "n", "q":
			got[k] = fmt.Sprint(r.Int())
		case "o":
			got[k] = r.Str()
		default:
			got[k] = r.Str()
		}
	})
	r.done()
	rest, _ := io.ReadAll(br)
	if len(got["s"]) > 4000 || !strings.Contains(got["s"], "bytes left out") {
		t.Errorf("a text of 2 MiB is kept in %d bytes", len(got["s"]))
	}
	delete(got, "s")
	want := map[string]string{"n": "12", "q": "7", "b": "true", "z": "", "o": "", "a": ""}
	if !reflect.DeepEqual(got, want) || string(rest) != " rest" || r.Err != nil {
		t.Errorf("got %v, rest %q, error %v", got, rest, r.Err)
	}
}

func FuzzJSONReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,"b\u00e9",null,true]}`, `[{"x":{}},[],"\ud83d\ude00"]`, "{\"a\":\n", `["\`, `1e5`, `[[[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkJSON(t, b)
		r := NewReader(bufio.NewReader(strings.NewReader(string(b))), model.Limits{Text: 64, Depth: 20}, 0)
		r.value()
		s := &Reader{win: b, maxDepth: 20}
		s.skip()
	})
}

// value reads any value the way encoding/json does into an any.
func (r *Reader) value() any {
	switch r.Peek() {
	case '{':
		m := map[string]any{}
		r.Object(func(k string) { m[k] = r.value() })
		return m
	case '[':
		a := []any{}
		r.Array(func() { a = append(a, r.value()) })
		return a
	case '"':
		return r.Str()
	case 't', 'f':
		return r.Truth()
	case 'n':
		r.skip()
		return nil
	}
	return r.Float()
}
