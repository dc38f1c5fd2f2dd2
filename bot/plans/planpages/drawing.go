package planpages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/web"
)

// drawing is the graph of a plan: its levels from left to right.
type drawing struct {
	Width, Height int
	Boxes         []box
	Lines         []line
	Left          int // ports beyond the limit, which are not drawn
}

type box struct {
	portRow
	X, Y, Width, Height int
	Bar                 int    // width of what is done
	Label               string // cut to what fits
}

type line struct {
	Path     string
	Critical bool
}

const (
	boxWidth  = 168
	boxHeight = 46
	gapX      = 56
	gapY      = 14
	mostDrawn = 400
	labelRuns = 20 // runes that fit
)

// draw places ports that come in the order of their levels. Within a level a port is near the
// middle of those that it depends on, which keeps most lines apart.
func draw(ports []portRow) drawing {
	var d drawing
	if len(ports) > mostDrawn {
		d.Left = len(ports) - mostDrawn
		ports = ports[:mostDrawn]
	}
	var levels [][]portRow
	for _, p := range ports {
		for len(levels) <= p.Level {
			levels = append(levels, nil)
		}
		levels[p.Level] = append(levels[p.Level], p)
	}
	row := map[string]float64{}
	at := map[string]box{}
	for l, list := range levels {
		slices.SortStableFunc(list, func(a, b portRow) int {
			x, y := middle(a, row), middle(b, row)
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		for i, p := range list {
			row[p.ID] = float64(i) - float64(len(list)-1)/2
			b := box{portRow: p, X: l * (boxWidth + gapX), Y: i * (boxHeight + gapY), Width: boxWidth, Height: boxHeight,
				Bar: int(p.Progress * boxWidth), Label: cut(web.OneLine(p.ID))}
			at[p.ID] = b
			d.Width, d.Height = max(d.Width, b.X+boxWidth), max(d.Height, b.Y+boxHeight)
		}
	}
	for _, list := range levels { // centred
		top := (d.Height - (len(list)*(boxHeight+gapY) - gapY)) / 2
		for _, p := range list {
			b := at[p.ID]
			b.Y += top
			at[p.ID] = b
			d.Boxes = append(d.Boxes, b)
		}
	}
	for _, b := range d.Boxes {
		for _, n := range b.Needs {
			if from, ok := at[n]; ok {
				d.Lines = append(d.Lines, line{curve(from, b), from.Critical && b.Critical})
			}
		}
	}
	return d
}

// middle is the mean row of what a port depends on.
func middle(p portRow, row map[string]float64) float64 {
	if len(p.Needs) == 0 {
		return 0
	}
	sum := 0.0
	for _, n := range p.Needs {
		sum += row[n]
	}
	return sum / float64(len(p.Needs))
}

func curve(a, b box) string {
	x1, y1, x2, y2 := a.X+a.Width, a.Y+a.Height/2, b.X, b.Y+b.Height/2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+gapX/2, y1, x2-gapX/2, y2, x2, y2)
}

func cut(s string) string {
	r := []rune(s)
	if len(r) <= labelRuns {
		return s
	}
	return strings.TrimRight(string(r[:labelRuns-1]), "-_./ ") + "…"
}
