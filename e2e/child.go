package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// child is a process of the bench, the leader of a process group of its own.
type child struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when the process has ended
}

// spawner starts processes from one thread that lives as long as this process:
// on Linux a child gets a signal when the thread that started it ends.
var spawner = func() chan func() {
	ch := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range ch {
			f()
		}
	}()
	return ch
}()

// startCmd starts cmd in a process group of its own that dies with this process.
func startCmd(cmd *exec.Cmd) error {
	ownGroup(cmd)
	errs := make(chan error)
	spawner <- func() { errs <- cmd.Start() }
	return <-errs
}

// spawn starts a server with its output in the file log.
func spawn(log, name string, args ...string) (*child, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := startCmd(cmd); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in the log
		close(c.done)
	}()
	return c, nil
}

// await returns when addr takes connections, or an error when the process
// ended or the time is over. There is no event to wait for, so it polls.
func (c *child) await(addr string, limit time.Duration) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	over := time.After(limit)
	for {
		if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			return conn.Close()
		}
		select {
		case <-c.done:
			return fmt.Errorf("ended before it answered:\n%s", c.tail())
		case <-over:
			return fmt.Errorf("no answer on %s after %v:\n%s", addr, limit, c.tail())
		case <-tick.C:
		}
	}
}

func (c *child) tail() []byte {
	data, _ := os.ReadFile(c.log)
	return data[max(0, len(data)-2000):]
}

func (c *child) kill() {
	killGroup(c.cmd)
	<-c.done
}
