package replays

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/replay"
	"github.com/switchback-ci/switchback/routing/routingtest"
)

func parse(t *testing.T, text string) config.File {
	t.Helper()
	f, err := config.Parse("switchback.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// recorded is a ledger of random cases under a configuration.
func recorded(t *testing.T, f config.File, cases int) ledger.Ledger {
	t.Helper()
	led := new(ledger.Memory)
	for i := range cases {
		ref := fmt.Sprintf("#%d", i+1)
		c, events := routingtest.Stream(rand.New(rand.NewPCG(uint64(i), 3)), "acme/app"+ref, 40, f.Policy("unit", ref, nil))
		if _, err := led.Append(context.Background(), c.Key, "", events); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := led.Append(context.Background(), routing.StreamKey("acme/app", "escalations"), "", []routing.Event{{Type: "escalation.opened"}}); err != nil {
		t.Fatal(err)
	}
	return led
}

func ask(t *testing.T, led ledger.Ledger, q Question) (Report, []replay.Difference) {
	t.Helper()
	var all []replay.Difference
	rep, err := Ask(context.Background(), led, q, func(_ string, r replay.Result) error {
		all = append(all, r.Differences...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rep, all
}

const base = "max_iterations: 2\ncheckpoints:\n  unit:\n  lint: {needs: [unit]}\ncases:\n  \"#3\": {max_iterations: 5}\nquarantine: [{test: T1, until: 2100-01-01}]\n"

func TestAsk(t *testing.T) {
	t.Parallel()
	old := parse(t, base)
	led := recorded(t, old, 12)
	t.Run("the configuration that was in force differs nowhere", func(t *testing.T) {
		for name, o := range map[string]*config.File{"recorded": nil, "itself": &old} {
			rep, all := ask(t, led, Question{Old: o, New: old})
			if len(all) != 0 || rep.Sum.Cases != 12 || rep.Recorded != 12 || rep.Sum.Runs < 100 || rep.Sum.Differing != 0 {
				t.Errorf("against %s: %+v, %v", name, rep, all[:min(2, len(all))])
			}
		}
	})
	for key, text := range map[string]string{
		"max_iterations":     strings.Replace(base, "max_iterations: 2\n", "max_iterations: 0\n", 1),
		"cases":              strings.Replace(base, "{max_iterations: 5}", "{max_iterations: 5}\n  \"#1\": {max_iterations: 0}\n  \"#2\": {max_iterations: 0}\n  \"#7\": {max_iterations: 0}", 1),
		"quarantine":         strings.Replace(base, "test: T1", "test: T0", 1),
		"checkpoints":        strings.Replace(base, "lint: {needs: [unit]}", "lint:", 1),
		"mode":               base + "mode: manual\n",
		"on_max":             base + "on_max: skip\n",
		"notify":             base + "notify_on_escalation: false\n",
		"circuit_breaker":    base + "circuit_breaker: false\n",
		"design":             base + "escalate_on_design_mismatch: false\n",
		"pause_scope":        base + "pause_scope: case\n",
		"reviewer":           base + "reviewer: {mention: \"@claude\"}\n",
		"criteria.min_tests": base + "criteria: {min_tests: 100}\n",
		"criteria.max_flaky": base + "criteria: {max_flaky: 0}\n",
		"review.fail_on":     base + "review: {fail_on: {minor: 1, major: 1}}\n",
	} {
		t.Run("another "+key+" shows", func(t *testing.T) {
			rep, all := ask(t, led, Question{New: parse(t, text)})
			if len(all) == 0 || rep.Sum.Differing != len(all) || len(rep.Ignored) != 0 {
				t.Errorf("%+v", rep)
			}
			if !slices.IsSortedFunc(all, func(a, b replay.Difference) int { return strings.Compare(a.Case, b.Case) }) {
				t.Error("not in order of cases")
			}
			if key != "mode" {
				return
			}
			again, second := ask(t, led, Question{New: parse(t, text)})
			if !reflect.DeepEqual(rep, again) || !reflect.DeepEqual(all, second) {
				t.Error("asked again, the answer is another")
			}
		})
	}
	t.Run("of many cases the newest", func(t *testing.T) {
		rep, all := ask(t, led, Question{New: parse(t, "max_iterations: 0\n"), Most: 3})
		if rep.Sum.Cases != 3 || rep.Recorded != 12 {
			t.Errorf("%+v", rep)
		}
		for _, d := range all {
			if !slices.Contains([]string{"acme/app#10", "acme/app#11", "acme/app#12"}, d.Case) {
				t.Errorf("%s", d.Case)
			}
		}
	})
	t.Run("a stream that does not follow is an error that names it", func(t *testing.T) {
		bad := new(ledger.Memory)
		if _, err := bad.Append(context.Background(), "acme/app#1", "", []routing.Event{{Type: "odd"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := Ask(context.Background(), bad, Question{}, nil); err == nil || !strings.Contains(err.Error(), "event 1 of case acme/app#1") {
			t.Error(err)
		}
	})
}

// TestS6_8_ReplayIsBounded is S6-8: a replay for a pull request ends with the case that exceeds its
// events, and says how many cases it looked at.
func TestS6_8_ReplayIsBounded(t *testing.T) {
	t.Parallel()
	f := parse(t, base)
	led := recorded(t, f, 6)
	for events, want := range map[int]int{0: 6, 1: 1, 1 << 20: 6} {
		rep, _ := ask(t, led, Question{New: f, Most: 100, Events: events})
		if rep.Recorded != 6 || rep.Sum.Cases != want {
			t.Errorf("%d events: %d of %d cases", events, rep.Sum.Cases, rep.Recorded)
		}
	}
}

// Each key is replayed or said not to be: a new one has to be thought about.
func TestNotReplayed(t *testing.T) {
	t.Parallel()
	replayed := []string{"max_iterations", "on_max", "circuit_breaker", "escalate_on_design_mismatch", "run_reviewer_on_pass", "notify_on_escalation",
		"pause_scope", "mode", "checkpoints", "cases", "reviewer", "review", "criteria", "quarantine", "no_progress", "base", "green", "rerun", "budgets"}
	f := reflect.TypeFor[config.File]()
	for i := range f.NumField() {
		name, _, _ := strings.Cut(f.Field(i).Tag.Get("yaml"), ",")
		if _, known := unseen[name]; known == slices.Contains(replayed, name) {
			t.Errorf("is the key %s of the configuration replayed or not?", name)
		}
	}
	now := parse(t, "language: ko\nrules:\n  - {name: x, pattern: y, class: ENV_ISSUE}\nreports: [\"*.xml\"]\ncriteria: {require_report: false}\nreview: {reviewers: [a]}\nmax_iterations: 1\n")
	keys := func(all []Ignored) string {
		var out []string
		for _, i := range all {
			out = append(out, i.Key)
		}
		return strings.Join(out, " ")
	}
	if got := keys(NotReplayed(&config.File{}, now)); got != "language rules reports criteria.require_report review.checkpoint, review.reviewers" {
		t.Error(got)
	}
	if got := keys(NotReplayed(nil, now)); got != "rules reports criteria.require_report review.checkpoint, review.reviewers" {
		t.Error(got)
	}
	if got := keys(NotReplayed(&now, now)); got != "" {
		t.Error(got)
	}
}
