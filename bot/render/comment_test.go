package render

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

func options() Options { return Options{Repo: "acme/shop", Mention: "@author", Redact: secretive} }

// stories are the cases of the golden files.
func stories(t testing.TB) map[string]routing.Case {
	P := routing.DefaultPolicy()
	F, L, N := routing.Fail, routing.LogicError, routing.NotImplemented
	first := runOf(1, F, L, coupon(), missing())
	second := runOf(2, F, L, coupon(), cartTotal())
	second.Notes = []string{"junit.xml: 3 test cases without a name were skipped"}
	env := routing.Failure{Name: "", Class: routing.EnvIssue, Kind: "problem", Fingerprint: "v1:env", Message: "npm ERR! network request to https://registry.example/left-pad failed, reason: getaddrinfo ENOTFOUND",
		Suggestion: "A host name could not be resolved: registry.example. Check the name, DNS and network of the runner; rerun once if the name is right.", Certain: true,
		Evidence: []routing.Evidence{{Line: 77, Text: "npm ERR! getaddrinfo ENOTFOUND registry.example", Signal: "dns"}}}
	envRun := runOf(1, F, routing.EnvIssue, env)
	envRun.Counts, envRun.Reason = routing.Counts{}, "a host name could not be resolved"
	design := coupon()
	design.Class = routing.DesignMismatch
	unclear := routing.Verdict{Checkpoint: "unit", Result: routing.Unclear, Reason: "the report holds no test", Run: first.Run}
	timeout := func(n int) routing.Verdict {
		v := runOf(n, routing.TimedOut, routing.Timeout)
		v.Reason = "the job's limit of 30 minutes fired"
		return v
	}
	bulk := runOf(1, F, L, many(500)...)
	bulk.Counts = routing.Counts{Tests: 900, Passed: 400, Failed: 500}
	return map[string]routing.Case{
		"first":         play(t, P, first),
		"second":        play(t, P, first, second),
		"bulk":          play(t, P, bulk),
		"hostile":       play(t, P, runOf(1, F, L, hostile(), coupon())),
		"pass":          play(t, P, first, second, runOf(3, routing.Pass, "")),
		"max_retry":     play(t, P, runOf(1, F, N, missing(), coupon()), runOf(2, F, L, coupon()), runOf(3, F, L, coupon()), runOf(4, F, L, coupon())),
		"design":        play(t, P, runOf(1, F, routing.DesignMismatch, design)),
		"env":           play(t, P, envRun),
		"unclear":       play(t, P, unclear),
		"timeout":       play(t, P, timeout(1), timeout(2), timeout(3), timeout(4)),
		"nothing_known": {Key: caseKey},
	}
}

func TestCommentGolden(t *testing.T) {
	t.Parallel()
	for name, c := range stories(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options()
			got := Comment(c, "unit", o)
			inert(t, got, o)
			if name == "bulk" {
				o.Limit = 9_000
				got = Comment(c, "unit", o)
				inert(t, got, o)
			}
			golden(t, "comment_"+name+".md", got)
			if m, ok := marker.Parse(string(got)); !ok || m.Key != CommentKey(caseKey, "unit") || m.Gen != c.Version {
				t.Errorf("marker %+v, %v", m, ok)
			}
		})
	}
	t.Run("S0-36 korean", func(t *testing.T) {
		t.Parallel()
		o := options()
		o.Language = Korean
		all := stories(t)
		for _, name := range []string{"second", "pass", "max_retry"} {
			got := Comment(all[name], "unit", o)
			inert(t, got, o)
			golden(t, "comment_"+name+"_ko.md", got)
		}
	})
}

