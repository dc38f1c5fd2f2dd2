// Bench measures Switchback side by side with other readers of test output:
// whole processes on the same generated files, in one run. It prints a table in
// Markdown. Run it from the root of the repository: make bench.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/internal/peak"
)

func main() {
	full := flag.Bool("full", os.Getenv("BENCH") == "full", "1 GB and 1M tests too")
	runs := flag.Int("n", 3, "times each process runs")
	only := flag.String("only", "", "measure only inputs whose name contains this")
	own := flag.Bool("own", false, "measure Switchback alone")
	bin := flag.String("bin", "", "measure this binary instead of building one")
	limit := flag.Duration("limit", 5*time.Minute, "a process that takes longer is stopped")
	flag.Parse()
	b := &bench{runs: *runs, limit: *limit, bin: *bin}
	if err := b.main(*full, *own, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir   string // git-ignored: the peers
	tmp   string // the inputs
	bin   string
	runs  int
	limit time.Duration
	tools []*tool
}

func (b *bench) main(full, own bool, only string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	b.dir = filepath.Join(root, "bin", "bench")
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if b.bin == "" {
		b.bin = filepath.Join(b.dir, "switchback")
		if err := run(root, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-o", b.bin, "./cmd/switchback"); err != nil {
			return err
		}
	}
	if !own {
		b.install()
	}
	if b.tmp, err = os.MkdirTemp("", "switchback-bench-*"); err != nil {
		return err
	}
	defer os.RemoveAll(b.tmp)
	fmt.Printf("%s, %d cores, %s; median of %d runs of each process, in turn.\n\n", cpu(), runtime.NumCPU(), runtime.Version(), b.runs)
	fmt.Print("| input | MB | tool | wall s | CPU s | MB/s of CPU | peak MiB | × CPU | × wall |\n|---|--:|---|--:|--:|--:|--:|--:|--:|\n")
	if only == "" || strings.Contains("start", only) {
		if err := b.start(); err != nil {
			return err
		}
	}
	for _, in := range inputs(full) {
		if strings.Contains(in.name(), only) {
			if err := b.measure(in); err != nil {
				return err
			}
		}
	}
	b.missing()
	return nil
}

func inputs(full bool) []input {
	tests, sizes := []int{10_000, 100_000}, []int64{1 << 20, 100 << 20}
	if full {
		tests, sizes = append(tests, 1_000_000), append(sizes, 1<<30)
	}
	var out []input
	for _, n := range tests {
		out = append(out, input{kind: kindJUnit, tests: n, fails: 1000, write: junit},
			input{kind: kindGoJSON, tests: n, fails: 1000, write: goTestJSON})
	}
	for _, percent := range []int{0, 1, 10} {
		out = append(out, input{kind: kindFailing, tests: 100_000, fails: 1000 * percent, percent: percent, write: junit})
	}
	for _, s := range sizes {
		for _, k := range []input{
			{kind: kindOutput, write: junitOutput}, {kind: kindGoTest, write: goTest}, {kind: "pytest -v", write: pytest},
			{kind: "jest", write: jest}, {kind: "GitHub job log", write: jobLog},
		} {
			k.bytes, k.fails = s, 1000
			out = append(out, k)
		}
		if s <= 100<<20 {
			out = append(out, input{kind: "one line", bytes: s, write: oneLine})
		}
	}
	return out
}

func (b *bench) install() {
	for _, t := range peers() {
		if t.failed = t.install(b.dir); t.failed != nil {
			fmt.Fprintln(os.Stderr, "bench:", t.name, "cannot be installed:", t.failed)
		}
		b.tools = append(b.tools, t)
	}
}

// missing names the peers that are not in the table, and why.
func (b *bench) missing() {
	for _, t := range b.tools {
		if t.failed != nil {
			fmt.Printf("\n%s is missing: it could not be installed (%v).\n", t.name, t.failed)
		}
	}
}

// start measures what a process costs before it reads anything.
func (b *bench) start() error {
	file := filepath.Join(b.tmp, "tiny.xml")
	if err := os.WriteFile(file, []byte(`<testsuite name="a"><testcase name="b"/></testsuite>`), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"--version"}, {"parse", file}, {"diagnose", file}} {
		c := cost{}
		for range max(b.runs, 11) {
			c.add(b.once(append([]string{b.bin}, args...)))
		}
		if c.err != nil {
			return c.err
		}
		fmt.Printf("| start: `switchback %s` | | switchback | %.4f | %.4f | | %.1f | | |\n", strings.ReplaceAll(strings.Join(args, " "), file, "tiny.xml"), median(c.wall), median(c.cpu), float64(c.rss)/1024)
	}
	return nil
}

