package analysis

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing"
)

func review(decision, issues string) Source {
	return text("review.json", `{"decision":"`+decision+`","feedback":"as said","issues":[`+issues+`]}`)
}

func issue(sev, category string) string {
	return `{"severity":"` + sev + `","category":"` + category + `","description":"it is wrong","file":"a.go","line":3}`
}

// A review is read where a report is expected, and joins what the tests said.
func TestReviewFiles(t *testing.T) {
	t.Parallel()
	on := routing.DefaultPolicy().FailOn
	green, red := text("g.xml", greenXML), text("r.xml", redXML)
	long := text("review.json", `{"feedback":"`+strings.Repeat("much to say ", 300)+`","issues":[`+issue("blocker", "design")+`],"decision":"REJECTED"}`)
	for _, c := range []struct {
		name       string
		sources    []Source
		conclusion string
		result     routing.Result
		reason     string
	}{
		{"approved", []Source{review("APPROVED", "")}, "success", routing.Pass, ""},
		{"rejected", []Source{review("REJECTED", issue("major", "tests"))}, "success", routing.Fail, "Review failed: 1 major"},
		{"approved with a blocker", []Source{review("APPROVED", issue("blocker", "x")+","+issue("critical", "y")+","+issue("critical", "z"))}, "", routing.Fail, "Review failed: 1 blocker(s), 2 critical"},
		{"the review failed", []Source{review("FAILED", "")}, "success", routing.Errored, "the review itself failed"},
		{"the decision comes last", []Source{long}, "", routing.Fail, "1 blocker(s)"},
		{"with a byte order mark", []Source{text("review.json", "\xef\xbb\xbf"+`{"decision":"REJECTED","issues":[`+issue("major", "x")+`]}`)}, "", routing.Fail, "1 major"},
		{"an unknown decision", []Source{review("MAYBE", "")}, "success", routing.Unclear, `decision "MAYBE" is not one of APPROVED, REJECTED, FAILED`},
		{"an unknown severity", []Source{review("APPROVED", issue("bad", "x"))}, "success", routing.Unclear, `issues[0].severity "bad"`},
		{"approved and not passed", []Source{text("review.json", `{"passed":false,"decision":"APPROVED","issues":[]}`)}, "success", routing.Unclear, "decision is APPROVED, but passed is false"},
		{"wrong types", []Source{text("review.json", `{"decision":"APPROVED","issues":"none"}`)}, "success", routing.Unclear, "is no valid review"},
		{"truncated", []Source{text("review.json", `{"decision":"APPROVED","issues":[`)}, "success", routing.Unclear, ""},
		{"approved, but the job failed", []Source{review("APPROVED", "")}, "failure", routing.Unclear, "the review approved, but the run ended as failure"},
		{"approved, but the job was cancelled", []Source{review("APPROVED", "")}, "cancelled", routing.Unclear, "cancelled"},
		{"approved, but a report is unreadable", []Source{review("APPROVED", ""), text("r.xml", "")}, "success", routing.Unclear, "r.xml is empty"},
		{"approved, and the tests pass", []Source{review("APPROVED", ""), green}, "success", routing.Pass, ""},
		{"approved, but a test fails", []Source{review("APPROVED", ""), red}, "success", routing.Fail, "test_b"},
		{"rejected, and the tests pass", []Source{green, review("REJECTED", issue("major", "x"))}, "success", routing.Fail, "Review failed: 1 major"},
		{"the review failed, and a test fails", []Source{red, review("FAILED", "")}, "success", routing.Fail, "test_b"},
		{"two reviews, the second approves", []Source{review("REJECTED", issue("major", "x")), review("APPROVED", "")}, "", routing.Fail, "1 major"},
		{"two reviews, the first approves", []Source{review("APPROVED", issue("minor", "y")), review("REJECTED", issue("major", "x"))}, "", routing.Fail, "1 major, 1 minor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := run(t, Input{Sources: c.sources, Conclusion: c.conclusion, FailOn: on, Reviews: true}).Verdict
			if v.Result != c.result {
				t.Errorf("%s (%s), want %s", v.Result, v.Reason, c.result)
			}
			if all := v.Reason + "\n" + strings.Join(v.Notes, "\n"); !strings.Contains(all, c.reason) {
				t.Errorf("%q is not said:\n%s", c.reason, all)
			}
		})
	}
}

