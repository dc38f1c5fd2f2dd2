package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// setting is a `switchback setup` and a browser in front of it.
type setting struct {
	t       *testing.T
	b       *Bench
	data    string
	listen  string
	browser *http.Client
	cmd     *exec.Cmd
	open    string // the address that was printed
	out     bytes.Buffer
	errs    bytes.Buffer
	read    chan struct{} // closed when all of the output was read
}

func newSetting(t *testing.T) *setting {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &setting{t: t, b: Start(t), data: filepath.Join(t.TempDir(), "data"), listen: "127.0.0.1:0", browser: &http.Client{Jar: jar}}
}

// start starts the program and waits for the address it prints.
func (s *setting) start(args ...string) {
	s.t.Helper()
	bin, err := switchback()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(bin, append([]string{"setup", "--data", s.data, "--github-url", s.b.URL, "--listen", s.listen}, args...)...)
	s.out.Reset()
	s.errs.Reset()
	s.cmd.Stderr = &s.errs
	pipe, err := s.cmd.StdoutPipe()
	if err == nil {
		err = startCmd(s.cmd)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { killGroup(s.cmd) })
	lines := bufio.NewReader(pipe)
	for s.open = ""; s.open == ""; {
		line, err := lines.ReadString('\n')
		s.out.WriteString(line)
		if err != nil {
			_ = s.cmd.Wait()
			s.t.Fatalf("no address: %v\n%s%s", err, s.out.String(), s.errs.String())
		}
		if at := strings.TrimSpace(line); strings.HasPrefix(at, "http://") {
			s.open = at
		}
	}
	u, _ := url.Parse(s.open)
	s.listen = u.Host
	s.read = make(chan struct{})
	go func() {
		defer close(s.read)
		_, _ = io.Copy(&s.out, lines)
	}()
}

// wait waits for the program's end and returns its exit code.
func (s *setting) wait() int {
	<-s.read
	_ = s.cmd.Wait() // the code says how
	return s.cmd.ProcessState.ExitCode()
}

func (s *setting) get(address string) (int, string) {
	s.t.Helper()
	res, err := s.browser.Get(address)
	if err != nil {
		s.t.Fatal(err)
	}
	return readPage(s.t, res)
}

func readPage(t *testing.T, res *http.Response) (int, string) {
	t.Helper()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	csp := res.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers of %s: %v", res.Request.URL.Path, res.Header)
	}
	return res.StatusCode, string(body)
}

// form returns where the page's form goes, and its hidden manifest.
func (s *setting) form(page string) (action, manifest string) {
	s.t.Helper()
	a := regexp.MustCompile(`<form action="([^"]+)" method="post">`).FindStringSubmatch(page)
	m := regexp.MustCompile(`name="manifest" value="([^"]+)"`).FindStringSubmatch(page)
	if a == nil || m == nil {
		s.t.Fatalf("no form in\n%s", page)
	}
	return html.UnescapeString(a[1]), html.UnescapeString(m[1])
}

// agree sends the form to GitHub, without following it back, and returns the
// address at which GitHub sends the reader back.
func (s *setting) agree(page string) string {
	s.t.Helper()
	action, manifest := s.form(page)
	there := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := there.PostForm(action, url.Values{"manifest": {manifest}})
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusFound {
		s.t.Fatalf("GitHub says %d %s", res.StatusCode, body)
	}
	return res.Header.Get("Location")
}

func (s *setting) review(q url.Values) string {
	s.t.Helper()
	s.get(s.open)
	status, page := s.get("http://" + s.listen + "/review?" + q.Encode())
	if status != http.StatusOK {
		s.t.Fatalf("%d %s", status, page)
	}
	return page
}

