package testreport

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrUnknownFormat says that no format recognised anything in the input.
var ErrUnknownFormat = errors.New("not readable as any known test output")

// ErrEmpty says that the input holds no byte but white space.
var ErrEmpty = errors.New("the input is empty")

// Options steer Read. The zero value detects the format and uses DefaultLimits.
type Options struct {
	Format string     // a name of Names, or "" or "auto"
	Limits Limits     // zero fields take the defaults
	OnLine func(Line) // called with every cleaned line of a log, in order
}

// Info says what Read saw.
type Info struct {
	Formats []string // names of the formats that recognised something
	Lines   int
	Bytes   int64 // of the input, unpacked, before decoding
}

// Read reads r to its end, unpacked if it is packed with gzip, and hands what
// it finds to out. It returns ErrEmpty, ErrUnknownFormat or ErrPacked (wrapped),
// an unknown Options.Format, or an error of r.
func Read(r io.Reader, opt Options, out Sink) (Info, error) {
	lim := opt.Limits.withDefaults()
	r, err := unpack(r, maxUnpacked)
	if err != nil {
		return Info{}, err
	}
	in := newInput(r)
	head := in.head()
	if len(head) == 0 && in.broken != nil {
		return Info{}, in.broken
	}
	if len(strings.TrimSpace(string(head))) == 0 && len(head) < headSize {
		return Info{Bytes: in.count.n}, ErrEmpty
	}
	f, err := choose(opt.Format, head)
	if err != nil {
		return Info{}, err
	}
	if f != nil && f.document != nil && !f.leaves {
		err := f.document(&document{br: in.br, out: out, lim: lim})
		info := Info{Formats: []string{f.name}, Bytes: in.count.n}
		if err != nil {
			return info, fmt.Errorf("%s: %w", f.name, err)
		}
		return info, nil
	}
	var only *format
	if opt.Format != "" && opt.Format != "auto" {
		only = f
	}
	lr := newLogReader(in, out, lim, opt.OnLine, only)
	if f != nil && f.leaves {
		lr.first = f
	}
	return lr.read()
}

// Machine reports whether the format name is written for machines, not for
// people: a document of tests, or a stream of events. Where both were read of
// one run, it is the one to count.
func Machine(name string) bool {
	f := formatNamed(name)
	return f != nil && f.machines()
}

// choose returns the format to read with; nil means: a log, all consoles.
func choose(name string, head []byte) (*format, error) {
	if name != "" && name != "auto" {
		if f := formatNamed(name); f != nil {
			return f, nil
		}
		if f := catalogued(name); f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("unknown format %q; known are: auto, %s", name, strings.Join(Names(), ", "))
	}
	return surest(head, func(f *format) bool { return f.detect != nil }), nil
}

// surest returns the format among those that may be, which is the surest of a
// document with this head; nil if none is sure enough.
func surest(head []byte, may func(f *format) bool) *format {
	var best *format
	sure := 49
	for _, f := range allFormats() {
		if !may(f) {
			continue
		}
		if n := f.detect(head); n > sure {
			best, sure = f, n
		}
	}
	return best
}
