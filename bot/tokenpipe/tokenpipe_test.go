package tokenpipe

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestMain is also the command that is handed tokens.
func TestMain(m *testing.M) {
	if os.Getenv("TOKENPIPE_TAKE") == "" {
		os.Exit(m.Run())
	}
	t, err := Take()
	if err != nil {
		os.Stdout.WriteString("error: " + err.Error())
		os.Exit(1)
	}
	var left []string
	for _, name := range append([]string{Descriptor}, Names...) {
		if _, ok := os.LookupEnv(name); ok {
			left = append(left, name)
		}
	}
	environ, _ := os.ReadFile("/proc/self/environ") // of itself, also where others may not
	for _, v := range t.Values() {
		if strings.Contains(string(environ), v) {
			left = append(left, "/proc/self/environ")
		}
	}
	os.Stdout.WriteString(t.Getenv(os.Getenv)("GITHUB_TOKEN") + " " + t.Getenv(os.Getenv)("INPUT_TOKEN") + " " + strings.Join(os.Args[1:], ",") + " " + os.Getenv("OTHER") + " left:" + strings.Join(left, ","))
	os.Exit(0)
}

func TestS6_2_Take(t *testing.T) {
	t.Parallel()
	command := func(env ...string) *exec.Cmd {
		c := exec.Command(os.Args[0], "a", "b c")
		c.Env = append([]string{"TOKENPIPE_TAKE=1", "OTHER=o"}, env...)
		return c
	}
	piped := command("GITHUB_TOKEN=stale-token")
	Pass(piped, Tokens{"GITHUB_TOKEN": "token-one", "INPUT_TOKEN": "token-two"})
	bad := command(Descriptor + "=0")
	bad.Stdin = strings.NewReader("PATH=/evil\x00")
	long := command(Descriptor + "=0")
	long.Stdin = io.LimitReader(strings.NewReader("GITHUB_TOKEN="+strings.Repeat("x", maxBytes)), maxBytes+100)
	for name, c := range map[string]struct {
		*exec.Cmd
		want string
	}{
		"from the environment":  {command("GITHUB_TOKEN=token-one", "INPUT_TOKEN=token-two"), "token-one token-two a,b c o left:"},
		"through a pipe":        {piped, "token-one token-two a,b c o left:"},
		"none":                  {command(), "  a,b c o left:"},
		"no descriptor":         {command(Descriptor + "=x"), `error: SWITCHBACK_TOKEN_FD is "x"; it must be the number of a file descriptor`},
		"something else":        {bad, "error: SWITCHBACK_TOKEN_FD names a file that holds no tokens"},
		"more than a pipe has":  {long, "error: SWITCHBACK_TOKEN_FD: tokens have more than 16384 bytes"},
		"too long to be passed": {command("GITHUB_TOKEN=" + strings.Repeat("x", maxBytes)), "error: moving the token out of the environment: tokens have more than 16384 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, _ := c.Output()
			if string(out) != c.want {
				t.Errorf("%q, want %q", out, c.want)
			}
		})
	}
	if got := Without([]string{"A=1", "github_token=x", "SWITCHBACK_TOKEN_FD=3", "INPUT_TOKEN=y", "B=2"}); !slices.Equal(got, []string{"A=1", "B=2"}) {
		t.Error(got)
	}
}
