package effect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// tracker is a hub that holds issues in memory, each request at once. Filing
// takes two steps, listing and creating, between which others come.
type tracker struct {
	Issues // those that it does not know are nil
	mu     sync.Mutex
	issues []github.Issue
	posts  map[string]int // marker → comments
	gone   map[int]bool
	asked  int  // assignees
	lose   bool // the answer to the next filing
}

func newTracker() *tracker { return &tracker{posts: map[string]int{}, gone: map[int]bool{}} }

func (k *tracker) hub() Hub {
	return Hub{Comments: posted{tracker: k}, Issues: k, Labels: k, Commits: k, Repositories: k, CodeOwners: k}
}

// posted counts the comments that a tracker takes.
type posted struct {
	Comments
	tracker *tracker
}

func (p posted) PostOnce(_ context.Context, _ github.Repo, _ int, mark string, _ markdown.Text, _ bool) (string, bool, error) {
	p.tracker.mu.Lock()
	defer p.tracker.mu.Unlock()
	p.tracker.posts[mark]++
	return "", true, nil
}

func (k *tracker) find(number int) (*github.Issue, error) {
	for i := range k.issues {
		if k.issues[i].Number == number && !k.gone[number] {
			return &k.issues[i], nil
		}
	}
	return nil, github.ErrMoved
}

func (k *tracker) Upsert(_ context.Context, _ github.Repo, mark string, spec github.IssueSpec, ref string) (github.Issue, bool, error) {
	want, _ := marker.Parse(mark)
	key, gen := want.Key, want.Gen
	number, _ := strconv.Atoi(ref)
	k.mu.Lock()
	if number == 0 {
		for _, i := range k.issues {
			if have, _ := marker.Parse(i.Body); have.Key == key && !k.gone[i.Number] {
				number = i.Number
			}
		}
	}
	k.mu.Unlock()
	if number == 0 {
		time.Sleep(time.Microsecond) // lets others in: the listing is old when the issue is made
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if number == 0 {
		if spec.Who != nil && len(spec.Assignees) == 0 {
			spec.Who()
		}
		i := github.Issue{Number: len(k.issues) + 1, URL: "https://github.com/acme/app/issues/" + fmt.Sprint(len(k.issues)+1), Title: spec.Title, Body: string(spec.Write("")), State: "open"}
		for _, l := range spec.Labels {
			i.Labels = append(i.Labels, l.Name)
		}
		k.issues = append(k.issues, i)
		if k.lose {
			k.lose = false
			return github.Issue{}, false, fmt.Errorf("killed")
		}
		return i, true, nil
	}
	i, err := k.find(number)
	if err != nil {
		return github.Issue{}, false, err
	}
	if have, _ := marker.Parse(i.Body); gen > have.Gen {
		i.Body = string(spec.Write(i.Body))
	}
	return *i, false, nil
}

func (k *tracker) state(number int, state, reason, mark string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, err := k.find(number)
	if err != nil || i.State == state {
		return false, err
	}
	i.State, i.StateReason, i.ClosedByBot = state, reason, state == "closed"
	if mark != "" {
		k.posts[mark]++
	}
	return true, nil
}

func (k *tracker) Close(_ context.Context, _ github.Repo, n int, _ markdown.Text, mark string) (bool, error) {
	return k.state(n, "closed", "completed", mark)
}

func (k *tracker) CloseAs(_ context.Context, _ github.Repo, n int, reason string, _ markdown.Text, mark string) (bool, error) {
	return k.state(n, "closed", reason, mark)
}

func (k *tracker) Reopen(_ context.Context, _ github.Repo, n int, _ markdown.Text, mark string) (bool, error) {
	return k.state(n, "open", "reopened", mark)
}

func (k *tracker) Sync(_ context.Context, _ github.Repo, n int, _ []string, add, remove []github.LabelSpec) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, err := k.find(n)
	if err != nil {
		return false, err
	}
	for _, l := range remove {
		i.Labels = slices.DeleteFunc(i.Labels, func(s string) bool { return s == l.Name })
	}
	for _, l := range add {
		if !slices.Contains(i.Labels, l.Name) {
			i.Labels = append(i.Labels, l.Name)
		}
	}
	return true, nil
}

func (k *tracker) Get(_ context.Context, _ github.Repo, n int) (github.Issue, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, err := k.find(n)
	if err != nil {
		return github.Issue{}, err
	}
	return *i, nil
}

