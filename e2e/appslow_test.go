package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// dial opens a connection to the server and sends the beginning of a request.
func (s *story) dial(text string) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.by.URL, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Whoever sends slowly is waited for as long as is fair, and hurts nobody.
func TestAppSlow(t *testing.T) {
	t.Parallel()
	s := newAppStory(t, "")
	const half = 40
	var slow []net.Conn
	for range half {
		slow = append(slow, s.dial("POST /webhook HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256="))
		// Its length is all that it may be: eight of them would be all that is read at once.
		slow = append(slow, s.dial(fmt.Sprintf("POST /webhook HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=%064d\r\nContent-Length: %d\r\n\r\n{", 0, queue.MaxPayload)))
	}
	t.Run("beside slow senders others are served", func(t *testing.T) {
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
		for range 10 {
			if status := s.sendsAs("star", randomHex(8), func(map[string]any) {}); status != http.StatusAccepted {
				t.Errorf("answered with %d", status)
			}
		}
	})
	t.Run("a header or body that does not come ends the connection", func(t *testing.T) {
		for i, c := range slow[:2] {
			got, err := io.ReadAll(c) // until the server ends it; the test's own limit ends a server that does not
			if strings.HasPrefix(string(got), "HTTP/1.1 202") {
				t.Errorf("%d: %q %v", i, got, err)
			}
		}
	})
	s.clean()
}

// sendsAs posts a signed payload of the story's repository, changed by change.
func (s *story) sendsAs(event, id string, change func(p map[string]any)) (status int) {
	s.t.Helper()
	p := map[string]any{}
	s.r.get(s.t, "", &p)
	p = map[string]any{"repository": p, "installation": s.b.gaps.installed(s.r.FullName), "sender": s.user(Owner)}
	change(p)
	return s.by.Again(Delivery{GUID: id, Event: event, Body: marshal(p)})
}

func TestAppStrangers(t *testing.T) {
	t.Parallel()
	s := newAppStory(t, "")
	run := s.ranOn(s.r, "feature", failing("TestAdd"))
	run.Name, run.Pulls = "unit", []int{s.number}
	of := s.r.RunPayload(s.r.AddRun(run), "completed")
	never := s.b.NewRepo(t, nil) // the App had no event about it
	for name, c := range map[string]struct {
		change func(p map[string]any)
		want   queue.State
	}{
		"a repository that GitHub does not have": {func(p map[string]any) {
			p["repository"] = map[string]any{"id": 987654321, "full_name": Owner + "/never-was", "default_branch": "main"}
		}, queue.Gone},
		"an installation of another App": {func(p map[string]any) {
			p["installation"] = map[string]any{"id": 77}
			p["repository"] = map[string]any{"id": never.ID, "full_name": never.FullName, "default_branch": "main"}
		}, queue.Gone},
		"an installation that is no number": {func(p map[string]any) { p["installation"] = map[string]any{"id": "77"} }, queue.DeadLetter},
		"no repository":                     {func(p map[string]any) { delete(p, "repository") }, queue.DeadLetter},
	} {
		t.Run("a delivery of "+name+" ends as "+string(c.want), func(t *testing.T) {
			id := "stranger-" + randomHex(8)
			status := s.sendsAs("workflow_run", id, func(p map[string]any) {
				for k, v := range of {
					p[k] = v
				}
				c.change(p)
			})
			if status != http.StatusAccepted {
				t.Errorf("answered with %d", status)
			}
			if st := s.comes(Delivery{GUID: id, Event: "workflow_run"}, c.want); st.Attempts != 1 {
				t.Errorf("%+v", st)
			}
		})
	}
	t.Run("what is no JSON by its type is refused", func(t *testing.T) {
		body := marshal(of)
		for _, kind := range []string{"application/x-www-form-urlencoded", "text/plain", "application/json+x; charset=utf-8"} {
			status, _ := s.by.hook(body, map[string]string{"X-GitHub-Event": "workflow_run", "X-GitHub-Delivery": randomHex(8), "Content-Type": kind, "X-Hub-Signature-256": sign(WebhookSecret, body)})
			if status != http.StatusUnsupportedMediaType {
				t.Errorf("%s: %d", kind, status)
			}
		}
	})
	if got := s.bot(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	t.Run("a thousand deliveries of one id are one", func(t *testing.T) {
		d := Delivery{GUID: "flood-" + randomHex(8), Event: "workflow_run"}
		p := map[string]any{"installation": s.b.gaps.installed(s.r.FullName)}
		for k, v := range of {
			p[k] = v
		}
		p["repository"] = map[string]any{"id": s.r.ID, "full_name": s.r.FullName, "default_branch": "main"}
		d.Body = marshal(p)
		repeated := s.by.Metric("switchback_deliveries_total", `outcome="repeated"`, `event="workflow_run"`)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 50 {
					if code := s.by.Again(d); code != http.StatusAccepted {
						t.Errorf("answered with %d", code)
					}
				}
			})
		}
		wg.Wait()
		s.comes(d, queue.Done)
		if n := s.by.Metric("switchback_deliveries_total", `outcome="repeated"`, `event="workflow_run"`) - repeated; n < 999 {
			t.Errorf("%v were repeated", n)
		}
		s.turn(1)
		if n := s.count("run:RETRY"); n != 1 {
			t.Errorf("worked on %d times", n)
		}
	})
	s.clean()
}

// Values of an accepted event that GitHub would not send.
func TestAppOddValues(t *testing.T) {
	t.Parallel()
	s := newAppStory(t, "")
	huge := json.Number("1" + strings.Repeat("0", 400))
	values := []any{nil, huge, json.Number("9223372036854775808"), int64(math.MaxInt64), int64(math.MinInt64), -1, 0, 1.5, strings.Repeat("é\u0000\u202e", 200_000), []any{}, map[string]any{}, true}
	paths := []string{"repository.id", "repository.full_name", "installation.id", "sender.login", "issue.number", "comment.id", "comment.body", "comment.user", "comment.created_at", "issue"}
	var sent []Delivery
	for _, path := range paths {
		for i, v := range values {
			d := Delivery{GUID: fmt.Sprintf("odd-%s-%d-%s", path, i, randomHex(4)), Event: "issue_comment"}
			status := s.sendsAs(d.Event, d.GUID, func(p map[string]any) {
				p["action"] = "created"
				p["issue"] = map[string]any{"number": s.number, "pull_request": map[string]any{}, "body": ""}
				p["comment"] = map[string]any{"id": 7_000 + i, "body": "hello", "user": p["sender"]}
				at, last := p, path
				if first, rest, ok := strings.Cut(path, "."); ok {
					at, last = p[first].(map[string]any), rest
				}
				at[last] = v
			})
			if status != http.StatusAccepted {
				t.Errorf("%s: answered with %d", d.GUID, status)
			}
			sent = append(sent, d)
		}
	}
	s.by.Until("all have come to an end", func() bool { // none of them waits for better times
		return !slices.ContainsFunc(sent, func(d Delivery) bool {
			return !slices.Contains([]queue.State{queue.Done, queue.Gone, queue.DeadLetter}, s.stands(d).State)
		})
	})
	if log := s.by.Log(); strings.Contains(log, "panic") {
		t.Error("a panic")
	}
	t.Run("it works as before", func(t *testing.T) {
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		if got := s.bot(); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}
