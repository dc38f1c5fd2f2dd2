package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// What the Switchback App lets people sign in with.
const (
	SwitchbackClientID     = "Iv1.5w1tchback"
	SwitchbackClientSecret = "bench client secret"
)

// oauth is what emulate leaves out of GitHub's sign-in: that a code is for whoever
// holds the verifier, the client's secret, and that tokens of an App end.
type oauth struct {
	challenges map[string]string // state → of PKCE
	codes      map[string]grant
	refresh    map[string]string // refresh token → login; each is good for once
	renewed    map[string]int    // login → tokens that were renewed
	life       int               // of a token in seconds, as GitHub says it
}

type grant struct{ login, challenge string }

// Tokens sets for how many seconds the tokens of who signs in are said to be good, 0
// for such as do not end.
func (b *Bench) Tokens(seconds int) {
	b.gaps.mu.Lock()
	defer b.gaps.mu.Unlock()
	b.gaps.oauth.life = seconds
}

// Renewed returns how often a token of login was renewed.
func (b *Bench) Renewed(login string) int {
	b.gaps.mu.Lock()
	defer b.gaps.mu.Unlock()
	return b.gaps.oauth.renewed[login]
}

// Revoke makes the tokens of a user that an App was given invalid.
func (b *Bench) Revoke(login string) {
	b.tokens.mu.Lock()
	defer b.tokens.mu.Unlock()
	for token, id := range b.tokens.ids {
		if id.Login == login && (strings.HasPrefix(token, "gho_") || strings.HasPrefix(token, "ghu_")) {
			delete(b.tokens.ids, token)
		}
	}
	b.gaps.mu.Lock()
	defer b.gaps.mu.Unlock()
	for token, of := range b.gaps.oauth.refresh {
		if of == login {
			delete(b.gaps.oauth.refresh, token)
		}
	}
}

func (g *gaps) oauthRoutes() {
	g.oauth = oauth{challenges: map[string]string{}, codes: map[string]grant{}, refresh: map[string]string{}, renewed: map[string]int{}, life: 8 * 3600}
	g.mux.HandleFunc("GET /login/oauth/authorize", g.authorize)
	g.mux.HandleFunc("POST /login/oauth/callback", g.agreed)
	g.mux.HandleFunc("POST /login/oauth/access_token", g.exchange)
	g.mux.HandleFunc("GET /user/installations", g.userInstallations)
	g.mux.HandleFunc("GET /user/installations/{id}/repositories", g.userRepos)
}

// authorize shows emulate's page, and remembers the challenge.
func (g *gaps) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != SwitchbackClientID || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	g.mu.Lock()
	g.oauth.challenges[q.Get("state")] = q.Get("code_challenge")
	g.mu.Unlock()
	g.up.ServeHTTP(w, r)
}

// agreed takes the button of emulate's page, and remembers whose code it gave.
func (g *gaps) agreed(w http.ResponseWriter, r *http.Request) {
	data, err := body(r)
	form, perr := url.ParseQuery(string(data))
	if err != nil || perr != nil {
		fail(w, http.StatusBadRequest, "Bad Request")
		return
	}
	g.up.ServeHTTP(w, r)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.oauth.codes[to.Query().Get("code")] = grant{form.Get("login"), g.oauth.challenges[form.Get("state")]}
	delete(g.oauth.challenges, form.Get("state"))
}

