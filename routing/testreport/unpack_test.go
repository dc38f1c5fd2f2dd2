package testreport_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
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

const packedXML = `<testsuite name="s" tests="2"><testcase name="a"/><testcase name="b"><failure message="m"/></testcase></testsuite>`

// TestPackedInput reads documents and logs packed with gzip as if they were not.
func TestPackedInput(t *testing.T) {
	t.Parallel()
	log := "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"
	for name, in := range map[string]string{"document": packedXML, "log": log, "long": strings.Repeat("x\n", 200000) + log, "empty line": "\n" + packedXML} {
		plain, packed := parsePacked(t, in, model.Options{}), parsePacked(t, zipped(t, in), model.Options{})
		if plain.Counts != packed.Counts || plain.Bytes != packed.Bytes || plain.Green() != packed.Green() || packed.Counts.Tests == 0 {
			t.Errorf("%s: packed %+v, %d bytes, want %+v, %d", name, packed.Counts, packed.Bytes, plain.Counts, plain.Bytes)
		}
	}
	if _, err := reader.Parse(strings.NewReader(zipped(t, " \n")), model.Options{}); !errors.Is(err, model.ErrEmpty) {
		t.Errorf("packed nothing: %v", err)
	}
}

// TestUnreadablePacking names what the input is and what to do.
func TestUnreadablePacking(t *testing.T) {
	t.Parallel()
	tar := "report.xml" + strings.Repeat("\x00", 247) + "ustar  \x00" + strings.Repeat("\x00", 247) + packedXML
	for in, want := range map[string]string{
		"PK\x03\x04\x14\x00" + packedXML:        "it is a zip archive: unpack it, and give the files in it",
		"BZh91AY&SY":                            "bzip2",
		"\xfd7zXZ\x00\x00":                      "xz",
		"\x28\xb5\x2f\xfd\x04":                  "zstd",
		tar:                                     "a tar archive",
		zipped(t, tar):                          "a tar archive",
		zipped(t, zipped(t, packedXML)):         "gzip twice",
		zipped(t, "PK\x03\x04\x14\x00"):         "a zip archive",
		"\x1f\x8b\x00\x00":                      "gzip and damaged",
		zipped(t, packedXML)[:40]:               "unexpected EOF",
		zipped(t, packedXML) + "behind the end": "invalid header",
	} {
		if _, err := reader.Parse(strings.NewReader(in), model.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: error %v, want %q", in, err, want)
		}
	}
}

func parsePacked(t testing.TB, s string, opt model.Options) *model.Report {
	t.Helper()
	r, err := reader.Parse(strings.NewReader(s), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
