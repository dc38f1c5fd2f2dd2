//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// speaks is a worker that says all that is wrong, and then too much.
const speaks = `exec > answers 2>&1
say() { SWITCHBACK_RUN_MAIN=1 "$SWITCHBACK_BIN" channel "$@"; }
raw() { curl -s -H "Authorization: Bearer $SWITCHBACK_CHANNEL_TOKEN" --data-binary "$2" "$SWITCHBACK_CHANNEL_URL/$1"; }
say progress --progress 1.5
say progress --progress NaN
say send --type gossip --payload 1
say send --payload '{"text": "x'
raw progress '{"progress": NaN}'
head -c 3000000 /dev/zero | tr '\0' 1 > big
raw send @big
{ printf '{"type": "query", "payload": "'; head -c 1100000 /dev/zero | tr '\0' x; printf '"}'; } > big
raw send @big
printf '{"type": "query", "payload": 1}' > small
for i in $(seq 1 310); do printf 'next\nurl = "%s/send"\ndata-binary = "@small"\nheader = "Authorization: Bearer %s"\n' "$SWITCHBACK_CHANNEL_URL" "$SWITCHBACK_CHANNEL_TOKEN"; done > requests
curl -s -K requests | tail -n 2
true
`

// bounded checks how much memory a process took at most.
func bounded(t *testing.T, c *started) {
	t.Helper()
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" && usage.Maxrss > 256<<10 {
		t.Errorf("%d KiB of memory", usage.Maxrss)
	}
}

// says is a test that passes and says so.
const says = `echo '{"success": true}' > "$SWITCHBACK_TEST_FEEDBACK"
`

// Whatever a worker leaves behind: the run ends, says what is wrong, and what it
// recorded can be read.
func TestPortRunOfBadFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, impl, test string
		status           plan.LoopStatus
		want             string // in what was printed
	}{
		{"a pipe for the tokens", `mkfifo "$SWITCHBACK_TOKENS_FILE"`, says, plan.Success, "tokens-impl-1 is a pipe, not a file"},
		{"a link to a pipe for the tokens", `mkfifo pipe; ln -s "$PWD/pipe" "$SWITCHBACK_TOKENS_FILE"`, says, plan.Success, "tokens-impl-1 is a pipe, not a file"},
		{"a device for the tokens", `ln -s /dev/zero "$SWITCHBACK_TOKENS_FILE"`, says, plan.Success, "tokens-impl-1 is a device, not a file"},
		{"a folder for the tokens", `mkdir "$SWITCHBACK_TOKENS_FILE"`, says, plan.Success, "tokens-impl-1 is a folder, not a file"},
		{"half a line of tokens", `printf '{"total_to' > "$SWITCHBACK_TOKENS_FILE"`, says, plan.Success, "line 1 of the tokens file is"},
		{"a pipe for the feedback", "true", `mkfifo "$SWITCHBACK_TEST_FEEDBACK"`, plan.Raised, "said-1.json is a pipe, not a file"},
		{"a device for the feedback", "true", `ln -s /dev/zero "$SWITCHBACK_TEST_FEEDBACK"`, plan.Raised, "said-1.json is a device, not a file"},
		{"a folder for the feedback", "true", `mkdir "$SWITCHBACK_TEST_FEEDBACK"`, plan.Raised, "said-1.json is a folder, not a file"},
		{"truncated feedback", "true", `printf '{"success": tr' > "$SWITCHBACK_TEST_FEEDBACK"`, plan.Raised, "the feedback is not readable"},
		{"pipes among the reports, and a link to one", "true", `cd "$SWITCHBACK_REPORTS"; mkfifo a.xml; ln -s a.xml b.xml; ln -s /dev/zero c.xml; mkdir d.xml`, plan.Raised, "no test report"},
		{"a report that is said to be endless", "true", `truncate -s 1T "$SWITCHBACK_REPORTS/r.xml"`, plan.Raised, "it has more than 1073741824 bytes"},
		{"half a report", "true", `echo '<testsuite name="x" tests="2"><testcase name="a"' > "$SWITCHBACK_REPORTS/r.xml"`, plan.Raised, ""},
		{"pipes where the program writes", `cd .switchback/ports/ports/greet; for f in impl-1.log test-1.log result-1.json result.json brief.md; do rm -rf $f; mkfifo $f; done`, says, plan.Success, ""},
		{"folders where the program writes", `cd .switchback/ports/ports/greet; for f in impl-1.log test-1.log result-1.json result.json brief.md; do rm -rf $f; mkdir -p $f/full; done`, says, plan.Success, ""},
		{"links out of the folder where the program writes", `cd .switchback/ports/ports/greet; for f in impl-1.log test-1.log result.json; do ln -s ../../../../precious $f; done; echo mine > ../../../../precious`,
			`[ "$(cat precious)" = mine ] && ` + says, plan.Success, ""},
		{"a file in place of its folder", `rm -r .switchback/ports/ports/greet; echo x > .switchback/ports/ports/greet`, says, plan.Success, ""},
		{"a file in place of the folder above it", `rm -r .switchback/ports; echo x > .switchback/ports`, says, plan.Failed, "the runner failed: "},
		{"a brief that it changed", `echo other > "$SWITCHBACK_BRIEF"`, `[ "$(head -n 1 "$SWITCHBACK_BRIEF")" = "Say hello." ] && ` + says, plan.Success, ""},
		{"standard output that it closed", `exec >&- 2>&-; sleep 0.1; true`, `exec >&- 2>&-; ` + says, plan.Success, ""},
		{"nothing, as it is not found", "exec nowhere-to-be-found", says, plan.Raised, "not found"},
		{"nothing, as it is not executable", ": > tool; exec ./tool", says, plan.Raised, "ermission denied"},
		{"an end by a signal", "kill -9 $$", says, plan.Raised, "exit code 137"},
		{"what is no text", `head -c 100000 /dev/urandom; printf '\033[31m\0\377'`, "head -c 100000 /dev/urandom; " + says, plan.Success, ""},
		{"feedback longer than a message may be", "true", `{ printf '{"success": false, "failed_tests": [{"name": "long", "stack_trace": "'; head -c 900000 /dev/zero | tr '\0' '<'; printf '"}]}'; } > "$SWITCHBACK_TEST_FEEDBACK"`, plan.Raised, "long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := portDir(t, c.impl, c.test, "max_iterations: 1\ntimeout: 2m\n")
			r, _, p := runIn(t, dir, nil, "port", "run", "greet", "--grace", "0s")
			if r.Status != c.status && !(r.Status == "" && strings.Contains(p.stderr.String(), c.want)) || !strings.Contains(p.stderr.String(), c.want) || r.Outcome == plan.TimedOut {
				t.Errorf("%+v\n%s", r, &p.stderr)
			}
			if j := journal(t, dir); j.Loop.Status != c.status {
				t.Errorf("it is recorded as %s", j.Loop.Status)
			}
		})
	}
}

