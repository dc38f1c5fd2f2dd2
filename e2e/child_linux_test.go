package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A step of a workflow has a session of its own, and is killed with the runner all the same.
func TestKillReachesSessionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `setsid sh -c 'echo $$; sleep 60; echo survived' & wait`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := startCmd(cmd); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 20)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if err != nil {
		t.Fatal(err)
	}
	killAll(cmd)
	_ = cmd.Wait()
	for range 500 {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(child), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return // it has ended, though nobody may have waited for it
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", child)
}