// measure runs every tool on one input, in turn, so that what else the machine
// does meanwhile hits all alike.
func (b *bench) measure(in input) error {
	file := filepath.Join(b.tmp, "input")
	if err := in.create(file); err != nil {
		return err
	}
	defer os.Remove(file)
	st, err := os.Stat(file)
	if err != nil {
		return err
	}
	type row struct {
		name string
		args []string
		cost
	}
	rows := []*row{{name: "switchback", args: []string{b.bin, "parse", file}}}
	if in.kind == kindFailing {
		// A ledger of its own for each run: a run that is known is not diagnosed anew.
		conclusion := "success"
		if in.fails > 0 {
			conclusion = "failure"
		}
		ledger := filepath.Join(b.tmp, "ledger")
		rows = append(rows, &row{name: "switchback route", args: []string{"sh", "-c",
			`rm -rf "$1" && exec "$0" route --case o/r#1 --run 1 --ledger "$1" --conclusion "$2" "$3"`, b.bin, ledger, conclusion, file}})
	}
	for _, t := range b.tools {
		if t.failed == nil && t.reads[in.kind] {
			rows = append(rows, &row{name: t.name, args: t.args(b.dir, file)})
		}
	}
	for range b.runs {
		for _, r := range rows {
			if r.err == nil {
				r.add(b.once(r.args))
			}
		}
	}
	mb := float64(st.Size()) / 1e6
	for i, r := range rows {
		if r.err != nil {
			fmt.Printf("| %s | %.0f | %s | %v | | | | | |\n", in.name(), mb, r.name, r.err)
			continue
		}
		ratio := "1 | 1"
		if i > 0 && rows[0].err == nil {
			ratio = fmt.Sprintf("%.1f | %.1f", median(r.cpu)/median(rows[0].cpu), median(r.wall)/median(rows[0].wall))
		}
		fmt.Printf("| %s | %.0f | %s | %.3f | %.3f | %.0f | %.1f | %s |\n", in.name(), mb, r.name, median(r.wall), median(r.cpu), mb/median(r.cpu), float64(r.rss)/1024, ratio)
	}
	return nil
}

// cost gathers what the runs of one process took.
type cost struct {
	wall, cpu []float64 // seconds
	rss       int64     // KiB, the largest
	err       error
}

type spent struct {
	wall, cpu float64
	rss       int64
}

func (c *cost) add(s spent, err error) {
	if err != nil {
		c.err = err
		return
	}
	c.wall, c.cpu, c.rss = append(c.wall, s.wall), append(c.cpu, s.cpu), max(c.rss, s.rss)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// once runs one process. Tools end with a code of their own where tests
// failed; only a process that could not run or was stopped is an error.
func (b *bench) once(args []string) (spent, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Dir = b.tmp
	begin := time.Now()
	if err := c.Start(); err != nil {
		return spent{}, err
	}
	timer := time.AfterFunc(b.limit, func() { _ = c.Process.Kill() })
	_ = c.Wait()
	wall := time.Since(begin)
	if !timer.Stop() {
		return spent{}, fmt.Errorf("stopped after %s", b.limit)
	}
	if !c.ProcessState.Exited() {
		return spent{}, fmt.Errorf("died: %s", c.ProcessState)
	}
	if code := c.ProcessState.ExitCode(); code > 1 || code == 1 && filepath.Base(args[0]) == "joshdk" {
		return spent{}, fmt.Errorf("exit code %d", code)
	}
	return spent{wall.Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), peak.KiB(c.ProcessState)}, nil
}

// cpu returns the processor's name where the system tells it.
func cpu() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for _, l := range strings.Split(string(b), "\n") {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}
