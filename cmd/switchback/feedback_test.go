package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

const paymentPlan = `{"root": "workflow-root", "nodes": [
  {"id": "create-payment-model"},
  {"id": "test-payment-model", "depends_on": ["create-payment-model"]},
  {"id": "create-refunds", "parent": "plan-invoices", "depends_on": ["create-payment-model"]},
  {"id": "plan-invoices"}]}`

const paymentFeedback = `{
  "type": "FEEDBACK",
  "from_node": "test-payment-model",
  "to_node": "create-payment-model",
  "feedback_type": "FIX_REQUEST",
  "message": "PaymentSpec:42 - Expected validates_presence_of(:email)",
  "suggested_fix": "Add: validates :email, presence: true",
  "priority": "high",
  "artifacts": ["spec/models/payment_spec.rb:42"]
}`

// feedbackTest is a ledger and a plan on disk, with the commands that work on them.
type feedbackTest struct {
	t         *testing.T
	led, plan string
	run       func(t testing.TB, in string, args ...string) result
}

func newFeedbackTest(t *testing.T) feedbackTest {
	t.Helper()
	return feedbackTest{t, filepath.Join(t.TempDir(), "ledger"), file(t, "plan.json", paymentPlan), run}
}

// feedback runs a subcommand and expects an exit code.
func (d feedbackTest) feedback(code int, in string, args ...string) result {
	d.t.Helper()
	args = append([]string{"feedback", args[0], "--ledger", d.led}, args[1:]...)
	if args[1] == "send" || args[1] == "done" {
		args = append(args, "--plan", d.plan)
	}
	r := d.run(d.t, in, args...)
	if r.code != code {
		d.t.Fatalf("%q: exit %d, want %d: %s%s", args, r.code, code, r.out, r.err)
	}
	return r
}

func (d feedbackTest) says(want string, r result) {
	d.t.Helper()
	if !strings.Contains(r.out, want) {
		d.t.Errorf("%q does not say %q", r.out, want)
	}
}

