package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// okScript is a test that passes, as a report says.
const okScript = `echo "<testsuite name='$SWITCHBACK_PORT'><testcase classname='a' name='works'/></testsuite>" > "$SWITCHBACK_REPORTS/junit.xml"
`

// site is a folder with a plan that is run on this machine, without GitHub.
type site struct {
	t   *testing.T
	dir string
	bin string
}

func newSite(t *testing.T, files map[string]string) *site {
	t.Helper()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t, t.TempDir(), bin}
	s.write("ok.sh", okScript)
	for name, text := range files {
		s.write(name, text)
	}
	return s
}

func (s *site) write(name, text string) {
	write(s.t, mkdir(s.t, s.dir, filepath.Dir(name)), filepath.Base(name), text)
}

func (s *site) read(name string) string { return readAll(filepath.Join(s.dir, name)) }

// run runs the program in the folder, and returns what it printed and its exit
// code, -1 if it was killed.
func (s *site) run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	c := exec.Command(s.bin, args...)
	c.Dir = s.dir
	c.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.dir, "SECRET_OF_THE_MACHINE=1"}
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // the code says it
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// ports runs the plan and checks the exit code and the status of each port.
func (s *site) ports(code int, want ...string) string {
	s.t.Helper()
	out, errs, got := s.run("ports", "run", "-o", "json")
	if got != code {
		s.t.Fatalf("exit %d, want %d\n%s\n%s", got, code, out, errs)
	}
	var b plan.Board
	if err := json.Unmarshal([]byte(out), &b); err != nil {
		s.t.Fatal(err, out)
	}
	var stand []string
	for _, r := range b.Rows {
		stand = append(stand, r.ID+"="+string(r.Standing))
	}
	slices.Sort(stand)
	slices.Sort(want)
	if !slices.Equal(stand, want) {
		s.t.Errorf("%q, want %q\n%s", stand, want, errs)
	}
	return errs
}

// records is all feedback, of whatever state.
func (s *site) records(args ...string) []feedback.Record {
	s.t.Helper()
	out, errs, code := s.run(append([]string{"feedback", "list", "-o", "json"}, args...)...)
	var all []feedback.Record
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != 0 {
		s.t.Fatal(err, code, errs)
	}
	return all
}

// is checks the states of all feedback: "FB-001 resolved 1".
func (s *site) is(want ...string) []feedback.Record {
	s.t.Helper()
	all := s.records()
	var got []string
	for _, x := range all {
		got = append(got, strings.TrimSpace(x.ID+" "+string(x.Status)+" "+strings.Repeat("I", x.Round)))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%q, want %q", got, want)
	}
	return all
}

// audit returns the states that a feedback went through.
func (s *site) audit(id string) string {
	s.t.Helper()
	out, _, _ := s.run("feedback", "list", "--audit")
	var got []string
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		var x feedback.Line
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			s.t.Fatal(err, l)
		}
		if x.FeedbackID == id {
			got = append(got, string(x.Status))
		}
	}
	return strings.Join(got, " ")
}

const oneCycle = "queued delivered processing verifying resolved"

