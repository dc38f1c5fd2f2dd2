//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/plan"
)

// greetTest passes once hello.txt says hello.
const greetTest = `if [ "$(cat hello.txt 2>/dev/null)" = hello ]; then n=0; f=
else n=1; f='<failure type="AssertionError" message="expected: hello but was: nothing">expected: hello but was: nothing</failure>'; fi
echo "<testsuite name='greet' tests='1' failures='$n'><testcase classname='greet' name='says hello'>$f</testcase></testsuite>" > "$SWITCHBACK_REPORTS/junit.xml"
exit $n
`

// thirdTurn does the work in its third turn.
const thirdTurn = "echo $SWITCHBACK_ATTEMPT >> attempts; [ $SWITCHBACK_ATTEMPT -lt 3 ] || echo hello > hello.txt\n"

// portDir is a repository with one port, greet, whose commands are scripts.
func portDir(t *testing.T, impl, test, keys string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"impl.sh": impl, "test.sh": test,
		"ports/greet.md": "---\nid: greet\nimpl: sh impl.sh\ntest: sh test.sh\n" + keys + "---\nSay hello.\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// started is the program as a process of its own, in a folder.
type started struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, dir string, env []string, args ...string) *started {
	t.Helper()
	c := &started{Cmd: exec.Command(os.Args[0], args...)}
	c.Dir = dir
	c.Env = append(append(os.Environ(), "SWITCHBACK_RUN_MAIN=1", "GITHUB_ACTIONS=", "GITHUB_REPOSITORY=", "GITHUB_OUTPUT="), env...)
	c.Cmd.Stdout, c.Cmd.Stderr = &c.stdout, &c.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *started) end() int {
	_ = c.Wait() // the code says it
	return c.ProcessState.ExitCode()
}

func runIn(t *testing.T, dir string, env []string, args ...string) (plan.Result, int, *started) {
	t.Helper()
	c := start(t, dir, env, args...)
	code := c.end()
	var r plan.Result
	_ = json.Unmarshal(c.stdout.Bytes(), &r) // empty where it printed none
	return r, code, c
}

func journal(t *testing.T, dir string) plan.Journal {
	t.Helper()
	var j plan.Journal
	_, code, c := runIn(t, dir, nil, "port", "show", "greet")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, &c.stderr)
	}
	decode(t, c.stdout.String(), &j)
	return j
}

