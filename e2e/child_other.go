//go:build unix && !linux

package e2e

import (
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup sends SIGKILL to cmd and all it started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// killAll is killGroup: nothing here finds what has left the group.
func killAll(cmd *exec.Cmd) { killGroup(cmd) }
