package github

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/routing/marker"
)

const secret = "ghs_0123456789abcdefghijABCDEFGHIJ012345"

// fakeClient uses a server that answers in ways that the emulator cannot.
func fakeClient(t *testing.T, c *clock, h http.HandlerFunc, edit ...func(*Options)) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o := options(c, s.URL, secret)
	o.Login = "bot[bot]"
	for _, f := range edit {
		f(&o)
	}
	client, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var repo = Repo{"o", "r"}

func TestTokenStaysWithTheAPI(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || strings.Contains(fmt.Sprint(r.Header), secret) {
			leaked.Add(1)
		}
		fmt.Fprint(w, "log")
	}))
	defer other.Close()
	to := strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/blob?sig=secretsignature"
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret {
			t.Errorf("no token: %v", r.URL)
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	body := ok(h.Jobs.Log(context.Background(), repo, 1))(t)
	if data, _ := io.ReadAll(body); string(data) != "log" {
		t.Errorf("log %q", data)
	}
	body.Close()
	// An API answer that redirects elsewhere is not followed at all.
	_, err := h.PullRequests.Get(context.Background(), repo, 1)
	wantKind(t, err, advice.Fail)
	if leaked.Load() != 0 {
		t.Errorf("the token reached another host %d times", leaked.Load())
	}
	other.Close()
	_, err = h.Jobs.Log(context.Background(), repo, 1)
	if wantKind(t, err, advice.Later); strings.Contains(err.Error(), "secretsignature") {
		t.Errorf("signed address in %v", err)
	}
	req, _ := http.NewRequest("GET", "https://example.com/", nil)
	if _, err := h.core.tr.RoundTrip(req); err == nil {
		t.Error("sent to another host")
	}
}

func TestRenamedRepository(t *testing.T) {
	t.Parallel()
	var posts atomic.Int32
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/repos/o/r/"):
			code := http.StatusMovedPermanently
			if r.Method != http.MethodGet {
				code = http.StatusTemporaryRedirect
			}
			http.Redirect(w, r, strings.Replace(r.URL.String(), "/repos/o/r/", "/repositories/5/", 1), code)
		case r.Method == http.MethodPost:
			posts.Add(1)
			data, _ := io.ReadAll(r.Body)
			if !strings.Contains(string(data), "text") || r.Header.Get("Authorization") == "" {
				t.Errorf("body %q", data)
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id":1,"user":{"login":"bot[bot]"}}`)
		default:
			fmt.Fprint(w, `[]`)
		}
	})
	if ref, _, err := h.Comments.Upsert(context.Background(), repo, 1, marker.Format("k", 1), "text", ""); err != nil || ref != "1" || posts.Load() != 1 {
		t.Errorf("%q, %v, %d posts", ref, err, posts.Load())
	}
	gone := fakeClient(t, &clock{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/elsewhere" {
			t.Error("a write became a read")
		}
		http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
	})
	_, _, err := gone.Comments.PostOnce(context.Background(), repo, 1, marker.Format("k", 1), "text", true)
	wantKind(t, err, advice.Gone)
}

// TestCutAnswer: GitHub did it, but the answer ends in the middle.
func TestCutAnswer(t *testing.T) {
	t.Parallel()
	var posts atomic.Int32
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
			w.Header().Set("Content-Length", "500")
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id":1,`)
			return
		}
		if posts.Load() == 0 {
			fmt.Fprint(w, `[]`)
			return
		}
		fmt.Fprintf(w, `[{"id":1,"user":{"login":"Bot[bot]"},"body":%q}]`, "text\n\n"+marker.Format("k", 1))
	})
	ref, changed, err := h.Comments.Upsert(context.Background(), repo, 1, marker.Format("k", 1), "text", "")
	if err != nil || !changed || ref != "1" || posts.Load() != 1 {
		t.Errorf("%q, %v, %v, %d posts", ref, changed, err, posts.Load())
	}
}

