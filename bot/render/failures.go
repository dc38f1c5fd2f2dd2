package render

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/truncate"
)

//go:embed templates/*.md.tmpl
var files embed.FS

var pages = page.New(files, "templates/*.md.tmpl")

// content is what the templates of a checkpoint print; each uses a part of it.
type content struct {
	failures
	Head, What, State, Ask, Since md
	Excused, Acts, Base           md
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
	Table       table // what is to be fixed
	Others      table // what is flaky or stands on the base
	OthersTitle md
	OtherCauses []cause // of those that are flaky
	Environment md      // says which of them look like the environment, where that did not decide

	Causes []cause // each in a fold of its own
	More   []cause // in one fold
	Names  []failureName
	Rest   int // causes of which only the names are shown

	cutNames, cutExcerpts, cutTraces int
	cutText                          bool
}

// table lists failures, a row for each test, or where there are too many one for each cause.
type table struct {
	Rows   []failureRow
	States bool // the rows say what they are against earlier runs and the base
	More   int  // failures beyond the rows
}

// failureRow is one failure in a line.
type failureRow struct{ State, Test, Said md }

// cause is what failed at one line or in one way, in full.
type cause struct {
	N               int
	Name            md // Markdown
	Summary         md // of its fold
	Facts           md
	Do              md
	Said, SaidBlock md // a sentence, or a block
	Diff, Log       md
	Code            *excerpt
	SameCode        int // the cause that shows the code, 0 for none
	Flaky           bool
	Why             *why
	Same            md // the other tests that fail by it
}

type excerpt struct{ Place, Commit, Block md }

// why is the line that decided a class.
type why struct {
	Class, Said md
	Line        int
}

type failureName struct {
	Name, Class, Place md
	Same               int
}

// detail says how much of each kind is shown. The ladder of details goes from
// all that is useful to what must not be missing.
type detail struct {
	table      int // rows of failures
	open       int // causes in full, each in a fold of its own
	full       int // causes in full
	excerpts   int // of them with code
	traces     int // of them with log lines
	text       int // bytes of one text
	lines      int // lines of one block
	names      int // further failures by name
	packet     int // failures in the packet
	packetText int // bytes of one text in the packet
	rows       int // of the history

	packetBytes int // of the packet, 0 for any number
}

// packetSize is how many bytes the packet of a comment has at most: what is beyond can be read elsewhere.
const packetSize = 10_000

var ladder = []detail{
	{8, 5, 10, 10, 10, 2000, 20, 100, 50, 1500, 12, packetSize},
	{8, 5, 10, 3, 10, 1500, 15, 100, 50, 800, 12, packetSize},
	{8, 5, 10, 3, 3, 1500, 15, 100, 50, 500, 12, packetSize},
	{8, 4, 8, 2, 2, 1000, 12, 100, 40, 400, 12, packetSize},
	{8, 4, 5, 1, 1, 800, 12, 60, 25, 300, 10, packetSize},
	{6, 3, 3, 1, 1, 600, 10, 40, 15, 200, 6, 5000},
	{5, 2, 2, 1, 1, 500, 8, 20, 8, 200, 4, 3000},
	{3, 1, 1, 0, 0, 300, 5, 10, 3, 100, 3, 2000},
	{1, 1, 1, 0, 0, 150, 3, 0, 0, 60, 2, 2000},
}

// someRows is how many failures have a row each; of more there is a row for each cause.
const someRows = 10

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
	excerpts map[string]int // file:line → number of the cause that shows it
}

func newFailures(v view, d detail) failures {
	l := failureList{view: v, d: d, excerpts: map[string]int{}}
	fresh, flaky := flakyLast(causesOf(v.turn.Verdict.Failures))
	l.tables(fresh, flaky)
	all := append(slices.Clone(fresh), flaky...)
	full := all[:min(d.full, len(all))]
	for i, g := range full {
		switch c := l.cause(i, g); {
		case i >= len(fresh):
			l.out.OtherCauses = append(l.out.OtherCauses, c)
		case i < d.open:
			l.out.Causes = append(l.out.Causes, c)
		default:
			l.out.More = append(l.out.More, c)
		}
	}
	l.rest(all[len(full):])
	return l.out
}