func TestRejectedAndFailingKeepsBoth(t *testing.T) {
	t.Parallel()
	v := run(t, Input{Sources: []Source{text("r.xml", redXML), review("REJECTED", issue("blocker", "design"))}, Reviews: true}).Verdict
	if len(v.Failures) != 2 || v.Failures[0].Name != "test_b" || !v.Failures[0].Decisive || v.Failures[1].Kind != "review" || v.Failures[1].Decisive {
		t.Errorf("%+v", v.Failures)
	}
}

func TestFailOn(t *testing.T) {
	t.Parallel()
	n := func(k int, sev string) Source {
		return review("APPROVED", strings.TrimSuffix(strings.Repeat(issue(sev, "x")+",", k), ","))
	}
	for _, c := range []struct {
		name, yaml string
		review     Source
		want       routing.Result
	}{
		{"S4-48 one blocker fails by default", "", n(1, "blocker"), routing.Fail},
		{"S4-48 one critical fails by default", "", n(1, "critical"), routing.Fail},
		{"S4-48 any number of major issues passes by default", "", n(20, "major"), routing.Pass},
		{"S4-48 any number of minor issues passes by default", "", n(20, "minor"), routing.Pass},
		{"S4-48 two major issues fail when configured so", "review: {fail_on: {major: 2}}", n(2, "major"), routing.Fail},
		{"S4-48 one is then still below", "review: {fail_on: {major: 2}}", n(1, "major"), routing.Pass},
		{"S4-48 what is configured replaces the default", "review: {fail_on: {critical: 2}}", n(1, "critical"), routing.Pass},
		{"S4-48 zero means never", "review: {fail_on: {blocker: 0}}", n(5, "blocker"), routing.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := config.Parse("sb.yml", []byte(c.yaml))
			if err != nil {
				t.Fatal(err)
			}
			v := run(t, Input{Sources: []Source{c.review}, FailOn: f.Policy("review", "", nil).FailOn, Reviews: true}).Verdict
			if v.Result != c.want {
				t.Errorf("%s (%s), want %s", v.Result, v.Reason, c.want)
			}
		})
	}
}

// A test can write any file where a report is expected, so a review document decides only where the
// configuration declares a review, and never in place of the criteria.
func TestReviewDocumentIsNoGreen(t *testing.T) {
	t.Parallel()
	approved := text("junit.xml", `{"decision":"APPROVED","passed":true,"issues":[]}`)
	const strict = "criteria: {min_tests: 100, require_report: true}\n"
	for _, c := range []struct {
		name, yaml, checkpoint string
		sources                []Source
		result                 routing.Result
		unmet                  int
		said                   string
	}{
		{"S5-28 a checkpoint of tests takes no review document for a report", "", "unit", []Source{approved}, routing.Unclear, 0, "junit.xml is a review document"},
		{"S5-28 nor beside a green report", "", "unit", []Source{text("g.xml", greenXML), approved}, routing.Unclear, 0, "what could be read passed, but junit.xml is a review document"},
		{"S5-28 nor does a rejection disappear behind a green report", "", "unit", []Source{text("g.xml", greenXML), review("REJECTED", issue("blocker", "x"))}, routing.Unclear, 0, "is a review document"},
		{"S5-28 the checkpoint of reviews accepts it", "", "review", []Source{approved}, routing.Pass, 0, ""},
		{"S5-28 that of another name, once it is configured", "review: {checkpoint: design}", "design", []Source{approved}, routing.Pass, 0, ""},
		{"S5-28 and then the default name does not", "review: {checkpoint: design}", "review", []Source{approved}, routing.Unclear, 0, "is a review document"},
		{"S5-28 a declared checkpoint accepts it", "checkpoints: {security: {review: true}}", "security", []Source{approved}, routing.Pass, 0, ""},
		{"S5-28 criteria apply to a declared review as well", strict, "review", []Source{approved}, routing.Pass, 2, ""},
		{"S5-28 each by itself", "criteria: {min_tests: 1}", "review", []Source{approved}, routing.Pass, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := config.Parse("sb.yml", []byte(c.yaml))
			if err != nil {
				t.Fatal(err)
			}
			v := run(t, Input{Sources: c.sources, Conclusion: "success", Criteria: f.CriteriaOf(c.checkpoint), FailOn: f.Policy(c.checkpoint, "", nil).FailOn, Reviews: f.AcceptsReviews(c.checkpoint)}).Verdict
			if v.Result != c.result || len(v.Unmet) != c.unmet || !strings.Contains(v.Reason, c.said) {
				t.Errorf("%s, %s, unmet %q", v.Result, v.Reason, v.Unmet)
			}
		})
	}
}