// payment is the example of the document on feedback: the tests of a payment find
// that its model lacks a validation. Each script ends its runner, once, at the
// place that KILL names.
func payment(t *testing.T, kill string) *site {
	t.Helper()
	die := func(at string) string {
		if at != kill {
			return ""
		}
		return "if [ ! -f killed ]; then touch killed; kill -9 $PPID; exec sleep 60; fi\n"
	}
	return newSite(t, map[string]string{
		"ports/payment.yml": `- {id: create-payment-model, impl: [". ./model.sh"], test: [". ./modeltest.sh"]}
- {id: test-payment-model, depends_on: create-payment-model, test: [". ./spec.sh"]}
- {id: report, depends_on: test-payment-model, test: [". ./ok.sh"]}
- {id: view, depends_on: create-payment-model, test: [". ./ok.sh"]}
`,
		"model.sh": `echo "class Payment" > payment.rb
echo "$SWITCHBACK_BUILD" > build
if [ -n "$SWITCHBACK_FEEDBACK" ]; then
` + die("received") + `cp "$SWITCHBACK_FEEDBACK" fed.md; cp "$SWITCHBACK_FEEDBACK_JSON" fed.json
sed -n 's/^Add: \(.*\)/  \1/p' "$SWITCHBACK_FEEDBACK" | head -n 1 >> payment.rb
echo used >> uses
` + die("used") + `fi
true
`,
		"modeltest.sh": "if [ -f uses ]; then true\n" + die("tested") + "fi\ngrep -q Payment payment.rb && . ./ok.sh\n",
		"spec.sh": `if grep -q 'validates :email' payment.rb; then
` + die("verifying") + `echo verified >> verified; [ -z "$SWITCHBACK_FEEDBACK" ] || touch told; . ./ok.sh; exit 0; fi
env | grep -c 'TOKEN=' > tokens
"$SWITCHBACK_BIN" feedback send feedback.json > sent || exit 3
` + die("sent") + `exit 1
`,
		"spec/models/payment_spec.rb": strings.Repeat("# a line\n", 41) + "it { should validate_presence_of(:email) }\n",
		"feedback.json": `{
  "type": "FEEDBACK",
  "from_node": "test-payment-model",
  "to_node": "create-payment-model",
  "feedback_type": "FIX_REQUEST",
  "message": "PaymentSpec:42 - Expected validates_presence_of(:email)",
  "suggested_fix": "Add: validates :email, presence: true",
  "priority": "high",
  "artifacts": ["spec/models/payment_spec.rb:42"]
}`,
	})
}

func TestFeedbackRequestsTestDriven(t *testing.T) {
	t.Parallel()
	s := payment(t, "")
	all := []string{"create-payment-model=passed", "test-payment-model=passed", "report=passed", "view=passed"}
	errs := s.ports(0, all...)
	t.Run("a test finds what the model lacks, and the example runs to resolved (S3-60 S3-87)", func(t *testing.T) {
		x := s.is("FB-001 resolved I")[0]
		if x.ResolvedAt.IsZero() || !strings.Contains(s.read("payment.rb"), "validates :email, presence: true") {
			t.Errorf("%+v\n%s", x, s.read("payment.rb"))
		}
		if got := s.audit("FB-001"); got != oneCycle {
			t.Error(got)
		}
	})
	t.Run("before it acts the target is handed message, fix, artifact and file (S3-42 S3-54 S3-55)", func(t *testing.T) {
		for _, want := range []string{"# Feedback from test-payment-model: FIX_REQUEST (FB-001, round 1 of 2, high)", "PaymentSpec:42 - Expected", "Add: validates :email", "42: it { should validate_presence_of"} {
			if !strings.Contains(s.read("fed.md"), want) {
				t.Errorf("%q is not in\n%s", want, s.read("fed.md"))
			}
		}
		var fed struct {
			Success  *bool
			Requests struct{ Feedback []feedback.Handoff }
		}
		if err := json.Unmarshal([]byte(s.read("fed.json")), &fed); err != nil || *fed.Success || len(fed.Requests.Feedback) != 1 || len(fed.Requests.Feedback[0].Files) != 1 {
			t.Errorf("%v %s", err, s.read("fed.json"))
		}
	})
	t.Run("the target runs again, then the sender without it (S3-44 S3-46 S3-50)", func(t *testing.T) {
		if s.read("uses") != "used\n" || s.read("verified") != "verified\n" || s.read("told") != "" {
			t.Errorf("%q %q", s.read("uses"), s.read("verified"))
		}
	})
	t.Run("its branch waits, and no other (S3-68 S3-69 S3-70)", func(t *testing.T) {
		if !strings.Contains(errs, "report paused: FB-001: test-payment-model waits for create-payment-model") || strings.Contains(errs, "view paused") {
			t.Error(errs)
		}
	})
	t.Run("a worker sends with no token and no flags", func(t *testing.T) {
		if !strings.HasPrefix(s.read("sent"), "FB-001 queued at ") || s.read("tokens") != "1\n" || !strings.HasPrefix(s.read("build"), "ports/local-") {
			t.Errorf("%q %q %q", s.read("sent"), s.read("tokens"), s.read("build"))
		}
	})
	t.Run("what has passed is not run again", func(t *testing.T) {
		s.ports(0, all...)
		if s.read("uses") != "used\n" {
			t.Error(s.read("uses"))
		}
	})
}

