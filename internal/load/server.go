package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/internal/peak"
)

const secret = "the secret of the load"

// client keeps a connection for each caller.
var client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// place is where servers keep what they have.
type place struct {
	name     string
	dir      string // data directory
	database string // URL, "" for SQLite
	replicas int
}

// server is a `switchback serve`.
type server struct {
	scraped string // URL of the metrics
	url     string
	cmd     *exec.Cmd
	log     string
}

// key is the App's private key in PEM form.
var key = sync.OnceValues(func() (string, error) {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})), nil
})

// serve starts a server and waits until it is ready.
func serve(bin string, p place, g *github, n int) (*server, error) {
	pem, err := key()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	scraped, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + address, scraped: "http://" + scraped + "/metrics", log: filepath.Join(p.dir, fmt.Sprintf("serve-%d.log", n))}
	out, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	s.cmd = exec.Command(bin, "serve")
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + os.TempDir(), "SWITCHBACK_DATA=" + p.dir, "SWITCHBACK_DATABASE_URL=" + p.database,
		"SWITCHBACK_LISTEN=" + address, "SWITCHBACK_METRICS_LISTEN=" + scraped, "SWITCHBACK_APP_ID=1", "SWITCHBACK_PRIVATE_KEY=" + pem, "SWITCHBACK_WEBHOOK_SECRET=" + secret,
		"SWITCHBACK_GITHUB_URL=" + g.url, "SWITCHBACK_CONTENT_INTERVAL=1ms",
		"SWITCHBACK_LIMITS=points=100000/1m", // reads are not what is measured
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		if res, err := client.Get(s.url + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	text, _ := os.ReadFile(s.log)
	return nil, fmt.Errorf("the server is not ready: %s", text[max(0, len(text)-2000):])
}

// freeAddress returns an address of this machine that nothing listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// stop ends the server as SIGTERM does and returns its peak in KiB.
func (s *server) stop() (int64, error) {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	if err := s.cmd.Wait(); err != nil {
		return 0, fmt.Errorf("the server: %w; its log is %s", err, s.log)
	}
	return peak.KiB(s.cmd.ProcessState), nil
}

var sample = regexp.MustCompile(`^(\w+)(\{.*\})? (\S+)$`)

// metrics returns the sums of the server's metrics by name; dead letters are summed up separately.
func (s *server) metrics(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.scraped, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	out := map[string]float64{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		m := sample.FindSubmatch(bytes.TrimSpace(lines.Bytes()))
		if m == nil {
			continue
		}
		v, err := strconv.ParseFloat(string(m[3]), 64)
		if err != nil {
			return nil, err
		}
		if name := string(m[1]); strings.Contains(string(m[2]), `"dead_letter"`) {
			out[name+"_dead_letter"] += v
		} else {
			out[name] += v
		}
	}
	return out, lines.Err()
}

// sum adds a metric up over servers.
func sum(ctx context.Context, all []*server, name string) (total float64, err error) {
	for _, s := range all {
		m, err := s.metrics(ctx)
		if err != nil {
			return 0, err
		}
		total += m[name]
	}
	return total, nil
}

// drained waits until every delivery is done.
func drained(ctx context.Context, s *server) error {
	for {
		m, err := s.metrics(ctx)
		if err != nil {
			return err
		}
		depth, ok := m["switchback_queue_depth"]
		if n := m["switchback_queue_depth_dead_letter"]; n > 0 {
			return fmt.Errorf("%v deliveries are dead letters; the server's log is %s", n, s.log)
		}
		if ok && depth == 0 {
			return nil
		}
		if err := sleep.For(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%v deliveries still wait: %w; the log of the server is %s", depth, err, s.log)
		}
	}
}
