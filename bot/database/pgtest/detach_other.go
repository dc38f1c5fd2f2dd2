//go:build !unix

package pgtest

import "os/exec"

func detach(*exec.Cmd) {}
