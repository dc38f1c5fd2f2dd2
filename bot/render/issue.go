package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/page"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// IssueKey is the key of the escalation issue of a kind of a checkpoint.
func IssueKey(caseKey, checkpoint string, kind routing.Kind) string {
	return caseKey + "/" + checkpoint + "/issue/" + string(kind)
}

// IssueTitle returns the title of the escalation issue of a checkpoint, which says what happened in
// the pull request or branch: plain text on one line, at most 200 bytes.
func IssueTitle(c routing.Case, checkpoint string, o Options) string {
	subject := c.Key
	if i := strings.LastIndexAny(subject, "#@"); i > 0 {
		subject = subject[i:]
	}
	v := outcomeView{lookAt(c, checkpoint, len(untilEscalation(c.Checkpoints[checkpoint].Story()))-1, o)}
	return Title(o.Language.Plain("issue.of", "cp", markdown.Line(o.Redacted(checkpoint), 80), "what", v.headline(), "case", markdown.Line(o.Redacted(subject), 80)))
}

// Title makes a title of an issue of plain text: one line of at most 200 bytes that mentions nobody.
func Title(s string) string { return markdown.Cut(strings.ReplaceAll(s, "@", "＠"), 200) }

// IssueBody returns the escalation report of a checkpoint as Markdown of at most o.Limit bytes, its
// last line the marker. Every field of it is filled.
func IssueBody(c routing.Case, checkpoint string, o Options) markdown.Text {
	i := len(untilEscalation(c.Checkpoints[checkpoint].Story())) - 1
	v := issueView{commentView{lookAt(c, checkpoint, i, o)}}
	r := escalation.Build(v.redacted(), v.name, routing.DefaultPolicy())
	mark := md(orElse(o.Shared.Marker, marker.Format(IssueKey(c.Key, checkpoint, r.Kind), c.Generation)))
	return fit(o.MaxBytes()-len(o.Shared.Questions), func(d detail) md {
		p := v.issue(r, d)
		p.Marker = mark
		return pages.Print(v.lang, "issue", p)
	}, func() md {
		return pages.Print(v.lang, "cut", cutPage{Head: "## " + v.lang.Say("issue.title"), Questions: o.Shared.Questions, Marker: mark})
	})
}

// untilEscalation drops the turns that follow the newest escalation.
func untilEscalation(story []routing.Attempt) []routing.Attempt {
	for i := len(story); i > 0; i-- {
		if story[i-1].Kind.Escalates() {
			return story[:i]
		}
	}
	return story
}

// issueView writes the report of an escalation.
type issueView struct{ commentView }

// issueContent is what the template of an escalation issue prints.
type issueContent struct {
	content
	Basic                                          []page.Fact
	Later, Pattern, Questions                      md
	Probable, ForDesign, ForEnvironment, ForManual []md
	Held                                           *memberTable
	HeldCases                                      int
}

// redacted returns the case with only the view's checkpoint, its turns
// redacted, for the model of the report.
func (v issueView) redacted() routing.Case {
	cp := v.cp
	cp.Attempts = v.story
	return routing.Case{Key: v.c.Key, Version: v.c.Version, Generation: v.c.Generation, Updated: v.c.Updated, Checkpoints: map[string]routing.Checkpoint{v.name: cp}}
}

func (v issueView) issue(r escalation.Report, d detail) issueContent {
	p := issueContent{
		content: content{Excused: v.excusedText(), Acts: v.acts(), History: v.history(v.story, d.rows), failures: newFailures(v.view, d)},
		Basic:   v.basic(r), Probable: v.sentences(r.Causes), ForDesign: v.sentences(r.Actions.Design),
		ForEnvironment: v.sentences(r.Actions.Environment), ForManual: v.sentences(r.Actions.Manual), Questions: v.o.Shared.Questions, Later: v.later(),
	}
	if len(p.Probable) == 0 {
		p.Probable = []md{v.lang.Say("unknown")}
	}
	if r.Trend != escalation.PatternNone && r.Trend != escalation.PatternSingle {
		p.Pattern = sentence(v.lang, r.Pattern)
	}
	links := []md{v.runLink()}
	if u := v.o.Address(v.o.Shared.CommentURL); u != "" {
		links = append(links, markdown.Link(v.lang.Say("held.comment"), u))
	}
	p.Link = markdown.Join(slices.DeleteFunc(links, func(l md) bool { return l == "" }), " · ")
	if n := len(v.o.Shared.Members); n > 1 {
		p.Held, p.HeldCases = v.o.members(v.o.Shared.Members, most*d.rows/ladder[0].rows), n
	}
	if m := v.o.Mentions(); m != "" && !v.decision().NoNotify && v.has && r.Kind.Escalates() {
		p.Ask = v.lang.Say("issue.notify", "mention", md(m))
	}
	p.Doubts = greenView{v.view}.doubts()
	p.What = v.happened(r, p.Pattern)
	p.Notes = v.notes(p.content)
	return p
}

