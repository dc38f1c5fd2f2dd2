package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchback-ci/switchback/bot/analysis"
)

// Work that takes longer than quietFor says how far it is, and again every so often.
const (
	quietFor = 2 * time.Second
	again    = 500 * time.Millisecond
)

// progress is the line of a terminal that says how far long work is.
type progress struct {
	out   io.Writer // nil for what is no terminal
	what  string
	unit  func(int64) string
	count atomic.Int64
	end   chan struct{}
	over  sync.WaitGroup
	once  sync.Once
}

// showProgress shows on standard error how far work is, from two seconds on, and only on a terminal.
// unit says how much of it is done; it may be nil.
// Its end has to be called before anything else is printed.
func showProgress(s streams, what string, unit func(int64) string) *progress {
	var out io.Writer
	if f := fileOf(s.err); f != nil && columnsOf(f) > 0 {
		out = s.err
	}
	return newProgress(out, what, unit)
}

func newProgress(out io.Writer, what string, unit func(int64) string) *progress {
	p := &progress{out: out, what: what, unit: unit, end: make(chan struct{})}
	if out != nil {
		p.over.Go(p.run)
	}
	return p
}

func (p *progress) run() {
	began, shown := time.Now(), false
	wait := time.NewTimer(quietFor)
	defer wait.Stop()
	for {
		select {
		case <-p.end:
			if shown {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		case <-wait.C:
			far := ""
			if p.unit != nil {
				far = p.unit(p.count.Load()) + ", "
			}
			fmt.Fprintf(p.out, "\r\x1b[K%s: %s%s", p.what, far, time.Since(began).Round(time.Second))
			shown = true
			wait.Reset(again)
		}
	}
}

// add says that more of the work is done.
func (p *progress) add(n int64) { p.count.Add(n) }

// done takes the line away.
func (p *progress) done() {
	p.once.Do(func() { close(p.end) })
	p.over.Wait()
}

// reading returns r, the bytes of which count as work that is done.
func (p *progress) reading(r io.ReadCloser) io.ReadCloser {
	if p.out == nil {
		return r
	}
	return countedReader{r, p}
}

// watched returns sources that are read with p.
func (p *progress) watched(all []analysis.Source) []analysis.Source {
	for i, s := range all {
		all[i].Open = func() (io.ReadCloser, error) {
			r, err := s.Open()
			if err != nil {
				return nil, err
			}
			return p.reading(r), nil
		}
	}
	return all
}

type countedReader struct {
	io.ReadCloser
	p *progress
}

func (r countedReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.p.add(int64(n))
	return n, err
}

// megabytes says how many bytes were read.
func megabytes(n int64) string { return fmt.Sprintf("%d MB read", n/1_000_000) }
