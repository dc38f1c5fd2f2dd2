package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// CommentKey is the key of the sticky comment of a checkpoint.
func CommentKey(caseKey, checkpoint string) string { return caseKey + "/" + checkpoint + "/comment" }

// Comment returns the body of the sticky comment of a checkpoint: who reads it
// can act without opening the log. It is at most o.Limit bytes of Markdown, in
// which nothing that came from a run mentions, links, loads or closes anything;
// its last line is the marker. What a merge group came to stands before it.
func Comment(c routing.Case, checkpoint string, o Options) markdown.Text {
	mark := md(marker.Format(CommentKey(c.Key, checkpoint), c.Generation))
	v := commentView{look(c, checkpoint, o)}
	g, grouped := c.Groups[checkpoint]
	if !grouped {
		return sectionText(v, o.MaxBytes(), mark)
	}
	all := []caseSection{{commentView{lookAtGroup(c, g, o)}}}
	if v.has {
		all = append(all, caseSection{v})
	}
	return markdown.Join(append(shareOut(o.MaxBytes()-len(mark)-len(between), all), mark), between)
}

// cutPage is what is left of a page of which not even the first failure fits.
type cutPage struct{ Head, Questions, Marker md }

// commentView says what happened at a checkpoint and who does what next.
type commentView struct{ view }

func (v commentView) comment(d detail) content {
	p := content{Head: v.head(), State: v.state(), Excused: v.excusedText(), Acts: v.acts()}
	switch {
	case !v.has:
		p.What = v.lang.Say("none.empty")
		if len(v.cp.Held) > 0 {
			p.What, p.State = v.lang.Say("none.held"), ""
		}
		return p
	case v.turn.Verdict.Group != nil && v.turn.Kind != routing.KindPass:
		groupView(v).fill(&p, d)
		return p
	case v.turn.Kind == routing.KindPass:
		p.What = markdown.Sentences(v.passed(), v.fixed(12), flakyOf(v.view).named(12))
		p.Doubts, p.Listed = greenView(v).doubts(), greenView(v).listed()
		if v.cp.Approval {
			p.What = markdown.Sentences(p.What, v.approval())
		}
		if len(v.story) > 1 {
			p.History = v.history(v.story, d.rows)
		}
	case v.turn.Kind == routing.KindRerun:
		p.What, p.Ask = outcomeView(v).what(), v.lang.Say("rerun.ask.transient")
		if names := v.turn.Flaky; flakyOf(v.view).commit() {
			p.Ask = v.lang.Say("flaky.ask", "quarantine", markdown.Code(escalation.DefaultCommand+" quarantine TEST"))
		} else if len(names) > 0 {
			p.Ask = v.lang.Say("rerun.ask", "names", v.names(names, 10))
		}
		v.failed(&p, d)
	case v.turn.Kind == routing.KindIncident:
		p.What, p.Ask = outcomeView(v).what(), incidentView(v).ask()
		v.failed(&p, d)
	case v.turn.Kind == routing.KindPreExisting:
		p.What = baseView(v).text()
		p.Ask = v.lang.Say("base.ask", "base", baseView(v).name())
		if sha := v.turn.BaseFixed; sha != "" {
			p.Ask = v.lang.Say("base.fixed", "base", baseView(v).name(), "sha", v.sha(sha))
		}
		v.failed(&p, d)
	case v.turn.Kind == routing.KindSuspect:
		p.What = markdown.Sentences(v.passed(), v.fixed(12))
		p.Doubts, p.Listed, p.Ask = greenView(v).doubts(), greenView(v).listed(), v.ask()
		v.earlier(&p, d)
	case v.turn.Kind == routing.KindRetry:
		p.What = outcomeView(v).without() // the headline counts
		p.Base, p.Ask = baseView(v).text(), v.ask()
		v.failed(&p, d)
	default:
		p.What = outcomeView(v).what()
		p.Base, p.Ask = baseView(v).text(), v.ask()
		v.failed(&p, d)
	}
	v.foot(&p, d)
	return p
}

