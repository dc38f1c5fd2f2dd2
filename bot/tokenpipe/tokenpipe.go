// Package tokenpipe keeps the tokens of a process out of its environment.
//
// A process that runs a stranger's commands cannot hide its environment from them by leaving
// variables out of theirs: any process of the same user reads /proc/PID/environ of its ancestors,
// and that file shows the variables a process began with, whatever it has unset since. So a process
// that finds tokens in its environment replaces itself by the same program without them, and
// receives them through a pipe. On Linux it also becomes undumpable, which closes its environ, mem
// and fd in /proc to all users but root.
//
// Windows has neither, and neither has it /proc: there the variables are unset.
package tokenpipe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Descriptor is the variable that names the file descriptor from which a process receives its
// tokens.
const Descriptor = "SWITCHBACK_TOKEN_FD"

// Names are the variables that hold a token of Switchback.
var Names = []string{"SWITCHBACK_GITHUB_TOKEN", "GITHUB_TOKEN", "INPUT_TOKEN"}

// maxBytes bounds what is received, in bytes. It is also what a pipe holds on every system, so that
// a process can write it before anybody reads.
const maxBytes = 16 << 10

// Tokens are the tokens of a process, by the variables that held them.
type Tokens map[string]string

// Getenv returns a function that looks a variable up among the tokens, and then with getenv.
func (t Tokens) Getenv(getenv func(string) string) func(string) string {
	return func(name string) string {
		if v, ok := t[name]; ok {
			return v
		}
		return getenv(name)
	}
}

// Values returns the tokens themselves.
func (t Tokens) Values() []string {
	var out []string
	for _, name := range Names {
		if v := t[name]; v != "" {
			out = append(out, v)
		}
	}
	return out
}

// Take returns the tokens of this process and sees to it that other processes cannot read them: it
// receives them through a pipe, or, where they are in the environment, replaces the process (see the
// package). It has to be called before the process starts another, and before it begins anything
// that does not outlive the replacement. The environment holds no token afterwards.
func Take() (Tokens, error) {
	if fd := os.Getenv(Descriptor); fd != "" {
		if err := protect(); err != nil {
			return nil, err
		}
		t, err := receive(fd)
		return t, errors.Join(err, unset())
	}
	t := Tokens{}
	for _, name := range Names {
		if v := os.Getenv(name); v != "" {
			t[name] = v
		}
	}
	if len(t) > 0 {
		if err := replace(t); err != nil {
			return nil, fmt.Errorf("moving the token out of the environment: %w", err)
		}
	}
	return t, errors.Join(protect(), unset()) // without tokens, or where a process cannot be replaced
}

// Pass hands tokens to a command that is not started yet, through its standard input.
func Pass(c *exec.Cmd, t Tokens) {
	c.Env = append(Without(c.Env), Descriptor+"=0")
	c.Stdin = strings.NewReader(t.encode())
}

// Without returns an environment without the variables of tokens.
func Without(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name)
		return name == Descriptor || slices.Contains(Names, name)
	})
}

func (t Tokens) encode() string {
	var b strings.Builder
	for _, name := range Names {
		if v := t[name]; v != "" {
			b.WriteString(name + "=" + v + "\x00")
		}
	}
	return b.String()
}

func decode(data string) (Tokens, error) {
	t := Tokens{}
	for kv := range strings.SplitSeq(strings.TrimSuffix(data, "\x00"), "\x00") {
		if kv == "" {
			continue
		}
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !slices.Contains(Names, name) {
			return nil, fmt.Errorf("%s names a file that holds no tokens", Descriptor)
		}
		t[name] = value
	}
	return t, nil
}

// receive reads the tokens from a file descriptor and closes it.
func receive(fd string) (Tokens, error) {
	n, err := strconv.ParseUint(fd, 10, 16)
	if err != nil || n == 1 || n == 2 {
		return nil, fmt.Errorf("%s is %q; it must be the number of a file descriptor", Descriptor, fd)
	}
	f := os.Stdin
	if n > 0 {
		f = os.NewFile(uintptr(n), "tokens")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", Descriptor, err)
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s: tokens have more than %d bytes", Descriptor, maxBytes)
	}
	return decode(string(data))
}

// unset removes the variables from what this process hands on. Where it was replaced they are in no
// block of it.
func unset() error {
	err := os.Unsetenv(Descriptor)
	for _, name := range Names {
		err = errors.Join(err, os.Unsetenv(name))
	}
	return err
}
