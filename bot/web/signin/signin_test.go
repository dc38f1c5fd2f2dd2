package signin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// each runs a test on both databases.
func each(t *testing.T, fn func(t *testing.T, s sessions)) {
	t.Helper()
	for _, kind := range []string{"SQLite", "PostgreSQL"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db, err := database.OpenFile(t.Context(), filepath.Join(t.TempDir(), "x.db"), true)
			if kind == "PostgreSQL" {
				_ = db.Close()
				db, err = database.OpenURL(t.Context(), pgtest.URL(t))
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if err := db.Migrate(t.Context(), nil, Line()); err != nil {
				t.Fatal(err)
			}
			fn(t, sessions{db, sealed(t, "client secret")})
		})
	}
}

func sealed(t *testing.T, secret string) *seal {
	t.Helper()
	s, err := newSeal(secret)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func begin(t *testing.T, s sessions, secret string, at time.Time) session {
	t.Helper()
	x := session{id: hash(secret), user: 7, login: "reader", avatar: "https://a/b", token: token{"gho_access", "ghr_refresh", at.Add(8 * time.Hour)}, began: at}
	if err := s.add(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSessions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s sessions) {
		ctx := t.Context()
		x := begin(t, s, "one", noon)
		got, err := s.find(ctx, x.id)
		if err != nil || got.login != "reader" || got.user != 7 || got.token.Access != "gho_access" || !got.token.Until.Equal(x.token.Until) || !got.began.Equal(noon) || len(got.repos) != 0 || got.asked.After(noon.Add(-time.Hour)) {
			t.Fatalf("%+v %v", got, err)
		}
		t.Run("a copy of the database gives neither a session nor a token", func(t *testing.T) {
			var all string
			err := s.db.Read.QueryRow("SELECT id || login || avatar || token || repos FROM signin_session").Scan(&all)
			if err != nil || strings.Contains(all, "gho_") || strings.Contains(all, "ghr_") || strings.Contains(all, "one") {
				t.Errorf("%s %v", all, err)
			}
			if _, err := (sessions{s.db, sealed(t, "another secret")}).find(ctx, x.id); !errors.Is(err, errEnded) {
				t.Error(err)
			}
		})
		t.Run("a token put into another row cannot be opened", func(t *testing.T) {
			y := begin(t, s, "two", noon)
			if err := s.exec(ctx, "UPDATE signin_session SET token = (SELECT token FROM signin_session WHERE id = $1) WHERE id = $2", x.id, y.id); err != nil {
				t.Fatal(err)
			}
			if _, err := s.find(ctx, y.id); !errors.Is(err, errEnded) {
				t.Error(err)
			}
		})
		t.Run("what may be seen is kept, the newest answer", func(t *testing.T) {
			if err := errors.Join(s.see(ctx, x.id, []int64{3, 4}, noon.Add(time.Minute)), s.see(ctx, x.id, []int64{5}, noon)); err != nil {
				t.Fatal(err)
			}
			if got, err := s.find(ctx, x.id); err != nil || !slices.Equal(got.repos, []int64{3, 4}) || !got.asked.Equal(noon.Add(time.Minute)) {
				t.Errorf("%+v %v", got, err)
			}
		})
		t.Run("one that is not used, or old, is forgotten", func(t *testing.T) {
			z := begin(t, s, "three", noon.Add(-absolute))
			if err := errors.Join(s.use(ctx, z.id, noon), s.use(ctx, x.id, noon.Add(2*time.Hour)), s.prune(ctx, noon.Add(idle+time.Hour))); err != nil {
				t.Fatal(err)
			}
			for id, want := range map[string]error{x.id: nil, hash("two"): errEnded, z.id: errEnded} {
				if _, err := s.find(ctx, id); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			}
			if got, _ := s.find(ctx, x.id); !got.over(noon.Add(2*time.Hour+idle)) || got.over(noon.Add(2*time.Hour+idle-time.Second)) || !got.over(noon.Add(absolute)) {
				t.Errorf("%+v", got)
			}
		})
		t.Run("a user has so many at most", func(t *testing.T) {
			for i := range perUser {
				begin(t, s, fmt.Sprint("many", i), noon.Add(time.Duration(i+1)*time.Minute))
			}
			if _, err := s.find(ctx, x.id); !errors.Is(err, errEnded) {
				t.Error(err)
			}
			if _, err := s.find(ctx, hash("many0")); err != nil {
				t.Error(err)
			}
		})
	})
}

