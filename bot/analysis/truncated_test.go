package analysis

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// endsTwice names recordings whose tests all passed and whose failure stands
// behind totals that end a run by themselves: cut there, nothing is missing.
var endsTwice = []string{
	"gotest/mainexit-v.txt",                         // "PASS" of a test binary, then TestMain's own exit code
	"vitest/coverage.txt", "vitest/v2_coverage.txt", // the thresholds are checked behind the totals
}

// TestTruncatedRecordingsNeverPass cuts the recorded output of every format at
// several places: what failed as a whole must not pass in part, and a green
// document that breaks off must not pass either.
func TestTruncatedRecordingsNeverPass(t *testing.T) {
	t.Parallel()
	const corpus = "../../routing/testreport/testdata/"
	files, err := filepath.Glob(corpus + "*/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	analyzed := 0
	for _, file := range files {
		name, ext := strings.TrimPrefix(filepath.ToSlash(file), corpus), filepath.Ext(file)
		if !slices.Contains([]string{".txt", ".xml", ".json", ".jsonl"}, ext) || slices.Contains(endsTwice, name) {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in := strings.TrimRight(string(b), " \t\r\n")
		green := run(t, Input{Sources: []Source{text(name, in)}}).Verdict.Result == routing.Pass
		if len(in) < 20 || green && ext != ".xml" && ext != ".json" {
			continue
		}
		analyzed++
		const cuts = 9
		for i := 1; i <= cuts; i++ {
			n := min(len(in)*i/cuts+len(in)%7-3, len(in)-1)
			if v := run(t, Input{Sources: []Source{text(name, in[:n])}}).Verdict; v.Result == routing.Pass {
				t.Errorf("%s cut at %d of %d bytes passes: %s, %+v", name, n, len(in), v.Reason, v.Counts)
			}
		}
	}
	if analyzed < 100 {
		t.Errorf("only %d recordings were analyzed", analyzed)
	}
}
