package redact

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ordinary returns the recorded output of test tools, at most n bytes of it.
func ordinary(tb testing.TB, n int) string {
	tb.Helper()
	var b strings.Builder
	names, err := filepath.Glob(filepath.Join("..", "testreport", "testdata", "*", "*"))
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil && b.Len() < n {
			b.Write(data[:min(len(data), n-b.Len(), n/64)])
		}
	}
	if err != nil || b.Len() < n/2 {
		tb.Fatalf("%d bytes of recorded output: %v", b.Len(), err)
	}
	return b.String()
}

func BenchmarkText(b *testing.B) {
	text := ordinary(b, 256<<10)
	b.Run("log", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			Text(text)
		}
	})
	b.Run("lines", func(b *testing.B) {
		lines := strings.Split(text, "\n")
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for _, l := range lines {
				Text(l)
			}
		}
	})
	b.Run("held", func(b *testing.B) {
		g := generator{rand.New(rand.NewPCG(6, 6))}
		r := New("-----BEGIN RSA "+"PRIVATE KEY-----\n"+g.body(25, 64), g.alnum(40), g.hex(32), g.hex(40))
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			r.Text(text)
		}
	})
}
