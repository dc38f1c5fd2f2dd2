package planfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// BenchmarkPlan plans 10,000 ports from a file each, and the parts of that: reading the files, and what
// follows from their texts.
func BenchmarkPlan(b *testing.B) {
	const ports = 10_000
	dir := b.TempDir()
	for i := range ports {
		var t strings.Builder
		fmt.Fprintf(&t, "---\nid: port-%d\ntitle: Port number %d\npriority: high\n", i, i)
		if i > 3 {
			fmt.Fprintf(&t, "depends_on: [port-%d, port-%d, port-%d]\n", i-1-i%3, i/2, i/3)
		}
		fmt.Fprintf(&t, "parent: port-%d\nimpl: make port-%d\ntest: make test-%d\npaths:\n  - src/%d/**\n---\n%s", i/10, i, i, i, strings.Repeat("What the worker is told about it.\n", 20))
		text := t.String()
		if i == 0 {
			text = strings.Replace(text, "parent: port-0\n", "", 1)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.md", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if files, wrong, err := read(dir); err != nil || len(wrong) > 0 || len(files) != ports {
				b.Fatal(len(files), wrong, err)
			}
		}
	})
	files, _, err := read(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("compile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := plan.Compile(files); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p, err := Load(dir)
			if err != nil {
				b.Fatal(err)
			}
			if jobs := p.Jobs(plan.DefaultSettings(), plan.State{}, nil, false); len(jobs.Shards) == 0 {
				b.Fatal("nothing is planned")
			}
		}
	})
}
