package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
)

// shown is the dashboard of streams in a database, for several viewers.
type shown struct {
	feed  *eventstream.Store
	byKey map[string][]routing.Event
}

// on runs a check on each kind of database.
func on(t *testing.T, streams []sample.Stream, check func(t *testing.T, s shown)) {
	for _, kind := range []database.Kind{database.SQLite, database.Postgres} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := shown{eventstream.New(opened(t, kind)), map[string][]routing.Event{}}
			for _, x := range streams {
				if _, err := s.feed.Projector.Fill(t.Context(), []eventstream.Stream{{Key: x.Key, Events: x.Events}}); err != nil {
					t.Fatal(err)
				}
				s.byKey[x.Key] = x.Events
			}
			check(t, s)
		})
	}
}

func opened(t testing.TB, kind database.Kind) *database.DB {
	t.Helper()
	var db *database.DB
	var err error
	if kind == database.Postgres {
		db, err = database.OpenURL(context.Background(), pgtest.URL(t))
	} else {
		db, err = database.OpenFile(context.Background(), filepath.Join(t.TempDir(), "feed.db"), true)
	}
	if err == nil {
		t.Cleanup(func() { _ = db.Close() })
		err = db.Migrate(context.Background(), nil, sqlledger.Line(), eventstream.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// to returns the pages for a viewer who may read some repositories; nil: all.
func (s shown) to(t testing.TB, repos []string) *web.Server {
	t.Helper()
	d, err := web.New(web.Options{Store: s.feed, Sections: sections(s.feed, nil), Gate: reader{repos}, GitHub: "https://github.com", Now: func() time.Time { return noon },
		Stream: func(_ context.Context, key string) ([]routing.Event, error) { return s.byKey[key], nil }})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// team is the sample of a team: cases of three repositories, a plan, feedback.
func team(n int) []sample.Stream {
	out := slices.Collect(sample.Cases(sample.Options{Seed: 3, Cases: n, End: noon, Repos: []string{"acme/shop", "acme/depot", "acme/web"}}))
	out = append(out, sample.FeedbackRequests(sample.FeedbackRequestOptions{Seed: 3, Repo: "acme/shop", N: 40, Start: noon.AddDate(0, 0, -3)}))
	return append(out, sample.Plan(sample.PlanOptions{Seed: 3, Repo: "acme/shop", Name: "p", Ports: 9, Begun: 6, Start: noon.Add(-time.Hour)})...)
}

// prints returns the fingerprints of streams with their repositories.
func prints(streams []sample.Stream) map[string][]string {
	out := map[string][]string{}
	for _, s := range streams {
		for _, e := range s.Events {
			run, ok := e.Run()
			if !ok {
				continue
			}
			repo, _, _ := strings.Cut(s.Key, "#")
			for _, f := range run.Verdict.Failures {
				if !slices.Contains(out[f.Fingerprint], repo) {
					out[f.Fingerprint] = append(out[f.Fingerprint], repo)
				}
			}
		}
	}
	return out
}

// Every page is complete without script, is well formed, and links to pages that exist.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	on(t, team(60), func(t *testing.T, s shown) {
		d := s.to(t, nil)
		done, todo := map[string]bool{}, []string{"/", "/?days=30", "/?repo=acme%2Fshop", "/rules?days=0&repo=acme%2Fweb", "/failures?q=test_&class=LOGIC_ERROR", "/cases?page=9", "/failures?page=9"}
		link := regexp.MustCompile(`\shref="([^"#]*)`)
		for ; len(todo) > 0 && len(done) < 120; todo = todo[1:] {
			path := todo[0]
			if done[path] {
				continue
			}
			done[path] = true
			code, page := get(t, d, path)
			if code != http.StatusOK {
				t.Errorf("%s: %d", path, code)
				continue
			}
			wellFormed(t, path, page)
			if !strings.Contains(page, "<caption") && strings.Contains(page, "<table") && !strings.HasPrefix(path, "/plan") {
				t.Errorf("%s: a table without a caption", path)
			}
			here, _ := url.Parse(path)
			for _, m := range link.FindAllStringSubmatch(page, -1) {
				to, err := here.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
				if err != nil {
					t.Errorf("%s: %v", path, err)
				} else if to.Host == "" && !strings.HasPrefix(to.Path, "/static/") {
					todo = append(todo, to.String())
				}
			}
		}
		for _, want := range []string{"/cases", "/plans", "/failures", "/rules", "/feedback", "/plan/acme/shop/p", "/cases?page=2", "/?days=7"} {
			if !done[want] {
				t.Errorf("nothing led to %s", want)
			}
		}
	})
}

// Concurrent viewers see what each would see alone. `make test` runs this test with the race
// detector.
func TestPagesAtOnce(t *testing.T) {
	t.Parallel()
	d := watched(t, nil, team(20)...)
	paths := []string{"/", "/cases", "/plans", "/plan/acme/shop/p", "/failures", "/rules", "/feedback", "/case/acme/shop/1"}
	var seen [4][]string
	var all sync.WaitGroup
	for i := range seen {
		seen[i] = make([]string, len(paths))
		all.Go(func() {
			for n := range paths {
				at := (n + 2*i) % len(paths)
				_, seen[i][at] = get(t, d, paths[at])
			}
		})
	}
	all.Wait()
	for n, path := range paths {
		if _, alone := get(t, d, path); len(alone) < 500 || seen[0][n] != alone || seen[1][n] != alone || seen[2][n] != alone || seen[3][n] != alone {
			t.Errorf("%s is another page when many ask for it", path)
		}
	}
}

// No page shows anything about a repository that the viewer may not read, whatever the request.
func TestNothingOfOthers(t *testing.T) {
	t.Parallel()
	streams := team(60)
	hidden := tell(t, "acme/hidden#7")
	hidden.run(failing("TestHidden", "dead01"))
	streams = append(streams, hidden.stream(), sample.FeedbackRequests(sample.FeedbackRequestOptions{Seed: 1, Repo: "acme/hidden", N: 9, Start: noon}))
	on(t, streams, func(t *testing.T, s shown) {
		for name, repos := range map[string][]string{"one of them": {"acme/web"}, "none": {}} {
			d := s.to(t, repos)
			paths := []string{"/", "/cases", "/plans", "/failures", "/failures?q=Hidden", "/rules?days=0", "/feedback", "/failure/dead01", "/plan/acme/shop/p",
				"/case/acme/hidden/7", "/case/acme/web/../hidden/7", "/case/acme/hidden%237/", "/case/acme%2Fhidden/7", "/case//acme/hidden/7"}
			for _, p := range slices.Clone(paths) {
				sep := "?"
				if strings.Contains(p, "?") {
					sep = "&"
				}
				paths = append(paths, p+sep+"repo=acme%2Fhidden", p+sep+"repo=acme%2Fshop", p+sep+"repo=acme%2Fweb&repo=acme%2Fshop")
			}
			for _, state := range eventstream.States {
				paths = append(paths, "/cases?state="+string(state))
			}
			for key := range s.byKey {
				paths = append(paths, "/case/"+strings.Replace(key, "#", "/", 1))
			}
			for print, of := range prints(streams) {
				path := "/failure/" + print
				paths = append(paths, path)
				want := http.StatusNotFound
				if slices.ContainsFunc(of, func(r string) bool { return slices.Contains(repos, r) }) {
					want = http.StatusOK
				}
				if code, _ := get(t, d, path); code != want {
					t.Errorf("%s: %s is %d, want %d", name, path, code, want)
				}
			}
			for _, path := range paths {
				code, page := get(t, d, path)
				if code >= 300 && code < 400 {
					continue // to where the path leads
				}
				page = regexp.MustCompile(`<p class="only">.*`).ReplaceAllString(page, "") // what was asked for is repeated
				page = regexp.MustCompile(`(href|sse-connect|value|action)="[^"]*repo=[^"]*"|value="acme[^"]*"|No run was analyzed[^<]*|No test has failed[^<]*`).ReplaceAllString(page, "")
				for _, bad := range []string{"acme/hidden", "acme/shop", "acme/depot", "TestHidden", "dead01"} {
					if strings.Contains(page, bad) {
						t.Errorf("%s: %s says %s", name, path, bad)
					}
				}
				if name == "none" && regexp.MustCompile(`<strong>[1-9]`).MatchString(page) {
					t.Errorf("%s counts what may not be seen", path)
				}
			}
		}
	})
}

func cells(page, row string) []string {
	m := regexp.MustCompile(`(?s)<tr[^>]*><th scope="row"[^>]*>(?:<a[^>]*>)?` + regexp.QuoteMeta(row) + `[< ].*?</tr>`).FindString(page)
	var out []string
	for _, c := range regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`).FindAllStringSubmatch(m, -1) {
		out = append(out, strings.TrimSpace(textOf(c[1])))
	}
	return out
}

func TestRulesPage(t *testing.T) {
	t.Parallel()
	env := failing("TestNet", "cd34")
	env.Class = routing.EnvIssue
	var streams []sample.Stream
	for n := range 4 {
		x := tell(t, fmt.Sprint("acme/shop#", n+1))
		x.run(env)
		if n == 0 {
			x.add(routing.HumanEvent(x.c.Key, routing.HumanActed{Checkpoint: "ci", Action: routing.HumanWrong, Class: routing.LogicError, By: "ana", Answer: "a1"}, x.at))
		}
		streams = append(streams, x.stream())
	}
	old := tell(t, "acme/shop#9")
	old.at = noon.AddDate(0, 0, -20)
	old.run(env)
	streams = append(streams, old.stream())
	on(t, streams, func(t *testing.T, s shown) {
		d := s.to(t, nil)
		for path, want := range map[string][]string{"/rules?days=7": {"4", "1", "75%"}, "/rules": {"4", "1", "75%"}, "/rules?days=30": {"5", "1", "80%"}, "/rules?days=0": {"5", "1", "80%"}} {
			_, page := get(t, d, path)
			if got := cells(page, "environment"); len(got) < 3 || !slices.Equal(got[:3], want) {
				t.Errorf("%s says %q, want %q", path, got, want)
			}
			if got := cells(page, "fixable"); len(got) < 3 || !slices.Equal(got[:3], []string{"0", "0", "n/a"}) {
				t.Errorf("%s says of a rule that did not fire: %q", path, got)
			}
		}
	})
}

func TestFeedbackPage(t *testing.T) {
	t.Parallel()
	requests := sample.FeedbackRequests(sample.FeedbackRequestOptions{Seed: 3, Repo: "acme/shop", N: 40, Start: noon})
	on(t, []sample.Stream{requests}, func(t *testing.T, s shown) {
		d := s.to(t, nil)
		stats, all, err := s.feed.Plans.FeedbackRequests(t.Context(), nil)
		if err != nil || all.Total < 30 || all.Rejected == 0 || all.Failed == 0 || all.Open == 0 {
			t.Fatalf("%+v %v", all, err)
		}
		_, page := get(t, d, "/feedback")
		for typ, x := range stats {
			if got, want := cells(page, string(typ)), []string{strconv.Itoa(x.Total), strconv.Itoa(x.Open), strconv.Itoa(x.Resolved), strconv.Itoa(x.Failed), strconv.Itoa(x.Rejected), x.Success(), x.Average()}; !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", typ, got, want)
			}
		}
		if got := cells(page, "All"); len(got) != 7 || got[0] != strconv.Itoa(all.Total) || got[5] != all.Success() || !strings.HasPrefix(got[6], "1.") {
			t.Errorf("all: %q", got)
		}
	})
}

func TestFailurePages(t *testing.T) {
	t.Parallel()
	a, b := failing("Test_Total%", "aa11"), failing("TestNames", "bb22")
	b.Flaky, a.File = true, "shop/total_test.go"
	x, y := tell(t, "acme/shop#1"), tell(t, "acme/web#2")
	x.run(a, b)
	x.run(a)
	x.run()
	y.at = noon.Add(time.Hour)
	y.run(a)
	on(t, []sample.Stream{x.stream(), y.stream()}, func(t *testing.T, s shown) {
		d := s.to(t, nil)
		_, page := get(t, d, "/failures")
		for name, want := range map[string][]string{"Test_Total%": {"acme/shop, acme/web", "3", "0", "2", "1"}, "TestNames": {"acme/shop", "1", "1", "1", "0"}} {
			got := cells(page, name)
			if len(got) != 8 || !slices.Equal([]string{got[1], got[4], got[5], got[6], got[7]}, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if strings.Index(page, "Test_Total%") > strings.Index(page, "TestNames") {
			t.Error("not the last seen first")
		}
		for q, want := range map[string][2]bool{"q=total": {true, false}, "q=_": {true, false}, "q=%25": {true, false}, "q=SHOP%2Ft": {true, false}, "q=names": {false, true},
			"class=LOGIC_ERROR": {true, true}, "class=TIMEOUT": {false, false}, "q=%27%3B--": {false, false}, "repo=acme%2Fweb": {true, false}} {
			_, page := get(t, d, "/failures?"+q)
			if got := [2]bool{strings.Contains(page, "/failure/aa11"), strings.Contains(page, "/failure/bb22")}; got != want {
				t.Errorf("%s finds %v, want %v", q, got, want)
			}
		}
		_, page = get(t, d, "/failure/aa11")
		said := textOf(page)
		for _, want := range []string{"acme/shop#1", "acme/web#2", "not yet", "returned for a fix 2 times", "Of 1 that were fixed", "2 times 1 100%"} {
			if !strings.Contains(said, want) {
				t.Errorf("nothing of %q in %s", want, said)
			}
		}
	})
}

func TestOverview(t *testing.T) {
	t.Parallel()
	var streams []sample.Stream
	env := failing("TestNet", "cd34")
	env.Class = routing.EnvIssue
	for n := range 12 { // that wait for a human, the first for the longest time
		x := tell(t, fmt.Sprint("acme/shop#", n+1))
		x.at = noon.Add(-time.Duration(50-n) * time.Hour)
		x.run(env)
		streams = append(streams, x.stream())
	}
	for n := range 3 { // fixed, after one iteration or two
		x := tell(t, fmt.Sprint("acme/web#", n+1))
		x.at = noon.Add(-5 * time.Hour)
		for range 1 + n%2 {
			x.run(failing("TestA", "aa"))
		}
		x.run()
		streams = append(streams, x.stream())
	}
	on(t, streams, func(t *testing.T, s shown) {
		d := s.to(t, nil)
		_, page := get(t, d, "/")
		said := textOf(page)
		for _, want := range []string{"12 waits for a human", "3 passed", "2 more: all that wait", "2d1h since", "Median fix attempts 1", "Fixed without a human 100%", "Failed and went green 3", "Median time from failing to green 10m"} {
			if !strings.Contains(said, want) {
				t.Errorf("nothing of %q in %s", want, said)
			}
		}
		if first, second := strings.Index(page, "acme/shop#1<"), strings.Index(page, "acme/shop#2<"); first < 0 || first > second {
			t.Error("who waits longest is not first")
		}
		if n := strings.Count(page, "<rect class="); n < 3 || !strings.Contains(page, `<option value="acme/web">`) {
			t.Errorf("%d bars, or no repository to choose", n)
		}
		_, page = get(t, d, "/?repo=acme%2Fweb")
		if said := textOf(page); !strings.Contains(said, "0 waits for a human") || !strings.Contains(said, "Nobody is waited for") || !strings.Contains(page, `<option value="acme/web" selected>`) ||
			!strings.Contains(page, `/cases?state=completed&amp;repo=acme%2fweb`) && !strings.Contains(page, `/cases?state=completed&amp;repo=acme%2Fweb`) {
			t.Error(said)
		}
	})
}

// The pages of an empty ledger say what to do next.
func TestEmpty(t *testing.T) {
	t.Parallel()
	d := watched(t, nil)
	for path, want := range map[string]string{"/": "Nothing has been analyzed yet", "/cases": "Nothing has been analyzed yet", "/failures": "No test has failed yet", "/rules": "No run was analyzed",
		"/feedback": "No port has sent any yet", "/cases?state=paused": "No case is like that", "/failures?q=x": "No failure is like that"} {
		code, page := get(t, d, path)
		wellFormed(t, path, page)
		if code != http.StatusOK || !strings.Contains(page, want) || !strings.Contains(page, `class="nothing"`) {
			t.Errorf("%s: %d %s", path, code, page)
		}
	}
	for _, path := range []string{"/nowhere", "/case/a/b/1", "/failure/x", "/plan/a/b/c"} {
		code, page := get(t, d, path)
		if code != http.StatusNotFound || !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s: %d", path, code)
		}
		wellFormed(t, path, page)
	}
}

// Text from runs stays text on every page.
func TestHostileEverywhere(t *testing.T) {
	t.Parallel()
	evil := "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202etxt.exe\x1b[31m\x00\u200b"
	f := failing(evil, "aa\"><script>")
	f.Suite, f.File, f.Class = evil, evil, routing.Class(evil)
	x := tell(t, "acme/shop@"+evil)
	x.run(f)
	first, _ := x.out[0].Run()
	first.Decision.Rule = evil
	x.out[0].Data = first
	on(t, []sample.Stream{{Key: x.c.Key, Events: x.out[:1]}}, func(t *testing.T, s shown) {
		d := s.to(t, nil)
		for _, path := range []string{"/", "/cases", "/failures", "/rules", "/feedback", "/failure/" + url.PathEscape("aa\"><script>"), "/case/acme/shop/" + url.PathEscape("@"+evil),
			"/failures?q=" + url.QueryEscape(evil), "/cases?state=" + url.QueryEscape(evil) + "&page=2", "/?repo=" + url.QueryEscape(evil)} {
			_, page := get(t, d, path)
			harmless(t, path, page)
		}
	})
}