// newTables is newFailures with the tables alone, of up to n rows.
func newTables(v view, n int) failures {
	l := failureList{view: v, d: detail{table: n, names: n}}
	l.tables(flakyLast(causesOf(v.turn.Verdict.Failures)))
	return l.out
}

// flakyLast separates the causes of which every test is flaky from the others. Where all are flaky they
// count like others.
func flakyLast(gs []group) (fresh, flaky []group) {
	for _, g := range gs {
		if slices.ContainsFunc(g.all(), func(f routing.Failure) bool { return f.Standing != history.StandingFlaky }) {
			fresh = append(fresh, g)
		} else {
			flaky = append(flaky, g)
		}
	}
	if len(fresh) == 0 {
		return flaky, nil
	}
	return fresh, flaky
}

// tables lists the failures in lines: what is to be fixed, and in a table of its own what is flaky or
// stands on the base.
func (l *failureList) tables(fresh, flaky []group) {
	l.out.Table = l.table(fresh, l.d.table)
	l.out.Table.More += unlisted(l.turn.Verdict)
	old := l.old
	l.out.Others = l.table(append(slices.Clone(flaky), causesOf(old)...), max(l.d.names, 3))
	var parts []md
	if n := members(flaky); n > 0 {
		parts = append(parts, l.lang.Say("fold.flaky", "n", n))
	}
	if len(old) > 0 {
		parts = append(parts, l.lang.Say("base.also", "n", len(old), "base", baseView{l.view}.html()))
	}
	l.out.OthersTitle = markdown.Join(parts, " · ")
	var env []string
	for _, f := range l.turn.Verdict.Failures {
		if f.Class == routing.EnvIssue {
			env = append(env, escalation.Name(f))
		}
	}
	if all := len(l.turn.Verdict.Failures); len(env) > 0 && len(env) < all {
		l.out.Environment = l.lang.Count("fail.environment", len(env), "of", all, "names", l.names(env, 3))
	}
}

// unlisted is how many failures that count are on record without their texts, or not at all.
func unlisted(v routing.Verdict) int {
	n := v.Unlisted()
	for _, c := range v.Cut {
		if !c.PreExisting && !c.Quarantined {
			n++
		}
	}
	return n
}

func members(gs []group) int {
	n := 0
	for _, g := range gs {
		n += 1 + len(g.others)
	}
	return n
}

// table lists causes in at most n rows, or their failures where those are few.
func (l *failureList) table(gs []group, n int) table {
	all := members(gs)
	if all <= someRows && n == ladder[0].table {
		n = someRows
	}
	var t table
	if all <= n {
		for _, g := range gs {
			for _, f := range g.all() {
				t.add(l.row(f, 0))
			}
		}
		return t
	}
	t.More = all
	for _, g := range gs[:min(n, len(gs))] {
		t.add(l.row(g.Failure, len(g.others)))
		t.More -= 1 + len(g.others)
	}
	return t
}

func (t *table) add(r failureRow) {
	t.Rows = append(t.Rows, r)
	t.States = t.States || r.State != ""
}

// Bytes of the texts of a row: with longer ones the rows of a table get many lines high.
const (
	rowName  = 44
	rowPlace = 44
	rowSaid  = 80
	rowSide  = 40
)

func (l *failureList) row(f routing.Failure, more int) failureRow {
	name := markdown.Code(truncate.Middle(markdown.Line(escalation.Name(f), 300), rowName, truncate.Ellipsis))
	if more > 0 {
		name += " " + l.lang.Say("list.more", "n", more)
	}
	if w := escalation.Where(f); w != "" {
		w = truncate.Tail(w, rowPlace, truncate.Ellipsis)
		name += "<br>" + markdown.Link(markdown.Code(w), l.o.blob(l.repo(), l.turn.Verdict.Run.SHA, f.File, f.Line))
	}
	return failureRow{State: l.state(f), Test: name, Said: l.line(f)}
}