// happened says in one paragraph what failed, how often, and why nobody goes on.
func (v issueView) happened(r escalation.Report, pattern md) md {
	switch {
	case !v.has:
		return ""
	case r.Kind == routing.KindSuspect:
		return markdown.Sentences(v.lang.Say("why."+string(r.Kind)), v.passed())
	case !r.Kind.Escalates():
		return outcomeView{v.view}.what()
	}
	parts := []md{outcomeView{v.view}.what()}
	if fs := decisiveFirst(v.turn.Verdict.Failures); len(fs) > 0 {
		name := markdown.Code(escalation.Name(fs[0]))
		if w := v.place(fs[0]); w != "" {
			name = v.lang.Say("issue.at", "name", name, "place", w)
		}
		parts = append(parts, v.lang.Say("issue.first", "name", name, "said", (&failureList{view: v.view}).line(fs[0])))
	}
	switch b := v.decision().Budget; {
	case b != "":
		parts = append(parts, v.lang.Say("why.budget", "budget", markdown.Code("budgets."+string(b))))
	case r.Kind != routing.KindMaxRetry:
		parts = append(parts, v.lang.Say("why."+string(r.Kind)))
	}
	if v.turn.Iteration > 0 || r.Kind == routing.KindMaxRetry {
		parts = append(parts, v.lang.Say("stop.attempts", "n", v.turn.Iteration, "max", v.max))
	}
	return markdown.Sentences(append(parts, pattern)...)
}

// basic is the table of the report's first section.
func (v issueView) basic(r escalation.Report) []page.Fact {
	commit := v.lang.Say("unknown")
	if v.has {
		commit = v.sha(v.turn.Verdict.Run.SHA)
	}
	return []page.Fact{
		{ID: "issue.session", Value: markdown.Code(v.o.Redacted(r.Session))},
		{ID: "issue.cp", Value: markdown.Code(r.Checkpoint)},
		{ID: "issue.attempts", Value: md(r.Attempts)},
		{ID: "issue.reason", Value: v.stopped(r.Kind) + ": " + v.reason(r)},
		{ID: "issue.type", Value: markdown.Code(string(r.Type)) + ", " + v.lang.Say("sev."+string(r.Severity))},
		{ID: "issue.commit", Value: commit},
	}
}

// reason says why a person is asked: of a run that names what failed, in words of its own.
func (v issueView) reason(r escalation.Report) md {
	if len(v.turn.Verdict.Failures) > 0 && r.Kind.Escalates() && r.Kind != routing.KindSuspect && v.decision().Budget == "" {
		return v.lang.Say("why." + string(r.Kind))
	}
	return reasonText(v.lang, r.Reason)
}

func (v issueView) sentences(ss []escalation.Sentence) []md {
	out := make([]md, len(ss))
	for i, s := range ss {
		out[i] = sentence(v.lang, s)
	}
	return out
}

// sentence returns a sentence of an escalation report. Its English is that of package escalation.
func sentence(l Language, s escalation.Sentence) md {
	text := escalation.English(s.ID)
	if id := "report." + s.ID; l.Has(id) {
		text = catalog.Texts(l)[id]
	}
	return md(catalog.Fill(text, func(name string) (string, bool) {
		for i := 0; i+1 < len(s.Args); i += 2 {
			if s.Args[i] == name {
				return string(argument(l, name, s.Args[i+1])), true
			}
		}
		return "", false
	}))
}

// argument makes what fills a sentence of a report safe.
func argument(l Language, name, value string) md {
	switch name {
	case "class":
		return l.Say("class." + valid(routing.Class(value)))
	case "n", "first", "last", "still", "new", "max", "stuck":
		if n, err := strconv.Atoi(value); err == nil {
			return md(strconv.Itoa(n))
		}
	case "suggestion":
		return markdown.Prose(inLanguage(l, value))
	case "reason":
		return reasonText(l, value)
	case "unmet":
		return markdown.Prose(value)
	case "files":
		files := strings.Split(value, ", ")
		return markdown.Codes(files, len(files))
	}
	return markdown.Code(value)
}

