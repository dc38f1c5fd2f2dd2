package render

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/history"
)

//go:embed templates/*.md.tmpl
var files embed.FS

var pages = page.New(files, "templates/*.md.tmpl")

// content is what the templates of a checkpoint print; each uses a part of it.
type content struct {
	failures
	Head, What, State, Ask, Since md
	Excused, Acts, Base, OldNames md
	Doubts, Listed                md // of a green run
	History                       []historyRow
	Earlier                       int // turns in a folded history
	Notes, Link, Packet, Marker   md

	cutPacket int
}

// md is Markdown that is safe to post.
type md = markdown.Text

// failures is what the templates print of the failures of a turn, with what was left out.
type failures struct {
	Open, Folded []failure
	Names        []failureName
	Rest         int // failures that are not shown in full

	cutNames, cutExcerpts, cutTraces int
	cutText                          bool
}

// failure is one failure in full.
type failure struct {
	N               int
	Name, Facts     md
	Do              md
	Said, SaidBlock md // a sentence, or a block
	Diff, Log       md
	Code            *excerpt
	SameCode        int // the failure that shows the code, 0 for none
	Flaky           bool
	Why             *why
	Same            *same
}

type excerpt struct{ Place, Commit, Block md }

// why is the line that decided a class.
type why struct {
	Class, Said, Signal md
	Line                int
}

// same are failures that share a fingerprint with another.
type same struct {
	N     int
	Names md
}

type failureName struct {
	Name, Class, Place md
	Same               int
}

// detail says how much of each kind is shown. The ladder of details goes from
// all that is useful to what must not be missing.
type detail struct {
	open       int // failures in full, unfolded
	full       int // failures in full
	excerpts   int // of them with code
	traces     int // of them with log lines
	text       int // bytes of one text
	lines      int // lines of one block
	names      int // further failures by name
	packet     int // failures in the packet
	packetText int // bytes of one text in the packet
	rows       int // of a table
}

var ladder = []detail{
	{3, 10, 10, 10, 2000, 20, 100, 50, 1500, 12},
	{3, 10, 3, 10, 1500, 15, 100, 50, 800, 12},
	{3, 10, 3, 3, 1500, 15, 100, 50, 500, 12},
	{3, 8, 2, 2, 1000, 12, 100, 40, 400, 12},
	{3, 5, 1, 1, 800, 12, 60, 25, 300, 10},
	{2, 3, 1, 1, 600, 10, 40, 15, 200, 6},
	{1, 1, 1, 1, 500, 8, 20, 8, 200, 4},
	{1, 1, 0, 0, 300, 5, 10, 3, 100, 3},
	{1, 1, 0, 0, 150, 3, 0, 0, 60, 2},
}

// fit renders with less and less detail until the result is at most limit
// bytes; last is what is left when nothing fits.
func fit(limit int, at func(d detail) markdown.Text, last func() markdown.Text) markdown.Text {
	for _, d := range ladder {
		if s := at(d); len(s) <= limit {
			return s
		}
	}
	return last()
}

// failureList builds the failures of a view's turn in a detail.
type failureList struct {
	view
	d        detail
	out      failures
	excerpts map[string]int // file:line → number of the failure that shows it
}

func newFailures(v view, d detail) failures {
	l := failureList{view: v, d: d, excerpts: map[string]int{}}
	gs, fresh := flakyLast(groups(v.turn.Verdict.Failures))
	full := gs[:min(d.full, len(gs))]
	for i, g := range full {
		f := l.failure(i, g)
		if i < min(d.open, fresh) {
			l.out.Open = append(l.out.Open, f)
		} else {
			l.out.Folded = append(l.out.Folded, f)
		}
	}
	l.rest(gs[len(full):])
	return l.out
}

// flakyLast puts failures of tests that are flaky behind the others, and counts the others. Where all
// are flaky they count like others.
func flakyLast(gs []group) (ordered []group, fresh int) {
	var flaky []group
	for _, g := range gs {
		if g.Standing == history.StandingFlaky {
			flaky = append(flaky, g)
		} else {
			ordered = append(ordered, g)
		}
	}
	if fresh = len(ordered); fresh == 0 {
		fresh = len(flaky)
	}
	return append(ordered, flaky...), fresh
}

// rest lists the failures that are not shown in full.
func (l *failureList) rest(gs []group) {
	l.out.Rest = len(gs)
	for _, g := range gs[:min(l.d.names, len(gs))] {
		l.out.Names = append(l.out.Names, failureName{Name: markdown.Code(escalation.Name(g.Failure)), Class: l.class(g.Class), Place: l.place(g.Failure), Same: len(g.same)})
	}
	l.out.cutNames = max(0, len(gs)-l.d.names)
}

