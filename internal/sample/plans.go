package sample

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// PlanOptions say what plan is made.
type PlanOptions struct {
	Seed  uint64
	Repo  string
	Name  string
	Ports int
	Begun int // so many have begun, in the order of the graph; most of them passed
	Start time.Time
}

// Plan returns the streams of a plan that is under way: its own, and one for each
// port that began. Of the last that began some run, and one waits for a human.
func Plan(o PlanOptions) []Stream {
	r := rand.New(rand.NewPCG(o.Seed, 77))
	links := map[string]feedback.Links{}
	for i := range o.Ports {
		var l feedback.Links
		for n := min(i, r.IntN(3)); n > 0; n-- {
			d := portName(max(0, i-1-r.IntN(6)))
			if d != portName(i) && (len(l.DependsOn) == 0 || l.DependsOn[0] != d) {
				l.DependsOn = append(l.DependsOn, d)
			}
		}
		links[portName(i)] = l
	}
	at := o.Start
	next := func(least, more time.Duration) time.Time {
		at = at.Add(least + time.Duration(r.Int64N(int64(more))))
		return at
	}
	build := plan.Build{ID: "b-" + o.Name, Run: "81", URL: "https://github.com/" + o.Repo + "/actions/runs/81", At: at}
	reg, stream := plan.BuildState{}, []routing.Event{}
	add := func(events ...routing.Event) {
		var err error
		if reg, err = reg.With(events); err != nil {
			panic(err) // a fault of this package
		}
		stream = append(stream, events...)
	}
	add(reg.Begin(build))
	add(reg.Read(links, next(time.Second, time.Second))...)
	var out []Stream
	for n, id := range plan.GraphOf(links).Order() {
		if n == o.Begun {
			break
		}
		add(reg.Hand([]plan.Entry{{ID: id, Hash: fmt.Sprint("h", n)}}, 1, "81", build.URL, next(time.Second, time.Minute)))
		how := plan.IsPassed
		switch left := o.Begun - n; {
		case left == 3:
			how = plan.IsEscalated
		case left < 3:
			how = plan.IsRunning
		}
		s, took := journal(r, o, build.ID, id, at, how)
		out = append(out, s)
		if how != plan.IsRunning {
			k := reg.Ports[id]
			k.Standing, k.Attempts, k.Seconds, k.Tokens = how, 1+r.IntN(2), took.Seconds(), int64(4000+r.IntN(90000))
			if how == plan.IsEscalated {
				k.Reason = "two ports own one file"
			}
			at = at.Add(took)
			add(reg.End(map[string]plan.Known{id: k}, at))
		}
	}
	return append([]Stream{{routing.PlanKey(o.Repo, o.Name), stream}}, out...)
}

// portName is what a port is called.
func portName(n int) string {
	names := []string{"schema", "api", "cart", "checkout", "stock", "search", "mail", "billing", "refunds", "admin", "reports", "export"}
	name := names[n%len(names)]
	if n >= len(names) {
		name += fmt.Sprint("-", 1+n/len(names))
	}
	return name
}

// journal makes the stream of one port.
func journal(r *rand.Rand, o PlanOptions, build, id string, at time.Time, how plan.Standing) (Stream, time.Duration) {
	operator, impl, test := plan.PairSessions(build, id)
	start := at
	var out []routing.Event
	add := func(e plan.Event) {
		at = at.Add(time.Duration(20+r.IntN(200)) * time.Second)
		e.At, e.Port = at, id
		out = append(out, e.Record())
	}
	l := plan.Loop{ID: "l-" + id, Port: id, Operator: operator.ID, ImplSession: impl.ID, TestSession: test.ID, MaxRetries: 3, Status: plan.Running,
		Attempt: 1, Phase: plan.Implementing, StartedAt: at}
	pair := func() { p := l; add(plan.Event{Kind: plan.PairChanged, Session: operator.ID, Pair: &p}) }
	add(plan.Event{Kind: plan.SessionStart, Session: operator.ID, Started: &operator})
	pair()
	add(plan.Event{Kind: plan.WorkerSpawn, Session: impl.ID, Iteration: 1, Spawn: &plan.Spawn{Role: plan.Impl, Mark: "m", Host: "runner"}})
	add(plan.Event{Kind: plan.WorkerProgress, Session: impl.ID, Progress: &plan.Progress{Session: impl.ID, Port: id,
		Progress: float64(10+r.IntN(80)) / 100, Task: "writes " + id, Tokens: int64(1000 + r.IntN(9000))}})
	if how == plan.IsRunning {
		return Stream{routing.PortKey(o.Repo, o.Name, id), out}, at.Sub(start)
	}
	add(plan.Event{Kind: plan.WorkerComplete, Session: impl.ID, Iteration: 1, Exit: &plan.Exit{Role: plan.Impl, OK: true, Seconds: 40, Tokens: 5000}})
	l.Phase = plan.Testing
	pair()
	add(plan.Event{Kind: plan.WorkerSpawn, Session: test.ID, Iteration: 1, Spawn: &plan.Spawn{Role: plan.Test, Mark: "m", Host: "runner"}})
	add(plan.Event{Kind: plan.WorkerFeedback, Session: test.ID, Feedback: &plan.TestFeedback{Success: how == plan.IsPassed}})
	l.EndedAt = at
	if how == plan.IsEscalated {
		add(plan.Event{Kind: plan.EscalationNew, Session: operator.ID, Escalation: &plan.Escalation{ID: "e-" + id, Session: operator.ID, Port: id,
			Type: escalation.Conflict, Title: "two ports own one file", CreatedAt: at}})
		l.Status, l.Outcome, l.Reason = plan.Raised, plan.UsedUp, "two ports own one file"
	} else {
		l.Status, l.Outcome = plan.Success, plan.Succeeded
	}
	pair()
	add(plan.Event{Kind: plan.SessionEnd, Session: operator.ID, Outcome: l.Outcome})
	return Stream{routing.PortKey(o.Repo, o.Name, id), out}, at.Sub(start)
}
