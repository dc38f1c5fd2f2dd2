package render

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// CommentKey is the key of the sticky comment of a checkpoint.
func CommentKey(caseKey, checkpoint string) string { return caseKey + "/" + checkpoint + "/comment" }

// Comment returns the body of the sticky comment of a checkpoint: who reads it
// can act without opening the log. It is at most o.Limit bytes of Markdown, in
// which nothing that came from a run mentions, links, loads or closes anything;
// its last line is the marker.
func Comment(c routing.Case, checkpoint string, o Options) string {
	v := look(c, checkpoint, o)
	mark := marker.Format(CommentKey(c.Key, checkpoint), c.Generation)
	return fit(o.limit(), func(d detail) string {
		p := v.comment(d)
		p.Marker = mark
		return p.print(v.lang, "comment")
	}, func() string {
		return "### " + v.head() + "\n\n" + v.lang.say("note.cut", "what", v.lang.say("cut.all")) + "\n\n" + mark
	})
}

func (v view) comment(d detail) page {
	p := page{Head: v.head(), State: v.state(), Excused: v.excusedText(), Acts: v.acts()}
	switch {
	case !v.has:
		p.What = v.lang.say("none.empty")
		if len(v.cp.Held) > 0 {
			p.What, p.State = v.lang.say("none.held"), ""
		}
		return p
	case v.turn.Kind == routing.KindPass:
		p.What = join(v.passed(), v.fixed())
		if len(v.story) > 1 {
			p.History = v.history(v.story, d.rows)
		}
	default:
		p.What = v.what()
		p.Ask = v.ask()
		p.Since = v.since(10)
		v.failures(&p, d)
		if n := len(v.story) - 1; n > 0 {
			p.History, p.HistoryTitle = v.history(v.story[:n], d.rows), v.lang.count("earlier", n)
		}
	}
	v.foot(&p, d)
	return p
}

// foot adds the link, the packet and what was left out.
func (v view) foot(p *page, d detail) {
	if u := v.runURL(); u != "" {
		p.Link = link(v.lang.say("run.link"), u)
	}
	js, omitted := v.packet(d.packet, d.packetText)
	p.cutPacket = omitted
	p.Packet, p.PacketTitle = fence("json", string(js)), v.lang.say("packet.title")
	p.Notes = v.notes(*p)
}

func (v view) head() string {
	cp := code(v.name)
	switch {
	case !v.has:
		return v.lang.say("head.none", "cp", cp)
	case v.turn.Kind == routing.KindPass && v.turn.Iteration == 0:
		return v.lang.say("head.pass", "cp", cp)
	case v.turn.Kind == routing.KindPass && v.turn.Iteration == 1:
		return v.lang.say("head.pass.one", "cp", cp)
	case v.turn.Kind == routing.KindPass:
		return v.lang.say("head.pass.n", "cp", cp, "n", v.turn.Iteration)
	case v.turn.Kind.Escalates():
		return v.lang.say("head.stop", "cp", cp, "kind", v.stopped(v.turn.Kind))
	}
	return v.lang.say("head.retry", "cp", cp, "n", v.turn.Iteration, "max", v.max)
}

// stopped is the kind of an escalation in words, without "escalated".
func (v view) stopped(kind routing.Kind) string {
	k := v.lang.say("kind." + string(kind))
	if _, after, ok := strings.Cut(k, ": "); ok {
		return after
	}
	return k
}

// what says in one sentence what failed.
func (v view) what() string {
	vd := v.turn.Verdict
	sha := v.sha(vd.Run.SHA)
	if len(vd.Unmet) > 0 && vd.Result == routing.Pass {
		return v.lang.say("what.unmet", "unmet", prose(strings.Join(vd.Unmet, "; ")))
	}
	n := escalation.FailedCount(vd)
	var s string
	switch {
	case n == 0:
		s = v.lang.say("what.nothing", "sha", sha)
	case vd.Counts.Tests > 0 && vd.Counts.Failed == n:
		s = v.lang.count("what.tests", n, "of", vd.Counts.Tests, "sha", sha)
	default:
		s = v.lang.count("what.fails", n, "sha", sha)
	}
	fs := decisiveFirst(vd.Failures)
	if len(fs) == 0 {
		if r := strings.TrimSpace(vd.Reason); r != "" {
			return "**" + s + "**: " + sentence(prose(r))
		}
		return "**" + s + v.lang.say("what.end") + "**"
	}
	return "**" + s + "**" + v.lang.say("what.first", "what", code(escalation.Name(fs[0])), "did", v.did(fs[0]))
}

