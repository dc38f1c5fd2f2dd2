// Package pgtest gives tests a PostgreSQL of their own: one throw-away cluster
// for each test process, which ends with it, and in it a database for each test.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/switchback-ci/switchback/internal/freeport"
)

// cluster is the one of this process.
var cluster = sync.OnceValues(start)

var databases atomic.Int64

// URL returns the URL of a new, empty database. The test fails if the machine
// has no PostgreSQL.
func URL(tb testing.TB) string {
	tb.Helper()
	url, err := New(tb.Context())
	if err != nil {
		tb.Fatalf("a PostgreSQL for this test: %v", err)
	}
	return url
}

// New is URL for programs that are no tests.
func New(ctx context.Context) (string, error) {
	c, err := cluster()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	return c.url(name), c.run(ctx, "CREATE DATABASE "+name)
}

// Durable makes the cluster write through to the disk, which it otherwise does
// not: for benchmarks, as a test kills its clients and not the server.
func Durable(tb testing.TB) {
	tb.Helper()
	if err := Sync(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// Sync is Durable for programs that are no tests.
func Sync(ctx context.Context) error {
	c, err := cluster()
	if err != nil {
		return err
	}
	return errors.Join(c.run(ctx, "ALTER SYSTEM SET fsync = on"), c.run(ctx, "SELECT pg_reload_conf()"))
}

// Own is a cluster for one test alone, which may be interrupted.
type Own struct{ c *server }

// NewOwn starts a cluster of the test's own. It ends with the test.
func NewOwn(tb testing.TB) *Own {
	tb.Helper()
	c, err := start()
	if err != nil {
		tb.Fatalf("a PostgreSQL for this test: %v", err)
	}
	tb.Cleanup(func() {
		if err := c.end.Close(); err != nil { // the watchdog does the rest
			tb.Error(err)
		}
	})
	return &Own{c}
}

// URL returns the URL of the cluster's database "postgres".
func (o *Own) URL() string { return o.c.url("postgres") }

// Crash ends the server as a crash does: all connections break, nothing is
// written any more, and the next start recovers from the log.
func (o *Own) Crash() error { return o.c.control("-m", "immediate", "stop") }

// Start starts the server again and waits until it takes connections.
func (o *Own) Start() error { return o.c.begin() }

type server struct {
	bin, dir string
	port     int
	end      *os.File // the watchdog ends the cluster when this process's end of the pipe is closed
}

func (s *server) url(name string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: name, RawQuery: "sslmode=disable"}
	return u.String()
}

func (s *server) run(ctx context.Context, text string) error {
	c, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, text)
	return errors.Join(err, c.Close(ctx))
}

// start makes a cluster and starts it.
func start() (*server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	end, err := watch(bin, dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if out, err := asServer(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	// In the file and not on the command line, where Durable could not change it.
	if err := settle(filepath.Join(data, "postgresql.conf"), "fsync = off"); err != nil {
		return nil, err
	}
	s := &server{bin: bin, dir: dir, end: end}
	for try := 1; ; try++ {
		if s.port, err = freeport.Find(); err != nil {
			return nil, err
		}
		if err = s.begin(); err == nil || try == 5 { // another process may have taken the port
			return s, err
		}
	}
}

// begin starts the server at its port.
func (s *server) begin() error {
	return s.control("-o", fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=300", s.port),
		"-l", filepath.Join(s.dir, "log"), "start")
}

// control runs pg_ctl and waits for what it is to do.
func (s *server) control(args ...string) error {
	args = append([]string{"-D", filepath.Join(s.dir, "data"), "-t", "120", "-w"}, args...)
	if err := asServer(filepath.Join(s.bin, "pg_ctl"), args...).Run(); err != nil {
		text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("pg_ctl %s: %w: %s", args[len(args)-1], err, text)
	}
	return nil
}

// settle adds a line to the server's configuration.
func settle(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// programs returns the folder of initdb and pg_ctl, which Debian keeps out of
// PATH; the newest, if there are several.
func programs() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(p), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errors.New("initdb is neither in PATH nor in /usr/lib/postgresql/*/bin; install PostgreSQL (Debian: apt-get install postgresql)")
	}
	newest, version := "", -1.0
	for _, f := range found {
		dir := filepath.Dir(f)
		if v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64); err == nil && v > version {
			newest, version = dir, v
		}
	}
	if newest == "" {
		newest = filepath.Dir(found[0])
	}
	return newest, nil
}

// folder makes the cluster's folder, which belongs to whom the server runs as.
func folder() (string, error) {
	root := ""
	if os.Geteuid() == 0 {
		root = "/tmp" // TMPDIR may lie where only root gets to
	}
	dir, err := os.MkdirTemp(root, "switchback-pg-")
	if err != nil || os.Geteuid() != 0 {
		return dir, err
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return "", fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return "", err
	}
	return dir, os.Chown(dir, uid, -1)
}

// asServer is a command run as the user that the server may run as.
func asServer(name string, args ...string) *exec.Cmd {
	if os.Geteuid() == 0 {
		name, args = "runuser", append([]string{"-u", "postgres", "--", name}, args...)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	return cmd
}

// watch starts the process that ends the cluster and removes its folder once
// this process is no more, however it ended. It returns what must stay open.
func watch(bin, dir string) (*os.File, error) {
	ended, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ended.Close()
	cmd := asServer("sh", "-c", `cat; "$1/pg_ctl" -D "$2/data" -m immediate -t 60 stop; rm -rf "$2"`, "sh", bin, dir)
	cmd.Stdin = ended
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go cmd.Wait() //nolint:errcheck // it outlives this process
	return end, nil
}