// TestNeverConnected: a POST of which nothing was sent is repeated.
func TestNeverConnected(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	h := fakeClient(t, &clock{}, nil, func(o *Options) {
		o.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if calls.Add(1) < 3 {
				return nil, errors.New("dial tcp: no route; Authorization: Bearer " + secret)
			}
			return &http.Response{StatusCode: 201, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"id":4}`)), Request: r}, nil
		})}
	})
	ref, posted, err := h.Comments.PostOnce(context.Background(), repo, 1, marker.Format("k", 1), "text", true)
	if err != nil || !posted || ref != "4" || calls.Load() != 3 {
		t.Errorf("%q, %v, %v, %d calls", ref, posted, err, calls.Load())
	}
	calls.Store(-9)
	_, _, err = h.Comments.PostOnce(context.Background(), repo, 1, marker.Format("k", 1), "text", true)
	wantKind(t, err, advice.Later)
	if strings.Contains(err.Error(), secret) || Ambiguous(err) {
		t.Errorf("%v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRateLimitUsedUp(t *testing.T) {
	t.Parallel()
	c := &clock{}
	var calls atomic.Int32
	h := fakeClient(t, c, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(c.now().Add(time.Minute).Unix()))
		}
		fmt.Fprint(w, `{"id":1}`)
	})
	ok(h.Runs.Get(context.Background(), repo, 1, 0))(t)
	ok(h.Runs.Get(context.Background(), repo, 1, 0))(t)
	if d := c.total(); d < 55*time.Second || d > 65*time.Second {
		t.Errorf("waited %v", d)
	}
	for name, head := range map[string]http.Header{
		"reset":      {"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {fmt.Sprint(c.now().Add(time.Hour).Unix())}},
		"retry-date": {"Retry-After": {c.now().Add(time.Hour).UTC().Format(http.TimeFormat)}},
		"seconds":    {"Retry-After": {"3600"}},
	} {
		h := fakeClient(t, c, func(w http.ResponseWriter, _ *http.Request) {
			for k, v := range head {
				w.Header()[k] = v
			}
			w.WriteHeader(http.StatusForbidden)
		})
		_, err := h.Runs.Get(context.Background(), repo, 1, 0)
		if after := wantKind(t, err, advice.Later); after < 59*time.Minute || after > 61*time.Minute {
			t.Errorf("%s: after %v", name, after)
		}
	}
	forever := fakeClient(t, c, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := forever.Runs.Get(context.Background(), repo, 1, 0)
	wantKind(t, err, advice.Later)
}

func TestGovernor(t *testing.T) {
	t.Parallel()
	c := &clock{still: time.Now()}
	var inFlight, most atomic.Int32
	var mu sync.Mutex
	var at []time.Time
	h := fakeClient(t, c, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			n := inFlight.Add(1)
			most.Store(max(most.Load(), n))
			mu.Lock()
			at = append(at, c.now())
			mu.Unlock()
			inFlight.Add(-1)
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":1}`)
	}, func(o *Options) { o.ContentInterval = 0 })
	var wg sync.WaitGroup
	for range 90 {
		wg.Go(func() {
			if _, _, err := h.Comments.PostOnce(context.Background(), repo, 1, marker.Format("k", 1), "text", true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d writes at once", most.Load())
	}
	for i := 1; i < len(at); i++ {
		if d := at[i].Sub(at[i-1]); d < time.Second {
			t.Errorf("writes %d and %d are %v apart", i-1, i, d)
		}
		if i >= 80 && at[i].Sub(at[i-80]) < time.Minute {
			t.Errorf("80 writes within %v", at[i].Sub(at[i-80]))
		}
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   advice.Kind
		is     error
	}{
		{401, `{"message":"Bad credentials"}`, advice.Fail, nil},
		{403, `{"message":"Resource not accessible by integration"}`, advice.Blocked, ErrReadOnly},
		{403, `{"message":"Resource not accessible by personal access token"}`, advice.Blocked, ErrReadOnly},
		{403, `{"message":"Must have admin rights"}`, advice.Fail, nil},
		{403, `{"message":"This installation has been suspended"}`, advice.Blocked, ErrSuspended},
		{403, `{"message":"Repository was archived so is read-only."}`, advice.Blocked, ErrArchived},
		{403, `{"message":"You have exceeded a secondary rate limit"}`, advice.Later, nil},
		{404, ``, advice.Gone, ErrNotFound},
		{410, ``, advice.Gone, ErrNotFound},
		{409, `{"message":"Git Repository is empty."}`, advice.Gone, ErrNotFound},
		{422, `{"message":"Validation Failed","errors":[{"message":"body is too long"}]}`, advice.Fail, nil},
		{429, ``, advice.Later, nil},
		{500, `<html>`, advice.Later, nil},
		{503, ``, advice.Later, nil},
		{200, `{"id":`, advice.Later, nil},
	} {
		h := fakeClient(t, &clock{}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		_, err := h.Runs.Get(context.Background(), repo, 1, 0)
		if wantKind(t, err, c.want); c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%d: %v", c.status, err)
		}
		if c.status == 422 && !strings.Contains(err.Error(), "body is too long") {
			t.Errorf("%v", err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := fakeClient(t, &clock{}, func(http.ResponseWriter, *http.Request) {})
	_, err := h.Runs.Get(ctx, repo, 1, 0)
	if wantKind(t, err, advice.Later); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if kind := advice.Of(nil).Kind; kind != "" {
		t.Errorf("nil: %q", kind)
	}
	if kind := advice.Of(errors.New("other")).Kind; kind != advice.Fail {
		t.Errorf("other: %q", kind)
	}
}

// TestNothingLeaks: neither errors nor log lines hold the token.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	var buf strings.Builder
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return buf.Write(p)
	}), nil))
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/repos/o/r/actions/runs/1":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
		case "/repos/o/r/actions/runs/2":
			conn, _, _ := http.NewResponseController(w).Hijack()
			conn.Close()
		default:
			w.WriteHeader(422)
			fmt.Fprintf(w, `{"message":"see https://u:p@example.com/x?sig=abc&se=1 and %s and github_pat_11ABCDEFG0123456789_x\nAuthorization: token 0123456789abcdef0123"}`, secret)
		}
	}, func(o *Options) { o.Log = log })
	for id := range int64(4) {
		_, err := h.Runs.Get(context.Background(), repo, id, 0)
		for _, bad := range []string{secret, "sig=abc", "github_pat_11", ":p@", "0123456789abcdef0123"} {
			if err == nil || strings.Contains(err.Error(), bad) || strings.Contains(buf.String(), bad) {
				t.Errorf("%q in %v or in %s", bad, err, buf.String())
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("several lines: %q", err)
		}
	}
	if buf.Len() == 0 {
		t.Error("nothing was logged")
	}
}

