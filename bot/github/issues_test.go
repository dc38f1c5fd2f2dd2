package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/e2e"
	"github.com/switchback-ci/switchback/routing/marker"
)

func spec(title string) IssueSpec {
	return IssueSpec{Title: title, Body: "body", Labels: []LabelSpec{{Name: "type: design, odd?", Color: "#d73a4a", Description: "d"}}}
}

func TestUpsertIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := context.Background()
	i, created, err := w.Issues.Upsert(ctx, w.r, marker.Format("k", 1), spec("T"), "")
	if err != nil || !created || i.State != "open" || i.Author != e2e.SwitchbackBot {
		t.Fatalf("%+v, %v, %v", i, created, err)
	}
	if got := w.repo.IssueLabels(t, i.Number); !slices.Contains(got, "switchback") || !slices.Contains(got, "type: design, odd?") {
		t.Errorf("labels %q", got)
	}
	w.view.Reset()
	for _, ref := range []string{strconv.Itoa(i.Number), ""} {
		if got, created, err := w.Issues.Upsert(ctx, w.r, marker.Format("k", 1), spec("T"), ref); err != nil || created || got.Number != i.Number {
			t.Errorf("again with %q: %+v, %v, %v", ref, got, created, err)
		}
	}
	if len(w.view.Requests()) != 2 || len(w.view.Content()) != 0 {
		t.Errorf("requests: %v", w.view.Requests())
	}
	next := spec("people's title stays")
	next.Body = "second"
	if got, _, err := w.Issues.Upsert(ctx, w.r, marker.Format("k", 2), next, ""); err != nil || got.Number != i.Number {
		t.Errorf("%+v, %v", got, err)
	}
	if all := w.repo.Issues(t); len(all) != 1 || all[0].Title != "T" || all[0].Body != "second\n\n"+marker.Format("k", 2) {
		t.Errorf("issues: %+v", all)
	}
	if other, created, err := w.Issues.Upsert(ctx, w.r, marker.Format("k2", 1), spec("other"), strconv.Itoa(i.Number)); err != nil || !created || other.Number == i.Number {
		t.Errorf("another key: %+v, %v, %v", other, created, err)
	}
}

func TestUpsertIssueStrangerAndDuplicates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := context.Background()
	file := func(token, title, key string) (n struct{ Number int }) {
		w.b.Call(t, token, "POST", "/repos/"+w.r.String()+"/issues", map[string]any{"title": title, "body": "b\n\n" + marker.Format(key, 1), "labels": []string{"switchback"}}, &n)
		return n
	}
	file(w.b.UserToken(e2e.Owner), "stranger", "k")
	mine, created, err := w.Issues.Upsert(ctx, w.r, marker.Format("k", 1), spec("T"), "")
	if err != nil || !created {
		t.Fatalf("%v, %v", created, err)
	}
	bot := w.b.AppToken(t, e2e.SwitchbackAppID, w.repo, nil)
	dup := file(bot, "dup", "k")
	for i := range 110 {
		file(bot, fmt.Sprint("other ", i), "x"+strconv.Itoa(i))
	}
	w.view.Reset()
	got, created, err := w.Issues.Upsert(ctx, w.r, marker.Format("k", 2), spec("T"), "")
	if err != nil || created || got.Number != mine.Number {
		t.Errorf("%+v, %v, %v", got, created, err)
	}
	if w.count("GET") < 2 || w.count("POST") != 0 {
		t.Errorf("requests: %v", w.view.Requests())
	}
	for _, i := range w.repo.Issues(t) {
		if closed := i.State == "closed"; closed != (i.Number == dup.Number) {
			t.Errorf("issue %+v", i)
		}
	}
	for name, f := range map[string]e2e.Fault{
		"500":   {Method: "GET", Nth: 2, Times: -1, Status: 500},
		"short": {Method: "GET", Times: -1, Status: 200, Body: "[]", Header: http.Header{"Link": {`<http://x/?page=3>; rel="last"`}}},
	} {
		w.view.Reset()
		remove := w.view.Fault(f)
		_, created, err := w.Issues.Upsert(ctx, w.r, marker.Format("new", 1), spec("T"), "")
		if wantKind(t, err, advice.Later); created || len(w.view.Content()) != 0 {
			t.Errorf("%s: filed: %v", name, w.view.Content())
		}
		remove()
	}
}

func TestCloseAndReopenIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := context.Background()
	i, _, err := w.Issues.Upsert(ctx, w.r, marker.Format("k", 1), spec("T"), "")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if done, err := w.Issues.Close(ctx, w.r, i.Number, "fixed", marker.Format("close", 1)); err != nil || done != (n == 0) {
			t.Errorf("close %d: %v, %v", n, done, err)
		}
	}
	got, _, err := w.Issues.Upsert(ctx, w.r, marker.Format("k", 2), spec("T"), "")
	if err != nil || got.State != "closed" || !got.ClosedByBot {
		t.Errorf("closed by the bot: %+v, %v", got, err)
	}
	for n := range 2 {
		if done, err := w.Issues.Reopen(ctx, w.r, i.Number, "again", marker.Format("reopen", 1)); err != nil || done != (n == 0) {
			t.Errorf("reopen %d: %v, %v", n, done, err)
		}
	}
	// Killed between comment and state: the comment is not repeated.
	remove := w.view.Fault(e2e.Fault{Method: "PATCH", Status: 422})
	_, err = w.Issues.Close(ctx, w.r, i.Number, "fixed again", marker.Format("close", 2))
	wantKind(t, err, advice.Fail)
	remove()
	ok(w.Issues.Close(ctx, w.r, i.Number, "fixed again", marker.Format("close2", 2)))(t)
	wantComments(t, w, i.Number, "fixed", "again", "fixed again")
	theirs := w.issue(t)
	_, err = w.Issues.Close(ctx, w.r, theirs, "", "")
	wantKind(t, err, advice.Fail)
	if last := w.repo.Issues(t); last[1].State != "open" {
		t.Error("closed somebody else's issue")
	}
}

func TestMovedIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	other := w.issue(t)
	for _, status := range []int{301, 404, 410} {
		remove := w.view.Fault(e2e.Fault{Method: "GET", Status: status, Header: http.Header{"Location": {fmt.Sprintf("%s/repos/%s/issues/%d", w.b.URL, w.r, other)}}})
		_, _, err := w.Issues.Upsert(context.Background(), w.r, marker.Format("k", 1), spec("T"), "77")
		if wantKind(t, err, advice.Gone); !errors.Is(err, ErrMoved) {
			t.Errorf("%d: %v", status, err)
		}
		remove()
	}
	if c := w.view.Content(); len(c) != 0 {
		t.Errorf("wrote %v", c)
	}
}

func TestIssueAssignees(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := spec("T")
	s.Assignees = []string{e2e.Owner}
	i, _, err := w.Issues.Upsert(context.Background(), w.r, marker.Format("k", 1), s, "")
	if err != nil || len(w.repo.Issues(t)[0].Assignees) != 1 {
		t.Errorf("%+v, %v", i, err)
	}
	s.Assignees = []string{"nobody-at-all"}
	defer w.view.Fault(e2e.Fault{Method: "POST", Path: regexp.MustCompile(`/issues$`), Status: 422,
		Body: `{"message":"Validation Failed","errors":[{"value":"nobody-at-all","resource":"Issue","field":"assignees","code":"invalid"}]}`})()
	if _, created, err := w.Issues.Upsert(context.Background(), w.r, marker.Format("k2", 1), s, ""); err != nil || !created {
		t.Errorf("%v, %v", created, err)
	}
}

func TestIssueCap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.core.o.IssueCap = 2
	for n := range 3 {
		_, created, err := w.Issues.Upsert(context.Background(), w.r, marker.Format("k"+strconv.Itoa(n), 1), spec("T"), "")
		if created != (n < 2) || errors.Is(err, ErrIssueCap) != (n == 2) {
			t.Errorf("%d: %v, %v", n, created, err)
		}
	}
	if got := w.repo.Issues(t); len(got) != 2 {
		t.Errorf("%d issues", len(got))
	}
}

func TestIssueOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.core.o.IssueCap = 1000
	n := 0
	for name, f := range faults {
		for _, method := range []string{"GET", "POST"} {
			n++
			f.Method, f.Path = method, regexp.MustCompile(`/issues$`)
			remove := w.view.Fault(f)
			i, created, err := w.Issues.Upsert(context.Background(), w.r, marker.Format("k"+strconv.Itoa(n), 1), spec(name), "")
			if err != nil || !created {
				t.Errorf("%s %s: %v, %v", method, name, created, err)
			}
			remove()
			if all := w.repo.Issues(t); len(all) != n {
				t.Fatalf("%s %s: %d issues, want %d", method, name, len(all), n)
			}
			f.Method, f.Path = "PATCH", regexp.MustCompile(`/issues/\d+$`)
			remove = w.view.Fault(f)
			if done, err := w.Issues.Close(context.Background(), w.r, i.Number, "c", marker.Format("c", 1)); err != nil || !done {
				t.Errorf("close %s: %v, %v", name, done, err)
			}
			remove()
			wantComments(t, w, i.Number, "c")
		}
	}
}

func TestSyncLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx, n := context.Background(), w.issue(t)
	a, b, c := LabelSpec{Name: "a b: c?"}, LabelSpec{Name: "b", Color: "00ff00", Description: "d"}, LabelSpec{Name: "c"}
	w.repo.Must(t, "POST", "/labels", map[string]any{"name": "b", "color": "ff0000"}, nil)
	if changed, err := w.Labels.Sync(ctx, w.r, n, nil, []LabelSpec{a, b}, []LabelSpec{c}); err != nil || !changed {
		t.Errorf("%v, %v", changed, err)
	}
	w.view.Reset()
	if changed, err := w.Labels.Sync(ctx, w.r, n, []string{"A B: c?", "b"}, []LabelSpec{a, b}, []LabelSpec{c}); err != nil || changed || len(w.view.Requests()) != 0 {
		t.Errorf("%v, %v, %v", changed, err, w.view.Requests())
	}
	// What was read is stale: c is not there, a is.
	if _, err := w.Labels.Sync(ctx, w.r, n, []string{"c"}, []LabelSpec{a}, []LabelSpec{c}); err != nil {
		t.Error(err)
	}
	defer w.view.Fault(e2e.Fault{Method: "POST", Path: regexp.MustCompile(`/labels$`), Drop: e2e.After, Times: 1})()
	if _, err := w.Labels.Sync(ctx, w.r, n, nil, []LabelSpec{c}, []LabelSpec{a}); err != nil {
		t.Error(err)
	}
	if got := w.repo.IssueLabels(t, n); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("labels %q", got)
	}
	for _, l := range w.repo.Labels(t) {
		if l.Name == "b" && l.Color != "ff0000" {
			t.Error("repainted a label of the repository's people")
		}
	}
}
