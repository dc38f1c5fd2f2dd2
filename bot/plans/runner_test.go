package plans

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// world is GitHub as far as a Runner sees it.
type world struct {
	issues []github.Issue
	labels []string
	starts []string // build inputs of dispatches
	shown  []string // builds whose runs show them
	lost   error    // the answer of a dispatch
}

func (w *world) Get(_ context.Context, _ github.Repo, n int) (github.Issue, error) {
	return w.issues[n-1], nil
}

func (w *world) Upsert(_ context.Context, _ github.Repo, _ string, spec github.IssueSpec, ref string) (github.Issue, bool, error) {
	if ref == "" {
		w.issues = append(w.issues, github.Issue{Number: len(w.issues) + 1, Title: spec.Title, State: "open"})
		ref = fmt.Sprint(len(w.issues))
	}
	var n int
	_, _ = fmt.Sscan(ref, &n)
	i := &w.issues[n-1]
	if i.StateReason == "transferred" {
		return github.Issue{}, false, github.ErrMoved
	}
	i.Body = string(spec.Body)
	return *i, false, nil
}

func (w *world) Sync(_ context.Context, _ github.Repo, _ int, _ []string, add, remove []github.LabelSpec) (bool, error) {
	for _, l := range remove {
		w.labels = slices.DeleteFunc(w.labels, func(s string) bool { return s == l.Name })
	}
	for _, l := range add {
		if !slices.Contains(w.labels, l.Name) {
			w.labels = append(w.labels, l.Name)
		}
	}
	return true, nil
}

func (w *world) CloseAs(_ context.Context, _ github.Repo, n int, _ string, _ markdown.Text, _ string) (bool, error) {
	w.issues[n-1].State, w.issues[n-1].ClosedByBot = "closed", true
	return true, nil
}

func (w *world) Reopen(_ context.Context, _ github.Repo, n int, _ markdown.Text, _ string) (bool, error) {
	w.issues[n-1].State = "open"
	return true, nil
}

func (w *world) StartWorkflow(_ context.Context, _ github.Repo, workflow, ref string, in map[string]string) error {
	w.starts = append(w.starts, workflow+" "+ref+" "+in["build"]+" "+in["ports"])
	return w.lost
}

func (w *world) HasRunSince(_ context.Context, _ github.Repo, _ string, _ time.Time, needle string) (bool, error) {
	return slices.Contains(w.shown, needle), nil
}

// site is a plan that is built.
type site struct {
	t     *testing.T
	led   *ledger.Memory
	world *world
	plan  plan.Plan
	hash  map[string]string
	now   time.Time
}

