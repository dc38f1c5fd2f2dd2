package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Terminal makes text of a run safe for a terminal, on one line.
func Terminal(s string) string { return markdown.Line(s, 200) }

// Screen is what a text is written to.
type Screen struct {
	Columns int  // of a terminal, 0 for a file or a pipe: nothing is cut
	Color   bool // it takes colours
}

// paint returns s in a colour of the terminal.
func (s Screen) paint(color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

const (
	bold  = "1"
	red   = "31"
	green = "32"
	dim   = "2"
)

// briefRows is how many failures a terminal is shown.
const briefRows = 10

// Brief returns what failed in a run and what comes next, as a person reads it in a terminal. d is the
// decision on the run, which c has recorded. It ends in a newline.
func Brief(c routing.Case, checkpoint string, d routing.Decision, o Options, at Screen) string {
	v := newSummaryView(c, checkpoint, d, o)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", at.paint(bold, plain(v.summaryHead())))
	if d.Repeated {
		fmt.Fprintf(&b, "%s\n", v.lang.Plain("brief.repeated"))
	}
	switch named := len(v.turn.Verdict.Failures) > 0; {
	case named && d.Kind.Escalates():
		fmt.Fprintf(&b, "%s\n", v.lang.Plain("why."+string(d.Kind)))
	case !named && v.turn.Reason != "" || d.Kind == routing.KindNone:
		fmt.Fprintf(&b, "%s\n", plain(reasonText(v.lang, v.turn.Reason)))
	}
	if d.Kind != routing.KindPass {
		v.briefFailures(&b, at)
	}
	if since := v.since(3); since != "" && d.Kind != routing.KindPass {
		fmt.Fprintf(&b, "%s\n", plain(since))
	}
	color := red
	if d.Kind == routing.KindPass {
		color = green
	}
	fmt.Fprintf(&b, "%s %s\n", at.paint(color, v.lang.Plain("sum.next")+":"), plain(v.next(d)))
	return b.String()
}

// briefFailures writes a line for each of the first failures: its name, its place and what it says.
func (v summaryView) briefFailures(b *strings.Builder, at Screen) {
	l := failureList{view: v.view}
	fs := decisiveFirst(v.turn.Verdict.Failures)
	rows := fs[:min(len(fs), briefRows)]
	if len(rows) == 0 {
		return
	}
	var names, places []string
	width, wide := 0, 0
	for _, f := range rows {
		name, place := Terminal(escalation.Name(f)), Terminal(escalation.Where(f))
		if at.Columns > 0 {
			name, place = truncate.MiddleRunes(name, max(16, at.Columns/3)), truncate.MiddleRunes(place, max(16, at.Columns/4))
		}
		names, places = append(names, name), append(places, place)
		width, wide = max(width, utf8.RuneCountInString(name)), max(wide, utf8.RuneCountInString(place))
	}
	b.WriteByte('\n')
	for i, f := range rows {
		line := fmt.Sprintf("%-*s  %-*s  ", width, names[i], wide, places[i])
		said := plain(l.line(f))
		if at.Columns > 0 {
			said = truncate.Runes(said, max(10, at.Columns-4-utf8.RuneCountInString(line)), truncate.Ellipsis)
		}
		fmt.Fprintf(b, "  %s %s%s\n", at.paint(red, "✗"), line, at.paint(dim, said))
	}
	if n := escalation.FailedCount(v.turn.Verdict) - len(rows); n > 0 {
		fmt.Fprintf(b, "  %s\n", v.lang.Plain("list.more", "n", n))
	}
	b.WriteByte('\n')
}

// linked is a link of our own posts, which shows its text.
var linked = lazyregexp.New(`\[([^\[\]]*)\]\(https?://[^()\s]*\)`)

// plain is Markdown of ours as a terminal shows it.
func plain(t md) string {
	s := linked.ReplaceAllString(string(t), "$1")
	return markdown.Printable(strings.NewReplacer("**", "", "`", "", `\#`, "#").Replace(s))
}

// Text returns what a terminal says of a decision about slug, the name of the
// case or checkpoint. It ends in a newline.
func Text(slug string, d routing.Decision, o Options) string {
	name := fmt.Sprintf("\"%s\"", strings.ReplaceAll(Terminal(o.Redacted(slug)), `"`, `'`))
	reason := Terminal(o.Redacted(d.Reason))
	var lines []string
	switch {
	case d.Repeated:
		lines = []string{fmt.Sprintf("· %s: this run was decided before (%s)", name, d.Kind)}
	case d.Kind == routing.KindRetry && d.Again:
		lines = []string{fmt.Sprintf("⟳ Still reworking %s (iteration %d/%d, target: %s)", name, d.Iteration, d.Max, d.Phase), "  → " + reason}
	case d.Kind == routing.KindRetry:
		lines = reworking(name, d)
	case d.Kind == routing.KindRerun:
		lines = []string{fmt.Sprintf("↻ %s: %s", name, reason)}
	case d.Kind == routing.KindIncident:
		lines = []string{fmt.Sprintf("⏸ %s is on hold: %s", name, reason)}
	case d.Kind == routing.KindPreExisting:
		lines = []string{fmt.Sprintf("· %s: nothing new: %s", name, reason)}
	case d.Kind == routing.KindInteraction, d.Kind == routing.KindGroupFailed:
		lines = []string{fmt.Sprintf("✘ %s fails in its merge group: %s", name, reason)}
	case d.Kind == routing.KindSuspect:
		lines = []string{fmt.Sprintf("⚠ %s is green, and is not trusted: a person has to accept it", name), "   " + reason}
	case d.Kind == routing.KindPass:
		lines = passing(name, d)
	case d.Kind == routing.KindMaxRetry && d.Budget == "":
		lines = []string{fmt.Sprintf("🛑 Story %s reached max refinement attempts (%d/%d)", name, d.Iteration, d.Max), "   " + afterMax(d)}
	case d.Kind.Escalates():
		lines = []string{fmt.Sprintf("🛑 %s needs a person: %s (%d/%d)", name, d.Kind, d.Iteration, d.Max), "   " + reason, "   Manual intervention required"}
	case d.Held, d.Verdict.Result == routing.Awaiting:
		lines = []string{fmt.Sprintf("⏸ %s waits: %s", name, reason)}
	default:
		lines = []string{fmt.Sprintf("· %s: nothing to do: %s", name, reason)}
	}
	return strings.Join(lines, "\n") + "\n"
}

func reworking(name string, d routing.Decision) []string {
	lines := []string{
		fmt.Sprintf("⟳ Reworking %s (iteration %d/%d, target: %s)", name, d.Iteration, d.Max, d.Phase),
		fmt.Sprintf("  → Recorded refinement attempt %d", d.Iteration),
		fmt.Sprintf("  → Added refinement iteration %d notes to story", d.Iteration),
		fmt.Sprintf("  → Reset %s_complete flag for rework", d.Phase),
	}
	if d.Manual {
		return append(lines, "  ↳ Waiting for a command before the hand-off")
	}
	return append(lines, fmt.Sprintf("  ↳ Triggering %s agent for refinement...", d.Phase))
}

func passing(name string, d routing.Decision) []string {
	head := fmt.Sprintf("✔ %s passed", name)
	if d.Iteration > 0 {
		head += fmt.Sprintf(" after %d rework(s)", d.Iteration)
	}
	lines := []string{head}
	for _, r := range d.Ready {
		lines = append(lines, fmt.Sprintf("  → %q may start now", Terminal(r)))
	}
	if d.Complete {
		lines = append(lines, "  → Every checkpoint has passed")
	}
	return lines
}

func afterMax(d routing.Decision) string {
	if d.OnMax == routing.OnMaxSkip {
		return "Skipped; the others continue"
	}
	return "Manual intervention required"
}

// Details returns a case as a person reads it in a terminal: where each
// checkpoint stands, its count of reworks, its turns and what is pending.
func Details(c routing.Case, o Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", Terminal(o.Redacted(c.Key)))
	fmt.Fprintf(&b, "  events: %d", c.Version)
	if !c.Updated.IsZero() {
		fmt.Fprintf(&b, ", opened %s, updated %s", c.Opened.UTC().Format("2006-01-02 15:04"), c.Updated.UTC().Format("2006-01-02 15:04"))
	}
	if c.Complete {
		b.WriteString(", complete")
	}
	b.WriteByte('\n')
	for _, n := range c.Names() {
		detailsOf(&b, c, n, o)
	}
	if len(c.Pending) > 0 {
		fmt.Fprintf(&b, "\npending effects: %d\n", len(c.Pending))
		for _, e := range c.Pending {
			fmt.Fprintf(&b, "  %s %s\n", e.Kind, Terminal(o.Redacted(e.Key)))
		}
	}
	return b.String()
}

func detailsOf(b *strings.Builder, c routing.Case, name string, o Options) {
	cp := c.Checkpoints[name]
	state := string(cp.State)
	for _, s := range []struct {
		on   bool
		word string
	}{{cp.Paused, "paused"}, {cp.Skipped, "skipped"}, {cp.Waiting, "waits for a command"}, {len(cp.Held) > 0, "a run is held"}} {
		if s.on {
			state += ", " + s.word
		}
	}
	m := c.Metrics(name)
	fmt.Fprintf(b, "\n%s: %s\n", Terminal(o.Redacted(name)), state)
	fmt.Fprintf(b, "  refinement count: %s\n", refinements(cp))
	fmt.Fprintf(b, "  total time: %s, feedback: %s\n", m.TotalTime, m.FeedbackQuality)
	if cp.LastError != "" {
		fmt.Fprintf(b, "  last error: %s\n", Terminal(o.Redacted(cp.LastError)))
	}
	for i, t := range cp.Attempts {
		fmt.Fprintf(b, "  %d. %s  %-18s", i+1, stamp(t), t.Kind)
		if t.Kind != routing.KindPass {
			fmt.Fprintf(b, " %-15s %d failing", orElse(string(t.Verdict.Class), string(t.Verdict.Result)), escalation.FailedCount(t.Verdict))
		}
		if t.Verdict.Run.SHA != "" {
			fmt.Fprintf(b, "  %s", Terminal(short(t.Verdict.Run.SHA)))
		}
		b.WriteByte('\n')
		fs := decisiveFirst(t.Verdict.Failures)
		for _, f := range fs[:min(len(fs), 5)] {
			fmt.Fprintf(b, "       ✗ %s", Terminal(o.Redacted(escalation.Name(f))))
			if w := escalation.Where(f); w != "" {
				fmt.Fprintf(b, "  %s", Terminal(o.Redacted(w)))
			}
			b.WriteByte('\n')
		}
		if n := len(fs) + t.Verdict.Dropped - 5; n > 0 {
			fmt.Fprintf(b, "       and %d more\n", n)
		}
	}
}

// refinements is the count of reworks of those allowed, as far as they are set.
func refinements(cp routing.Checkpoint) string {
	if !cp.Limited {
		return fmt.Sprint(cp.Retries)
	}
	return fmt.Sprintf("%d/%d", cp.Retries, routing.Limit(cp, routing.Policy{}))
}
