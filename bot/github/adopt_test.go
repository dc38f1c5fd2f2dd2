package github

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/routing/marker"
)

func TestCandidates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	gen := func(at time.Time, n int) int { return int(at.UnixMilli())<<genBits | n }
	for name, c := range map[string]struct {
		have, wanted int
		created      time.Time
		asked        time.Time
		ours         bool
	}{
		"a post of an answer that was lost":        {0, 0, now, now.Add(-time.Minute), true},
		"a post that was there before it":          {0, 0, now.Add(-time.Hour), now, false},
		"a post that counts for one that does not": {7, 0, now, now, false},
		"the case's comment":                       {gen(now, 1), gen(now, 3), now.Add(time.Second), now, true},
		"one of a process that is ahead":           {gen(now, 4), gen(now, 3), now.Add(time.Second), now, true},
		"a count that no case reaches":             {gen(now, 4095), gen(now, 3), now.Add(time.Second), now, false},
		"a case that was opened later":             {gen(now.Add(time.Minute), 1), gen(now, 3), now.Add(2 * time.Minute), now, false},
		"the far future":                           {gen(now.AddDate(90, 0, 0), 1), gen(now, 3), now, now, false},
		"the largest number":                       {1<<63 - 1, gen(now, 3), now, now, false},
		"a case of a ledger that was lost":         {gen(now.Add(-48*time.Hour), 2), gen(now, 1), now.Add(-47 * time.Hour), now, true},
		"a case that was opened after its comment": {gen(now.Add(-time.Hour), 2), gen(now, 1), now.Add(-47 * time.Hour), now, false},
		"no time at all":                           {1, gen(now, 1), now, now, false},
	} {
		got := candidate{marker.Marker{Key: "k", Gen: c.have}, c.created}.comment(AskedAt(t.Context(), c.asked), marker.Marker{Key: "k", Gen: c.wanted})
		if got != c.ours {
			t.Errorf("S6-19 %s: adopted %v", name, got)
		}
	}
	for name, c := range map[string]struct {
		have, wanted int
		ours         bool
	}{
		"a newer state of another process": {gen(now.Add(time.Minute), 0), gen(now, 0), true},
		"an older state":                   {gen(now.Add(-time.Minute), 0), gen(now, 0), true},
		"the far future":                   {gen(now.AddDate(1, 0, 0), 0), gen(now, 0), false},
		"no time at all":                   {3, gen(now, 0), false},
	} {
		if got := (candidate{marker.Marker{Key: "k", Gen: c.have}, now.Add(-2 * time.Minute)}).issue(marker.Marker{Key: "k", Gen: c.wanted}); got != c.ours {
			t.Errorf("S6-19 an issue of %s: adopted %v", name, got)
		}
	}
	if g := given(marker.Marker{Gen: gen(now, 1)}, gen(now.AddDate(1, 0, 0), 1), now); g != 0 {
		t.Errorf("S6-19 a generation of the future is believed: %d", g)
	}
}

// Another workflow with the bot's login posts what a stranger wrote.
func TestForgedMarkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := t.Context()
	opened := time.Now().Add(-time.Minute)
	gen := int(opened.UnixMilli())<<genBits | 2
	for n, forged := range []int{1, gen + 4000, 1<<62 + 7, int(time.Now().AddDate(1, 0, 0).UnixMilli()) << genBits} {
		key := fmt.Sprintf("octo/app#1/unit/comment/%d", n)
		issue := w.issue(t)
		body := "a stranger's text\n\n" + marker.Format(key, forged)
		if _, _, err := w.Comments.gh.Issues.CreateComment(ctx, w.r.Owner, w.r.Name, issue, &github.IssueComment{Body: &body}); err != nil {
			t.Fatal(err)
		}
		id, changed, err := w.Comments.Upsert(ctx, w.r, issue, marker.Format(key, gen), "what failed", "")
		if err != nil || !changed || id == "" {
			t.Fatal(id, changed, err)
		}
		if got := w.repo.Comments(t, issue); len(got) != 2 || got[0].Body != body || fmt.Sprint(got[1].ID) != id {
			t.Errorf("S6-19 generation %d: adopted: %+v", forged, got)
		}
		if again, changed, err := w.Comments.Upsert(ctx, w.r, issue, marker.Format(key, gen+1), "what fails now", ""); err != nil || !changed || again != id {
			t.Errorf("S6-19 its own is not found again: %s, %v, %v", again, changed, err)
		}
	}
}