func newSite(t *testing.T, text string) *site {
	t.Helper()
	p, err := plan.Compile([]plan.File{{Name: "ports.yml", Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, led: &ledger.Memory{}, world: &world{}, plan: p, hash: map[string]string{}, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	for _, id := range p.Order() {
		s.hash[id] = "h-" + id
	}
	return s
}

var repo = github.Repo{Owner: "octo", Name: "work"}

func (s *site) runner(run string, attempt int) *Runner {
	return &Runner{Ledger: s.led, Issues: s.world, Labels: s.world, Starts: s.world, Repo: repo, Name: "ports", Plan: s.plan, Settings: plan.DefaultSettings(), Hashes: s.hash,
		Run: run, Attempt: attempt, Now: func() time.Time { return s.now }}
}

// ran writes the journal of a port as its job leaves it.
func (s *site) ran(run, id string, status plan.LoopStatus, turns int) {
	s.t.Helper()
	l := plan.Loop{ID: "run-" + run + "/" + id, Port: id, Status: status, Attempt: turns, StartedAt: s.now, EndedAt: s.now.Add(time.Minute)}
	e := plan.Event{Kind: plan.PairChanged, At: s.now, Pair: &l}
	if status != plan.Running {
		r := plan.ResultOf(l, s.hash[id])
		e.Result = &r
	}
	key := routing.PortKey(repo.String(), "ports", id)
	_, err := ledger.Of(s.led, key, plan.JournalProjection).Update(s.t.Context(), func(plan.Journal) ([]routing.Event, error) {
		return []routing.Event{plan.Event{Kind: plan.RunnerChanged, At: s.now, Runner: &plan.Runner{ID: run + id, Run: run}}.Record(), e.Record()}, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// is checks a round: its ports, and how all stand.
func (s *site) is(r Round, err error, ports string, board ...string) {
	s.t.Helper()
	var ids, rows []string
	for _, e := range r.Matrix.Matrix.Include {
		ids = append(ids, e.ID)
	}
	for _, row := range r.Board.Rows {
		rows = append(rows, row.ID+"="+string(row.Standing))
	}
	if err != nil || strings.Join(ids, " ") != ports || r.Empty != (ports == "") || r.More != (ports != "") || len(board) > 0 && !slices.Equal(rows, board) {
		s.t.Errorf("%v %v %v (empty %v, more %v), want %s %v", err, ids, rows, r.Empty, r.More, ports, board)
	}
}

const document = "- {id: a}\n- {id: b}\n- {id: c, depends_on: a}\n- {id: d, depends_on: [a, b, c]}\n"

func TestBuild(t *testing.T) {
	t.Parallel()
	s := newSite(t, document)
	d := s.runner("1", 1)
	ctx := t.Context()
	r, err := d.Begin(ctx, "")
	s.is(r, err, "a b", "a=running", "b=running", "c=pending", "d=pending")
	if r.Build != "run-1" || r.Level != 1 {
		t.Errorf("%+v", r)
	}
	s.ran("1", "a", plan.Success, 1)
	s.ran("1", "b", plan.Raised, 4)
	r, err = d.Collect(ctx, "run-1", 1)
	s.is(r, err, "c", "a=passed", "b=escalated", "c=running", "d=blocked")
	t.Run("a collect that runs again changes nothing", func(t *testing.T) {
		again, err := s.runner("1", 1).Collect(ctx, "run-1", 1)
		s.is(again, err, "c", "a=passed", "b=escalated", "c=running", "d=blocked")
		if again.Board.Rows[1].Attempts != 4 || again.Board.Rows[1].Seconds != 60 || again.Level != 2 {
			t.Errorf("%+v", again)
		}
	})
	t.Run("failed jobs that run again are taken in", func(t *testing.T) {
		s.ran("1", "b", plan.Success, 1)
		s.ran("1", "c", plan.Success, 1)
		again, err := s.runner("1", 2).Collect(ctx, "run-1", 2)
		s.is(again, err, "d", "a=passed", "b=passed", "c=passed", "d=running")
	})
	t.Run("a job that never said anything has failed", func(t *testing.T) {
		r, err := d.Collect(ctx, "run-1", 3)
		s.is(r, err, "", "a=passed", "b=passed", "c=passed", "d=failed")
	})
	t.Run("the next run does what is left", func(t *testing.T) {
		r, err := s.runner("2", 1).Begin(ctx, "")
		s.is(r, err, "d", "a=passed", "b=passed", "c=passed", "d=running")
		if _, err := d.Collect(ctx, "run-1", 3); !errors.Is(err, plan.ErrNoBuild) {
			t.Errorf("the old build goes on: %v", err)
		}
	})
}

func TestBuildIsKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t, document)
	ctx := t.Context()
	_, err := s.runner("1", 1).Begin(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	s.ran("1", "a", plan.Success, 2) // and then nobody took it in
	s.ran("1", "b", plan.Running, 2)
	r, err := s.runner("2", 1).Begin(ctx, "")
	s.is(r, err, "b c", "a=passed", "b=running", "c=running", "d=pending")
	t.Run("all jobs of a run again are a build of its own", func(t *testing.T) {
		r, err := s.runner("2", 2).Begin(ctx, "")
		s.is(r, err, "b c", "a=passed", "b=running", "c=running", "d=pending")
		if r.Build != "run-2-2" {
			t.Error(r.Build)
		}
	})
}

func TestBuildGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t, document)
	ctx := t.Context()
	d := s.runner("1", 1)
	if _, err := d.Begin(ctx, ""); err != nil {
		t.Fatal(err)
	}
	s.ran("1", "a", plan.Success, 1)
	s.ran("1", "b", plan.Success, 1)
	s.world.lost = errors.New("lost")
	goOn := func() (Round, error) {
		return d.Continue(ctx, "run-1", 1, "ports.yml", "refs/heads/main", map[string]string{"ports": "plans/x"})
	}
	if r, err := goOn(); !errors.Is(err, s.world.lost) || !r.More {
		t.Error(r, err)
	}
	s.world.lost = nil
	s.world.shown = []string{"run-1/2"}
	r, err := goOn()
	s.is(r, err, "c", "a=passed", "b=passed", "c=ready", "d=pending")
	s.world.shown = nil
	if _, err := goOn(); err != nil {
		t.Error(err)
	}
	want := "ports.yml refs/heads/main run-1/2 plans/x"
	if !slices.Equal(s.world.starts, []string{want, want}) {
		t.Errorf("%q: the one that a run shows is not sent again", s.world.starts)
	}
	next := s.runner("2", 1)
	r, err = next.Begin(ctx, "run-1")
	s.is(r, err, "c")
	if r.Build != "run-1" || r.Level != 2 {
		t.Errorf("%+v", r)
	}
	s.ran("2", "c", plan.Raised, 4)
	n := len(s.world.starts)
	r, err = next.Continue(ctx, "run-1", 2, "ports.yml", "main", nil)
	s.is(r, err, "", "a=passed", "b=passed", "c=escalated", "d=blocked")
	if len(s.world.starts) != n {
		t.Errorf("nothing is left, and yet a run is started: %q", s.world.starts)
	}
}

func TestBuildWithoutRounds(t *testing.T) {
	t.Parallel()
	s := newSite(t, document)
	s.ran("1", "a", plan.Success, 1)
	s.ran("1", "b", plan.Raised, 2)
	r, err := s.runner("1", 1).CollectAll(t.Context())
	if s.is(r, err, ""); fmt.Sprint(r.Board.Counts) != fmt.Sprint(map[plan.Standing]int{plan.IsPassed: 1, plan.IsEscalated: 1, plan.IsFailed: 2}) {
		t.Errorf("%+v", r.Board)
	}
	s.ran("1", "b", plan.Success, 1)
	s.ran("1", "c", plan.Success, 1)
	s.ran("1", "d", plan.Success, 1)
	if r, err = s.runner("1", 2).CollectAll(t.Context()); err != nil || r.Board.Counts[plan.IsPassed] != 4 {
		t.Errorf("%+v %v", r.Board, err)
	}
}

func TestTwoPlansAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, document)
	var all sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		all.Go(func() {
			d := s.runner("1", 1)
			d.Name = name
			r, err := d.Begin(t.Context(), "")
			s.is(r, err, "a b", "a=running", "b=running", "c=pending", "d=pending")
		})
	}
	all.Wait()
	keys, err := s.led.Keys(t.Context())
	if err != nil || !slices.Equal(keys, []string{"octo/work!plans/one", "octo/work!plans/two"}) {
		t.Error(keys, err)
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	s := newSite(t, document)
	ctx := t.Context()
	d := s.runner("1", 1)
	show := func(want int, labels ...string) {
		t.Helper()
		n, err := d.Issue().Show(ctx)
		slices.Sort(s.world.labels)
		if err != nil || n != want || !slices.Equal(s.world.labels, labels) {
			t.Errorf("#%d %v %v, want #%d %v", n, err, s.world.labels, want, labels)
		}
	}
	if _, err := d.Begin(ctx, ""); err != nil {
		t.Fatal(err)
	}
	show(1, "ports:running")
	show(1, "ports:running")
	s.ran("1", "a", plan.Raised, 4)
	s.ran("1", "b", plan.Success, 1)
	if _, err := d.Collect(ctx, "run-1", 1); err != nil {
		t.Fatal(err)
	}
	show(1, "ports:blocked", "ports:escalated")
	show(1, "ports:blocked", "ports:escalated")
	if len(s.world.issues) != 1 || !strings.Contains(s.world.issues[0].Body, "| `c` | ⛔ blocked |") {
		t.Errorf("%+v", s.world.issues)
	}
	s.world.issues[0].StateReason = "transferred"
	show(2, "ports:blocked", "ports:escalated")
	d = s.runner("2", 1)
	for _, id := range []string{"a", "c", "d"} {
		if _, err := d.Begin(ctx, "run-2"); err != nil {
			t.Fatal(err)
		}
		s.ran("2", id, plan.Success, 1)
	}
	if _, err := d.Collect(ctx, "run-2", 9); err != nil {
		t.Fatal(err)
	}
	show(2, "ports:passed")
	if s.world.issues[1].State != "closed" {
		t.Errorf("%+v", s.world.issues[1])
	}
	s.hash["a"] = "changed"
	d = s.runner("3", 1)
	if _, err := d.Begin(ctx, ""); err != nil {
		t.Fatal(err)
	}
	show(2, "ports:running")
	if s.world.issues[1].State != "open" {
		t.Errorf("%+v", s.world.issues[1])
	}
	s.world.issues[1].State, s.world.issues[1].ClosedByBot = "closed", false
	show(2, "ports:running")
	if s.world.issues[1].State != "closed" {
		t.Error("what a person closed is opened again")
	}
}
