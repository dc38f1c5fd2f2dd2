package incidents

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/trackingissues"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

var repo = github.Repo{Owner: "acme", Name: "app"}

// site is a repository on GitHub as far as the service and the effects see it, with its ledger.
type site struct {
	mu       sync.Mutex
	led      ledger.Memory
	now      time.Time
	issues   []github.Issue
	keys     []string          // of their markers
	notes    map[string]int    // by marker: how often it was posted
	checks   map[string]string // by case: title of the check
	reruns   map[int64]int     // by run
	updates  map[int]int       // by pull request
	attempts map[int64]int
	closed   map[int]bool // pull requests
}

func newSite() *site {
	return &site{now: noon, notes: map[string]int{}, checks: map[string]string{}, reruns: map[int64]int{}, updates: map[int]int{}, attempts: map[int64]int{}, closed: map[int]bool{}}
}

func (w *site) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *site) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func keyOf(mark string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(mark, "<!-- switchback:v1 key="), " ")
	return key
}

var errKilled = errors.New("killed")

// process is one that dies at a step: before it or after it.
type process struct {
	*site
	ledger.Ledger
	name  string
	die   int // 0: never
	after bool
	steps int
	cfg   config.File
}

// step is a request that changes something.
func (p *process) step(do func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps++
	if p.die > 0 && (p.steps > p.die || p.steps == p.die && !p.after) {
		return errKilled
	}
	do()
	if p.steps == p.die {
		return errKilled
	}
	return nil
}

func (p *process) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (v ledger.Version, err error) {
	if failed := p.step(func() { v, err = p.led.Append(ctx, key, seen, events) }); failed != nil {
		return v, failed
	}
	return v, err
}

type issues struct{ *process }

func (h issues) Upsert(_ context.Context, _ github.Repo, mark string, spec github.IssueSpec, _ string) (i github.Issue, made bool, err error) {
	err = h.step(func() {
		body := string(spec.Body)
		if spec.Write != nil {
			body = string(spec.Write(""))
		}
		for n, k := range h.keys {
			if k == keyOf(mark) {
				h.site.issues[n].Body = body
				i = h.site.issues[n]
				return
			}
		}
		n := 1000 + len(h.site.issues)
		i, made = github.Issue{Number: n, URL: fmt.Sprint("https://github.com/acme/app/issues/", n), Title: spec.Title, Body: body, State: "open"}, true
		h.site.issues, h.keys = append(h.site.issues, i), append(h.keys, keyOf(mark))
	})
	return i, made, err
}

func (h issues) at(n int) *github.Issue { return &h.site.issues[n-1000] }

func (h issues) Get(_ context.Context, _ github.Repo, n int) (github.Issue, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return *h.at(n), nil
}

func (h issues) Find(_ context.Context, _ github.Repo, mark string) (github.Issue, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n, k := range h.keys {
		if k == keyOf(mark) {
			return h.site.issues[n], true, nil
		}
	}
	return github.Issue{}, false, nil
}

func (h issues) Rewrite(_ context.Context, _ github.Repo, n int, _ string, write func(string) markdown.Text) (github.Issue, bool, error) {
	err := h.step(func() { h.at(n).Body = string(write(h.at(n).Body)) })
	return github.Issue{Number: n}, true, err
}

func (h issues) Close(ctx context.Context, r github.Repo, n int, c markdown.Text, m string) (bool, error) {
	return h.CloseAs(ctx, r, n, "completed", c, m)
}

func (h issues) CloseAs(_ context.Context, _ github.Repo, n int, _ string, _ markdown.Text, _ string) (closed bool, err error) {
	err = h.step(func() {
		closed = h.at(n).State == "open"
		h.at(n).State, h.at(n).ClosedByBot = "closed", true
	})
	return closed, err
}

func (h issues) Reopen(_ context.Context, _ github.Repo, n int, _ markdown.Text, _ string) (bool, error) {
	return true, h.step(func() { h.at(n).State = "open" })
}

type comments struct{ *process }

func (h comments) Upsert(context.Context, github.Repo, int, string, markdown.Text, string) (string, bool, error) {
	return "7", true, h.step(func() {})
}

func (h comments) PostOnce(_ context.Context, _ github.Repo, _ int, mark string, _ markdown.Text, _ bool) (string, bool, error) {
	return "1", true, h.step(func() {
		if h.notes[mark] == 0 {
			h.notes[mark]++
		}
	})
}

