package main

import (
	"io"
	"os"
	"strconv"

	"github.com/switchback-ci/switchback/bot/render"
)

// screen is a stream to a file whose text passes through a writer first, such as one that masks
// secrets.
type screen struct {
	io.Writer
	file *os.File
}

// fileOf returns the file that a stream writes to, nil if it writes to none.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *os.File:
		return w
	case screen:
		return w.file
	}
	return nil
}

// screenOf says what a stream shows: the width of a terminal, and whether it takes colours. COLUMNS
// is the width that a user wants, and NO_COLOR and TERM=dumb take the colours away.
func screenOf(w io.Writer, getenv func(string) string) render.Screen {
	columns := 0
	if f := fileOf(w); f != nil {
		columns = columnsOf(f)
	}
	if columns == 0 {
		return render.Screen{}
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		columns = n
	}
	return render.Screen{Columns: max(columns, 40), Color: getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}
