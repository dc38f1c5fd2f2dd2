package render

import (
	"maps"
	"slices"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
)

// groupView says what a merge group came to.
type groupView struct{ view }

// mostPullsNamed is how many pull requests of a merge group are named.
const mostPullsNamed = 20

// lookAtGroup returns the view of what a merge group came to that a pull request was in.
func lookAtGroup(c routing.Case, g routing.GroupRan, o Options) view {
	o.RunURL, o.Mention, o.HandoffNote, o.IssueURL, o.Approval = "", "", "", "", nil
	v := routing.Verdict{
		Checkpoint: g.Checkpoint, Run: g.Run, Result: g.Result, Class: g.Class, Reason: g.Reason, Unmet: g.Unmet, Counts: g.Counts,
		Failures: g.Failures, Dropped: max(0, g.Failed-len(g.Failures)), Base: g.Base, Group: &g.Group,
	}
	cp := routing.Checkpoint{Name: g.Checkpoint, Attempts: []routing.Attempt{{Kind: g.Kind, Verdict: v}}}
	out := look(routing.Case{Key: c.Key, Checkpoints: map[string]routing.Checkpoint{g.Checkpoint: cp}}, g.Checkpoint, o)
	out.stale = g.Stale(c)
	return out
}

// groupSections returns what the merge groups of a pull request came to, by checkpoint.
func groupSections(c routing.Case, o Options) []caseSection {
	out := make([]caseSection, 0, len(c.Groups))
	for _, name := range slices.Sorted(maps.Keys(c.Groups)) {
		out = append(out, caseSection{commentView{lookAtGroup(c, c.Groups[name], o)}})
	}
	return out
}

// head is the headline of a merge group.
func (v groupView) head(cp md) md {
	switch {
	case v.turn.Kind == routing.KindPass:
		return v.lang.Say("head.group.pass", "cp", cp)
	case v.stale:
		return v.lang.Say("head.group.stale", "cp", cp, "sha", v.sha(v.turn.Verdict.Run.SHA))
	case v.turn.Kind == routing.KindPreExisting:
		return v.lang.Say("head.group.base", "cp", cp, "base", v.base())
	case v.turn.Kind == routing.KindInteraction:
		return v.lang.Say("head.group.interaction", "cp", cp)
	}
	return v.lang.Say("head.group.failed", "cp", cp)
}

func (v groupView) base() md { return markdown.Prose(v.o.Redacted(v.turn.Verdict.Group.Base)) }

// pulls names the pull requests of the group. A reference to one would show in its timeline.
func (v groupView) pulls() md {
	g := v.turn.Verdict.Group
	var out []md
	for i, name := range g.Numbers() {
		if i == mostPullsNamed {
			out = append(out, v.lang.Say("list.more", "n", len(g.Pulls)-i))
			break
		}
		out = append(out, md(`\`+name))
	}
	if len(out) == 0 {
		return v.lang.Say("unknown")
	}
	return markdown.Join(out, ", ")
}

// text says which pull requests are concerned, and what to do. It accuses none.
func (v groupView) text() md {
	g := v.turn.Verdict.Group
	id := "group.failed"
	switch v.turn.Kind {
	case routing.KindPreExisting:
		id = "group.base"
	case routing.KindInteraction:
		id = "group.interaction"
	}
	if len(g.Pulls) == 1 && !g.Partial && v.turn.Kind != routing.KindPreExisting {
		id += ".one"
	}
	text := v.lang.Say(id, "pulls", v.pulls(), "base", v.base(), "branch", markdown.Code(v.o.Redacted(g.Branch)))
	if g.Partial {
		text = markdown.Sentences(text, v.lang.Say("group.partial"))
	}
	return markdown.Sentences(text, v.lang.Say("group.none"))
}

// fill writes the section of a merge group that failed.
func (v groupView) fill(p *content, d detail) {
	c := commentView(v)
	p.What, p.Ask = outcomeView(c).what(), v.text()
	if v.turn.Kind == routing.KindPreExisting {
		p.What = baseView(v).text()
	} else {
		p.Base = baseView(v).text()
	}
	p.failures = newFailures(v.view, d)
	p.Link, p.Notes = v.runLink(), c.notes(*p)
}
