package render

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/rendertest"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

func FuzzSanitize(f *testing.F) {
	h := hostile()
	for _, s := range []string{h.Name, h.Suite, h.File, h.Message, h.Expected, h.Trace, h.Suggestion, "a\\|b|c", "`", "``` `` `", "\u202e\x1b[1", "[a]: https://e.vil", "a\n===\n", "&#64;octocat", "\\@a", "a](b", "1) x", "+ a", ":smile:", "~~a~~", "http://a", "(#1)", "don’t_x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := Options{}
		inline := []markdown.Text{markdown.Prose(s), markdown.Code(s), markdown.ProseLimit(s, 40)}
		for _, text := range inline {
			md := string(text)
			if strings.ContainsAny(md, "\n\r") || !utf8.ValidString(md) {
				t.Fatalf("not one line of text: %q", md)
			}
			for _, page := range []string{"- " + md, "**x** " + md + " y", "#### 1. " + md, "[" + string(markdown.Code(s)) + "](https://github.com/a/b)"} {
				inert(t, page, o)
			}
			table := "| a | b |\n|---|---|\n| " + string(markdown.Cell(text)) + " | x |\n"
			inert(t, table, o)
			if n := rendertest.Cells(table); n != 4 {
				t.Fatalf("%d cells of %q", n, table)
			}
		}
		if n := len(markdown.Code(s)); n > 3*300+4 {
			t.Fatalf("%d bytes of code", n)
		}
		inert(t, "x\n\n"+string(markdown.Fence("text", s))+"\n\ny", o)
		inert(t, "- x - "+string(markdown.Prose(s)+"\n- "+markdown.Code(s)), o)
		c := markdown.Clean(s)
		if markdown.Clean(c) != c {
			t.Fatalf("clean is not stable: %q, %q", c, markdown.Clean(c))
		}
		if c = markdown.WrapLines(s, 6, 80); strings.Count(c, "\n") > 6 {
			t.Fatalf("%d lines", strings.Count(c, "\n"))
		}
	})
}

func FuzzComment(f *testing.F) {
	h := hostile()
	f.Add(h.Name, h.Message, h.File, h.Trace, "unit", 2, 60_000)
	f.Add("", "", "", "", "", 1, 0)
	f.Add("a", "b\n```", "x.go", "-->", "a --> @b", 300, 4000)
	f.Fuzz(func(t *testing.T, name, message, file, trace, checkpoint string, n, limit int) {
		n = max(0, min(n, 60))
		var fs []routing.Failure
		for i := range n {
			fs = append(fs, routing.Failure{Name: name + strings.Repeat("x", i%7), Suite: message, File: file, Line: i, Message: message, Class: routing.Class(name), Expected: trace, Actual: name,
				Trace: trace, Suggestion: message, Fingerprint: name + string(rune('a'+i%9)), Evidence: []routing.Evidence{{Line: i, Text: trace, Signal: name}},
				Excerpt: &routing.Excerpt{File: file, Start: i, Mark: i + 1, Lines: strings.Split(trace, "\n")}})
		}
		v := routing.Verdict{Checkpoint: checkpoint, Result: routing.Fail, Class: routing.LogicError, Reason: message, Failures: fs, Notes: []string{message}, Unmet: []string{name},
			Run: routing.Run{Repository: name, ID: name, SHA: file, URL: trace}}
		if checkpoint == "" {
			return
		}
		w := v
		w.Run.ID, w.Run.SHA, w.Class = "2", commit(2), routing.DesignMismatch
		for _, c := range []routing.Case{play(t, routing.DefaultPolicy(), v), play(t, routing.DefaultPolicy(), v, w)} {
			o := Options{Mention: name, Limit: limit, HandoffNote: message, IssueURL: trace, RunURL: message, Repo: file}
			got := Comment(c, checkpoint, o)
			if min := 600 + 3*len(checkpoint); len(got) > max(o.MaxBytes(), min) {
				t.Fatalf("%d bytes, limit %d", len(got), o.MaxBytes())
			}
			inert(t, got, o)
			if m, ok := marker.Parse(string(got)); !ok || m.Key != CommentKey(caseKey, checkpoint) || m.Gen != c.Version {
				t.Fatalf("marker: %q", got[max(0, len(got)-200):])
			}
			if m := packetBlock.FindStringSubmatch(string(got)); m != nil && !json.Valid([]byte(m[1])) {
				t.Fatalf("packet: %s", m[1])
			}
			issue := IssueBody(c, checkpoint, o)
			inert(t, issue, o)
			inert(t, Feedback(c, checkpoint, 1, o), o)
			inert(t, Check(c, checkpoint, "", o).Summary, o)
			if s := Details(c, o) + Text(name, c.Checkpoints[checkpoint].Runs[v.Run.Key()].Decision, o); strings.ContainsAny(s, "\x1b\r\x00") {
				t.Fatalf("control characters on the terminal: %q", s)
			}
		}
	})
}
