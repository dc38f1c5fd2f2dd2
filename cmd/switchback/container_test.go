package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/bot/server"
	"github.com/switchback-ci/switchback/bot/server/credentials"
	"github.com/switchback-ci/switchback/bot/server/setup"
	"github.com/switchback-ci/switchback/bot/web/signin"
)

// service is what is read of a service of compose.yaml.
type service struct {
	Image       string
	Build       string
	Command     []string
	User        string
	ReadOnly    bool `yaml:"read_only"`
	Tmpfs       []string
	CapDrop     []string `yaml:"cap_drop"`
	Environment map[string]string
	Volumes     []string
	Ports       []string
	Profiles    []string
	DependsOn   yaml.Node `yaml:"depends_on"`
}

// What the image and the composition say is what the program knows: no engine
// runs them here.
func TestCompose(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Services map[string]service
		Volumes  map[string]any
		Configs  map[string]struct{ Content string }
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	upstreams := 0
	for name, s := range c.Services {
		if s.Build == "" {
			if !strings.Contains(s.Image, ":") || strings.HasSuffix(s.Image, ":latest") {
				t.Errorf("%s: the image %q has no version", name, s.Image)
			}
			continue
		}
		if !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.Tmpfs, "/tmp") || !slices.Contains(s.Volumes, "app:/data") {
			t.Errorf("%s may do more than it has to, or less: %+v", name, s)
		}
		for env := range s.Environment {
			knownVariable(t, env)
		}
		if strings.HasPrefix(name, "serve") {
			upstreams++
			if s.Command[0] != "serve" || len(s.Ports) > 0 || !strings.Contains(c.Configs["proxy"].Content, name+":8080") || s.Environment["SWITCHBACK_LISTEN"] != ":8080" {
				t.Errorf("%s is not behind the proxy: %+v", name, s)
			}
			if !strings.HasPrefix(s.Environment["SWITCHBACK_DATABASE_URL"], "postgres://") {
				t.Errorf("%s keeps a database of its own", name)
			}
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s is open to others at %s", name, p)
			}
		}
		for _, v := range s.Volumes {
			if v, _, _ := strings.Cut(v, ":"); c.Volumes != nil {
				if _, ok := c.Volumes[v]; !ok {
					t.Errorf("%s: there is no volume %s", name, v)
				}
			}
		}
	}
	if upstreams != 2 {
		t.Errorf("%d replicas", upstreams)
	}
	if got := c.Services["setup"].Command; len(got) == 0 {
		t.Error("nothing sets it up")
	} else {
		knownCommand(t, got)
	}
	proxy := c.Configs["proxy"].Content
	if !strings.Contains(proxy, "handle /webhook {") || !strings.Contains(proxy, "@inside path /metrics /metrics/* /healthz /readyz\n") ||
		!strings.Contains(proxy, "handle @inside {\n    respond 404\n  }") {
		t.Errorf("the proxy passes on something else:\n%s", proxy)
	}
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	last := text[strings.LastIndex(text, "\nFROM "):]
	for _, want := range []string{"FROM scratch\n", "\nUSER 65532:65532\n", "\nVOLUME /data\n", "--chown=65532:65532", `ENTRYPOINT ["/switchback"]`, "ca-certificates.crt"} {
		if !strings.Contains(last, want) {
			t.Errorf("the image has no %q", want)
		}
	}
	if !strings.Contains(text, "CGO_ENABLED=0") || !strings.Contains(text, "-X main.version=") {
		t.Error("the binary is not static, or does not know its version")
	}
	for _, m := range regexp.MustCompile(`(?m)^ENV (\w+)=`).FindAllStringSubmatch(last, -1) {
		knownVariable(t, m[1])
	}
	m := regexp.MustCompile(`HEALTHCHECK .*CMD (\[.*\])`).FindStringSubmatch(last)
	var cmd []string
	if m == nil || json.Unmarshal([]byte(m[1]), &cmd) != nil || cmd[0] != "/switchback" {
		t.Fatalf("HEALTHCHECK: %q; there is no shell", m)
	}
	knownCommand(t, cmd[1:])
	if strings.Contains(last, "\nRUN ") {
		t.Error("nothing can run in an empty image")
	}
}

// knownCommand checks that the program has a command, and its flags.
func knownCommand(t *testing.T, args []string) {
	t.Helper()
	r := run(t, "", args[0], "--help")
	if r.code != 0 || !strings.Contains(r.out, "switchback "+args[0]) {
		t.Errorf("there is no command %s: %s%s", args[0], r.out, r.err)
	}
	for _, a := range args[1:] {
		if strings.HasPrefix(a, "--") && !strings.Contains(r.out, a+" ") {
			t.Errorf("%s has no flag %s", args[0], a)
		}
	}
}

// knownVariable checks that the program reads an environment variable.
func knownVariable(t *testing.T, name string) {
	t.Helper()
	known := []string{credentials.EnvData, credentials.EnvGitHubURL}
	if slices.Contains(known, name) {
		return
	}
	r := run(t, "", "serve", "--help")
	if !strings.Contains(r.out, "("+name+")") {
		t.Errorf("nothing reads %s", name)
	}
}

// What setup tells GitHub is where serve listens.
func TestSetupTellsWhereServeListens(t *testing.T) {
	t.Parallel()
	if setup.WebhookPath != server.WebhookPath {
		t.Errorf("setup says %s, serve listens at %s", setup.WebhookPath, server.WebhookPath)
	}
	if setup.CallbackPath != signin.CallbackPath {
		t.Errorf("setup says %s, people come back to %s", setup.CallbackPath, signin.CallbackPath)
	}
	r := run(t, "", "serve", "--help")
	for _, flag := range []string{"--data ", "--listen "} { // as setup and compose.yaml say
		if !strings.Contains(r.out, flag) {
			t.Errorf("serve has no flag %s", flag)
		}
	}
}