// did says in a few words how a failure failed.
func (v view) did(f routing.Failure) string {
	if isShort(f.Expected) && isShort(f.Actual) {
		return v.lang.say("what.first.both", "expected", code(f.Expected), "actual", code(f.Actual))
	}
	c := f.Class
	return v.lang.say("what.first.class", "class", v.lang.say("class."+string(c)))
}

func isShort(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && len(s) <= 60 && !strings.Contains(s, "\n")
}

// sentence ends md with a full stop.
func sentence(md string) string {
	if strings.HasSuffix(md, ".") || strings.HasSuffix(md, "!") || strings.HasSuffix(md, "?") {
		return md
	}
	return md + "."
}

// ask says who does what next.
func (v view) ask() string {
	var parts []string
	mention := v.o.mention()
	switch {
	case v.turn.Kind.Escalates():
		return v.stop(mention)
	case v.cp.Waiting:
		parts = append(parts, v.lang.say("ask.wait", "handoff", v.command("handoff")))
	case mention != "":
		parts = append(parts, v.lang.say("ask.mention", "mention", mention))
	default:
		parts = append(parts, v.lang.say("ask.anyone"))
	}
	if v.turn.Phase != "" {
		parts = append(parts, v.lang.say("ask.target", "phase", v.phase()))
	}
	if v.o.HandoffNote != "" {
		parts = append(parts, sentence(prose(v.o.redact(v.o.HandoffNote))))
	}
	return strings.Join(parts, " ")
}

func (v view) phase() string {
	for _, p := range routing.Phases() {
		if p == v.turn.Phase {
			return v.lang.say("phase." + string(p))
		}
	}
	return code(string(v.turn.Phase))
}

// stop says why it stopped, where the report is and who has to act.
func (v view) stop(mention string) string {
	issue := v.lang.say("stop.noissue")
	if u := v.o.address(v.o.IssueURL); u != "" {
		issue = v.lang.say("stop.issue", "link", link(issueName(u), u))
	}
	who := v.lang.say("stop.anyone")
	if mention != "" {
		who = v.lang.say("stop.who", "mention", mention)
	}
	how := v.lang.say("stop.how", "resume", v.command("resume"))
	switch v.onMax() {
	case routing.OnMaxSkip:
		how = v.lang.say("stop.skip")
	case routing.OnMaxError:
		how = join(how, v.lang.say("stop.error"))
	}
	return join(v.lang.say("why."+string(v.turn.Kind)), v.lang.say("stop.attempts", "n", v.turn.Iteration, "max", v.max)) +
		"\n\n" + issue + "\n" + who + "\n" + how
}

// issueName is the short name of an issue's address.
func issueName(u string) string {
	if i := strings.LastIndex(u, "/issues/"); i >= 0 {
		return `\#` + strings.TrimRight(u[i+len("/issues/"):], "/")
	}
	return code(u)
}

func (v view) onMax() routing.OnMax { return v.decision().OnMax }

// decision returns what was decided when the turn was taken: of the run it
// shows, or where a newer run has taken that one's place, of the run that the
// same turn was decided on.
func (v view) decision() routing.Decision {
	rs := v.cp.Runs[v.turn.Verdict.Run.Key()]
	if rs.Decided && rs.Decision.Kind == v.turn.Kind {
		return rs.Decision
	}
	for _, rs := range v.cp.Runs {
		if d := rs.Decision; rs.Decided && d.Kind == v.turn.Kind && d.Iteration == v.turn.Iteration && d.Reason == v.turn.Reason {
			return d
		}
	}
	return routing.Decision{}
}

// state says what has happened since the turn.
func (v view) state() string {
	switch {
	case v.cp.WontFix != nil:
		return v.lang.say("state.wontfix", "who", v.who(v.cp.WontFix.By), "resume", v.command("resume"))
	case v.cp.Paused:
		return v.lang.say("state.paused", "resume", v.command("resume"))
	case v.has && v.turn.Kind.Escalates() && v.cp.Skipped && v.onMax() != routing.OnMaxSkip:
		return v.lang.say("state.skipped")
	case v.has && len(v.cp.Held) > 0:
		return v.lang.say("state.held")
	case v.newer():
		return v.lang.say("state.newer")
	case v.resumed():
		return v.lang.say("state.resumed")
	}
	return ""
}

