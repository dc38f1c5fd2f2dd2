package web

import (
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
)

// chart shows the decisions of each day as bars and as a table.
type chart struct {
	Days                []chartDay
	Bars                []bar
	Ticks               []tick
	Width, Height       int
	Left, Right, Bottom int
	Total               int
}

// chartDay counts the decisions of a day.
type chartDay struct {
	Day                          time.Time // its beginning, UTC
	Passed, Handed, Called, Else int
}

// Sum is the number of decisions.
func (d chartDay) Sum() int { return d.Passed + d.Handed + d.Called + d.Else }

// bar is the bar of a day; its parts are stacked from the bottom.
type bar struct {
	Day              time.Time
	X, Middle, Width int
	Top, Sum         int
	Parts            []part
}

type part struct {
	Kind, Text string
	Y, Height  int
	N          int
}

// tick is a horizontal line of the scale.
type tick struct{ Y, N int }

// The size of the drawing, in SVG user units.
const (
	chartWidth, chartHeight = 720, 240
	chartLeft, chartRight   = 48, 712
	chartTop, chartBottom   = 20, 210
)

// chartOf draws the days from one to another, both included.
func chartOf(list []eventstream.Outcome, from, to time.Time) chart {
	c := chart{Width: chartWidth, Height: chartHeight, Left: chartLeft, Right: chartRight, Bottom: chartBottom}
	const whole = 24 * time.Hour
	at := map[int64]int{}
	for day := from.UTC().Truncate(whole); !day.After(to); day = day.Add(whole) {
		at[day.Unix()] = len(c.Days)
		c.Days = append(c.Days, chartDay{Day: day})
	}
	for _, o := range list {
		i, shown := at[o.Day.Unix()]
		if !shown {
			continue
		}
		d := &c.Days[i]
		switch {
		case o.Decision == routing.KindPass:
			d.Passed += o.N
		case o.Decision == routing.KindRetry:
			d.Handed += o.N
		case o.Decision.Escalates():
			d.Called += o.N
		default:
			d.Else += o.N
		}
	}
	most := 0
	for _, d := range c.Days {
		most = max(most, d.Sum())
		c.Total += d.Sum()
	}
	c.draw(most)
	return c
}

func (c *chart) draw(most int) {
	each := stride(most)
	top := max(each, (most+each-1)/each*each)
	height := func(n int) int { return n * (chartBottom - chartTop) / top }
	for n := 0; n <= top; n += each {
		c.Ticks = append(c.Ticks, tick{chartBottom - height(n), n})
	}
	wide := (chartRight - chartLeft) / max(1, len(c.Days))
	for i, d := range c.Days {
		b := bar{Day: d.Day, X: chartLeft + i*wide + wide/6, Width: wide * 2 / 3, Middle: chartLeft + i*wide + wide/2, Sum: d.Sum(), Top: chartBottom}
		sum := 0
		for _, p := range []part{{Kind: "passed", Text: "passed", N: d.Passed}, {Kind: "handed", Text: "returned for a fix", N: d.Handed},
			{Kind: "called", Text: "escalated", N: d.Called}, {Kind: "else", Text: "recorded only", N: d.Else}} {
			if p.N == 0 {
				continue
			}
			low := chartBottom - height(sum)
			sum += p.N
			p.Y = chartBottom - height(sum)
			p.Height = low - p.Y
			b.Top = p.Y
			b.Parts = append(b.Parts, p)
		}
		c.Bars = append(c.Bars, b)
	}
}

// stride returns the distance of the lines of the scale, of which there are at most five.
func stride(most int) int {
	for each := 1; ; each *= 10 {
		for _, k := range []int{1, 2, 5} {
			if most <= 5*k*each {
				return k * each
			}
		}
	}
}
