package render

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// IssueKey is the key of the escalation issue of a kind of a checkpoint.
func IssueKey(caseKey, checkpoint string, kind routing.Kind) string {
	return caseKey + "/" + checkpoint + "/issue/" + string(kind)
}

// IssueTitle returns the title of the escalation issue of a checkpoint: plain
// text on one line, at most 200 bytes.
func IssueTitle(c routing.Case, checkpoint string, o Options) string {
	subject := c.Key
	if i := strings.LastIndexByte(subject, '#'); i > 0 {
		subject = subject[i:]
	}
	of := o.Language.say("issue.of", "cp", line(o.redact(checkpoint), 80), "case", line(o.redact(subject), 80))
	return cut(strings.ReplaceAll(o.Language.say("issue.title")+" — "+of, "@", "＠"), 200)
}

// IssueBody returns the escalation report of a checkpoint as Markdown of at
// most o.Limit bytes, its last line the marker. Every field of it is filled.
func IssueBody(c routing.Case, checkpoint string, o Options) string {
	i := len(untilEscalation(c.Checkpoints[checkpoint].Story())) - 1
	v := lookAt(c, checkpoint, i, o)
	r := escalation.Build(v.redacted(), v.name, routing.DefaultPolicy())
	mark := orElse(o.Shared.Marker, marker.Format(IssueKey(c.Key, checkpoint, r.Kind), c.Generation))
	return fit(o.limit()-len(o.Shared.Prompt), func(d detail) string {
		p := v.issue(r, d)
		p.Marker = mark
		return p.print(v.lang, "issue")
	}, func() string {
		return "## " + v.lang.say("issue.title") + "\n\n" + v.lang.say("note.cut", "what", v.lang.say("cut.all")) + "\n\n" + paragraph(o.Shared.Prompt) + mark
	})
}

// untilEscalation drops the turns that follow the newest escalation.
func untilEscalation(story []routing.Turn) []routing.Turn {
	for i := len(story); i > 0; i-- {
		if story[i-1].Kind.Escalates() {
			return story[:i]
		}
	}
	return story
}

// redacted returns the case with only the view's checkpoint, its turns
// redacted, for the model of the report.
func (v view) redacted() routing.Case {
	cp := v.cp
	cp.Turns = v.story
	return routing.Case{Key: v.c.Key, Version: v.c.Version, Generation: v.c.Generation, Updated: v.c.Updated, Checkpoints: map[string]routing.Checkpoint{v.name: cp}}
}

func (v view) issue(r escalation.Report, d detail) page {
	p := page{
		Basic: v.basic(r), History: v.history(v.story, d.rows), Pattern: v.lang.sentence(r.Pattern),
		Causes: numbered(v.sentences(r.Causes), v.lang.say("unknown")),
		Design: bullets(v.sentences(r.Actions.Design)), Environment: bullets(v.sentences(r.Actions.Environment)),
		Manual: bullets(v.sentences(r.Actions.Manual)), Excused: v.excusedText(), Acts: v.acts(), Closes: v.lang.say("issue.closes"),
	}
	if p.History == "" {
		p.History = v.lang.say("issue.norows")
	}
	if u := v.o.address(v.o.Shared.CommentURL); u != "" {
		p.History += "\n\n" + link(v.lang.say("held.comment"), u)
	}
	if s := v.later(); s != "" {
		p.History += "\n\n" + s
	}
	if len(v.o.Shared.Members) > 1 {
		p.Held = v.o.members(v.o.Shared.Members, most*d.rows/ladder[0].rows)
	}
	p.Prompt = v.o.Shared.Prompt
	if m := v.o.mention(); m != "" && !v.silent() {
		p.Ask = v.lang.say("issue.notify", "mention", m)
	}
	if v.has {
		p.Ask = strings.TrimSpace(p.Ask + "\n\n" + join(v.lang.say("why."+string(r.Kind)), v.what()))
		if !r.Kind.Escalates() {
			p.Ask = v.what()
		}
	}
	if len(v.turn.Verdict.Failures) == 0 {
		p.Failing = v.lang.say("issue.nofailing")
	}
	v.failures(&p, d)
	if u := v.runURL(); u != "" {
		p.Link = link(v.lang.say("run.link"), u)
	}
	p.Notes = v.notes(p)
	return p
}

// silent is true for an escalation that is to mention nobody.
func (v view) silent() bool {
	return v.decision().NoNotify
}

// basic is the table of the report's first section.
func (v view) basic(r escalation.Report) string {
	commit := v.lang.say("unknown")
	if v.has {
		commit = v.sha(v.turn.Verdict.Run.SHA)
	}
	rows := [][2]string{
		{"issue.session", code(v.o.redact(r.Session))},
		{"issue.cp", code(r.Checkpoint)},
		{"issue.attempts", r.Attempts},
		{"issue.reason", v.stopped(r.Kind) + ": " + prose(r.Reason)},
		{"issue.type", code(string(r.Type)) + ", " + v.lang.say("sev."+string(r.Severity))},
		{"issue.commit", commit},
	}
	var b strings.Builder
	b.WriteString(v.row("issue.item", "issue.value") + "|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", v.lang.say(row[0]), cell(row[1]))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (v view) sentences(ss []escalation.Sentence) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = v.lang.sentence(s)
	}
	return out
}

func bullets(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "- " + strings.Join(items, "\n- ")
}

// paragraph is Markdown that others follow, or nothing.
func paragraph(md string) string {
	if md == "" {
		return ""
	}
	return md + "\n\n"
}