func TestFeedbackRequestsKilled(t *testing.T) {
	t.Parallel()
	for at, uses := range map[string]int{"sent": 1, "received": 1, "used": 2, "tested": 1, "verifying": 1} {
		t.Run("killed when the feedback is "+at+" nothing is lost and it is delivered once (S3-57 S3-41 S3-67)", func(t *testing.T) {
			t.Parallel()
			s := payment(t, at)
			if out, errs, code := s.run("ports", "run"); code != -1 {
				t.Fatalf("nobody was killed: exit %d\n%s%s", code, out, errs)
			}
			s.ports(0, "create-payment-model=passed", "test-payment-model=passed", "report=passed", "view=passed")
			s.is("FB-001 resolved I")
			if got := s.audit("FB-001"); got != oneCycle {
				t.Error(got)
			}
			// Killed after the use and before it is recorded, the turn is taken again.
			if got := strings.Count(s.read("uses"), "used"); got != uses {
				t.Errorf("used %d times, want %d", got, uses)
			}
		})
	}
}

func TestFeedbackRequestsDependency(t *testing.T) {
	t.Parallel()
	planner := map[string]string{
		"ports/plan.yml":    "{id: plan-payments, impl: sh plan.sh, test: sh ok.sh}\n",
		"ports/service.yml": "{id: refund-service, parent: plan-payments, impl: sh service.sh, test: sh servicetest.sh, max_iterations: 0}\n",
		"plan.sh": `if [ -n "$SWITCHBACK_FEEDBACK" ]; then
grep -q 'Add a port for the Refund model' "$SWITCHBACK_FEEDBACK" || exit 1
echo '{id: refund-model, impl: echo Refund > refund.rb, test: sh ok.sh}' > ports/refund.yml
echo '{id: refund-service, parent: plan-payments, depends_on: refund-model, impl: sh service.sh, test: sh servicetest.sh, max_iterations: 0}' > ports/service.yml
fi
`,
		"service.sh": `if [ ! -f refund.rb ]; then
"$SWITCHBACK_BIN" feedback send --to ${PLANNER:-plan-payments} --type DEPENDENCY_MISSING --priority critical \
  --message "RefundService needs a Refund model, which nobody planned" --action "Add a port for the Refund model before RefundService"
fi
`,
		"servicetest.sh": "[ -f refund.rb ] && . ./ok.sh\n",
	}
	t.Run("a service finds that a model is missing, its planner adds it, and the service runs again (S3-61 S3-11)", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, planner)
		errs := s.ports(0, "plan-payments=passed", "refund-model=passed", "refund-service=passed")
		s.is("FB-001 resolved I")
		if model, service := strings.Index(errs, "refund-model passed"), strings.Index(errs, "refund-service running: verifies FB-001"); model < 0 || service < model {
			t.Errorf("the service ran before its model\n%s", errs)
		}
	})
	t.Run("what the root is asked for waits for people, who change the plan (S3-61 S3-71)", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, planner)
		s.write("ports/plan.yml", "{id: other, test: sh ok.sh}\n")
		s.write("ports/service.yml", "{id: refund-service, impl: PLANNER=workflow-root sh service.sh, test: sh servicetest.sh}\n")
		errs := s.ports(1, "other=passed", "refund-service=paused")
		if !strings.Contains(errs, "FB-001 asks for a change of the plan: change ports, record it with `switchback feedback done FB-001 --plan ports") {
			t.Error(errs)
		}
		s.ports(1, "other=passed", "refund-service=paused") // nothing has changed
		s.is("FB-001 processing I")
		s.write("ports/plan.yml", "- {id: other, test: sh ok.sh}\n- {id: refund-model, impl: echo Refund > refund.rb, test: sh ok.sh}\n")
		s.write("ports/service.yml", "{id: refund-service, depends_on: refund-model, impl: sh service.sh, test: sh servicetest.sh}\n")
		if out, errs, code := s.run("feedback", "done", "FB-001", "--plan", "ports", "--summary", "a port for it was added"); code != 0 || !strings.HasPrefix(out, "FB-001 verifying") {
			t.Fatal(out, errs)
		}
		s.ports(0, "other=passed", "refund-model=passed", "refund-service=passed")
		s.is("FB-001 resolved I")
	})
}

