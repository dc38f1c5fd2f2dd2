package github

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/e2e"
)

func failed(key string) Check {
	return Check{Name: "switchback", ExternalID: key, Status: "completed", Conclusion: "failure", Title: "t", Summary: "s", DetailsURL: "https://example.com/run"}
}

func remarks(n int) (out []Annotation) {
	for i := range n {
		out = append(out, Annotation{Path: "a.go", StartLine: i, Level: "failure", Message: fmt.Sprint("message ", i)})
	}
	return out
}

// sent returns the annotations of all requests GitHub answered.
func sent(t *testing.T, w *world) (out []string) {
	for _, q := range w.view.Content() {
		var body struct {
			Output struct {
				Annotations []struct{ Message string }
			}
		}
		if err := json.Unmarshal(q.Body, &body); err != nil {
			t.Fatal(err)
		}
		if len(body.Output.Annotations) > 50 {
			t.Errorf("%d annotations in one request", len(body.Output.Annotations))
		}
		for _, a := range body.Output.Annotations {
			out = append(out, a.Message)
		}
	}
	return out
}

func TestUpsertCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	sha, ctx := w.repo.SHA(t, "main"), context.Background()
	c := failed("key 1")
	c.Status, c.Conclusion = "in_progress", ""
	ref := ok(w.Checks.Upsert(ctx, w.r, sha, c, true))(t)
	if len(w.view.Requests()) != 1 {
		t.Errorf("a fresh check costs one request: %v", w.view.Requests())
	}
	c = failed("key 1")
	if got := ok(w.Checks.Upsert(ctx, w.r, sha, c, false))(t); got != ref {
		t.Errorf("ref %q, want %q", got, ref)
	}
	w.view.Reset()
	ok(w.Checks.Upsert(ctx, w.r, sha, c, false))(t)
	zombie := c
	zombie.Status, zombie.Conclusion = "in_progress", ""
	ok(w.Checks.Upsert(ctx, w.r, sha, zombie, false))(t)
	if len(w.view.Requests()) != 2 || len(w.view.Content()) != 0 {
		t.Errorf("nothing to do costs one read: %v", w.view.Requests())
	}
	if got := ok(w.Checks.Upsert(ctx, w.r, sha, failed("key 2"), false))(t); got == ref {
		t.Error("another key is another check")
	}
	runs := w.repo.CheckRuns(t, sha)
	if len(runs) != 2 || runs[1].Conclusion != "failure" || runs[1].ExternalID != "key 1" || runs[1].DetailsURL != c.DetailsURL {
		t.Errorf("checks: %+v", runs)
	}
}

func TestUpsertCheckOfAnotherApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	sha, ctx := w.repo.SHA(t, "main"), context.Background()
	theirs := ok(w.as(t, w.b.AppToken(t, e2e.ActionsAppID, w.repo, nil), e2e.ActionsBot).Checks.Upsert(ctx, w.r, sha, failed("k"), true))(t)
	if ours := ok(w.Checks.Upsert(ctx, w.r, sha, failed("k"), false))(t); ours == theirs {
		t.Error("took another App's check for its own")
	}
}

func TestUpsertCheckAnnotations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	sha, ctx := w.repo.SHA(t, "main"), context.Background()
	c := failed("k")
	c.Annotations = remarks(120)
	ok(w.Checks.Upsert(ctx, w.r, sha, c, true))(t)
	got := sent(t, w)
	if len(got) != 120 || len(w.view.Content()) != 3 || got[0] != "message 0" || got[119] != "message 119" {
		t.Errorf("%d annotations in %v", len(got), w.view.Content())
	}
	w.view.Reset()
	c = failed("k2")
	c.Annotations = remarks(700)
	ok(w.Checks.Upsert(ctx, w.r, sha, c, true))(t)
	if got := sent(t, w); len(got) != maxAnnotations {
		t.Errorf("%d annotations", len(got))
	}
	c = failed("k3")
	c.Annotations = remarks(30)
	ok(w.Checks.Upsert(ctx, w.r, sha, c, true))(t)
	w.view.Reset()
	c.Annotations = remarks(40)
	c.Summary = "more"
	ok(w.Checks.Upsert(ctx, w.r, sha, c, false))(t)
	if got := sent(t, w); len(got) != 10 || got[0] != "message 30" {
		t.Errorf("the difference: %q", got)
	}
}

func TestUpsertCheckAnnotationsLostAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	sha, ctx := w.repo.SHA(t, "main"), context.Background()
	c := failed("k")
	c.Annotations = remarks(51)
	// Emulate counts the annotations of the last request only, so the answer
	// that says how many arrived is given here.
	defer w.view.Fault(e2e.Fault{Method: "PATCH", Drop: e2e.After})()
	defer w.view.Fault(e2e.Fault{Method: "GET", Path: regexp.MustCompile(`/check-runs/\d+$`), Status: 200, Body: `{"id":1,"output":{"annotations_count":51}}`})()
	ok(w.Checks.Upsert(ctx, w.r, sha, c, true))(t)
	if got := sent(t, w); len(got) != 51 {
		t.Errorf("%d annotations, some of them twice", len(got))
	}
}

func TestUpsertCheckTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	sha := w.repo.SHA(t, "main")
	c := failed("k")
	c.Summary, c.Text, c.Title = markdown.Text(strings.Repeat("é", 70_000)), markdown.Text(strings.Repeat("a\xff日", 40_000)), ""
	ok(w.Checks.Upsert(context.Background(), w.r, sha, c, true))(t)
	got := w.repo.CheckRuns(t, sha)[0].Output
	for _, s := range []string{got.Summary, got.Text} {
		if len(s) > textLimit || len(s) < textLimit-8 || !utf8.ValidString(s) || !strings.HasSuffix(s, "(cut)") {
			t.Errorf("%d bytes, ends %q", len(s), s[len(s)-20:])
		}
	}
	if got.Title != c.Name {
		t.Errorf("title %q", got.Title)
	}
}

func TestCheckOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for name, f := range faults {
		for _, method := range []string{"GET", "POST", "PATCH"} {
			sha := w.repo.Commit(t, "main", name+method, map[string]string{"f": name + method})
			key := "k " + name + method
			if method == "PATCH" {
				c := failed(key)
				c.Status, c.Conclusion = "queued", ""
				ok(w.Checks.Upsert(context.Background(), w.r, sha, c, true))(t)
			}
			f.Method, f.Path = method, regexp.MustCompile(`/check-runs(/\d+)?$`)
			remove := w.view.Fault(f)
			if _, err := w.Checks.Upsert(context.Background(), w.r, sha, failed(key), method == "POST"); err != nil {
				t.Errorf("%s %s: %v", method, name, err)
			}
			remove()
			if runs := w.repo.CheckRuns(t, sha); len(runs) != 1 || runs[0].Conclusion != "failure" {
				t.Errorf("%s %s: %+v", method, name, runs)
			}
		}
	}
}