// Concurrent processes renew a token once: GitHub accepts a refresh token once.
func TestOneRenews(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s sessions) {
		x := begin(t, s, "one", noon)
		var mu sync.Mutex
		won := 0
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				ok, err := s.claim(t.Context(), x.id, noon, noon.Add(limit))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if ok {
					won++
				}
			})
		}
		all.Wait()
		if won != 1 {
			t.Fatalf("%d have the lease", won)
		}
		if ok, err := s.claim(t.Context(), x.id, noon.Add(limit), noon.Add(2*limit)); !ok || err != nil {
			t.Errorf("a killed process keeps the lease: %v", err)
		}
		if err := s.renew(t.Context(), x.id, token{Access: "gho_second"}); err != nil {
			t.Fatal(err)
		}
		a := &access{sessions: s, now: func() time.Time { return noon }}
		k, err := a.another(t.Context(), x.id, x.token)
		if err != nil || k.Access != "gho_second" {
			t.Errorf("who came later has %+v %v", k, err)
		}
		if ok, err := s.claim(t.Context(), x.id, noon, noon.Add(limit)); !ok || err != nil {
			t.Errorf("the lease is not released: %v", err)
		}
	})
}

func TestSeal(t *testing.T) {
	t.Parallel()
	s := sealed(t, "secret")
	text, err := closeWith(s.pending, pending{State: "x"}, pendingCookie)
	if err != nil {
		t.Fatal(err)
	}
	var p pending
	if err := openWith(s.pending, text, pendingCookie, &p); err != nil || p.State != "x" {
		t.Errorf("%+v %v", p, err)
	}
	flipped := []byte(text)
	flipped[20] ^= 1
	for what, err := range map[string]error{
		"changed":            openWith(s.pending, string(flipped), pendingCookie, &p),
		"for another place":  openWith(s.pending, text, "elsewhere", &p),
		"of another purpose": openWith(s.tokens, text, pendingCookie, &p),
		"of another App":     openWith(sealed(t, "other").pending, text, pendingCookie, &p),
		"nothing":            openWith(s.pending, "", pendingCookie, &p),
		"no base64":          openWith(s.pending, "!", pendingCookie, &p),
	} {
		if !errors.Is(err, errSeal) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if again, _ := closeWith(s.pending, pending{State: "x"}, pendingCookie); again == text {
		t.Error("sealed twice it looks the same")
	}
	if a, b := s.csrf("one"), s.csrf("two"); a == b || a != sealed(t, "secret").csrf("one") || a == sealed(t, "other").csrf("one") {
		t.Error("a token of forms is of one session and one App")
	}
	if _, err := newSeal(""); err == nil {
		t.Error("sealed with nothing")
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"/", "/cases", "/cases?state=escalated&repo=a%2Fb", "/case/acme/shop/12", "/plan/acme/shop/x%20y"} {
		if got := local(s); got != s {
			t.Errorf("%q leads to %q", s, got)
		}
	}
	for _, s := range []string{"", "x", "//evil", "///evil", `/\evil`, "/%5Cevil", "/%2Fevil", "/a//b", "https://evil", "javascript:x", "/\nx", "/ x", "/é", "/sign-out", "/sign-in/callback?x", "/signed-out", "/events", "/%zz", "/" + strings.Repeat("x", 1000)} {
		if got := local(s); got != "/" {
			t.Errorf("%q leads to %q", s, got)
		}
	}
}

func TestParsePublic(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"https://Switchback.Example.com/": "https://switchback.example.com", "http://localhost:8080": "http://localhost:8080", "http://127.0.0.1:80": "http://127.0.0.1:80", "https://[::1]": "https://[::1]"} {
		if got, err := ParsePublic(in); got != want || err != nil {
			t.Errorf("%s: %s %v", in, got, err)
		}
	}
	for in, why := range map[string]string{"http://switchback.example.com": "not encrypted", "http://10.0.0.1": "not encrypted", "https://x/path": "a path", "x.example.com": "not the address", "": "not the address", "ftp://x": "not the address", "https://u:p@x": "not the address", "https://x?q": "not the address"} {
		if got, err := ParsePublic(in); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %s %v", in, got, err)
		}
	}
}

