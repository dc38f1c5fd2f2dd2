package render

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
)

const askSHA = "0123456789abcdef0123456789abcdef01234567"

// asked is an open escalation of a case with failing tests of the given names.
func asked(tests ...string) (escalation.Record, routing.Case) {
	var v routing.Verdict
	v.Run.SHA = askSHA
	for _, n := range tests {
		v.Failures = append(v.Failures, routing.Failure{Name: n})
	}
	at := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	cp := routing.Checkpoint{Name: "unit", State: routing.Escalated, Retries: 3, Last: v.Run, Attempts: []routing.Attempt{{Kind: routing.KindMaxRetry, Verdict: v}}}
	c := routing.Case{Key: "acme/shop#7", Checkpoints: map[string]routing.Checkpoint{"unit": cp}}
	r := escalation.Record{ID: "acme/shop#7/unit/issue/ESCALATE_MAX_RETRY", Kind: routing.KindMaxRetry, OpenedAt: at,
		Members: []escalation.Member{{Case: c.Key, Checkpoint: "unit", SHA: askSHA}}}
	return r, c
}

var unfilled = regexp.MustCompile(`\{[a-z]+\}`)

func section(t *testing.T, r escalation.Record, c routing.Case, live string) (string, answers.Checkboxes) {
	t.Helper()
	body := QuestionSection(r, c, live, Options{})
	p, ok := answers.Parse(string(body))
	if !ok {
		t.Fatalf("no questions in\n%s", body)
	}
	return string(body), p
}

func TestQuestionSection(t *testing.T) {
	t.Parallel()
	r, c := asked("TestAdd", "Test|Sub `x` <!-- sb:skip --> @octocat")
	body, p := section(t, r, c, "")
	if p.Nonce != Nonce(r) || p.Gen != 0 || p.SHA != askSHA || len(p.Ticked) != 0 {
		t.Errorf("%+v", p)
	}
	if want := append(answers.IDs(Offered(r, c)), answers.Submit); !slices.Equal(p.Boxes, want) {
		t.Errorf("boxes %q, offered %q", p.Boxes, want)
	}
	if strings.Contains(body, " @octocat\n") || !strings.Contains(body, "`TestAdd` is flaky") {
		t.Errorf("%s", body)
	}
	if got, _ := section(t, r, c, body); got != body {
		t.Errorf("rendered over itself it changes:\n%s", got)
	}
	t.Run("ticks that nobody submitted stay", func(t *testing.T) {
		if _, p := section(t, r, c, answers.Keep(body, []string{"reset", "skip"})); !slices.Equal(p.Ticked, []string{"reset", "skip"}) {
			t.Errorf("%q", p.Ticked)
		}
	})
	t.Run("a consumed answer is shown, and its ticks are gone; what was ticked meanwhile stays", func(t *testing.T) {
		after := r
		after.Generation = 1
		after.Answers = []escalation.Answered{{By: "octocat", Boxes: []string{"retry:2", answers.TestID("TestAdd")}, At: r.OpenedAt}}
		got, p := section(t, after, c, answers.Keep(body, []string{"retry:2", answers.TestID("TestAdd"), answers.Submit, "skip"}))
		if p.Gen != 1 || !slices.Equal(p.Ticked, []string{"skip"}) {
			t.Errorf("%+v", p)
		}
		if !strings.Contains(got, "`@octocat`, 2026-05-04 10:00 UTC: Return it for 2 more fix attempts; `TestAdd` is flaky: quarantine it") {
			t.Errorf("%s", got)
		}
	})
	t.Run("ticks of other questions count for nothing", func(t *testing.T) {
		other := r
		other.ID += "/2"
		if _, p := section(t, other, c, answers.Keep(body, []string{"reset"})); len(p.Ticked) != 0 {
			t.Errorf("%q", p.Ticked)
		}
	})
	t.Run("a resolved escalation asks nothing", func(t *testing.T) {
		done := r
		done.ResolvedAt = r.OpenedAt
		if got := QuestionSection(done, c, body, Options{}); got != "" {
			t.Errorf("%s", got)
		}
	})
	t.Run("a test in quarantine is not offered again", func(t *testing.T) {
		q := c
		q.Quarantine = []routing.Quarantined{{Test: "TestAdd"}}
		if slices.Contains(answers.IDs(Offered(r, q)), answers.TestID("TestAdd")) {
			t.Error("it is")
		}
	})
}

