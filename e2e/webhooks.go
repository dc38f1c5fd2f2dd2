package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Delivery is a webhook sent, or lost on its way, to the Switchback App.
type Delivery struct {
	ID         int64
	GUID       string
	Event      string
	Action     string
	Repo       string
	Body       []byte
	At         time.Time
	Status     int // the receiver's answer; 502 if there was none
	Redelivery bool
}

var hookClient = &http.Client{Timeout: 10 * time.Second} // GitHub's own limit

// Deliver sends the repository's webhooks to url from now on, signed with
// WebhookSecret. An empty url loses them; they can be asked for again.
func (r *Repo) Deliver(url string) {
	r.deliver(func(d Delivery) int { return post(url, d) })
}

// deliver gives the repository's webhooks to a function from now on, which
// returns the receiver's answer.
//
// Emulate answers a write only after it has sent the webhook of it: repositories that nobody
// listens to have none.
func (r *Repo) deliver(to func(Delivery) int) {
	g := r.bench.gaps
	g.mu.Lock()
	_, hooked := g.hooks[r.FullName]
	g.hooks[r.FullName] = to
	g.mu.Unlock()
	if !hooked {
		g.hook(r)
	}
}

// hook lets emulate send the repository's webhooks to the bench.
func (g *gaps) hook(r *Repo) {
	req, err := http.NewRequest(http.MethodPost, g.base+"/repos/"+r.FullName+"/hooks",
		bytes.NewReader(marshal(map[string]any{"events": []string{"*"}, "config": map[string]any{"url": g.webhook, "content_type": "json"}})))
	if err != nil {
		panic(err) // the bench's own address
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	res := &answer{header: http.Header{}}
	if g.up.ServeHTTP(res, req); res.status != http.StatusCreated {
		panic(fmt.Sprintf("emulate made no webhook: %d %s", res.status, res.body.String()))
	}
}

// Alone installs the Switchback App in this repository, and in others that are
// named, until the test ends: what other tests left behind is not to be found.
func (r *Repo) Alone(tb testing.TB, others ...*Repo) {
	choose := func(repos ...string) {
		r.bench.gaps.mu.Lock()
		defer r.bench.gaps.mu.Unlock()
		r.bench.gaps.chosen = repos
	}
	names := []string{r.FullName}
	for _, o := range others {
		names = append(names, o.FullName)
	}
	choose(names...)
	tb.Cleanup(func() { choose() })
}

// Send sends one webhook of the given event, as if GitHub did, and returns
// the delivery. The payload gets the installation, repository and sender it
// does not have yet.
func (r *Repo) Send(tb testing.TB, event string, payload map[string]any) Delivery {
	tb.Helper()
	full := map[string]any{"installation": r.bench.gaps.installed(r.FullName)}
	var repo, sender map[string]any
	r.get(tb, "", &repo)
	r.bench.must(tb, r.token, "GET", "/users/"+Owner, nil, &sender)
	full["repository"], full["sender"] = repo, sender
	for k, v := range payload {
		full[k] = v
	}
	return r.bench.gaps.deliver(r.FullName, event, marshal(full))
}

// Deliveries returns what was delivered for the repository, oldest first.
func (r *Repo) Deliveries() []Delivery {
	r.bench.gaps.mu.Lock()
	defer r.bench.gaps.mu.Unlock()
	var out []Delivery
	for _, d := range r.bench.gaps.byRepo[r.FullName] {
		out = append(out, *d)
	}
	return out
}

func (g *gaps) takeWebhook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var p struct {
		Repository struct {
			FullName string `json:"full_name"`
		}
	}
	if err != nil || json.Unmarshal(body, &p) != nil {
		fail(w, http.StatusBadRequest, "not a webhook")
		return
	}
	var doc any
	if json.Unmarshal(body, &doc) == nil {
		g.correct(doc)
		g.tellBefore(doc)
		if m, ok := doc.(map[string]any); ok && p.Repository.FullName != "" {
			m["installation"] = g.installed(p.Repository.FullName)
		}
		body = marshal(doc)
	}
	g.deliver(p.Repository.FullName, r.Header.Get("X-GitHub-Event"), body)
	w.WriteHeader(http.StatusNoContent)
}

// tellBefore puts the body before an edit into the event of it: emulate only
// says that there was one.
func (g *gaps) tellBefore(doc any) {
	m, _ := doc.(map[string]any)
	issue, _ := m["issue"].(map[string]any)
	if issue == nil || m["comment"] != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	key := pathOf(issue["url"])
	body, _ := issue["body"].(string)
	before, known := g.bodies[key]
	g.bodies[key] = body
	if changes, _ := m["changes"].(map[string]any); changes != nil && known {
		delete(changes, "body")
		if before != body {
			changes["body"] = map[string]any{"from": before}
		}
	}
}

