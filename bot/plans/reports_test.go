package plans

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

var _ effect.ReportSource = Reports{}

func TestReports(t *testing.T) {
	t.Parallel()
	s := newSite(t, "- {id: a}\n- {id: b, depends_on: a}\n")
	if _, err := s.runner("1", 1).Begin(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	s.ran("1", "a", plan.Raised, 3)
	request := s.send("b", feedback.DefaultRoot, "DEPENDENCY_MISSING")
	src := Reports{Ledger: s.led, Repo: repo}
	names := func(l []github.LabelSpec) (out []string) {
		for _, x := range l {
			out = append(out, x.Name)
		}
		return out
	}
	for _, c := range []struct {
		name, key, want string
		labels          []string // nil: those of the type
	}{
		{"a port", routing.PortKey(repo.String(), "ports", "a"), "`a`", nil},
		{"a feedback request", routing.FeedbackRequestKey(repo.String(), "ports", request.ID), "it is wrong", []string{"switchback", "switchback:planning"}},
	} {
		rec := escalation.Record{ID: "r", Members: []escalation.Member{{Case: c.key, Checkpoint: "a"}}}
		write, err := src.Report(t.Context(), rec)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var o render.Options
		o.Shared.Marker = "<!-- marker -->"
		if body := write(o); !strings.Contains(string(body), c.want) || !strings.HasSuffix(strings.TrimSpace(string(body)), o.Shared.Marker) {
			t.Errorf("%s: %q is not in\n%s", c.name, c.want, body)
		}
		if got := names(src.Labels(rec)); !slices.Equal(got, c.labels) {
			t.Errorf("%s: labels %q", c.name, got)
		}
	}
	for _, key := range []string{"octo/work!elsewhere", routing.FeedbackRequestKey(repo.String(), "ports", "FB-404")} {
		if _, err := src.Report(t.Context(), escalation.Record{Members: []escalation.Member{{Case: key}}}); err == nil {
			t.Errorf("a report on %s", key)
		}
	}
}
