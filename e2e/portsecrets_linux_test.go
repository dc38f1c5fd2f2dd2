package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// A hostile worker is this test program again: it looks for secrets wherever a process can, and
// writes down where it found which.
func init() {
	if path := os.Getenv("HOSTILE_REPORT"); path != "" {
		h := hostileWorker{}
		for _, line := range strings.Fields(readAll(os.Getenv("HOSTILE_SECRETS"))) {
			secret, err := base64.StdEncoding.DecodeString(line)
			if err != nil {
				panic(err)
			}
			h.secrets = append(h.secrets, secret)
		}
		h.look()
		if err := os.WriteFile(path, marshal(h.found), 0o600); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
}

type hostileWorker struct {
	secrets [][]byte
	found   []string
}

func (h *hostileWorker) search(where string, data []byte) {
	for i, s := range h.secrets {
		if bytes.Contains(data, s) && !slices.Contains(h.found, fmt.Sprintf("secret %d in %s", i, where)) {
			h.found = append(h.found, fmt.Sprintf("secret %d in %s", i, where))
		}
	}
}

func (h *hostileWorker) look() {
	for _, kv := range os.Environ() {
		h.search("the environment", []byte(kv))
		for _, prefix := range []string{"GITHUB_ENV=", "GITHUB_PATH=", "GITHUB_OUTPUT=", "GITHUB_STATE=", "GITHUB_STEP_SUMMARY=", "GITHUB_TOKEN=", "GH_TOKEN=", "ACTIONS_", "INPUT_", "SWITCHBACK_GITHUB", "SWITCHBACK_TOKEN_FD"} {
			if strings.HasPrefix(kv, prefix) {
				h.found = append(h.found, "variable "+kv)
			}
		}
	}
	for _, pid := range h.processes() {
		h.process(pid)
	}
	config, _ := exec.Command("git", "config", "--list", "--show-origin").CombinedOutput() // also outside a repository
	h.search("git config", config)
	for _, name := range []string{".git/config", "../.git/config", os.Getenv("HOME") + "/.gitconfig", os.Getenv("HOME") + "/.netrc"} {
		h.search(name, []byte(readAll(name)))
	}
	h.runnerFiles()
	h.otherPort()
}

// processes returns all processes but this one and the runner with its ancestors.
func (h *hostileWorker) processes() []int {
	above := map[int]bool{os.Getpid(): true}
	runner, _ := strconv.Atoi(os.Getenv("HOSTILE_RUNNER"))
	for pid := runner; pid > 0; {
		above[pid] = true
		stat := readAll(fmt.Sprintf("/proc/%d/stat", pid))
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 {
			break
		}
		pid, _ = strconv.Atoi(fields[1])
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var out []int
	for _, d := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(d)); err == nil && !above[pid] {
			out = append(out, pid)
		}
	}
	return out
}

func (h *hostileWorker) process(pid int) {
	dir := fmt.Sprintf("/proc/%d", pid)
	comm := strings.TrimSpace(readAll(dir + "/comm"))
	for _, name := range []string{"environ", "cmdline"} {
		h.search(fmt.Sprintf("%s of %s", name, comm), []byte(readAll(filepath.Join(dir, name))))
	}
	fds, _ := filepath.Glob(dir + "/fd/*")
	for _, fd := range fds {
		if f, err := os.OpenFile(fd, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			data := make([]byte, 64<<10)
			_ = f.SetReadDeadline(time.Now().Add(10 * time.Millisecond)) // of a pipe
			n, _ := f.Read(data)
			h.search(fmt.Sprintf("fd %s of %s", filepath.Base(fd), comm), data[:n])
			f.Close()
		}
	}
	mem, err := os.Open(dir + "/mem")
	if err != nil {
		return
	}
	defer mem.Close()
	for _, m := range regexp.MustCompile(`(?m)^([0-9a-f]+)-([0-9a-f]+) rw`).FindAllStringSubmatch(readAll(dir+"/maps"), -1) {
		from, _ := strconv.ParseInt(m[1], 16, 64)
		to, _ := strconv.ParseInt(m[2], 16, 64)
		data := make([]byte, min(to-from, 64<<20))
		n, _ := mem.ReadAt(data, from)
		h.search("mem of "+comm, data[:n])
	}
}

