package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/e2e"
	"github.com/switchback-ci/switchback/routing/marker"
)

func upsert(t *testing.T, w *world, n int, gen int, text markdown.Text, ref string) (string, bool) {
	t.Helper()
	ref, changed, err := w.Comments.Upsert(context.Background(), w.r, n, marker.Format("k", gen), text, ref)
	if err != nil {
		t.Fatal(err)
	}
	return ref, changed
}

func wantComments(t *testing.T, w *world, n int, want ...string) {
	t.Helper()
	got := w.repo.Comments(t, n)
	if len(got) != len(want) {
		t.Errorf("%d comments, want %d: %+v", len(got), len(want), got)
		return
	}
	for i, c := range got {
		if text, _, _ := strings.Cut(c.Body, "\n"); text != want[i] {
			t.Errorf("comment %d is %q, want %q", i, text, want[i])
		}
	}
}

func TestUpsertCommentWritesTheDifference(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	ref, changed := upsert(t, w, n, 1, "one", "")
	if !changed || ref == "" {
		t.Errorf("ref %q, changed %v", ref, changed)
	}
	w.view.Reset()
	if again, changed := upsert(t, w, n, 1, "one", ref); changed || again != ref {
		t.Errorf("again: %q, %v", again, changed)
	}
	if got := w.view.Requests(); len(got) != 1 || got[0].Method != "GET" {
		t.Errorf("a known comment as it should be costs one read: %v", got)
	}
	w.view.Reset()
	if found, changed := upsert(t, w, n, 2, "two", ""); !changed || found != ref {
		t.Errorf("without ref: %q, %v", found, changed)
	}
	if w.count("GET") != 1 || w.count("PATCH") != 1 || len(w.view.Requests()) != 2 {
		t.Errorf("list and patch: %v", w.view.Requests())
	}
	wantComments(t, w, n, "two")
	for _, bad := range []string{"999999999", "x", "-1"} { // deleted, or nonsense
		if found, changed := upsert(t, w, n, 2, "two", bad); changed || found != ref {
			t.Errorf("ref %q: %q, %v", bad, found, changed)
		}
	}
}

func TestUpsertCommentGeneration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	ref, _ := upsert(t, w, n, 12, "new", "")
	w.view.Reset()
	for _, r := range []string{ref, ""} {
		if got, changed := upsert(t, w, n, 9, "old", r); changed || got != ref {
			t.Errorf("an old run: %q, %v", got, changed)
		}
	}
	id, _ := strconv.ParseInt(ref, 10, 64)
	w.repo.Must(t, "PATCH", fmt.Sprintf("/issues/comments/%d", id), map[string]any{"body": "edited\r\n\r\n" + marker.Format("k", 12)}, nil)
	upsert(t, w, n, 12, "new", ref)
	if c := w.view.Content(); len(c) != 0 {
		t.Errorf("wrote: %v", c)
	}
	upsert(t, w, n, 13, "newer", ref)
	wantComments(t, w, n, "newer")
	w.repo.Must(t, "PATCH", fmt.Sprintf("/issues/comments/%d", id), map[string]any{"body": "marker gone"}, nil)
	upsert(t, w, n, 14, "newest", ref)
	wantComments(t, w, n, "newest")
}

func TestUpsertCommentBeyondOnePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	for i := range 100 {
		w.repo.Comment(t, e2e.Writer, n, fmt.Sprint("noise ", i))
	}
	ref, _ := upsert(t, w, n, 1, "ours", "")
	for i := range 104 {
		w.repo.Comment(t, e2e.Writer, n, fmt.Sprint("more ", i))
	}
	w.view.Reset()
	if got, changed := upsert(t, w, n, 2, "ours again", ""); got != ref || !changed {
		t.Errorf("%q, %v; want %q", got, changed, ref)
	}
	if w.count("GET") != 3 || w.count("POST") != 0 {
		t.Errorf("requests: %v", w.view.Requests())
	}
}

func TestUpsertCommentStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	theirs := w.repo.Comment(t, e2e.Stranger, n, "mine!\n"+marker.Format("k", 99))
	ref, changed := upsert(t, w, n, 1, markdown.Text("ours\n> "+marker.Format("other", 3)), strconv.FormatInt(theirs, 10))
	if !changed || ref == strconv.FormatInt(theirs, 10) {
		t.Errorf("ref %q, changed %v", ref, changed)
	}
	other := w.issue(t)
	foreign, _ := upsert(t, w, other, 1, "elsewhere", "")
	upsert(t, w, n, 2, "ours again", foreign)
	wantComments(t, w, n, "mine!", "ours again")
	wantComments(t, w, other, "elsewhere")
	// The bot's own comments that quote the marker or have another key are not meant.
	w.Client.Comments.PostOnce(context.Background(), w.r, n, marker.Format("k2", 0), markdown.Text(marker.Format("k", 5)+"\nquoted"), true)
	upsert(t, w, n, 3, "third", "")
	wantComments(t, w, n, "mine!", "third", marker.Format("k", 5))
}

func TestUpsertCommentDuplicates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	token := w.b.AppToken(t, e2e.SwitchbackAppID, w.repo, nil)
	for _, gen := range []int{1, 3, 2} {
		w.b.Call(t, token, "POST", fmt.Sprintf("/repos/%s/issues/%d/comments", w.r, n), map[string]any{"body": fmt.Sprintf("gen %d\n\n%s", gen, marker.Format("k", gen))}, nil)
	}
	first := w.repo.Comments(t, n)[0].ID
	w.view.Reset()
	upsert(t, w, n, 2, "stale", "")
	if c := w.view.Content(); len(c) != 0 {
		t.Errorf("a stale run wrote: %v", c)
	}
	ref, changed := upsert(t, w, n, 4, "four", "")
	if !changed || ref != strconv.FormatInt(first, 10) {
		t.Errorf("ref %q, changed %v", ref, changed)
	}
	wantComments(t, w, n, "four")
}

func TestListingFailsNothingPosted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	for i := range 120 {
		w.repo.Comment(t, e2e.Writer, n, fmt.Sprint("noise ", i))
	}
	for name, f := range map[string]e2e.Fault{
		"second page 500":  {Path: regexp.MustCompile(`/comments$`), Method: "GET", Nth: 2, Times: -1, Status: 500},
		"second page 403":  {Path: regexp.MustCompile(`/comments$`), Method: "GET", Nth: 2, Times: -1, Status: 403},
		"second page gone": {Path: regexp.MustCompile(`/comments$`), Method: "GET", Nth: 2, Times: -1, Drop: e2e.Before},
		"ends early": {Path: regexp.MustCompile(`/comments$`), Method: "GET", Nth: 1, Times: -1, Status: 200, Body: "[]",
			Header: http.Header{"Link": {`<http://x/?page=2>; rel="last"`}}},
	} {
		w.view.Reset()
		remove := w.view.Fault(f)
		_, _, err := w.Comments.Upsert(context.Background(), w.r, n, marker.Format("k", 1), "text", "")
		_, _, err2 := w.Comments.PostOnce(context.Background(), w.r, n, marker.Format("k", 1), "text", false)
		if err == nil || err2 == nil || len(w.view.Content()) != 0 {
			t.Errorf("%s: %v, %v, %v", name, err, err2, w.view.Content())
		}
		remove()
	}
	if _, _, err := w.Comments.Upsert(context.Background(), w.r, n, "not a marker", "text", ""); err == nil {
		t.Error("posted without a marker")
	}
}

var faults = map[string]e2e.Fault{
	"429":             e2e.RateLimited(429, 3*time.Second),
	"403 secondary":   e2e.RateLimited(403, 2*time.Second),
	"429 no headers":  {Status: 429},
	"500":             {Status: 500},
	"502":             {Status: 502},
	"502 twice":       {Status: 502, Times: 2},
	"503":             {Status: 503},
	"dropped before":  {Drop: e2e.Before},
	"dropped after":   {Drop: e2e.After},
	"dropped after 2": {Drop: e2e.After, Times: 2},
}

func TestCommentOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for name, f := range faults {
		for _, method := range []string{"GET", "POST"} {
			n := w.issue(t)
			f.Method, f.Path = method, regexp.MustCompile(`/issues/\d+/comments$`)
			remove := w.view.Fault(f)
			ref, changed, err := w.Comments.Upsert(context.Background(), w.r, n, marker.Format("k", 1), "sticky", "")
			if err != nil || !changed {
				t.Errorf("%s %s: %q, %v, %v", method, name, ref, changed, err)
			}
			remove()
			remove = w.view.Fault(f)
			if _, posted, err := w.Comments.PostOnce(context.Background(), w.r, n, marker.Format("m", 1), "mention", method == "POST"); err != nil || !posted {
				t.Errorf("PostOnce %s %s: %v, %v", method, name, posted, err)
			}
			remove()
			if _, posted, err := w.Comments.PostOnce(context.Background(), w.r, n, marker.Format("m", 2), "mention", false); err != nil || posted {
				t.Errorf("PostOnce again %s %s: %v, %v", method, name, posted, err)
			}
			f.Method, f.Path = "PATCH", regexp.MustCompile(`/issues/comments/\d+$`)
			remove = w.view.Fault(f)
			if _, _, err := w.Comments.Upsert(context.Background(), w.r, n, marker.Format("k", 2), "sticky 2", ref); err != nil {
				t.Errorf("PATCH %s: %v", name, err)
			}
			remove()
			wantComments(t, w, n, "sticky 2", "mention")
		}
	}
	if w.clock.total() == 0 {
		t.Error("nothing waited")
	}
}

func TestCommentGivesUpLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	long := e2e.RateLimited(429, time.Hour)
	long.Method = "POST"
	remove := w.view.Fault(long)
	_, _, err := w.Comments.Upsert(context.Background(), w.r, n, marker.Format("k", 1), "x", "")
	if after := wantKind(t, err, advice.Later); after < 59*time.Minute {
		t.Errorf("after %v", after)
	}
	w.view.Reset()
	_, err = w.Jobs.List(context.Background(), w.r, 1, 0)
	wantKind(t, err, advice.Later)
	if len(w.view.Requests()) != 0 {
		t.Errorf("sent while held back: %v", w.view.Requests())
	}
	remove()
	w.clock.sleep(context.Background(), 2*time.Hour)
	remove = w.view.Fault(e2e.Fault{Method: "POST", Drop: e2e.After, Times: -1})
	if ref, changed, err := w.Comments.Upsert(context.Background(), w.r, n, marker.Format("k", 1), "x", ""); err != nil || !changed || ref == "" {
		t.Errorf("found after an unknown outcome: %q, %v, %v", ref, changed, err)
	}
	remove()
	wantComments(t, w, n, "x")
	defer w.view.Fault(e2e.Fault{Method: "POST", Status: 502, Times: -1})()
	_, _, err = w.Comments.Upsert(context.Background(), w.r, n, marker.Format("other", 1), "x", "")
	if wantKind(t, err, advice.Later); !Ambiguous(err) {
		t.Errorf("not ambiguous: %v", err)
	}
}

func TestReadOnlyToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	defer w.view.Fault(e2e.Fault{Method: "POST", Status: 403, Body: `{"message":"Resource not accessible by integration"}`})()
	_, _, err := w.Comments.Upsert(context.Background(), w.r, n, marker.Format("k", 1), "x", "")
	wantKind(t, err, advice.Blocked)
	if !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v", err)
	}
	if w.count("POST") != 1 {
		t.Errorf("repeated: %v", w.view.Requests())
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	user := w.as(t, w.b.UserToken(e2e.Writer), "")
	if got := ok(user.Users.Login(context.Background()))(t); got != e2e.Writer {
		t.Errorf("user: %q", got)
	}
	actions := w.as(t, w.b.AppToken(t, e2e.ActionsAppID, w.repo, nil), "")
	for range 2 {
		if got := ok(actions.Users.Login(context.Background()))(t); got != e2e.ActionsBot {
			t.Errorf("GITHUB_TOKEN: %q", got)
		}
	}
	// A wrong guess is found out when something is posted.
	n := w.issue(t)
	upsert(t, w, n, 1, "one", "")
	wrong := w.as(t, w.b.AppToken(t, e2e.SwitchbackAppID, w.repo, nil), e2e.ActionsBot)
	if _, _, err := wrong.Comments.Upsert(context.Background(), w.r, n, marker.Format("k", 2), "two", ""); err != nil {
		t.Error(err)
	}
	if _, posted, err := w.as(t, w.b.AppToken(t, e2e.SwitchbackAppID, w.repo, nil), e2e.ActionsBot).Comments.PostOnce(context.Background(), w.r, n, marker.Format("k", 2), "two", false); err != nil || posted {
		t.Errorf("posted %v, %v", posted, err)
	}
	wantComments(t, w, n, "two")
}

func TestPostSeldom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	post := func(key string, since time.Time) bool {
		t.Helper()
		posted, err := w.Comments.PostSeldom(context.Background(), w.r, n, marker.Format("refused/7/"+key, 0), markdown.Text("no "+key), "refused/7/", since)
		if err != nil {
			t.Fatal(err)
		}
		return posted
	}
	hour := time.Now().Add(-time.Hour)
	if !post("a", hour) || post("a", hour) || post("b", hour) {
		t.Error("it is posted once within the time")
	}
	if post("a", time.Now().Add(time.Hour)) {
		t.Error("what was posted under a key is posted again")
	}
	if !post("c", time.Now().Add(time.Hour)) {
		t.Error("after the time another is not posted")
	}
	wantComments(t, w, n, "no a", "no c")
}

func TestRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := context.Background()
	for login, grant := range map[string]string{e2e.Writer: "push", e2e.Triager: "triage", e2e.Reader: "pull"} {
		w.repo.Grant(t, login, grant)
	}
	for login, want := range map[string]string{e2e.Owner: "admin", e2e.Writer: "write", e2e.Triager: "triage", e2e.Reader: "read", e2e.Stranger: "read", "nobody-at-all": "none"} {
		if got := ok(w.Collaborators.Role(ctx, w.r, login))(t); got != want {
			t.Errorf("%s: %s, want %s", login, got, want)
		}
	}
	if got := ok(w.Collaborators.Permission(ctx, w.r, e2e.Triager))(t); got != "read" {
		t.Errorf("the older word for triage is read, not %s", got)
	}
	defer w.view.Fault(e2e.Fault{Path: regexp.MustCompile(`/permission$`), Status: 200, Body: `{"permission":"write","role_name":"Release manager"}`})()
	if got := ok(w.Collaborators.Role(ctx, w.r, e2e.Writer))(t); got != "write" {
		t.Errorf("a role of one's own: %s", got)
	}
	for _, c := range []struct {
		have, want string
		ok         bool
	}{{"write", "write", true}, {"admin", "write", true}, {"triage", "write", false}, {"maintain", "triage", true}, {"none", "read", false}, {"odd", "read", false}, {"admin", "odd", false}} {
		if Allows(c.have, c.want) != c.ok {
			t.Errorf("%+v", c)
		}
	}
}

// Two deliveries of one event answer it at the same time: each looks, finds
// nothing and posts. One post stays.
func TestPostOnceAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	const posters, rounds = 3, 2
	for round := range rounds {
		ids := make(chan string, posters)
		for range posters {
			go func() {
				id, _, err := w.Comments.PostOnce(context.Background(), w.r, n, marker.Format(fmt.Sprintf("r%d", round), 0), "sorry", false)
				if err != nil {
					t.Error(err)
				}
				ids <- id
			}()
		}
		for range posters {
			<-ids
		}
	}
	wantComments(t, w, n, slices.Repeat([]string{"sorry"}, rounds)...)
}