func (g *gaps) deliver(repo, event string, body []byte) Delivery {
	var p struct{ Action string }
	_ = json.Unmarshal(body, &p) // events such as push have none
	id := randomHex(16)
	d := Delivery{GUID: fmt.Sprintf("%s-%s-%s-%s-%s", id[:8], id[8:12], id[12:16], id[16:20], id[20:]),
		Event: event, Action: p.Action, Repo: repo, Body: body}
	return g.send(d)
}

// send hands d to its receiver and files it under a new id.
func (g *gaps) send(d Delivery) Delivery {
	g.mu.Lock()
	to := g.hooks[d.Repo]
	g.nextID++
	d.ID, d.At, d.Status = g.nextID, time.Now(), http.StatusBadGateway
	g.mu.Unlock()
	if to != nil {
		d.Status = to(d)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deliveries = append(g.deliveries, &d)
	g.byRepo[d.Repo] = append(g.byRepo[d.Repo], &d)
	return d
}

func post(url string, d Delivery) int {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(d.Body))
	if err != nil {
		return http.StatusBadGateway
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {"GitHub-Hookshot/bench"}, "X-Github-Event": {d.Event},
		"X-Github-Delivery": {d.GUID}, "X-Github-Hook-Installation-Target-Id": {strconv.Itoa(SwitchbackAppID)},
		"X-Github-Hook-Installation-Target-Type": {"integration"}, "X-Hub-Signature-256": {sign(WebhookSecret, d.Body)}}
	res, err := hookClient.Do(req)
	if err != nil {
		return http.StatusBadGateway
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// sign returns the signature of a body.
func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func (g *gaps) jwtOnly(w http.ResponseWriter, r *http.Request) bool {
	if strings.Contains(r.Header.Get("Authorization"), " eyJ") {
		return true
	}
	fail(w, http.StatusUnauthorized, "A JSON web token could not be decoded")
	return false
}

// listDeliveries answers newest first, with GitHub's cursor in the Link header.
func (g *gaps) listDeliveries(w http.ResponseWriter, r *http.Request) {
	if !g.jwtOnly(w, r) {
		return
	}
	per, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	if per < 1 {
		per = 30
	}
	cursor, _ := strconv.ParseInt(r.URL.Query().Get("cursor"), 10, 64)
	status := r.URL.Query().Get("status")
	g.mu.Lock()
	defer g.mu.Unlock()
	out := []any{}
	for _, d := range slices.Backward(g.deliveries) {
		ok := d.Status >= 200 && d.Status < 400
		if len(g.chosen) > 0 && !slices.Contains(g.chosen, d.Repo) {
			continue
		}
		if cursor != 0 && d.ID > cursor || status == "failure" && ok || status == "success" && !ok {
			continue
		}
		if len(out) == min(per, 100) {
			w.Header().Set("Link", fmt.Sprintf(`<%s/app/hook/deliveries?per_page=%d&cursor=%d>; rel="next"`, g.base, per, d.ID))
			break
		}
		out = append(out, deliveryJSON(d))
	}
	reply(w, http.StatusOK, out)
}

func deliveryJSON(d *Delivery) map[string]any {
	return map[string]any{"id": d.ID, "guid": d.GUID, "delivered_at": stamp(d.At), "redelivery": d.Redelivery, "duration": 0.1,
		"status": http.StatusText(d.Status), "status_code": d.Status, "event": d.Event, "action": orNil(d.Action),
		"installation_id": appByID(SwitchbackAppID).installation, "repository_id": 1, "throttled_at": nil}
}

func (g *gaps) delivery(r *http.Request) *Delivery {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range g.deliveries {
		if strconv.FormatInt(d.ID, 10) == r.PathValue("delivery") {
			return d
		}
	}
	return nil
}

func (g *gaps) showDelivery(w http.ResponseWriter, r *http.Request) {
	if !g.jwtOnly(w, r) {
		return
	}
	d := g.delivery(r)
	if d == nil {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	out := deliveryJSON(d)
	out["url"] = g.base
	out["request"] = map[string]any{"headers": map[string]any{"X-GitHub-Delivery": d.GUID, "X-GitHub-Event": d.Event}, "payload": json.RawMessage(d.Body)}
	out["response"] = map[string]any{"headers": map[string]any{}, "payload": ""}
	reply(w, http.StatusOK, out)
}

// redeliver sends a delivery again: the GUID stays, the id is new.
func (g *gaps) redeliver(w http.ResponseWriter, r *http.Request) {
	if !g.jwtOnly(w, r) {
		return
	}
	d := g.delivery(r)
	if d == nil {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	again := *d
	again.Redelivery = true
	go g.send(again)
	reply(w, http.StatusAccepted, map[string]any{})
}
