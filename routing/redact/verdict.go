package redact

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// Verdict returns a copy of v with secrets masked in every text that a run had a hand in.
func Verdict(v routing.Verdict) routing.Verdict { return VerdictWith(v, Text) }

// VerdictWith returns a copy of v in which text replaced every text that a run had a hand in. The
// lines of an excerpt are one text: a private key stands on several.
func VerdictWith(v routing.Verdict, text func(string) string) routing.Verdict {
	v.Reason = text(v.Reason)
	v.Evidence = evidence(v.Evidence, text)
	v.Notes, v.Unmet, v.Workflows = texts(v.Notes, text), texts(v.Unmet, text), texts(v.Workflows, text)
	v.Failures = append([]routing.Failure(nil), v.Failures...)
	for i := range v.Failures {
		failure(&v.Failures[i], text)
	}
	v.Cut = append(routing.CutFailures(nil), v.Cut...)
	for i := range v.Cut {
		v.Cut[i].Name, v.Cut[i].Suite = text(v.Cut[i].Name), text(v.Cut[i].Suite)
	}
	if v.Register != nil {
		r := routing.Register{Entries: append([]routing.QuarantineEntry(nil), v.Register.Entries...)}
		for i := range r.Entries {
			r.Entries[i] = entry(r.Entries[i], text)
		}
		v.Register = &r
	}
	v.Logs = texts(v.Logs, text)
	if v.Green != nil {
		g := green(*v.Green, text)
		v.Green = &g
	}
	if v.Review != nil {
		r := review(*v.Review, text)
		v.Review = &r
	}
	return v
}

func failure(f *routing.Failure, text func(string) string) {
	for _, s := range []*string{&f.Name, &f.Suite, &f.Fingerprint, &f.File, &f.Message, &f.Expected, &f.Actual, &f.Trace, &f.Suggestion, &f.BaseMessage} {
		*s = text(*s)
	}
	f.Evidence = evidence(f.Evidence, text)
	if f.Quarantine != nil {
		q := entry(*f.Quarantine, text)
		f.Quarantine = &q
	}
	if f.Excerpt != nil {
		ex := *f.Excerpt
		ex.File = text(ex.File)
		if len(ex.Lines) > 0 {
			ex.Lines = strings.Split(text(strings.Join(ex.Lines, "\n")), "\n")
		}
		f.Excerpt = &ex
	}
}

func entry(q routing.QuarantineEntry, text func(string) string) routing.QuarantineEntry {
	q.Suite, q.Name = text(q.Suite), text(q.Name)
	return q
}

func green(g routing.Green, text func(string) string) routing.Green {
	g.Earlier = slices.Clone(g.Earlier)
	for i := range g.Earlier {
		t := &g.Earlier[i]
		t.Suite, t.Name, t.File, t.Now = text(t.Suite), text(t.Name), text(t.File), text(t.Now)
	}
	g.Changes = slices.Clone(g.Changes)
	for i := range g.Changes {
		c := &g.Changes[i]
		c.File, c.Text, c.Was = text(c.File), text(c.Text), text(c.Was)
	}
	return g
}

func evidence(in []routing.Evidence, text func(string) string) []routing.Evidence {
	out := append([]routing.Evidence(nil), in...)
	for i := range out {
		out[i].Text, out[i].Signal = text(out[i].Text), text(out[i].Signal)
	}
	return out
}

func review(r routing.ReviewResult, text func(string) string) routing.ReviewResult {
	r.Feedback = text(r.Feedback)
	r.Issues = append([]routing.ReviewIssue(nil), r.Issues...)
	for i := range r.Issues {
		is := &r.Issues[i]
		is.Category, is.Description, is.File, is.SuggestedFix = text(is.Category), text(is.Description), text(is.File), text(is.SuggestedFix)
	}
	return r
}
