package plans

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// book is the feedback of the newest build.
func (s *site) book() requests.Store {
	s.t.Helper()
	d := s.runner("0", 1)
	reg, err := d.Store().State(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return d.requests().of(reg)
}

// worked writes what the runner of a port leaves: its pair, with what it ran for.
// Only if settles did it live long enough to settle that.
func (s *site) worked(run, id string, status plan.LoopStatus, settles bool) plan.Loop {
	s.t.Helper()
	ctx := s.t.Context()
	b := s.book()
	before, err := b.Before(ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	key := routing.PortKey(repo.String(), "ports", id)
	var l plan.Loop
	_, err = ledger.Of(s.led, key, plan.JournalProjection).Update(ctx, func(j plan.Journal) ([]routing.Event, error) {
		l = plan.Loop{ID: fmt.Sprintf("run-%s~%d/%s", run, j.Pairs, id), Port: id, Status: status, Attempt: 1, StartedAt: s.now, EndedAt: s.now.Add(time.Minute), Requests: before.Requests, Reason: "as it is"}
		r := plan.ResultOf(l, s.hash[id])
		return []routing.Event{plan.Event{Kind: plan.RunnerChanged, At: s.now, Runner: &plan.Runner{ID: run + id, Run: run}}.Record(),
			plan.Event{Kind: plan.PairChanged, At: s.now, Pair: &l, Result: &r}.Record()}, nil
	})
	if err == nil && settles {
		err = b.Settle(ctx, l, "")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

func (s *site) send(from, to string, kind feedback.Type) requests.Sent {
	s.t.Helper()
	x, err := s.book().Send(s.t.Context(), fmt.Appendf(nil, `{"from_node": %q, "to_node": %q, "feedback_type": %q, "message": "it is wrong", "priority": "low",
		"suggested_fix": "fix it", "suggested_action": "plan it", "requested_info": "its name"}`, from, to, kind))
	if err != nil || x.Refusal != nil {
		s.t.Fatal(err, x.Refusal)
	}
	return x
}

func (s *site) record(id string) feedback.Record {
	s.t.Helper()
	r, err := s.book().State(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	x, _ := r.ByID(id)
	return x
}

const model = "- {id: model}\n- {id: check, depends_on: model}\n- {id: view, depends_on: model}\n- {id: zeta, depends_on: check}\n"

// asked is a build whose port check has asked model to fix its work.
func asked(t *testing.T, kind feedback.Type, to string) (*site, *Runner, Round) {
	t.Helper()
	s := newSite(t, model)
	d := s.runner("1", 1)
	r, err := d.Begin(t.Context(), "")
	s.is(r, err, "model")
	s.worked("1", "model", plan.Success, true)
	r, err = d.Collect(t.Context(), r.Build, r.Level)
	s.is(r, err, "check view")
	s.send("check", to, kind)
	s.worked("1", "check", plan.Paused, true)
	s.worked("1", "view", plan.Success, true)
	if r, err = d.Collect(t.Context(), r.Build, r.Level); err != nil {
		t.Fatal(err)
	}
	return s, d, r
}

func TestRoundsDeliverFeedback(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d, r := asked(t, feedback.FixRequest, "model")
	s.is(r, nil, "model", "model=running", "check=paused", "view=passed", "zeta=paused")
	t.Run("the issue shows who waits for whom (S3-68)", func(t *testing.T) {
		if _, err := d.Issue().Show(ctx); err != nil {
			t.Fatal(err)
		}
		body := s.world.issues[0].Body
		for _, want := range []string{"| `check` | 🔁 paused | 1 | 1m0s | FB-001: `check` waits for `model` (FIX_REQUEST, round 1 of 2) |", "| `model` | 🔵 running |  |  | runs for FB-001 of `check` |", " -. FB-001 .-> "} {
			if !strings.Contains(body, want) {
				t.Errorf("%q is not in\n%s", want, body)
			}
		}
		if slices.Sort(s.world.labels); !slices.Equal(s.world.labels, []string{"ports:paused", "ports:running"}) {
			t.Errorf("%q", s.world.labels)
		}
	})
	t.Run("a collect that runs again hands out the same, and delivers once (S3-25)", func(t *testing.T) {
		again, err := s.runner("1", 1).Collect(ctx, r.Build, 2)
		s.is(again, err, "model", "model=running", "check=paused", "view=passed", "zeta=paused")
		if r, _ := s.book().State(ctx); r.Version != 2 {
			t.Errorf("%d events", r.Version)
		}
	})
	t.Run("what a killed runner left is settled by whoever takes it in (S3-57)", func(t *testing.T) {
		if l := s.worked("1", "model", plan.Success, false); len(l.Requests) != 1 || s.record("FB-001").Status != feedback.Processing {
			t.Fatalf("%+v", l)
		}
		r, err := d.Collect(ctx, r.Build, r.Level)
		s.is(r, err, "check", "model=passed", "check=running", "view=passed", "zeta=paused")
		s.worked("1", "check", plan.Success, false)
		r, err = d.Collect(ctx, r.Build, r.Level)
		s.is(r, err, "zeta", "model=passed", "check=passed", "view=passed", "zeta=running")
		if x := s.record("FB-001"); x.Status != feedback.Resolved {
			t.Errorf("%+v", x)
		}
	})
}

func TestFeedbackOutlivesItsBuild(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	t.Run("the next build goes on with what is open, in its round (S3-41 S3-57)", func(t *testing.T) {
		s, _, _ := asked(t, feedback.FixRequest, "model")
		next := s.runner("2", 1)
		r, err := next.Begin(ctx, "") // the job of model never began
		s.is(r, err, "model", "model=running", "check=paused", "view=passed", "zeta=paused")
		if r.Build != "run-2" || r.Feedback != "ports/run-1" {
			t.Errorf("%+v", r)
		}
		s.worked("2", "model", plan.Success, true)
		r, err = next.Collect(ctx, r.Build, r.Level)
		s.is(r, err, "check")
		s.worked("2", "check", plan.Success, true)
		r, err = next.Collect(ctx, r.Build, r.Level)
		s.is(r, err, "zeta")
		s.worked("2", "zeta", plan.Success, true)
		if _, err := next.Collect(ctx, r.Build, r.Level); err != nil {
			t.Fatal(err)
		}
		r, err = s.runner("3", 1).Begin(ctx, "")
		if s.is(r, err, ""); r.Feedback != "ports/run-3" {
			t.Errorf("nothing is open, and the rounds do not begin anew: %+v", r)
		}
	})
	t.Run("a target that is killed twice at it goes on with its pair, though it passed before (S3-44 S3-57)", func(t *testing.T) {
		s, _, _ := asked(t, feedback.FixRequest, "model")
		for _, run := range []string{"2", "3", "4"} {
			d := s.runner(run, 1)
			r, err := d.Begin(ctx, "")
			s.is(r, err, "model", "model=running", "check=paused", "view=passed", "zeta=paused")
			if run == "2" {
				s.worked(run, "model", plan.Running, false)
			}
			j, err := d.Store().Journal(ctx, "model")
			if err != nil {
				t.Fatal(err)
			}
			reg, err := d.Store().State(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if k := reg.Ports["model"]; k.After == j.Loop.ID || k.After == "" {
				t.Errorf("run %s takes the end of %s, which still runs, for an older one: %+v", run, j.Loop.ID, k)
			}
		}
	})
	t.Run("what is left at the last level is gone on with in another run", func(t *testing.T) {
		s, d, r := asked(t, feedback.FixRequest, "model")
		s.worked("1", "model", plan.Success, true)
		if out, err := d.Continue(ctx, r.Build, r.Level, "ports.yml", "main", nil); err != nil || !out.More || len(s.world.starts) != 1 {
			t.Errorf("%+v %v %q", out, err, s.world.starts)
		}
		r, err := s.runner("2", 1).Begin(ctx, "run-1")
		s.is(r, err, "check", "model=passed", "check=running", "view=passed", "zeta=paused")
	})
	t.Run("a workflow without rounds queues it for the next build", func(t *testing.T) {
		s := newSite(t, model)
		s.worked("1", "model", plan.Success, true)
		r, err := s.runner("1", 1).CollectAll(ctx)
		if err != nil || r.Board.Counts[plan.IsPassed] != 1 {
			t.Fatal(err, r.Board)
		}
		s.send("check", "model", feedback.FixRequest)
		if r, err = s.runner("1", 1).CollectAll(ctx); err != nil || r.Board.Counts[plan.IsPaused]+r.Board.Counts[plan.IsFailed] == 0 {
			t.Errorf("%+v %v", r.Board, err)
		}
		r, err = s.runner("2", 1).Begin(ctx, "")
		if err != nil || !strings.Contains(fmt.Sprint(r.Matrix.Matrix.Include), "model") {
			t.Errorf("%+v %v", r, err)
		}
	})
}

func TestFeedbackToWhoeverPlans(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	t.Run("what the root is asked for waits for a change of the plan, which is read again (S3-11 S3-12)", func(t *testing.T) {
		s, d, r := asked(t, feedback.DependencyMissing, "workflow-root")
		s.is(r, nil, "", "model=passed", "check=paused", "view=passed", "zeta=paused")
		if x := s.record("FB-001"); x.Status != feedback.Processing {
			t.Errorf("%+v", x)
		}
		if _, err := d.Issue().Show(ctx); err != nil || !strings.Contains(s.world.issues[0].Body, "FB-001: `check` waits for a change of the plan (DEPENDENCY_MISSING): it is wrong") {
			t.Errorf("%v %+v", err, s.world.issues)
		}
		b := s.book()
		if _, err := b.Change(ctx, func(r feedback.State) ([]routing.Event, error) {
			return r.Lifecycle(s.plan, s.now).Processed("FB-001", feedback.Outcome{OK: true, Summary: "refund is planned"})
		}); err != nil {
			t.Fatal(err)
		}
		p, err := plan.Compile([]plan.File{{Name: "ports.yml", Data: []byte(strings.Replace(model, "depends_on: model", "depends_on: [model, refund]", 1) + "- {id: refund}\n")}})
		if err != nil {
			t.Fatal(err)
		}
		s.plan, s.hash["refund"] = p, "h-refund"
		next := s.runner("2", 1)
		r, err = next.Begin(ctx, "")
		s.is(r, err, "refund") // check waits for what was added
		s.worked("2", "refund", plan.Success, true)
		r, err = next.Collect(ctx, r.Build, r.Level)
		s.is(r, err, "check")
		s.worked("2", "check", plan.Success, true)
		r, err = next.Collect(ctx, r.Build, r.Level)
		if s.is(r, err, "zeta"); s.record("FB-001").Status != feedback.Resolved {
			t.Errorf("%+v", s.record("FB-001"))
		}
	})
	t.Run("feedback to a port that is no longer planned is withdrawn, and its sender runs again", func(t *testing.T) {
		s, d, r := asked(t, feedback.FixRequest, "model")
		p, err := plan.Compile([]plan.File{{Name: "ports.yml", Data: []byte("- {id: check}\n- {id: view}\n- {id: zeta, depends_on: check}\n")}})
		if err != nil {
			t.Fatal(err)
		}
		s.plan, d.Plan = p, p
		r, err = d.Collect(ctx, r.Build, r.Level)
		if err != nil || s.record("FB-001").Withdrawn != "port model is no longer in the plan" {
			t.Fatalf("%v %+v", err, s.record("FB-001"))
		}
		if ids := fmt.Sprint(r.Matrix.Matrix.Include); !strings.Contains(ids, "check") || r.Board.Counts[plan.IsPaused] != 0 {
			t.Errorf("%s %+v", ids, r.Board)
		}
	})
}
