//go:build unix

package pgtest

import (
	"os/exec"
	"syscall"
)

// detach keeps signals to this process's group from a command.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
