package web_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
)

// told is a case that the rules of the router decided run by run.
type told struct {
	t   testing.TB
	c   routing.Case
	at  time.Time
	out []routing.Event
}

func tell(t testing.TB, key string) *told { return &told{t: t, c: routing.Case{Key: key}, at: noon} }

func (x *told) add(e routing.Event) {
	x.t.Helper()
	next, err := x.c.Apply(e)
	if err != nil {
		x.t.Fatal(err)
	}
	x.c, x.out = next, append(x.out, e)
}

// run analyzes a run with some failures; none is a pass.
func (x *told) run(failures ...routing.Failure) {
	x.t.Helper()
	x.at = x.at.Add(10 * time.Minute)
	n := len(x.out) + 1
	v := routing.Verdict{Checkpoint: "ci", Result: routing.Pass, At: x.at, Failures: failures, Counts: routing.Counts{Tests: 9, Failed: len(failures)},
		Run: routing.Run{Repository: "acme/shop", ID: fmt.Sprint(500 + n), Attempt: 1, SHA: fmt.Sprintf("%040x", 0xabc000+n)}}
	if len(failures) > 0 {
		v.Result, v.Class, v.Reason, v.Evidence = routing.Fail, failures[0].Class, failures[0].Message, failures[0].Evidence
	}
	x.add(routing.RunEvent(x.c.Key, v, routing.Decide(x.c, v, routing.DefaultPolicy(), x.at), x.at))
}

// do records the pending effects as done, with what they created on GitHub.
func (x *told) do(refs map[routing.EffectKind]string) {
	for _, e := range slices.Clone(x.c.Pending) {
		x.at = x.at.Add(time.Second)
		x.add(routing.EffectEvent(x.c.Key, routing.EffectDone{Effect: e, Ref: refs[e.Kind]}, x.at))
	}
}

func (x *told) stream() sample.Stream { return sample.Stream{Key: x.c.Key, Events: x.out} }

func failing(name, print string) routing.Failure {
	return routing.Failure{Name: name, Suite: "s", Class: routing.LogicError, Fingerprint: print, Message: "got 1, want 2", Kind: "assertion"}
}

var space = regexp.MustCompile(`\s+`)

// textOf returns the text of a page without tags.
func textOf(page string) string {
	return space.ReplaceAllString(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
}

func TestCaseGrid(t *testing.T) {
	t.Parallel()
	a, b, c := failing("TestA", "aa11"), failing("TestB", "bb22"), failing("TestC", "cc33")
	x := tell(t, "acme/shop#12")
	x.run(a, b)
	x.run(a)
	flaky := c
	flaky.Flaky = true
	x.run(a, b, flaky)
	x.run()
	x.run(b)
	_, page := get(t, watched(t, nil, x.stream()), "/case/acme/shop/12")
	wellFormed(t, "case", page)
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?s)<tr><th scope="row">(.*?)</th>(.*?)</tr>`).FindAllStringSubmatch(page, -1) {
		name := strings.Fields(textOf(m[1]))[0]
		for _, cell := range regexp.MustCompile(`<td[^>]*>(.*?)</td>`).FindAllStringSubmatch(m[2], -1) {
			rows[name] = append(rows[name], strings.TrimSpace(textOf(cell[1])))
		}
	}
	for name, want := range map[string][]string{
		"TestA": {"✕ new", "✕ still", "✕ still", "✓ fixed", ""},
		"TestB": {"✕ new", "✓ fixed", "✕ again", "✓ fixed", "✕ again"},
		"TestC": {"", "", "≈ flaky", "✓ fixed", ""},
	} {
		if !slices.Equal(rows[name], want) {
			t.Errorf("%s is %q, want %q", name, rows[name], want)
		}
	}
	if !strings.Contains(page, "<details id=") || !strings.Contains(textOf(page), "until it was green or reset") {
		t.Error("what was before the green run is not told apart")
	}
}

func TestCaseTimeLine(t *testing.T) {
	t.Parallel()
	f := failing("TestTotal", "ab12")
	f.File, f.Line, f.Decisive, f.Expected, f.Actual, f.Trace = "shop/total_test.go", 41, true, "10.00", "10.01", "total.go:7 +0x1"
	f.Evidence = []routing.Evidence{{Line: 3, Text: "got 10.01, want 10.00", Signal: "got-want"}}
	f.Excerpt = &routing.Excerpt{File: f.File, Start: 40, Mark: 41, Lines: []string{"func x() {", "\tt.Fatal()"}}
	x := tell(t, "acme/shop#12")
	x.run(f)
	x.do(map[routing.EffectKind]string{routing.EffectComment: "9001", routing.EffectCheck: "77", routing.EffectHandoff: "workflow:fix.yml"})
	env := failing("TestNet", "cd34")
	env.Class = routing.EnvIssue
	x.run(env)
	x.do(map[routing.EffectKind]string{routing.EffectIssue: "88 https://github.com/acme/shop/issues/88", routing.EffectComment: "9001"})
	x.at = x.at.Add(time.Hour)
	x.add(routing.HumanEvent(x.c.Key, routing.HumanActed{Checkpoint: "ci", Action: routing.HumanWrong, Class: routing.LogicError, By: "ana", Answer: "a1"}, x.at))
	last, _ := x.out[len(x.out)-1-slices.IndexFunc(reversed(x.out), func(e routing.Event) bool { return e.Type == routing.EventRun })].Run()
	v := last.Verdict
	x.add(routing.RunEvent(x.c.Key, v, routing.Decide(x.c, v, routing.DefaultPolicy(), x.at), x.at))
	d := watched(t, nil, x.stream())
	code, page := get(t, d, "/case/acme/shop/12")
	if code != http.StatusOK {
		t.Fatal(code, page)
	}
	wellFormed(t, "case", page)
	said := textOf(page)
	for _, want := range []string{
		"being worked on", "Returned for a fix", "run 501", "9 tests, 1 failed", "Diagnosis: logic error", "line 3: got 10.01, want 10.00 (got-want)",
		"returned for a fix , fix attempt 1 of 3, phase implement, by the rule fixable", "Handed off to the worker (workflow:fix.yml)", "> 41 t.Fatal()",
		"environment", "#88", "ana said that the class was wrong: logic error, not env issue", "Expected 10.00 Actual 10.01", "total.go:7 +0x1",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing of %q", want)
		}
	}
	for _, want := range []string{
		`href="https://github.com/acme/shop/pull/12"`, `href="https://github.com/acme/shop/actions/runs/501"`, `href="https://github.com/acme/shop/pull/12#issuecomment-9001"`,
		`href="https://github.com/acme/shop/runs/77"`, `href="https://github.com/acme/shop/issues/88"`, `/shop/total_test.go#L41"`, `href="/failure/ab12"`,
		`href="/rules#rule-fixable"`, `/events?session=acme%2Fshop%2312`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Log(said)
	}
}

