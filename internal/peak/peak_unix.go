//go:build unix

// Package peak tells how much memory a process took, for the measurements.
package peak

import (
	"os"
	"runtime"
	"syscall"
)

// KiB returns the largest resident set of a process that has ended, in KiB.
func KiB(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) / 1024
	}
	return int64(u.Maxrss)
}
