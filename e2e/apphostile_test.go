package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// hook posts a body as a webhook with headers of its own.
func (s *Served) hook(body []byte, headers map[string]string) (status int, answer string) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.URL+"/webhook", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range headers {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	res, err := hookClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestAppRefuses(t *testing.T) {
	t.Parallel()
	s := newServed(t, appConfig, "SWITCHBACK_WEBHOOK_SECRET=the new secret", "SWITCHBACK_WEBHOOK_SECRET_OLD="+WebhookSecret)
	body := []byte(`{"action":"deleted","installation":{"id":77}}`)
	headers := func(secret string, body []byte) map[string]string {
		return map[string]string{"X-GitHub-Event": "installation", "X-GitHub-Delivery": randomHex(8), "Content-Type": "application/json",
			"X-Hub-Signature-256": sign(secret, body)}
	}
	without := func(h map[string]string, name string) map[string]string { h[name] = ""; return h }
	for name, c := range map[string]struct {
		body    []byte
		headers map[string]string
		want    int
	}{
		"signed with the new secret":     {body, headers("the new secret", body), 202},
		"signed with the old secret":     {body, headers(WebhookSecret, body), 202},
		"signed with another secret":     {body, headers("another", body), 401},
		"signed with no secret":          {body, headers("", body), 401},
		"signed, and changed since":      {append([]byte(" "), body...), headers(WebhookSecret, body), 401},
		"not signed":                     {body, without(headers(WebhookSecret, body), "X-Hub-Signature-256"), 401},
		"signed as half a sum":           {body, map[string]string{"X-Hub-Signature-256": "sha256=abcd"}, 401},
		"without an id":                  {body, without(headers(WebhookSecret, body), "X-GitHub-Delivery"), 400},
		"without an event":               {body, without(headers(WebhookSecret, body), "X-GitHub-Event"), 400},
		"an event that nobody waits for": {body, map[string]string{"X-GitHub-Event": "star", "X-GitHub-Delivery": "1", "X-Hub-Signature-256": sign(WebhookSecret, body)}, 202},
	} {
		status, answer := s.app.hook(c.body, c.headers)
		if status != c.want || status == 401 && answer != "" {
			t.Errorf("%s: %d %q, want %d", name, status, answer, c.want)
		}
	}
	t.Run("25 MB are taken and no more", func(t *testing.T) {
		large := append([]byte(`{"action":"closed","zen":"`), bytes.Repeat([]byte("x"), 25<<20)...)
		if status, _ := s.app.hook(large, headers(WebhookSecret, large)); status != http.StatusRequestEntityTooLarge {
			t.Error(status)
		}
		fits := large[:25<<20]
		fits = append(fits[:len(fits)-2:len(fits)-2], `"}`...)
		if status, answer := s.app.hook(fits, headers(WebhookSecret, fits)); status != http.StatusAccepted {
			t.Error(status, answer)
		}
	})
	t.Run("what is no JSON is kept and shown, and can be tried again", func(t *testing.T) {
		bad := []byte(`{"action":"completed","workflow_run":`)
		h := headers(WebhookSecret, bad)
		h["X-GitHub-Event"], h["X-GitHub-Delivery"] = "workflow_run", "the-bad-one"
		if status, answer := s.app.hook(bad, h); status != http.StatusAccepted {
			t.Error(status, answer)
		}
		s.app.Idle()
		if n := s.app.Metric("switchback_queue_depth", `state="dead_letter"`); n != 1 {
			t.Errorf("%v dead letters", n)
		}
		if out := s.app.run("deliveries"); !strings.Contains(out, "the-bad-one") || !strings.Contains(out, "malformed") {
			t.Errorf("%q", out)
		}
		s.app.run("deliveries", "retry", "the-bad-one")
		s.app.Idle()
		if n := s.app.Metric("switchback_errors_total", `kind="malformed"`); n != 2 {
			t.Errorf("it was tried %v times", n)
		}
	})
}

// run runs the program beside the server, with its environment.
func (s *Served) run(args ...string) string {
	s.t.Helper()
	bin, err := switchback()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Every example of GitHub's webhooks, as it is, again, and broken in some way.
func TestAppExamples(t *testing.T) {
	t.Parallel()
	s := newServed(t, appConfig)
	path, err := s.b.npm("@octokit/webhooks-examples/api.github.com/index.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name     string
		Examples []map[string]any
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	sent, wanted := 0, 0
	send := func(event string, body []byte) {
		d := Delivery{GUID: randomHex(12), Event: event, Body: body}
		for range 2 {
			sent++
			if code := s.app.Again(d); code != http.StatusAccepted {
				t.Errorf("%s: %d for %.300s", event, code, body)
			}
		}
	}
	for _, e := range all {
		for _, example := range e.Examples {
			wanted++
			send(e.Name, marshal(example))
			// For each repository and installation of the bench, so that it is worked on.
			s.ofBench(example)
			send(e.Name, marshal(example))
			mutate(rnd, example)
			send(e.Name, marshal(example))
		}
	}
	s.app.Until("all deliveries have been tried", func() bool {
		return s.app.Metric("switchback_queue_depth", `state="received"`)+s.app.Metric("switchback_queue_depth", `state="working"`) == 0
	})
	if wanted < 300 || sent < 6*300 {
		t.Errorf("%d examples, %d sent", wanted, sent)
	}
	if log := s.app.Log(); strings.Contains(log, "panic") {
		t.Errorf("a panic:\n%s", log)
	}
	if n := s.app.Metric("switchback_deliveries_total"); n != float64(sent) {
		t.Errorf("%v deliveries were counted of %d", n, sent)
	}
}

// ofBench makes a payload one of the story's repository.
func (s *served) ofBench(p map[string]any) {
	var repo map[string]any
	s.r.get(s.t, "", &repo)
	if p["repository"] != nil {
		p["repository"] = repo
	}
	p["installation"] = map[string]any{"id": appByID(SwitchbackAppID).installation}
}

// mutate changes up to four values anywhere in a payload to something else.
func mutate(rnd *rand.Rand, p map[string]any) {
	for range 1 + rnd.IntN(4) {
		var at any = p
		for depth := 0; depth < 4; depth++ {
			m, ok := at.(map[string]any)
			if !ok || len(m) == 0 {
				break
			}
			keys := make([]string, 0, len(m))
			for k := range m {
				keys = append(keys, k)
			}
			k := keys[rnd.IntN(len(keys))]
			if next, ok := m[k].(map[string]any); ok && rnd.IntN(4) > 0 {
				at = next
				continue
			}
			m[k] = []any{nil, "", "x\x00y", -1, 1e300, true, []any{}, map[string]any{}, strings.Repeat("long ", 400)}[rnd.IntN(9)]
			break
		}
	}
}
