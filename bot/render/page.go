package render

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

//go:embed templates/*.md.tmpl
var files embed.FS

// pages holds the templates of one language each.
var pages = map[Language]*template.Template{English: parsePages(English), Korean: parsePages(Korean)}

func parsePages(l Language) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"say": func(id string) string { return l.say(id) },
		// para is a paragraph, nothing if there is nothing to say.
		"para": paragraph,
	}).ParseFS(files, "templates/*.md.tmpl"))
}

// page is what the templates print: Markdown that is safe already.
type page struct {
	Head, What, State, Ask, Since            string
	Excused, Acts                            string
	Open, Folded                             []item
	FoldedTitle, Names, NamesTitle           string
	History, HistoryTitle                    string
	Notes, Link, Packet, PacketTitle, Marker string
	Basic, Pattern, Causes, Failing, Closes  string
	Design, Environment, Manual              string
	Facts, Suggestions, Earlier              string
	Held, Prompt                             string
	Counts, Decision                         string
	cutFull, cutNames, cutPacket             int
	cutExcerpts, cutTraces                   int
	cutText                                  bool
	excerpts                                 map[string]int // file:line → number of the failure that shows it
}

// item is one failure in full.
type item struct {
	N                                                 int
	Name, Facts, Do, Said, Diff, Code, Log, Why, Same string
	Flaky                                             string
}

func (p page) print(l Language, name string) string {
	t, ok := pages[l]
	if !ok {
		t = pages[English]
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, p); err != nil {
		return fmt.Sprintf("%s\n\n%s", p.Head, p.Marker) // unreachable: every field that a template names exists
	}
	return strings.TrimRight(b.String(), "\n")
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
func fit(limit int, at func(d detail) string, last func() string) string {
	for _, d := range ladder {
		if s := at(d); len(s) <= limit {
			return s
		}
	}
	return last()
}

// failures fills in the failures of the view's turn in detail d.
func (v view) failures(p *page, d detail) {
	gs := groups(v.turn.Verdict.Failures)
	full := gs[:min(d.full, len(gs))]
	for i, g := range full {
		it := v.item(p, i, g, d)
		if i < d.open {
			p.Open = append(p.Open, it)
		} else {
			p.Folded = append(p.Folded, it)
		}
	}
	if n := len(p.Folded); n > 0 {
		p.FoldedTitle = v.lang.count("more", n)
	}
	v.rest(p, gs[len(full):], d)
}

// rest lists the failures that are not shown in full.
func (v view) rest(p *page, gs []group, d detail) {
	if len(gs) == 0 {
		return
	}
	var b strings.Builder
	for i, g := range gs {
		if i == d.names {
			break
		}
		fmt.Fprintf(&b, "- %s · %s", code(escalation.Name(g.Failure)), v.class(g.Class))
		if pl := v.place(g.Failure); pl != "" {
			b.WriteString(" · " + pl)
		}
		if n := len(g.same); n > 0 {
			b.WriteString(" · +" + fmt.Sprint(n))
		}
		b.WriteByte('\n')
	}
	p.Names = strings.TrimRight(b.String(), "\n")
	p.NamesTitle = v.lang.count("rest", len(gs))
	p.cutFull = len(gs)
	p.cutNames = max(0, len(gs)-d.names)
}

// item shows failure i in detail d.
func (v view) item(p *page, i int, g group, d detail) item {
	it := item{N: i + 1, Name: code(escalation.Name(g.Failure)), Facts: v.facts(g.Failure)}
	if g.Suggestion != "" {
		it.Do = "**" + v.lang.say("fail.do") + "** " + proseLimit(g.Suggestion, d.text)
	}
	sides := g.Expected != "" || g.Actual != ""
	if sides {
		it.Diff = v.diff(g.Expected, g.Actual, d)
	}
	trace := g.Trace
	if i >= d.traces && trace != "" {
		trace = ""
		p.cutTraces++
	}
	if msg := strings.TrimSpace(g.Message); msg != "" && line(msg, inlineLimit) != line(escalation.Name(g.Failure), inlineLimit) && !strings.Contains(trace, msg) {
		it.Said = v.said(msg, sides, d)
	}
	if strings.TrimSpace(trace) != "" {
		it.Log = v.lang.say("fail.log") + "\n\n" + fence("text", wrapLines(cutMiddle(trace, d.text*2), d.lines, 300))
	}
	if x := g.Excerpt; x != nil && len(x.Lines) > 0 {
		at := fmt.Sprintf("%s:%d", x.File, x.Mark)
		switch first, shown := p.excerpts[at]; {
		case shown: // the same lines again would say nothing new
			it.Code = v.lang.say("fail.samecode", "n", first)
		case i < d.excerpts:
			it.Code = v.excerpt(*x, d)
			if p.excerpts == nil {
				p.excerpts = map[string]int{}
			}
			p.excerpts[at] = it.N
		default:
			p.cutExcerpts++
		}
	}
	p.cutText = p.cutText || len(g.Message) > d.text || len(g.Trace) > 2*d.text || len(g.Expected) > d.text || len(g.Actual) > d.text
	it.Why = v.why(g.Failure, d)
	if g.Flaky || g.Class == routing.Flaky {
		it.Flaky = v.lang.say("fail.flaky")
	}
	if n := len(g.same); n > 0 {
		it.Same = v.lang.count("fail.same", n) + " " + v.names(g.same, 8)
	}
	return it
}

// said shows a message: one line as a sentence, several as a block.
func (v view) said(msg string, sides bool, d detail) string {
	label := v.lang.say("fail.said")
	if !strings.Contains(msg, "\n") && len(msg) <= 200 {
		return label + " " + prose(msg)
	}
	n := d.lines
	if sides {
		n = min(n, 6)
	}
	return label + "\n\n" + fence("text", wrapLines(cutMiddle(msg, d.text), n, 300))
}

func (v view) facts(f routing.Failure) string {
	parts := []string{v.class(f.Class)}
	if f.Was != "" {
		parts = append(parts, v.lang.say("fail.was", "class", v.class1(f.Was)))
	}
	if pl := v.place(f); pl != "" {
		parts = append(parts, pl)
	}
	if f.Suite != "" && f.Suite != f.File {
		parts = append(parts, code(f.Suite))
	}
	if v.delta.known {
		name := escalation.Name(f)
		switch {
		case contains(v.delta.fresh, name):
			parts = append(parts, "🆕 "+v.lang.say("list.new"))
		case v.delta.differs[name]:
			parts = append(parts, "🔁 "+v.lang.say("list.differs"))
		case contains(v.delta.still, name):
			parts = append(parts, "🔁 "+v.lang.say("list.still"))
		}
	}
	return strings.Join(parts, " · ")
}

func contains(ss []string, s string) bool {
	for _, t := range ss {
		if s == t {
			return true
		}
	}
	return false
}

// class1 is the id of a class.
func (v view) class1(c routing.Class) string {
	if !c.Valid() {
		c = routing.Unknown
	}
	return string(c)
}

// class returns a class as its word and its id.
func (v view) class(c routing.Class) string {
	if !c.Valid() {
		c = routing.Unknown
	}
	return "**" + v.lang.say("class."+string(c)) + "** (`" + string(c) + "`)"
}

// why shows the line that decided the class.
func (v view) why(f routing.Failure, d detail) string {
	for _, e := range f.Evidence {
		if strings.TrimSpace(e.Text) == "" {
			continue
		}
		s := v.lang.say("fail.why", "class", "`"+string(f.Class)+"`") + " " + code(cut(e.Text, min(200, d.text)))
		if e.Line > 0 {
			s += ", " + v.lang.say("fail.line", "n", e.Line)
		}
		if e.Signal != "" {
			s += " (" + code(cut(e.Signal, 80)) + ")"
		}
		return s
	}
	return ""
}

// names lists up to n names as code.
func (v view) names(names []string, n int) string {
	var out []string
	for i, s := range names {
		if i == n {
			out = append(out, v.lang.say("list.more", "n", len(names)-n))
			break
		}
		out = append(out, code(cut(s, 160)))
	}
	return strings.Join(out, ", ")
}

// excerpt shows code with line numbers, the failing line marked.
func (v view) excerpt(x routing.Excerpt, d detail) string {
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
		text := cut(strings.TrimRight(strings.ReplaceAll(line1(x.Lines[i]), "\t", "    "), " "), 200)
		fmt.Fprintf(&b, "%s%*d | %s\n", mark, width, x.Start+i, text)
	}
	f := routing.Failure{File: x.File, Line: x.Mark}
	return v.lang.say("fail.code", "file", v.place(f), "sha", v.sha(v.turn.Verdict.Run.SHA)) + "\n\n" + fence("text", b.String())
}

