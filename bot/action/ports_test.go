package action

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/config"
)

func TestPortInputs(t *testing.T) {
	t.Parallel()
	read := func(in map[string]string) (PortInputs, error) {
		return readPortInputs(func(name, def string) string {
			if v := in[name]; v != "" {
				return v
			}
			return def
		})
	}
	in, err := read(map[string]string{"build": "run-7/4", "level": "3", "max-parallel": "5", "plan": "api.v2"})
	if err != nil || in.Build != "run-7" || in.Level != 3 || in.MaxParallel != 5 || in.Name != "api.v2" {
		t.Errorf("%+v %v", in, err)
	}
	for name, bad := range map[string]string{"level": "0", "max-parallel": "many", "plan": "a/b"} {
		if _, err := read(map[string]string{name: bad}); err == nil || !strings.Contains(err.Error(), "input "+name+" is \""+bad+"\"") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlanPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"": "ports", "ports": "ports", "./plans/api/": "plans-api", "plans/a b.yml": "plans-a-b.yml", ".": "ports"} {
		if file, name := (PortInputs{Path: path}).plan(config.File{}); name != want || file == "" {
			t.Errorf("%q: %q in %q", path, name, file)
		}
	}
	if file, name := (PortInputs{Name: "other"}).plan(config.File{}); file != "ports" || name != "other" {
		t.Error(file, name)
	}
}

func TestWorkerEnv(t *testing.T) {
	t.Parallel()
	env, secrets, err := workerEnv("A_KEY=secret=1\n\n# why\n  B=xy  \n")
	if err != nil || !slices.Equal(env, []string{"A_KEY=secret=1", "B=xy"}) || !slices.Equal(secrets, []string{"secret=1"}) {
		t.Error(env, secrets, err)
	}
	for _, bad := range []string{"LONELY", "=b", "1A=b", "github_token=b", "SWITCHBACK_X=1", "A B=c"} {
		if _, _, err := workerEnv("OK=1\n" + bad); err == nil || !strings.Contains(err.Error(), "line 2") || strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v (what is wrong may be a secret)", bad, err)
		}
	}
	if got := withoutInputs([]string{"PATH=p", "GITHUB_TOKEN=t", "INPUT_WORKER-ENV=s", "GITHUB_SHA=1"}); !slices.Equal(got, []string{"PATH=p", "GITHUB_SHA=1"}) {
		t.Error(got)
	}
}

func TestInertLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := &inertLines{w: &out}
	for _, s := range []string{"one\n:", ":set-output name=x::y\n  ::", "add-mask::z"} {
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	l.flush()
	l.flush()
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("the runner takes %q for a command", line)
		}
	}
	if !strings.HasSuffix(out.String(), "add-mask::z\n") || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("%q", out.String())
	}
}
