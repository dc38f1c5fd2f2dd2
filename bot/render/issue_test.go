package render

import (
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

func TestIssueGolden(t *testing.T) {
	t.Parallel()
	all := stories(t)
	unfilled := regexp.MustCompile(`\{[a-z_]+\}|<no value>|%!`)
	for _, name := range []string{"max_retry", "design", "env", "unclear", "timeout", "hostile", "nothing_known"} {
		for _, l := range []Language{English, Korean} {
			t.Run("S0-43 "+name+" "+string(l), func(t *testing.T) {
				t.Parallel()
				o := options()
				o.Language = l
				got := IssueBody(all[name], "unit", o)
				inert(t, got, o)
				if m := unfilled.FindString(string(got)); m != "" {
					t.Errorf("unfilled field %q", m)
				}
				if l == English && name != "hostile" {
					golden(t, "issue_"+name+".md", got)
				}
				if l == Korean && name == "max_retry" {
					golden(t, "issue_max_retry_ko.md", got)
				}
			})
		}
	}
}

func TestIssue(t *testing.T) {
	t.Parallel()
	all := stories(t)
	o := options()
	got := IssueBody(all["max_retry"], "unit", o)
	o.Language = Korean
	ko := IssueBody(all["max_retry"], "unit", o)
	for id, ok := range map[string]bool{
		"S0-36 title":                 IssueTitle(all["max_retry"], "unit", options()) == "unit: test_percent_coupon_is_capped fails after 3 attempts (#12)",
		"S0-36 title in Korean":       IssueTitle(all["max_retry"], "unit", o) == "unit: 3회 재작업 후에도 test_percent_coupon_is_capped 실패 (#12)",
		"S0-36 heading":               strings.HasPrefix(string(got), "## ⚠️ Escalation report\n") && strings.HasPrefix(string(ko), "## ⚠️ 에스컬레이션 리포트\n"),
		"S0-37 basic table":           strings.Contains(string(got), "| Session | `acme/shop#12` |\n| Checkpoint | `unit` |\n| Attempts | 3/3 |\n| Reason for the escalation | "),
		"S0-37 basic table in Korean": strings.Contains(string(ko), "| 항목 | 값 |") && strings.Contains(string(ko), "| 시도 횟수 | 3/3 |\n| 에스컬레이션 사유 | "),
		"S0-38 one row per attempt":   strings.Count(string(got), "`test_") > 4 && strings.Contains(string(got), "| [4](https://github.com/acme/shop/actions/runs/7004) | escalated: fix attempts used up | wrong result | 1 | `test_percent_coupon_is_capped` |"),
		"S0-39 pattern":               strings.Contains(string(got), "### Pattern analysis\n\nIt is stuck: the same failure in the last 3"),
		"S0-40 numbered causes":       strings.Contains(string(got), "### Probable causes\n\n1. "),
		"S0-41 three sections":        strings.Contains(string(got), "**If the design has to be reviewed:**") && strings.Contains(string(got), "**If it is the environment:**") && strings.Contains(string(got), "**If a person has to step in:**"),
		"S0-41 sections in Korean":    strings.Contains(string(ko), "**설계 재검토가 필요한 경우:**") && strings.Contains(string(ko), "**환경 문제인 경우:**") && strings.Contains(string(ko), "**수동 개입이 필요한 경우:**"),
		"S0-42 a report for ENV":      strings.Contains(string(IssueBody(all["env"], "unit", options())), "| Attempts | 0/3 |"),
		"the marker":                  strings.HasSuffix(string(got), marker.Format("acme/shop#12/unit/issue/ESCALATE_MAX_RETRY", all["max_retry"].Version)),
	} {
		t.Run(id, func(t *testing.T) {
			if !ok {
				t.Errorf("not in\n%s\n%s", got, ko)
			}
		})
	}
	t.Run("S0-55 notify false mentions nobody", func(t *testing.T) {
		p := routing.DefaultPolicy()
		p.Notify = false
		c := play(t, p, runOf(1, routing.Fail, routing.EnvIssue, coupon()))
		if got := IssueBody(c, "unit", options()); strings.Contains(string(got), "@author") {
			t.Errorf("mentions\n%s", got)
		}
	})
}
