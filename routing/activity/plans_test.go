package activity_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/survey"
)

// planStream is the register of a plan as it grows.
type planStream struct {
	t      *testing.T
	events []routing.Event
}

func (p *planStream) fold() plan.BuildState {
	p.t.Helper()
	r, err := plan.FoldBuildState(p.events)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *planStream) add(more ...routing.Event) { p.events = append(p.events, more...) }

func TestOfAPlan(t *testing.T) {
	key := routing.PlanKey("acme/shop", "p")
	told := func(t *testing.T, p *planStream, want activity.Type) []activity.Event {
		t.Helper()
		events, err := activity.Since(key, p.events, 0)
		if err != nil {
			t.Fatal(err)
		}
		inSteps(t, key, p.events, events)
		var out []activity.Event
		for _, e := range events {
			if e.Type == want {
				out = append(out, e)
			}
		}
		return out
	}
	t.Run("a port that is handed out anew while it was thought to run is told of (S2-85)", func(t *testing.T) {
		p := &planStream{t: t}
		hand := func(run string, round int) {
			p.add(p.fold().Hand([]plan.Entry{{ID: "api", Hash: "h"}}, round, run, "https://github.com/acme/shop/actions/runs/"+run, noon))
		}
		p.add(p.fold().Begin(plan.Build{ID: "b1", At: noon}))
		hand("1", 1)
		hand("2", 1) // the first was never heard of
		p.add(p.fold().Begin(plan.Build{ID: "b2", At: noon}))
		hand("3", 1)
		var got []string
		for _, e := range told(t, p, activity.PlanPort) {
			var x activity.Stands
			if err := json.Unmarshal(e.Data, &x); err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Session+" "+x.URL[len(x.URL)-1:])
		}
		if len(got) != 3 || got[0] != "b1/api 1" || got[1] != "b1/api 2" || got[2] != "b2/api 3" {
			t.Error(got)
		}
		var builds []string
		for _, e := range told(t, p, activity.PlanStart) {
			builds = append(builds, e.Session)
		}
		if !slices.Equal(builds, []string{"b1", "b2"}) {
			t.Errorf("builds %v were said to begin", builds)
		}
	})
	t.Run("two answers of one second are two events (S2-85)", func(t *testing.T) {
		p := &planStream{t: t}
		p.add(p.fold().Begin(plan.Build{ID: "b1", At: noon}))
		for _, a := range []plan.Answer{{ID: "comment/1", Action: routing.HumanSkip}, {ID: "comment/2", Action: routing.HumanReset}} {
			a.By, a.At = "ana", noon
			p.add(p.fold().Decided("api", a)...)
		}
		if got := told(t, p, activity.HumanActed); len(got) != 2 {
			t.Errorf("%+v", got)
		}
	})
}

func TestOfSurveys(t *testing.T) {
	t.Run("that an answer goes into the next cycle is told of (S1-43 S2-85)", func(t *testing.T) {
		var events []routing.Event
		add := func(entries []survey.Entry) survey.State {
			events = append(events, survey.Events(entries, noon)...)
			r, err := survey.Fold(events)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		add(survey.State{}.Open("p1", survey.Result{WorkflowName: "Nightly", AutomationLevel: 20, ReportPath: "o/r.md", RunID: "77"}, "en", 72*time.Hour, nil, noon))
		r := add(survey.Done("p1", survey.WorkIssue, "101", "https://github.com/acme/shop/issues/101"))
		_, answered, err := r.Answer("p1", survey.Said{Answer: survey.Answer{Level: survey.Keep, FreeText: "look again"}, By: "ana", Source: "comment/1", At: noon}, nil, noon)
		if err != nil {
			t.Fatal(err)
		}
		r = add(answered)
		add(r.Reenter(survey.Completed{ID: "78", Workflow: "Nightly", At: noon.Add(time.Hour)}, nil, nil))
		key := routing.StreamKey("acme/shop", routing.StreamSurveys)
		got, err := activity.Since(key, events, 0)
		if err != nil {
			t.Fatal(err)
		}
		inSteps(t, key, events, got)
		const want = `{"survey":"p1","change":"reentered","number":101,"url":"https://github.com/acme/shop/issues/101"}`
		if len(got) != 3 || string(got[2].Data) != want {
			t.Errorf("%+v", got)
		}
	})
}