func TestFeedbackRequestsArchitecture(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{
		"ports/feature.yml": `- {id: plan-invoice-feature, impl: sh plan.sh, test: sh ok.sh}
- {id: create-invoice, parent: plan-invoice-feature, impl: sh make.sh, test: sh ok.sh, env: {NEEDS: payment}}
- {id: create-payment, parent: plan-invoice-feature, impl: sh make.sh, test: sh ok.sh, env: {NEEDS: invoice}}
- {id: create-invoice-service, parent: plan-invoice-feature, depends_on: [create-invoice, create-payment], impl: sh service.sh, test: sh servicetest.sh}
`,
		"make.sh": `n=${SWITCHBACK_PORT#create-}; echo "$NEEDS" > "$n.needs"; echo "$n" >> made`,
		"service.sh": `if [ "$(cat invoice.needs)" = payment ] && [ "$(cat payment.needs)" = invoice ]; then
"$SWITCHBACK_BIN" feedback send --to plan-invoice-feature --type ARCHITECTURE_ISSUE --priority critical \
  --message "Circular dependency: Invoice → Payment → Invoice" --fix "Break cycle with InvoicePayment join model"
fi
`,
		"servicetest.sh": `grep -q 'invoice payment' join.needs && [ -z "$(cat invoice.needs)" ] && . ./ok.sh`,
		"plan.sh": `if [ -n "$SWITCHBACK_FEEDBACK" ]; then
grep -q 'InvoicePayment join model' "$SWITCHBACK_FEEDBACK" || exit 1
sed -i -e 's/NEEDS: payment/NEEDS: ""/; s/NEEDS: invoice/NEEDS: ""/; s/depends_on: .create-invoice, create-payment./depends_on: create-join/' ports/feature.yml
echo '- {id: create-join, parent: plan-invoice-feature, depends_on: [create-invoice, create-payment], impl: sh make.sh, test: sh ok.sh, env: {NEEDS: invoice payment}}' >> ports/feature.yml
fi
`,
	})
	t.Run("a circle in the design is broken by the planner, and the plan is run anew (S3-62 S3-12)", func(t *testing.T) {
		s.ports(0, "plan-invoice-feature=passed", "create-invoice=passed", "create-payment=passed", "create-join=passed", "create-invoice-service=passed")
		s.is("FB-001 resolved I")
		made := strings.Fields(s.read("made"))
		if slices.Sort(made); !slices.Equal(made, []string{"invoice", "invoice", "join", "payment", "payment"}) {
			t.Errorf("%q: what was planned anew is made anew, once", made)
		}
	})
}