// While GitHub does not answer, its last answer is used for a limited time.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s sessions) {
		now := noon
		g, err := New(Options{DB: s.db, ClientID: "Iv1", ClientSecret: "client secret", GitHub: "http://127.0.0.1:1", API: "http://127.0.0.1:1", Public: "https://x",
			Repositories: func(_ context.Context, ids []int64) ([]string, error) {
				var out []string
				for _, id := range ids {
					out = append(out, fmt.Sprint("acme/", id))
				}
				return out, nil
			}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		x := begin(t, s, "one", noon)
		if err := s.see(t.Context(), x.id, []int64{3}, noon); err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{0, Fresh - time.Second, Fresh, stale - time.Second} {
			now = noon.Add(after)
			if v, err := g.viewer(t.Context(), x.id); err != nil || !slices.Equal(v.Repos, []string{"acme/3"}) || v.May("acme/4") {
				t.Errorf("after %v: %+v %v", after, v, err)
			}
		}
		for _, after := range []time.Duration{stale, stale + time.Second, stale + time.Hour} {
			now = noon.Add(after)
			if v, err := g.viewer(t.Context(), x.id); err == nil || errors.Is(err, errEnded) || v.Login != "" {
				t.Errorf("after %v: %+v %v", after, v, err)
			}
		}
		now = noon.Add(stale + idle) // since it was used last
		if v, err := g.viewer(t.Context(), x.id); !errors.Is(err, errEnded) || v.Login != "" {
			t.Errorf("%+v %v", v, err)
		}
		if _, err := s.find(t.Context(), x.id); !errors.Is(err, errEnded) {
			t.Errorf("what is over is kept: %v", err)
		}
	})
}

// TestTokensOfAgents is S5-101: a token for an agent is good for its session alone.
func TestTokensOfAgents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s sessions) {
		ctx := t.Context()
		x, y := begin(t, s, "one", noon), begin(t, s, "two", noon)
		for i := range perSession + 1 {
			if err := (agents{s}).add(ctx, hash(fmt.Sprint("token", i)), x.id, noon.Add(time.Duration(i)*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		if err := (agents{s}).add(ctx, hash("other"), y.id, noon); err != nil {
			t.Fatal(err)
		}
		t.Run("S5-101 a session has so many, the newest", func(t *testing.T) {
			if _, err := (agents{s}).session(ctx, hash("token0")); !errors.Is(err, errEnded) {
				t.Error(err)
			}
			for i := 1; i <= perSession; i++ {
				if id, err := (agents{s}).session(ctx, hash(fmt.Sprint("token", i))); err != nil || id != x.id {
					t.Errorf("token %d: %q %v", i, id, err)
				}
			}
		})
		t.Run("S5-101 those of a session that ended are deleted, and no others", func(t *testing.T) {
			if err := errors.Join(s.end(ctx, x.id), s.prune(ctx, noon.Add(time.Hour))); err != nil {
				t.Fatal(err)
			}
			if _, err := (agents{s}).session(ctx, hash("token1")); !errors.Is(err, errEnded) {
				t.Error(err)
			}
			if id, err := (agents{s}).session(ctx, hash("other")); err != nil || id != y.id {
				t.Errorf("%q %v", id, err)
			}
		})
	})
}
