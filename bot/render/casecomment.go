package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// CaseCommentKey is the key of the sticky comment of a case.
func CaseCommentKey(caseKey string) string { return caseKey + "/comment" }

// CaseComment returns the body of the sticky comment of a case: a section for each checkpoint, in
// the order of their names, those that fail first, and those that pass as a line each; what merge
// groups came to stands before them. A case of one
// checkpoint has the text of Comment. of returns the options of a checkpoint's section. All sections
// together are at most o.Limit bytes, which are divided fairly; the last line is the marker.
func CaseComment(c routing.Case, o Options, of func(checkpoint string) Options) markdown.Text {
	mark := md(marker.Format(CaseCommentKey(c.Key), c.Generation))
	names := c.Names()
	if len(names) == 1 && len(c.Groups) == 0 {
		return sectionText(commentView{look(c, names[0], of(names[0]))}, o.MaxBytes(), mark)
	}
	var open, settled []caseSection
	for _, v := range groupSections(c, o) {
		if v.settled() {
			settled = append(settled, v)
		} else {
			open = append(open, v)
		}
	}
	for _, name := range names {
		v := caseSection{commentView{look(c, name, of(name))}}
		if v.settled() {
			settled = append(settled, v)
		} else {
			open = append(open, v)
		}
	}
	slices.SortStableFunc(open, func(a, b caseSection) int { return cmp.Compare(a.rank(), b.rank()) })
	limit := o.MaxBytes() - len(mark) - 2*len(between)
	forLines := limit
	if len(open) > 0 {
		forLines = limit / 4
	}
	lines := settledLines(settled, forLines)
	parts := shareOut(limit-len(lines), open)
	if lines != "" {
		parts = append(parts, lines)
	}
	return markdown.Join(append(parts, mark), between)
}

// between stands between the sections of a comment.
const between = "\n\n"

// sectionText is the text of one checkpoint in at most limit bytes, as far as it can be cut to that. mark
// ends it, "" where another section follows.
func sectionText(v commentView, limit int, mark md) md {
	text := fit(limit, func(d detail) md {
		p := v.comment(d)
		p.Marker = mark
		return pages.Print(v.lang, "comment", p)
	}, func() md {
		return pages.Print(v.lang, "cut", cutPage{Head: "### " + v.head(), Marker: mark})
	})
	return md(strings.TrimRight(string(text), "\n"))
}

// caseSection is what the comment of a case says of one checkpoint.
type caseSection struct{ commentView }

// settled is true for a checkpoint of which there is nothing to do: it passed, or has no result. So is
// a merge group with an earlier commit.
func (v caseSection) settled() bool { return !v.has || v.turn.Kind == routing.KindPass || v.stale }

// rank orders the sections of checkpoints that do not pass: what waits for somebody comes first.
func (v caseSection) rank() int {
	if v.turn.Kind == routing.KindRetry || v.turn.Kind.Escalates() || v.turn.Verdict.Group != nil {
		return 0
	}
	return 1
}

// line is what is said of a settled checkpoint beside the sections of others.
func (v caseSection) line() md {
	head := "- **" + v.head() + "**"
	said := v.state()
	switch {
	case v.stale:
	case v.has:
		said = markdown.Sentences(v.passed(), v.fixed(5), flakyOf(v.view).named(5), v.excusedText(), workflowsNote(v.view), said)
		if v.cp.Approval {
			said = markdown.Sentences(said, v.approval())
		}
	case len(v.cp.Held) > 0:
		said = v.lang.Say("none.held")
	}
	if said = markdown.Sentences(said, v.runLink()); said == "" {
		return head
	}
	return head + " · " + said
}

// settledLines lists settled checkpoints in at most limit bytes.
func settledLines(vs []caseSection, limit int) md {
	const more = 60 // bytes that say how many are not listed
	var out []md
	size := 0
	for i, v := range vs {
		line := v.line()
		if size+len(line) > limit-more {
			line = "- **" + v.head() + "**"
		}
		if size+len(line) > limit-more {
			return markdown.Join(append(out, "- "+v.lang.Say("list.more", "n", len(vs)-i)), "\n")
		}
		out = append(out, line)
		size += len(line) + 1
	}
	return markdown.Join(out, "\n")
}

// shareOut returns the sections of checkpoints in at most limit bytes: each gets the same share, and
// what a short one leaves of it is divided among the longer ones. Where the shares are too small for
// sections, the rest is counted.
func shareOut(limit int, vs []caseSection) []md {
	texts := make([]md, len(vs))
	order := make([]int, len(vs))
	for i, v := range vs {
		texts[i], order[i] = sectionText(v.commentView, limit, ""), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(texts[a]), len(texts[b])) })
	for n, i := range order {
		share := limit/(len(order)-n) - len(between)
		if len(texts[i]) > share {
			texts[i] = sectionText(vs[i].commentView, share, "")
		}
		if len(texts[i]) > share {
			texts[i] = "### " + vs[i].head()
		}
		limit -= len(texts[i]) + len(between)
	}
	if limit >= 0 {
		return texts
	}
	const more = 60
	for i := len(texts); i > 0; i-- {
		limit += len(texts[i-1]) + len(between)
		if limit >= more {
			return append(texts[:i-1], vs[0].lang.Say("list.more", "n", len(vs)-i+1))
		}
	}
	return nil
}
