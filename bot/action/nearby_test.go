package action

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Of a workspace the files that hold tests are named, those written last first.
func TestNearby(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin := time.Now().Add(-time.Hour)
	for i, f := range []struct{ name, text string }{
		{"pom.xml", "<project/>"}, {"package.json", "{}"}, {"testdata/old.xml", `<testsuite><testcase name="a"/></testsuite>`},
		{"target/surefire-reports/TEST-a.xml", `<testsuite name="s"><testcase name="a"/></testsuite>`},
		{"go-test.log", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"},
		{"notes.txt", "--- PASS: TestA (0.00s)\n"}, {"node_modules/x/junit.xml", `<testsuite><testcase name="a"/></testsuite>`},
	} {
		path := filepath.Join(dir, f.name)
		at := begin.Add(time.Duration(i) * time.Minute)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(f.text), 0o644), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if got := nearby(dir); !slices.Equal(got.Reports, []string{"go-test.log", "target/surefire-reports/TEST-a.xml"}) || got.Place == "" || got.Remedy == "" {
		t.Errorf("%+v", got)
	}
	if got := nearby(filepath.Join(dir, "nope")); len(got.Reports) != 0 {
		t.Errorf("%+v", got)
	}
}
