package corpustest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Main runs the tests of a package in the directory of testreport, where the
// recorded outputs are that all formats share: they are named testdata/FORMAT/….
func Main(m *testing.M) {
	if err := toTestdata(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

func toTestdata() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "gotest")); err == nil {
			return os.Chdir(dir)
		}
		if dir == filepath.Dir(dir) {
			return fmt.Errorf("no directory above holds testdata/gotest")
		}
		dir = filepath.Dir(dir)
	}
}