func TestFeedbackRequestsRounds(t *testing.T) {
	t.Parallel()
	files := func(enough string) map[string]string {
		return map[string]string{
			"ports/plan.yml": "- {id: model, impl: sh model.sh, test: sh ok.sh}\n- {id: check, depends_on: model, test: sh check.sh, max_iterations: 0}\n- {id: after, depends_on: check, test: sh ok.sh}\n",
			"model.sh":       `if [ -n "$SWITCHBACK_FEEDBACK" ]; then cp "$SWITCHBACK_FEEDBACK" "fed-$(wc -l < tries)"; echo "fix $(wc -l < tries)"; fi; echo try >> tries`,
			"check.sh": `n=$(wc -l < tries)
if [ "$n" -ge ` + enough + ` ]; then . ./ok.sh; exit 0; fi
"$SWITCHBACK_BIN" feedback send --to model --type FIX_REQUEST --message "try $n is not enough" --fix "try harder" 2>> refused
exit 1
`,
		}
	}
	t.Run("round 2 has a raised priority, the first attempt and its failure, and is resolved (S3-37 S3-38 S3-48)", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, files("3"))
		s.ports(0, "model=passed", "check=passed", "after=passed")
		x := s.is("FB-001 resolved II")[0]
		if x.Priority != feedback.High || len(x.Attempts) != 2 {
			t.Errorf("%+v", x)
		}
		fed := s.read("fed-2")
		for _, want := range []string{"(FB-001, round 2 of 2, high)", "## Round 1 was tried before", "fix 1", "try 2 is not enough"} {
			if !strings.Contains(fed, want) {
				t.Errorf("%q is not in\n%s", want, fed)
			}
		}
	})
	t.Run("a failure after round 2 goes to the root, and people are told (S3-28 S3-29 S3-39 S3-49)", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, files("9"))
		errs := s.ports(1, "model=passed", "check=paused", "after=paused")
		all := s.is("FB-001 failed II", "FB-002 processing I", "FB-003 rejected")
		if all[0].FailedAt.IsZero() || all[1].Message.Type != feedback.ArchitectureIssue || all[1].Escalates != "FB-001" || !strings.Contains(errs, "FB-002 asks for a change of the plan") {
			t.Errorf("%+v\n%s", all, errs)
		}
		if got := s.read("refused"); !strings.Contains(got, "Max feedback rounds (2) exceeded for check → model") || !strings.Contains(got, "Feedback loop limit reached, aborting") || strings.Count(s.read("tries"), "try") != 3 {
			t.Errorf("%q, %s", got, s.read("tries"))
		}
	})
}

func TestFeedbackRequestsCycleAndQuestion(t *testing.T) {
	t.Parallel()
	t.Run("A to B to A is refused while A waits, and B goes on (S3-36 S3-15)", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, map[string]string{
			"ports/plan.yml": "- {id: b, parent: a, impl: sh b.sh, test: sh ok.sh}\n- {id: a, depends_on: b, test: sh a.sh}\n",
			"b.sh": `if [ -n "$SWITCHBACK_FEEDBACK" ]; then touch fixed
"$SWITCHBACK_BIN" feedback send --to a --type FIX_REQUEST --message "it is your fault" --fix "fix it yourself" 2> refused && exit 1; fi; true`,
			"a.sh": `if [ -f fixed ]; then . ./ok.sh; exit 0; fi
"$SWITCHBACK_BIN" feedback send --to b --type FIX_REQUEST --message broken --fix "fix it"; exit 1`,
		})
		s.ports(0, "a=passed", "b=passed")
		s.is("FB-001 resolved I", "FB-002 rejected")
		if got := s.read("refused"); !strings.Contains(got, "Feedback cycle detected: a → b → a") {
			t.Error(got)
		}
	})
	t.Run("a question is answered by the target's run, and the sender is handed the answer (S3-10)", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, map[string]string{
			"ports/plan.yml": "- {id: model, impl: sh model.sh, test: sh ok.sh}\n- {id: service, depends_on: model, impl: sh service.sh, test: \"[ -f called ] && . ./ok.sh\"}\n",
			"model.sh":       `[ -z "$SWITCHBACK_FEEDBACK" ] || { "$SWITCHBACK_BIN" feedback receive > got; "$SWITCHBACK_BIN" feedback answer FB-001 --text "It is called pay(amount)" --file model.rb; }`,
			"service.sh": `if [ -n "$SWITCHBACK_FEEDBACK" ]; then grep -q 'pay(amount)' "$SWITCHBACK_FEEDBACK" && cp "$SWITCHBACK_FEEDBACK" called
else "$SWITCHBACK_BIN" feedback send --to model --type CONTEXT_REQUEST --message "How do I pay?" --info "the method's name"; fi`,
		})
		s.ports(0, "model=passed", "service=passed")
		x := s.is("FB-001 resolved I")[0]
		if x.Answer() != "It is called pay(amount)" || !strings.Contains(s.read("got"), `"requested_info": "the method's name"`) || !strings.HasPrefix(s.read("called"), "# Answer of model (FB-001)") {
			t.Errorf("%+v\n%s\n%s", x, s.read("got"), s.read("called"))
		}
	})
}