// runnerFiles writes to the files of the runner wherever they may be.
func (h *hostileWorker) runnerFiles() {
	dir := filepath.Dir(os.Getenv("RUNNER_TEMP"))
	for _, name := range []string{"env", "path", "output", "state", "summary"} {
		path := filepath.Join(dir, name)
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			fmt.Fprintf(f, "EVIL=%s\n", name)
			f.Close()
			h.found = append(h.found, "wrote "+name)
		}
	}
	_ = os.Rename(filepath.Join(dir, "path"), filepath.Join(dir, "evil-path"))
	_ = os.Symlink("evil-path", filepath.Join(dir, "path"))
}

// otherPort uses its own token at the server of another port.
func (h *hostileWorker) otherPort() {
	for _, url := range []string{strings.TrimSpace(readAll(os.Getenv("HOSTILE_OTHER"))), os.Getenv("SWITCHBACK_CHANNEL_URL")} {
		for _, path := range []string{"/receive", "/progress", "/requests/receive"} {
			req, err := http.NewRequest(http.MethodPost, url+path, strings.NewReader(`{"progress":0.5}`))
			if err != nil {
				continue
			}
			req.Header.Set("Authorization", "Bearer "+os.Getenv("SWITCHBACK_CHANNEL_TOKEN"))
			if res, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				own := map[bool]string{true: "own", false: "other"}[url == os.Getenv("SWITCHBACK_CHANNEL_URL")]
				h.found = append(h.found, fmt.Sprintf("%d from the %s server", res.StatusCode, own))
			}
		}
	}
}

