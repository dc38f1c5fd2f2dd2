package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Emulate has one installation of an App on an account. What Install adds are
// further ones, each with a governor of its own in the server, in front of it.

// firstInstall is the least id of an installation that Install adds.
const firstInstall = 1000

// installs are the installations that were added.
type installs struct {
	of    map[string]int // "owner/name" → installation, 0 where there is none any more
	state map[int]string // "suspended" or "deleted"
}

// Install makes a repository one of the Switchback App's installation id, which
// is at least 1000; 0 takes the App from it.
func (r *Repo) Install(id int) {
	r.bench.gaps.mu.Lock()
	defer r.bench.gaps.mu.Unlock()
	if r.bench.gaps.installs.of == nil {
		r.bench.gaps.installs = installs{map[string]int{}, map[int]string{}}
	}
	r.bench.gaps.installs.of[r.FullName] = id
}

// SetInstall makes an installation "suspended" or "deleted"; "" is as others are.
func (b *Bench) SetInstall(id int, state string) {
	b.gaps.mu.Lock()
	defer b.gaps.mu.Unlock()
	b.gaps.installs.state[id] = state
}

// installation is what is known of a repository's.
func (g *gaps) installation(repo string) (id int, state string, added bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id, added = g.installs.of[repo]
	return id, g.installs.state[id], added
}

// installed is the installation that payloads about a repository name.
func (g *gaps) installed(repo string) map[string]any {
	id, _, added := g.installation(repo)
	if !added {
		id = appByID(SwitchbackAppID).installation
	}
	return map[string]any{"id": id, "node_id": "MDIzOkluc3Q="}
}

const suspendedMessage = "This installation has been suspended"

// accessToken makes a token of an installation, and knows it from then on.
func (g *gaps) accessToken(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("installation"))
	if id < firstInstall {
		g.forward(w, r)
		return
	}
	g.mu.Lock()
	state := g.installs.state[id]
	g.mu.Unlock()
	switch state {
	case "suspended":
		fail(w, http.StatusForbidden, suspendedMessage)
		return
	case "deleted":
		fail(w, http.StatusNotFound, "Integration not found")
		return
	}
	r.URL.Path = fmt.Sprintf("/app/installations/%d/access_tokens", appByID(SwitchbackAppID).installation)
	buf := &answer{header: http.Header{}}
	g.forward(buf, r)
	var made struct{ Token string }
	if buf.status == http.StatusCreated && json.Unmarshal(buf.body.Bytes(), &made) == nil {
		g.tokens.learn(made.Token, identity{Login: SwitchbackBot, App: SwitchbackAppID, Install: id})
	}
	buf.sendTo(w)
}

// showInstallation answers with the installation of a repository.
func (g *gaps) showInstallation(w http.ResponseWriter, r *http.Request) {
	id, state, added := g.installation(repoName(r))
	switch {
	case !added:
		g.forward(w, r)
	case id == 0 || state == "deleted":
		fail(w, http.StatusNotFound, "Not Found")
	default:
		reply(w, http.StatusOK, map[string]any{"id": id, "app_id": SwitchbackAppID, "app_slug": "switchback", "repository_selection": "selected"})
	}
}

// barred says why a token of an added installation is refused, "" if it is not:
// it reads what is public, and writes where its App is installed.
func (g *gaps) barred(r *http.Request) (status int, message string) {
	id, _ := g.tokens.who(r.Header.Get("Authorization"))
	if id.Install == 0 {
		return 0, ""
	}
	g.mu.Lock()
	state := g.installs.state[id.Install]
	g.mu.Unlock()
	switch state {
	case "suspended":
		return http.StatusForbidden, suspendedMessage
	case "deleted":
		return http.StatusUnauthorized, "Bad credentials"
	}
	if of, _, added := g.installation(repoOf(r.URL)); added && of != id.Install && r.Method != http.MethodGet {
		return http.StatusForbidden, "Resource not accessible by integration"
	}
	return 0, ""
}