type writer func([]byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }

func TestEnterpriseServer(t *testing.T) {
	t.Parallel()
	var paths []string
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		if r.URL.Path == "/api/graphql" {
			fmt.Fprint(w, `{"data":{"viewer":{"login":"app[bot]"}}}`)
			return
		}
		w.WriteHeader(403)
		fmt.Fprint(w, `{"message":"Resource not accessible by integration"}`)
	}, func(o *Options) { o.BaseURL += "/api/v3"; o.Login = "" })
	if login := ok(h.Users.Login(context.Background()))(t); login != "app[bot]" || fmt.Sprint(paths) != "[/api/v3/user /api/graphql]" {
		t.Errorf("%q after %v", login, paths)
	}
}

func TestWrapOfTheClient(t *testing.T) {
	t.Parallel()
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) })
	_, _, err := h.core.gh.Git.GetRef(context.Background(), "o", "r", "heads/x")
	if err = Wrap("read the ledger", err); !errors.Is(err, ErrNotFound) || !strings.HasPrefix(err.Error(), "read the ledger: ") {
		t.Errorf("%v", err)
	}
	if Wrap("x", nil) != nil {
		t.Error("made an error of none")
	}
	var rate error = &github.RateLimitError{Rate: github.Rate{Reset: github.Timestamp{Time: time.Now().Add(time.Hour)}}, Response: &http.Response{}}
	if after := wantKind(t, Wrap("x", rate), advice.Later); after < 59*time.Minute {
		t.Errorf("after %v", after)
	}
}

// TestS6_5_RequestsAreMasked is S6-5: what is posted shows neither a token nor a value that the
// process holds, whoever forgot to mask it; files stay as they are.
func TestS6_5_RequestsAreMasked(t *testing.T) {
	t.Parallel()
	var bodies []string
	held := "held by the App " + "42"
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		fmt.Fprint(w, "{}")
	}, func(o *Options) {
		o.Tokens = func(context.Context) (string, error) { return held, nil }
	})
	ctx := context.Background()
	text := "a \"" + secret + "\", " + base64.StdEncoding.EncodeToString([]byte("x:"+held)) + ", " + url.QueryEscape(held) + ", ghp_" + strings.Repeat("a1B2", 9) + " <b>"
	_, _, err := h.core.gh.Issues.CreateComment(ctx, "o", "r", 1, &github.IssueComment{Body: &text})
	if err != nil {
		t.Fatal(err)
	}
	var got github.IssueComment
	if err := json.Unmarshal([]byte(bodies[0]), &got); err != nil {
		t.Fatalf("%v: %s", err, bodies[0])
	}
	if want := "a \"***\", ***, ***, ghp_*** <b>"; !strings.HasPrefix(got.GetBody(), "a \"***\"") || strings.Count(got.GetBody(), "***") != 4 || !strings.HasSuffix(got.GetBody(), "ghp_*** <b>") {
		t.Errorf("%q was posted, want it like %q", got.GetBody(), want)
	}
	message := "m"
	file := []byte("x:" + held)
	if _, _, err := h.core.gh.Repositories.CreateFile(ctx, "o", "r", "f", &github.RepositoryContentFileOptions{Message: &message, Content: file}); err != nil {
		t.Fatal(err)
	}
	if want := base64.StdEncoding.EncodeToString(file); !strings.Contains(bodies[1], want) {
		t.Errorf("a file is %s", bodies[1])
	}
}

// TestAnswerAwaited is what becomes of a dispatch whose context ends while GitHub works on it: it
// cannot be taken back or looked for, so its answer is awaited.
func TestAnswerAwaited(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var got atomic.Int32
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, r *http.Request) {
		got.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		time.Sleep(100 * time.Millisecond)
		w.WriteHeader(http.StatusNoContent)
	})
	if err := h.Dispatches.SendEvent(ctx, repo, "fix", map[string]any{"key": "k"}); err != nil || got.Load() != 1 {
		t.Errorf("%d requests: %v", got.Load(), err)
	}
	if err := h.Dispatches.SendEvent(ctx, repo, "fix", map[string]any{"key": "k"}); !errors.Is(err, context.Canceled) || got.Load() != 1 {
		t.Errorf("after the end of the context, %d requests: %v", got.Load(), err)
	}
	if _, err := h.Issues.Get(ctx, repo, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
