package model

import (
	"errors"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
)

// ErrUnknownFormat says that no format recognised anything in the input.
var ErrUnknownFormat = errors.New("not readable as any known test output")

// ErrEmpty says that the input holds no byte but white space.
var ErrEmpty = errors.New("the input is empty")

// Options steer Read. The zero value detects the format and uses DefaultLimits.
type Options struct {
	Format string           // a name of Names, or "" or "auto"
	Limits Limits           // zero fields take the defaults
	OnLine func(lines.Line) // called with every cleaned line of a log, in order
}

// Info says what Read saw.
type Info struct {
	Formats []string // names of the formats that recognised something
	Lines   int
	Bytes   int64 // of the input, unpacked, before decoding
}
