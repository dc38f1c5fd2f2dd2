package testreport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// TestGoNotElsewhere reads all logs of the shared fixtures and demands that
// the Go formats keep out of those that hold no Go tests.
func TestGoNotElsewhere(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"bugswarm_gha", "bugswarm_travis", "cidiff", "pytorch_classify", "swebench_eval", "errorformat", "captain", "xunitplugin"} {
		dir := filepath.Join("../../../shared/fixtures", set)
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "manifest.json" {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(b, []byte("go test")) || bytes.Contains(b, []byte("=== RUN ")) || bytes.Contains(b, []byte("_test.go")) || bytes.Contains(b, []byte(".go:")) || strings.HasPrefix(d.Name(), "go_test") {
				return nil
			}
			info, err := reader.ReadLog(bytes.NewReader(b), model.Options{}, reader.Log{}, model.NewCollector(model.Limits{}))
			if err != nil && !errors.Is(err, model.ErrUnknownFormat) {
				t.Error(err)
			}
			for _, name := range info.Formats {
				if strings.HasPrefix(name, "gotest") {
					t.Errorf("%s is claimed by %s", path, name)
				}
			}
			return nil
		})
	}
}

// readEvents returns what a log gives, with or without the short way.
func readEvents(data []byte, only []string, short bool) []string {
	e := &corpustest.Events{}
	info, err := reader.ReadLog(bytes.NewReader(data), model.Options{OnLine: func(l lines.Line) {
		e.List = append(e.List, fmt.Sprintf("line %d %s %q", l.No, l.Mark, l.Text))
	}}, reader.Log{Consoles: only, LineWise: !short}, e)
	return append(e.List, fmt.Sprintf("%+v %v", info, err))
}

func sameEvents(t *testing.T, data []byte, only []string) {
	t.Helper()
	got := readEvents(data, only, true)
	want := readEvents(data, only, false)
	if slices.Equal(got, want) {
		return
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("event %d differs: want %.500s\ngot %.500s", i, want[i], slices.Concat(got, []string{"nothing"})[min(i, len(got))])
		}
	}
	t.Fatalf("%d events, want %d", len(got), len(want))
}

// TestPlainEvents compares the short way of go test's events with the long one.
func TestPlainEvents(t *testing.T) {
	corpustest.Samples(t, func(name string, data []byte) {
		if bytes.Contains(data[:min(len(data), 1<<20)], []byte(`"Action"`)) && len(data) < 8<<20 {
			sameEvents(t, data, nil)
		}
	})
	for _, rest := range []string{
		`"Output":"a\u001b[1mb\u2028\u00e9\"\\\/\t\r\n"`, `"Output":"\ud83d\ude00\n"`, `"Output":"\ud83d\n"`, `"Output":"\x\n"`, `"Output":"é\n"`, `"Output":"a	b"`,
		`"Elapsed":1.`, `"Elapsed":.5`, `"Elapsed":1e3`, `"Elapsed":-1`, `"Elapsed":01.50`, `"Elapsed":12345678901234567890`, `"Elapsed":`,
		`"Output":"##[error]x\n"`, `"Output":"::error::x\n"`, `"Output":"2026-01-02T03:04:05.1234567Z x\n"`, `"Output":"[build failed]"`, `"Output":`,
		`"Elapsed":1,"Output":"x"`, `"Output":"x","FailedBuild":"y"`, `"Elapsed":1,"Elapsed":2`, `"Key":"x","Value":"y"`, `"Output":"` + strings.Repeat("long ", 20000) + `\n"`,
	} {
		var b strings.Builder
		for _, a := range []string{"output", "run", "pass", "fail", "skip", "pause", "cont", "start", "bench", "attr", "passed", ""} {
			fmt.Fprintf(&b, "{\"Time\":\"x\",\"Action\":%q,\"Package\":\"p\",\"Test\":\"T\",%s}\n", a, rest)
			fmt.Fprintf(&b, "{\"Action\":%q,\"Package\":\"p\",\"Test\":\"T/é\",%s}\r\n", a, rest)
			fmt.Fprintf(&b, "{\"Action\":%q,\"Package\":\"p\",%s} \nnot an event\n", a, rest)
		}
		for end := b.Len(); end > b.Len()-200; end -= 7 {
			sameEvents(t, []byte(b.String()[:end]), nil)
		}
	}
}

func FuzzPlainEvents(f *testing.F) {
	files, _ := filepath.Glob("testdata/gotestjson/*.jsonl")
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil && len(b) < 16<<10 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) { sameEvents(t, in, []string{"gotest-json"}) })
}
