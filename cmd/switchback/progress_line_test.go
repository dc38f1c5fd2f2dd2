package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressConcurrent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lasts time.Duration
		want  string
	}{
		"short work is silent":     {quietFor - time.Millisecond, ""},
		"long work says how far":   {quietFor + again/2, "\r\x1b[Kreading: 3 MB read, 2s\r\x1b[K"},
		"longer work says it anew": {quietFor + again + again/2, "\r\x1b[Kreading: 3 MB read, 2s\r\x1b[Kreading: 3 MB read, 3s\r\x1b[K"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := newProgress(&out, "reading", megabytes)
				r := p.reading(io.NopCloser(strings.NewReader(strings.Repeat("x", 3_000_000))))
				if _, err := io.Copy(io.Discard, r); err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.lasts)
				p.done()
				p.done()
				if out.String() != c.want {
					t.Errorf("%q, want %q", out.String(), c.want)
				}
			})
		})
	}
	t.Run("what is no terminal is told nothing", func(t *testing.T) {
		file, err := os.Create(t.TempDir() + "/err")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, w := range []io.Writer{io.Discard, file, screen{io.Discard, file}} {
			p := showProgress(streams{err: w}, "reading", megabytes)
			if p.out != nil || screenOf(w, func(string) string { return "100" }) != (screenOf(io.Discard, os.Getenv)) {
				t.Errorf("%T is taken for a terminal", w)
			}
			p.done()
		}
	})
}
