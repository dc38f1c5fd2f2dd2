package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// lost is a repository in which things happen while no server runs.
type lost struct {
	*served
	sha [2]string // heads of two further pull requests
	pr  [2]int
	fix func() // a repository of the same installation in which GitHub fails
}

func newLost(t *testing.T, env ...string) *lost {
	t.Helper()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	s := newStory(t, appConfig)
	s.r.Grant(t, Writer, "push")
	fix := func() {}
	if len(env) > 0 {
		broken := s.b.NewRepo(t, nil) // a push that nobody takes would be asked for again and again
		fix = broken.View().Fault(Fault{Status: http.StatusBadGateway, Times: -1})
		s.r.Alone(t, broken)
	}
	l := &lost{served: &served{s, s.b.Serve(t, bin, "", env...)}, fix: fix}
	l.receive()
	for i, branch := range []string{"second", "third"} {
		l.sha[i] = s.r.Commit(t, branch, "other work", map[string]string{branch + ".go": "package calc\n"})
		l.pr[i] = s.r.PullRequest(t, Owner, branch, "Add other things", "")
	}
	// What is delivered: the first pull request waits for a human.
	l.ran(failing("TestAdd"), "failure")
	l.app.Idle()
	l.push()
	l.ran(failing("TestAdd", "TestSub"), "failure")
	l.app.Idle()
	if i := l.onlyWaiting(); i.State != "open" {
		t.Fatalf("%+v", i)
	}
	return l
}

// onlyWaiting returns the one issue that is no pull request.
func (l *lost) onlyWaiting() Issue {
	l.t.Helper()
	all := slices.DeleteFunc(l.r.Issues(l.t), func(i Issue) bool { return i.Number == l.number || slices.Contains(l.pr[:], i.Number) })
	if len(all) != 1 {
		l.t.Fatalf("%d issues: %+v", len(all), all)
	}
	return all[0]
}

// fails files a run of one of the further pull requests that failed.
func (l *lost) fails(i int, branch string, began time.Time) *Run {
	run := l.ranOn(l.r, branch, failing("TestMul"))
	run.Name, run.HeadSHA, run.Pulls, run.Started = "unit", l.sha[i], []int{l.pr[i]}, began
	return l.r.AddRun(run)
}

func (l *lost) send(run *Run) Delivery {
	return l.r.Send(l.t, "workflow_run", l.r.RunPayload(run, "completed"))
}

var anyStory = regexp.MustCompile(`[0-9a-f]{7,}|reply/\d+|\d{4}-\d\d-\d\d[T ][0-9:.]+Z?( UTC)?|[a-z]+-[0-9a-f]+-?\d*/|repo-\d+|/runs/\d+|issuecomment-\d+|127\.0\.0\.1:\d+|run \d+`)

// plain is all that people see, without what is another in each story.
func (l *lost) plain() string {
	l.t.Helper()
	var b strings.Builder
	b.WriteString(l.world())
	for i, n := range l.pr {
		for _, c := range l.r.Comments(l.t, n) {
			fmt.Fprintf(&b, "#%d %s: %s\n", n, c.User.Login, c.Body)
		}
		for _, c := range l.r.CheckRuns(l.t, l.sha[i]) {
			fmt.Fprintf(&b, "check %s %s\n", c.Name, c.Conclusion)
		}
	}
	return anyStory.ReplaceAllString(strings.ReplaceAll(b.String(), l.r.FullName, "…"), "…")
}

// differing are the lines of a and b that are not the same, side by side.
func differing(a, b string) string {
	var out strings.Builder
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(as), len(bs)) {
		x, y := "(end)", "(end)"
		if i < len(as) {
			x = as[i]
		}
		if i < len(bs) {
			y = bs[i]
		}
		if x != y {
			fmt.Fprintf(&out, "%d: %s\n    %s\n", i+1, x, y)
		}
	}
	return out.String()
}

// looks waits until n more looks for what was missed have ended.
func (l *lost) looks(n float64) {
	l.t.Helper()
	before := l.app.Metric("switchback_recovery_looks_total")
	l.app.Until("it has looked", func() bool { return l.app.Metric("switchback_recovery_looks_total") >= before+n })
}

func TestAppRecovery(t *testing.T) {
	twin := newLost(t)
	twin.r.Comment(t, Writer, twin.number, "/switchback retry")
	twin.heard("issue_comment", "created", Writer)
	twin.app.Idle()
	for i, branch := range []string{"second", "third"} {
		twin.send(twin.fails(i, branch, time.Time{}))
		twin.app.Idle()
	}
	want := twin.plain()
	if n := len(twin.mine(twin.pr[1])); n != 1 || strings.Count(want, "TestMul") < 2 {
		t.Fatalf("%d comments:\n%s", n, want)
	}
	twin.app.Kill()

	s := newLost(t, "SWITCHBACK_RECOVER=1s")
	s.looks(1)
	first := time.Now() // the next scan begins at most three minutes before
	s.app.Kill()
	s.r.Comment(t, Writer, s.number, "/switchback retry")
	if d := s.send(s.fails(0, "second", time.Time{})); d.Status != http.StatusBadGateway {
		t.Fatalf("somebody answered with %d", d.Status)
	}
	// GitHub sends no webhook for this one. It ended longer ago than a webhook may be on its way.
	s.fails(1, "third", first.Add(2*time.Second-4*time.Minute))
	var failed []Delivery
	for len(failed) < 2 { // emulate delivers the comment some time later
		failed = slices.DeleteFunc(s.r.Deliveries(), func(d Delivery) bool { return d.Status < 300 || !wantedHere(d.Event, d.Action) })
		time.Sleep(20 * time.Millisecond)
	}
	s.app.Start()
	t.Run("after a restart all is as if it had been told", func(t *testing.T) {
		s.app.Until("everything was found", func() bool {
			return s.app.Metric("switchback_recovered_total", `kind="run"`) >= 1 && len(s.mine(s.pr[0])) > 0 && len(s.mine(s.pr[1])) > 0
		})
		for _, d := range failed {
			s.app.Until("it is delivered again", func() bool {
				return slices.ContainsFunc(s.r.Deliveries(), func(x Delivery) bool { return x.GUID == d.GUID && x.Status == http.StatusAccepted })
			})
		}
		s.app.Idle()
		if got := s.plain(); got != want {
			t.Errorf("it and its twin differ:\n%s", differing(got, want))
		}
	})
	t.Run("looking on, and starting again, finds nothing more", func(t *testing.T) {
		if n := s.app.Metric("switchback_recovery_looks_total", `outcome="partly"`); n == 0 {
			t.Error("the repository in which GitHub fails was left out")
		}
		s.fix()
		before, sent := s.world(), len(s.r.Deliveries())
		s.looks(2)
		s.app.Kill()
		s.app.Start()
		s.looks(1)
		s.app.Idle()
		if after := s.world(); after != before || s.app.Metric("switchback_recovered_total") != 0 || len(s.r.Deliveries()) != sent {
			t.Errorf("%d deliveries, before %d; after and before:\n%s", len(s.r.Deliveries()), sent, differing(after, before))
		}
		if n := s.app.Metric("switchback_recovery_looks_total", `outcome="partly"`); n != 0 {
			t.Errorf("%v looks failed", n)
		}
	})
	s.clean()
}
