package e2e

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/routing"
)

// begin makes the story of a scenario, with the Action or the App.
type begin func(t testing.TB, config string) *story

// both runs a scenario twice: by steps of the Action, and by webhooks to the
// App. What people see in the end, and what is recorded, is the same.
func both(t *testing.T, scenario func(t *testing.T, begin begin)) {
	t.Helper()
	t.Parallel()
	for _, face := range []struct {
		name  string
		begin begin
	}{{"through the Action", newStory}, {"through the App", newAppStory}} {
		t.Run(face.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, face.begin)
		})
	}
}

// sharedApp is the server that all stories of the App share.
var sharedApp struct {
	once  sync.Once
	app   *Served
	store *queue.Store
}

// newAppStory is newStory with the App in the Action's place.
func newAppStory(t testing.TB, config string) *story {
	t.Helper()
	s := newStory(t, "reports: [\"**/report.xml\"]\n"+config)
	s.join()
	return s
}

// join installs the App in the story's repository, which delivers its events from now on.
func (s *story) join() {
	s.t.Helper()
	x := &sharedApp
	x.once.Do(func() {
		bin, err := switchback()
		if err != nil {
			s.t.Fatal(err)
		}
		b := Start(s.t)
		app := b.prepare(s.t, bin, "", mkdir(s.t, b.dir, "app"))
		app.Start()
		b.ends = append(b.ends, app.Kill)
		if x.store, err = queue.OpenBeside(s.t.Context(), "", app.dir); err != nil {
			s.t.Fatal(err)
		}
		x.app = app
	})
	if x.app == nil {
		s.t.Fatal("the server did not start; the test that began it says why")
	}
	app := *x.app
	app.t = s.t
	s.by = &app
	s.t.Cleanup(func() {
		s.r.Deliver("")
		if s.t.Failed() {
			for _, line := range strings.SplitAfter(app.Log(), "\n") {
				if strings.Contains(line, s.r.FullName+" ") {
					s.t.Log(line)
				}
			}
		}
	})
	s.r.Install(firstInstall + int(s.r.ID)) // one of its own: the server writes no more than GitHub lets each
	s.r.Deliver(app.URL + "/webhook")
}

// login is that of the bot that speaks in the story.
func (s *story) login() string {
	if s.by != nil {
		return SwitchbackBot
	}
	return ActionsBot
}

// settled waits until the App has processed all deliveries of the story.
func (s *story) settled() {
	s.t.Helper()
	waits, ended := "", map[string]bool{}
	over := time.Now().Add(2 * time.Minute)
	for {
		waits = ""
		for _, d := range s.r.Deliveries() {
			if waits != "" || ended[d.GUID] {
				continue
			}
			st, known, err := sharedApp.store.Deliveries.Find(s.t.Context(), d.GUID)
			if err != nil {
				s.t.Fatal(err)
			}
			if ended[d.GUID] = slices.Contains([]queue.State{queue.Done, queue.Gone, queue.DeadLetter}, st.State); known && !ended[d.GUID] {
				waits = fmt.Sprintf("%s %s %s: %s %s", d.Event, d.Action, d.GUID, st.State, st.Error)
			}
		}
		switch {
		case waits == "":
			return
		case time.Now().After(over):
			s.t.Fatalf("it is not done: %s", waits)
		}
		time.Sleep(20 * time.Millisecond) // another process works, without a signal
	}
}

// tells does something on GitHub and waits until the App was told of it by a
// delivery of which is is true, and has worked on it.
func (s *story) tells(what string, is func(Delivery) bool, do func()) {
	s.t.Helper()
	before := len(s.r.Deliveries())
	do()
	s.by.Until("the App hears of "+what, func() bool {
		return slices.ContainsFunc(s.r.Deliveries()[before:], is)
	})
	s.settled()
}

// sends delivers an event to the App and waits until it is processed.
func (s *story) sends(event string, payload map[string]any) Result {
	s.t.Helper()
	delete(payload, "repository") // the real one is put in
	if d := s.r.Send(s.t, event, payload); d.Status != http.StatusAccepted {
		s.t.Fatalf("%s was answered with %d", event, d.Status)
	}
	s.settled()
	return Result{}
}

// ranInApp adds what run describes as a workflow run, and delivers the event.
func (s *story) ranInApp(report string, in map[string]string) Result {
	s.t.Helper()
	run := s.ranOn(s.r, s.head(), report)
	run.Jobs = nil // a log that is no test output would leave open what else failed
	if report == "" {
		run.Artifacts = nil
	}
	run.ID, run.Name, run.Pulls = s.runID, "unit", []int{s.number}
	if v := in["checkpoint"]; v != "" && v != run.Name {
		run.Name = v
		run.ID += 1_000_000 * int64(1+crc32.ChecksumIEEE([]byte(v))%1000)
	}
	if v := in["job-status"]; v != "" {
		run.Conclusion = v
	}
	filed := s.r.SetRun(run.ID, func(r *Run) {
		r.Name, r.HeadSHA, r.HeadBranch, r.Conclusion, r.Pulls = run.Name, run.HeadSHA, run.HeadBranch, run.Conclusion, run.Pulls
		r.Jobs, r.Artifacts = run.Jobs, run.Artifacts
	})
	if filed == nil {
		filed = s.r.AddRun(run)
	}
	return s.toldRun(filed)
}

// toldRun delivers the event of a run that has ended.
func (s *story) toldRun(run *Run) Result {
	s.t.Helper()
	s.sends("workflow_run", s.r.RunPayload(run, "completed"))
	return s.outcome(func(e routing.RunRecorded) bool { return e.Verdict.Run.ID == strconv.FormatInt(run.ID, 10) })
}

// outcome returns as outputs of a step what was decided last about a run.
func (s *story) outcome(of func(routing.RunRecorded) bool) Result {
	s.t.Helper()
	res := Result{Outputs: map[string]string{}}
	for _, e := range s.recorded() {
		if run, ok := e.Run(); ok && run.Decision.Redo == "" && of(run) {
			d := run.Decision
			res.Outputs = map[string]string{"decision": string(d.Kind), "iteration": strconv.Itoa(d.Iteration),
				"max-iterations": strconv.Itoa(d.Max), "class": string(run.Verdict.Class)}
		}
	}
	return res
}

// recorded returns what the App has recorded of the story's repository.
func (s *story) recorded() []routing.Event {
	s.t.Helper()
	led := sharedApp.store.Ledger()
	keys, err := led.Keys(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var out []routing.Event
	for _, k := range keys {
		if rest, ok := strings.CutPrefix(k, s.r.FullName); !ok || !strings.ContainsAny(rest[:1], "#@!") {
			continue
		}
		events, _, err := led.Load(s.t.Context(), k)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, events...)
	}
	return out
}

// logged reports whether a step has said all of it in its log. The App has none
// that people see.
func (s *story) logged(res Result, all ...string) bool {
	return s.by != nil || !slices.ContainsFunc(all, func(x string) bool { return !strings.Contains(res.Stdout+res.Stderr, x) })
}

// by reports whether a delivery is an event of what login did.
func by(event, action, login string) func(Delivery) bool {
	return func(d Delivery) bool {
		var p struct{ Sender struct{ Login string } }
		return d.Event == event && d.Action == action && json.Unmarshal(d.Body, &p) == nil && p.Sender.Login == login
	}
}