// Shared is what an escalation issue shows besides the report of one case.
type Shared struct {
	Members    []escalation.Member // that the issue holds; listed where there are several
	Questions  md                  // the questions
	Marker     string              // last line, "" is that of the case's own issue
	CommentURL string              // of the comment on the pull request
}

// most is the largest number of members that are listed one by one.
const most = 50

// memberTable is what an issue holds, one row for each member that is listed.
type memberTable struct {
	Rows []memberRow
	More int
}

type memberRow struct{ Case, Checkpoint, Commit, First, At md }

// members lists what an issue holds, at most n of it one by one.
func (o Options) members(ms []escalation.Member, n int) *memberTable {
	v := view{o: o, lang: o.Language}
	t := &memberTable{More: max(0, len(ms)-n)}
	for _, m := range ms[:min(n, len(ms))] {
		v.turn.Verdict.Run = routing.Run{Repository: repoOf(m.Case)}
		r := memberRow{Case: o.caseLink(m.Case), Checkpoint: markdown.Code(o.Redacted(m.Checkpoint)), Commit: v.sha(m.SHA), First: "–", At: "–"}
		if u := o.Address(m.RunURL); u != "" {
			r.Commit += " (" + markdown.Link(o.Language.Say("col.link"), u) + ")"
		}
		if m.First != "" {
			r.First = markdown.Code(markdown.Cut(markdown.Line(o.Redacted(m.First), 200), 80))
		}
		if !m.At.IsZero() {
			r.At = md(m.At.UTC().Format("2006-01-02 15:04"))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func repoOf(caseKey string) string {
	if i := strings.IndexAny(caseKey, "#@"); i > 0 {
		return caseKey[:i]
	}
	return ""
}

// caseLink names a case and links its pull request or branch.
func (o Options) caseLink(key string) md {
	repo := repoOf(key)
	if repo == "" || !repoName.MatchString(repo) {
		return markdown.Code(o.Redacted(key))
	}
	ref := key[len(repo):]
	name := markdown.Code(o.Redacted(ref))
	if n := strings.TrimPrefix(ref, "#"); n != ref && strings.Trim(n, "0123456789") == "" {
		return markdown.Link(name, o.Server()+"/"+repo+"/pull/"+n)
	}
	return name
}

// later says that a newer run failed while a person is awaited.
func (v issueView) later() md {
	last := v.cp.Last
	if v.cp.State != routing.Escalated || last.ID == "" || !v.has || last.Key() == v.turn.Verdict.Run.Key() {
		return ""
	}
	failed, first := 0, ""
	red := false
	for _, name := range sortedParts(v.cp.Runs[last.Key()].Parts) {
		p := v.o.verdict(v.cp.Runs[last.Key()].Parts[name])
		if p.Result == routing.Pass {
			continue
		}
		red = true
		failed += escalation.FailedCount(p)
		if first == "" {
			first = escalation.First(p)
		}
	}
	if !red {
		return ""
	}
	what := v.lang.Say("held.newer", "sha", v.sha(last.SHA), "n", failed)
	if first != "" {
		what += " " + v.lang.Say("held.first", "first", markdown.Code(markdown.Cut(markdown.Line(first, 200), 160)))
	}
	if u := v.o.Address(last.URL); u != "" {
		what += " " + markdown.Link(v.lang.Say("run.link"), u)
	}
	return what
}

func sortedParts(m map[string]routing.Verdict) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// SummaryIssueTitle returns the title of the summary issue, which lists the escalations that got no issue of
// their own.
func SummaryIssueTitle(o Options) string { return o.Language.Plain("summaryissue.title") }

// SummaryIssueBody returns the summary issue: why it was opened, and all that waits, as much of it as fits.
// limit is how many issues may be opened in an hour.
func SummaryIssueBody(r escalation.Record, limit int, o Options) markdown.Text {
	for n := most; ; n /= 2 {
		body := pages.Print(o.Language, "summary issue", struct {
			Mention, Questions, Marker md
			Limit                      int
			Held                       *memberTable
		}{md(o.Mentions()), o.Shared.Questions, md(o.Shared.Marker), limit, o.members(r.Members, n)})
		if len(body) <= o.MaxBytes() || n == 0 {
			return body
		}
	}
}
