package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

// extent is how much a soak bears.
type extent struct {
	repos, pulls int // pulls in all
	workers      int // pull requests at once
	kills        int
	slow         time.Duration // GitHub's slow answers
	share        float64       // of GitHub's answers that go wrong
}

var (
	shortSoak = extent{repos: 2, pulls: 4, workers: 4, kills: 6, slow: 400 * time.Millisecond, share: 0.03}
	longSoak  = extent{repos: 4, pulls: 120, workers: 5, kills: 200, slow: 30 * time.Second, share: 0.05}
)

// soakExtent is what the environment asks for: SOAK=full is the long form, SOAK_SEED
// repeats what chance did, and SOAK_KILLS and SOAK_PULLS bound the long form.
func soakExtent(t *testing.T) (x extent, seed uint64) {
	t.Helper()
	x, seed = shortSoak, rand.Uint64()
	if os.Getenv("SOAK") == "full" {
		x = longSoak
	}
	number := func(name string, set func(uint64)) {
		v := os.Getenv(name)
		if v == "" {
			return
		}
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("%s: %q is no whole number", name, v)
		}
		set(n)
	}
	number("SOAK_SEED", func(n uint64) { seed = n })
	number("SOAK_KILLS", func(n uint64) { x.kills = int(n) })
	number("SOAK_PULLS", func(n uint64) { x.pulls = int(n) })
	return x, seed
}

// soak is a number of pull requests with their events for an App.
type soak struct {
	t     testing.TB
	b     *Bench
	x     extent
	repos []*Repo
	told  []*pull
	apps  []*Served // the replicas
	pg    *pgtest.Own

	up    sync.RWMutex // held while there is no server: who reads SQLite then would fix its log
	db    *database.DB // PostgreSQL's
	look  sync.Mutex
	seen  map[string]deliveryRow
	asked time.Time

	turn    atomic.Int64 // deliveries sent
	settled atomic.Int64 // steps
	stop    context.Context
	killed  int
	trouble *Trouble
}

// TestSoak kills servers at random moments under a stream of deliveries while
// GitHub fails, and compares how all stands in the end with the same story told
// to a server that nothing happens to.
func TestSoak(t *testing.T) {
	t.Parallel()
	x, seed := soakExtent(t)
	t.Logf("SOAK_SEED=%d: %d pull requests in %d repositories, %d kills, %.0f %% of GitHub's answers fail", seed, x.pulls, x.repos, x.kills, 100*x.share)
	undisturbed := newSoak(t, x, nil)
	undisturbed.tell(seed, nil)
	want := undisturbed.end()
	t.Logf("undisturbed: %s", undisturbed.figures())
	if steps := strings.Count(want, "\n"); steps < 10*x.pulls {
		t.Fatalf("nothing happens:\n%s", want)
	}
	for name, own := range map[string]func(testing.TB) *pgtest.Own{"SQLite": nil, "PostgreSQL with three replicas": pgtest.NewOwn} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			s := newSoak(t, x, own)
			s.trouble = s.b.Trouble(seed, x.share, x.slow)
			s.tell(seed, s.kill)
			if got := s.end(); got != want {
				t.Errorf("it and the story that nothing happened to differ:\n%s", diff(want, got))
			}
			t.Logf("%d kills, %d steps, %s, in %v", s.killed, s.settled.Load(), s.figures(), time.Since(began).Round(time.Second))
		})
	}
}