// Every command is a process of its own, as the workers of a plan start them.
func TestFeedbackAcrossProcesses(t *testing.T) {
	t.Parallel()
	d := newFeedbackTest(t)
	d.run = process
	model := file(t, "payment.rb", "class Payment\nend\n")
	verify := func() string { // what the test node does
		text, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "validates :email, presence: true") {
			return "--failed=false"
		}
		return "--failed"
	}
	t.Run("S3-87 the document's example runs to resolved", func(t *testing.T) {
		if verify() != "--failed" {
			t.Fatal("it passes before anything was fixed")
		}
		d.says("FB-001 queued at ", d.feedback(0, paymentFeedback, "send", "-"))
		var got requests.Received
		decode(t, d.feedback(0, "", "receive", "create-payment-model").out, &got)
		if len(got.Feedback) != 1 || got.Feedback[0].Round != 1 || got.Feedback[0].Files[0] != "spec/models/payment_spec.rb" {
			t.Fatalf("%+v", got)
		}
		fix := strings.TrimPrefix(got.Feedback[0].SuggestedFix, "Add: ")
		if err := os.WriteFile(model, []byte("class Payment\n  "+fix+"\nend\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		d.says("FB-001 verifying", d.feedback(0, "", "done", "FB-001", "--summary", "added", "--file", "payment.rb"))
		d.says("FB-001 resolved", d.feedback(0, "", "done", "FB-001", verify()))
	})
	t.Run("S3-66 each change is a line of the audit trail", func(t *testing.T) {
		var got []string
		for _, l := range strings.Split(strings.TrimSpace(d.feedback(0, "", "list", "--audit").out), "\n") {
			var line map[string]any
			if err := json.Unmarshal([]byte(l), &line); err != nil {
				t.Fatal(err)
			}
			hasKeys(t, "a line", l, "timestamp", "feedback_id", "type", "source", "target", "round", "status")
			got = append(got, fmt.Sprint(line["status"]))
		}
		if strings.Join(got, " ") != "queued delivered processing verifying resolved" {
			t.Error(got)
		}
	})
}

func TestFeedbackCommands(t *testing.T) {
	t.Parallel()
	t.Run("rounds, a raised priority and the escalation", func(t *testing.T) {
		d := newFeedbackTest(t)
		d.feedback(0, paymentFeedback, "send", "-")
		for _, want := range []string{"FB-001 queued, round 2 of 2", "FB-001 failed, round 2 of 2\nescalated to workflow-root as FB-002"} {
			d.feedback(0, "", "receive", "create-payment-model")
			d.feedback(0, "", "done", "FB-001", "--summary", "tried")
			d.says(want, d.feedback(0, "", "done", "FB-001", "--failed", "--summary", "expected it to fail"))
		}
		var got requests.Received
		decode(t, d.feedback(0, "", "receive", "workflow-root").out, &got)
		if h := got.Feedback; len(h) != 1 || h[0].Type != feedback.ArchitectureIssue || len(h[0].Earlier) != 2 || h[0].Earlier[1].Trace != "expected it to fail" {
			t.Errorf("%+v", got)
		}
		r := d.feedback(1, paymentFeedback, "send", "-")
		want := "switchback: Max feedback rounds (2) exceeded for test-payment-model → create-payment-model\nswitchback: Feedback loop limit reached, aborting\n"
		if r.out != "" || r.err != want {
			t.Errorf("%q", r.err)
		}
		var s requests.Sent
		decode(t, d.feedback(0, paymentFeedback, "send", "-o", "json", "--build", "another", "-").out, &s)
		if s.Round != 1 || s.Status != feedback.Queued || s.ID != "FB-004" {
			t.Errorf("another build: %+v", s)
		}
	})
	t.Run("a question and its answer", func(t *testing.T) {
		d := newFeedbackTest(t)
		d.feedback(0, "", "send", "--from", "create-refunds", "--to", "create-payment-model", "--type", "CONTEXT_REQUEST", "--message", "How is it called?", "--info", "method name",
			"--artifact", "app/refund.rb:3-9")
		d.feedback(0, "", "receive", "create-payment-model")
		d.feedback(1, "", "done", "FB-001")
		d.says("FB-001 verifying", d.feedback(0, "", "answer", "FB-001", "--text", "pay(amount)"))
		var got requests.Received
		decode(t, d.feedback(0, "", "receive", "create-refunds").out, &got)
		if len(got.Feedback) != 0 || len(got.Answers) != 1 || got.Answers[0].Answer != "pay(amount)" || got.Answers[0].RequestedInfo != "method name" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("what is refused, and why", func(t *testing.T) {
		d := newFeedbackTest(t)
		for want, args := range map[string][]string{
			"Missing required field: message":                                        {"--from", "test-payment-model", "--to", "create-payment-model", "--type", "FIX_REQUEST"},
			"Invalid feedback_type: NO":                                              {"--from", "a", "--to", "b", "--type", "NO", "--message", "x"},
			"Vague feedback: FIX_REQUEST needs suggested_fix":                        {"--from", "a", "--to", "b", "--type", "FIX_REQUEST", "--message", "x"},
			"Target node 'create-refunds' not found in ancestors of 'plan-invoices'": {"--from", "plan-invoices", "--to", "create-refunds", "--type", "FIX_REQUEST", "--message", "x", "--fix", "y"},
		} {
			if r := d.feedback(1, "", append([]string{"send"}, args...)...); r.err != "switchback: "+want+"\n" || r.out != "" {
				t.Errorf("%q, want %q", r.err, want)
			}
		}
		var all []feedback.Record
		decode(t, d.feedback(0, "", "list", "-o", "json", "--status", "rejected").out, &all)
		if len(all) != 4 {
			t.Errorf("%d are recorded as rejected", len(all))
		}
	})
	t.Run("list and stats", func(t *testing.T) {
		d := newFeedbackTest(t)
		for range 2 { // the second is the same sending
			d.says("FB-001 queued", d.feedback(0, strings.Replace(paymentFeedback, "{", `{"key": "k", `, 1), "send", "-"))
		}
		d.feedback(0, "", "send", "--from", "create-refunds", "--to", "plan-invoices", "--type", "ARCHITECTURE_ISSUE", "--message", "a\n\x1b[31mcircle", "--action", "break it", "--priority", "critical")
		d.says("FB-001  queued  1  high      FIX_REQUEST         test-payment-model → create-payment-model  PaymentSpec:42 - Expected validates_presence_of(:email)\n"+
			"FB-002  queued  1  critical  ARCHITECTURE_ISSUE  create-refunds → plan-invoices             a \uFFFD[31mcircle\n", d.feedback(0, "", "list"))
		if r := d.feedback(0, "", "list", "--status", "routed"); r.out != "" {
			t.Errorf("%q", r.out)
		}
		d.feedback(0, "", "receive", "create-payment-model")
		d.says("FB-001", d.feedback(0, "", "list", "--type", "FIX_REQUEST", "--status", "processing"))
		d.says("FIX_REQUEST         1\nCONTEXT_REQUEST     0\nDEPENDENCY_MISSING  0\nARCHITECTURE_ISSUE  1\nRejected: 0\nOpen: 2\nFeedback success rate: 0%\nAverage rounds: n/a\n", d.feedback(0, "", "stats"))
		d.says("Feedback success rate: n/a\nAverage rounds: n/a\n", d.feedback(0, "", "stats", "--build", "another"))
	})
	t.Run("what cannot go on is withdrawn", func(t *testing.T) {
		d := newFeedbackTest(t)
		d.feedback(0, paymentFeedback, "send", "-")
		if r := d.feedback(1, "", "withdraw", "FB-001"); !strings.Contains(r.err, "for a reason") {
			t.Errorf("%q", r.err)
		}
		d.says("FB-001 failed, round 1 of 2", d.feedback(0, "", "withdraw", "FB-001", "--why", "the port was taken out"))
		if r := d.feedback(1, "", "withdraw", "FB-001", "--why", "again"); !strings.Contains(r.err, "is failed") {
			t.Errorf("%q", r.err)
		}
	})
	t.Run("the plan is a folder of ports", func(t *testing.T) {
		d := newFeedbackTest(t)
		d.plan = t.TempDir()
		for name, text := range map[string]string{
			"model.md":  "---\nid: model\nimpl: make\ntest: make test\n---\nWrite the model.\n",
			"test.yml":  "id: test\ndepends_on: [model]\nparent: pay\nimpl: make\ntest: make test\n",
			"pay.yaml":  "id: pay\nimpl: make\ntest: make test\n",
			"README.md": "# Our ports\n",
		} {
			if err := os.WriteFile(filepath.Join(d.plan, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, to := range []string{"model", "pay", "workflow-root"} {
			d.feedback(0, "", "send", "--from", "test", "--to", to, "--type", "FIX_REQUEST", "--message", "x", "--fix", "y")
		}
		d.feedback(1, "", "send", "--from", "model", "--to", "test", "--type", "FIX_REQUEST", "--message", "x", "--fix", "y")
		if err := os.WriteFile(filepath.Join(d.plan, "bad.yml"), []byte("id: bad\ndepends_on: [nobody]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := d.feedback(1, paymentFeedback, "send", "-"); !strings.Contains(r.err, "bad.yml") {
			t.Errorf("%q", r.err)
		}
	})
	t.Run("wrong usage", func(t *testing.T) {
		d := newFeedbackTest(t)
		d.feedback(0, paymentFeedback, "send", "-")
		for _, c := range []struct {
			code int
			says string
			args []string
		}{
			{2, "name send, receive", []string{"feedback"}},
			{2, "text or json", []string{"feedback", "list", "--ledger", d.led, "-o", "xml"}},
			{2, `--status is "lost"; it must be one of queued`, []string{"feedback", "list", "--ledger", d.led, "--status", "lost"}},
			{2, `--type is "X"; it must be one of FIX_REQUEST`, []string{"feedback", "list", "--ledger", d.led, "--type", "X"}},
			{2, "cannot be combined", []string{"feedback", "send", "--ledger", d.led, "--plan", d.plan, "--to", "x", "-"}},
			{1, "name it with --plan", []string{"feedback", "send", "--ledger", d.led, "--plan", d.plan + "x", "--message", "x"}},
			{1, "name it with --ledger", []string{"feedback", "stats", "--ledger", d.led + "x"}},
			{1, "there is no such feedback", []string{"feedback", "answer", "--ledger", d.led, "FB-9", "--text", "x"}},
			{1, "is queued", []string{"feedback", "done", "--ledger", d.led, "--plan", d.plan, "FB-001"}},
		} {
			if r := run(t, "", c.args...); r.code != c.code || !strings.Contains(r.err, c.says) || r.out != "" {
				t.Errorf("%q: exit %d, said %q, printed %q", c.args, r.code, r.err, r.out)
			}
		}
	})
}

// The examples of docs/feedback-requests.md are what people copy: they have to work, in the
// order in which they stand.
func TestFeedbackRequestsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "feedback-requests.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string][]string{}
	for _, m := range regexp.MustCompile("(?s)```(json|console)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	if len(blocks["json"]) != 2 || len(blocks["console"]) != 1 {
		t.Fatalf("%d JSON, %d console", len(blocks["json"]), len(blocks["console"]))
	}
	led := filepath.Join(t.TempDir(), "ledger")
	files := map[string]string{"feedback.json": file(t, "feedback.json", blocks["json"][0]), "plan.json": file(t, "plan.json", blocks["json"][1])}
	var said []string
	for _, l := range strings.Split(strings.TrimSpace(blocks["console"][0]), "\n") {
		l, _, _ = strings.Cut(strings.TrimPrefix(l, "$ switchback "), " #")
		var args []string
		for _, w := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(l, -1) {
			if w = strings.Trim(w, `"`); files[w] != "" {
				w = files[w]
			}
			args = append(args, w)
		}
		r := run(t, "", append(args, "--ledger", led)...)
		if r.code != 0 {
			t.Fatalf("%s: exit %d: %s", l, r.code, r.err)
		}
		said = append(said, r.out)
	}
	if len(said) != 6 || !strings.HasPrefix(said[0], "FB-001 queued at ") || !strings.HasPrefix(said[3], "FB-001 resolved") || strings.Count(said[4], "\n") != 5 || !strings.Contains(said[5], "100%") {
		t.Errorf("%q", said)
	}
}
