package generic

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// batsFormat reads the pretty formatter of bats; its other one is TAP.
var batsFormat = format.Format{
	Name:  "bats",
	Order: 710,
	Wakes: &format.Wake{Ends: "s"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &batsConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// batsConsole holds tests back until the totals prove whose they are.
type batsConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	at    int
	file  string
	head  bool // a line that names a file of bats
	ran   int
	tests []*failtext.Failure
	cur   *failtext.Failure
}

var (
	batsTotals = lazyregexp.New(`^(\d+) tests?, (\d+) failures?(?:, (\d+) skipped)?(?:, (\d+) timed out)?(?:, (\d+) not run)?(?: in \d+(?:\.\d+)? (?:ms|sec\w*))?$`)
	batsPlace  = lazyregexp.New(`in (?:test )?file (\S+), line (\d+)`)
	batsTime   = lazyregexp.New(` \[(?:\d*|timeout: \d+s?)\]$`)
)

func (b *batsConsole) Idle() bool {
	return !b.head && b.cur == nil
}

func (b *batsConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			b.End()
		}
		return false
	}
	b.at = l.No
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		return false
	}
	switch {
	case t[0] == ' ':
		return b.test(t)
	case t[0] >= '0' && t[0] <= '9' && b.head && strings.Contains(t, " failure"):
		if m := batsTotals.FindStringSubmatch(t); m != nil {
			b.totals(m)
			return true
		}
	case strings.HasSuffix(t, ".bats") && !strings.ContainsAny(t, " :"):
		b.file, b.head, b.cur = strings.Clone(t), true, nil
		return true
	}
	b.cur = nil
	return false
}

func (b *batsConsole) test(t string) bool {
	if !b.head {
		return false
	}
	if name, ok := strings.CutPrefix(t, " ✓ "); ok && name != "" {
		b.cur = nil
		b.ran++
		return true
	}
	if name, ok := strings.CutPrefix(t, " ✗ "); ok && name != "" {
		b.ran++
		f := failtext.NewFailure(model.Test{Suite: b.file, Name: batsTime.ReplaceAllString(name, ""), Status: model.Failed, Kind: model.KindAssertion, At: b.at}, failtext.Shrunk(b.lim, len(b.tests)))
		if name == "setup_file failed" || name == "teardown_file failed" {
			f.Test.Kind = model.KindSetup
		}
		b.cur = f
		if len(b.tests) < 5*b.lim.Failing {
			b.tests = append(b.tests, f)
		}
		return true
	}
	if b.cur != nil && strings.HasPrefix(t, "   ") {
		b.cur.Text.Add(t[3:])
		return true
	}
	b.cur = nil
	return strings.HasPrefix(t, " - ")
}

func (b *batsConsole) totals(m []string) {
	n, _, _ := parse.LeadingInt(m[1])
	failed, _, _ := parse.LeadingInt(m[2])
	skipped, _, _ := parse.LeadingInt(m[3])
	slow, _, _ := parse.LeadingInt(m[4])
	notRun, _, _ := parse.LeadingInt(m[5])
	failed += slow
	named := b.emit()
	b.anon.Emit(b.out, n-max(failed, named)-skipped-notRun, model.Test{Status: model.Passed, At: b.at})
	b.anon.Emit(b.out, skipped, model.Test{Status: model.Skipped, At: b.at})
	if failed > named {
		failtext.Unnamed(b.out, "bats", failed, named, b.at)
	}
	if notRun > 0 {
		b.out.Problem(model.Problem{Kind: model.KindPackage, Name: "bats", At: b.at, Message: fmt.Sprintf("%d test(s) did not run", notRun)})
	}
	b.head = false
}

func (b *batsConsole) emit() int {
	for _, f := range b.tests {
		text := strings.TrimSpace(f.Text.String())
		f.Test.Trace = text
		for _, line := range strings.Split(text, "\n") {
			if m := batsPlace.FindStringSubmatch(line); m != nil && f.Test.Line == 0 {
				f.Test.File = m[1]
				f.Test.Line, _, _ = parse.LeadingInt(m[2])
			} else if s := strings.TrimSpace(line); strings.HasPrefix(s, "`") && f.Test.Message == "" {
				f.Test.Message = s
			}
		}
		f.Test.Message = parse.FirstOf(f.Test.Message, parse.FirstLine(text))
		if strings.Contains(f.Test.Message, "failed due to timeout") || strings.Contains(text, "timeout after ") {
			f.Test.Kind = model.KindTimeout
		}
		b.out.Test(f.Test)
	}
	n := len(b.tests)
	b.tests, b.cur, b.ran = nil, nil, 0
	return n
}

func (b *batsConsole) End() {
	if b.head && b.ran > 0 {
		b.emit()
		b.out.Problem(model.Problem{Kind: model.KindTruncated, At: b.at, Message: "the output of bats ends before its totals"})
	}
	b.head, b.tests, b.cur, b.ran = false, nil, nil, 0
}