func readIn(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// awaited waits until a file has something in it, and returns that.
func awaited(t *testing.T, dir, name string) string {
	t.Helper()
	for {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.HasSuffix(data, []byte("\n")) {
			return strings.TrimSpace(string(data))
		}
		if t.Context().Err() != nil {
			t.Fatalf("%s was not written", name)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// lives reports whether a process is there and is more than an entry that
// nobody has waited for.
func lives(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if syscall.Kill(n, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestPortRun(t *testing.T) {
	t.Parallel()
	dir := portDir(t, thirdTurn+"env > environment\n", greetTest, "env: {GREETING: hello}\n")
	out := filepath.Join(dir, "outputs")
	r, code, c := runIn(t, dir, []string{"SWITCHBACK_GITHUB_TOKEN=hidden-from-workers", "GITHUB_OUTPUT=" + out}, "port", "run", "greet")
	if code != 0 || r.Status != plan.Success || r.Attempts != 3 {
		t.Fatalf("exit %d %+v\n%s", code, r, &c.stderr)
	}
	t.Run("S2-87 S2-26 result, outputs and logs", func(t *testing.T) {
		if got := readIn(t, dir, "outputs"); !strings.HasPrefix(got, "port=greet\nstatus=success\noutcome=success\nattempts=3\nresult-file=") {
			t.Error(got)
		}
		var kept plan.Result
		decode(t, readIn(t, dir, ".switchback/ports/ports/greet/result.json"), &kept)
		if kept.Status != plan.Success {
			t.Errorf("%+v", kept)
		}
	})
	t.Run("S2-74 S2-75 S2-76 S2-77 S2-78 S2-85 events, one a line, with their time, in order", func(t *testing.T) {
		seen, last := map[plan.EventKind]int{}, time.Time{}
		for _, line := range strings.Split(strings.TrimSpace(c.stderr.String()), "\n") {
			var e plan.Event
			decode(t, line, &e)
			seen[e.Kind]++
			if e.At.Before(last) || e.At.IsZero() {
				t.Errorf("out of order: %s", line)
			}
			last = e.At
		}
		for k, n := range map[plan.EventKind]int{plan.SessionStart: 4, plan.SessionEnd: 3, plan.WorkerSpawn: 6, plan.WorkerComplete: 6, plan.WorkerFeedback: 2, plan.DirectMessage: 5, plan.WorkerProgress: 7} {
			if seen[k] != n {
				t.Errorf("%s: %d, want %d", k, seen[k], n)
			}
		}
	})
	t.Run("the worker has what is the port's, and nothing of the program's", func(t *testing.T) {
		env := readIn(t, dir, "environment")
		if strings.Contains(env, "hidden-from-workers") || !strings.Contains(env, "GREETING=hello\n") || !strings.Contains(env, "SWITCHBACK_FEEDBACK_JSON=/") {
			t.Error(env)
		}
	})
	t.Run("a second run of what passed does nothing", func(t *testing.T) {
		if r, code, _ := runIn(t, dir, nil, "port", "run", "greet"); code != 0 || r.Attempts != 3 || strings.Count(readIn(t, dir, "attempts"), "\n") != 3 {
			t.Errorf("exit %d %+v", code, r)
		}
		if _, code, _ := runIn(t, dir, nil, "port", "run", "--again", "greet"); code != 0 || strings.Count(readIn(t, dir, "attempts"), "\n") != 4 {
			t.Errorf("exit %d", code)
		}
	})
}

func TestPortRunGoesOn(t *testing.T) {
	t.Parallel()
	hang := "echo $SWITCHBACK_ATTEMPT >> attempts\nif [ $SWITCHBACK_ATTEMPT = 2 ] && [ ! -f pid ]; then echo $$ > pid; sleep 1000; fi\n[ $SWITCHBACK_ATTEMPT -lt 3 ] || echo hello > hello.txt\n"
	t.Run("S2-28 a run that was killed in its second turn goes on there", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, hang, greetTest, "")
		c := start(t, dir, nil, "port", "run", "greet")
		pid := awaited(t, dir, "pid")
		if _, code, busy := runIn(t, dir, nil, "port", "run", "greet"); code != 1 || !strings.Contains(busy.stderr.String(), "another process runs this port") {
			t.Errorf("two run one port: exit %d %s", code, &busy.stderr)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.end()
		r, code, c2 := runIn(t, dir, nil, "port", "run", "greet")
		if code != 0 || r.Attempts != 3 || r.Retries != 2 || readIn(t, dir, "attempts") != "1\n2\n2\n3\n" {
			t.Errorf("exit %d %+v %q\n%s", code, r, readIn(t, dir, "attempts"), &c2.stderr)
		}
		if runtime.GOOS == "linux" && lives(t, pid) {
			t.Error("the worker of the killed run still works")
		}
		if j := journal(t, dir); j.Pairs != 1 || j.Loop.CurrentTry != 2 {
			t.Errorf("%+v", j.Loop)
		}
	})
	t.Run("S2-31 a run that is asked to end has failed, and its worker has ended", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, hang, greetTest, "")
		c := start(t, dir, nil, "port", "run", "--grace", "100ms", "greet")
		pid := awaited(t, dir, "pid")
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		var r plan.Result
		code := c.end()
		decode(t, c.stdout.String(), &r)
		if code != 1 || r.Status != plan.Failed || r.Outcome != plan.Broke || lives(t, pid) {
			t.Errorf("exit %d %+v", code, r)
		}
	})
}

// However often the process is killed, and wherever: every failure counts once,
// every message is there once, and it comes to the same end.
func TestPortRunKilledAnywhere(t *testing.T) {
	t.Parallel()
	dir := portDir(t, thirdTurn, greetTest, "")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	kills := 0
	for range 30 {
		c := exec.Command(os.Args[0], "port", "run", "greet")
		c.Dir, c.Env = dir, append(os.Environ(), "SWITCHBACK_RUN_MAIN=1", "GITHUB_ACTIONS=")
		events, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(events)
		for n := 1 + random.IntN(9); n > 0 && lines.Scan(); n-- {
			continue
		}
		_ = c.Process.Kill() // it may have ended meanwhile
		_ = c.Wait()
		if c.ProcessState.ExitCode() < 0 {
			kills++
		}
	}
	if kills < 3 {
		t.Fatalf("only %d runs were killed: the test shows nothing", kills)
	}
	r, code, c := runIn(t, dir, nil, "port", "run", "greet")
	j := journal(t, dir)
	if code != 0 || r.Status != plan.Success || r.Attempts != 3 || r.Retries != 2 || j.Pairs != 1 {
		t.Errorf("after %d kills: exit %d %+v, %d pairs\n%s", kills, code, r, j.Pairs, &c.stderr)
	}
	var ids []string
	for _, m := range j.Mail.Messages {
		ids = append(ids, strings.TrimPrefix(m.ID, "ports/greet/channel/"))
	}
	if got := strings.Join(ids, " "); got != "result/1 feedback/1 result/2 feedback/2 result/3" {
		t.Error(got)
	}
}

func TestPortRunRefuses(t *testing.T) {
	t.Parallel()
	dir := portDir(t, "true", greetTest, "")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("others.yml", "- {id: a, impl: 'true'}\n- {id: b, test: {workflow: t.yml}}\n- {id: c, status: held, test: 'true'}\n")
	write("broken.yml", "- {id: a, depends_on: [b]}\n- {id: b, depends_on: [a], timeout: soon}\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"nobody", 2, `there is no port "nobody" in ports; known are greet`},
		{"a --ports others.yml", 2, "has no test"},
		{"b --ports others.yml", 2, "by a workflow that is dispatched"},
		{"c --ports others.yml", 2, "is held"},
		{"a --ports broken.yml", 1, "broken.yml:2: timeout is"},
		{"a --ports broken.yml", 1, "a → b → a"},
		{"a --ports none", 1, "no such folder or file"},
		{"greet --plan ../x", 2, "--plan"},
		{"greet --grace -1s", 2, "--grace is -1s; it must be 0 or more"},
		{"greet --repo x", 2, "--repo"},
		{"", 2, "accepts 1 arg"},
	} {
		_, code, p := runIn(t, dir, nil, append([]string{"port", "run"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(p.stderr.String(), c.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s", c.args, code, c.code, c.want, &p.stderr)
		}
	}
	if _, code, p := runIn(t, dir, []string{"GITHUB_ACTIONS=true", "GITHUB_TOKEN="}, "port", "run", "greet"); code != 2 || !strings.Contains(p.stderr.String(), "no token for the ledger") {
		t.Errorf("exit %d %s", code, &p.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, ".switchback")); err == nil {
		t.Error("something was recorded")
	}
}

// An agent that runs in a pair calls the hook, and is answered.
func TestHookInAPair(t *testing.T) {
	t.Parallel()
	dir := portDir(t, "true", `echo '{"session_id": "agent-7", "payload": {"success": false, "failed_tests": [{"name": "sum", "suggested_fix": "add"}]}}' |
  SWITCHBACK_RUN_MAIN=1 "$SWITCHBACK_BIN" hook test-feedback > answer
echo '{"session_id": "agent-7", "payload": {}}' | SWITCHBACK_RUN_MAIN=1 "$SWITCHBACK_BIN" hook test-feedback 2> refused
SWITCHBACK_RUN_MAIN=1 "$SWITCHBACK_BIN" hook test-feedbak < /dev/null > unknown 2>&1
echo hello > hello.txt
`+greetTest, "")
	_, code, c := runIn(t, dir, nil, "port", "run", "greet")
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, &c.stderr)
	}
	t.Run("S2-32 the entry answers an agent, and refuses what is none", func(t *testing.T) {
		var out plan.HookOutput
		decode(t, readIn(t, dir, "answer"), &out)
		if out.Decision != "approve" || len(out.Notifications) != 1 || !strings.Contains(out.Notifications[0].Message, "- sum: add") {
			t.Errorf("%+v", out)
		}
		if got := readIn(t, dir, "refused"); !strings.Contains(got, `write "success": true or false`) {
			t.Error(got)
		}
		if got := readIn(t, dir, "unknown"); !strings.Contains(got, "test-feedback") {
			t.Error(got)
		}
	})
	t.Run("S2-33 the event is logged, once, with its feedback", func(t *testing.T) {
		var logged []plan.Event
		for _, line := range strings.Split(strings.TrimSpace(c.stderr.String()), "\n") {
			var e plan.Event
			if decode(t, line, &e); e.Kind == plan.TestFeedbackLogged {
				logged = append(logged, e)
			}
		}
		if len(logged) != 1 || logged[0].Session != "ports/greet/test" || logged[0].Port != "greet" || logged[0].At.IsZero() || logged[0].Feedback.FailedTests[0].Name != "sum" {
			t.Errorf("%+v", logged)
		}
	})
}