// failed lists what failed, and the runs before.
func (v commentView) failed(p *content, d detail) {
	p.Since = v.since(3)
	p.failures = newFailures(v.view, d)
	v.earlier(p, d)
}

// earlier lists the runs before in a fold.
func (v commentView) earlier(p *content, d detail) {
	p.Earlier = len(v.story) - 1
	p.History = v.history(v.story[:p.Earlier], d.rows)
}

// foot adds the link, the packet and what was left out.
func (v commentView) foot(p *content, d detail) {
	p.Link = v.runLink()
	if v.turn.Kind != routing.KindPass {
		p.Link = markdown.Join(slices.DeleteFunc([]md{v.sha(v.turn.Verdict.Run.SHA), p.Link}, func(l md) bool { return l == "" }), " · ")
	}
	js, omitted := packWithin(v.view, d.packet, d.packetText, d.packetBytes)
	p.cutPacket = omitted
	p.Packet = markdown.Fence("json", string(js))
	p.Notes = v.notes(*p)
}

func (v commentView) head() md {
	cp := markdown.Prose(v.name)
	switch {
	case !v.has:
		return v.lang.Say("head.none", "cp", cp)
	case v.turn.Verdict.Group != nil:
		return groupView(v).head(cp)
	case v.turn.Kind == routing.KindPass && v.turn.Iteration == 0:
		return v.lang.Say("head.pass", "cp", cp)
	case v.turn.Kind == routing.KindPass && v.turn.Iteration == 1:
		return v.lang.Say("head.pass.one", "cp", cp)
	case v.turn.Kind == routing.KindPass:
		return v.lang.Say("head.pass.n", "cp", cp, "n", v.turn.Iteration)
	case flakyOf(v.view).commit():
		return v.lang.Say("head.flaky", "cp", cp, "sha", v.sha(v.turn.Verdict.Run.SHA))
	case v.turn.Kind == routing.KindRerun:
		return v.lang.Say("head.rerun", "cp", cp)
	case v.turn.Kind == routing.KindIncident:
		return v.lang.Say("head.incident", "cp", cp, "incident", incidentView(v).link())
	case v.turn.Kind == routing.KindPreExisting:
		return v.lang.Say("head.base", "cp", cp, "base", baseView(v).name())
	case v.turn.Kind == routing.KindSuspect:
		return v.lang.Say("head.suspect", "cp", cp)
	case v.turn.Kind.Escalates():
		return v.lang.Say("head.stop", "cp", cp, "kind", v.stopped(v.turn.Kind))
	}
	return v.lang.Say("head.retry", "cp", cp, "what", outcomeView(v).counted(), "n", v.turn.Iteration, "max", v.max)
}

// stopped is the kind of an escalation in words.
func (v commentView) stopped(kind routing.Kind) md {
	if !kind.Escalates() {
		return v.lang.Say("kind." + string(kind))
	}
	return v.lang.Say("stopped." + string(kind))
}

// ask says who does what next.
func (v commentView) ask() md {
	var parts []md
	mention := md(v.o.Mentions())
	switch {
	case v.turn.Kind.Escalates() && resumed(v.view):
		return v.lang.Say("stop.attempts", "n", v.turn.Iteration, "max", v.max)
	case v.turn.Kind.Escalates():
		return v.stop(mention)
	case v.cp.Approval:
		if mention != "" {
			parts = append(parts, v.lang.Say("ask.mention", "mention", mention))
		}
		parts = append(parts, v.approval())
	case v.cp.Waiting:
		parts = append(parts, v.lang.Say("ask.wait", "handoff", v.command("handoff")))
	case mention != "":
		parts = append(parts, v.lang.Say("ask.mention", "mention", mention))
	case handoffView(v).holds():
		parts = append(parts, handoffView(v).text())
	default:
		parts = append(parts, v.lang.Say("ask.anyone"))
	}
	if v.turn.Phase != "" && v.turn.Phase != routing.Implement {
		parts = append(parts, v.lang.Say("ask.target", "phase", v.phase()))
	}
	if v.o.HandoffNote != "" {
		parts = append(parts, markdown.Sentence(markdown.Prose(v.o.Redacted(v.o.HandoffNote))))
	}
	return markdown.Join(parts, " ")
}

