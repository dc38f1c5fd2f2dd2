//go:build unix

package worker

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func script(t *testing.T, lines ...string) (Command, *Tape) {
	t.Helper()
	tape := NewTape(1<<10, 1<<10)
	return Command{Lines: lines, Dir: t.TempDir(), Env: os.Environ(), Mark: newID(), Out: tape, Grace: 200 * time.Millisecond}, tape
}

func TestCommandsRunInTurnUntilOneFails(t *testing.T) {
	t.Parallel()
	c, tape := script(t, "echo one", "echo two >&2; exit 3", "echo three")
	end, err := c.Run(t.Context())
	if err != nil || end.Code != 3 || tape.String() != "one\ntwo\n" || !strings.Contains(end.Reason, "exit code 3") {
		t.Errorf("%+v %v %q", end, err, tape)
	}
	c, _ = script(t, "kill -SEGV $$")
	if end, err := c.Run(t.Context()); err != nil || end.Code != -1 || !strings.Contains(end.Reason, "segmentation fault") {
		t.Errorf("by a signal: %+v %v", end, err)
	}
	c, _ = script(t, "true")
	c.Dir = filepath.Join(c.Dir, "none")
	if _, err := c.Run(t.Context()); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// pids waits until a file holds n numbers of processes.
func pids(t *testing.T, path string, n int) []int {
	t.Helper()
	for {
		data, _ := os.ReadFile(path)
		words := strings.Fields(string(data))
		if len(words) >= n && strings.HasSuffix(string(data), "\n") {
			var out []int
			for _, w := range words {
				p, err := strconv.Atoi(w)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, p)
			}
			return out
		}
		if t.Context().Err() != nil {
			t.Fatal("the script did not begin")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// gone reports whether a process has ended; one that nobody has waited for yet has.
func gone(pid int) bool {
	if !running(pid) {
		return true
	}
	return runtime.GOOS == "linux" && born(pid) == ""
}

func TestAllProcessesOfAWorkerEnd(t *testing.T) {
	t.Parallel()
	deaf := `trap "" TERM; echo $$ >> pids; while :; do sleep 1; done`
	for name, line := range map[string]string{
		"S2-51 a worker that hears SIGTERM":              `echo $$ >> pids; echo $$ >> pids; exec sleep 1000`,
		"S2-51 a worker and a child that do not hear it": `sh -c '` + deaf + `' & ` + deaf,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, tape := script(t, "echo begun; "+line)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan Ended, 1)
			go func() { end, _ := c.Run(ctx); done <- end }()
			all := pids(t, filepath.Join(c.Dir, "pids"), 2)
			stop()
			if end := <-done; end.Code != -1 {
				t.Errorf("%+v", end)
			}
			for _, p := range all {
				if !gone(p) {
					t.Errorf("process %d lives", p)
				}
			}
			if tape.String() != "begun\n" {
				t.Errorf("what it printed is lost: %q", tape)
			}
		})
	}
	t.Run("a child that is left behind ends with its worker", func(t *testing.T) {
		t.Parallel()
		c, _ := script(t, `sh -c 'echo $$ > pids; exec sleep 1000' & while [ ! -s pids ]; do sleep 0.01; done`)
		if end, err := c.Run(t.Context()); err != nil || end.Code != 0 {
			t.Errorf("%+v %v", end, err)
		}
		if p := pids(t, filepath.Join(c.Dir, "pids"), 1)[0]; !gone(p) {
			t.Errorf("process %d lives", p)
		}
	})
	if runtime.GOOS == "linux" {
		t.Run("a grandchild that left for a session of its own ends as well", func(t *testing.T) {
			t.Parallel()
			c, _ := script(t, `setsid sh -c 'setsid sh -c "trap \"\" TERM; echo \$\$ > pids; sleep 1000; sleep 1000"' & while [ ! -s pids ]; do sleep 0.01; done; sleep 1000`)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); _, _ = c.Run(ctx) }()
			p := pids(t, filepath.Join(c.Dir, "pids"), 1)[0]
			stop()
			<-done
			if !gone(p) {
				t.Errorf("process %d lives", p)
			}
		})
	}
}

func TestTape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		writes []string
		want   string
		cut    int64
	}{
		{[]string{"ab"}, "ab", 0},
		{[]string{"abcdefgh"}, "abcdefgh", 0},
		{[]string{"abcd", "efg", "h"}, "abcdefgh", 0},
		{[]string{"abcdefghi"}, "abcd\n[1 bytes are cut here]\nfghi", 1},
		{[]string{"abcde", "fghijk", "lm"}, "abcd\n[5 bytes are cut here]\njklm", 5},
		{[]string{"abcd", "efghijklmnopqrstuvwxyz"}, "abcd\n[18 bytes are cut here]\nwxyz", 18},
		{[]string{"abcdef", "ghijklmnopqrstuvwxy", "z"}, "abcd\n[18 bytes are cut here]\nwxyz", 18},
	} {
		tape := NewTape(4, 4)
		for _, w := range c.writes {
			if n, err := tape.Write([]byte(w)); n != len(w) || err != nil {
				t.Fatal(n, err)
			}
		}
		if tape.String() != c.want || tape.Cut() != c.cut {
			t.Errorf("%q: %q, %d cut", c.writes, tape, tape.Cut())
		}
	}
	tape := NewTape(1<<20, 1<<20)
	_, _ = tape.Write([]byte("first line\nsecond line\n"))
	if got := tape.End(15); got != "second line\n" {
		t.Errorf("%q", got)
	}
}
