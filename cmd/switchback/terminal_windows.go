package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// columnsOf is the width of a console in characters, 0 for what is none.
func columnsOf(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