func (k *tracker) Find(_ context.Context, _ github.Repo, mark string) (github.Issue, bool, error) {
	want, _ := marker.Parse(mark)
	for _, i := range k.issues {
		if have, _ := marker.Parse(i.Body); have.Key == want.Key {
			return i, true, nil
		}
	}
	return github.Issue{}, false, nil
}

func (k *tracker) Contains(context.Context, github.Repo, string, string) (bool, error) {
	return true, nil
}

func (k *tracker) Absent(_ context.Context, _ github.Repo, err error) error { return err }

func (k *tracker) List(context.Context, github.Repo, string, []string) ([]string, error) {
	k.asked++
	return nil, nil
}

// reports is a source of reports that all say the same.
type reports struct{}

func (reports) Report(context.Context, escalation.Record) (func(render.Options) markdown.Text, error) {
	return func(o render.Options) markdown.Text { return markdown.Text("reported\n\n" + o.Shared.Marker) }, nil
}

func (reports) Labels(escalation.Record) []github.LabelSpec {
	return []github.LabelSpec{{Name: "reported"}}
}

// filing is one pull request whose effects go to a tracker.
type filing struct {
	t   *testing.T
	g   *GitHub
	c   routing.Case
	run int
	now time.Time
	cp  string // the checkpoint of the runs
}

func newFiling(t *testing.T, k *tracker, led ledger.Ledger, pr int) *filing {
	d := &filing{t: t, cp: "ci", now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), run: pr * 100, c: routing.Case{Key: fmt.Sprintf("acme/app#%d", pr)}}
	d.g = &GitHub{Hub: k.hub(), Repo: github.Repo{Owner: "acme", Name: "app"}, Subject: Subject{Number: pr}, Ledger: led, Owner: fmt.Sprint("process ", pr),
		Now: func() time.Time { return d.now }, Sleep: func(context.Context, time.Duration) error { time.Sleep(10 * time.Microsecond); return nil }}
	return d
}

// analyze decides a run of class, or a green one, and carries out what it means
// for issues.
func (d *filing) analyze(class routing.Class, test string) error {
	d.run++
	v := routing.Verdict{Checkpoint: d.cp, Run: routing.Run{Repository: "acme/app", ID: fmt.Sprint(d.run), SHA: fmt.Sprintf("%040x", d.run)}, Result: routing.Pass, Counts: routing.Counts{Tests: 2, Passed: 2}}
	if class != "" {
		v.Result, v.Class, v.Counts = routing.Fail, class, routing.Counts{Tests: 2, Passed: 1, Failed: 1}
		v.Failures = []routing.Failure{{Name: test, Class: class, Fingerprint: "v1:" + test, Decisive: true}}
	}
	decision := routing.Decide(d.c, v, noTurns(""), d.now)
	return d.apply(routing.RunEvent(d.c.Key, v, decision, d.now))
}

func noTurns(string) routing.Policy {
	p := routing.DefaultPolicy()
	p.Max = 0
	return p
}

func (d *filing) apply(e routing.Event) error {
	next, err := ledger.Case(d.g.Ledger, d.c.Key).Update(d.t.Context(), func(routing.Case) ([]routing.Event, error) { return []routing.Event{e}, nil })
	if err != nil {
		return err
	}
	d.c = next
	for _, e := range next.Pending {
		ref := ""
		if e.Kind == routing.EffectIssue || e.Kind == routing.EffectClose {
			if ref, err = d.g.Do(d.t.Context(), d.c, e, false); err != nil {
				return err
			}
		}
		done := routing.EffectEvent(d.c.Key, routing.EffectDone{Effect: e, Ref: ref}, d.now)
		if d.c, err = ledger.Case(d.g.Ledger, d.c.Key).Update(d.t.Context(), func(routing.Case) ([]routing.Event, error) { return []routing.Event{done}, nil }); err != nil {
			return err
		}
	}
	return nil
}

