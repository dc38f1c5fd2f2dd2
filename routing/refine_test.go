package routing

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// review returns a verdict of review n, of a commit of its own.
func review(n int, r ReviewResult) Verdict {
	return ReviewVerdict("review", Run{ID: fmt.Sprint(n), SHA: fmt.Sprintf("%040x", n)}, r, DefaultPolicy().FailOn)
}

func rejected(categories ...string) ReviewResult {
	r := ReviewResult{Decision: Rejected, Feedback: "no"}
	for _, c := range categories {
		r.Issues = append(r.Issues, ReviewIssue{Severity: Critical, Category: c, Description: "fix " + c, File: "a.go", Line: 7, SuggestedFix: "do it"})
	}
	return r
}

func TestReview(t *testing.T) {
	t.Run("S4-2 S4-11 a rejected review is reworked", func(t *testing.T) {
		w := newWorld(t)
		if d := w.analyze(review(1, rejected("testing"))); d.Kind != KindRetry || d.Phase != Implement {
			t.Errorf("%s %s", d.Kind, d.Phase)
		}
	})
	t.Run("S4-3 S4-16 an approved review is done", func(t *testing.T) {
		w := newWorld(t)
		d := w.analyze(review(1, ReviewResult{Decision: Approved, Passed: true}))
		if d.Kind != KindPass || Assess(w.c.Checkpoints["review"], w.p).Kind != ActionDone {
			t.Error(d.Kind)
		}
	})
	t.Run("S4-18 only the latest review counts", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(review(1, rejected("testing")))
		w.analyze(review(2, ReviewResult{Decision: Approved}))
		if got := Assess(w.c.Checkpoints["review"], w.p).Kind; got != ActionDone {
			t.Error(got)
		}
	})
	t.Run("S4-40 the feedback line counts issues and leaves out zero parts", func(t *testing.T) {
		r := ReviewResult{Issues: []ReviewIssue{{Severity: Critical}, {Severity: Blocker}, {Severity: Critical}}}
		if got := r.Summary(); got != "Review failed: 1 blocker(s), 2 critical" {
			t.Error(got)
		}
		r.Issues = r.Issues[:1]
		if got := r.Summary(); got != "Review failed: 1 critical" {
			t.Error(got)
		}
	})
	t.Run("S4-42 S4-43 S4-44 S4-45 S4-46 a structured review is read and validated", func(t *testing.T) {
		var r ReviewResult
		in := `{"passed":false,"decision":"REJECTED","severity":"HIGH","issues":[{"severity":"blocker","category":"security","description":"d","file":"a.go","line":3,"suggestedFix":"f"}],"feedback":"x"}`
		if err := json.Unmarshal([]byte(in), &r); err != nil || r.Validate() != nil {
			t.Fatal(err, r.Validate())
		}
		f := ReviewVerdict("review", Run{ID: "1"}, r, nil).Failures[0]
		if f.File != "a.go" || f.Line != 3 || f.Suggestion != "f" || f.Message != "d" {
			t.Errorf("%+v", f)
		}
		for _, bad := range []string{`{"decision":"MAYBE"}`, `{"decision":"REJECTED","severity":"huge"}`, `{"decision":"REJECTED","issues":[{"severity":"bad"}]}`, `{}`} {
			var r ReviewResult
			_ = json.Unmarshal([]byte(bad), &r)
			if r.Validate() == nil {
				t.Errorf("%s was accepted", bad)
			}
		}
	})
	for _, c := range []struct {
		name string
		r    ReviewResult
		want ReviewDecision
		ok   bool // it is valid
	}{
		{"nothing said", ReviewResult{}, ReviewFailed, false},
		{"passed alone", ReviewResult{Passed: true}, Approved, true},
		{"issues alone, below the limits", ReviewResult{Issues: []ReviewIssue{{Severity: Minor}}}, Approved, true},
		{"issues alone, at a limit", ReviewResult{Passed: true, Issues: []ReviewIssue{{Severity: Major}, {Severity: Major}}}, Rejected, true},
		{"approved, below a limit", ReviewResult{Decision: Approved, Issues: []ReviewIssue{{Severity: Major}}}, Approved, true},
		{"approved, a severity without a limit", ReviewResult{Decision: Approved, Issues: []ReviewIssue{{Severity: Blocker}}}, Approved, true},
		{"rejected without issues", ReviewResult{Decision: Rejected, Passed: true}, Rejected, true},
		{"failed with issues", ReviewResult{Decision: ReviewFailed, Issues: []ReviewIssue{{Severity: Major}, {Severity: Major}}}, ReviewFailed, true},
	} {
		t.Run("S4-44 the decision that counts: "+c.name, func(t *testing.T) {
			if got, err := c.r.Outcome(FailOn{Major: 2, Blocker: 0}), c.r.Validate(); got != c.want || (err == nil) != c.ok {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	t.Run("the class and the failures of a rejected review", func(t *testing.T) {
		words := strings.Repeat("w ", 9)
		for _, c := range []struct {
			issues []ReviewIssue
			class  Class
			prints []string
		}{
			{nil, LogicError, []string{"review"}},
			{[]ReviewIssue{{Severity: Minor, Category: "Style", File: "A.go", Description: "Name it"}}, Quality, []string{"review:style:a.go:name it"}},
			{[]ReviewIssue{{Severity: Minor, Category: "style", Description: words}, {Severity: Major, Category: "bug"}}, LogicError, []string{"review:style::" + strings.TrimSpace(strings.Repeat("w ", 8)), "review:bug::"}},
		} {
			v := ReviewVerdict("review", Run{ID: "1"}, ReviewResult{Decision: Rejected, Issues: c.issues}, nil)
			var prints []string
			for i, f := range v.Failures {
				prints = append(prints, f.Fingerprint)
				if f.Decisive != (i == 0) {
					t.Errorf("failure %d decides: %v", i, f.Decisive)
				}
			}
			if v.Class != c.class || !reflect.DeepEqual(prints, c.prints) {
				t.Errorf("%s %q", v.Class, prints)
			}
		}
	})
	t.Run("a review that approves with a blocker is not believed", func(t *testing.T) {
		r := ReviewResult{Decision: Approved, Passed: true, Issues: []ReviewIssue{{Severity: Blocker, Category: "security"}}}
		if d := newWorld(t).analyze(review(1, r)); d.Kind != KindRetry {
			t.Error(d.Kind)
		}
	})
}

func TestTargetPhase(t *testing.T) {
	cases := []struct {
		name string
		cats []string
		want Phase
	}{
		{"S4-56 requirements go to research", []string{"requirements"}, Research},
		{"S4-56 understanding goes to research", []string{"Understanding"}, Research},
		{"S4-56 missing information goes to research", []string{"missing-information"}, Research},
		{"S4-57 architecture goes to plan", []string{"architecture"}, Plan},
		{"S4-57 design goes to plan", []string{"API design"}, Plan},
		{"S4-57 approach goes to plan", []string{"approach"}, Plan},
		{"S4-58 anything else goes to implement", []string{"code_quality", "security", "testing"}, Implement},
		{"S4-58 information disclosure is security", []string{"information disclosure"}, Implement},
		{"S4-56 words are told apart by whatever stands between them", []string{"missing_information"}, Research},
		{"S4-56 a path of categories", []string{"scope/requirements"}, Research},
		{"S4-57 a list of categories", []string{"testing,architecture"}, Plan},
		{"S4-57 a category with a prefix", []string{"review:approach"}, Plan},
		{"S4-58 a word within another says nothing", []string{"designated", "explanation"}, Implement},
		{"S4-59 research comes before plan and implement", []string{"testing", "design", "requirements"}, Research},
		{"S4-59 plan comes before implement", []string{"testing", "design"}, Plan},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := TargetPhase(review(1, rejected(c.cats...))); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
	t.Run("S4-60 the issues' categories decide, not their descriptions", func(t *testing.T) {
		r := rejected("testing")
		r.Issues[0].Description = "the architecture and the requirements are fine"
		if got := TargetPhase(review(1, r)); got != Implement {
			t.Error(got)
		}
	})
}

func TestRefinementTracking(t *testing.T) {
	w := newWorld(t)
	w.analyze(review(1, rejected("testing", "security")))
	w.analyze(review(2, rejected("design")))
	cp := w.c.Checkpoints["review"]
	t.Run("S4-4 S4-36 S4-41 refinement_count is the number of recorded iterations", func(t *testing.T) {
		if cp.Retries != 2 || len(cp.Iterations) != 2 {
			t.Errorf("%d, %d", cp.Retries, len(cp.Iterations))
		}
	})
	t.Run("S4-37 S4-38 an iteration holds its number, agent, start, feedback and result", func(t *testing.T) {
		b, _ := json.Marshal(cp.Iterations[1])
		for _, want := range []string{`"iteration":2`, `"agent_type":"plan"`, `"started_at":"2026`, `"review_feedback":"Review failed: 1 critical"`, `"result":"in_progress"`} {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s lacks %s", b, want)
			}
		}
	})
	t.Run("S4-39 the older entry is closed when its review arrives", func(t *testing.T) {
		if cp.Iterations[0].Result != "failed" {
			t.Error(cp.Iterations[0].Result)
		}
		w.analyze(review(3, ReviewResult{Decision: Approved}))
		if got := w.c.Checkpoints["review"].Iterations[1].Result; got != "success" {
			t.Error(got)
		}
	})
	t.Run("S4-8 notes are appended", func(t *testing.T) {
		if len(cp.Notes) != 2 || !strings.Contains(cp.Notes[0], "2 critical") {
			t.Error(cp.Notes)
		}
	})
	t.Run("S4-6 S4-7 the target phase's flag and the later ones are reset, earlier ones stay", func(t *testing.T) {
		want := map[Phase]bool{Research: true, Plan: false, Implement: false, Review: false}
		if !reflect.DeepEqual(cp.Phases, want) {
			t.Error(cp.Phases)
		}
	})
	t.Run("S4-5 the turn keeps the feedback with the work it was about", func(t *testing.T) {
		turn := cp.Attempts[1]
		if turn.Verdict.Review == nil || turn.Verdict.Run.SHA == "" || turn.Verdict.Failures[0].File != "a.go" {
			t.Errorf("%+v", turn.Verdict)
		}
	})
	t.Run("S4-51 last_error is set at the limit and kept", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 1
		for n := 1; n <= 4; n++ {
			w.analyze(review(n, rejected("testing")))
		}
		if got := w.c.Checkpoints["review"].LastError; got != "reached max refinement attempts (1/1)" {
			t.Error(got)
		}
	})
}

func TestAssess(t *testing.T) {
	p := DefaultPolicy()
	all := map[Phase]bool{Research: true, Plan: true, Implement: true}
	failed := Attempt{Kind: KindMaxRetry, Phase: Implement}
	cases := []struct {
		name string
		cp   Checkpoint
		want ActionKind
		prio int
	}{
		{"S4-1 nothing done begins with research", Checkpoint{}, ActionResearch, PriorityPhase},
		{"S4-1 after research comes the plan", Checkpoint{Phases: map[Phase]bool{Research: true}}, ActionPlan, 600},
		{"S4-17 not implemented gives implement", Checkpoint{Phases: map[Phase]bool{Research: true, Plan: true}}, ActionImplement, 700},
		{"S4-1 after the implementation comes the review", Checkpoint{Phases: all}, ActionReview, 800},
		{"S4-12 a failed review gives rework with priority 450", Checkpoint{Phases: all, Limited: true, Limit: 3, Attempts: []Attempt{{Kind: KindNone}}}, ActionRework, PriorityRework},
		{"S4-13 S4-14 at the limit a low-priority manual action and no rework", Checkpoint{Phases: all, Retries: 3, Limited: true, Limit: 3, Attempts: []Attempt{failed}}, ActionManual, PriorityManual},
		{"S4-15 reworked since the last review gives review and not rework", Checkpoint{Phases: all, Retries: 1, Limited: true, Limit: 3, Attempts: []Attempt{{Kind: KindRetry}}}, ActionReview, 800},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Assess(c.cp, p); got.Kind != c.want || got.Priority != c.prio {
				t.Errorf("got %+v", got)
			}
		})
	}
	for _, c := range []struct {
		name string
		cp   Checkpoint
		want Action
	}{
		{"S4-16 what passed is done", Checkpoint{State: Completed}, Action{ActionDone, PriorityManual, "", "passed"}},
		{"what is skipped is done, although it escalated", Checkpoint{State: Escalated, Skipped: true}, Action{ActionDone, PriorityManual, "", "passed"}},
		{"what escalated says why it waits", Checkpoint{State: Escalated, LastError: "no disk"}, Action{ActionManual, PriorityManual, "", "no disk"}},
		{"what is paused waits", Checkpoint{State: InProgress, Paused: true}, Action{ActionManual, PriorityManual, "", "waits for a human"}},
		{"a rework that waits for its call", Checkpoint{Waiting: true, Retries: 1, Attempts: []Attempt{{Kind: KindRetry, Phase: Plan}}}, Action{ActionRework, PriorityRework, Plan, "fix attempt 1 of 3 waits for its call"}},
		{"a rework of which no turn is known", Checkpoint{Waiting: true}, Action{ActionRework, PriorityRework, Implement, "fix attempt 0 of 3 waits for its call"}},
		{"S4-12 a failure goes back to the phase of its turn", Checkpoint{Attempts: []Attempt{{Kind: KindNone, Phase: Plan}}}, Action{ActionRework, PriorityRework, Plan, "the last verdict is a failure"}},
		{"a failure of an earlier streak counts no more", Checkpoint{Streak: 1, Phases: all, Attempts: []Attempt{{Kind: KindEnv}}}, Action{ActionReview, 800, Review, "not done yet"}},
		{"S4-18 a pass is no failure", Checkpoint{Phases: all, Attempts: []Attempt{{Kind: KindPass}}}, Action{ActionReview, 800, Review, "not done yet"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Assess(c.cp, p); got != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("S4-9 S4-49 the breaker is asked before the rework", func(t *testing.T) {
		cp := Checkpoint{Retries: 3, Limited: true, Limit: 3, Attempts: []Attempt{{Kind: KindNone}}}
		if got := Assess(cp, p); got.Kind != ActionManual {
			t.Error(got)
		}
		w := newWorld(t)
		w.p.Max = 0
		if d := w.analyze(run(1, Fail, LogicError)); hasEffect(d, EffectHandoff) {
			t.Error("handed over at the limit")
		}
	})
	t.Run("S4-22 in auto mode a rework is handed over by itself", func(t *testing.T) {
		if d := newWorld(t).analyze(review(1, rejected("testing"))); !hasEffect(d, EffectHandoff) {
			t.Error(effectKinds(d))
		}
	})
	t.Run("S4-23 in manual mode each rework needs a call of its own", func(t *testing.T) {
		w := newWorld(t)
		w.p.Manual = true
		if d := w.analyze(run(1, Fail, LogicError)); hasEffect(d, EffectHandoff) || !w.c.Checkpoints["unit"].Waiting {
			t.Fatalf("%v", effectKinds(d))
		}
		for _, e := range w.c.Pending {
			w.add(EffectEvent("", EffectDone{Effect: e}, w.now))
		}
		w.human(HumanHandoff, 0)
		if len(w.c.Pending) != 1 || w.c.Pending[0].Kind != EffectHandoff {
			t.Errorf("%+v", w.c.Pending)
		}
		if _, err := w.c.Apply(HumanEvent("", HumanActed{Checkpoint: "unit", Action: HumanHandoff}, w.now)); err == nil {
			t.Error("a second call was accepted")
		}
	})
	t.Run("X-9 a lower number runs first", func(t *testing.T) {
		if PriorityRework >= PriorityPhase || PriorityPhase >= PriorityManual {
			t.Error("order")
		}
	})
}
