package reader

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, s); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What expands past the limit is an error, not an end: what is cut off may be
// what failed.
func TestPackedInputIsBounded(t *testing.T) {
	t.Parallel()
	r, err := unpack(strings.NewReader(zipped(t, strings.Repeat("=== RUN   TestA\n", 1<<16))), 1<<20-1)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r)
	if !errors.Is(err, ErrPacked) || n >= 1<<20 {
		t.Errorf("%d bytes, error %v", n, err)
	}
	if r, err = unpack(strings.NewReader(zipped(t, "short")), 5); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != "short" {
		t.Errorf("%q, %v", b, err)
	}
}
