//go:build unix

package worker

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// nonblocking lets a pipe be opened that nobody writes to.
const nonblocking = syscall.O_NONBLOCK

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// askGroup asks all processes of a worker to end.
func askGroup(pid int, mark string) { signalAll(pid, mark, syscall.SIGTERM) }

// endGroup ends all processes of a worker.
func endGroup(pid int, mark string) {
	signalAll(pid, mark, syscall.SIGKILL)
	for i := 0; i < 20 && len(marked(mark)) > 0; i++ { // one may have forked while it was ended
		time.Sleep(10 * time.Millisecond)
		signalAll(0, mark, syscall.SIGKILL)
	}
}

func signalAll(pid int, mark string, s syscall.Signal) {
	if pid > 1 {
		_ = syscall.Kill(-pid, s) // that there is none left is no error
	}
	for _, p := range marked(mark) {
		_ = syscall.Kill(p, s)
	}
}

func signalName(st *os.ProcessState) string {
	if w, ok := st.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return fmt.Sprintf("signal %d (%s) ended it", int(w.Signal()), w.Signal())
	}
	return "a signal ended it"
}

// running reports whether there is a process of that number.
func running(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