func (comments) React(context.Context, github.Repo, int64) error { return nil }

type rest struct{ *process }

func (h rest) Upsert(_ context.Context, _ github.Repo, _ string, c github.Check, _ bool) (string, error) {
	return "1", h.step(func() { h.checks[strings.TrimSuffix(c.ExternalID, "/ci/check")] = c.Title + " " + string(c.Summary) })
}

func (h rest) Absent(_ context.Context, _ github.Repo, err error) error { return err }

func (h rest) Sync(context.Context, github.Repo, int, []string, []github.LabelSpec, []github.LabelSpec) (bool, error) {
	return true, nil
}

func (h rest) List(context.Context, github.Repo, string, []string) ([]string, error) { return nil, nil }

func (h rest) UpdateBranch(_ context.Context, _ github.Repo, n int, _ string) error {
	return h.step(func() { h.updates[n]++ })
}

type runs struct{ *process }

func (h runs) Get(_ context.Context, _ github.Repo, id int64, _ int) (github.WorkflowRun, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return github.WorkflowRun{ID: id, Attempt: 1 + h.attempts[id]}, nil
}

func (h runs) RerunFailed(_ context.Context, _ github.Repo, id int64) error {
	return h.step(func() {
		h.attempts[id]++
		h.reruns[id]++
	})
}

func (p *process) effects(n int) *effect.GitHub {
	return &effect.GitHub{
		Hub:  effect.Hub{Checks: rest{p}, CodeOwners: rest{p}, Comments: comments{p}, Issues: issues{p}, Labels: rest{p}, PullRequests: rest{p}, Repositories: rest{p}, Runs: runs{p}},
		Repo: repo, Subject: effect.Subject{Number: n, Author: fmt.Sprint("dev", n%5), Trusted: true}, Config: p.cfg, Ledger: p, Now: p.clock, Owner: p.name, FileTTL: time.Minute,
		Sleep: func(context.Context, time.Duration) error { return errBusy },
	}
}

// errBusy ends a process that would wait for another one.
var errBusy = errors.New("another process is at it")

func (p *process) line(n int) *pipeline.Pipeline {
	return &pipeline.Pipeline{
		Ledger: p, Effector: p.effects(n), Advise: effect.Advise, Owner: p.name, LeaseTTL: time.Minute, Now: p.clock, Policies: policies,
		Sleep: func(context.Context, time.Duration) error { return errBusy },
	}
}

func policies(string) routing.Policy { return routing.DefaultPolicy() }

func (p *process) service() *Service {
	return &Service{
		Ledger: p, Repo: "acme/app", Config: p.cfg, Owner: p.name, TTL: time.Minute, Now: p.clock, Cases: cases{p},
		GitHub: trackingissues.GitHub{Issues: issues{p}, Comments: comments{p}, Repositories: rest{p}},
	}
}

// cases are the cases of the site.
type cases struct{ *process }

func (h cases) Change(ctx context.Context, key string, e routing.IncidentChanged) (Outcome, error) {
	c, err := ledger.Case(h.process, key).Load(ctx)
	if err != nil {
		return Other, err
	}
	cp, n := c.Checkpoints[e.Checkpoint], 0
	_, _ = fmt.Sscanf(key, "acme/app#%d", &n)
	if h.closed[n] {
		return Closed, nil
	}
	if !e.Changes(cp) {
		k := len(cp.Attempts)
		if k == 0 || cp.Attempts[k-1].Verdict.Incident == nil || e.Restart && cp.Attempts[k-1].Restarted == "" {
			return Other, nil
		}
		_, err = h.line(n).Apply(ctx, pipeline.Recorded{Case: c})
		return Changed, err
	}
	rec, err := h.line(n).Incident(ctx, key, e)
	if err == nil && !rec.Repeated {
		_, err = h.line(n).Apply(ctx, rec)
	}
	return Changed, err
}

func (h cases) Escalated(ctx context.Context) ([]Escalated, error) {
	reg, err := effect.Escalations(ctx, h.process, "acme/app")
	var out []Escalated
	for _, rec := range reg.AllOpen() {
		for _, m := range rec.Members {
			c, err := ledger.Case(h.process, m.Case).Load(ctx)
			if err != nil {
				return nil, err
			}
			if v, may := routing.MayJoinIncident(c.Checkpoints[m.Checkpoint]); may {
				out = append(out, Escalated{Case: m.Case, Checkpoint: m.Checkpoint, Verdict: v})
			}
		}
	}
	return out, err
}