func (s *setting) saved() map[string]any {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.data, "app.json"))
	if err != nil {
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

func TestSetup(t *testing.T) {
	s := newSetting(t)
	view := s.b.View("")
	s.start("--org", "acme", "--name", "Switchback "+filepath.Base(filepath.Dir(s.data)))
	t.Run("nobody is let in without the printed address", func(t *testing.T) {
		res, err := http.Get("http://" + s.listen + "/")
		if err != nil {
			t.Fatal(err)
		}
		if status, page := readPage(t, res); status != http.StatusForbidden || strings.Contains(page, "<form") {
			t.Errorf("%d %s", status, page)
		}
	})
	_, page := s.get(s.open)
	if !strings.Contains(page, `value="acme"`) || !strings.Contains(page, "pull_request_review") {
		t.Fatalf("the first page:\n%s", page)
	}
	_, page = s.get("http://" + s.listen + "/review?name=&server=http%3A%2F%2Flocalhost&org=a%20b")
	for _, want := range []string{"the name has 0 characters", "on this machine", "not the name of an organisation", `role="alert"`} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	page = s.review(url.Values{"name": {"Switchback <Acme>"}, "server": {"https://switchback.acme.test/"}, "org": {"acme"}})
	back := s.agree(page)
	if status, page := s.get(strings.Replace(back, "state=", "state=0", 1)); status != http.StatusForbidden || s.saved() != nil {
		t.Errorf("another state: %d %s", status, page)
	}
	status, page := s.get(back)
	if status != http.StatusOK || !strings.Contains(page, "/installations/new") || !strings.Contains(page, "switchback serve --data "+s.data) {
		t.Errorf("%d\n%s", status, page)
	}
	if code := s.wait(); code != 0 {
		t.Fatalf("exit %d %s", code, s.errs.String())
	}
	m := s.b.Manifests()[len(s.b.Manifests())-1]
	got := s.saved()
	if m.Org != "acme" || got["id"] != float64(m.ID) || got["webhook_secret"] != m.Secret || got["client_secret"] != m.ClientSecret || got["private_key"] != s.b.AppPrivateKey() {
		t.Errorf("%+v\n%v", m, got)
	}
	if m.Public == nil || *m.Public || !m.Hook.Active || m.Hook.URL != "https://switchback.acme.test/webhook" || !slices.Equal(m.Callbacks, []string{"https://switchback.acme.test/sign-in/callback"}) {
		t.Errorf("%+v", m)
	}
	for _, secret := range []string{m.Secret, m.ClientSecret, m.Code, "PRIVATE KEY"} {
		if shown := s.out.String() + s.errs.String() + page; strings.Contains(shown, secret) {
			t.Errorf("%q is shown in\n%s", secret, shown)
		}
	}
	for name, want := range map[string]os.FileMode{s.data: 0o700, filepath.Join(s.data, "app.json"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.data, "*setup*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	if bad := view.Violations(); bad != nil {
		t.Errorf("violations: %q", bad)
	}
	t.Run("an App that is there is left alone", func(t *testing.T) {
		bin, _ := switchback()
		out, err := exec.Command(bin, "setup", "--data", s.data, "--github-url", s.b.URL).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--force") || !strings.Contains(string(out), "installations/new") {
			t.Errorf("%v %s", err, out)
		}
		if fmt.Sprint(s.saved()) != fmt.Sprint(got) {
			t.Error("it was changed")
		}
	})
	t.Run("the manifest asks for what GitHub knows", func(t *testing.T) { knownToGitHub(t, s.b, m) })
}

// knownToGitHub checks permissions and events against GitHub's description.
func knownToGitHub(t *testing.T, b *Bench, m Manifest) {
	name, err := b.npm("@octokit/openapi/generated/api.github.com.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Webhooks   map[string]any `json:"x-webhooks"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	known := doc.Components.Schemas["app-permissions"].Properties
	for p, level := range m.Permissions {
		if !slices.Contains(known[p].Enum, level) {
			t.Errorf("no permission %s: %s", p, level)
		}
	}
	for _, e := range m.Events {
		prefix := strings.ReplaceAll(e, "_", "-") + "-"
		found := false
		for w := range doc.Webhooks {
			found = found || w == strings.TrimSuffix(prefix, "-") || strings.HasPrefix(w, prefix)
		}
		if !found {
			t.Errorf("no event %s", e)
		}
	}
}

func TestSetupInterrupted(t *testing.T) {
	s := newSetting(t)
	name := func(n int) string { return fmt.Sprintf("Interrupted %d", n) }
	q := url.Values{"server": {"https://switchback.acme.test"}, "dispatch": {"1"}, "name": {name(1)}}
	stop := func() {
		killGroup(s.cmd)
		s.wait()
	}
	s.start()
	page := s.review(q)
	stop()
	s.start() // as if nothing had happened
	back := s.agree(page)
	stop()
	s.start()
	status, page := s.get(back)
	if status != http.StatusOK || s.wait() != 0 {
		t.Fatalf("%d %s\n%s", status, page, s.errs.String())
	}
	m := s.b.Manifests()[len(s.b.Manifests())-1]
	if s.saved()["webhook_secret"] != m.Secret || m.Permissions["contents"] != "write" || m.Org != "" {
		t.Errorf("%v\n%+v", s.saved(), m)
	}
	first := s.saved()

	t.Run("a code whose answer is lost is said to be", func(t *testing.T) {
		s.start("--force")
		q.Set("name", name(2))
		back := s.agree(s.review(q))
		view := s.b.View("")
		remove := view.Fault(Fault{Method: "POST", Path: regexp.MustCompile(`^/app-manifests/`), Drop: After})
		status, page := s.get(back)
		remove()
		if status != http.StatusBadGateway || !strings.Contains(page, "answer was lost") || !strings.Contains(page, "/settings/apps") {
			t.Errorf("%d %s", status, page)
		}
		if n := len(view.Content()); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		if status, page = s.get(back); status != http.StatusBadGateway || !strings.Contains(page, "used already") {
			t.Errorf("%d %s", status, page)
		}
		if fmt.Sprint(s.saved()) != fmt.Sprint(first) {
			t.Error("the App before is gone")
		}
		stop()
	})
	t.Run("who is told to stop while GitHub answers keeps the App first", func(t *testing.T) {
		s.start("--force")
		q.Set("name", name(4))
		back := s.agree(s.review(q))
		hold := s.b.View("").HoldAt(1, After, func(q Request) bool { return strings.HasPrefix(q.Path, "/app-manifests/") })
		told := make(chan struct{})
		go func() {
			defer close(told)
			if res, err := s.browser.Get(back); err == nil { // or the server is gone before its last page
				_ = res.Body.Close()
			}
		}()
		<-hold.Reached
		if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		hold.Release()
		if code := s.wait(); code != 0 || s.saved()["name"] != name(4) {
			t.Errorf("exit %d %v\n%s", code, s.saved()["name"], s.errs.String())
		}
		<-told
	})
	t.Run("by force another comes in its place, and the first is kept", func(t *testing.T) {
		s.start("--force")
		q.Set("name", name(3))
		if status, page := s.get(s.agree(s.review(q))); status != http.StatusOK || s.wait() != 0 {
			t.Fatalf("%d %s", status, page)
		}
		kept, _ := filepath.Glob(filepath.Join(s.data, fmt.Sprintf("app-%v-*.json", int64(first["id"].(float64)))))
		if len(kept) != 1 || s.saved()["name"] != name(3) {
			t.Errorf("%v %v", kept, s.saved()["name"])
		}
	})
}
