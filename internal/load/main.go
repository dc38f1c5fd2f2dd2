// Load measures what `switchback serve` bears: servers of their own processes,
// with SQLite and with one to three replicas on PostgreSQL, are sent signed
// deliveries at a rate and as fast as they are answered, and the cost of a run
// is measured while the ledger grows. GitHub is a small server of this program.
// It prints tables in Markdown. Run it from the root of the repository: make load.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// load is how much is sent. A failed run is two writes to GitHub, of which an
// installation gets 80 a minute from all servers: more than 40 runs would measure
// that limit.
type load struct {
	bin, dir string
	burst    int           // deliveries sent at full speed
	callers  int           // at once, at full speed
	rate     float64       // deliveries a second at a rate
	high     float64       // and at a high one, with SQLite half of it
	span     time.Duration // of each
	runs     int           // failed runs that are analyzed
	levels   []int         // cases in the ledger
	warm     int           // runs before those that are measured at a level
	probes   int           // runs measured at each level
	limit    time.Duration // for a queue to be drained
	rows     string        // part of the names of the rows that are measured, "" for all
}

func main() {
	full := flag.Bool("full", os.Getenv("LOAD") == "full", "longer, and up to 100,000 cases")
	only := flag.String("only", "", "measure only places whose name contains this")
	rows := flag.String("rows", "", "send only what the rows are named after that contain this, and leave out the growing ledger")
	l := load{callers: 32, burst: 1000, rate: 50, high: 300, span: 5 * time.Second, runs: 30, levels: []int{100, 10_000}, warm: 10, probes: 25, limit: 3 * time.Minute}
	flag.Parse()
	l.rows = *rows
	if *full {
		l.burst, l.rate, l.span = 20_000, 100, time.Minute
		l.levels, l.limit = []int{100, 1000, 10_000, 100_000}, time.Hour
	}
	if err := l.main(context.Background(), *only); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func (l load) main(ctx context.Context, only string) (err error) {
	if l.dir, err = os.MkdirTemp("", "switchback-load-"); err != nil {
		return err
	}
	if err := l.build(); err != nil {
		return err
	}
	if err := pgtest.Sync(ctx); err != nil {
		return err
	}
	fmt.Printf("%d cores, %s, load average %s before; deliveries at full speed from %d callers, %.0f and %.0f (SQLite: %.0f) a second for %v, %d failed runs.\n\n",
		runtime.NumCPU(), runtime.Version(), average(), l.callers, l.rate, l.high, l.high/2, l.span, l.runs)
	fmt.Println("| database | sent | MB | accepted/s | × SQLite | p50 ms | p99 ms | all done after, s | done/s | CPU ms each | peak MiB each |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	base := map[string]float64{}
	for n := range 4 {
		p := place{name: "SQLite", replicas: 1}
		if n > 0 {
			p.name, p.replicas = fmt.Sprintf("PostgreSQL × %d", n), n
		}
		if !strings.Contains(p.name, only) {
			continue
		}
		if err := l.bear(ctx, p, base); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	fmt.Printf("\n| database | cases in the ledger | CPU ms a run | × the first | work ms a run | × the first |\n|---|--:|--:|--:|--:|--:|\n")
	for _, p := range []place{{name: "SQLite", replicas: 1}, {name: "PostgreSQL", replicas: 1}} {
		if !strings.Contains(p.name, only) || l.rows != "" {
			continue
		}
		if err := l.grow(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	fmt.Printf("\nload average %s after\n", average())
	return os.RemoveAll(l.dir) // kept after an error: the logs are there
}

// build builds the program that is measured.
func (l *load) build() error {
	l.bin = filepath.Join(l.dir, "switchback")
	build := exec.Command("go", "build", "-trimpath", "-o", l.bin, "github.com/switchback-ci/switchback/cmd/switchback")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// settle gives a place its folder and its database.
func (l load) settle(ctx context.Context, p *place) (err error) {
	if p.dir, err = os.MkdirTemp(l.dir, "place-"); err == nil && p.name != "SQLite" {
		p.database, err = pgtest.New(ctx)
	}
	return err
}

// bear sends deliveries to the servers of a place, and prints its rows. It is an
// error if any is not done in the end.
func (l load) bear(ctx context.Context, p place, base map[string]float64) error {
	if err := l.settle(ctx, &p); err != nil {
		return err
	}
	g, err := newGitHub()
	if err != nil {
		return err
	}
	var all []*server
	defer func() {
		for _, s := range all {
			_ = s.cmd.Process.Kill() // after an error; it has ended otherwise
		}
	}()
	for i := range p.replicas {
		s, err := serve(l.bin, p, g, i)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	type row struct {
		name string
		cost
	}
	var rows []row
	total, high := 0, l.high
	if p.database == "" {
		high /= 2
	}
	for _, what := range []struct {
		name string
		n    int
		rate float64
		make func(int64) (delivery, error)
	}{
		{"at a rate", int(l.rate * l.span.Seconds()), l.rate, small},
		{"at a high rate", int(high * l.span.Seconds()), high, small},
		{"full speed", l.burst, 0, small},
		{"failed runs", l.runs, 0, func(n int64) (delivery, error) { return failed(n, 1) }},
	} {
		if !strings.Contains(what.name, l.rows) {
			continue
		}
		c, err := l.measure(ctx, all, what.n, what.rate, what.make)
		if err != nil {
			return fmt.Errorf("%s: %w", what.name, err)
		}
		rows, total = append(rows, row{what.name, c}), total+what.n
	}
	peak := int64(0)
	for _, s := range all {
		kib, err := s.stop()
		if err != nil {
			return err
		}
		peak = max(peak, kib)
	}
	for _, r := range rows {
		if p.database == "" {
			base[r.name] = r.perSecond()
		}
		ratio := ""
		if base[r.name] > 0 {
			ratio = fmt.Sprintf("%.1f", r.perSecond()/base[r.name])
		}
		fmt.Printf("| %s | %s, %d | %.0f | %.0f | %s | %.1f | %.1f | %.1f | %.0f | %.1f | %.0f |\n", p.name, r.name, len(r.waits), float64(r.bytes)/1e6, r.perSecond(), ratio,
			ms(r.quantile(.5)), ms(r.quantile(.99)), r.done.Seconds(), float64(len(r.waits))/r.done.Seconds(), r.cpu*1000/float64(len(r.waits)), float64(peak)/1024)
	}
	for path, n := range g.unknown {
		return fmt.Errorf("this program's GitHub does not know %s, asked %d times", path, n)
	}
	return p.complete(ctx, total)
}

// complete checks that so many deliveries were done and no other is there.
func (p place) complete(ctx context.Context, want int) error {
	s, err := queue.OpenBeside(ctx, p.database, p.dir)
	if err != nil {
		return err
	}
	defer s.Close()
	counts, err := s.Deliveries.Counts(ctx)
	if err == nil && (len(counts) != 1 || counts[queue.Done] != want) {
		err = fmt.Errorf("%d deliveries were accepted, and there are %v", want, counts)
	}
	return err
}

// cost is what deliveries cost until the last was done.
type cost struct {
	sent
	done time.Duration // from the first being sent
	cpu  float64       // seconds, of all servers
	work float64       // seconds, from its beginning to its end, summed up
}

// measure sends n deliveries and waits until they are done.
func (l load) measure(ctx context.Context, all []*server, n int, rate float64, build func(int64) (delivery, error)) (c cost, err error) {
	deliveries := make([]delivery, n)
	for i := range deliveries {
		if deliveries[i], err = build(int64(i + 1)); err != nil {
			return c, err
		}
	}
	cpu, err := sum(ctx, all, "process_cpu_seconds_total")
	if err != nil {
		return c, err
	}
	work, err := sum(ctx, all, "switchback_delivery_work_seconds_sum")
	if err != nil {
		return c, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	begun := time.Now()
	if c.sent, err = send(ctx, all, deliveries, rate, l.callers); err != nil {
		return c, err
	}
	if err := drained(ctx, all[0]); err != nil {
		return c, err
	}
	c.done = time.Since(begun)
	if c.cpu, err = sum(ctx, all, "process_cpu_seconds_total"); err != nil {
		return c, err
	}
	c.cpu -= cpu
	c.work, err = sum(ctx, all, "switchback_delivery_work_seconds_sum")
	c.work -= work
	return c, err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// average is the machine's load average, where it tells.
func average() string {
	text, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); err == nil && len(f) > 0 {
		return f[0]
	}
	return "unknown"
}
