package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Reaction is one reaction to a comment.
type Reaction struct {
	Content string
	User    struct{ Login string }
}

// Reactions returns the reactions to a comment, oldest first.
func (r *Repo) Reactions(t *testing.T, comment int64) []Reaction {
	t.Helper()
	var out []Reaction
	r.Must(t, "GET", fmt.Sprintf("/issues/comments/%d/reactions", comment), nil, &out)
	return out
}

var reactionKinds = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// react puts a reaction on a comment; one that is there already is answered
// with 200 and stays.
func (g *gaps) react(w http.ResponseWriter, r *http.Request) {
	var in struct{ Content string }
	comment := strings.TrimSuffix(r.URL.Path, "/reactions")
	id, _ := g.tokens.who(r.Header.Get("Authorization"))
	var user map[string]any
	switch {
	case g.ask(comment, nil) != http.StatusOK || g.ask("/users/"+Owner, &user) != http.StatusOK:
		fail(w, http.StatusNotFound, "Not Found")
		return
	case readJSON(r, &in) != nil || !slices.Contains(reactionKinds, in.Content):
		fail(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	user["login"] = id.Login
	if id.App != 0 { // emulate shows no user of an App
		user["id"], user["type"] = 1_000+id.App, "Bot"
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, have := range g.reactions[comment] {
		m := have.(map[string]any)
		if m["content"] == in.Content && m["user"].(map[string]any)["login"] == id.Login {
			reply(w, http.StatusOK, m)
			return
		}
	}
	g.nextID++
	made := map[string]any{"id": g.nextID, "node_id": "REA_1", "user": user, "content": in.Content, "created_at": time.Now().UTC().Format(time.RFC3339)}
	g.reactions[comment] = append(g.reactions[comment], made)
	reply(w, http.StatusCreated, made)
}

func (g *gaps) listReactions(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	all := slices.Clone(g.reactions[strings.TrimSuffix(r.URL.Path, "/reactions")])
	g.mu.Unlock()
	page, link := paginate(r, g.base, all)
	w.Header()["Link"] = link
	reply(w, http.StatusOK, page)
}
