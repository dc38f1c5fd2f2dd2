//go:build unix

package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/plan"
)

func TestWhoMayTakeAPortOver(t *testing.T) {
	t.Parallel()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	self := Self(func(string) string { return "" })
	me := plan.Runner{ID: "me", Host: self.Host, PID: 1}
	job := func(run string, attempt int) plan.Runner {
		return plan.Runner{ID: "me" + run, Host: "runner", PID: 1, Run: run, Attempt: attempt}
	}
	for _, c := range []struct {
		name      string
		me, other plan.Runner
		ok        bool
	}{
		{"itself", me, me, true},
		{"one that lives", me, self, false},
		{"one that has ended", me, plan.Runner{ID: "x", Host: self.Host, PID: dead.Process.Pid}, true},
		{"one of another machine", me, plan.Runner{ID: "x", Host: "elsewhere", PID: dead.Process.Pid}, false},
		{"an older run", job("10", 1), job("9", 3), true},
		{"a newer run", job("9", 3), job("10", 1), false},
		{"an earlier attempt of the same run", job("9", 2), func() plan.Runner { r := job("9", 1); r.ID = "x"; r.PID = os.Getpid(); return r }(), true},
		{"a later attempt of the same run", job("9", 1), func() plan.Runner { r := job("9", 2); r.ID = "x"; r.Host = "other"; return r }(), false},
	} {
		if err := mayTake(c.me, c.other); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if self.Born != "" { // where it is known, a number that was given again is told from the old process
		other := self
		other.ID, other.Born = "x", "1"
		if err := mayTake(me, other); err != nil {
			t.Errorf("a later process of that number: %v", err)
		}
	}
}

func TestWhoeverIsTakenOverStops(t *testing.T) {
	t.Parallel()
	p := newPlace(t, `echo x >> began; [ -f go ] || while [ ! -f go ]; do sleep 0.01; done; echo hello > hello.txt`, junit)
	first := make(chan error, 1)
	go func() { _, err := p.pair().Run(context.Background()); first <- err }()
	for {
		if data, _ := os.ReadFile(filepath.Join(p.root, "began")); len(data) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if _, err := p.pair().Run(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("two at once: %v", err)
	}
	second := p.pair()
	second.TakeOver = true
	second.Spec.Impl = &plan.Command{Run: []string{"touch go; echo hello > hello.txt"}}
	r, err := second.Run(t.Context())
	if err != nil || r.Status != plan.Success {
		t.Errorf("%+v %v", r, err)
	}
	if err := <-first; !errors.Is(err, ErrTaken) {
		t.Errorf("the first goes on: %v", err)
	}
	if j := p.journal(); j.Pairs != 1 || len(j.Mail.Messages) != 1 {
		t.Errorf("%+v", j)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	run := &plan.Command{Run: []string{"true"}}
	away := &plan.Command{Workflow: "x.yml"}
	for want, s := range map[string]plan.Spec{
		"has no test":    {ID: "a", Impl: run},
		"actions: write": {ID: "a", Impl: away, Test: run},
		"is dispatched":  {ID: "a", Impl: run, Test: away},
		"is held":        {ID: "a", Test: run, Status: plan.Held},
		"is completed":   {ID: "a", Test: run, Status: plan.Completed},
	} {
		if err := Check(s, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, s := range []plan.Spec{{ID: "a", Test: run}, {ID: "a", Impl: away, Test: run}, {ID: "a", Impl: away, Test: away}} {
		if err := Check(s, true); err != nil {
			t.Error(err)
		}
	}
}
