package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets a test start the program itself as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("SWITCHBACK_RUN_MAIN") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

// run runs a command line in this process with injected streams.
func run(t testing.TB, in string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := execute(context.Background(), args, streams{strings.NewReader(in), &out, &errs}, func(string) string { return "" })
	return result{code, out.String(), errs.String()}
}

// process runs a command line as a process of its own.
func process(t testing.TB, in string, args ...string) result {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "SWITCHBACK_RUN_MAIN=1")
	c.Stdin = strings.NewReader(in)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// file writes a file of the test and returns its path.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// recorded returns the path of a recording of the demo.
func recorded(name string) string { return filepath.Join("demo", name) }

func decode(t testing.TB, text string, to any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(to); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if dec.More() {
		t.Fatalf("more than one document:\n%s", text)
	}
}

// keys returns the keys of an object in the order they stand.
func keys(t testing.TB, text string) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		t.Fatalf("no object: %.100s", text)
	}
	var out []string
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tok.(string))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// hasKeys reports the keys of want that an object lacks.
func hasKeys(t testing.TB, what, text string, want ...string) {
	t.Helper()
	got := keys(t, text)
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || g == w
		}
		if !found {
			t.Errorf("%s lacks %q; it has %v", what, w, got)
		}
	}
}

// The exit codes of the program as a process: 0 done, 1 a finding or work
// that could not be done, 2 wrong usage, 3 input that is not readable.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	green, red := recorded("3-pass.txt"), recorded("2-wrong-result.txt")
	plain := file(t, "plain.txt", "nothing of a test here\n")
	for _, c := range []struct {
		args string
		code int
		err  string // on the standard error, "" for silence there
		out  bool   // something is on the standard output
	}{
		{"", 0, "", true},
		{"--help", 0, "", true},
		{"--version", 0, "", true},
		{"frobnicate", 2, `unknown command "frobnicate"`, false},
		{"--frobnicate", 2, "unknown flag: --frobnicate", false},
		{"parse " + green, 0, "", true},
		{"parse " + red, 0, "", true},
		{"parse", 2, "name at least one file", false},
		{"parse nope.xml", 2, "nope.xml", false},
		{"parse demo", 2, "is a directory", false},
		{"parse --format cobol " + green, 2, `--format is "cobol"`, false},
		{"parse -o yaml " + green, 2, `-o is "yaml"`, false},
		{"parse --nope " + green, 2, "unknown flag: --nope; see switchback parse --help", false},
		{"parse " + plain, 3, "plain.txt", false},
		{"parse " + green + " " + plain, 3, "plain.txt", false},
		{"diagnose " + red, 0, "", true},
		{"diagnose", 2, "name at least one file", false},
		{"diagnose nope.log", 2, "nope.log", false},
		{"diagnose -o xml " + red, 2, `-o is "xml"`, false},
		{"diagnose --format cobol " + red, 2, `--format is "cobol"; known are auto, `, false},
		{"diagnose --config nope.yml " + red, 1, "nope.yml", false},
		{"route --run 1 " + red, 2, "--case is missing", false},
		{"route --case a/b#1 " + red, 2, "--run is missing", false},
		{"route --case a/b#1 --run 1", 2, "name the run's reports or logs, or give its --conclusion", false},
		{"route --case a/b#1 --run 1 --attempt 0 " + red, 2, "attempts count from 1", false},
		{"route --case a/b#1 --run 1 --attempt x " + red, 2, `--attempt is "x"; it must be a whole number`, false},
		{"route --case a/b#1 --run 1 --conclusion good " + red, 2, `--conclusion is "good"; known are success, failure`, false},
		{"route --case a/b#1 --run 1 -o xml " + red, 2, `-o is "xml"`, false},
		{"show --ledger nope.jsonl", 1, "nope.jsonl", false},
		{"case resume", 2, "--case is missing", false},
		{"case", 2, "name one of accept, retry, reset, phase, rerun, quarantine, skip, pause, resume, wont-fix, wrong, handoff", false},
		{"case dance --case a/b#1", 2, `unknown action "dance"`, false},
		{"case extend --case a/b#1 --attempts 0", 2, "--attempts is 0; it must be 1 to 10", false},
		{"case resume --case a/b#1 --ledger nope.jsonl", 1, "nope.jsonl", false},
		{"config", 2, "name check or schema", false},
		{"config check nope.yml", 1, "nope.yml", false},
		{"config schema", 0, "", true},
		{"config schema x", 2, "unknown command", false},
		{"matrix testdata/plan", 0, "", true},
		{"matrix testdata/plan x", 2, "accepts at most 1 arg", false},
		{"matrix nope", 1, "nope: there is no such folder or file", false},
		{"matrix testdata/broken", 1, "testdata/broken/a.md:3: ", false},
		{"matrix testdata/plan --state nope.json", 1, "nope.json", false},
		{"ports", 2, "name run, show, lint, workflow or simulate", false},
		{"ports lint testdata/plan", 0, "", true},
		{"ports dance", 2, "unknown command", false},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			r := process(t, "", strings.Fields(c.args)...)
			if r.code != c.code {
				t.Errorf("exit %d, want %d; %s", r.code, c.code, r.err)
			}
			if !strings.Contains(r.err, c.err) || (c.err == "") != (r.err == "") {
				t.Errorf("standard error %q, want %q in it", r.err, c.err)
			}
			if (r.out != "") != c.out {
				t.Errorf("standard output %.200q", r.out)
			}
			if inside := run(t, "", strings.Fields(c.args)...); inside.code != r.code {
				t.Errorf("execute returned %d, the process %d", inside.code, r.code)
			}
		})
	}
}
