package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
)

// burst is many pull requests of one installation that fail at once.
type burst struct {
	t      *testing.T
	b      *Bench
	r      *Repo
	apps   []*Served
	limits ratelimit.Limits
	pulls  []int // their numbers
	shas   []string
	view   *View
}

// A burst takes long on purpose: so few writes are let through that the limits
// bind. BURST is the number of pull requests for a longer one (make burst), with
// limits under which that ends.
func burstSize(def int, limits string) (int, string) {
	n, err := strconv.Atoi(os.Getenv("BURST"))
	if err != nil || n <= 0 {
		return def, limits
	}
	return n, "content=160/6s,2000/2m points=6000/30s at-once=40"
}

func newBurst(t *testing.T, databases []string, n int, limits string) *burst {
	t.Helper()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	u := &burst{t: t, b: Start(t)}
	if u.limits, err = ratelimit.Parse(limits); err != nil {
		t.Fatal(err)
	}
	u.r = u.b.NewRepo(t, map[string]string{"calc_test.go": calcTest, ".github/switchback.yml": "reports: [\"**/report.xml\"]\nmax_iterations: 9\nretry_delay: 0s\nacts: app\n"})
	for i := range n {
		branch := fmt.Sprintf("work-%d", i)
		u.shas = append(u.shas, u.r.Commit(t, branch, "work", map[string]string{"calc.go": fmt.Sprintf("package calc // %d\n", i)}))
		u.pulls = append(u.pulls, u.r.PullRequest(t, Owner, branch, "Add things", ""))
	}
	u.view = u.r.View()
	for _, url := range databases {
		u.apps = append(u.apps, u.b.Serve(t, bin, url, "SWITCHBACK_LIMITS="+limits, "SWITCHBACK_CONTENT_INTERVAL=5ms"))
	}
	return u
}

// fail files a run of every pull request, and tells the servers in turn.
func (u *burst) fail(report string) {
	u.t.Helper()
	var repo map[string]any
	u.r.get(u.t, "", &repo)
	work := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range work {
				run := u.r.AddRun(Run{Name: "unit", HeadSHA: u.shas[i], HeadBranch: fmt.Sprintf("work-%d", i), HeadRepo: u.r.FullName, Conclusion: "failure", Pulls: []int{u.pulls[i]},
					Jobs:      []Job{{Name: "unit", Log: "no test output here\n"}},
					Artifacts: []Artifact{{Name: "reports", Files: map[string]string{"report.xml": report}}}})
				p := u.r.RunPayload(run, "completed")
				p["installation"], p["repository"] = map[string]any{"id": appByID(SwitchbackAppID).installation}, repo
				d := Delivery{GUID: "burst-" + randomHex(8), Event: "workflow_run", Body: marshal(p)}
				if code := post(u.apps[i%len(u.apps)].URL+"/webhook", d); code != http.StatusAccepted {
					u.t.Errorf("the delivery was answered with %d", code)
				}
			}
		})
	}
	for i := range u.pulls {
		work <- i
	}
	close(work)
	wg.Wait()
}

// push gives every pull request another head commit.
func (u *burst) push() {
	u.t.Helper()
	for i := range u.pulls {
		u.shas[i] = u.r.Commit(u.t, fmt.Sprintf("work-%d", i), "more work", map[string]string{"calc.go": fmt.Sprintf("package calc // %d again\n", i)})
	}
}

// idle waits until all is worked on, however long that takes.
func (u *burst) idle() {
	u.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		all := u.apps[0].Metric("switchback_queue_depth")
		dead := u.apps[0].Metric("switchback_queue_depth", `state="dead_letter"`)
		if dead > 0 {
			u.t.Fatalf("%v deliveries are dead letters\n%s", dead, u.apps[0].Log())
		}
		if all == 0 {
			return
		}
		select {
		case <-u.t.Context().Done():
			u.t.Fatal("it did not end")
		case <-tick.C:
		}
	}
}

