package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// What is posted whole must fit: GitHub's client would be cut off at the end,
// where the questions and the marker stand.
func TestSummaryIssueFits(t *testing.T) {
	t.Parallel()
	ticks := strings.Repeat("`|", 120)
	rec := escalation.Record{Fuse: true}
	for i := range 80 {
		rec.Members = append(rec.Members, escalation.Member{Case: "acme/app@" + ticks + fmt.Sprint(i), Checkpoint: ticks, SHA: strings.Repeat("a", 40), RunURL: "https://github.com/acme/app/actions/runs/1", First: ticks, At: time.Now()})
	}
	o := Options{Repo: "acme/app"}
	o.Shared.Questions = md(strings.Repeat("p", 20_000) + "\n" + answers.Line(answers.Submit, "S", false))
	o.Shared.Marker = marker.Format("k", 1)
	s := SummaryIssueBody(rec, 10, o)
	if len(s) > o.MaxBytes() || strings.Count(string(s), "\n```")%2 != 0 {
		t.Errorf("%d bytes of %d", len(s), o.MaxBytes())
	}
	if !strings.HasSuffix(string(s), string(o.Shared.Questions)+"\n\n"+o.Shared.Marker) {
		t.Errorf("%s", s[max(0, len(s)-300):])
	}
}
