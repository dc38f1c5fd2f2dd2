package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// gaps stands in front of emulate. It answers what emulate lacks from its
// tables and corrects some of what emulate answers differently from GitHub.
type gaps struct {
	base    string // the recorder's address, as clients know it
	webhook string // where emulate sends webhooks
	tokens  *tokens
	up      *httputil.ReverseProxy
	mux     *http.ServeMux
	pulls   sync.Map // path of a pull request of an issue's number → whether there is one
	stable  sync.Map // path of a user or repository → its answer, until something changes one

	mu         sync.Mutex
	nextID     int64
	runs       map[string][]*Run // by repository, one element per attempt
	dispatches map[string][]Dispatch
	begins     map[string]func(Dispatch) // by repository
	blobs      map[string]blob
	checkApp   map[string]int // check run's URL path → App that made it
	hooks      map[string]func(Delivery) int
	deliveries []*Delivery
	byRepo     map[string][]*Delivery
	reactions  map[string][]any  // comment's URL path → reactions
	bodies     map[string]string // issue's URL path → its body as an event or answer told it last
	manifests  []*Manifest
	oauth      oauth
	installs   installs
	chosen     []string // repositories that the Switchback App is installed in; none stands for all
}

type blob struct {
	contentType string
	data        []byte
}

func newGaps(base, emulate string, t *tokens) *gaps {
	g := &gaps{base: base, tokens: t, mux: http.NewServeMux(), nextID: 9_000_000, runs: map[string][]*Run{},
		dispatches: map[string][]Dispatch{}, begins: map[string]func(Dispatch){}, blobs: map[string]blob{}, checkApp: map[string]int{}, reactions: map[string][]any{}, bodies: map[string]string{}, hooks: map[string]func(Delivery) int{}, byRepo: map[string][]*Delivery{}}
	to, _ := url.Parse(emulate) // made by Start
	front, _ := url.Parse(base)
	g.up = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			// Emulate makes its Link headers from the Host it is asked for.
			r.Out.Host, r.Out.URL.RawPath = front.Host, ""
			r.Out.Header.Set("Accept-Encoding", "identity")
			if h := r.In.Header.Get("Authorization"); h != "" {
				r.Out.Header.Set("Authorization", t.alias(h))
			}
		},
	}
	g.routes()
	return g
}

