package corpustest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Samples calls use with every file below the test data and the fixtures.
func Samples(t testing.TB, use func(name string, data []byte)) {
	for _, root := range []string{"testdata", "../../../shared/fixtures"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				if name == root && root != "testdata" {
					return fs.SkipAll // there are no fixtures here
				}
				return err
			}
			if d.IsDir() {
				return nil
			}
			data, err := os.ReadFile(name)
			if err == nil {
				use(name, data)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
