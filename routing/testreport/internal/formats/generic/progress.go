package generic

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// progressFormat recognises a run that shows a character for each test and does
// not come to its totals: pytest -q, unittest, minitest, RSpec, PHPUnit.
var progressFormat = format.Format{
	Name:  "progress",
	Order: 880,
	Wakes: &format.Wake{Dots: true},
	Console: func(out model.Sink, _ model.Limits) format.Console {
		return &progressConsole{out: out}
	},
}

// progressConsole looks at the last words of a step or a log: every runner
// prints totals behind its progress, so that nothing stands behind that of one
// that was killed but, at most, the words of the shell.
type progressConsole struct {
	out model.Sink
	at  int // line of progress that ends what was read so far, 0 for none
}

func (p *progressConsole) Idle() bool { return p.at == 0 }

func (p *progressConsole) Line(l lines.Line) bool {
	switch {
	case l.Mark != "" || lines.StepOver(l):
		p.End()
	case l.Text == "":
	case p.at > 0 && len(l.Text) < 300 && killed(l.Text):
	default:
		p.at = 0
		if onlyProgress(l.Text) {
			p.at = l.No
		}
	}
	return false
}

// End says that the run never ended.
func (p *progressConsole) End() {
	if p.at > 0 {
		p.out.Problem(failtext.CutOff("test run", "a run of tests shows its progress and ends before its totals", p.at))
	}
	p.at = 0
}

// onlyProgress recognises at least three results of tests, most of which
// passed, and what a shell says behind them of the end of the process.
func onlyProgress(t string) bool {
	dots, n := 0, 0
	for n < len(t) && strings.IndexByte(".FEsxXSIPRW*", t[n]) >= 0 {
		if t[n] == '.' {
			dots++
		}
		n++
	}
	if n < 3 || 2*dots < n {
		return false
	}
	rest := strings.TrimSpace(t[n:])
	return rest == "" || len(rest) < 300 && killed(rest) || strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "%]")
}

// killed recognises how a shell says that a process was ended by a signal.
func killed(t string) bool {
	for _, w := range [...]string{"Killed", "Terminated", "Segmentation fault", "Aborted", "Hangup", "Alarm clock"} {
		if t == w || strings.HasPrefix(t, w+" ") || strings.Contains(t, " "+w+" ") || strings.HasSuffix(t, " "+w) || strings.Contains(t, " "+w+":") {
			return true
		}
	}
	return false
}