func TestPortRunOfHostileWorkers(t *testing.T) {
	t.Parallel()
	t.Run("one that prints a gigabyte", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, "head -c 1000000000 /dev/zero; echo; echo the end\n"+thirdTurn, greetTest, "")
		if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello"), 0o644); err != nil {
			t.Fatal(err)
		}
		r, code, c := runIn(t, dir, nil, "port", "run", "greet")
		log := readIn(t, dir, ".switchback/ports/ports/greet/impl-1.log")
		if code != 0 || r.Attempts != 1 || len(log) > 2<<20 || !strings.HasSuffix(log, "the end\n") || !strings.Contains(log, "bytes are cut here") {
			t.Errorf("exit %d, a log of %d bytes\n%s", code, len(log), &c.stderr)
		}
		bounded(t, c)
	})
	t.Run("tests that print one line of 200 MB, and much that is no text", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, "true", "head -c 200000000 /dev/zero | tr '\\0' x; echo; head -c 5000000 /dev/urandom; echo; echo the end\n"+says, "")
		r, code, c := runIn(t, dir, nil, "port", "run", "greet")
		if log := readIn(t, dir, ".switchback/ports/ports/greet/test-1.log"); code != 0 || r.Attempts != 1 || len(log) > 4<<20 || !strings.HasSuffix(log, "the end\n") {
			t.Errorf("exit %d, a log of %d bytes\n%s", code, len(log), &c.stderr)
		}
		bounded(t, c)
	})
	t.Run("S2-51 one that does not hear, without any grace", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, "trap '' TERM; echo $$ > pid; while :; do sleep 1; done", greetTest, "timeout: 1s\n")
		r, code, c := runIn(t, dir, nil, "port", "run", "--grace", "0s", "greet")
		if code != 1 || r.Outcome != plan.TimedOut || lives(t, awaited(t, dir, "pid")) {
			t.Errorf("exit %d %+v\n%s", code, r, &c.stderr)
		}
	})
	t.Run("one that leaves daemons behind, which print without end", func(t *testing.T) {
		t.Parallel()
		daemon := `sh -c 'echo $$ >> pids; trap "" TERM HUP; while :; do echo still here; done' &
while [ ! -s pids ]; do sleep 0.01; done
`
		if runtime.GOOS == "linux" { // two forks, a session of its own, and no parent
			daemon = strings.Replace(daemon, "sh -c", "(setsid sh -c", 1)
			daemon = strings.Replace(daemon, "done' &", "done' & )", 1)
		}
		dir := portDir(t, daemon+thirdTurn, greetTest, "")
		r, code, c := runIn(t, dir, nil, "port", "run", "greet")
		if code != 0 || r.Attempts != 3 {
			t.Errorf("exit %d %+v\n%s", code, r, &c.stderr)
		}
		for _, pid := range strings.Fields(readIn(t, dir, "pids")) {
			if lives(t, pid) {
				t.Errorf("process %s lives", pid)
			}
		}
		bounded(t, c)
	})
	t.Run("one that removes what is recorded", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, "rm -rf .switchback", greetTest, "")
		if r, code, c := runIn(t, dir, nil, "port", "run", "greet"); code != 1 || r.Status != "" || !strings.Contains(c.stderr.String(), "the ledger has nothing of this port any more; was it removed") {
			t.Errorf("exit %d %+v\n%s", code, r, &c.stderr)
		}
	})
	t.Run("S2-31 one that removes its own folder", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, "true", `rm -rf "$PWD"; `+says, "paths: ['**']\n")
		led, out := filepath.Join(t.TempDir(), "ledger"), t.TempDir()
		if r, code, c := runIn(t, dir, nil, "port", "run", "greet", "--ledger", led, "--out", out); code != 1 || r.Status != plan.Failed || !strings.Contains(r.Reason, "the runner failed: ") {
			t.Errorf("exit %d %+v\n%s", code, r, &c.stderr)
		}
	})
	t.Run("a file system that takes no more", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, "head -c 3000000 /dev/urandom", greetTest, "max_iterations: 0\n")
		c := exec.Command("sh", "-c", `ulimit -f 16; exec "$0" port run greet`, os.Args[0]) // 8 or 16 KiB
		var stderr bytes.Buffer
		c.Dir, c.Env, c.Stderr = dir, append(os.Environ(), "SWITCHBACK_RUN_MAIN=1", "GITHUB_ACTIONS=", "GITHUB_OUTPUT="), &stderr
		_ = c.Run() // the code says it
		if c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "file too large") || strings.Contains(stderr.String(), "goroutine") {
			t.Errorf("exit %d %s", c.ProcessState.ExitCode(), &stderr)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".switchback", "ports", "ports", "greet", ".new-*")); len(left) > 0 {
			t.Errorf("it left %v", left)
		}
		if j := journal(t, dir); j.Loop == nil {
			t.Error("what was recorded before cannot be read")
		}
	})
	t.Run("S2-82 one that speaks without end, and nonsense", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, speaks, says, "max_iterations: 0\n")
		if _, err := exec.LookPath("curl"); err != nil {
			t.Fatal("curl is missing")
		}
		r, code, c := runIn(t, dir, nil, "port", "run", "greet")
		if code != 0 || r.Status != plan.Success {
			t.Errorf("exit %d %+v\n%s", code, r, &c.stderr)
		}
		answers := readIn(t, dir, "answers")
		for _, want := range []string{"progress is 1.5; it must be 0.0 to 1.0", "progress is NaN; it must be 0.0 to 1.0", `message type "gossip"; known are result, feedback, query`,
			"--payload is not JSON", "invalid character 'N'", "request body too large", "the most is 1048576", "which is the most; say less, less often"} {
			if !strings.Contains(answers, want) {
				t.Errorf("nothing answered %q:\n%s", want, answers)
			}
		}
		if n := len(journal(t, dir).Mail.Messages); n > 301 {
			t.Errorf("%d messages are recorded", n)
		}
		bounded(t, c)
	})
	t.Run("S2-51 one that forks and hangs is ended with all its children, and what it printed is kept", func(t *testing.T) {
		t.Parallel()
		fork := "echo begun\nfor i in 1 2 3 4 5 6 7 8 9 10; do sh -c 'trap \"\" TERM; echo $$ >> pids; while :; do sleep 1; done' & done\nwait\n"
		if runtime.GOOS == "linux" {
			fork = strings.Replace(fork, "sh -c", "setsid sh -c", 1)
		}
		dir := portDir(t, fork, greetTest, "timeout: 1500ms\n")
		r, code, c := runIn(t, dir, nil, "port", "run", "--grace", "100ms", "greet")
		if code != 1 || r.Outcome != plan.TimedOut || readIn(t, dir, ".switchback/ports/ports/greet/impl-1.log") != "begun\n" {
			t.Errorf("exit %d %+v\n%s", code, r, &c.stderr)
		}
		all := strings.Fields(readIn(t, dir, "pids"))
		for _, pid := range all {
			if lives(t, pid) {
				t.Errorf("process %s lives", pid)
			}
		}
		if len(all) != 10 {
			t.Errorf("%d children began", len(all))
		}
	})
}
