package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Shared is what an escalation issue shows besides the report of one case.
type Shared struct {
	Members    []escalation.Member // that the issue holds; listed where there are several
	Prompt     string              // the questions, as Markdown
	Marker     string              // last line, "" is that of the case's own issue
	CommentURL string              // of the comment on the pull request
}

// most is the largest number of members that are listed one by one.
const most = 50

// members is the table of what an issue holds, at most n of it one by one.
func (o Options) members(ms []escalation.Member, n int) string {
	v := view{o: o, lang: o.Language}
	var b strings.Builder
	b.WriteString(v.row("held.case", "issue.cp", "col.commit", "col.first", "col.time"))
	b.WriteString("|---|---|---|---|---|\n")
	for i, m := range ms {
		if i == n {
			fmt.Fprintf(&b, "| %s | | | | |\n", o.Language.say("list.more", "n", len(ms)-n))
			break
		}
		v.turn.Verdict.Run = routing.Run{Repository: repoOf(m.Case)}
		cells := []string{o.caseLink(m.Case), code(o.redact(m.Checkpoint)), v.sha(m.SHA), "–", "–"}
		if u := o.address(m.RunURL); u != "" {
			cells[2] += " (" + link(o.Language.say("col.link"), u) + ")"
		}
		if m.First != "" {
			cells[3] = code(cut(line(o.redact(m.First), 200), 80))
		}
		if !m.At.IsZero() {
			cells[4] = m.At.UTC().Format("2006-01-02 15:04")
		}
		for j := range cells {
			cells[j] = cell(cells[j])
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func repoOf(caseKey string) string {
	if i := strings.IndexAny(caseKey, "#@"); i > 0 {
		return caseKey[:i]
	}
	return ""
}

// caseLink names a case and links its pull request or branch.
func (o Options) caseLink(key string) string {
	repo := repoOf(key)
	if repo == "" || !repoName.MatchString(repo) {
		return code(o.redact(key))
	}
	ref := key[len(repo):]
	name := code(o.redact(ref))
	if n := strings.TrimPrefix(ref, "#"); n != ref && strings.Trim(n, "0123456789") == "" {
		return link(name, o.server()+"/"+repo+"/pull/"+n)
	}
	return name
}

// later says that a newer run failed while a person is awaited.
func (v view) later() string {
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
	what := v.lang.say("held.newer", "sha", v.sha(last.SHA), "n", failed)
	if first != "" {
		what += " " + v.lang.say("held.first", "first", code(cut(line(first, 200), 160)))
	}
	if u := v.o.address(last.URL); u != "" {
		what += " " + link(v.lang.say("run.link"), u)
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

// FuseTitle returns the title of the issue that lists what was not filed one
// by one.
func FuseTitle(o Options) string { return o.Language.say("fuse.title") }

// FuseBody returns the issue of a blown fuse: why it is one, and all that waits,
// as much of it as fits.
func FuseBody(r escalation.Record, limit int, o Options) string {
	for n := most; ; n /= 2 {
		if s := fuseBody(r, limit, n, o); len(s) <= o.limit() || n == 0 {
			return s
		}
	}
}

func fuseBody(r escalation.Record, limit, n int, o Options) string {
	parts := []string{"## " + o.Language.say("fuse.title")}
	if m := o.mention(); m != "" {
		parts = append(parts, o.Language.say("issue.notify", "mention", m))
	}
	parts = append(parts, o.Language.say("fuse.why", "n", limit), "### "+o.Language.say("held.title"), o.members(r.Members, n),
		o.Language.say("fuse.how"))
	if o.Shared.Prompt != "" {
		parts = append(parts, o.Shared.Prompt)
	}
	return strings.Join(append(parts, o.Shared.Marker), "\n\n")
}
