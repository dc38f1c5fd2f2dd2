package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// repoComments lists the comments of a repository's issues and pull requests,
// for which emulate takes "comments" for the number of an issue.
func (g *gaps) repoComments(w http.ResponseWriter, r *http.Request) {
	repo := "/repos/" + repoName(r)
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	var list []map[string]any
	seen := map[int]bool{}
	for _, kind := range []string{"issues", "pulls"} {
		var all []struct{ Number int }
		g.ask(repo+"/"+kind+"?state=all&per_page=100", &all)
		for _, i := range all {
			if seen[i.Number] {
				continue
			}
			seen[i.Number] = true
			var some []map[string]any
			g.ask(fmt.Sprintf("%s/issues/%d/comments?per_page=100", repo, i.Number), &some)
			list = append(list, some...)
		}
	}
	updated := func(c map[string]any) time.Time {
		at, _ := time.Parse(time.RFC3339, fmt.Sprint(c["updated_at"]))
		return at.Truncate(time.Second)
	}
	list = slices.DeleteFunc(list, func(c map[string]any) bool { return updated(c).Before(since) })
	slices.SortStableFunc(list, func(a, b map[string]any) int {
		if strings.EqualFold(r.URL.Query().Get("direction"), "desc") {
			a, b = b, a
		}
		return updated(a).Compare(updated(b))
	})
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = c
	}
	page, link := paginate(r, g.base, out)
	w.Header()["Link"] = link
	if page == nil {
		page = []any{}
	}
	reply(w, http.StatusOK, page)
}