// line is what a failure says in one line.
func (l *failureList) line(f routing.Failure) md {
	if isShort(f.Expected) && isShort(f.Actual) {
		return l.lang.Say("what.first.both", "expected", markdown.Code(f.Expected), "actual", markdown.Code(f.Actual))
	}
	msg, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n")
	if strings.TrimSpace(msg) == "" || markdown.Line(msg, nameLimit) == markdown.Line(escalation.Name(f), nameLimit) {
		return l.lang.Say("class." + valid(f.Class))
	}
	return markdown.ProseLimit(msg, rowSaid)
}

func isShort(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && len(s) <= rowSide && !strings.Contains(s, "\n")
}

// state says what a failure is against earlier runs and the base, "" where nothing is known.
func (l *failureList) state(f routing.Failure) md {
	name := escalation.Name(f)
	switch {
	case f.Standing == history.StandingFlaky:
		return "🎲\u00a0" + l.lang.Say("state.flaky")
	case f.Standing == history.StandingPreExisting:
		return "⚪\u00a0" + l.lang.Say("state.base")
	case !l.delta.known && f.Standing == history.StandingNew:
		return "🆕\u00a0" + l.lang.Say("list.new")
	case !l.delta.known:
		return ""
	case slices.Contains(l.delta.fresh, name):
		return "🆕\u00a0" + l.lang.Say("list.new")
	case l.delta.differs[name]:
		return "🔁\u00a0" + l.lang.Say("list.differs")
	case slices.Contains(l.delta.still, name):
		return "🔁\u00a0" + l.lang.Say("state.still")
	}
	return "❔\u00a0" + l.lang.Say("list.unsure")
}

// rest lists the causes that are not shown in full.
func (l *failureList) rest(gs []group) {
	l.out.Rest = len(gs)
	for _, g := range gs[:min(l.d.names, len(gs))] {
		l.out.Names = append(l.out.Names, failureName{Name: markdown.Code(escalation.Name(g.Failure)), Class: l.class(g.Class), Place: l.place(g.Failure), Same: len(g.others)})
	}
	l.out.cutNames = max(0, len(gs)-l.d.names)
}

// cause shows cause i.
func (l *failureList) cause(i int, g group) cause {
	d, f := l.d, g.Failure
	c := cause{N: i + 1, Name: l.title(g, func(s string) md { return markdown.Code(s) }), Facts: l.facts(g), Flaky: f.Flaky || f.Standing == history.StandingFlaky || f.Class == routing.Flaky, Why: l.why(f)}
	c.Summary = l.title(g, markdown.HTMLCode)
	if f.Suggestion != "" && f.Certain {
		c.Do = markdown.ProseLimit(inLanguage(l.lang, f.Suggestion), d.text)
	}
	sides := f.Expected != "" || f.Actual != ""
	if sides {
		c.Diff = l.diff(f.Expected, f.Actual)
	}
	trace := f.Trace
	if i >= d.traces && trace != "" {
		trace = ""
		l.out.cutTraces++
	}
	if msg := strings.TrimSpace(f.Message); msg != "" && !repeats(f, msg) && !strings.Contains(trace, msg) {
		c.Said, c.SaidBlock = l.said(msg, sides)
	}
	if trace = withoutSides(f, trace); strings.TrimSpace(trace) != "" {
		c.Log = markdown.Fence("text", markdown.WrapLines(markdown.CutMiddle(trace, d.text*2), d.lines, 300))
	}
	if x := f.Excerpt; x != nil && len(x.Lines) > 0 {
		at := fmt.Sprintf("%s:%d", x.File, x.Mark)
		switch first, shown := l.excerpts[at]; {
		case shown: // the same lines again would say nothing new
			c.SameCode = first
		case i < d.excerpts:
			c.Code = l.excerpt(*x)
			l.excerpts[at] = c.N
		default:
			l.out.cutExcerpts++
		}
	}
	l.out.cutText = l.out.cutText || len(f.Message) > d.text || len(f.Trace) > 2*d.text || len(f.Expected) > d.text || len(f.Actual) > d.text
	if n := len(g.others); n > 0 {
		names := make([]string, n)
		for i, o := range g.others {
			names[i] = escalation.Name(o)
		}
		c.Same = l.lang.Count("fail.same", n) + " " + l.names(names, 12)
	}
	return c
}

