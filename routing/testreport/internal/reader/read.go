package reader

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// Read reads r to its end, unpacked if it is packed with gzip, and hands what
// it finds to out. It returns ErrEmpty, ErrUnknownFormat or ErrPacked (wrapped),
// an unknown Options.Format, or an error of r.
func Read(r io.Reader, opt model.Options, out model.Sink) (model.Info, error) {
	lim := opt.Limits.WithDefaults()
	r, err := unpack(r, maxUnpacked)
	if err != nil {
		return model.Info{}, err
	}
	in := lines.NewInput(r)
	head := in.Head()
	if len(head) == 0 && in.Broken != nil {
		return model.Info{}, in.Broken
	}
	if len(strings.TrimSpace(string(head))) == 0 && len(head) < lines.HeadSize {
		return model.Info{Bytes: in.Count.N}, model.ErrEmpty
	}
	f, err := choose(opt.Format, head)
	if err != nil {
		return model.Info{}, err
	}
	if f != nil && f.Document != nil && !f.SelfDelimiting {
		err := f.Document(&format.Document{Reader: in.Buf, Out: out, Limits: lim})
		info := model.Info{Formats: []string{f.Name}, Bytes: in.Count.N}
		if err != nil {
			return info, fmt.Errorf("%s: %w", f.Name, err)
		}
		return info, nil
	}
	var only *format.Format
	if opt.Format != "" && opt.Format != "auto" {
		only = f
	}
	lr := newLogReader(in, out, lim, opt.OnLine, only)
	if f != nil && f.SelfDelimiting {
		lr.first = f
	}
	return lr.read()
}

// Parse reads r into a Report. An input that is empty or in no known format
// gives an error and, for ErrUnknownFormat, the report of what was seen.
func Parse(r io.Reader, opt model.Options) (*model.Report, error) {
	c := model.NewCollector(opt.Limits)
	info, err := Read(r, opt, c)
	rep := c.Finish(info)
	if err != nil && !errors.Is(err, model.ErrUnknownFormat) {
		return nil, err
	}
	return rep, err
}

// Machine reports whether the format name is written for machines, not for
// people: a document of tests, or a stream of events. Where both were read of
// one run, it is the one to count.
func Machine(name string) bool {
	f := format.Lookup(name)
	return f != nil && f.IsMachine()
}

// choose returns the format to read with; nil means: a log, all consoles.
func choose(name string, head []byte) (*format.Format, error) {
	if name != "" && name != "auto" {
		if f := format.Lookup(name); f != nil {
			return f, nil
		}
		if f := format.Catalogued(name); f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("unknown format %q; known are: auto, %s", name, strings.Join(format.Names(), ", "))
	}
	return format.Surest(head, func(f *format.Format) bool { return f.Detect != nil }), nil
}
