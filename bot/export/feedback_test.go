package export

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/survey"
)

// answered is the register of a survey that somebody answered.
func answered(t *testing.T) []routing.Event {
	t.Helper()
	result, err := survey.ParseResult("result.json", []byte(`{"workflow_name":"nightly","automation_level":20,"report_path":"optimizer/level20_report.md",`+
		`"suggestions":[{"id":"cache","text":"Cache the modules"},{"id":"split","text":"Split the job"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	events := survey.Events(survey.State{}.Open("p1", result, "en", time.Hour, nil, start), start)
	reg, err := survey.Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	out, add, err := reg.Answer("p1", survey.Said{Answer: survey.Answer{Level: survey.Raise, Accepted: []string{"cache"}}, By: "mona", Source: "comment/1", At: start}, nil, start)
	if err != nil || out != survey.Accepted {
		t.Fatal(out, err)
	}
	return append(events, survey.Events(add, start)...)
}

func TestFeedbackRows(t *testing.T) {
	ctx := context.Background()
	led := new(ledger.Memory)
	if _, err := led.Append(ctx, routing.StreamKey("acme/app", routing.StreamSurveys), "", answered(t)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "l.db")
	for range 2 {
		if _, err := Export(ctx, led, file); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, file)
	t.Run("S1-18 S1-27 the row of the answer refers to the audit row", func(t *testing.T) {
		got := ask(t, db, `SELECT u.id||' '||u.user_id||' '||u.source_ref_path||' '||u.impact_summary||' '||a.id||' '||a.task_name||' '||json_extract(u.feedback_text, '$.accepted_suggestions[0]')
			FROM user_feedback u JOIN audit_logs a ON a.id = u.related_audit_id`)
		if want := "FB-0001 mona optimizer/level20_report.md Level 20 → 30, 1 suggestions accepted TASK-0001 nightly Cache the modules"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("S1-18 exactly the columns of the table", func(t *testing.T) {
		const want = "id date user_id feedback_text source_ref_path impact_domain impact_summary reversibility related_audit_id"
		if got := ask(t, db, "SELECT group_concat(name, ' ') FROM pragma_table_info('user_feedback')"); got != want {
			t.Error(got)
		}
	})
	t.Run("ids of two repositories are not mixed up", func(t *testing.T) {
		if _, err := led.Append(ctx, routing.StreamKey("acme/other", routing.StreamSurveys), "", answered(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := Export(ctx, led, file); err == nil || !strings.Contains(err.Error(), "a ledger for each") {
			t.Error(err)
		}
	})
}
