package pgtest_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

const child = "SWITCHBACK_PGTEST_CHILD"

// The cluster of a process that is killed ends by itself, and leaves nothing.
func TestEndsWithItsProcess(t *testing.T) {
	if os.Getenv(child) != "" {
		var dir string
		url := pgtest.URL(t)
		ask(t, url, "SELECT current_setting('data_directory')", &dir)
		fmt.Printf("\n%s %s\n", url, dir)
		select {} // until killed
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestEndsWithItsProcess$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var url, dir string
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "postgres://") {
			url, dir, _ = strings.Cut(lines.Text(), " ")
		}
	}
	var two int
	ask(t, url, "SELECT 2", &two)
	if _, err := os.Stat(dir); err != nil || two != 2 {
		t.Errorf("%v, %d", err, two)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort(cfg.Host, fmt.Sprint(cfg.Port))
	for range 6000 {
		c, dial := net.Dial("tcp", address)
		if dial == nil {
			_ = c.Close()
		}
		if _, err := os.Stat(dir); os.IsNotExist(err) && dial != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s or %s is still there", address, dir)
}

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	var one, two string
	ask(t, pgtest.URL(t), "SELECT current_database()", &one)
	ask(t, pgtest.URL(t), "SELECT current_database()", &two)
	if one == two {
		t.Errorf("both are %s", one)
	}
}

func ask(t *testing.T, url, text string, to any) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is written
	if err := c.QueryRow(context.Background(), text).Scan(to); err != nil {
		t.Fatal(err)
	}
}

// What was committed is there after a crash, and the server at its place.
func TestCrash(t *testing.T) {
	t.Parallel()
	own := pgtest.NewOwn(t)
	c, err := pgx.Connect(t.Context(), own.URL())
	if err == nil {
		_, err = c.Exec(t.Context(), "CREATE TABLE kept AS SELECT 7 AS n")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Crash(); err != nil {
		t.Fatal(err)
	}
	if c.Ping(t.Context()) == nil {
		t.Error("a server that ended takes connections")
	}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	n := 0
	if ask(t, own.URL(), "SELECT n FROM kept", &n); n != 7 {
		t.Errorf("%d is kept", n)
	}
}