// Every box that can be offered, and every reply, has a text in both languages.
func TestTextsOfAnswers(t *testing.T) {
	t.Parallel()
	r, c := asked("TestAdd")
	for _, lang := range []Language{English, Korean} {
		o := Options{Language: lang}
		one := c.Checkpoints["unit"]
		one.Retries = routing.HardCap - 1
		out := []string{string(QuestionSection(r, c, "", o)), string(boxText(answers.Read("retry:1"), o)), string(Help(o)), string(Status(c, o)), string(Status(routing.Case{Key: "k"}, o)),
			string(NotAllowed("x", "write", "read", true, o)), string(Late(escalation.Answered{By: "x", Boxes: []string{"reset", "odd"}}, c, o)), string(Moved(askSHA, "", o)), string(Foreign(o)),
			string(Unchosen(answers.ErrNothing, o)), string(Restored(o)), string(Unheard(o)), string(Settled(escalation.Record{ResolvedBy: "x"}, o)), string(Lost("unit", "gone", o)), string(Lost("unit", "moved", o)),
			string(NotDone("/switchback skip", errors.New("no"), o)), string(BoxNotDone(answers.Read("skip"), "k", errors.New("no"), o))}
		boxes := Offered(r, c)
		for i := range boxes {
			out = append(out, string(Unchosen(&answers.ContradictionError{A: boxes[0], B: boxes[i]}, o)))
		}
		for _, line := range []string{"", "dance", "retry 99", "phase x", "wrong x", "quarantine"} {
			out = append(out, string(Misread(answers.Commands(answers.Prefix + " " + line)[0], o)))
		}
		for _, cp := range []routing.Checkpoint{{State: routing.Pending}, {State: routing.InProgress}, {State: routing.Completed}, {Paused: true}, {Skipped: true}, {Waiting: true}, {WontFix: &routing.Act{}}} {
			out = append(out, string(Status(routing.Case{Checkpoints: map[string]routing.Checkpoint{"x": cp}}, o)))
		}
		for _, s := range out {
			for id := range catalog.Texts(English) {
				if strings.Contains(s, id) && strings.Contains(id, ".") {
					t.Errorf("%s: %q has no text: %s", lang, id, s)
				}
			}
			if m := unfilled.FindString(s); m != "" || s == "" {
				t.Errorf("%s: %q is unfilled in %q", lang, m, s)
			}
		}
	}
}

// What people write comes back in no reply as anything live.
func TestRepliesAreTame(t *testing.T) {
	t.Parallel()
	evil := "/switchback @octocat fixes #1 <!-- switchback:v1 key=x gen=1 --> ](http://e.example) `"
	for name, s := range map[string]string{
		"misread": string(Misread(answers.Commands(evil)[0], Options{})), "not done": string(NotDone(evil, errors.New(evil), Options{})),
		"refused": string(NotAllowed("@octocat", "write", "none", false, Options{})), "lost": string(Lost(evil, "gone", Options{})),
	} {
		inert(t, s, Options{})
		if n := len(answers.Commands(s)); n != 0 {
			t.Errorf("%s: %d commands in %q", name, n, s)
		}
	}
}

func FuzzQuestionSection(f *testing.F) {
	f.Add("TestAdd", "- [x] a <!-- sb:skip -->", "octocat")
	f.Add("x\n- [x] <!-- sb:submit -->", "", "a`b")
	f.Fuzz(func(t *testing.T, test, live, by string) {
		r, c := asked(test)
		r.Answers, r.Generation = []escalation.Answered{{By: by, Boxes: []string{test, "reset"}}}, 1
		body := QuestionSection(r, c, live, Options{})
		p, ok := answers.Parse(string(body))
		if !ok || p.Gen != 1 || !slices.Equal(p.Boxes, append(answers.IDs(Offered(r, c)), answers.Submit)) {
			t.Fatalf("%v %+v\n%s", ok, p, body)
		}
		inert(t, body, Options{})
		want := Unconsumed(r, live)
		for _, id := range p.Ticked {
			if !slices.Contains(want, id) {
				t.Fatalf("%q is ticked by nobody", id)
			}
		}
	})
}

func ExampleQuestionSection() {
	r, c := asked("TestAdd")
	fmt.Println(QuestionSection(r, c, "", Options{}))
	// Output:
	// ### What should happen next?
	//
	// <!-- switchback:checkboxes nonce=5ec32b392d49 gen=0 sha=0123456789abcdef0123456789abcdef01234567 -->
	//
	// Tick one answer, then **Submit**; nothing happens before that. Or comment, for example, `/switchback retry 2` on its own line; `/switchback help` lists the commands.
	//
	// **Try again**
	//
	// - [ ] Return it for 2 more fix attempts — the author is asked again at once; earlier attempts count <!-- sb:retry:2 -->
	// - [ ] Return it for a fix and reset the count — the author is asked again at once, counting from 1 <!-- sb:reset -->
	// - [ ] Send it back to: plan — takes one attempt; that phase is done again, and what follows it <!-- sb:phase:plan -->
	// - [ ] Send it back to: research — takes one attempt; that phase is done again, and what follows it <!-- sb:phase:research -->
	//
	// **It is not the code**
	//
	// - [ ] It was the environment: run the failed jobs again — no attempt is counted, and their result decides <!-- sb:rerun -->
	//
	// <details>
	// <summary>A test is flaky: quarantine it, in addition to any answer but won’t fix</summary>
	//
	// - [ ] `TestAdd` is flaky: quarantine it <!-- sb:quarantine:1e02d92f199a -->
	//
	// </details>
	//
	// **Stop**
	//
	// - [ ] Skip this checkpoint and continue with the others — its failures stop nothing in this pull request <!-- sb:skip -->
	// - [ ] Leave it as it is: won't fix — the check stays red, and a green run still passes it <!-- sb:wont-fix -->
	// - [ ] **Submit** <!-- sb:submit -->
}
