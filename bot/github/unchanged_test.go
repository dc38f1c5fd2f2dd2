package github

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
)

// tagged is an API that answers conditional requests as GitHub does.
type tagged struct {
	mu    sync.Mutex
	text  map[string]string
	whole int // answers with a body
	same  int // 304
}

func (g *tagged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	body := g.text[r.URL.Path]
	tag := fmt.Sprintf(`W/"%x"`, len(body))
	w.Header().Set("ETag", tag)
	w.Header().Set("X-RateLimit-Remaining", fmt.Sprint(4000-g.whole))
	w.Header().Set("X-RateLimit-Resource", "core")
	if r.Header.Get("If-None-Match") == tag {
		g.same++
		w.WriteHeader(http.StatusNotModified)
		return
	}
	g.whole++
	_, _ = io.WriteString(w, body)
}

func TestUnchangedReads(t *testing.T) {
	t.Parallel()
	g := &tagged{text: map[string]string{"/repos/o/r/pulls/1": `{"number":1,"title":"one"}`, "/repos/o/r/pulls/2": `{"number":2,"title":"` + strings.Repeat("x", 3000) + `"}`}}
	srv := httptest.NewServer(g)
	defer srv.Close()
	var seen []Answer
	h, err := New(Options{BaseURL: srv.URL, CacheBytes: 4000, Observe: func(a Answer) { seen = append(seen, a) }})
	if err != nil {
		t.Fatal(err)
	}
	read := func(n int, want string) {
		t.Helper()
		p, err := h.PullRequests.Get(t.Context(), Repo{"o", "r"}, n)
		if err != nil || !strings.HasPrefix(p.Title, want) {
			t.Fatalf("%+v %v", p, err)
		}
	}
	counts := func(whole, same int) {
		t.Helper()
		if g.whole != whole || g.same != same {
			t.Errorf("%d whole answers and %d unchanged, want %d and %d", g.whole, g.same, whole, same)
		}
	}
	read(1, "one")
	read(1, "one")
	counts(1, 1)
	if len(seen) != 2 || seen[0].Unchanged || !seen[1].Unchanged || seen[1].Remaining != 3999 || seen[1].Method != "GET" || seen[1].Resource != "core" {
		t.Errorf("%+v", seen)
	}
	g.mu.Lock()
	g.text["/repos/o/r/pulls/1"] = `{"number":1,"title":"another"}`
	g.mu.Unlock()
	read(1, "another")
	counts(2, 1)
	read(2, "xxx")
	read(2, "xxx")
	counts(3, 2)
	g.mu.Lock()
	g.text["/repos/o/r/pulls/2"] = `{"number":2,"title":"` + strings.Repeat("y", 3990) + `"}`
	g.mu.Unlock()
	read(2, "yyy") // now larger than all that may be kept
	read(2, "yyy")
	counts(5, 2)
	read(1, "another") // still kept
	counts(5, 3)
}

func TestTokensOfAnInstallation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		kind   advice.Kind
		is     error
	}{
		{http.StatusNotFound, advice.Gone, ErrNotFound},
		{http.StatusForbidden, advice.Blocked, ErrSuspended},
		{http.StatusUnauthorized, advice.Fail, nil},
		{http.StatusInternalServerError, advice.Later, nil},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/app/installations/7/access_tokens") {
				t.Errorf("%s %s without a token", r.Method, r.URL.Path)
			}
			http.Error(w, `{"message":"no"}`, c.status)
		}))
		a, err := NewApp(1, testKey(t), srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		h, err := a.Installation(7, Options{Sleep: func(context.Context, time.Duration) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.PullRequests.Get(t.Context(), Repo{"o", "r"}, 1)
		kind := advice.Of(err).Kind
		if kind != c.kind || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("HTTP %d: %q %v", c.status, kind, err)
		}
		srv.Close()
	}
}

func TestTokenIsKept(t *testing.T) {
	t.Parallel()
	tokens, reads := 0, 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/app/") {
			tokens++
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"token":"ghs_%d","expires_at":%q}`, tokens, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
			return
		}
		if r.Header.Get("Authorization") != "Bearer ghs_1" {
			t.Errorf("authorization %q", r.Header.Get("Authorization"))
		}
		reads++
		_, _ = io.WriteString(w, `{"number":1}`)
	}))
	defer srv.Close()
	a, err := NewApp(1, testKey(t), srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Installation(7, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := h.PullRequests.Get(t.Context(), Repo{"o", "r"}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if tokens != 1 || reads != 3 {
		t.Errorf("%d tokens for %d reads", tokens, reads)
	}
}

func TestKeyIsNotQuoted(t *testing.T) {
	t.Parallel()
	if _, err := NewApp(1, []byte("-----BEGIN SECRET abc"), ""); err == nil || strings.Contains(err.Error(), "abc") {
		t.Error(err)
	}
}

func testKey(t *testing.T) []byte {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
}
