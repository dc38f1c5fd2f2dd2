package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

// chat is an endpoint of notifications: a server that answers as it is told.
type chat struct {
	*httptest.Server

	mu     sync.Mutex
	status int // of its answers, 0: it never answers
	got    []told
}

type told struct {
	header http.Header
	body   string
	status int
}

func newChat(t *testing.T, status int) *chat {
	t.Helper()
	c := &chat{status: status}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		s := c.status
		c.got = append(c.got, told{r.Header, string(body), s})
		c.mu.Unlock()
		if s == 0 {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(s)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *chat) answers(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *chat) all() []told {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]told(nil), c.got...)
}

// taken returns what the endpoint answered with success.
func (c *chat) taken() []told {
	var out []told
	for _, x := range c.all() {
		if x.status == http.StatusOK {
			out = append(out, x)
		}
	}
	return out
}

// TestNotifications is S5-100: of an escalation each endpoint is told once, by whichever replica, also
// after kills; one that rejects, hangs or is down delays nobody.
func TestNotifications(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	s := newStory(t, appConfig)
	s.r.Grant(t, Writer, "push")
	own, slack, rejects, hangs, down, others := newChat(t, 200), newChat(t, 200), newChat(t, 404), newChat(t, 0), newChat(t, 503), newChat(t, 200)
	file := filepath.Join(t.TempDir(), "notify.yml")
	text := fmt.Sprintf(`endpoints:
  - {name: own, format: webhook, url_env: OWN, secret_env: OWN_SECRET, "on": [escalation, resolved], repositories: [%[1]s], allow_private: true}
  - {name: slack, format: slack, url_env: SLACK, "on": [limit], repositories: [%[1]s], allow_private: true}
  - {name: rejects, format: slack, url_env: REJECTS, repositories: [%[1]s], allow_private: true}
  - {name: hangs, format: teams, url_env: HANGS, repositories: [%[1]s], allow_private: true}
  - {name: down, format: teams, url_env: DOWN, repositories: [%[1]s], allow_private: true}
  - {name: others, format: slack, url_env: OTHERS, repositories: [rival/*], allow_private: true}
`, s.r.FullName)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"SWITCHBACK_NOTIFY=" + file, "OWN=" + own.URL, "OWN_SECRET=0123456789abcdef0123", "SLACK=" + slack.URL, "REJECTS=" + rejects.URL, "HANGS=" + hangs.URL, "DOWN=" + down.URL, "OTHERS=" + others.URL}
	db := pgtest.URL(t)
	v := &served{s, s.b.Serve(t, bin, db, env...)}
	other := s.b.Serve(t, bin, db, env...)
	v.receive()
	v.ran(failing("TestAdd"), "failure")
	v.app.Idle()
	s.push()
	v.ran(failing("TestAdd"), "failure")
	v.app.Idle()
	outcomes := func(endpoint, outcome string) float64 {
		return v.app.Metric("switchback_notifications_total", `endpoint="`+endpoint+`"`, `outcome="`+outcome+`"`) + other.Metric("switchback_notifications_total", `endpoint="`+endpoint+`"`, `outcome="`+outcome+`"`)
	}
	t.Run("S5-100 an escalation is told, signed, while others hang, reject or are down", func(t *testing.T) {
		v.app.Until("the chats are told", func() bool {
			return len(own.all()) > 0 && len(slack.all()) > 0 && len(hangs.all()) > 0 && len(down.all()) > 0
		})
		x := own.all()[0]
		mac := hmac.New(sha256.New, []byte("0123456789abcdef0123"))
		mac.Write([]byte(x.body))
		var m struct{ Topic, Repository, Subject, Checkpoint, Decision, URL string }
		if err := json.Unmarshal([]byte(x.body), &m); err != nil || m.Topic != "limit" || m.Repository != s.r.FullName || m.Subject != fmt.Sprint("#", s.number) || m.Decision != "ESCALATE_MAX_RETRY" {
			t.Errorf("%v %s", err, x.body)
		}
		if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); x.header.Get("X-Hub-Signature-256") != want {
			t.Errorf("signed %s, want %s", x.header.Get("X-Hub-Signature-256"), want)
		}
		if text := slack.all()[0].body; !strings.Contains(text, fmt.Sprintf("%s#%d", s.r.FullName, s.number)) || !strings.Contains(text, "fix attempts are used up") {
			t.Error(text)
		}
		v.app.Until("what rejects is a dead letter", func() bool { return outcomes("rejects", "dead_letter") == 1 })
	})
	t.Run("S5-100 what was not told when both were killed is told once when they are back", func(t *testing.T) {
		v.app.Kill()
		other.Kill()
		down.answers(200)
		v.app.Start()
		other.Start()
		v.app.Until("the chat that was down is told", func() bool { return len(down.taken()) > 0 })
	})
	t.Run("S5-100 the answer is told to whom it concerns", func(t *testing.T) {
		s.r.Comment(t, Writer, s.number, "/switchback retry")
		v.heard("issue_comment", "created", Writer)
		v.app.Until("the answer is told", func() bool { return len(own.all()) > 1 })
		if text := own.all()[1].body; !strings.Contains(text, `"topic":"resolved"`) || !strings.Contains(text, Writer) {
			t.Error(text)
		}
	})
	for name, c := range map[string]struct {
		chat *chat
		want int
	}{"own": {own, 2}, "slack": {slack, 1}, "rejects": {rejects, 0}, "down": {down, 1}, "others": {others, 0}} {
		if n := len(c.chat.taken()); n != c.want {
			t.Errorf("%s was told %d times, want %d", name, n, c.want)
		}
	}
	if n := len(rejects.all()); n != 1 {
		t.Errorf("what rejects was told %d times", n)
	}
	if log := v.app.Log() + other.Log(); strings.Contains(log, own.URL) || strings.Contains(log, down.URL) {
		t.Error("the log shows an address")
	}
}
