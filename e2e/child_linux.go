package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup sends SIGKILL to cmd and its process group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// killAll is killGroup and reaches the descendants of cmd as well: act starts each step in a session
// of its own, so that a step outlives the group.
func killAll(cmd *exec.Cmd) {
	pid := cmd.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGSTOP) // starts nothing more
	below := descendants(pid)
	killGroup(cmd)
	for _, p := range below {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
}

// descendants returns the processes that pid has started, and those that these have.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The name of the program is in parentheses and may hold any byte.
		f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		child, errChild := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if len(f) < 2 || errChild != nil {
			continue
		}
		if parent, err := strconv.Atoi(string(f[1])); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	all := children[pid]
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}