// newer is true if a run that came after the escalation is what the turn shows.
func (v view) newer() bool {
	e := v.cp.Escalation
	return v.has && v.turn.Kind.Escalates() && e != nil && e.SHA != "" && v.turn.Verdict.Run.SHA != "" && e.SHA != v.turn.Verdict.Run.SHA
}

// since says what changed since the turn before: a line of counts, then names.
func (v view) since(n int) string {
	d := v.delta
	if !d.known {
		return ""
	}
	head := "**" + v.lang.say("since", "n", v.base) + "** "
	if len(d.fixed)+len(d.fresh)+len(d.unseen) == 0 && !anyDiffers(d) {
		return head + v.lang.say("since.nothing")
	}
	var counts, lists []string
	for _, part := range []struct {
		id    string
		names []string
	}{{"fixed", d.fixed}, {"still", d.still}, {"new", d.fresh}, {"unseen", d.unseen}} {
		if len(part.names) == 0 {
			continue
		}
		counts = append(counts, v.lang.say("since."+part.id, "n", len(part.names)))
		lists = append(lists, "- "+v.lang.say("list."+part.id)+": "+v.names(part.names, n))
	}
	return head + strings.Join(counts, " · ") + "\n\n" + strings.Join(lists, "\n")
}

func anyDiffers(d delta) bool {
	for _, differs := range d.differs {
		if differs {
			return true
		}
	}
	return false
}

func (v view) passed() string {
	vd := v.turn.Verdict
	sha := v.sha(vd.Run.SHA)
	switch {
	case vd.Review != nil:
		return v.lang.say("pass.review", "sha", sha)
	case vd.Counts.Skipped > 0:
		return v.lang.say("pass.skipped", "passed", vd.Counts.Passed, "tests", vd.Counts.Tests, "skipped", vd.Counts.Skipped, "sha", sha)
	case vd.Counts.Tests > 0:
		return v.lang.say("pass.counts", "passed", vd.Counts.Passed, "tests", vd.Counts.Tests, "sha", sha)
	}
	return v.lang.say("pass.plain", "sha", sha)
}

// fixed names what failed in an earlier turn of a streak that passed.
func (v view) fixed() string {
	seen := map[string]bool{}
	var names []string
	for _, t := range v.story {
		for _, f := range t.Verdict.Failures {
			if n := escalation.Name(f); t.Kind != routing.KindPass && !seen[n] && !contains(v.excused, n) {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return v.lang.say("pass.fixed", "names", v.names(names, 12))
}

// notes says what was cut and what could not be read.
func (v view) notes(p page) string {
	var lines []string
	if n := v.turn.Verdict.Dropped; n > 0 {
		lines = append(lines, v.lang.say("note.dropped", "n", n))
	}
	var cuts []string
	for _, c := range []struct {
		id string
		n  int
	}{{"cut.full", p.cutFull}, {"cut.names", p.cutNames}, {"cut.excerpts", p.cutExcerpts}, {"cut.traces", p.cutTraces}, {"cut.packet", p.cutPacket}} {
		if c.n > 0 {
			cuts = append(cuts, v.lang.say(c.id, "n", c.n))
		}
	}
	if p.cutText {
		cuts = append(cuts, v.lang.say("cut.text"))
	}
	if len(cuts) > 0 {
		lines = append(lines, v.lang.say("note.cut", "what", strings.Join(cuts, ", ")))
	}
	for i, n := range v.turn.Verdict.Notes {
		if i == 5 {
			lines = append(lines, v.lang.say("list.more", "n", len(v.turn.Verdict.Notes)-i))
			break
		}
		lines = append(lines, v.lang.say("note.read")+" "+proseLimit(n, 300))
	}
	if len(lines) == 0 {
		return ""
	}
	return "> " + strings.Join(lines, "\n> ")
}

// join puts a space between sentences that are there.
func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " ")
}

// numbered returns a numbered list, or fallback if there is nothing to list.
func numbered(items []string, fallback string) string {
	if len(items) == 0 {
		items = []string{fallback}
	}
	var b strings.Builder
	for i, s := range items {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s)
	}
	return strings.TrimRight(b.String(), "\n")
}