// requests returns what the servers asked about this repository.
func (u *burst) requests() []Request {
	out := u.view.Requests()
	for _, q := range u.view.others() {
		if q.Path == fmt.Sprintf("/repositories/%d", u.r.ID) {
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b Request) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// others returns the requests since Reset that name no repository.
func (v *View) others() []Request { return (&View{rec: v.rec, from: v.from}).Requests() }

// most returns how much of what count counts came within a span of time.
func most(all []Request, span time.Duration, count func(Request) int) (top int) {
	sum, first := 0, 0
	for _, q := range all {
		for ; q.At.Sub(all[first].At) >= span; first++ {
			sum -= count(all[first])
		}
		sum += count(q)
		top = max(top, sum)
	}
	return top
}

func points(q Request) int {
	if q.Content() {
		return ratelimit.WriteTokens
	}
	return ratelimit.ReadTokens
}

func content(q Request) int {
	if q.Content() && q.Method != http.MethodDelete {
		return 1
	}
	return 0
}

// atOnce returns how many requests were under way at once.
func atOnce(all []Request) (top int) {
	for _, q := range all {
		n := 0
		for _, o := range all {
			if !o.At.After(q.At) && o.Ended.After(q.At) {
				n++
			}
		}
		top = max(top, n)
	}
	return top
}

// onTheWay is what a request may take to arrive, where only the time counts at
// which it was sent.
const onTheWay = time.Second

func (u *burst) check(began time.Time) {
	u.t.Helper()
	all := u.requests()
	l := u.limits
	short, long := most(all, l.Short.Per, content), most(all, l.Long.Per, content)
	spent, under := most(all, l.Points.Per-onTheWay, points), atOnce(all)
	writes, reads := 0, 0
	for _, q := range all {
		writes, reads = writes+content(q), reads+1-content(q)
	}
	u.t.Logf("%d pull requests, %d servers, %v: %d writes and %d reads in %.1f s; at most %d of content in %v, %d in %v, %d points in %v, %d at once", len(u.pulls), len(u.apps), l,
		writes, reads, time.Since(began).Seconds(), short, l.Short.Per, long, l.Long.Per, spent, l.Points.Per, under)
	u.t.Run("no span of time has more requests than the limits", func(t *testing.T) {
		if short > l.Short.N || long > l.Long.N || spent > l.Points.N || under > l.AtOnce {
			t.Errorf("%d and %d of content, %d points, %d at once; the limits are %v", short, long, spent, under, l)
		}
	})
	first := map[string]string{} // what was posted first, by pull request
	for _, q := range all {
		var doc struct{ Body string }
		if _, known := first[q.Path]; q.Method == http.MethodPost && strings.HasSuffix(q.Path, "/comments") && !known && json.Unmarshal(q.Body, &doc) == nil {
			first[q.Path] = doc.Body
		}
	}
	u.t.Run("every pull request has one comment, and what was posted first was its newest state", func(t *testing.T) {
		for _, n := range u.pulls {
			var got []string
			for _, c := range u.r.Comments(t, n) {
				if c.User.Login == SwitchbackBot {
					got = append(got, c.Body)
				}
			}
			if len(got) != 1 || !strings.Contains(got[0], "TestNewest") {
				t.Errorf("pull request %d: %q", n, got)
			}
			if body := first[fmt.Sprintf("/repos/%s/issues/%d/comments", u.r.FullName, n)]; !strings.Contains(body, "TestNewest") {
				t.Errorf("pull request %d: first it was told %q", n, body)
			}
		}
	})
	for _, v := range u.view.Violations() {
		u.t.Errorf("against GitHub's description: %s", v)
	}
}

// run lets all fail twice while GitHub lets nothing through, and then lets it.
func (u *burst) run() {
	u.t.Helper()
	began := time.Now()
	first := u.view.Fault(func() Fault { f := RateLimited(http.StatusForbidden, time.Second); f.Times = -1; return f }())
	u.fail(failing("TestOlder"))
	u.push()
	u.fail(failing("TestNewest"))
	held := len(u.requests())
	first()
	u.idle()
	u.t.Logf("%d requests while GitHub let nothing through", held)
	u.check(began)
}

func TestBurst(t *testing.T) {
	t.Parallel()
	t.Run("one process with SQLite", func(t *testing.T) {
		n, limits := burstSize(10, "content=6/2s,60/30s points=600/15s at-once=8")
		newBurst(t, []string{""}, n, limits).run()
	})
	t.Run("three replicas on PostgreSQL", func(t *testing.T) {
		n, limits := burstSize(20, "content=10/2s,100/30s points=900/15s at-once=16")
		url := pgtest.URL(t)
		newBurst(t, []string{url, url, url}, n, limits).run()
	})
}
