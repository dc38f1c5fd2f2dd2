package main

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/internal/corpus/recording"
)

var update = flag.Bool("update", false, "write misses.txt of the tools")

// Every recording is read exactly, or listed as a known miss with the reason;
// what is read exactly now must leave the list, so that it cannot sink again.
func TestRecordings(t *testing.T) {
	t.Parallel()
	recs, err := recording.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	table, err := scores(recs)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range table {
		t.Run(s.tool, func(t *testing.T) {
			t.Logf("%d of %d exact", s.exact, s.exact+len(s.misses))
			known, err := recording.ReadMisses(".", s.tool)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := writeMisses(".", s.tool, merged(known, s.misses)); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, m := range s.misses {
				if !slices.ContainsFunc(known, func(k recording.Miss) bool { return k.Key == m.Key }) {
					t.Errorf("%s: %s", m.Key, m.Reason)
				}
			}
			for _, k := range known {
				if !slices.ContainsFunc(s.misses, func(m recording.Miss) bool { return k.Key == m.Key }) {
					t.Errorf("%s is exact or gone: remove it from %s", k.Key, recording.MissesFile(".", s.tool))
				}
			}
		})
	}
}

// merged returns the misses of now, with the reason of known where it has one
// in words.
func merged(known, now []recording.Miss) []recording.Miss {
	out := slices.Clone(now)
	for i, m := range out {
		for _, k := range known {
			if k.Key == m.Key && strings.HasPrefix(k.Reason, "because ") {
				out[i].Reason = k.Reason
			}
		}
	}
	return out
}

// writeMisses writes the known misses of a tool, sorted; without any it removes
// the file.
func writeMisses(dir, tool string, misses []recording.Miss) error {
	name := recording.MissesFile(dir, tool)
	if len(misses) == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	misses = slices.Clone(misses)
	slices.SortFunc(misses, func(a, b recording.Miss) int { return strings.Compare(a.Key, b.Key) })
	var b strings.Builder
	b.WriteString("# Known misses: VERSION ID FORM: reason. The test fails when one of them is read exactly.\n")
	for _, m := range misses {
		b.WriteString(m.Key + ": " + m.Reason + "\n")
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

// The recordings stay small, are packed the same on every machine, and say
// nothing of the machine that made them.
func TestRecordingFiles(t *testing.T) {
	t.Parallel()
	var total int64
	err := filepath.WalkDir("recordings", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > 20<<20 {
		t.Errorf("the recordings have %d bytes, want at most 20 MB", total)
	}
	recs, err := recording.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	machine := regexp.MustCompile(`/root/|/tmp/corpus-|/bin/corpus/`) // of any checkout that is recorded in
	for _, r := range recs {
		text, err := r.Text(recording.Report)
		if err != nil {
			t.Fatal(err)
		}
		m := machine.Find(text)
		if m == nil {
			m = registry.Find(text)
		}
		if m != nil {
			t.Errorf("%s/%s/%s names %s", r.Tool, r.Version, r.ID, m)
		}
		want, err := recording.Pack(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(r.Path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not packed as the recorder does (%v)", r.Path, err)
		}
	}
}

// What would differ from run to run or tell the machine is replaced.
func TestNeutral(t *testing.T) {
	t.Parallel()
	n := neutral{dir: "/tmp/corpus-1/project", cache: "/home/dev/switchback/bin/corpus/tool/1", host: "build7", home: "/root"}
	for in, want := range map[string]string{
		"at /tmp/corpus-1/project/a.js:3":                          "at /home/runner/work/project/project/a.js:3",
		"file:///tmp/corpus-1/project/a.js":                        "file:///home/runner/work/project/project/a.js",
		"/home/dev/switchback/bin/corpus/tool/1/node_modules/x.js": "/opt/hostedtoolcache/tool/node_modules/x.js",
		"/root/.npm/_logs":                                         "/home/runner/.npm/_logs",
		`"hostname":"build7"`:                                      `"hostname":"runner"`,
		"build72":                                                  "build72",
		"started 2026-11-22T23:40:01.123Z":                         "started 2026-01-15T10:00:00.123Z",
		"2026_11_22T23_40_01_123Z-debug-0.log":                     "2026_01_15T10_00_00_123Z-debug-0.log",
		`timestamp="2026-11-22 23:40:01"`:                          `timestamp="2026-01-15 10:00:00"`,
		`"start":1795390000123`:                                    `"start":1768471200000`,
		"GET https://registry.tools.org/a - Not found":             "GET https://registry.example/a - Not found",
	} {
		if got := string(n.clean([]byte(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
