//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the largest resident set of a process that has ended, in KiB.
func peak(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) / 1024
	}
	return int64(u.Maxrss)
}
