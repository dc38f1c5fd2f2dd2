package render

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/render/rendertest"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/replay"
)

// foreign are the texts of a run and of strangers.
type foreign struct{ name, message, trace, file string }

// long enough for everything that is cut, and short enough to fit at the first try.
func (x foreign) cut() foreign {
	const most = 2500
	return foreign{x.name[:min(most, len(x.name))], x.message[:min(most, len(x.message))], x.trace[:min(most, len(x.trace))], x.file[:min(most, len(x.file))]}
}

func (x foreign) made(f func(string) string) foreign {
	return foreign{f(x.name), f(x.message), f(x.trace), f(x.file)}
}

// failing is a verdict of two failures in which every text is foreign.
func (x foreign) failing(id string) routing.Verdict {
	v := routing.Verdict{Checkpoint: "unit", Result: routing.Fail, Class: routing.LogicError, Reason: x.message, Notes: []string{x.message, x.trace}, Unmet: []string{x.name},
		Counts: routing.Counts{Tests: 9, Failed: 2}, Run: routing.Run{Repository: "acme/shop", ID: id, SHA: commit(1), URL: x.trace, Job: x.name, Attempt: 1}}
	for i, print := range []string{"v1:a", "v1:b"} {
		v.Failures = append(v.Failures, routing.Failure{Name: strings.Repeat("z ", i) + x.name, Suite: x.message, File: x.file, Line: 3, Message: x.message, Class: routing.LogicError,
			Expected: x.trace, Actual: x.name, Trace: x.trace, Suggestion: x.message, Fingerprint: print, Decisive: i == 0, Flaky: i == 1,
			Evidence: []routing.Evidence{{Line: 4, Text: "e" + x.trace, Signal: x.name}},
			Excerpt:  &routing.Excerpt{File: x.file, Start: 1, Mark: 2 + i, Lines: append(strings.Split("e"+x.trace, "\n"), x.name, x.message)}})
	}
	return v
}

// states are the parts of all posts: four states of a case, and the replies.
const states = 5

// posts are the pages of one part.
func (x foreign) posts(t testing.TB, state int, l Language) []rendertest.Page {
	if state == states-1 {
		return x.replies(l)
	}
	o := Options{Language: l, Mention: "@maintainer", HandoffNote: x.message, Repo: "acme/shop", IssueURL: x.trace, RunURL: x.file}
	other := x
	other.name, other.message = x.trace, x.name
	second, third := other.failing("2"), x.failing("3")
	second.Run.SHA, third.Run.SHA, third.Class = commit(2), commit(3), routing.DesignMismatch
	pass := routing.Verdict{Checkpoint: "unit", Result: routing.Pass, Run: third.Run, Notes: []string{x.message}}
	pass.Run.ID = "4"
	var out []rendertest.Page
	add := func(name, key string, body md) {
		out = append(out, rendertest.Page{Name: string(l) + " " + name, Body: body, Marker: key})
	}
	for i, vs := range [][]routing.Verdict{{x.failing("1")}, {x.failing("1"), second}, {x.failing("1"), second, third}, {x.failing("1"), pass}} {
		if i != state {
			continue
		}
		c := play(t, routing.DefaultPolicy(), vs...)
		last := vs[len(vs)-1]
		d := c.Checkpoints["unit"].Runs[last.Run.Key()].Decision
		add("comment", CommentKey(c.Key, "unit"), Comment(c, "unit", o))
		add("check", "", Check(c, "unit", "", o).Summary)
		add("summary", "", Summary(c, "unit", d, o))
		if i == 3 {
			continue
		}
		add("feedback", "", Feedback(c, "unit", 1, o))
		if i == 2 {
			member := escalation.Member{Case: c.Key, Checkpoint: x.name, SHA: x.trace, RunURL: x.trace, First: x.message, At: t0}
			rec := escalation.Record{ID: "r", Kind: routing.KindDesign, OpenedAt: t0, Members: []escalation.Member{{Case: c.Key, Checkpoint: "unit"}, member, {Case: x.name, Checkpoint: x.message}}}
			rec.Answers = []escalation.Answered{{By: x.name, Boxes: []string{"retry:2", x.message}, At: t0}}
			p := o
			p.Shared = Shared{Members: rec.Members, CommentURL: x.trace, Questions: QuestionSection(rec, c, "", o)}
			add("issue", IssueKey(c.Key, "unit", routing.KindDesign), IssueBody(c, "unit", p))
			p.Shared.Marker = marker.Format("summary", 1)
			add("summary issue", "summary", SummaryIssueBody(rec, 3, p))
		}
	}
	return out
}