// failure shows failure i.
func (l *failureList) failure(i int, g group) failure {
	d := l.d
	it := failure{N: i + 1, Name: markdown.Code(escalation.Name(g.Failure)), Facts: l.facts(g.Failure), Flaky: g.Flaky || g.Standing == history.StandingFlaky || g.Class == routing.Flaky, Why: l.why(g.Failure)}
	if g.Suggestion != "" {
		it.Do = markdown.ProseLimit(g.Suggestion, d.text)
	}
	sides := g.Expected != "" || g.Actual != ""
	if sides {
		it.Diff = l.diff(g.Expected, g.Actual)
	}
	trace := g.Trace
	if i >= d.traces && trace != "" {
		trace = ""
		l.out.cutTraces++
	}
	if msg := strings.TrimSpace(g.Message); msg != "" && markdown.Line(msg, nameLimit) != markdown.Line(escalation.Name(g.Failure), nameLimit) && !strings.Contains(trace, msg) {
		it.Said, it.SaidBlock = l.said(msg, sides)
	}
	if strings.TrimSpace(trace) != "" {
		it.Log = markdown.Fence("text", markdown.WrapLines(markdown.CutMiddle(trace, d.text*2), d.lines, 300))
	}
	if x := g.Excerpt; x != nil && len(x.Lines) > 0 {
		at := fmt.Sprintf("%s:%d", x.File, x.Mark)
		switch first, shown := l.excerpts[at]; {
		case shown: // the same lines again would say nothing new
			it.SameCode = first
		case i < d.excerpts:
			it.Code = l.excerpt(*x)
			l.excerpts[at] = it.N
		default:
			l.out.cutExcerpts++
		}
	}
	l.out.cutText = l.out.cutText || len(g.Message) > d.text || len(g.Trace) > 2*d.text || len(g.Expected) > d.text || len(g.Actual) > d.text
	if n := len(g.same); n > 0 {
		it.Same = &same{n, l.names(g.same, 8)}
	}
	return it
}

// nameLimit is how many bytes of a message and a name are compared.
const nameLimit = 300

// said shows a message: one line as a sentence, several as a block.
func (l *failureList) said(msg string, sides bool) (sentence, block md) {
	if !strings.Contains(msg, "\n") && len(msg) <= 200 {
		return markdown.Prose(msg), ""
	}
	n := l.d.lines
	if sides {
		n = min(n, 6)
	}
	return "", markdown.Fence("text", markdown.WrapLines(markdown.CutMiddle(msg, l.d.text), n, 300))
}

func (l *failureList) facts(f routing.Failure) md {
	parts := []md{l.class(f.Class)}
	if f.Was != "" {
		parts = append(parts, l.lang.Say("fail.was", "class", md(valid(f.Was))))
	}
	if pl := l.place(f); pl != "" {
		parts = append(parts, pl)
	}
	if f.Suite != "" && f.Suite != f.File {
		parts = append(parts, markdown.Code(f.Suite))
	}
	if l.delta.known {
		name := escalation.Name(f)
		switch {
		case slices.Contains(l.delta.fresh, name):
			parts = append(parts, "🆕 "+l.lang.Say("list.new"))
		case l.delta.differs[name]:
			parts = append(parts, "🔁 "+l.lang.Say("list.differs"))
		case slices.Contains(l.delta.still, name):
			parts = append(parts, "🔁 "+l.lang.Say("list.still"))
		}
	}
	if f.BaseMessage != "" {
		parts = append(parts, l.lang.Say("base.differs", "base", baseView{l.view}.name(), "message", markdown.Code(markdown.Cut(f.BaseMessage, 160))))
	}
	return markdown.Join(parts, " · ")
}

// why shows the line that decided the class.
func (l *failureList) why(f routing.Failure) *why {
	for _, e := range f.Evidence {
		if strings.TrimSpace(e.Text) == "" {
			continue
		}
		w := &why{Class: markdown.Code(valid(f.Class)), Said: markdown.Code(markdown.Cut(e.Text, min(200, l.d.text))), Line: max(0, e.Line)}
		if e.Signal != "" {
			w.Signal = markdown.Code(markdown.Cut(e.Signal, 80))
		}
		return w
	}
	return nil
}

// excerpt shows code with line numbers, the failing line marked.
func (l *failureList) excerpt(x routing.Excerpt) *excerpt {
	d := l.d
	first, last := 0, len(x.Lines)
	if at := x.Mark - x.Start; last > d.lines && at >= 0 && at < last {
		first = max(0, min(at-d.lines/2, last-d.lines))
		last = first + d.lines
	}
	last = min(last, first+d.lines)
	var b strings.Builder
	width := len(fmt.Sprint(x.Start + last))
	for i := first; i < last; i++ {
		mark := "  "
		if x.Start+i == x.Mark {
			mark = "> "
		}
		text := markdown.Cut(strings.TrimRight(strings.ReplaceAll(line1(x.Lines[i]), "\t", "    "), " "), 200)
		fmt.Fprintf(&b, "%s%*d | %s\n", mark, width, x.Start+i, text)
	}
	f := routing.Failure{File: x.File, Line: x.Mark}
	return &excerpt{Place: l.place(f), Commit: l.sha(l.turn.Verdict.Run.SHA), Block: markdown.Fence("text", b.String())}
}

// line1 makes sure that a line of code is one line.
func line1(s string) string { return strings.ReplaceAll(markdown.Clean(s), "\n", " ") }

// diff shows what was expected and what came as a small diff: lines on both sides once, the others
// marked.
func (l *failureList) diff(expected, actual string) md {
	head := "--- " + l.lang.Plain("fail.expected") + "\n+++ " + l.lang.Plain("fail.actual") + "\n"
	lines := lineDiff(l.side(expected), l.side(actual))
	if most := 2 * l.d.lines; len(lines) > most {
		lines = append(slices.Clone(lines[:most]), "…")
	}
	return markdown.Fence("diff", head+strings.Join(lines, "\n"))
}

func (l *failureList) side(s string) []string {
	return strings.Split(markdown.WrapLines(markdown.CutMiddle(s, l.d.text), 3*l.d.lines, 300), "\n")
}

// lineDiff returns a and b as lines that begin with " ", "-" or "+", by their
// longest common subsequence. Both are short: see side.
func lineDiff(a, b []string) []string {
	lcs := make([][]int, len(a)+1)
	for i := range lcs {
		lcs[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lcs[i][j] = lcs[i+1][j+1] + 1
			} else {
				lcs[i][j] = max(lcs[i+1][j], lcs[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || lcs[i+1][j] >= lcs[i][j+1]):
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}