const dns = "getaddrinfo EAI_AGAIN registry.npmjs.org"

// outage is the verdict of an attempt of the run of a pull request that fails by one cause, in a test
// of its own.
func outage(n, attempt int) routing.Verdict {
	return routing.Verdict{
		Checkpoint: "ci", Result: routing.Fail, Class: routing.EnvIssue, Reason: dns, At: noon,
		Run: routing.Run{Repository: "acme/app", ID: fmt.Sprint(n), Attempt: attempt, SHA: fmt.Sprintf("%040x", n)},
		Failures: []routing.Failure{{
			Name: fmt.Sprint("Test", n), Class: routing.EnvIssue, Kind: "test", Message: dns, Decisive: true, Fingerprint: fmt.Sprintf("v1:%032x", n),
			Evidence: []routing.Evidence{{Text: dns, Signal: "env-dns"}},
		}},
	}
}

func caseKey(n int) string { return fmt.Sprint("acme/app#", n) }

// told handles the run of a pull request, as bot/handler does.
func (p *process) told(ctx context.Context, n int, v routing.Verdict) error {
	s := p.service()
	if v.Result == routing.Fail {
		in, _, err := s.See(ctx, incident.Seen{Case: caseKey(n), Author: fmt.Sprint("dev", n%5), Base: "main", Verdict: v})
		if err != nil {
			return err
		}
		if in != nil {
			ref := in.Ref()
			v.Incident = &ref
		}
	}
	rec, err := p.line(n).Record(ctx, caseKey(n), v, policies)
	if err != nil {
		return err
	}
	c, err := p.line(n).Apply(ctx, rec)
	if err != nil {
		return err
	}
	if v.Result == routing.Pass {
		return s.Passed(ctx, caseKey(n), "ci", v.Run.SHA)
	}
	return s.Settle(ctx, HeldIn(c))
}

// reconcile looks at all cases, as bot/handler does.
func (p *process) reconcile(ctx context.Context) error {
	keys, err := p.Keys(ctx)
	if err != nil {
		return err
	}
	var held []Held
	for _, key := range keys {
		if routing.IsRepositoryStream(key) {
			continue
		}
		c, err := ledger.Case(p, key).Load(ctx)
		if err != nil {
			return err
		}
		n := 0
		_, _ = fmt.Sscanf(key, "acme/app#%d", &n)
		if len(c.Pending) > 0 {
			if _, err := p.line(n).Apply(ctx, pipeline.Recorded{Case: c}); err != nil {
				return err
			}
		}
		held = append(held, HeldIn(c)...)
	}
	return errors.Join(p.service().Reconcile(ctx), p.service().Settle(ctx, held))
}

// processes makes processes of a site, of which some die.
type processes struct {
	*site
	r    *rand.Rand
	mu   sync.Mutex
	n    int
	cfg  config.File
	died int
}

// next returns a process. A mortal one dies within its first steps, if chance wants it.
func (ps *processes) next(mortal bool) *process {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.n++
	p := &process{site: ps.site, Ledger: &ps.led, name: fmt.Sprint("p", ps.n), cfg: ps.cfg}
	if mortal && ps.r.IntN(3) == 0 {
		p.die, p.after = 1+ps.r.IntN(14), ps.r.IntN(2) == 0
		ps.died++
	}
	return p
}

// until does something in processes that may die, with time between them, until it is done.
func (ps *processes) until(t *testing.T, what func(*process) error) {
	t.Helper()
	for try := range 40 {
		err := what(ps.next(try < 4))
		if err == nil {
			return
		}
		if !errors.Is(err, errKilled) && !errors.Is(err, errBusy) {
			t.Fatal(err)
		}
		ps.pass(5 * time.Second)
	}
	t.Fatal("it does not end")
}