// Many cases fail the same way at once, and pass at once, in any order of
// their requests: one issue, that lists all, closed once.
func TestManyCallAtOnce(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		k, led := newTracker(), &ledger.Memory{}
		const cases = 6
		filings := make([]*filing, cases)
		for i := range filings {
			filings[i] = newFiling(t, k, led, i+1)
		}
		all := func(do func(*filing) error) {
			var wg sync.WaitGroup
			for _, d := range filings {
				wg.Go(func() {
					if err := do(d); err != nil {
						t.Errorf("round %d, %s: %v", round, d.c.Key, err)
					}
				})
			}
			wg.Wait()
		}
		all(func(d *filing) error { return d.analyze(routing.EnvIssue, "t") })
		if len(k.issues) != 1 {
			t.Fatalf("round %d: %d issues", round, len(k.issues))
		}
		for i := range filings {
			if !strings.Contains(k.issues[0].Body, fmt.Sprintf("/pull/%d)", i+1)) {
				t.Fatalf("round %d: #%d is not listed in\n%s", round, i+1, k.issues[0].Body)
			}
		}
		all(func(d *filing) error { return d.analyze("", "") })
		reg, err := Escalations(t.Context(), led, "acme/app")
		if err != nil || k.issues[0].State != "closed" || len(k.posts) != 1 || len(reg.AllOpen()) != 0 || !reg.Records[0].Settled {
			t.Fatalf("round %d: %v, issue %s, posts %v, %d open", round, err, k.issues[0].State, k.posts, len(reg.AllOpen()))
		}
	}
}

