package reader

import (
	"strconv"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// picky claims the lines that are its text.
type picky struct {
	text   string
	sleeps bool
	out    model.Sink
	seen   *[]string
}

func (p picky) Line(l lines.Line) bool {
	*p.seen = append(*p.seen, p.text)
	if l.Text == p.text {
		p.out.Test(model.Test{Name: l.Text, Status: model.Passed, At: l.No})
	}
	return l.Text == p.text
}

func (p picky) End() {}

func (p picky) Idle() bool { return p.sleeps }

// TestGateOfManyConsoles has more consoles than a word has bits: each is found,
// in its order, up to the one that claims the line.
func TestGateOfManyConsoles(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 128, 200} {
		for _, sleeps := range []bool{false, true} {
			var seen []string
			var formats []*format.Format
			for i := range n {
				f := &format.Format{Name: "f" + strconv.Itoa(i), Console: func(out model.Sink, _ model.Limits) format.Console {
					return picky{strconv.Itoa(i), sleeps, out, &seen}
				}}
				if sleeps {
					f.Wakes = &format.Wake{Ends: strconv.Itoa(i % 10)}
				}
				formats = append(formats, f)
			}
			last := strconv.Itoa(n - 1)
			c := model.NewCollector(model.Limits{})
			lr := newLogReader(lines.NewInput(strings.NewReader("0\nno\n"+last+"\n")), c, model.DefaultLimits(), nil, noJSON)
			lr.consoles.use(formats)
			info, err := lr.read()
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Finish(info); got.Counts.Passed != 2 || info.Formats[len(info.Formats)-1] != "f"+last {
				t.Errorf("%d consoles, sleeping %v: %d passed, formats %v", n, sleeps, got.Counts.Passed, info.Formats)
			}
			if want := 1 + 2*n; !sleeps && len(seen) != want {
				t.Errorf("%d consoles: %d calls, want %d", n, len(seen), want)
			}
		}
	}
}
