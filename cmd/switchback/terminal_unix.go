//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// columnsOf is the width of a terminal in characters, 0 for what is none.
func columnsOf(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 0
	case size.Col == 0:
		return 80 // it does not say
	}
	return int(size.Col)
}
