package testreport

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
)

// value reads any value the way encoding/json does into an any.
func (r *jsonReader) value() any {
	switch r.peek() {
	case '{':
		m := map[string]any{}
		r.object(func(k string) { m[k] = r.value() })
		return m
	case '[':
		a := []any{}
		r.array(func() { a = append(a, r.value()) })
		return a
	case '"':
		return r.str()
	case 't', 'f':
		return r.truth()
	case 'n':
		r.skip()
		return nil
	}
	return r.float()
}

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
	lim := Limits{Text: 1 << 20, Depth: 9000}
	slow := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(string(b))), 16)
	for name, r := range map[string]*jsonReader{"slow": newJSONReader(slow, lim, 0), "whole": {win: b, text: lim.Text, maxDepth: lim.Depth}} {
		got := r.value()
		if r.err != nil {
			t.Fatalf("%s: %q: %v", name, b, r.err)
		}
		if !plain(string(b)) {
			continue // texts are cleaned
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %q: got %#v, want %#v", name, b, got, want)
		}
		if r.peek() != 0 || r.err != io.ErrUnexpectedEOF {
			t.Fatalf("%s: %q: stands before its end", name, b)
		}
	}
	r := &jsonReader{win: b, maxDepth: 10}
	if r.skip(); r.err != nil || r.peek() != 0 {
		t.Fatalf("skip of %q: %v at %d", b, r.err, r.pos)
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
		r := newJSONReader(bufio.NewReader(strings.NewReader(in)), DefaultLimits(), 0)
		r.value()
		if r.err == nil || !strings.Contains(r.err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, r.err, want)
		}
	}
	for n, ok := range map[int]bool{longestNumber: true, longestNumber + 1: false} {
		num := strings.Repeat("1", n)
		r, s := newJSONReader(bufio.NewReader(strings.NewReader(num)), DefaultLimits(), 0), &jsonReader{win: []byte(num), maxDepth: 20}
		r.value()
		s.skip()
		if (r.err == nil) != ok || (s.err == nil) != ok {
			t.Errorf("a number of %d bytes: read %v, skipped %v", n, r.err, s.err)
		}
	}
	deep := strings.Repeat("[", 300)
	r := newJSONReader(bufio.NewReader(strings.NewReader(deep)), DefaultLimits(), 0)
	if r.value(); r.err == nil || !strings.Contains(r.err.Error(), "nested deeper than 200") {
		t.Errorf("depth: %v", r.err)
	}
}

func TestJSONReaderBoundsAndTypes(t *testing.T) {
	in := `{"s":"` + strings.Repeat("ab", 1<<20) + `","n":12.9,"q":"7","b":true,"z":null,"o":{"x":[1]},"a":[1,2]} rest`
	br := bufio.NewReader(strings.NewReader(in))
	r := newJSONReader(br, Limits{Text: 1000, Depth: 5}, 0)
	got := map[string]string{}
	r.object(func(k string) {
		switch k {
		case "n", "q":
			got[k] = fmt.Sprint(r.int())
		case "o":
			got[k] = r.str()
		default:
			got[k] = r.str()
		}
	})
	r.done()
	rest, _ := io.ReadAll(br)
	if len(got["s"]) > 4000 || !strings.Contains(got["s"], "bytes left out") {
		t.Errorf("a text of 2 MiB is kept in %d bytes", len(got["s"]))
	}
	delete(got, "s")
	want := map[string]string{"n": "12", "q": "7", "b": "true", "z": "", "o": "", "a": ""}
	if !reflect.DeepEqual(got, want) || string(rest) != " rest" || r.err != nil {
		t.Errorf("got %v, rest %q, error %v", got, rest, r.err)
	}
}

func FuzzJSONReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,"b\u00e9",null,true]}`, `[{"x":{}},[],"\ud83d\ude00"]`, "{\"a\":\n", `["\`, `1e5`, `[[[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkJSON(t, b)
		r := newJSONReader(bufio.NewReader(strings.NewReader(string(b))), Limits{Text: 64, Depth: 20}, 0)
		r.value()
		s := &jsonReader{win: b, maxDepth: 20}
		s.skip()
	})
}