func (v commentView) phase() md {
	for _, p := range routing.Phases() {
		if p == v.turn.Phase {
			return v.lang.Say("phase." + string(p))
		}
	}
	return markdown.Code(string(v.turn.Phase))
}

// stop says why it stopped, where the report is and who has to act.
func (v commentView) stop(mention md) md {
	issue := v.lang.Say("stop.noissue")
	if u := v.o.Address(v.o.IssueURL); u != "" {
		issue = v.lang.Say("stop.issue", "link", markdown.Link(issueName(u), u))
	}
	who := v.lang.Say("stop.anyone")
	if mention != "" {
		who = v.lang.Say("stop.who", "mention", mention)
	}
	if v.turn.Kind == routing.KindSuspect {
		return greenView(v).ask(mention, issue)
	}
	how := v.lang.Say("stop.how", "resume", v.command("resume"))
	switch v.onMax() {
	case routing.OnMaxSkip:
		how = v.lang.Say("stop.skip")
	case routing.OnMaxError:
		how = markdown.Sentences(how, v.lang.Say("stop.error"))
	}
	why := v.lang.Say("why." + string(v.turn.Kind))
	if b := v.decision().Budget; b != "" {
		why = v.lang.Say("why.budget", "budget", markdown.Code("budgets."+string(b)))
	}
	return markdown.Sentences(why, v.lang.Say("stop.attempts", "n", v.turn.Iteration, "max", v.max)) +
		"\n\n" + issue + "\n" + who + "\n" + how
}

// issueName is the short name of an issue's address.
func issueName(u string) md {
	if i := strings.LastIndex(u, "/issues/"); i >= 0 {
		if n, err := strconv.Atoi(strings.TrimRight(u[i+len("/issues/"):], "/")); err == nil {
			return `\#` + md(strconv.Itoa(n))
		}
	}
	return markdown.Code(u)
}

// approval says what waits for a maintainer, and who may release it.
func (v commentView) approval() md {
	a := v.o.Approval
	if a == nil {
		return v.lang.Say("ask.wait", "handoff", v.command("handoff"))
	}
	return v.lang.Say("ask.approval", "what", markdown.Codes(v.o.RedactedAll(a.What), 10), "role", markdown.Code(a.Role), "sha", v.sha(v.turn.Verdict.Run.SHA), "handoff", v.command("handoff"))
}

// state says what has happened since the turn.
func (v commentView) state() md {
	switch {
	case v.cp.WontFix != nil:
		return v.lang.Say("state.wontfix", "who", v.who(v.cp.WontFix.By), "resume", v.command("resume"))
	case v.cp.Paused:
		return v.lang.Say("state.paused", "resume", v.command("resume"))
	case v.has && v.turn.Kind.Escalates() && v.cp.Skipped && v.onMax() != routing.OnMaxSkip:
		return v.lang.Say("state.skipped")
	case v.has && len(v.cp.Held) > 0:
		return v.lang.Say("state.held")
	case newer(v.view):
		return v.lang.Say("state.newer")
	case resumed(v.view):
		return v.lang.Say("state.resumed")
	}
	return ""
}

// newer is true if a run that came after the escalation is what the turn shows.
func newer(v view) bool {
	e := v.cp.Escalation
	return v.has && v.turn.Kind.Escalates() && e != nil && e.SHA != "" && v.turn.Verdict.Run.SHA != "" && e.SHA != v.turn.Verdict.Run.SHA
}

