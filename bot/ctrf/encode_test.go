package ctrf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// FuzzPack compares what is unpacked of packed tests with encoding/json: of a
// test, of the same again, of one that differs in part, each behind the other.
func FuzzPack(f *testing.F) {
	f.Add("a", "b > c", "passed", "", "", "", int64(0), 0, 0, false)
	f.Add("a\x00\x1f\x7f<>&\u2028\u2029\u2027\xff\xe2\x80", " > ", "failed", "m\n\r\t\b\f\"\\", "t", "f.go", int64(-5), 1, 2, true)
	f.Add(" ", "x", "pending", "why", "", "", int64(1e10), -1, 0, false)
	f.Add("aé", "", "passed", "", "", "", int64(0), 0, 0, false)
	f.Add("éa", "", "passed", "", "", "", int64(0), 0, 0, false)
	f.Add("é😀", "", "odd", "", "", "\xf0\x9f", int64(1999999), 0, 3, true)
	f.Add("hush", "hush > a", "skipped", "hush", "hush", "hush", int64(1), 0, 0, false)
	f.Add("", "", "", "", "", "", int64(1<<62), 1<<40, -7, true)
	f.Fuzz(func(t *testing.T, name, suite, status, message, trace, file string, d int64, line, retries int, flaky bool) {
		x := testreport.Test{Name: name, Suite: suite, Status: testreport.Status(status), Message: message, Trace: trace, File: file, Duration: time.Duration(d), Line: line, Retries: retries, Flaky: flaky}
		y, z := x, x
		y.Name, y.File, y.Status = name+"1", "", testreport.Passed
		z.Suite, z.Flaky = name, !flaky
		for _, redact := range []func(string) string{nil, func(s string) string { return strings.ReplaceAll(s, "hush", "") }} {
			w := Writer{Redact: redact}
			w.packer.Redact = redact
			var u unpacker
			cut := x
			cut.Name = name[:len(name)/2] + "a" // perhaps inside a character
			for i, test := range []testreport.Test{x, x, cut, x, y, z, testreport.Test{Status: testreport.Other}, x} {
				rec := w.packer.appendSame(make([]byte, 0, sameRecord), &test)
				if rec == nil {
					rec = w.packer.pack(&test)
				}
				n, k := binary.Uvarint(rec)
				if k <= 0 || int(n) != len(rec)-k {
					t.Fatalf("%d: a record of %d bytes says %d", i, len(rec)-k, n)
				}
				got, err := u.appendTest(nil, rec[k:])
				if want := ",\n" + string(mustJSON(w.masked(entry(test)))); err != nil || string(got) != want {
					t.Errorf("%d: %v\ngot  %s\nwant %s", i, err, got, want)
				}
			}
		}
	})
}

// FuzzUnpack reads records that nobody wrote.
func FuzzUnpack(f *testing.F) {
	var p packer
	f.Add(p.pack(&testreport.Test{Name: "a", Suite: "b > c", Status: testreport.Failed, Message: "m", Line: 3}))
	f.Add(p.pack(&testreport.Test{Name: "ab", Status: "odd", Trace: "t", Retries: 2, Flaky: true}))
	f.Add([]byte("\x05\xff\xff\xff\xff\xff"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var u unpacker
		var r records
		var record []byte
		var err error
		for r.take(b); err == nil; _, err = u.appendTest(nil, record) {
			at := r.at
			if record, err = r.next(); record == nil || err != nil {
				break
			}
			if n := r.at - at; n <= int64(len(record)) || r.at > int64(len(b)) {
				t.Errorf("a record of %d bytes takes %d of %d", len(record), n, len(b))
			}
		}
		if err != nil && !errors.Is(err, errSpool) {
			t.Error(err)
		}
	})
}

// A spool that lost its end is an error, not a shorter document.
func TestSpoolCutShort(t *testing.T) {
	t.Parallel()
	w := NewWriter(1)
	w.Add(&testreport.Test{Name: "a", Status: testreport.Passed})
	w.Add(&testreport.Test{Name: "b", Status: testreport.Passed})
	w.spool.last = w.spool.last[:len(w.spool.last)-1]
	if err := w.Document(io.Discard, "", &testreport.Report{}, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

func BenchmarkWriter(b *testing.B) {
	tests := make([]testreport.Test, 10000)
	for i := range tests {
		tests[i] = testreport.Test{Name: fmt.Sprintf("handles orders %d", i), Suite: fmt.Sprintf("src/part%d/handler.test.js > handler %d", i/40, i/40), File: fmt.Sprintf("src/part%d/handler.test.js", i/40), Status: testreport.Passed, Duration: time.Duration(i%100) * time.Millisecond}
	}
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(1)
		for i := range tests {
			w.Add(&tests[i])
		}
		if err := w.Document(io.Discard, "", &testreport.Report{}, nil); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
