package model

import (
	"fmt"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
)

// Collector is a Sink that builds a Report in bounded memory: passing tests
// are counted, failing ones kept up to Limits.Failing.
type Collector struct {
	Report Report
	// OnTest, if set, is called with every test, also those that are only
	// counted. The test is its own until it returns.
	OnTest func(*Test)

	lim     Limits
	now     Test // the test in hand
	dropped int
}

// NewCollector returns an empty Collector; zero limits take the defaults.
func NewCollector(lim Limits) *Collector { return &Collector{lim: lim.WithDefaults()} }

// Test implements Sink.
func (c *Collector) Test(t Test) {
	c.now = t
	c.TakeTest(&c.now)
}

// TakeTest implements TestTaker.
func (c *Collector) TakeTest(t *Test) {
	n := &c.Report.Counts
	if t.Kind == KindPackage && t.Status == Passed {
		n.Groups++
		return
	}
	c.bound(t)
	n.Tests++
	c.Report.Duration += t.Duration
	switch t.Status {
	case Passed:
		n.Passed++
		if t.Loose {
			c.Report.LoosePassed++
		}
	case Failed:
		n.Failed++
		if t.Loose {
			c.Report.LooseFailed++
		}
		c.keep(&c.Report.Failing, *t)
	case Skipped, Pending:
		n.Skipped++
	default:
		n.Other++
	}
	if t.Flaky && t.Status == Passed {
		n.Flaky++
		c.keep(&c.Report.Flaky, *t)
	}
	if c.OnTest != nil {
		c.OnTest(t)
	}
}

func (c *Collector) bound(t *Test) {
	text := c.lim.Text
	cutTo(&t.Name, 2<<10)
	cutTo(&t.Suite, 2<<10)
	cutTo(&t.Message, text)
	cutTo(&t.Trace, text)
	cutTo(&t.Output, text)
	cutTo(&t.Expected, text/4)
	cutTo(&t.Actual, text/4)
}

func cutTo(s *string, max int) {
	if len(*s) > max {
		*s = bounded.CutText(*s, max)
	}
}

func (c *Collector) keep(to *[]Test, t Test) {
	if len(*to) >= c.lim.Failing {
		c.dropped++
		return
	}
	// Past the first hundred, what is kept per failure shrinks, so that
	// thousands of failures with long traces stay within tens of megabytes.
	if len(*to) >= 100 {
		t.Trace, t.Output = bounded.CutText(t.Trace, 2<<10), bounded.CutText(t.Output, 512)
	}
	*to = append(*to, t)
}

// Problem implements Sink.
func (c *Collector) Problem(p Problem) {
	c.Report.Counts.Tests += p.Tests
	c.Report.Counts.Failed += p.Tests
	if p.Loose {
		c.Report.LooseFailed += p.Tests
	}
	if len(c.Report.Problems) >= c.lim.Failing {
		c.dropped++
		return
	}
	p.Message, p.Trace = bounded.CutText(p.Message, c.lim.Text), bounded.CutText(p.Trace, c.lim.Text)
	c.Report.Problems = append(c.Report.Problems, p)
}

// Diagnostic implements Sink.
func (c *Collector) Diagnostic(d Diagnostic) {
	if len(c.Report.Diagnostics) >= c.lim.Failing {
		c.dropped++
		return
	}
	d.Message = bounded.CutText(d.Message, c.lim.Text)
	c.Report.Diagnostics = append(c.Report.Diagnostics, d)
}

// Cut implements Sink.
func (c *Collector) Cut(note string) {
	if len(c.Report.Cut) < 50 {
		c.Report.Cut = append(c.Report.Cut, note)
	}
}

// Finish completes the report with what Read saw.
func (c *Collector) Finish(info Info) *Report {
	c.Report.Formats, c.Report.Lines, c.Report.Bytes = info.Formats, info.Lines, info.Bytes
	if c.dropped > 0 {
		c.Cut(fmt.Sprintf("%d further failures are counted but not listed (limit %d)", c.dropped, c.lim.Failing))
		c.dropped = 0
	}
	if info.Lines > 0 {
		c.within(info.Lines)
	}
	return &c.Report
}

// within keeps what was found within the log's lines: a document inside a log
// that breaks off does so behind the end of its last line, where there is none.
func (c *Collector) within(last int) {
	for _, ts := range [][]Test{c.Report.Failing, c.Report.Flaky} {
		for i := range ts {
			ts[i].At = min(ts[i].At, last)
		}
	}
	for i := range c.Report.Problems {
		c.Report.Problems[i].At = min(c.Report.Problems[i].At, last)
	}
	for i := range c.Report.Diagnostics {
		c.Report.Diagnostics[i].At = min(c.Report.Diagnostics[i].At, last)
	}
}

// Merge adds other to r: the reports of several files of one run.
func (r *Report) Merge(other *Report) {
	r.Formats = appendNew(r.Formats, other.Formats)
	r.Counts.Tests += other.Counts.Tests
	r.Counts.Passed += other.Counts.Passed
	r.Counts.Failed += other.Counts.Failed
	r.Counts.Skipped += other.Counts.Skipped
	r.Counts.Other += other.Counts.Other
	r.Counts.Flaky += other.Counts.Flaky
	r.Counts.Groups += other.Counts.Groups
	r.LoosePassed += other.LoosePassed
	r.LooseFailed += other.LooseFailed
	r.Failing = append(r.Failing, other.Failing...)
	r.Flaky = append(r.Flaky, other.Flaky...)
	r.Problems = append(r.Problems, other.Problems...)
	r.Diagnostics = append(r.Diagnostics, other.Diagnostics...)
	r.Duration += other.Duration
	r.Cut = append(r.Cut, other.Cut...)
	r.Lines += other.Lines
	r.Bytes += other.Bytes
}

func appendNew(to, from []string) []string {
next:
	for _, f := range from {
		for _, t := range to {
			if t == f {
				continue next
			}
		}
		to = append(to, f)
	}
	return to
}
