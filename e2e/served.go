package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Served is a `switchback serve` of its own process, for one test.
type Served struct {
	URL string // of the server; webhooks go to URL + "/webhook"

	metrics string // URL
	t       testing.TB
	b       *Bench
	env     []string
	dir     string
	port    int
	cmd     *exec.Cmd
	log     string
	gone    chan struct{}
}

// Serve starts the binary as the Switchback App, with SQLite in a folder of the
// test or, if database is not empty, with that PostgreSQL database. It ends with
// the test.
func (b *Bench) Serve(t testing.TB, bin, database string, env ...string) *Served {
	t.Helper()
	s := b.prepare(t, bin, database, t.TempDir(), env...)
	s.Start()
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.Log())
		}
	})
	return s
}

// prepare is Serve without starting it, with dir as its folder.
func (b *Bench) prepare(t testing.TB, bin, database, dir string, env ...string) *Served {
	s := &Served{t: t, b: b, dir: dir, port: freePort()}
	s.URL = "http://127.0.0.1:" + strconv.Itoa(s.port)
	metrics := "127.0.0.1:" + strconv.Itoa(freePort())
	s.metrics = "http://" + metrics + "/metrics"
	s.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "GOGC=" + os.Getenv("GOGC"), "HOME=" + s.dir, "TMPDIR=" + os.TempDir(), "SWITCHBACK_BINARY=" + bin,
		"SWITCHBACK_DATA=" + s.dir, "SWITCHBACK_DATABASE_URL=" + database, "SWITCHBACK_LISTEN=127.0.0.1:" + strconv.Itoa(s.port),
		"SWITCHBACK_METRICS_LISTEN=" + metrics,
		"SWITCHBACK_APP_ID=" + strconv.Itoa(SwitchbackAppID), "SWITCHBACK_PRIVATE_KEY=" + b.AppPrivateKey(),
		"SWITCHBACK_WEBHOOK_SECRET=" + WebhookSecret, "SWITCHBACK_GITHUB_URL=" + b.URL,
		"SWITCHBACK_CLIENT_ID=" + SwitchbackClientID, "SWITCHBACK_CLIENT_SECRET=" + SwitchbackClientSecret, "SWITCHBACK_PUBLIC_URL=" + s.URL,
		"SWITCHBACK_CONTENT_INTERVAL=1ms", "SWITCHBACK_LEASE_TTL=2s",
		"SWITCHBACK_LIMITS=points=9000/1m", // the bench answers faster than GitHub
		"SWITCHBACK_RECOVER=0",             // it would find what other tests left behind; see Repo.Alone
	}, env...)
	return s
}

// Start starts the process again after it has ended, and waits until it works.
func (s *Served) Start() {
	s.t.Helper()
	s.Launch()
	s.Ready()
}

// Launch starts the process again after it has ended.
func (s *Served) Launch() {
	s.t.Helper()
	bin := ""
	for _, e := range s.env {
		if v, ok := strings.CutPrefix(e, "SWITCHBACK_BINARY="); ok {
			bin = v
		}
	}
	s.log = filepath.Join(s.dir, fmt.Sprintf("serve-%d.log", time.Now().UnixNano()))
	out, err := os.Create(s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(bin, "serve")
	cmd.Env, cmd.Stdout, cmd.Stderr = s.env, out, out
	if err := startCmd(cmd); err != nil {
		s.t.Fatal(err)
	}
	s.cmd, s.gone = cmd, make(chan struct{})
	gone := s.gone
	go func() {
		_ = cmd.Wait() // how it ended is in cmd
		close(gone)
	}()
}

// Ready waits until the process works.
func (s *Served) Ready() {
	s.t.Helper()
	s.Until("it works", func() bool {
		res, err := hookClient.Get(s.URL + "/readyz")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// Kill ends the process with SIGKILL.
func (s *Served) Kill() {
	select {
	case <-s.gone:
	default:
		killGroup(s.cmd)
		<-s.gone
	}
}

// Stop sends SIGTERM and returns how the process ended.
func (s *Served) Stop() *os.ProcessState {
	s.t.Helper()
	s.Signal(syscall.SIGTERM)
	<-s.gone
	return s.cmd.ProcessState
}

// Signal sends a signal.
func (s *Served) Signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Log returns what the process of the last Start has logged.
func (s *Served) Log() string {
	data, _ := os.ReadFile(s.log)
	return string(data)
}

// Until waits until yes is true. There is no event to wait for, so it asks. The
// test fails when the process ends, or after two minutes.
func (s *Served) Until(what string, yes func() bool) {
	s.t.Helper()
	over := time.After(2 * time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-s.gone:
			s.t.Fatalf("waiting until %s: the server ended: %v\n%s", what, s.cmd.ProcessState, s.Log())
		case <-over:
			s.t.Fatalf("waiting until %s: it never was", what)
		case <-tick.C:
		}
	}
}

// Metric returns the sum of a metric's samples whose labels contain all of
// with, such as `event="push"`.
func (s *Served) Metric(name string, with ...string) float64 {
	s.t.Helper()
	return s.Metrics(name)(with...)
}

// Metrics asks for the metrics once, and returns a function that is Metric for name as it was then.
func (s *Served) Metrics(name string) func(with ...string) float64 {
	s.t.Helper()
	res, err := hookClient.Get(s.metrics)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	values := map[string]float64{} // by labels
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), name) {
			continue
		}
		m := sample.FindStringSubmatch(lines.Text())
		if m == nil || m[1] != name {
			continue
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			s.t.Fatal(err)
		}
		values[m[2]] = v
	}
	return func(with ...string) float64 {
		sum := 0.0
		for labels, v := range values {
			if !slices.ContainsFunc(with, func(w string) bool { return !strings.Contains(labels, w) }) {
				sum += v
			}
		}
		return sum
	}
}

var sample = regexp.MustCompile(`^(\w+)(\{.*\})? (\S+)$`)

// Idle waits until every delivery that was accepted is done or a dead letter.
func (s *Served) Idle() {
	s.t.Helper()
	s.Until("all deliveries are worked on", func() bool {
		depth := s.Metrics("switchback_queue_depth")
		return depth()-depth(`state="dead_letter"`) == 0
	})
}

// Again sends a delivery again as it was, and returns the answer's status.
func (s *Served) Again(d Delivery) int { return post(s.URL+"/webhook", d) }