// stepOfAction returns the command with which the action of ports runs the binary.
func stepOfAction(t *testing.T, b *Bench) string {
	t.Helper()
	var file struct {
		Runs struct {
			Steps []struct{ ID, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(readAll(filepath.Join(b.Root, "ports", "action.yml"))), &file); err != nil {
		t.Fatal(err)
	}
	for _, s := range file.Runs.Steps {
		if s.ID == "route" {
			return s.Run
		}
	}
	t.Fatal("ports/action.yml has no step route")
	return ""
}

// copyOf copies a program to where every user may run it.
func copyOf(t *testing.T, from, dir, name string) string {
	t.Helper()
	to := write(t, dir, name, readAll(from))
	if err := os.Chmod(to, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestHostileWorker(t *testing.T) {
	t.Parallel()
	b := Start(t)
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	for _, dir := range []string{programs, filepath.Dir(programs)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin = copyOf(t, bin, programs, "switchback")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self = copyOf(t, self, programs, "hostile")
	r := b.NewRepo(t, map[string]string{"README.md": "x\n"})
	token := b.AppToken(t, ActionsAppID, r, map[string]string{"contents": "write"})
	secrets := []string{token, "id-token-f4b7a1c09e", "runtime-token-77d1e0ab52", "decoy-5ab0c1f2d3"}
	var lines strings.Builder
	for _, s := range secrets {
		lines.WriteString(base64.StdEncoding.EncodeToString([]byte(s)) + "\n")
	}
	work, shared := t.TempDir(), t.TempDir()
	drop := "exec " // the rights of root, from which nothing is hidden
	if os.Getuid() == 0 {
		drop = `chown -R 65534:65534 "$GITHUB_WORKSPACE" "$SHARED" "$(dirname "$GITHUB_OUTPUT")"; exec setpriv --reuid=65534 --regid=65534 --clear-groups -- `
	}
	// The step as the runner starts it: GitHub's shell with the token in its environment.
	runner := write(t, programs, "runner.sh", "set -e\n"+drop+`"$0" --noprofile --norc -e -o pipefail "$STEP"`+"\n")
	step := write(t, programs, "step.sh", stepOfAction(t, b)+"\n")
	list := write(t, programs, "secrets", lines.String())
	for _, f := range []string{runner, step, list} {
		if err := os.Chmod(f, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report, url, done := filepath.Join(shared, "report"), filepath.Join(shared, "url"), filepath.Join(shared, "done")
	pass := `echo "<testsuite name='x'><testcase classname='a' name='works'/></testsuite>" > "$SWITCHBACK_REPORTS/junit.xml"`
	write(t, work, "ports.yml", fmt.Sprintf("- {id: other, impl: 'echo \"$SWITCHBACK_CHANNEL_URL\" > %s; until [ -f %s ]; do sleep 0.1; done', test: sh pass.sh}\n"+
		"- {id: hostile, impl: ['until [ -s %s ]; do sleep 0.1; done', 'HOSTILE_REPORT=%s HOSTILE_SECRETS=%s HOSTILE_OTHER=%s HOSTILE_RUNNER=%d %s', 'touch %s'], test: sh pass.sh}\n",
		url, done, url, report, list, url, os.Getpid(), self, done))
	write(t, work, "pass.sh", pass+"\n")
	git := exec.Command("git", "init", "-q", ".")
	git.Dir = work
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// What a worker can find: a process of the same user with a secret in its environment.
	decoy := exec.Command("sh", "-c", strings.Replace(drop, `chown -R 65534:65534 "$GITHUB_WORKSPACE" "$SHARED" "$(dirname "$GITHUB_OUTPUT")"; `, "", 1)+"sleep 600")
	decoy.Env = []string{"PATH=" + os.Getenv("PATH"), "DECOY=" + secrets[3]}
	if err := startCmd(decoy); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { killGroup(decoy); _ = decoy.Wait() })
	run := func(port string, id int64) Result {
		return b.RunAction(t, Action{Binary: "bash", Args: []string{"-c", ". " + runner, "bash"}, Repo: r, Workspace: work, Event: "workflow_dispatch", RunID: id, Token: token,
			Timeout: 3 * time.Minute, Inputs: map[string]string{"command": "port", "port": port, "ports": "ports.yml", "token": token},
			Env: map[string]string{"SWITCHBACK": bin, "STEP": step, "SHARED": shared, "SWITCHBACK_CONTENT_INTERVAL": "1ms", "GH_TOKEN": token,
				"ACTIONS_ID_TOKEN_REQUEST_TOKEN": secrets[1], "ACTIONS_ID_TOKEN_REQUEST_URL": "https://example.com", "ACTIONS_RUNTIME_TOKEN": secrets[2]}})
	}
	other := make(chan Result)
	go func() { other <- run("other", 801) }()
	res := run("hostile", 802)
	if res.ExitCode != 0 || res.Outputs["status"] != "success" {
		write(t, shared, "done", "")
		t.Errorf("exit %d %v\n%s\n%s", res.ExitCode, res.Outputs, res.Stdout, res.Stderr)
	}
	if o := <-other; o.ExitCode != 0 {
		t.Errorf("exit %d\n%s", o.ExitCode, o.Stderr)
	}
	var found []string
	if err := json.Unmarshal([]byte(readAll(report)), &found); err != nil {
		t.Fatal(err)
	}
	t.Logf("found: %q", found)
	t.Run("S6-2 a hostile worker finds no secret of Switchback or of the job, although it finds what it can read", func(t *testing.T) {
		for _, f := range found {
			if strings.HasPrefix(f, "variable ") || strings.HasPrefix(f, "secret ") && !strings.HasPrefix(f, "secret 3 ") {
				t.Error(f)
			}
		}
		for _, want := range []string{"secret 3 in environ of sleep", "secret 3 in mem of sleep", "200 from the own server"} {
			if !slices.Contains(found, want) {
				t.Errorf("the worker did not find %q: it cannot find anything", want)
			}
		}
	})
	t.Run("S6-2 what a worker writes to the files of the runner does not reach later steps", func(t *testing.T) {
		if !slices.Contains(found, "wrote env") || !strings.Contains(res.Stderr, "a worker wrote to the runner's file env") {
			t.Errorf("%q\n%s", found, res.Stderr)
		}
		dir := res.Dir
		for _, name := range []string{"env", "path", "output", "state", "summary"} {
			info, err := os.Lstat(filepath.Join(dir, name))
			if err != nil || !info.Mode().IsRegular() || strings.Contains(readAll(filepath.Join(dir, name)), "EVIL") {
				t.Errorf("%s: %v %v %q", name, info, err, readAll(filepath.Join(dir, name)))
			}
		}
	})
	t.Run("S6-2 the token of a worker's session is refused by the server of another port", func(t *testing.T) {
		n := 0
		for _, f := range found {
			if strings.HasSuffix(f, "from the other server") {
				n++
				if f != "401 from the other server" && f != "403 from the other server" {
					t.Error(f)
				}
			}
		}
		if n == 0 {
			t.Errorf("the worker did not reach the other server: %q", found)
		}
	})
}
