package e2e

import (
	"maps"
	"net/http"
	"slices"
)

// pullFiles lists the files that differ between the base and the head of a pull request. Emulate
// answers with invented names.
func (g *gaps) pullFiles(w http.ResponseWriter, r *http.Request) {
	var pr struct {
		Head, Base struct {
			SHA  string `json:"sha"`
			Ref  string `json:"ref"`
			Repo struct {
				FullName string `json:"full_name"`
			} `json:"repo"`
		}
	}
	if g.ask("/repos/"+repoName(r)+"/pulls/"+r.PathValue("number"), &pr) != http.StatusOK {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	// Emulate keeps the first commit of a fork's pull request as its head.
	base, head := g.blobsOf(pr.Base.Repo.FullName, pr.Base.SHA), g.blobsOf(pr.Head.Repo.FullName, pr.Head.Ref)
	files := []any{}
	for _, name := range slices.Sorted(maps.Keys(head)) {
		switch old, there := base[name]; {
		case !there:
			files = append(files, map[string]any{"sha": head[name], "filename": name, "status": "added"})
		case old != head[name]:
			files = append(files, map[string]any{"sha": head[name], "filename": name, "status": "modified"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if _, there := head[name]; !there {
			files = append(files, map[string]any{"sha": base[name], "filename": name, "status": "removed"})
		}
	}
	page, link := paginate(r, g.base, files)
	if len(link) > 0 {
		w.Header()["Link"] = link
	}
	reply(w, http.StatusOK, page)
}

// blobsOf returns the blobs of a commit by path.
func (g *gaps) blobsOf(repo, sha string) map[string]string {
	var tree struct {
		Tree []struct{ Path, Type, SHA string }
	}
	out := map[string]string{}
	if g.ask("/repos/"+repo+"/git/trees/"+sha+"?recursive=1", &tree) == http.StatusOK {
		for _, e := range tree.Tree {
			if e.Type == "blob" {
				out[e.Path] = e.SHA
			}
		}
	}
	return out
}
