package web

import (
	"cmp"
	"slices"

	"github.com/switchback-ci/switchback/routing"
)

const (
	mostColumns = 30
	mostRows    = 100
)

// mark is the state of a failure in a run.
type mark string

// The marks. A run without the failure has none, unless the failure was fixed or not seen.
const (
	markNew    mark = "new"
	markStill  mark = "still"
	markAgain  mark = "again" // it had been fixed
	markFixed  mark = "fixed"
	markFlaky  mark = "flaky"  // it failed and passed on one commit
	markUnseen mark = "unseen" // it failed before, and the run did not get to it
)

// Sign and Text show a mark, so that color is not the only difference.
func (m mark) Sign() string {
	return map[mark]string{markNew: "✕", markStill: "✕", markAgain: "✕", markFixed: "✓", markFlaky: "≈", markUnseen: "?"}[m]
}

// Text is the mark in a word.
func (m mark) Text() string {
	if m == markUnseen {
		return "not seen"
	}
	return string(m)
}

// grid shows which failures appeared and disappeared from run to run.
type grid struct {
	Columns []column
	Rows    []row
	Earlier int // runs that are left out
	More    int // failures that are left out
}

type column struct {
	N     int    // 1 for the first run of the checkpoint
	Entry string // id of its first entry in the time line, "" if that is left out
	Said  routing.Decision

	key      string
	failures []routing.Failure
	parts    map[string]bool
	expected int
	result   routing.Result
	dropped  bool
}

type row struct {
	Failure routing.Failure
	Open    bool // in the newest run
	Cells   []mark

	last int // column in which it was seen last
}

// gridOf makes the grid of a checkpoint's time line.
func gridOf(entries []entry) grid {
	columns := columnsOf(entries)
	rows := map[string]*row{}
	var order []*row
	for i := range columns {
		c := &columns[i]
		here := map[string]routing.Failure{}
		for _, f := range c.failures {
			if id := identity(f); !f.Quarantined {
				f.Flaky = f.Flaky || f.Class == routing.Flaky || here[id].Flaky
				here[id] = f
				if rows[id] == nil {
					rows[id] = &row{}
					order = append(order, rows[id])
				}
			}
		}
		for id, r := range rows {
			f, fails := here[id]
			r.step(i, f, fails, c.whole())
		}
	}
	g := grid{Columns: columns}
	if n := len(columns); n > mostColumns {
		g.Earlier, g.Columns = n-mostColumns, columns[n-mostColumns:]
	}
	slices.SortStableFunc(order, func(a, b *row) int {
		if a.Open != b.Open {
			return cmp.Compare(btoi(b.Open), btoi(a.Open))
		}
		return cmp.Compare(b.last, a.last)
	})
	for _, r := range order {
		switch cells := r.Cells[g.Earlier:]; {
		case !slices.ContainsFunc(cells, func(m mark) bool { return m != "" }): // not in the columns of the page
		case len(g.Rows) == mostRows:
			g.More++
		default:
			r.Cells = cells
			g.Rows = append(g.Rows, *r)
		}
	}
	return g
}

// step adds the mark of the failure in column i.
func (r *row) step(i int, f routing.Failure, fails, whole bool) {
	for len(r.Cells) < i {
		r.Cells = append(r.Cells, "")
	}
	var m mark
	switch known := r.Failure.Name != "" || r.Failure.Fingerprint != ""; {
	case fails && f.Flaky:
		m = markFlaky
	case fails && !known:
		m = markNew
	case fails && r.Open:
		m = markStill
	case fails:
		m = markAgain
	case r.Open && whole:
		m = markFixed
	case r.Open:
		m = markUnseen
	}
	if fails {
		r.Failure, r.last = f, i
	}
	r.Open = fails || m == markUnseen
	r.Cells = append(r.Cells, m)
}

// columnsOf makes one column of each run that counts, whatever its parts and however
// often it was decided anew.
func columnsOf(entries []entry) []column {
	var out []column
	at := map[string]int{}
	for _, e := range entries {
		if e.Run == nil || e.Run.Decision.Repeated || e.Run.Decision.Rule == "stale-commit" || e.Run.Decision.Rule == "stale-run" || e.Run.Verdict.Result.Silent() {
			continue
		}
		v := e.Run.Verdict
		key := v.Run.Key()
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, column{N: i + 1, Entry: e.ID, key: key, parts: map[string]bool{}, expected: max(1, v.Run.Parts)})
		}
		c := &out[i]
		if c.parts[v.Run.Part] { // analyzed again: what was said before no longer holds
			c.failures, c.parts, c.result, c.dropped = nil, map[string]bool{}, "", false
		}
		c.parts[v.Run.Part] = true
		c.failures = append(c.failures, v.Failures...)
		c.dropped = c.dropped || v.Dropped > 0
		if c.result == "" || c.result == routing.Pass {
			c.result = v.Result
		}
		if e.Run.Decision.Kind != routing.KindNone || c.Said.Kind == "" {
			c.Said = e.Run.Decision
		}
	}
	return out
}

// whole reports whether a failure that the run does not have is fixed.
func (c column) whole() bool {
	return c.Said.Kind == routing.KindPass || len(c.parts) >= c.expected && !c.dropped && (c.result == routing.Fail || c.result == routing.Pass)
}

func identity(f routing.Failure) string {
	if f.Fingerprint != "" {
		return f.Fingerprint
	}
	return "\x00" + f.Suite + "\x00" + f.Name
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
