package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

func isDispatch(q Request) bool {
	return q.Method == "POST" && strings.HasSuffix(q.Path, "/dispatches")
}

func isIssue(q Request) bool { return q.Method == "POST" && strings.HasSuffix(q.Path, "/issues") }

// A plan is killed at what may be done once only, at each turn of the story anew.
func TestAppPlanKilled(t *testing.T) {
	t.Parallel()
	p := newServedPlan(t, workers(func() bool { return true }))
	var happens func()
	happens = func() { p.pushes(fourPorts) }
	for _, k := range []struct {
		name string
		n    int
		when When
		only func(Request) bool
	}{
		{"a build was begun, of which nobody was told", 3, After, writes},
		{"the dispatch of a worker did not reach GitHub", 1, Before, isDispatch},
		{"the plan's issue was filed, and the answer lost", 1, After, isIssue},
		{"the dispatch of a worker was taken, and the answer lost", 1, After, isDispatch},
		{"what became ready was handed out", 12, Before, writes},
	} {
		h := p.view.HoldAt(k.n, k.when, k.only)
		happens()
		for done := false; !done; { // until it is held there
			select {
			case <-h.Reached:
				done = true
			default:
				p.app.Until("it goes on", func() bool { return len(h.Reached) > 0 || p.idle() })
				if len(h.Reached) == 0 {
					over := p.told()
					if len(over) == 0 {
						t.Fatalf("%s: it never was\n%s", k.name, p.app.Log())
					}
					for _, run := range over {
						p.tell(run)
					}
				}
			}
		}
		p.app.Kill()
		h.Release()
		p.app.Start()
		happens = func() {}
	}
	p.walks()
	t.Run("killed at any of them and started again, it goes on, and nothing is dispatched twice (S2-25)", func(t *testing.T) {
		p.wantTurns("model impl 0", "model test 0", "model impl 1", "model test 1", "docs test 0", "api impl 0", "api test 0", "site test 0")
		if got := p.stands(); got != "api passed, docs passed, model passed, site passed" {
			t.Error(got)
		}
		if i := p.titled("Plan of ports"); i.State != "closed" {
			t.Errorf("%+v", i)
		}
	})
	p.clean()
}

// idle reports whether all deliveries are worked on.
func (p *servedPlan) idle() bool {
	p.t.Helper()
	depth := p.app.Metrics("switchback_queue_depth")
	return depth()-depth(`state="dead_letter"`) == 0
}

// Two processes share a PostgreSQL database. Each is told of what happens, as a delivery
// of its own, but of every third run neither is; and both look after the ports by time.
func TestAppPlanReplicas(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	story, url := newStory(t, servedConfig), pgtest.URL(t)
	one := story.b.Serve(t, bin, url, "SWITCHBACK_RECONCILE=1s")
	two := story.b.Serve(t, bin, url, "SWITCHBACK_RECONCILE=1s")
	s := &served{story, one}
	s.receive()
	right := workers(func() bool { return true })
	p := plansOf(s, func(in map[string]any) Run {
		if in["port"] == "late" {
			return Run{Status: "in_progress"}
		}
		return right(in)
	})
	both := func(d Delivery) {
		d.GUID = "other-" + d.GUID
		if code := two.Again(d); code != http.StatusAccepted {
			t.Errorf("%d", code)
		}
	}
	both(p.pushes(fourPorts + "- {id: late, timeout: 2s, test: {workflow: agent.yml}}\n"))
	const end = "api passed, docs passed, late escalated, model passed, site passed"
	n := 0
	one.Until("the plan is at its end", func() bool {
		for _, run := range p.told() {
			if n++; n%3 != 0 {
				both(p.tell(run))
			}
		}
		return p.stands() == end
	})
	p.app.Idle()
	t.Run("whoever hears of it, or nobody, each turn is dispatched once, and what is late is ended (S2-30)", func(t *testing.T) {
		p.wantTurns("model impl 0", "model test 0", "model impl 1", "model test 1", "docs test 0", "api impl 0", "api test 0", "site test 0", "late test 0")
		cancelled := 0
		for _, d := range p.r.Dispatches() {
			if d.Kind == "cancel" {
				cancelled++
			}
		}
		if n := len(p.register().Begun); n != 1 || cancelled != 1 {
			t.Errorf("%d builds, %d runs cancelled", n, cancelled)
		}
		if i := p.titled("late"); i.State != "open" {
			t.Errorf("%+v", i)
		}
		p.titled("Plan of ports")
	})
	p.clean()
}