// since says what changed since the turn before: a line of counts, then up to n names of each kind that
// no row of the table has.
func (v commentView) since(n int) md {
	d := v.delta
	if !d.known {
		return ""
	}
	head := "**" + v.lang.Say("since", "n", v.base) + "** "
	if len(d.fixed)+len(d.fresh)+len(d.unseen)+len(d.unsure)+len(d.flaky) == 0 && !anyDiffers(d) && d.missing == 0 {
		return head + v.lang.Say("since.nothing")
	}
	var counts, lists []md
	for _, part := range []struct {
		id    string
		names []string
		shown bool // in the table
	}{{"fixed", d.fixed, false}, {"still", d.still, true}, {"new", d.fresh, true}, {"unseen", d.unseen, false}, {"unsure", d.unsure, true}, {"flaky", d.flaky, false}} {
		if len(part.names) == 0 {
			continue
		}
		counts = append(counts, v.lang.Say("since."+part.id, "n", len(part.names)))
		if !part.shown {
			lists = append(lists, v.lang.Say("list."+part.id)+": "+v.names(part.names, n))
		}
	}
	if d.missing > 0 {
		counts = append(counts, v.lang.Say("since.missing", "n", d.missing))
	}
	return markdown.Join(append([]md{head + markdown.Join(counts, " · ")}, lists...), "\n")
}

func anyDiffers(d delta) bool {
	for _, differs := range d.differs {
		if differs {
			return true
		}
	}
	return false
}

func (v commentView) passed() md {
	vd := v.turn.Verdict
	sha := v.sha(vd.Run.SHA)
	switch {
	case vd.Review != nil:
		return v.lang.Say("pass.review", "sha", sha)
	case vd.Counts.Skipped > 0:
		return v.lang.Say("pass.skipped", "passed", vd.Counts.Passed, "tests", vd.Counts.Tests, "skipped", vd.Counts.Skipped, "sha", sha)
	case vd.Counts.Tests > 0:
		return v.lang.Say("pass.counts", "passed", vd.Counts.Passed, "tests", vd.Counts.Tests, "sha", sha)
	}
	return v.lang.Say("pass.plain", "sha", sha)
}

// fixed names up to n of what failed in an earlier turn of a streak that passed.
func (v commentView) fixed(n int) md {
	seen := map[string]bool{}
	var names []string
	for _, t := range v.story {
		for _, f := range comparedOf(t.Verdict) {
			if n := f.name; t.Kind != routing.KindPass && !seen[n] && f.passed(v.ran) && !slices.Contains(v.excused, n) && !flakyOf(v.view).failedOn(f) {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return v.lang.Say("pass.fixed", "names", v.names(names, n))
}

// notes says what was cut and what could not be read.
func (v commentView) notes(p content) md {
	var lines []md
	if n := len(v.turn.Verdict.Cut); n > 0 {
		lines = append(lines, v.lang.Say("note.names", "n", n))
	}
	if n := v.turn.Verdict.Unlisted(); n > 0 {
		lines = append(lines, v.lang.Say("note.dropped", "n", n))
	}
	var cuts []md
	for _, c := range []struct {
		id string
		n  int
	}{{"cut.full", p.Rest}, {"cut.names", p.cutNames}, {"cut.excerpts", p.cutExcerpts}, {"cut.traces", p.cutTraces}, {"cut.packet", p.cutPacket}} {
		if c.n > 0 {
			cuts = append(cuts, v.lang.Say(c.id, "n", c.n))
		}
	}
	if p.cutText {
		cuts = append(cuts, v.lang.Say("cut.text"))
	}
	if len(cuts) > 0 {
		lines = append(lines, v.lang.Say("note.cut", "what", markdown.Join(cuts, ", ")))
	}
	if note := workflowsNote(v.view); note != "" {
		lines = append(lines, note)
	}
	for i, n := range v.turn.Verdict.Notes {
		if i == 5 {
			lines = append(lines, v.lang.Say("list.more", "n", len(v.turn.Verdict.Notes)-i))
			break
		}
		lines = append(lines, v.lang.Say("note.read")+" "+markdown.ProseLimit(n, 300))
	}
	if len(lines) == 0 {
		return ""
	}
	return "> " + markdown.Join(lines, "\n> ")
}

// workflowsNote says that a green proves less, since the change is to CI itself.
func workflowsNote(v view) md {
	files := v.turn.Verdict.Workflows
	if len(files) == 0 {
		return ""
	}
	return v.lang.Say("note.workflows", "files", markdown.Codes(files, 5))
}
