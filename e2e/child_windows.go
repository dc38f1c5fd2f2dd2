package e2e

import "os/exec"

// The bench runs on Unix; on Windows it only compiles.

func ownGroup(*exec.Cmd) {}

// killGroup kills cmd alone: Windows has no process groups of this kind.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// killAll is killGroup: nothing here finds what has left the group.
func killAll(cmd *exec.Cmd) { killGroup(cmd) }