// line1 makes sure that a line of code is one line.
func line1(s string) string { return strings.ReplaceAll(clean(s), "\n", " ") }

// history is the table of turns, newest last, at most n of them.
func (v view) history(turns []routing.Turn, n int) string {
	if len(turns) == 0 {
		return ""
	}
	first := max(0, len(turns)-n)
	var b strings.Builder
	b.WriteString(v.row("col.turn", "col.result", "col.class", "col.failed", "col.first", "col.commit", "col.time"))
	b.WriteString("|---:|---|---|---:|---|---|---|\n")
	for i, t := range turns[first:] {
		b.WriteString(v.turnRow(first+i+1, t))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (v view) row(ids ...string) string {
	cells := make([]string, len(ids))
	for i, id := range ids {
		cells[i] = v.lang.say(id)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func (v view) turnRow(n int, t routing.Turn) string {
	number := link(fmt.Sprint(n), v.o.address(t.Verdict.Run.URL))
	cls, first, failed := "–", "–", "0"
	if t.Kind != routing.KindPass {
		c := t.Verdict.Class
		if t.Verdict.Result == routing.TimedOut {
			c = routing.Timeout
		}
		if !c.Valid() {
			c = routing.Unknown
		}
		cls = "`" + string(c) + "`"
		failed = fmt.Sprint(escalation.FailedCount(t.Verdict))
		if fs := decisiveFirst(t.Verdict.Failures); len(fs) > 0 {
			first = code(cut(escalation.Name(fs[0]), 80))
		}
	}
	kind := v.lang.say("kind." + string(t.Kind))
	if t.Undone {
		kind = v.lang.say("turn.undone", "kind", kind)
	}
	cells := []string{number, kind, cls, failed, first, v.sha(t.Verdict.Run.SHA), stamp(t)}
	for i := range cells {
		cells[i] = cell(cells[i])
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func stamp(t routing.Turn) string {
	if t.At.IsZero() {
		return "–"
	}
	return t.At.UTC().Format("2006-01-02 15:04")
}
