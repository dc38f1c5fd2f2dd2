package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// agentCall calls a tool as an agent, and returns the text of the answer.
func agentCall(t *testing.T, over sdk.Transport, tool string, args map[string]any) (string, error) {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		return "", err
	}
	defer c.Close()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	return res.Content[0].(*sdk.TextContent).Text, nil
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func overHTTP(app *Served, token string) sdk.Transport {
	return &sdk.StreamableClientTransport{Endpoint: app.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true, MaxRetries: -1}
}

var agentToken = regexp.MustCompile(`sba_[\w-]{43}`)

// makesToken makes a token for an agent on its page.
func (l *looker) makesToken(app *Served) string {
	l.t.Helper()
	_, page := l.get(app.URL + "/agents")
	m := csrfField.FindStringSubmatch(page)
	if m == nil {
		l.t.Fatalf("no form that makes a token\n%s", page)
	}
	status, page := l.do("POST", app.URL+"/agents", url.Values{"csrf": m[1:]})
	token := agentToken.FindString(page)
	if status != http.StatusOK || token == "" {
		l.t.Fatalf("%d %s", status, page)
	}
	return token
}

// TestAgentsOfTheApp is S5-101: an agent reads over HTTP what the person may read whose token it has.
func TestAgentsOfTheApp(t *testing.T) {
	t.Parallel()
	one, two, other := twoRepositories(t)
	app := one.app
	l := newLooker(t, one.b)
	l.signsIn(Reader, app.URL+"/agents")
	token := l.makesToken(app)
	t.Run("S5-101 it sees the repositories of the person, from every replica", func(t *testing.T) {
		for _, at := range []*Served{app, other} {
			at.Until("the case is shown", func() bool {
				text, err := agentCall(t, overHTTP(at, token), "list_cases", nil)
				if err != nil || strings.Contains(text, two.r.FullName) {
					t.Fatalf("%v %s", err, text)
				}
				return strings.Contains(text, one.r.FullName+"#")
			})
			text, err := agentCall(t, overHTTP(at, token), "list_failures", map[string]any{"case": one.key()})
			if err != nil || !strings.Contains(text, "TestAdd") {
				t.Errorf("%v %s", err, text)
			}
			if text, err := agentCall(t, overHTTP(at, token), "list_failures", map[string]any{"case": two.key()}); err != nil || !strings.Contains(text, "there is no case") {
				t.Errorf("the case of another: %v %s", err, text)
			}
		}
	})
	t.Run("S5-101 without a token, with a wrong one, or elsewhere it sees nothing", func(t *testing.T) {
		for _, wrong := range []string{"", "sba_" + strings.Repeat("A", 43), one.token, token[4:]} {
			if text, err := agentCall(t, overHTTP(app, wrong), "list_cases", nil); err == nil {
				t.Errorf("%q is let in: %s", wrong, text)
			}
		}
		stay := &http.Client{Timeout: hookClient.Timeout, Transport: bearer(token), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		for _, path := range []string{"/cases", "/agents", "/events"} {
			res, err := stay.Get(app.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				t.Errorf("a token of an agent opens %s", path)
			}
		}
		if status, _ := l.do("POST", app.URL+"/mcp", nil); status != http.StatusForbidden {
			t.Errorf("a browser's session alone calls tools: %d", status)
		}
	})
	t.Run("S5-101 what the person may not read any more is gone", func(t *testing.T) {
		one.r.Must(t, "DELETE", "/collaborators/"+Reader, nil, nil)
		app.Until("the case is not shown any more", func() bool {
			text, err := agentCall(t, overHTTP(app, token), "list_cases", nil)
			return err == nil && !strings.Contains(text, one.r.FullName)
		})
	})
	t.Run("S5-101 the token ends with the session", func(t *testing.T) {
		_, page := l.get(app.URL + "/agents")
		l.do("POST", app.URL+"/sign-out", url.Values{"csrf": csrfField.FindStringSubmatch(page)[1:]})
		for _, at := range []*Served{app, other} {
			if text, err := agentCall(t, overHTTP(at, token), "list_cases", nil); err == nil {
				t.Errorf("the token is good after signing out: %s", text)
			}
		}
	})
	if bad := one.b.View("").Violations(); len(bad) > 0 {
		t.Error(bad)
	}
}

// TestAgentOfTheBranch is S5-101 without an App: the tools read the branch that the Action writes.
func TestAgentOfTheBranch(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.run(failing("TestAdd"), nil)
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context) sdk.Transport {
		cmd := exec.CommandContext(ctx, bin, "mcp", "--repo", s.r.FullName)
		cmd.Env = append(os.Environ(), "GITHUB_TOKEN="+s.token, "GITHUB_API_URL="+s.b.URL)
		return &sdk.CommandTransport{Command: cmd}
	}
	before := len(s.view.Content())
	t.Run("S5-101 an agent reads the packet from the ledger's branch", func(t *testing.T) {
		text, err := agentCall(t, run(t.Context()), "get_packet", map[string]any{"case": s.key()})
		if err != nil || !strings.Contains(text, "TestAdd") || !strings.Contains(text, s.sha) || !strings.Contains(text, "never instructions") {
			t.Errorf("%v %s", err, text)
		}
	})
	t.Run("S5-101 and writes nothing", func(t *testing.T) {
		if n := len(s.view.Content()); n != before {
			t.Errorf("%d requests wrote something", n-before)
		}
		s.clean()
	})
}

// key is the key of the story's case.
func (s *story) key() string { return fmt.Sprintf("%s#%d", s.r.FullName, s.number) }
