package render

import (
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Nonce names the questions of a record.
func Nonce(r escalation.Record) string {
	return answers.Nonce(r.ID, r.OpenedAt.UTC().Format(time.RFC3339Nano))
}

// Offered returns the boxes that the questions of a record offer. c is the case
// of its host.
func Offered(r escalation.Record, c routing.Case) []answers.Box {
	if !r.Open() {
		return nil
	}
	host := r.Host()
	return answers.Offer(answers.Question{
		Stream: host.Case, Checkpoint: c.Checkpoints[host.Checkpoint], Quarantined: c.Quarantine, Kind: r.Kind, Attempts: host.Gen,
	})
}

// QuestionsSHA is the commit that the questions of a record are bound to.
func QuestionsSHA(r escalation.Record, c routing.Case) string {
	return c.Checkpoints[r.Host().Checkpoint].Last.SHA
}

// QuestionSection returns the part of an escalation issue that asks: what was
// answered so far, and the boxes of the present questions. live is the body as it
// stands: what is ticked there and was not consumed by an answer stays ticked.
func QuestionSection(r escalation.Record, c routing.Case, live string, o Options) markdown.Text {
	l := o.Language
	var parts []md
	if said := answered(r, c, o); said != "" {
		parts = append(parts, "### "+l.Say("ask.answered"), said)
	}
	if boxes := Offered(r, c); len(boxes) > 0 {
		q := questions{boxes: boxes, ticked: Unconsumed(r, live), o: o, grouped: true}
		how := "ask.how"
		if routing.IsRepositoryStream(r.Host().Case) {
			how, q.grouped = "ask.how.plan", false
		}
		parts = append(parts, "### "+l.Say("ask.title"), md(answers.Head(Nonce(r), r.Generation, QuestionsSHA(r, c))),
			l.Say(how, "help", markdown.Code(answers.Prefix+" "+answers.Help), "retry", markdown.Code(answers.Prefix+" retry 2")),
			q.text())
	}
	return markdown.Join(parts, "\n\n")
}

// questions are the boxes of an escalation issue.
type questions struct {
	boxes   []answers.Box
	ticked  []string
	o       Options
	grouped bool // with a heading for each group, and what follows from each box
}

// text lists the boxes by group, the tests that could be quarantined in a fold, and behind them Submit.
func (q questions) text() md {
	l := q.o.Language
	var order []answers.Group
	lines := map[answers.Group][]md{}
	var tests []md
	for _, b := range q.boxes {
		text := boxText(b, q.o)
		group := b.Group
		if !q.grouped {
			group = ""
		} else if then := b.Text + ".then"; l.Has(then) {
			text += " — " + l.Say(then)
		}
		line := md(answers.Line(b.ID, string(text), slices.Contains(q.ticked, b.ID)))
		if !slices.Contains(order, group) {
			order = append(order, group)
		}
		if q.grouped && b.Test != "" {
			tests = append(tests, line)
			continue
		}
		lines[group] = append(lines[group], line)
	}
	var parts []md
	for _, g := range order {
		if g != "" {
			parts = append(parts, "**"+l.Say("ask."+string(g))+"**")
		}
		if len(lines[g]) > 0 {
			parts = append(parts, markdown.Join(lines[g], "\n"))
		}
		if g == answers.NotTheCode && len(tests) > 0 {
			parts = append(parts, "<details>\n<summary>"+l.Say("ask.quarantine")+"</summary>", markdown.Join(tests, "\n"), "</details>")
		}
	}
	submit := md(answers.Line(answers.Submit, string(l.Say("box.submit")), slices.Contains(q.ticked, answers.Submit)))
	if last := len(parts) - 1; parts[last] == "</details>" {
		parts = append(parts, submit)
	} else {
		parts[last] += "\n" + submit // beside the last answers: a list with an empty line in it is shown wide
	}
	return markdown.Join(parts, "\n\n")
}

// Unconsumed returns what a body has ticked that no answer consumed. Of an
// earlier questions of the record only what its answer did not hold counts: it was
// ticked while that answer was carried out.
func Unconsumed(r escalation.Record, live string) []string {
	p, ok := answers.Parse(live)
	if !ok || p.Nonce != Nonce(r) || p.Gen > r.Generation {
		return nil
	}
	out := p.Ticked
	for _, a := range r.Answers {
		if a.Generation >= p.Gen {
			out = slices.DeleteFunc(slices.Clone(out), func(id string) bool { return id == answers.Submit || slices.Contains(a.Boxes, id) })
		}
	}
	return out
}

// mostAnswers is how many of the newest answers the issue shows.
const mostAnswers = 10

func answered(r escalation.Record, c routing.Case, o Options) md {
	all := r.Answers[max(0, len(r.Answers)-mostAnswers):]
	lines := make([]md, len(all))
	for i, a := range all {
		lines[i] = "- " + answerText(a, c, o)
	}
	return markdown.Join(lines, "\n")
}

// answerText says who answered what, when.
func answerText(a escalation.Answered, c routing.Case, o Options) md {
	return o.Language.Say("ask.by", "who", markdown.Code(o.Unmentioned("@"+a.By)), "when", md(a.At.UTC().Format("2006-01-02 15:04 UTC")), "what", boxTexts(a.Boxes, c, o))
}

// boxTexts says what the boxes of ids mean. c is the case whose tests they name.
func boxTexts(ids []string, c routing.Case, o Options) md {
	var out []md
	for _, id := range ids {
		if id != answers.Submit {
			out = append(out, boxText(answers.Recall(id, c), o))
		}
	}
	if len(out) == 0 {
		return "–"
	}
	return markdown.Join(out, "; ")
}

// boxText is the text of a box, which its fields fill.
func boxText(b answers.Box, o Options) md {
	l := o.Language
	if b.Text == "" {
		return markdown.Code(b.ID)
	}
	if b.N > 0 {
		return l.Count(b.Text, b.N)
	}
	test := markdown.Code(b.ID)
	if b.Test != "" {
		test = markdown.Code(o.Redacted(b.Test))
	}
	phase := md("")
	if b.Phase != "" {
		phase = l.Say("phase." + string(b.Phase))
	}
	return l.Say(b.Text, "phase", phase, "test", test)
}

// CommandHelp says in one line what a command does.
func CommandHelp(s answers.Spec, o Options) string { return o.Language.Plain(s.HelpID()) }

// BoxHelp is the text of a kind of box, with {n}, {phase} and {test} as they are.
func BoxHelp(s answers.BoxSpec, o Options) string {
	if many := s.Text + ".many"; o.Language.Has(many) {
		return o.Language.Plain(many)
	}
	return o.Language.Plain(s.Text)
}