// newSoak starts servers on a bench of their own: three replicas on PostgreSQL,
// or one on SQLite.
func newSoak(t testing.TB, x extent, own func(testing.TB) *pgtest.Own) *soak {
	t.Helper()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	s := &soak{t: t, b: StartAlone(t), x: x, stop: t.Context()}
	for range x.repos {
		r := s.b.NewRepo(t, map[string]string{"calc_test.go": calcTest, ".github/switchback.yml": soakConfig})
		r.Grant(t, Writer, "push")
		s.repos = append(s.repos, r)
	}
	replicas, url := 1, ""
	if own != nil {
		s.pg = own(t)
		replicas, url = 3, s.pg.URL()
		if s.db, err = database.OpenURL(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.db.Close() })
	}
	// A write begins with a quarter of the claim left, and GitHub may do it as much
	// later as it is slow: also for a process that was killed, unseen by others.
	claim := max(2*time.Second, 4*x.slow+10*x.slow/30)
	for range replicas {
		// More is written here than GitHub lets through: that is not what is tried.
		app := s.b.Serve(t, bin, url, "SWITCHBACK_RECOVER=1s", "SWITCHBACK_LIMITS=content=90000/1m,90000/1h points=90000/1m",
			"SWITCHBACK_LEASE_TTL="+claim.String())
		s.apps = append(s.apps, app)
		t.Cleanup(func() { keep(t, app.dir) })
	}
	for _, r := range s.repos {
		r.deliver(func(d Delivery) int { return post(s.next().URL+"/webhook", d) })
	}
	return s
}

// keep saves the logs and the database of a server that went wrong.
func keep(t testing.TB, dir string) {
	if !t.Failed() {
		return
	}
	to, err := os.MkdirTemp("", "switchback-soak-")
	if err == nil {
		err = os.CopyFS(to, os.DirFS(dir))
	}
	t.Logf("a server's logs are kept in %s: %v", to, err)
}

// next is the replica that the next delivery goes to, whatever its state.
func (s *soak) next() *Served { return s.apps[int(s.turn.Add(1))%len(s.apps)] }

const soakConfig = `reports: ["**/report.xml"]
max_iterations: 1
retry_delay: 0s
escalation:
  quiet: 0s
  max_issues: 50
`

// tell lets all pull requests happen, some of them at once, with meanwhile beside
// them, and waits until nothing is left to be done.
func (s *soak) tell(seed uint64, meanwhile func(seed uint64, steps int, over <-chan struct{})) {
	s.t.Helper()
	s.told = s.scripts(seed)
	steps := 0
	for _, p := range s.told {
		steps += len(p.steps)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	s.stop = ctx
	queue := make(chan *pull)
	var telling sync.WaitGroup
	defer telling.Wait()
	defer cancel()
	for range s.x.workers {
		telling.Go(func() {
			for p := range queue {
				p.run()
			}
		})
	}
	telling.Go(func() {
		defer close(queue)
		for _, p := range s.told {
			select {
			case queue <- p:
			case <-ctx.Done():
				return
			}
		}
	})
	over := make(chan struct{})
	go func() { telling.Wait(); close(over) }()
	if meanwhile != nil {
		meanwhile(seed, steps, over)
	}
	<-over
	if s.t.Failed() {
		runtime.Goexit()
	}
	s.drain()
}

// kill kills a replica at random moments, as many as there are to be, spread over
// the steps, and in the middle ends PostgreSQL and starts it again.
func (s *soak) kill(seed uint64, steps int, over <-chan struct{}) {
	s.t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 3))
	pause := func(most time.Duration) { // a random moment is what this is about
		select {
		case <-time.After(rand.N(most)):
		case <-s.stop.Done():
		}
	}
	for k := range s.x.kills {
		due := int64(steps * (k + 1) / (s.x.kills + 2))
		for ended := false; s.settled.Load() < due && !ended; {
			select {
			case <-over:
				ended = true
			case <-time.After(20 * time.Millisecond):
			}
		}
		if s.t.Failed() {
			return
		}
		pause(time.Second)
		if s.pg != nil && k == s.x.kills/2 {
			s.crash(pause)
		}
		s.killOne(rnd, pause)
		if s.killed%20 == 0 {
			s.t.Logf("%d kills, %d of %d steps", s.killed, s.settled.Load(), steps)
		}
	}
}