func (g *gaps) routes() {
	const repo = "/repos/{owner}/{repo}"
	g.mux.HandleFunc("/", g.forward)
	g.mux.HandleFunc("GET /_bench/blob/{name}", g.serveBlob)
	g.mux.HandleFunc("POST /_bench/webhook", g.takeWebhook)
	g.mux.HandleFunc("GET /user", g.user)
	g.mux.HandleFunc("GET /installation/repositories", g.installationRepos)
	g.mux.HandleFunc("POST /app/installations/{installation}/access_tokens", g.accessToken)
	g.mux.HandleFunc("GET "+repo+"/installation", g.showInstallation)
	g.mux.HandleFunc("GET "+repo+"/collaborators/{login}/permission", g.permission)
	g.mux.HandleFunc("GET "+repo+"/assignees/{login}", g.assignable)
	g.mux.HandleFunc("GET "+repo+"/issues/{number}", g.showIssue)
	g.mux.HandleFunc("GET "+repo+"/issues/comments", g.repoComments)
	g.mux.HandleFunc("GET "+repo+"/commits/{sha}/pulls", g.pullsOfCommit)
	g.mux.HandleFunc("POST "+repo+"/issues/comments/{comment}/reactions", g.react)
	g.mux.HandleFunc("GET "+repo+"/issues/comments/{comment}/reactions", g.listReactions)
	g.mux.HandleFunc("PATCH "+repo+"/check-runs/{id}", g.editCheckRun)
	g.mux.HandleFunc("POST "+repo+"/check-runs", g.needApp)
	g.mux.HandleFunc("POST "+repo+"/dispatches", g.repositoryDispatch)
	g.mux.HandleFunc("POST "+repo+"/actions/workflows/{workflow}/dispatches", g.workflowDispatch)
	g.mux.HandleFunc("GET "+repo+"/contents/.github/workflows/{workflow}", g.workflowFile)
	g.mux.HandleFunc("GET "+repo+"/pulls/{number}/files", g.pullFiles)
	g.mux.HandleFunc("GET "+repo+"/compare/{basehead...}", g.compare)
	g.mux.HandleFunc("GET "+repo+"/actions/runs", g.listRuns)
	g.mux.HandleFunc("GET "+repo+"/actions/workflows/{workflow}/runs", g.listRuns)
	g.mux.HandleFunc("GET "+repo+"/actions/runs/{run}", g.run(g.showRun))
	g.mux.HandleFunc("GET "+repo+"/actions/runs/{run}/attempts/{attempt}", g.run(g.showRun))
	g.mux.HandleFunc("GET "+repo+"/actions/runs/{run}/jobs", g.run(g.listJobs))
	g.mux.HandleFunc("GET "+repo+"/actions/runs/{run}/attempts/{attempt}/jobs", g.run(g.listJobs))
	g.mux.HandleFunc("GET "+repo+"/actions/runs/{run}/logs", g.run(g.runLogs))
	g.mux.HandleFunc("GET "+repo+"/actions/runs/{run}/attempts/{attempt}/logs", g.run(g.runLogs))
	g.mux.HandleFunc("GET "+repo+"/actions/runs/{run}/artifacts", g.run(g.listArtifacts))
	g.mux.HandleFunc("POST "+repo+"/actions/runs/{run}/rerun", g.run(g.rerun("rerun", http.StatusCreated)))
	g.mux.HandleFunc("POST "+repo+"/actions/runs/{run}/rerun-failed-jobs", g.run(g.rerun("rerun-failed-jobs", http.StatusCreated)))
	g.mux.HandleFunc("POST "+repo+"/actions/runs/{run}/cancel", g.run(g.rerun("cancel", http.StatusAccepted)))
	g.mux.HandleFunc("POST "+repo+"/actions/jobs/{job}/rerun", g.job(g.rerunJob))
	g.mux.HandleFunc("GET "+repo+"/actions/jobs/{job}", g.job(g.showJob))
	g.mux.HandleFunc("GET "+repo+"/actions/jobs/{job}/logs", g.job(g.jobLogs))
	g.mux.HandleFunc("GET "+repo+"/actions/artifacts", g.listAllArtifacts)
	g.mux.HandleFunc("GET "+repo+"/actions/artifacts/{artifact}", g.showArtifact)
	g.mux.HandleFunc("GET "+repo+"/actions/artifacts/{artifact}/zip", g.artifactZip)
	g.mux.HandleFunc("GET /apps/{slug}", g.showApp)
	g.mux.HandleFunc("POST /settings/apps/new", g.newApp)
	g.mux.HandleFunc("POST /organizations/{org}/settings/apps/new", g.newApp)
	g.mux.HandleFunc("POST /app-manifests/{code}/conversions", g.convert)
	g.oauthRoutes()
	g.mux.HandleFunc("GET /app/hook/deliveries", g.listDeliveries)
	g.mux.HandleFunc("GET /app/hook/deliveries/{delivery}", g.showDelivery)
	g.mux.HandleFunc("POST /app/hook/deliveries/{delivery}/attempts", g.redeliver)
}

