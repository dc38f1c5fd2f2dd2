package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	led := told(t)
	same := file(t, "same.yml", "max_iterations: 3\n")
	less := file(t, "less.yml", "max_iterations: 2\nrules:\n  - {name: x, pattern: y, class: ENV_ISSUE}\n")
	t.Run("the configuration that was in force differs nowhere", func(t *testing.T) {
		r := run(t, "", "replay", "--config", same, "--ledger", led, "--exit-code")
		if r.code != 0 || !strings.HasPrefix(r.out, "0 of 8 recorded runs, in 0 of 3 cases") {
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
		}
	})
	t.Run("what differs is told run by run and in sum, twice the same", func(t *testing.T) {
		const want = "acme/shop#9/unit  run 1007/1, commit 7c1b2c3\n" +
			"    RETRY (fixable), back to implement → ESCALATE_MAX_RETRY (limit-reached)\n" +
			"acme/shop#9/unit  run 1008/1, commit 8d1b2c3 (follows)\n" +
			"    ESCALATE_MAX_RETRY (limit-reached) → NONE (held-by-escalation)\n\n" +
			"2 of 8 recorded runs, in 1 of 3 cases, would have been routed differently\n" +
			"     1  ESCALATE_MAX_RETRY (limit-reached) → NONE (held-by-escalation)\n" +
			"     1  RETRY (fixable), back to implement → ESCALATE_MAX_RETRY (limit-reached)\n" +
			"recorded runs do not show:\n" +
			"  rules: how a failure is classified is recorded with the run; the log that the rules would read is not kept\n"
		for _, code := range []string{"--exit-code=false", "--exit-code"} {
			r := run(t, "", "replay", "--config", less, "--ledger", led, code)
			if wantCode := map[string]int{"--exit-code": differs}[code]; r.out != want || r.code != wantCode || r.err != "" {
				t.Errorf("exit %d %s\n%s", r.code, r.err, r.out)
			}
		}
	})
	t.Run("against another configuration", func(t *testing.T) {
		r := run(t, "", "replay", "--config", less, "--against", less, "--ledger", led, "--exit-code")
		if r.code != 0 || !strings.HasPrefix(r.out, "0 of 8") {
			t.Errorf("exit %d\n%s", r.code, r.out)
		}
	})
	t.Run("as JSON and as Markdown", func(t *testing.T) {
		out := run(t, "", "replay", "--config", less, "--ledger", led, "-o", "json").out
		hasKeys(t, "the answer", out, "config", "against", "sum", "recorded_cases", "not_replayed", "differences", "left_out")
		var got replayed
		decode(t, out, &got)
		if len(got.Differences) != 2 || got.Sum.Matrix["RETRY"]["ESCALATE_MAX_RETRY"] != 1 || got.Recorded != 3 || got.Differences[0].NewReason == "" {
			t.Errorf("%+v", got)
		}
		md := run(t, "", "replay", "--config", less, "--ledger", led, "-o", "markdown").out
		if !strings.Contains(md, "**2 of 8 recorded runs**") || !strings.Contains(md, "| `acme/shop#9/unit` | `1008/1` |") {
			t.Errorf("%s", md)
		}
	})
	bad := file(t, "bad.yml", "max_iterations: 3\nmax_iteration: 4\n")
	for args, want := range map[string]string{
		"--ledger " + led:                                    "--config is missing",
		"--config " + same + " -o csv":                       "it must be text, json or markdown",
		"--config " + bad + " --ledger " + led:               "bad.yml:2:",
		"--config " + same + " --ledger nowhere":             "name it with --ledger",
		"--config " + same + " --against nowhere --ledger x": "nowhere",
	} {
		if r := run(t, "", append([]string{"replay"}, strings.Fields(args)...)...); r.code == 0 || r.code == differs || !strings.Contains(r.err, want) {
			t.Errorf("replay %s: exit %d, %q, want %q", args, r.code, r.err, want)
		}
	}
}

// The page's workflow uses what the Action has.
func TestReplayPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "replay.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	var w struct {
		Jobs map[string]struct {
			Steps []struct{ With map[string]string }
		}
	}
	if err := yaml.Unmarshal(m[1], &w); err != nil || w.Jobs["replay"].Steps[0].With["command"] != "replay" {
		t.Errorf("%+v %v", w, err)
	}
	if !strings.Contains(string(page), "exit with 4 ") || differs != 4 {
		t.Error("another exit code than the page says")
	}
}