func reversed(in []routing.Event) []routing.Event {
	out := slices.Clone(in)
	slices.Reverse(out)
	return out
}

// Text from runs is harmless to readers, however long it is.
func TestCaseHostile(t *testing.T) {
	t.Parallel()
	evil := "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202etxt.exe\x1b[31m\x00\u200b"
	var list []routing.Failure
	for i := range 1000 {
		f := failing(fmt.Sprint(evil, i), fmt.Sprintf("%016x", i))
		f.Suite, f.File, f.Message, f.Trace = evil, "../../etc/"+evil, strings.Repeat("x", 5000)+evil, strings.Repeat(evil+"\n", 500)
		f.Evidence = []routing.Evidence{{Text: strings.Repeat("e", 100_000), Signal: evil}}
		list = append(list, f)
	}
	x := tell(t, "acme/shop@fix/\u202e<b>")
	for range 3 {
		x.run(list...)
	}
	first, _ := x.out[0].Run()
	v := first.Verdict
	v.Run.URL, v.Run.ID = "javascript:alert(1)", "9\"><script>"
	x.add(routing.RunEvent(x.c.Key, v, routing.Decide(x.c, v, routing.DefaultPolicy(), x.at), x.at))
	d := watched(t, nil, x.stream())
	code, page := get(t, d, "/case/acme/shop/@fix/%E2%80%AE%3Cb%3E")
	if code != http.StatusOK {
		t.Fatal(code)
	}
	harmless(t, "case", page)
	if len(page) > 300_000 || !strings.Contains(page, "980 more") || !strings.Contains(page, "900 more failures") {
		t.Errorf("%d bytes for a thousand failures", len(page))
	}
}

// harmless fails the test if a page contains text from a run as markup.
func harmless(t *testing.T, path, page string) {
	t.Helper()
	wellFormed(t, path, page)
	for _, bad := range []string{"<script>", "<img", "onerror=alert(1)>", "\u202e", "\x1b", "\x00", "\u200b", `href="javascript:`} {
		if strings.Contains(page, bad) {
			t.Errorf("%s: %q as it came", path, bad)
		}
	}
}

func TestCaseNotThere(t *testing.T) {
	t.Parallel()
	x := tell(t, "acme/shop#12")
	x.run(failing("TestA", "aa"))
	reg := sample.Stream{Key: "acme/shop!escalations", Events: nil}
	d := watched(t, []string{"acme/web"}, x.stream(), reg)
	for _, path := range []string{"/case/acme/shop/12", "/case/acme/web/12", "/case/acme/shop/13", "/case/acme/shop!escalations/", "/case/acme/shop%2312/", "/case/acme", "/case/", "/case/acme/web/../shop/12"} {
		if code, body := get(t, d, path); code == http.StatusOK || strings.Contains(body, "TestA") {
			t.Errorf("%s: %d", path, code)
		}
	}
}
