package diagnosis

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// Whoever serves many runs reads and diagnoses them at once, with one set of rules
// and with tables that are made when they are first needed. What they find is what
// one alone finds. `make test` runs this one under the race detector.
func TestReadAtOnce(t *testing.T) {
	t.Parallel()
	var texts [][]byte
	dirs, err := os.ReadDir(filepath.Join("..", "testreport", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs { // the smallest recording of each format
		var least []byte
		err := filepath.WalkDir(filepath.Join("..", "testreport", "testdata", dir.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if least == nil || len(data) < len(least) {
				least = data
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(least) > 0 && len(least) < 64<<10 {
			texts = append(texts, least)
		}
	}
	if len(texts) < 50 {
		t.Fatalf("%d formats", len(texts))
	}
	rules, err := Compile([]UserRule{{Name: "own", Pattern: "(?i)out of cheese", Class: "ENV_ISSUE"}})
	if err != nil {
		t.Fatal(err)
	}
	read := func(text []byte) Diagnosis {
		col := NewCollector(rules)
		rep, err := testreport.Parse(bytes.NewReader(text), testreport.Options{OnLine: col.Line})
		if err != nil && !errors.Is(err, testreport.ErrUnknownFormat) && !errors.Is(err, testreport.ErrEmpty) {
			t.Errorf("%.60q: %v", text, err)
			return Diagnosis{}
		}
		return Diagnose(rep, col, Options{})
	}
	const readers = 4
	var found [readers][]Diagnosis
	var all sync.WaitGroup
	for i := range readers {
		found[i] = make([]Diagnosis, len(texts))
		all.Go(func() {
			for n := range texts {
				at := (n + i*3) % len(texts) // each meets what another has just begun to make
				found[i][at] = read(texts[at])
			}
		})
	}
	all.Wait()
	for n, text := range texts {
		alone := read(text)
		for i := range readers {
			if !reflect.DeepEqual(found[i][n], alone) {
				t.Errorf("reader %d of %.60q:\n%+v\nalone:\n%+v", i, text, found[i][n], alone)
			}
		}
	}
}