// Fifty pull requests fail at once while processes are killed: there is one open issue, everybody is on
// hold with a check that links it, and everybody is restarted exactly once.
func TestBurstWithKillsS5_76(t *testing.T) {
	t.Parallel()
	const pulls = 50
	for seed := range uint64(2) {
		ctx := t.Context()
		ps := &processes{site: newSite(), r: rand.New(rand.NewPCG(seed, 76))}
		var wg sync.WaitGroup
		for n := 1; n <= pulls; n++ {
			wg.Go(func() { ps.until(t, func(p *process) error { return p.told(ctx, n, outage(n, 1)) }) })
		}
		wg.Wait()
		for range 3 {
			ps.pass(2 * time.Minute)
			ps.until(t, func(p *process) error { return p.reconcile(ctx) })
		}
		ps.pass(2 * time.Minute) // and the leases of those that died last
		if err := ps.next(false).reconcile(ctx); err != nil {
			t.Fatal(err)
		}
		st, err := ps.next(false).service().State(ctx)
		if err != nil || len(st.Incidents) != 1 || len(st.Incidents[0].Waiting()) != pulls {
			t.Fatalf("S5-76: seed %d: %d incidents, %v", seed, len(st.Incidents), err)
		}
		in := st.Incidents[0]
		open, filed := 0, 0
		for i, x := range ps.issues {
			if x.State == "open" {
				open++
			}
			if strings.Contains(ps.keys[i], "incidents/") {
				filed++
			}
		}
		if open != 1 || filed != 1 {
			for n := 1; n <= pulls; n++ {
				c, _ := ledger.Case(ps.next(false), caseKey(n)).Load(ctx)
				cp := c.Checkpoints["ci"]
				if cp.Escalation != nil || len(c.Pending) > 0 {
					m, _ := in.Member(caseKey(n), "ci")
					_, may := routing.MayJoinIncident(cp)
					t.Logf("#%d: %s %+v pending %+v member %+v may %v attempts %d", n, cp.State, cp.Escalation, c.Pending, m, may, len(cp.Attempts))
				}
			}
			for i, x := range ps.issues {
				t.Logf("%s %s %s", ps.keys[i], x.State, x.Title)
			}
			t.Fatalf("S5-76, S5-73: seed %d: %d issues are open, %d were filed for the incident", seed, open, filed)
		}
		for n := 1; n <= pulls; n++ {
			if got := ps.checks[caseKey(n)]; !strings.Contains(got, fmt.Sprint("issues/", in.Number)) {
				t.Fatalf("S5-72: seed %d: the check of #%d does not link the incident: %s", seed, n, got)
			}
		}
		ps.closed[50] = true
		ps.until(t, func(p *process) error { return p.service().Close(ctx, in.ID, "closed/1", "mona", false) })
		if len(ps.reruns) > 1 {
			t.Fatalf("S5-74: seed %d: %d runs before the canary has passed", seed, len(ps.reruns))
		}
		ps.pass(2 * time.Minute)
		ps.until(t, func(p *process) error { return p.reconcile(ctx) })
		st, _ = ps.next(false).service().State(ctx)
		canary := 0
		_, _ = fmt.Sscanf(st.Incidents[0].Canary.Case, "acme/app#%d", &canary)
		if len(ps.reruns) != 1 || ps.reruns[int64(canary)] != 1 {
			t.Fatalf("S5-74: seed %d: the canary is #%d, restarted are %v", seed, canary, ps.reruns)
		}
		green := outage(canary, 2)
		green.Result, green.Class, green.Failures, green.Reason = routing.Pass, "", nil, ""
		ps.until(t, func(p *process) error { return p.told(ctx, canary, green) })
		most, before := 0, len(ps.reruns)
		for range 12 {
			ps.pass(20 * time.Minute)
			ps.until(t, func(p *process) error { return p.reconcile(ctx) })
			most, before = max(most, len(ps.reruns)-before), len(ps.reruns)
		}
		st, _ = ps.next(false).service().State(ctx)
		if got := st.Incidents[0]; got.Standing != incident.Over || len(got.Pending) != 0 {
			t.Fatalf("S5-76: seed %d: it is %s with %d restarted, pending %v", seed, got.Standing, len(ps.reruns), got.Pending)
		}
		if len(ps.reruns) != pulls-1 || most > 20 {
			t.Fatalf("S5-76: seed %d: %d of %d were restarted, up to %d at once", seed, len(ps.reruns), pulls-1, most)
		}
		for id, times := range ps.reruns {
			if times != 1 {
				t.Fatalf("S5-76: seed %d: run %d was run again %d times", seed, id, times)
			}
		}
		if m, _ := st.Incidents[0].Member(caseKey(50), "ci"); m.Left != incident.LeftClosed {
			t.Fatalf("S5-77: seed %d: the closed pull request: %+v", seed, m)
		}
		if ps.died == 0 || ps.issues[len(ps.issues)-1].State != "closed" {
			t.Fatalf("S5-76: seed %d: %d processes died", seed, ps.died)
		}
	}
}