func (g *gaps) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.RawPath = ""
	h := r.Header.Get("Authorization")
	if _, ok := g.tokens.who(h); h != "" && !ok && !strings.Contains(h, " eyJ") && !strings.HasPrefix(r.URL.Path, "/_bench/") {
		fail(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	if status, why := g.barred(r); why != "" {
		fail(w, status, why)
		return
	}
	if long := tooLong(r); long != "" {
		fail(w, http.StatusUnprocessableEntity, long)
		return
	}
	buf := &answer{header: http.Header{}}
	g.mux.ServeHTTP(buf, r)
	etag(r, buf)
	buf.sendTo(w)
}

// etag adds a validator and answers a conditional request, as GitHub does.
func etag(r *http.Request, a *answer) {
	if r.Method != http.MethodGet || a.status != http.StatusOK || strings.HasPrefix(r.URL.Path, "/_bench/") {
		return
	}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(a.body.Bytes()))
	a.header.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		a.status = http.StatusNotModified
		a.body.Reset()
		a.header.Del("Content-Length")
	}
}

// forward asks emulate and corrects its answer.
func (g *gaps) forward(w http.ResponseWriter, r *http.Request) {
	buf := &answer{header: http.Header{}}
	g.up.ServeHTTP(buf, r)
	g.unsettle(r)
	var doc any
	if strings.Contains(buf.header.Get("Content-Type"), "json") && json.Unmarshal(buf.body.Bytes(), &doc) == nil {
		g.learn(r, buf.status, doc)
		g.correct(doc)
		ofApp(r, doc)
		if m := issueList.FindStringSubmatch(r.URL.Path); m != nil && r.Method == http.MethodGet {
			doc = g.withPulls(m[1], r.URL.Query(), doc)
		}
		buf.body = *bytes.NewBuffer(marshal(doc))
		buf.header.Del("Content-Length")
	}
	buf.sendTo(w)
}

var accessTokens = regexp.MustCompile(`^/app/installations/(\d+)/access_tokens$`)

// learn remembers which App a new token or check run belongs to, and the body of an issue.
func (g *gaps) learn(r *http.Request, status int, doc any) {
	m, _ := doc.(map[string]any)
	if body, ok := m["body"].(string); ok && m["timeline_url"] != nil && r.Method != http.MethodGet {
		g.mu.Lock()
		if g.hooks[repoOf(r.URL)] == nil { // otherwise the event of it, which may come later, has to tell the body before
			g.bodies[pathOf(m["url"])] = body
		}
		g.mu.Unlock()
	}
	if status != http.StatusCreated || m == nil {
		return
	}
	if x := accessTokens.FindStringSubmatch(r.URL.Path); x != nil {
		for _, a := range apps {
			if fmt.Sprint(a.installation) == x[1] {
				g.tokens.learn(fmt.Sprint(m["token"]), identity{Login: a.slug + "[bot]", App: a.id})
			}
		}
	}
	if strings.HasSuffix(r.URL.Path, "/check-runs") {
		id, _ := g.tokens.who(r.Header.Get("Authorization"))
		g.mu.Lock()
		g.checkApp[pathOf(m["url"])] = id.App
		g.mu.Unlock()
	}
}

// correct fills in what emulate leaves empty, anywhere in doc: the App a post
// or a check run was made by, and the present head of an open pull request.
func (g *gaps) correct(doc any) {
	switch v := doc.(type) {
	case []any:
		for _, e := range v {
			g.correct(e)
		}
	case map[string]any:
		for _, e := range v {
			g.correct(e)
		}
		g.correctObject(v)
	}
}

func (g *gaps) correctObject(m map[string]any) {
	if _, ok := m["performed_via_github_app"]; ok {
		m["performed_via_github_app"] = g.appJSON(appOfBot(m["user"]))
	}
	if _, ok := m["check_suite"]; ok && m["app"] == nil {
		g.mu.Lock()
		id := g.checkApp[pathOf(m["url"])]
		g.mu.Unlock()
		m["app"] = g.appJSON(appByID(id))
	}
	if _, ok := m["timeline_url"]; ok {
		g.markPull(m)
	}
	head, _ := m["head"].(map[string]any)
	if head != nil && m["state"] == "open" {
		g.refresh(head)
	}
}

