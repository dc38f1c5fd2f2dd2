package worker

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"
)

// markName is the variable that all processes of a worker have in their
// environment, so that those that left its process group are found as well.
const markName = "SWITCHBACK_WORKER"

// Command is a worker's command lines and where they run.
type Command struct {
	Lines []string // each for the shell, in turn until one fails
	Dir   string
	Env   []string // all of it
	Mark  string
	Out   io.Writer     // takes both standard streams
	Grace time.Duration // between the signal that asks and the one that ends
	Begun func(pid int) // told the process group of each line; may be nil
}

// Ended is how a command ended.
type Ended struct {
	Code   int    // 0: all lines did their work; -1: a signal ended it
	Reason string // why the code is not 0
}

// Run runs the lines. When ctx ends, all processes are asked to end (SIGTERM)
// and after Grace ended (SIGKILL), and so are those that a line left behind. The
// error is of the machine: the shell could not be started.
func (c Command) Run(ctx context.Context) (Ended, error) {
	for _, line := range c.Lines {
		end, err := c.line(ctx, line)
		if err != nil || end.Code != 0 {
			return end, err
		}
		if ctx.Err() != nil {
			return Ended{-1, "it was ended"}, nil
		}
	}
	return Ended{}, nil
}

// settle is how long what a line left behind may go on printing before it is
// ended: a filter at the end of a pipe has a last word.
const settle = time.Second

func (c Command) line(ctx context.Context, line string) (Ended, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return Ended{}, err
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, shell(), shellFlag(), line)
	cmd.Dir, cmd.Env = c.Dir, append(slices.Clip(c.Env), markName+"="+c.Mark)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { askGroup(cmd.Process.Pid, c.Mark); return nil }
	cmd.WaitDelay = max(c.Grace, time.Millisecond) // 0 would wait forever; then the first process is killed, and below all others
	err = cmd.Start()
	w.Close()
	if err != nil {
		if ctx.Err() != nil {
			return Ended{-1, "it was ended"}, nil
		}
		return Ended{}, fmt.Errorf("starting %s: %w", shell(), err)
	}
	if c.Begun != nil {
		c.Begun(cmd.Process.Pid)
	}
	read := make(chan struct{})
	go func() { defer close(read); _, _ = io.Copy(c.Out, r) }() // ends when all have closed it, or it is closed below
	err = cmd.Wait()
	within(read, settle)
	endGroup(cmd.Process.Pid, c.Mark)
	if !within(read, settle) {
		r.Close()
		<-read
	}
	return ended(cmd.ProcessState, err)
}

// within reports whether done was closed before d was over.
func within(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

func ended(st *os.ProcessState, err error) (Ended, error) {
	switch {
	case st == nil:
		return Ended{}, err
	case st.Success():
		return Ended{}, nil
	case st.ExitCode() < 0:
		return Ended{-1, signalName(st)}, nil
	}
	return Ended{st.ExitCode(), fmt.Sprintf("it ended with exit code %d", st.ExitCode())}, nil
}

// shell is sh where there is one.
func shell() string {
	if runtime.GOOS != "windows" {
		return "/bin/sh"
	}
	if p, err := exec.LookPath("sh"); err == nil {
		return p
	}
	return "cmd"
}

func shellFlag() string {
	if shell() == "cmd" {
		return "/C"
	}
	return "-c"
}