// replies are what is said below a pull request or an issue.
func (x foreign) replies(l Language) []rendertest.Page {
	o := Options{Language: l, Mention: "@maintainer", Repo: "acme/shop"}
	var out []rendertest.Page
	add := func(name string, body md) {
		out = append(out, rendertest.Page{Name: string(l) + " " + name, Body: body})
	}
	at := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	v := x.failing("1")
	c := routing.Case{Key: "acme/shop#12", Quarantine: nil, Checkpoints: map[string]routing.Checkpoint{
		"unit": {Name: "unit", State: routing.Completed, Green: x.trace, Last: routing.Run{SHA: x.trace}, Attempts: []routing.Attempt{{Kind: routing.KindPass, Iteration: 2, Verdict: v}}}}}
	err := errors.New("e " + x.message)
	add("not allowed", NotAllowed(x.name, x.message, x.trace, true, o))
	// The text is not parsed here, because a harmless text in its place may be another command.
	for _, what := range []answers.Reason{answers.NoCommand, answers.UnknownCommand, answers.WrongAttempts, answers.WrongPhase, answers.WrongClass, answers.NoTest, answers.NoText} {
		add("misread, "+string(what), Misread(answers.Command{Line: "/switchback " + x.trace, Err: &answers.Misread{What: what, Word: x.name, Nearest: x.message}}, o))
	}
	add("not done", NotDone(x.name, err, o))
	add("not done, stale", NotDone(x.name, &routing.StaleAnswerError{SHA: x.trace, Checkpoint: x.name, Newest: x.message}, o))
	add("not done, unknown", NotDone(x.name, &answers.UnknownTestError{Test: x.name, Nearest: "n" + x.message}, o))
	add("box not done", BoxNotDone(answers.Box{ID: "b" + x.name, Text: "box.flaky", Test: "t" + x.message}, "k"+x.trace, err, o))
	add("late", Late(escalation.Answered{By: x.name, Boxes: []string{x.message, "skip"}, At: at}, c, o))
	add("moved", Moved("a"+x.name, "b"+x.message, o))
	add("unchosen", Unchosen(&answers.ContradictionError{A: answers.Box{ID: "b" + x.name}, B: answers.Box{ID: "b" + x.message}}, o))
	add("settled", Settled(escalation.Record{ResolvedBy: x.name, ResolvedAt: at}, o))
	add("lost", Lost(x.name, "deleted", o))
	add("not rerun", NotRerun(7, err, o))
	add("status", Status(c, o))
	add("handoff", Handoff(c, routing.Effect{Kind: routing.EffectHandoff, Checkpoint: "unit", Iteration: 1, Target: "t" + x.name}, o, x.message, 12))
	add("fixed", Fixed(c, "unit", o))
	add("leftover", Leftover(c, x.name, o))
	add("reopened", Reopened(c, x.name, o))
	r := Replay{File: "f" + x.file, SHA: "s" + x.name, All: 5000, Ignored: [][2]string{{x.name, x.message}}}
	d := replay.Difference{Case: "acme/app@" + x.name, Checkpoint: x.name, Run: "1" + x.trace, Attempt: 1, Part: "p" + x.message,
		Old: replay.Outcome{Kind: routing.KindRetry, Rule: x.name, Detail: "d" + x.message}, New: replay.Outcome{Kind: routing.KindMaxRetry, Rule: x.message}}
	r.Differences = []replay.Difference{d}
	r.Sum.Add(replay.Result{Runs: 2, Differences: r.Differences, Left: make([]replay.Left, 2), Awaits: 1})
	add("replay", ReplayComment(r, o))
	add("replay, invalid", ReplayComment(Replay{File: "f" + x.file, Problems: []string{x.message, x.trace}}, o))
	return out
}

func (x foreign) inert(t testing.TB, state int, l Language) {
	t.Helper()
	rendertest.Compare(t, "https://github.com", "@maintainer", func(f func(string) string) []rendertest.Page {
		return x.cut().made(f).posts(t, state, l)
	})
}

func TestPostsOnGitHub(t *testing.T) {
	t.Parallel()
	for i, s := range rendertest.Seeds() {
		t.Run(fmt.Sprintf("S6-1 no text of a run is live in a comment, issue, check, summary or reply/%d", i), func(t *testing.T) {
			t.Parallel()
			for state := range states {
				foreign{s, s + "\n" + s, "t\n" + s, s}.inert(t, state, English)
				foreign{s, s + "\n" + s, "t\n" + s, s}.inert(t, state, Korean)
			}
		})
	}
}

func FuzzPostsOnGitHub(f *testing.F) {
	for i, s := range rendertest.Corpus() {
		f.Add(s, s+"\n"+s, "t\n"+s, s, uint(i))
	}
	f.Fuzz(func(t *testing.T, name, message, trace, file string, part uint) {
		foreign{name, message, trace, file}.inert(t, int(part%states), []Language{English, Korean}[part/states%2])
	})
}