func TestCommentHoldsWhatIsNeededToAct(t *testing.T) {
	t.Parallel()
	all := stories(t)
	got := Comment(all["second"], "unit", options())
	for id, wants := range map[string][]string{
		"S4-21 attempt of max":           {"### ❌ unit: 2 of 120 tests failed · fix attempt 2 of 3\n"},
		"S0-28 a failure summary":        {"2 of 120 tests failed", "| 🔁 still | `test_percent_coupon_is_capped`<br>", " | expected `Decimal('50.00')`, got `Decimal('60.00')` |"},
		"S0-29 concrete suggestions":     {"**Do this:** Apply the cap in `Coupon.apply`"},
		"S0-30 a code example":           {"> 30 |         return replace(cart, discount=amount)", "- Decimal('50.00')\n+ Decimal('60.00')"},
		"S0-27 file and line":            {"[`tests/test_coupon.py:41`](https://github.com/acme/shop/blob/" + commit(2) + "/tests/test_coupon.py#L41)"},
		"S0-26 class and evidence":       {"**wrong result** · ", "line 212 of the output"},
		"what changed since":             {"✅ 1 fixed · 🔁 1 still failing · 🆕 1 new", "fixed: `test_coupon_expires`", "| 🆕 new | `test_total_with_tax`<br>"},
		"the run and its notes":          {"https://github.com/acme/shop/actions/runs/7002", "3 test cases without a name were skipped"},
		"the mention":                    {"@author please fix this"},
		"only the changed lines differ":  {"  book      120.00\n", "- tax         7.00\n"},
		"earlier turns in a small table": {"<summary>1 earlier run</summary>", "| [1](https://github.com/acme/shop/actions/runs/7001) | returned for a fix |"},
	} {
		t.Run(id, func(t *testing.T) {
			for _, w := range wants {
				if !strings.Contains(string(got), w) {
					t.Errorf("no %q in\n%s", w, got)
				}
			}
		})
	}
	t.Run("S0-35 a pass makes no feedback", func(t *testing.T) {
		if got := Comment(all["pass"], "unit", options()); strings.Contains(string(got), "Do this") || strings.Contains(string(got), "@author") {
			t.Errorf("asks for work:\n%s", got)
		}
	})
	t.Run("S4-23 a manual rework says how it is called", func(t *testing.T) {
		p := routing.DefaultPolicy()
		p.Manual = true
		got := Comment(play(t, p, runOf(1, routing.Fail, routing.LogicError, coupon())), "unit", options())
		if !strings.Contains(string(got), "`/switchback handoff unit`") || strings.Contains(string(got), "@author") {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("S0-23 an escalation names the issue and who acts", func(t *testing.T) {
		o := options()
		o.IssueURL = "https://github.com/acme/shop/issues/40"
		got := Comment(all["max_retry"], "unit", o)
		for _, w := range []string{"[\\#40](https://github.com/acme/shop/issues/40)", "Who must act: @author.", "`/switchback resume unit`", "3 of 3 fix attempts"} {
			if !strings.Contains(string(got), w) {
				t.Errorf("no %q in\n%s", w, got)
			}
		}
	})
}

func TestUnseenIsNotFixed(t *testing.T) {
	t.Parallel()
	build := routing.Failure{Name: "shop", Class: routing.TypeError, Kind: "build", Fingerprint: "v1:b", File: "shop/x.go", Line: 1, Message: "undefined: y"}
	broken := runOf(2, routing.Fail, routing.TypeError, build)
	broken.Counts = routing.Counts{}
	c := play(t, routing.DefaultPolicy(), runOf(1, routing.Fail, routing.LogicError, coupon()), broken)
	got := Comment(c, "unit", options())
	if strings.Contains(string(got), "fixed") && !strings.Contains(string(got), `"fixed": []`) || !strings.Contains(string(got), "1 not seen in this run") {
		t.Errorf("a build failure counted as a fix:\n%s", got)
	}
}

func TestRenamedTestIsNotNew(t *testing.T) {
	t.Parallel()
	before, after := coupon(), coupon()
	after.Name = "test_renamed"
	d := compare(runOf(1, routing.Fail, routing.LogicError, before), runOf(2, routing.Fail, routing.LogicError, after), nil, nil)
	if len(d.fresh) != 0 || len(d.fixed) != 0 || len(d.still) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestCommentFits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 40, 500, 2000} {
		c := play(t, routing.DefaultPolicy(), runOf(1, routing.Fail, routing.LogicError, many(n)...), runOf(2, routing.Fail, routing.LogicError, many(n)...))
		for _, limit := range []int{0, 60_000, 20_000, 5_000, 2_000, 300} {
			o := options()
			o.Limit = limit
			got := Comment(c, "unit", o)
			if len(got) > o.MaxBytes() || !utf8.ValidString(string(got)) {
				t.Errorf("%d failures, limit %d: %d bytes", n, limit, len(got))
			}
			if _, ok := marker.Parse(string(got)); !ok {
				t.Errorf("%d failures, limit %d: no marker", n, limit)
			}
			inert(t, got, o)
			if m := packetBlock.FindStringSubmatch(string(got)); m != nil && !json.Valid([]byte(m[1])) {
				t.Errorf("%d failures, limit %d: the packet is not JSON", n, limit)
			}
			if n == 2000 && limit == 0 && !strings.Contains(string(got), "Left out here: details of causes (1990)") {
				t.Errorf("does not say what was dropped:\n%s", got[len(got)-3000:])
			}
			for name, s := range map[string]string{"issue": string(IssueBody(c, "unit", o)), "feedback": string(Feedback(c, "unit", 2, o)), "check": string(Check(c, "unit", "", o).Summary)} {
				if len(s) > o.MaxBytes() && limit != 300 {
					t.Errorf("%s of %d failures, limit %d: %d bytes", name, n, limit, len(s))
				}
			}
			if b := Packet(c, "unit", o); !json.Valid(b) || len(b) > o.MaxBytes() && limit > 2000 {
				t.Errorf("packet of %d failures, limit %d: %d bytes", n, limit, len(b))
			}
		}
	}
}

var packetBlock = regexp.MustCompile("(?s)\n`{3,}json\n(.*?)\n`{3,}\n")

func TestPacket(t *testing.T) {
	t.Parallel()
	c := stories(t)["second"]
	var p map[string]any
	if err := json.Unmarshal(Packet(c, "unit", options()), &p); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"case", "checkpoint", "iteration", "max", "sha", "run", "decision", "rule", "phase", "class", "failures", "changed", "history"} {
		if _, ok := p[k]; !ok {
			t.Errorf("no %s", k)
		}
	}
	if p["switchback"] != 1.0 || p["iteration"] != 2.0 || p["max"] != 3.0 || p["case"] != caseKey {
		t.Errorf("%v", p)
	}
	f := p["failures"].([]any)[0].(map[string]any)
	if f["name"] != "test_percent_coupon_is_capped" || f["expected"] != "Decimal('50.00')" || f["line"] != 41.0 {
		t.Errorf("%v", f)
	}
	m := packetBlock.FindStringSubmatch(string(Comment(c, "unit", options())))
	if m == nil || !json.Valid([]byte(m[1])) {
		t.Error("the comment holds no packet")
	}
}

func TestSecretsAreRemoved(t *testing.T) {
	t.Parallel()
	f := hostile()
	f.Message = "token \x1b[1mghp_0123456789abcdefghij\x1b[0m0123456789abcdef"
	f.Evidence[0].Text, f.Suggestion, f.Name = f.Message, f.Message, f.Message
	c := play(t, routing.DefaultPolicy(), runOf(1, routing.Fail, routing.LogicError, f), runOf(2, routing.Fail, routing.LogicError, f))
	o := options()
	d := routing.Decision{Kind: routing.KindRetry, Reason: f.Message, Verdict: runOf(2, routing.Fail, routing.LogicError, f)}
	ck := Check(c, "unit", "", o)
	for name, s := range map[string]string{
		"comment": string(Comment(c, "unit", o)), "issue": string(IssueBody(c, "unit", o)), "feedback": string(Feedback(c, "unit", 2, o)), "packet": string(Packet(c, "unit", o)),
		"check": fmt.Sprint(ck), "summary": string(Summary(c, "unit", d, o)), "text": Text("unit", d, o), "details": Details(c, o),
	} {
		if strings.Contains(s, "ghp_") {
			t.Errorf("%s shows the secret:\n%s", name, s)
		}
	}
}
