//go:build unix

package worker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

var nodes = feedback.Nodes{Top: "workflow-root", Links: map[string]feedback.Links{
	"model": {}, "greet": {DependsOn: []string{"model"}}, "after": {DependsOn: []string{"greet"}}}}

// bookIn opens the feedback of a place.
func bookIn(t *testing.T, dir string) *requests.Store {
	t.Helper()
	led, err := ledger.Open(filepath.Join(dir, ".switchback", "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	return &requests.Store{Ledger: led, Repo: "acme/app", Build: "plan/b", Plan: nodes, Now: time.Now}
}

func TestWorkersSpeakForTheirPortAlone(t *testing.T) {
	t.Parallel()
	b := bookIn(t, t.TempDir())
	l, _ := plan.NewLoop("build", plan.Spec{ID: "greet"}, plan.DefaultSettings(), time.Now())
	open := func(e *inbox) *relay {
		r, err := newRelay(&Journal{Ledger: b.Ledger, Key: routing.PortKey("acme/app", "plan", "greet"), Port: "greet", Now: time.Now}, l, e.routes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.close)
		return r
	}
	e := &inbox{store: b, port: "greet", sent: make(chan struct{}, 1)}
	r := open(e)
	ask := func(what, in string) (requests.Sent, error) {
		out, err := Ask(t.Context(), r.url, r.tokens[l.ImplSession], what, []byte(in))
		var s requests.Sent
		_ = json.Unmarshal(out, &s) // empty where it failed
		return s, err
	}
	const message = `"to_node": "model", "feedback_type": "FIX_REQUEST", "message": "it is wrong", "priority": "low", "suggested_fix": "fix it"`
	t.Run("the sender is filled in, and the same said twice is one feedback", func(t *testing.T) {
		for range 2 {
			if s, err := ask("requests/send", "{"+message+"}"); err != nil || s.ID != "FB-001" || s.Status != feedback.Queued || s.Round != 1 || s.At.IsZero() {
				t.Errorf("%+v %v", s, err)
			}
		}
		if reg, _ := b.State(t.Context()); len(reg.Records) != 1 || reg.Records[0].Message.From != "greet" || reg.Records[0].Plan != "plan/b" {
			t.Errorf("%+v", reg.Records)
		}
		if why, err := e.waits(t.Context()); err != nil || why != "it waits for feedback FB-001 to model (FIX_REQUEST, round 1 of 2)" {
			t.Error(why, err)
		}
	})
	t.Run("not for another port, by neither name of the field", func(t *testing.T) {
		for _, name := range []string{"from_node", "source"} {
			if _, err := ask("requests/send", `{"`+name+`": "after", `+message+`}`); err == nil || !strings.Contains(err.Error(), "speaks for that port") {
				t.Error(err)
			}
		}
		if _, err := ask("requests/answer", `{"feedback_id": "FB-001", "text": "x"}`); err == nil || !strings.Contains(err.Error(), "FB-001 is no feedback to greet") {
			t.Error(err)
		}
	})
	t.Run("what is no message is recorded as rejected (S3-15)", func(t *testing.T) {
		for in, want := range map[string]string{"{": "Invalid feedback", "null": "Invalid feedback", `{"message": 7}`: "Missing required field: to_node"} {
			if s, err := ask("requests/send", in); err != nil || s.Status != feedback.Rejected || s.Refusal == nil || !strings.Contains(s.Refusal.Text, want) {
				t.Errorf("%s: %+v %v", in, s, err)
			}
		}
	})
	t.Run("nobody else is listened to", func(t *testing.T) {
		if _, err := Ask(t.Context(), r.url, "guess", "requests/send", []byte("{"+message+"}")); err == nil || !strings.Contains(err.Error(), "none of the two workers") {
			t.Error(err)
		}
		r = open(&inbox{port: "greet"})
		if _, err := ask("requests/send", "{"+message+"}"); err == nil || !strings.Contains(err.Error(), "belongs to no plan") {
			t.Error(err)
		}
	})
}

func TestPairActsOnFeedback(t *testing.T) {
	t.Parallel()
	p := newPlace(t, `cp "$SWITCHBACK_FEEDBACK" "fed$SWITCHBACK_ATTEMPT" 2>/dev/null; [ "$SWITCHBACK_ATTEMPT" = 1 ] || echo hello > hello.txt; true`, junit)
	b := bookIn(t, p.root)
	p.change = func(x *Pair) { x.Requests = b }
	if r := p.run(); r.Status != plan.Success || p.journal().Loop.Requests != nil {
		t.Fatalf("%+v", r)
	}
	if err := os.Remove(filepath.Join(p.root, "hello.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Send(t.Context(), []byte(`{"from_node": "after", "to_node": "greet", "feedback_type": "FIX_REQUEST", "message": "say `+"```"+` hello", "priority": "low", "suggested_fix": "fix it"}`)); err != nil {
		t.Fatal(err)
	}
	t.Run("it runs again although it passed, and is handed the feedback in every turn (S3-42 S3-44)", func(t *testing.T) {
		if r := p.run(); r.Status != plan.Success || r.Attempts != 2 {
			t.Fatalf("%+v", r)
		}
		for _, name := range []string{"fed1", "fed2"} {
			if text := p.read(name); !strings.HasPrefix(text, "# Feedback from after: FIX_REQUEST (FB-001") || !strings.Contains(text, "````\nsay ``` hello\n````") {
				t.Errorf("%s: %s", name, text)
			}
		}
		if !strings.Contains(p.read("fed2"), "# The tests failed (1 so far)") {
			t.Error(p.read("fed2"))
		}
	})
	t.Run("then it is to be verified, and the port is not run for it again (S3-57)", func(t *testing.T) {
		r, err := b.State(t.Context())
		if x, _ := r.ByID("FB-001"); err != nil || x.Status != feedback.Verifying || !strings.Contains(x.Attempts[0].Fix.Summary, "greet passed in turn 2") {
			t.Errorf("%+v %v", x, err)
		}
		if p.run(); p.journal().Pairs != 2 {
			t.Errorf("%d pairs", p.journal().Pairs)
		}
	})
	t.Run("a port that waits for what it sent does nothing (S3-55 S3-68)", func(t *testing.T) {
		if _, err := b.Send(t.Context(), []byte(`{"from_node": "greet", "to_node": "model", "feedback_type": "FIX_REQUEST", "message": "x", "priority": "low", "suggested_fix": "y"}`)); err != nil {
			t.Fatal(err)
		}
		p.again = true
		if r := p.run(); r.Status != plan.Paused || r.Outcome != plan.Waiting || !strings.Contains(r.Reason, "FB-002 to model") {
			t.Errorf("%+v", r)
		}
	})
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"repo/a.go": "one\ntwo\r\nthree\nfour\nfive\nsix", "repo/long": strings.Repeat("x", 900) + "\n", "secret": "hush\n"} {
		if err := os.MkdirAll(filepath.Join(dir, "repo", "folder"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(dir, "repo", "link")); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"a.go:1": "1: one\n2: two\n3: three\n", "a.go:6": "4: four\n5: five\n6: six\n", "a.go:2-3": "1: one\n2: two\n3: three\n4: four\n5: five\n", "a.go:99": "",
		"none:1": "", "link:1": "", "folder:1": "", "long:1": "1: " + strings.Repeat("x", mostLine) + "\n",
	} {
		a, err := feedback.ParseArtifact(at)
		if err != nil {
			t.Fatal(err)
		}
		if got := excerpt(filepath.Join(dir, "repo"), a); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}
