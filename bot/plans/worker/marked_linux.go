package worker

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// marked returns the processes whose environment has the mark: also those that
// began a session of their own, and so left the process group.
func marked(mark string) []int {
	if mark == "" {
		return nil
	}
	want := []byte(markName + "=" + mark)
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	var out []int
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || !hasLine(env, want) {
			continue // another's, or gone meanwhile
		}
		if pid, err := strconv.Atoi(filepath.Base(d)); err == nil && pid != os.Getpid() {
			out = append(out, pid)
		}
	}
	return out
}

func hasLine(env, want []byte) bool {
	for len(env) > 0 {
		one, rest, _ := bytes.Cut(env, []byte{0})
		if bytes.Equal(one, want) {
			return true
		}
		env = rest
	}
	return false
}

// born returns when a process began, in the kernel's clock ticks since it
// booted, "" if there is no such process.
func born(pid int) string {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything; after it the fields are plain.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || bytes.Equal(fields[0], []byte("Z")) {
		return ""
	}
	return string(fields[19])
}
