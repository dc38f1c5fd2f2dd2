package testreport

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// batsFormat reads the pretty formatter of bats; its other one is TAP.
var batsFormat = format{
	name:    "bats",
	order:   710,
	wakes:   &wake{ends: "s"},
	console: func(out Sink, lim Limits) console { return &batsConsole{out: out, lim: lim, anon: newAnonymous()} },
}

// batsConsole holds tests back until the totals prove whose they are.
type batsConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	at    int
	file  string
	head  bool // a line that names a file of bats
	ran   int
	tests []*failure
	cur   *failure
}

var (
	batsTotals = multimatch.New(`^(\d+) tests?, (\d+) failures?(?:, (\d+) skipped)?(?:, (\d+) not run)?$`)
	batsPlace  = multimatch.New(`in (?:test )?file (\S+), line (\d+)`)
	batsTime   = multimatch.New(` \[\d+\]$`)
)

func (b *batsConsole) idle() bool {
	return !b.head && b.cur == nil
}

func (b *batsConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			b.end()
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
		f := newFailure(Test{Suite: b.file, Name: batsTime.ReplaceAllString(name, ""), Status: Failed, Kind: KindAssertion, At: b.at}, shrunk(b.lim, len(b.tests)))
		if name == "setup_file failed" || name == "teardown_file failed" {
			f.t.Kind = KindSetup
		}
		b.cur = f
		if len(b.tests) < 5*b.lim.Failing {
			b.tests = append(b.tests, f)
		}
		return true
	}
	if b.cur != nil && strings.HasPrefix(t, "   ") {
		b.cur.text.add(t[3:])
		return true
	}
	b.cur = nil
	return strings.HasPrefix(t, " - ")
}

func (b *batsConsole) totals(m []string) {
	n, _, _ := leadingInt(m[1])
	failed, _, _ := leadingInt(m[2])
	skipped, _, _ := leadingInt(m[3])
	named := b.emit()
	b.anon.emit(b.out, n-max(failed, named)-skipped, Test{Status: Passed, At: b.at})
	b.anon.emit(b.out, skipped, Test{Status: Skipped, At: b.at})
	if failed > named {
		b.out.Problem(Problem{Kind: KindPackage, Name: "bats", At: b.at, Message: fmt.Sprintf("%d failing test(s) stated, %d named", failed, named)})
	}
	if notRun, _, _ := leadingInt(m[4]); notRun > 0 {
		b.out.Problem(Problem{Kind: KindPackage, Name: "bats", At: b.at, Message: fmt.Sprintf("%d test(s) did not run", notRun)})
	}
	b.head = false
}

func (b *batsConsole) emit() int {
	for _, f := range b.tests {
		text := strings.TrimSpace(f.text.String())
		f.t.Trace = text
		for _, line := range strings.Split(text, "\n") {
			if m := batsPlace.FindStringSubmatch(line); m != nil && f.t.Line == 0 {
				f.t.File = m[1]
				f.t.Line, _, _ = leadingInt(m[2])
			} else if s := strings.TrimSpace(line); strings.HasPrefix(s, "`") && f.t.Message == "" {
				f.t.Message = s
			}
		}
		f.t.Message = firstOf(f.t.Message, firstLine(text))
		if strings.Contains(f.t.Message, "failed due to timeout") || strings.Contains(text, "timeout after ") {
			f.t.Kind = KindTimeout
		}
		b.out.Test(f.t)
	}
	n := len(b.tests)
	b.tests, b.cur, b.ran = nil, nil, 0
	return n
}

func (b *batsConsole) end() {
	if b.head && b.ran > 0 {
		b.emit()
		b.out.Problem(Problem{Kind: KindTruncated, At: b.at, Message: "the output of bats ends before its totals"})
	}
	b.head, b.tests, b.cur, b.ran = false, nil, nil, 0
}