// exchange gives a token for a code or for a refresh token.
func (g *gaps) exchange(w http.ResponseWriter, r *http.Request) {
	data, err := body(r)
	form, perr := url.ParseQuery(string(data))
	switch {
	case err != nil || perr != nil || !strings.Contains(r.Header.Get("Accept"), "json"):
		fail(w, http.StatusBadRequest, "Bad Request")
		return
	case form.Get("client_id") != SwitchbackClientID || form.Get("client_secret") != SwitchbackClientSecret:
		refuse(w, "incorrect_client_credentials")
		return
	case form.Get("grant_type") == "refresh_token":
		g.mu.Lock()
		login, ok := g.oauth.refresh[form.Get("refresh_token")]
		delete(g.oauth.refresh, form.Get("refresh_token"))
		g.oauth.renewed[login]++
		g.mu.Unlock()
		if !ok {
			refuse(w, "bad_refresh_token")
			return
		}
		g.give(w, login, "ghu_"+randomHex(18))
		return
	}
	g.mu.Lock()
	given := g.oauth.codes[form.Get("code")]
	g.mu.Unlock()
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if base64.RawURLEncoding.EncodeToString(sum[:]) != given.challenge {
		refuse(w, "bad_verification_code")
		return
	}
	buf := &answer{header: http.Header{}}
	g.up.ServeHTTP(buf, r)
	var doc struct {
		Token string `json:"access_token"`
		Error string
	}
	if json.Unmarshal(buf.body.Bytes(), &doc) != nil || doc.Token == "" {
		buf.sendTo(w)
		return
	}
	g.give(w, given.login, doc.Token)
}

func (g *gaps) give(w http.ResponseWriter, login, token string) {
	g.tokens.learn(token, identity{Login: login})
	out := map[string]any{"access_token": token, "token_type": "bearer", "scope": ""}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.oauth.life > 0 {
		again := "ghr_" + randomHex(36)
		g.oauth.refresh[again] = login
		out["expires_in"], out["refresh_token"], out["refresh_token_expires_in"] = g.oauth.life, again, 15897600
	}
	reply(w, http.StatusOK, out)
}

func refuse(w http.ResponseWriter, code string) {
	reply(w, http.StatusOK, map[string]any{"error": code, "error_description": "refused"}) // with 200, as GitHub does
}

// userInstallations lists the App's installation to who may see something of it.
func (g *gaps) userInstallations(w http.ResponseWriter, r *http.Request) {
	all := []any{}
	repos, ok := g.explicit(r)
	if !ok {
		fail(w, http.StatusForbidden, "You must authenticate with an access token authorized to a GitHub App in order to list installations")
		return
	}
	if len(repos) > 0 {
		a := appByID(SwitchbackAppID)
		all = append(all, map[string]any{"id": a.installation, "app_id": a.id, "app_slug": a.slug, "target_type": "User", "repository_selection": "all",
			"account": map[string]any{"login": Owner}, "permissions": a.permissions, "events": []string{}})
	}
	page, link := paginate(r, g.base, all)
	w.Header()["Link"] = link
	reply(w, http.StatusOK, map[string]any{"total_count": len(all), "installations": page})
}

func (g *gaps) userRepos(w http.ResponseWriter, r *http.Request) {
	repos, ok := g.explicit(r)
	if !ok || r.PathValue("id") != fmt.Sprint(appByID(SwitchbackAppID).installation) {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	page, link := paginate(r, g.base, repos)
	w.Header()["Link"] = link
	reply(w, http.StatusOK, map[string]any{"total_count": len(repos), "repositories": page})
}

// explicit returns the App's repositories that a user owns or was invited to; ok is
// false for a token that is not of who signed in.
func (g *gaps) explicit(r *http.Request) (repos []any, ok bool) {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	id, known := g.tokens.who(r.Header.Get("Authorization"))
	if !known || id.App != 0 || !strings.HasPrefix(token, "gho_") && !strings.HasPrefix(token, "ghu_") {
		return nil, false
	}
	repos = []any{}
	for n := 1; ; n++ {
		q, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/user/repos?per_page=100&page=%d", g.base, n), nil)
		if err != nil {
			return nil, false
		}
		q.Header.Set("Authorization", r.Header.Get("Authorization"))
		buf := &answer{header: http.Header{}}
		g.up.ServeHTTP(buf, q)
		var some []any
		if json.Unmarshal(buf.body.Bytes(), &some) != nil {
			return nil, false
		}
		repos = append(repos, some...)
		if len(some) < 100 {
			break
		}
	}
	g.mu.Lock()
	chosen := g.chosen
	g.mu.Unlock()
	return slices.DeleteFunc(repos, func(repo any) bool {
		m, _ := repo.(map[string]any)
		name := fmt.Sprint(m["full_name"])
		return !strings.HasPrefix(name, Owner+"/") || len(chosen) > 0 && !slices.Contains(chosen, name)
	}), true
}
