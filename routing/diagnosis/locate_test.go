package diagnosis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEvidenceStandsAtItsLine holds the evidence of recorded runs against the
// input: the text stands on the line it names, or, where the runner alone names
// a place, within the few lines above its report.
func TestEvidenceStandsAtItsLine(t *testing.T) {
	files, err := filepath.Glob("../../cmd/switchback/demo/[0-9]*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	seen := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		d, _ := diagnoseReader(t, strings.NewReader(string(text)), Options{})
		for _, f := range d.Failures {
			for _, e := range f.Evidence {
				seen++
				if e.Line < 1 || e.Line > len(lines) || !strings.Contains(strings.Join(lines[max(0, e.Line-6):e.Line], "\n"), e.Text) {
					t.Errorf("%s: evidence %+v is not at its line", name, e)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d pieces of evidence", seen)
	}
}