// inLanguage settles the particles of a suggestion, which is written in the language.
func inLanguage(l Language, text string) string {
	if l == Korean {
		return catalog.Particles(text)
	}
	return text
}

// title names a cause and its tests.
func (l *failureList) title(g group, show func(string) md) md {
	name := escalation.Name(g.Failure)
	if len(g.others) == 0 {
		return show(name)
	}
	if base := baseName(g); base != "" {
		return l.lang.Say("cause.cases", "name", show(base), "n", 1+len(g.others))
	}
	return l.lang.Say("cause.and", "name", show(name), "n", len(g.others))
}

// baseName is what the names of a group's tests have in front of their parameters, "" if they are not
// cases of one test.
func baseName(g group) string {
	base := beforeParameters(g.Failure.Name)
	for _, f := range g.others {
		if base == "" || beforeParameters(f.Name) != base || f.Suite != g.Suite {
			return ""
		}
	}
	return base
}

// beforeParameters is the name of a parametrized test or of the parent of a subtest, "" for another.
func beforeParameters(name string) string {
	if i := strings.IndexAny(name, "[("); i > 0 {
		return strings.TrimSpace(name[:i])
	}
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		return name[:i]
	}
	return ""
}

// nameLimit is how many bytes of a message and a name are compared.
const nameLimit = 300

// repeats reports whether a message says no more than the name of the failure, or than its two sides.
func repeats(f routing.Failure, msg string) bool {
	return markdown.Line(msg, nameLimit) == markdown.Line(escalation.Name(f), nameLimit) || holdsSides(f, msg)
}

// holdsSides reports whether a line says what the diff of a failure shows.
func holdsSides(f routing.Failure, line string) bool {
	e, a := strings.TrimSpace(f.Expected), strings.TrimSpace(f.Actual)
	return e != "" && a != "" && e != a && !strings.Contains(strings.TrimSpace(line), "\n") && strings.Contains(line, e) && strings.Contains(line, a)
}

// withoutSides drops the lines of a trace that repeat the diff, and all of a trace of which nothing is
// left then but the place.
func withoutSides(f routing.Failure, trace string) string {
	var kept []string
	dropped, speaks := false, false
	for line := range strings.Lines(trace) {
		line = strings.TrimRight(line, "\n")
		if holdsSides(f, line) && !strings.HasPrefix(line, ">") {
			dropped = true
			continue
		}
		kept = append(kept, line)
		speaks = speaks || strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimSpace(line), orElse(f.File, "\x00")+":")
	}
	switch {
	case !dropped:
		return trace
	case !speaks:
		return ""
	}
	return strings.Join(kept, "\n")
}

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

func (l *failureList) facts(g group) md {
	f := g.Failure
	parts := []md{"**" + l.class(f.Class) + "**"}
	if f.Was != "" {
		parts = append(parts, l.lang.Say("fail.was", "class", l.class(f.Was)))
	}
	if pl := l.place(f); pl != "" {
		parts = append(parts, pl)
	}
	if f.Suite != "" && f.Suite != f.File {
		parts = append(parts, markdown.Code(f.Suite))
	}
	if state := l.state(f); state != "" && len(g.others) == 0 {
		parts = append(parts, state)
	}
	if f.BaseMessage != "" {
		parts = append(parts, l.lang.Say("base.differs", "base", baseView{l.view}.name(), "message", markdown.Code(markdown.Cut(f.BaseMessage, 160))))
	}
	return markdown.Join(parts, " · ")
}

// why shows the line that decided the class, unless what is shown of the failure holds it.
func (l *failureList) why(f routing.Failure) *why {
	shown := markdown.Line(f.Message+" "+f.Trace, 1<<20)
	message := markdown.Line(f.Message, 1<<20)
	for _, e := range f.Evidence {
		text := markdown.Line(e.Text, 1<<20)
		if text == "" {
			continue
		}
		w := &why{Class: l.class(f.Class), Line: max(0, e.Line)}
		if !strings.Contains(shown, text) && !holdsSides(f, text) && (message == "" || !strings.Contains(text, message)) {
			w.Said = markdown.Code(markdown.Cut(e.Text, min(200, l.d.text)))
		}
		if w.Said == "" && w.Line == 0 {
			return nil
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