func (s *soak) killOne(rnd *rand.Rand, pause func(time.Duration)) {
	s.t.Helper()
	app := s.apps[rnd.IntN(len(s.apps))]
	if len(s.apps) == 1 {
		s.up.Lock()
		defer s.up.Unlock()
	}
	app.Kill()
	s.killed++
	pause(300 * time.Millisecond)
	app.Launch()
	if rnd.IntN(5) == 0 { // and once more, while it starts
		pause(300 * time.Millisecond)
		app.Kill()
		app.Launch()
	}
	app.Ready()
}

// crash ends PostgreSQL as a crash does, and starts it again.
func (s *soak) crash(pause func(time.Duration)) {
	s.t.Helper()
	if err := s.pg.Crash(); err != nil {
		s.t.Fatal(err)
	}
	pause(time.Second)
	if err := s.pg.Start(); err != nil {
		s.t.Fatal(err)
	}
	for _, app := range s.apps {
		app.Ready() // all of them have lived through it
	}
}

// drain ends the trouble and waits until the App has heard of everything, all
// is worked on, and two more looks for what was missed have found nothing.
func (s *soak) drain() {
	s.t.Helper()
	if s.trouble != nil {
		s.trouble.End()
	}
	began := time.Now()
	for quiet := 0; quiet < 2; {
		looks := s.looks()
		lost, left := s.unheard(), s.unfinished()
		if len(lost)+len(left) > 0 {
			quiet = 0
		} else {
			quiet++
		}
		if time.Since(began) > 30*time.Minute {
			s.t.Fatalf("unheard: %v\nunfinished: %v", lost, left)
		}
		s.apps[0].Until("it has looked", func() bool { return s.looks() > looks })
	}
}

func (s *soak) looks() (n float64) {
	for _, app := range s.apps {
		n += app.Metric("switchback_recovery_looks_total")
	}
	return n
}

// soakWanted are the events that the App does something about.
var soakWanted = []string{"workflow_run completed", "pull_request closed", "pull_request labeled", "pull_request unlabeled",
	"pull_request_review submitted", "issues edited", "issues closed", "issues reopened", "issue_comment created"}

// unheard are the deliveries that no server has taken in.
func (s *soak) unheard() (out []string) {
	lost := map[string]string{}
	for _, r := range s.repos {
		for _, d := range r.Deliveries() {
			if what := d.Event + " " + d.Action; contains(soakWanted, what) && lost[d.GUID] != "taken" {
				if lost[d.GUID] = what; d.Status < 300 {
					lost[d.GUID] = "taken"
				}
			}
		}
	}
	stored := s.rows() // also by a server that was killed before it answered
	for id, what := range lost {
		if _, ok := stored[id]; !ok && what != "taken" {
			out = append(out, id+" "+what)
		}
	}
	return out
}

// unfinished are the deliveries that are not done.
func (s *soak) unfinished() (out []string) {
	for id, row := range s.rows() {
		if !row.final() {
			out = append(out, fmt.Sprintf("%s %+v", id, row))
		}
	}
	return out
}

// figures returns the counts of what happened.
func (s *soak) figures() string {
	sent, failed, again, most := 0, 0, 0, 0
	for _, r := range s.repos {
		for _, d := range r.Deliveries() {
			sent++
			if d.Status >= 300 {
				failed++
			}
			if d.Redelivery {
				again++
			}
		}
	}
	for _, row := range s.rows() {
		most = max(most, row.attempts)
	}
	requests, writes := 0, 0
	for _, r := range s.repos {
		v := s.b.View(r.FullName)
		v.from = 0
		requests, writes = requests+len(v.Requests()), writes+len(v.Content())
	}
	return fmt.Sprintf("%d deliveries, of which %d were not taken and %d were sent again, at most %d attempts at one, %d requests to GitHub, of which %d write (%v)",
		sent, failed, again, most, requests, writes, s.trouble)
}
