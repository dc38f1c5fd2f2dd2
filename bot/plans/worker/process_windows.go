package worker

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// nonblocking is nothing: a folder of Windows holds no pipes.
const nonblocking = 0

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askGroup does nothing: Windows has no signal that asks a group to end and
// that its children take notice of.
func askGroup(int, string) {}

// endGroup ends a process and all that it started.
func endGroup(pid int, _ string) {
	if pid > 0 {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() // that there is none left is no error
	}
}

func signalName(*os.ProcessState) string { return "it was ended from outside" }

// running reports whether there is a process of that number.
func running(pid int) bool {
	h, err := syscall.OpenProcess(syscall.PROCESS_QUERY_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	var code uint32
	const stillActive = 259
	return syscall.GetExitCodeProcess(h, &code) == nil && code == stillActive
}
