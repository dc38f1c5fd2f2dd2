package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	team "github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// shown is `switchback dashboard` over a ledger.
type shown struct {
	t   testing.TB
	dir string
	led ledger.Ledger
	url string
	cmd *exec.Cmd
}

// newShown makes a ledger of a team's, and shows it.
func newShown(t testing.TB) *shown {
	t.Helper()
	s := &shown{t: t, dir: filepath.Join(t.TempDir(), "ledger"), url: fmt.Sprintf("http://127.0.0.1:%d", freePort())}
	led, err := ledger.OpenPath(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	s.led = led
	for one := range team.Cases(team.Options{Seed: 5, Cases: 60, End: time.Now()}) {
		s.add(one)
	}
	for _, one := range team.Plan(team.PlanOptions{Seed: 1, Repo: "acme/shop", Name: "orders", Ports: 14, Begun: 9, Start: time.Now().Add(-24 * time.Hour)}) {
		s.add(one)
	}
	outages := team.Incidents{Repo: "acme/shop", At: time.Now().Add(-30 * time.Hour)}
	outages.Fail("getaddrinfo EAI_AGAIN registry.npmjs.org", 1, 4)
	outages.End("mona")
	outages.Fail("dial tcp: lookup db.internal: no such host", 5, 9)
	outages.File(901)
	s.add(outages.Stream())
	s.start()
	t.Cleanup(s.kill)
	return s
}

// add appends what a stream has beyond what is in the ledger.
func (s *shown) add(one team.Stream) {
	s.t.Helper()
	have, seen, err := s.led.Load(context.Background(), one.Key)
	if err == nil {
		_, err = s.led.Append(context.Background(), one.Key, seen, one.Events[len(have):])
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shown) start() {
	s.t.Helper()
	bin, err := switchback()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(bin, "dashboard", "--ledger", s.dir, "--listen", strings.TrimPrefix(s.url, "http://"))
	s.cmd.Stderr = os.Stderr
	if err := startCmd(s.cmd); err != nil {
		s.t.Fatal(err)
	}
	for try := 0; ; try++ {
		res, err := http.Get(s.url + "/plans")
		if err == nil {
			res.Body.Close()
			return
		}
		if try == 600 {
			s.t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *shown) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// pages are all pages, by a name for people.
func (s *shown) pages(t *testing.T, tab *Tab) map[string]string {
	t.Helper()
	out := map[string]string{"overview": "/", "cases": "/cases", "waiting": "/cases?state=escalated", "one repository": "/?repo=acme/shop", "plans": "/plans",
		"plan": "/plan/acme/shop/orders", "failures": "/failures", "rules": "/rules", "feedback": "/feedback", "incidents": "/incidents"}
	for name, from := range map[string]string{"case": "/cases", "failure": "/failures", "incident": "/incidents"} {
		tab.Open(s.url + from)
		href := ""
		tab.do("attribute", map[string]any{"at": `main tbody a[href^="/` + name + `/"]`, "name": "href"}, &href)
		out[name] = href
	}
	return out
}

func TestDashboardPages(t *testing.T) {
	t.Parallel()
	s := newShown(t)
	b := NewBrowser(t)
	tab := b.Tab(t, "reader", nil)
	plain := b.Tab(t, "plain", map[string]any{"script": false})
	for name, path := range s.pages(t, tab) {
		t.Run(name, func(t *testing.T) {
			tab, plain := *tab, *plain
			tab.tb, plain.tb = t, t
			tab.Errors()
			tab.Look(1280, 900, "light")
			if code := tab.Open(s.url + path); code != http.StatusOK {
				t.Fatalf("%s: %d", path, code)
			}
			for _, look := range []struct {
				width  int
				scheme string
			}{{1280, "light"}, {1280, "dark"}, {360, "light"}} { // colours do not depend on the width
				tab.Look(look.width, 800, look.scheme)
				if v := tab.Axe(); len(v) > 0 {
					t.Errorf("%d wide, %s: %s", look.width, look.scheme, strings.Join(v, "\n"))
				}
				if n := tab.Overflow(); n > 0 {
					t.Errorf("%d wide: %d pixels do not fit", look.width, n)
				}
			}
			if dir := os.Getenv("PICTURES"); dir != "" {
				tab.Picture(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+"-phone.png"), false)
				tab.Look(1280, 900, "light")
				tab.Picture(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".png"), true)
			}
			if e := tab.Errors(); len(e) > 0 {
				t.Errorf("the console says %q", e)
			}
			if o := tab.Origins(); len(o) != 1 || o[0] != s.url {
				t.Errorf("asked of %q", o)
			}
			tab.Press("Tab")
			if f := tab.Focused(); f != "Skip to the content" {
				t.Errorf("the first key leads to %q", f)
			}
			plain.Open(s.url + path)
			if zone, utc := tab.Text("main time"), plain.Text("main time"); utc != "" && (!strings.Contains(utc, "UTC") || strings.Contains(zone, "UTC")) {
				t.Errorf("times are %.60q, and without script %.60q", zone, utc)
			}
			for _, at := range []string{"main h1", "main h2", "main tbody th", "main tbody td:first-of-type"} {
				if with, without := tab.Count(at), plain.Count(at); with != without || at == "main h1" && with != 1 {
					t.Errorf("%d %s, and without script %d", with, at, without)
				}
			}
		})
	}
}

func TestDashboardLive(t *testing.T) {
	t.Parallel()
	s := newShown(t)
	tab := NewBrowser(t).Tab(t, "reader", nil)
	tab.Open(s.url + "/plan/acme/shop/orders")
	tab.Wait("#link", "Live")
	var all team.Stream // a port that runs
	for _, one := range team.Plan(team.PlanOptions{Seed: 1, Repo: "acme/shop", Name: "orders", Ports: 14, Begun: 9}) {
		all = one
	}
	_, id, _ := routing.ParsePortKey(all.Key)
	bar := fmt.Sprintf("[id=\"port-%s\"] progress", id)
	progress := func(share float64, task string) {
		t.Helper()
		have, seen, err := s.led.Load(t.Context(), all.Key)
		if err != nil || len(have) == 0 {
			t.Fatal(err, len(have))
		}
		e := plan.Event{Kind: plan.WorkerProgress, At: time.Now(), Session: "b/" + id + "/impl", Port: id,
			Progress: &plan.Progress{Session: "b/" + id + "/impl", Port: id, Progress: share, Task: task, Tokens: 9}}
		if _, err := s.led.Append(t.Context(), all.Key, seen, []routing.Event{e.Record()}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("S2-96 a bar moves while the page is looked at, and what the reader opened stays", func(t *testing.T) {
		began := time.Now()
		progress(0.91, "the last handlers")
		tab.Wait(`[id="port-`+id+`"]`, "91%")
		t.Logf("seen after %v", time.Since(began))
		var value string
		if tab.do("attribute", map[string]any{"at": bar, "name": "value"}, &value); value != "91" {
			t.Errorf("the bar is at %s", value)
		}
		tab.Wait("main", "is at 91%: the last handlers")
	})
	t.Run("of many changes at once the last is shown", func(t *testing.T) {
		for i := range 12 {
			progress(0.92, fmt.Sprint("step ", i))
		}
		tab.Wait("main", "is at 92%: step 11")
	})
	t.Run("after a kill and a start the page goes on by itself, and nothing is lost or told twice", func(t *testing.T) {
		s.kill()
		tab.Wait("#link", "Not connected")
		progress(0.95, "while nobody listened")
		s.start()
		tab.Wait("main", "is at 95%: while nobody listened")
		tab.Wait("#link", "Live")
		progress(0.97, "and after")
		tab.Wait("main", "is at 97%: and after")
		for _, text := range []string{"while nobody listened", "step 11", "and after"} {
			if n := strings.Count(tab.Text("main .news"), text); n != 1 {
				t.Errorf("%q stands there %d times", text, n)
			}
		}
	})
	for _, e := range tab.Errors() {
		if !strings.Contains(e, "ERR_") && !strings.Contains(e, "htmx:sendError") && !strings.Contains(e, "htmx:afterRequest") { // that it was not connected is said, too
			t.Errorf("the console says %q", e)
		}
	}
}
