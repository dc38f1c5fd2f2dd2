package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// Manifest is what an App was asked to be made of, by whom, and what became of it.
type Manifest struct {
	Org         string // "" for the user's own
	Name, URL   string
	Description string
	Public      *bool
	RedirectURL string `json:"redirect_url"`
	Hook        struct {
		URL    string
		Active bool
	} `json:"hook_attributes"`
	Callbacks   []string          `json:"callback_urls"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`

	Code, Secret, ClientSecret string
	ID                         int64
	used                       bool
}

// Manifests returns the Apps that were made from a manifest, oldest first.
func (b *Bench) Manifests() []Manifest {
	b.gaps.mu.Lock()
	defer b.gaps.mu.Unlock()
	var out []Manifest
	for _, m := range b.gaps.manifests {
		out = append(out, *m)
	}
	return out
}

// newApp takes a manifest as GitHub's page does, whose reader agrees at once.
func (g *gaps) newApp(w http.ResponseWriter, r *http.Request) {
	m := &Manifest{Org: r.PathValue("org"), Code: randomHex(20), Secret: randomHex(20), ClientSecret: randomHex(20)}
	err := json.Unmarshal([]byte(r.PostFormValue("manifest")), m)
	back, berr := url.Parse(m.RedirectURL)
	if err != nil || berr != nil || m.Name == "" || m.URL == "" || m.Hook.URL == "" || back.Host == "" {
		http.Error(w, fmt.Sprintf("Invalid GitHub App configuration: %v %+v", err, m), http.StatusUnprocessableEntity)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.ContainsFunc(g.manifests, func(o *Manifest) bool { return o.Name == m.Name }) {
		http.Error(w, "Name is already taken", http.StatusUnprocessableEntity)
		return
	}
	g.nextID++
	m.ID = g.nextID
	g.manifests = append(g.manifests, m)
	q := back.Query()
	q.Set("code", m.Code)
	q.Set("state", r.URL.Query().Get("state"))
	back.RawQuery = q.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// convert gives the App away for its code, once.
func (g *gaps) convert(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.manifests, func(m *Manifest) bool { return m.Code == r.PathValue("code") && !m.used })
	if i < 0 {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	m := g.manifests[i]
	m.used = true
	slug := fmt.Sprintf("app-%d", m.ID)
	doc, _ := g.appJSON(&app{id: int(m.ID), slug: slug, name: m.Name, permissions: m.Permissions}).(map[string]any)
	doc["owner"] = map[string]any{"login": m.Org, "id": 1}
	doc["client_id"], doc["client_secret"], doc["webhook_secret"], doc["pem"] = "Iv1."+slug, m.ClientSecret, m.Secret, g.tokens.pem()
	reply(w, http.StatusCreated, doc)
}
