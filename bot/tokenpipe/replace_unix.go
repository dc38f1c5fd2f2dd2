//go:build unix

package tokenpipe

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// replace replaces this process by the same program without tokens in its environment. It returns
// only with an error.
func replace(t Tokens) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text := t.encode()
	if len(text) > maxBytes {
		return fmt.Errorf("tokens have more than %d bytes", maxBytes)
	}
	// Between the replacement and the moment in which the new program protects itself, another
	// process of the user can open a pipe through /proc, but not a socket.
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	_, err = syscall.Write(ends[1], []byte(text))
	if err = errors.Join(err, syscall.Close(ends[1])); err != nil {
		return errors.Join(err, syscall.Close(ends[0]))
	}
	env := append(Without(os.Environ()), Descriptor+"="+strconv.Itoa(ends[0]))
	return errors.Join(syscall.Exec(self, os.Args, env), syscall.Close(ends[0]))
}