// refresh sets the head's SHA to that of its branch: emulate keeps the one of
// the time at which the pull request was opened.
func (g *gaps) refresh(head map[string]any) {
	repo, _ := head["repo"].(map[string]any)
	if repo == nil {
		return
	}
	var ref struct{ Object struct{ SHA string } }
	if g.ask(fmt.Sprintf("/repos/%v/git/ref/heads/%v", repo["full_name"], head["ref"]), &ref) == http.StatusOK {
		head["sha"] = ref.Object.SHA
	}
}

// ofApp applies the app_id filter of a commit's check runs, which emulate ignores.
func ofApp(r *http.Request, doc any) {
	want, _ := strconv.Atoi(r.URL.Query().Get("app_id"))
	m, _ := doc.(map[string]any)
	runs, ok := m["check_runs"].([]any)
	if want == 0 || !ok {
		return
	}
	runs = slices.DeleteFunc(runs, func(v any) bool {
		app, _ := v.(map[string]any)["app"].(map[string]any)
		return app["id"] != want
	})
	m["check_runs"], m["total_count"] = runs, len(runs)
}

func appOfBot(user any) *app {
	m, _ := user.(map[string]any)
	for i := range apps {
		if m != nil && m["login"] == apps[i].slug+"[bot]" {
			return &apps[i]
		}
	}
	return nil
}

// showApp describes an App to everybody.
func (g *gaps) showApp(w http.ResponseWriter, r *http.Request) {
	a := appOfBot(map[string]any{"login": r.PathValue("slug") + "[bot]"})
	if a == nil {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	reply(w, http.StatusOK, g.appJSON(a))
}

func (g *gaps) appJSON(a *app) any {
	if a == nil {
		return nil
	}
	return map[string]any{"id": a.id, "slug": a.slug, "name": a.name, "node_id": "A_" + a.slug, "owner": nil, "description": "",
		"external_url": "https://example.com", "html_url": g.base + "/apps/" + a.slug, "permissions": a.permissions, "events": []string{},
		"created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z"}
}

// settled is the path of what changes only by a request to that path, or to one that lists it.
var settled = regexp.MustCompile(`^/(?:repos/[^/?]+/[^/?]+|users/[^/?]+)$`)

// unsettle forgets what a request may change.
func (g *gaps) unsettle(r *http.Request) {
	if r.Method != http.MethodGet && (strings.Count(r.URL.Path, "/") <= 3 || strings.HasSuffix(r.URL.Path, "/transfer")) {
		g.stable.Clear()
	}
}

// ask puts a GET to emulate as Owner and returns the status; corrections do not apply.
func (g *gaps) ask(path string, out any) int {
	if !settled.MatchString(path) {
		return g.askAnew(path, out)
	}
	doc, known := g.stable.Load(path)
	if !known {
		var fresh json.RawMessage
		if status := g.askAnew(path, &fresh); status != http.StatusOK {
			return status
		}
		g.stable.Store(path, fresh)
		doc = fresh
	}
	if out != nil && json.Unmarshal(doc.(json.RawMessage), out) != nil {
		return 0
	}
	return http.StatusOK
}

func (g *gaps) askAnew(path string, out any) int {
	r, err := http.NewRequest(http.MethodGet, g.base+path, nil)
	if err != nil {
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+g.tokens.users[Owner])
	buf := &answer{header: http.Header{}}
	g.up.ServeHTTP(buf, r)
	if out != nil && json.NewDecoder(&buf.body).Decode(out) != nil {
		return 0
	}
	return buf.status
}

func pathOf(v any) string {
	u, err := url.Parse(fmt.Sprint(v))
	if err != nil {
		return ""
	}
	return u.Path
}

func marshal(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // plain values only
	return buf.Bytes()
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(marshal(v))
}

func fail(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest", "status": fmt.Sprint(status)})
}

func repoName(r *http.Request) string { return r.PathValue("owner") + "/" + r.PathValue("repo") }

// body reads a request's body, which can be read once more.
func body(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(data))
	return data, err
}

func readJSON(r *http.Request, out any) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}
