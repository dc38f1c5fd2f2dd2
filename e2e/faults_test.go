package e2e

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"testing"
	"time"
)

func TestBenchFaults(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, nil)
	v, token := r.View(), b.UserToken(Owner)
	issues := "/repos/" + r.FullName + "/issues"
	v.Fault(Fault{Method: "POST", Path: regexp.MustCompile(`/issues$`), Drop: After})
	v.Fault(Fault{Method: "GET", Path: regexp.MustCompile(`/issues$`), Drop: Before, Nth: 2})
	limited := RateLimited(429, 3*time.Second)
	limited.Method, limited.Times = "DELETE", -1
	remove := v.Fault(limited)
	if res, err := request(token, "POST", b.URL+issues, `{"title":"T"}`, nil); err == nil {
		t.Errorf("answered: %d", res.StatusCode)
	}
	if got := r.Issues(t); len(got) != 1 {
		t.Errorf("dropped after forwarding, but: %+v", got)
	}
	wantStatus(t, do(t, b, token, "GET", issues, nil, nil), 200)
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // on a reused connection net/http repeats a GET
	if res, err := fresh.Get(b.URL + issues); err == nil {
		t.Errorf("answered: %d", res.StatusCode)
	}
	res := do(t, b, token, "DELETE", issues+"/1/labels", nil, nil)
	wantStatus(t, res, 429)
	if res.Header.Get("Retry-After") != "3" {
		t.Errorf("header: %v", res.Header)
	}
	remove()
	wantStatus(t, do(t, b, token, "DELETE", issues+"/1/labels", nil, nil), 204)
	first := do(t, b, token, "GET", issues, nil, nil)
	cond, err := request(token, "GET", b.URL+issues, "", http.Header{"If-None-Match": {first.Header.Get("ETag")}})
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, cond, 304)
}

func TestBenchKillPoints(t *testing.T) {
	b := Start(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n      int
		when   When
		issues int
		killed bool
	}{{1, Before, 0, true}, {1, After, 1, true}, {2, Before, 1, true}, {2, After, 2, true}, {3, Before, 2, false}} {
		t.Run(fmt.Sprintf("%d-%d", c.n, c.when), func(t *testing.T) {
			r := b.NewRepo(t, nil)
			post := `POST /repos/` + r.FullName + `/issues {"title":"T"}`
			h := r.View().HoldAt(c.n, c.when, Request.Content)
			res := b.RunAction(t, Action{Binary: self, Repo: r, Token: b.AppToken(t, ActionsAppID, r, nil), Kill: h,
				Env: map[string]string{clientEnv: "GET /repos/" + r.FullName + "\n" + post + "\n" + post}})
			if got := r.Issues(t); len(got) != c.issues || res.Killed != c.killed {
				t.Errorf("%d issues, killed %v; want %d, %v\n%s", len(got), res.Killed, c.issues, c.killed, res.Stderr)
			}
			if !c.killed && (res.ExitCode != 0 || res.Outputs["text"] != "a\nb" || res.Outputs["done"] != "yes" || h.Seen(b) != 2) {
				t.Errorf("result: %+v, seen %d", res, h.Seen(b))
			}
		})
	}
}
