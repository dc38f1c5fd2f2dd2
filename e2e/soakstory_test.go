package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// pull is one pull request of a soak, and what happens to it.
type pull struct {
	*soak
	t      testing.TB
	r      *Repo
	number int
	branch string
	test   string // the name of its failing test
	pushes int
	shas   []string // heads, oldest first
	runID  int64
	steps  []step
}

type step struct {
	name string
	do   func()
}

// aside is the test for goroutines beside it: one that fails ends alone.
type aside struct{ testing.TB }

// FailNow implements testing.TB.
func (a aside) FailNow() {
	a.Fail()
	runtime.Goexit()
}

// Fatal implements testing.TB.
func (a aside) Fatal(args ...any) {
	a.Helper()
	a.Error(args...)
	runtime.Goexit()
}

// Fatalf implements testing.TB.
func (a aside) Fatalf(format string, args ...any) {
	a.Helper()
	a.Errorf(format, args...)
	runtime.Goexit()
}

// scripts opens the pull requests, whose numbers are so the same each time, and
// writes what happens to each.
func (s *soak) scripts(seed uint64) []*pull {
	s.t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	first := rnd.IntN(100)
	var out []*pull
	for i := range s.x.pulls {
		p := &pull{soak: s, t: aside{s.t}, r: s.repos[i%len(s.repos)], branch: fmt.Sprintf("work-%d", i), test: "Test" + named(i), runID: int64(1_000_000 + 1000*i)}
		p.push()
		p.number = p.r.PullRequest(s.t, Owner, p.branch, "Add "+named(i), "")
		p.steps = p.script(first+i, rnd)
		out = append(out, p)
	}
	return out
}

// named is a name for i that no other number is in.
func named(i int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%03d", i)) + "Thing"
}

// script is one of five stories, with repetitions by chance.
func (p *pull) script(kind int, rnd *rand.Rand) (out []step) {
	add := func(name string, do func()) { out = append(out, step{name, do}) }
	fails := func(more ...string) {
		add("fails", func() { p.ran("unit", soakFailing(append(more, p.test)...), "failure") })
		switch rnd.IntN(4) {
		case 0:
			add("is told again", func() { p.again(false) })
		case 1:
			add("is told again under another id", func() { p.again(true) })
		}
	}
	push := func() { add("pushes", p.push) }
	passes := func() { add("passes", func() { p.ran("unit", passing, "success") }) }
	say := func(text string) { add(text, func() { p.say(text) }) }
	switch kind % 5 {
	case 0: // two escalations, answered by box and by command
		fails()
		push()
		fails(p.test + "Too")
		add("box", func() { p.answer("reset", "submit") })
		push()
		fails()
		say("/switchback retry")
		push()
		passes()
	case 1: // reviews
		add("changes are asked for", func() { p.review(changes, "- blocker (security): calc.go:3: the sum of "+p.test+" may overflow\n") })
		push()
		fails()
		push()
		passes()
		add("approval", func() { p.review(approve, "fine") })
	case 2: // closed while an escalation is open
		fails()
		push()
		fails()
		add("closes", p.close)
	case 3: // the environment, and another attempt
		add("environment", func() { p.ran("unit", strings.ReplaceAll(environment, "TestStock", p.test), "failure") })
		say("/switchback help")
		push()
		fails()
		say("/switchback retry 2")
		push()
		passes()
	case 4: // two checkpoints at once
		add("two fail", p.both)
		say("/switchback help")
		push()
		fails()
		push()
		passes()
		add("the other passes", func() { p.ran("lint", passing, "success") })
	}
	return out
}

// run lets it happen, each step when the one before it is settled.
func (p *pull) run() {
	for _, st := range p.steps {
		if p.stop.Err() != nil || p.soak.t.Failed() {
			return
		}
		func() {
			ended := false
			defer func() {
				if !ended {
					p.soak.t.Errorf("in step %q of %s#%d", st.name, p.r.FullName, p.number)
				}
			}()
			st.do()
			ended = true
		}()
		p.settled.Add(1)
	}
}

func (p *pull) push() {
	p.pushes++
	p.runID++
	p.shas = append(p.shas, p.r.Commit(p.t, p.branch, "work", map[string]string{p.branch + ".go": fmt.Sprintf("package calc\n\n// %d\n", p.pushes)}))
}

func (p *pull) file(workflow, report, conclusion string) *Run {
	return p.r.AddRun(Run{Name: workflow, HeadSHA: p.shas[len(p.shas)-1], HeadBranch: p.branch, HeadRepo: p.r.FullName, Conclusion: conclusion, Pulls: []int{p.number},
		Jobs:      []Job{{Name: workflow, Log: "no test output here\n"}},
		Artifacts: []Artifact{{Name: "reports", Files: map[string]string{"report.xml": report}}}})
}

// ran files a run of the head and waits until the App has done what is to be done.
func (p *pull) ran(workflow, report, conclusion string) {
	p.settle(p.r.Send(p.t, "workflow_run", p.r.RunPayload(p.file(workflow, report, conclusion), "completed")))
}

// both delivers the events of two workflows' runs at once.
func (p *pull) both() {
	one, two := p.file("unit", soakFailing(p.test), "failure"), p.file("lint", soakFailing(p.test+"Style"), "failure")
	a := p.r.Send(p.t, "workflow_run", p.r.RunPayload(one, "completed"))
	b := p.r.Send(p.t, "workflow_run", p.r.RunPayload(two, "completed"))
	p.settle(a)
	p.settle(b)
}