func TestIssueLife(t *testing.T) {
	t.Parallel()
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	human := func(d *filing, e routing.HumanActed) routing.Event {
		e.Checkpoint, e.By = d.cp, "octocat"
		return routing.HumanEvent(d.c.Key, e, d.now)
	}
	t.Run("the labels follow the type", func(t *testing.T) {
		k := newTracker()
		d := newFiling(t, k, &ledger.Memory{}, 1)
		must(t, d.analyze(routing.LogicError, "t"))
		if !slices.Contains(k.issues[0].Labels, "escalation:test_failure") {
			t.Fatal(k.issues[0].Labels)
		}
		cp := d.c.Checkpoints["ci"]
		cp.Attempts = slices.Clone(cp.Attempts)
		cp.Attempts[0].Verdict.Class, cp.Attempts[0].Kind = routing.DesignMismatch, routing.KindDesign
		d.c.Checkpoints["ci"], d.c.Generation = cp, d.c.Generation+1
		_, err := d.g.Do(t.Context(), d.c, routing.Effect{Kind: routing.EffectIssue, Checkpoint: "ci", Target: string(routing.KindDesign), Slot: "s"}, false)
		must(t, err)
		if l := k.issues[0].Labels; len(k.issues) != 1 || slices.Contains(l, "escalation:test_failure") || !slices.Contains(l, "escalation:decision") || !slices.Contains(l, "severity:high") {
			t.Errorf("%d issues, %v", len(k.issues), l)
		}
	})
	t.Run("S2-72 an issue that a person closes stays open when its case passes, and says so once", func(t *testing.T) {
		k := newTracker()
		d := newFiling(t, k, &ledger.Memory{}, 1)
		d.g.Config.Escalation.AutoResolve = map[string]bool{"blocked": false}
		must(t, d.analyze(routing.EnvIssue, "t"))
		must(t, d.analyze("", ""))
		reg, err := d.g.Escalations(t.Context())
		if err != nil || k.issues[0].State != "open" || len(k.posts) != 1 || len(reg.AllOpen()) != 1 {
			t.Errorf("%v, %+v, posts %v, %d open", err, k.issues[0], k.posts, len(reg.AllOpen()))
		}
	})
	t.Run("an escalation of no case is written by its report source", func(t *testing.T) {
		k := newTracker()
		d := newFiling(t, k, &ledger.Memory{}, 1)
		d.g.Reports = reports{}
		request := escalation.Request{ID: "r", Facts: escalation.Facts{Type: escalation.Blocked, Title: "title"},
			Member: escalation.Member{Case: routing.PortKey("acme/app", "ports", "a"), Checkpoint: "a", Type: escalation.Blocked, Run: "1"}}
		ref, err := d.g.Escalate(t.Context(), request)
		if err != nil || !strings.HasPrefix(ref, "1 ") || !strings.Contains(k.issues[0].Body, "reported") || !slices.Equal(k.issues[0].Labels, []string{"reported"}) {
			t.Fatalf("%q %v %+v", ref, err, k.issues)
		}
		must(t, d.g.Release(t.Context(), request.Member.Case, "a", escalation.Released, "octocat", "done"))
		if k.issues[0].State != "closed" {
			t.Errorf("%+v", k.issues[0])
		}
	})
	t.Run("won't fix closes as not planned and calls no more", func(t *testing.T) {
		k := newTracker()
		d := newFiling(t, k, &ledger.Memory{}, 1)
		must(t, d.analyze(routing.EnvIssue, "t"))
		must(t, d.apply(human(d, routing.HumanActed{Action: routing.HumanWontFix})))
		if i := k.issues[0]; i.State != "closed" || i.StateReason != "not_planned" {
			t.Fatalf("%+v", i)
		}
		must(t, d.analyze(routing.EnvIssue, "t"))
		if i := k.issues[0]; i.State != "closed" || len(k.issues) != 1 {
			t.Errorf("%+v", k.issues)
		}
	})
	t.Run("S2-70 what becomes of a type that its case has an issue of goes there, and its own is closed", func(t *testing.T) {
		k, led := newTracker(), &ledger.Memory{}
		d := newFiling(t, k, led, 1)
		must(t, d.analyze(routing.LogicError, "t"))
		d.cp = "lint"
		must(t, d.analyze(routing.EnvIssue, "u"))
		must(t, d.apply(human(d, routing.HumanActed{Action: routing.HumanWrong, Class: routing.LogicError})))
		_, events, err := routing.Release(d.c, noTurns, d.now)
		must(t, err)
		for _, e := range events {
			must(t, d.apply(e))
		}
		reg, err := Escalations(t.Context(), led, "acme/app")
		must(t, err)
		open := reg.AllOpen()
		if len(open) != 1 || len(open[0].Members) != 2 || len(k.issues) != 2 || k.issues[0].State != "open" || k.issues[1].State != "closed" {
			t.Errorf("%+v\n%+v", open, k.issues)
		}
		if left := reg.LeftBehind(d.c.Key, "lint"); len(left) != 0 {
			t.Errorf("not settled: %+v", left)
		}
	})
	t.Run("who resolved it is on record", func(t *testing.T) {
		k, led := newTracker(), &ledger.Memory{}
		d := newFiling(t, k, led, 1)
		must(t, d.analyze(routing.EnvIssue, "t"))
		must(t, d.apply(human(d, routing.HumanActed{Action: routing.HumanResume})))
		reg, err := Escalations(t.Context(), led, "acme/app")
		must(t, err)
		if r := reg.Records[0]; r.ResolvedBy != "octocat" || r.ResolvedAt.IsZero() || r.Resolution != string(escalation.Released) || k.issues[0].State != "closed" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("an issue that is gone ends nothing", func(t *testing.T) {
		k := newTracker()
		d := newFiling(t, k, &ledger.Memory{}, 1)
		must(t, d.analyze(routing.EnvIssue, "t"))
		k.gone[1] = true
		must(t, d.analyze(routing.EnvIssue, "t")) // new evidence
		if len(k.issues) != 2 {
			t.Fatalf("%d issues", len(k.issues))
		}
		k.gone[2] = true
		must(t, d.analyze("", ""))
		if d.c.Checkpoints["ci"].State != routing.Completed {
			t.Errorf("%+v", d.c.Checkpoints["ci"].State)
		}
	})
	t.Run("an issue filed by a process that was killed then is closed by the pass that follows", func(t *testing.T) {
		k := newTracker()
		d := newFiling(t, k, &ledger.Memory{}, 1)
		k.lose = true
		if err := d.analyze(routing.EnvIssue, "t"); err == nil {
			t.Fatal("nothing was lost")
		}
		must(t, d.analyze("", ""))
		if i := k.issues[0]; len(k.issues) != 1 || i.State != "closed" {
			t.Errorf("%+v", k.issues)
		}
	})
	t.Run("the owners are asked for once, when the issue is made", func(t *testing.T) {
		k := newTracker()
		d := newFiling(t, k, &ledger.Memory{}, 1)
		must(t, d.analyze(routing.EnvIssue, "t"))
		must(t, d.analyze(routing.EnvIssue, "t"))
		if k.asked != 1 {
			t.Errorf("asked %d times", k.asked)
		}
	})
	t.Run("the questions are made out of the body that stands there", func(t *testing.T) {
		k := newTracker()
		d := newFiling(t, k, &ledger.Memory{}, 1)
		var seen []string
		d.g.Questions = func(rec escalation.Record, host routing.Case, live string) markdown.Text {
			seen = append(seen, live)
			return markdown.Text("- [ ] ask " + rec.ID + " of " + host.Key)
		}
		must(t, d.analyze(routing.EnvIssue, "t"))
		k.issues[0].Body = "[x] " + k.issues[0].Body
		must(t, d.analyze(routing.EnvIssue, "t"))
		if !slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, "[x]") }) || !strings.Contains(k.issues[0].Body, "- [ ] ask acme/app#1/ci/issue/ESCALATE_ENV of acme/app#1") {
			t.Errorf("%q\n%s", seen, k.issues[0].Body)
		}
	})
}