// again tells once more of the newest run, as GitHub does when somebody asks it to, or under another
// id: a body that was taken before is not taken again.
func (p *pull) again(fresh bool) {
	d := p.last(func(d Delivery) bool { return d.Event == "workflow_run" && p.about(d) })
	if fresh {
		p.r.bench.gaps.deliver(p.r.FullName, d.Event, d.Body)
		return
	}
	_ = post(p.next().URL+"/webhook", d) // a replica may be away
	p.settle(d)
}

// about reports whether a delivery of a run is of this pull request's branch.
func (p *pull) about(d Delivery) bool {
	var x struct {
		Run struct {
			Branch string `json:"head_branch"`
		} `json:"workflow_run"`
	}
	return json.Unmarshal(d.Body, &x) == nil && x.Run.Branch == p.branch
}

func (p *pull) say(text string) {
	id := p.r.Comment(p.t, Writer, p.number, text)
	p.settle(p.heard("issue_comment", "created", func(x heardOf) bool { return x.Comment.ID == id }))
}

func (p *pull) review(event, body string) {
	sha := p.shas[len(p.shas)-1]
	var rv, pr map[string]any
	p.b.must(p.t, p.b.UserToken(Writer), "POST", fmt.Sprintf("/repos/%s/pulls/%d/reviews", p.r.FullName, p.number),
		map[string]any{"event": event, "body": body, "commit_id": sha}, &rv)
	rv["state"], rv["commit_id"] = strings.ToLower(fmt.Sprint(rv["state"])), sha // as in GitHub's payload
	p.r.Must(p.t, http.MethodGet, fmt.Sprintf("/pulls/%d", p.number), nil, &pr)
	p.settle(p.r.Send(p.t, "pull_request_review", map[string]any{"action": "submitted", "review": rv, "number": p.number, "pull_request": pr}))
}

func (p *pull) close() {
	p.r.Must(p.t, http.MethodPatch, fmt.Sprintf("/pulls/%d", p.number), map[string]any{"state": "closed"}, nil)
	p.settle(p.heard("pull_request", "closed", func(x heardOf) bool { return x.PullRequest.Number == p.number }))
}

// answer ticks boxes of the one issue in which this pull request waits.
func (p *pull) answer(boxes ...string) {
	var mine []Issue
	for _, i := range p.r.Issues(p.t) {
		if i.State == "open" && i.User.Login == SwitchbackBot && strings.Contains(i.Body, p.test) {
			mine = append(mine, i)
		}
	}
	if len(mine) != 1 {
		p.t.Fatalf("%d issues of %s: %+v", len(mine), p.test, mine)
	}
	n, known := mine[0].Number, len(p.r.Deliveries())
	p.b.must(p.t, p.b.UserToken(Writer), http.MethodPatch, fmt.Sprintf("/repos/%s/issues/%d", p.r.FullName, n), map[string]any{"body": tick(boxes...)(mine[0].Body)}, nil)
	p.settle(p.heard("issues", "edited", func(x heardOf) bool { return x.Issue.Number == n && x.Sender.Login == Writer && x.at >= known }))
}

// heardOf is what is read of a delivery.
type heardOf struct {
	at          int // in the list of deliveries
	Sender      struct{ Login string }
	Comment     struct{ ID int64 }
	Issue       struct{ Number int }
	PullRequest struct{ Number int } `json:"pull_request"`
}

// heard waits until GitHub tells, whoever hears it, of what was done.
func (p *pull) heard(event, action string, yes func(heardOf) bool) (out Delivery) {
	p.until("GitHub tells of "+event, func() bool {
		for i, d := range p.r.Deliveries() {
			var x heardOf
			if d.Event == event && d.Action == action && json.Unmarshal(d.Body, &x) == nil {
				if x.at = i; yes(x) {
					out = d
					return true
				}
			}
		}
		return false
	})
	return out
}

// last is the newest delivery of which yes is true.
func (p *pull) last(yes func(Delivery) bool) (out Delivery) {
	for _, d := range p.r.Deliveries() {
		if yes(d) {
			out = d
		}
	}
	return out
}

// settle waits until what was delivered is done.
func (p *pull) settle(d Delivery) {
	var row deliveryRow
	p.until(fmt.Sprintf("%s %s (%s) is done", d.Event, d.Action, d.GUID), func() bool {
		row = p.rows()[d.GUID]
		return row.final()
	})
	if row.state != "done" {
		p.t.Errorf("%s %s is %s: %s", d.Event, d.Action, row.state, row.err)
	}
}

// until waits until yes is true. There is no event to wait for, so it asks.
func (p *pull) until(what string, yes func() bool) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	over := time.After(30 * time.Minute)
	for !yes() {
		select {
		case <-tick.C:
		case <-over:
			p.t.Fatalf("waiting until %s: it never was", what)
		case <-p.stop.Done():
			p.t.Fatalf("waiting until %s: the test is over", what)
		}
	}
}

// soakFailing is failing, of which no two tests have the same message.
func soakFailing(names ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<testsuite name="calc" tests="%d" failures="%d"><testcase classname="calc" name="TestFine" time="0.1"/>`, len(names)+1, len(names))
	for _, n := range names {
		fmt.Fprintf(&b, `<testcase classname="calc" name=%q time="0.1"><failure message="%s: got 4, want 3" type="AssertionError">calc_test.go:7: %s: got 4, want 3</failure></testcase>`, n, n, n)
	}
	return b.String() + "</testsuite>"
}
