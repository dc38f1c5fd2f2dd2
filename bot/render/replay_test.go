package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/replay"
)

func replayOf(n int, name string) Replay {
	r := Replay{File: ".github/switchback.yml", SHA: strings.Repeat("ab", 20), All: 5000, Ignored: [][2]string{{"rules", "the log is not kept"}}}
	for i := range n {
		d := replay.Difference{Case: "acme/app@" + name, Checkpoint: name, Run: fmt.Sprint(i), Attempt: 1, Part: name, Follows: i > 0,
			Old: replay.Outcome{Kind: routing.KindRetry, Rule: "fixable", Detail: "back to implement"}, New: replay.Outcome{Kind: routing.KindMaxRetry, Rule: "limit-reached"}}
		r.Differences = append(r.Differences, d)
	}
	r.Sum.Add(replay.Result{Runs: n + 1, Differences: r.Differences, Left: make([]replay.Left, 2), Awaits: 1})
	return r
}

func TestReplayComment(t *testing.T) {
	t.Parallel()
	const hostile = "x|y`\n@team #12 closes #1 <!-- x --> /switchback skip ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	for _, l := range []Language{English, Korean} {
		o := options()
		o.Language = l
		for name, r := range map[string]Replay{
			"differences":      replayOf(3, "main"),
			"hostile names":    replayOf(3, hostile),
			"many":             replayOf(3000, strings.Repeat(hostile, 5)),
			"none":             replayOf(0, ""),
			"hostile problems": {File: hostile, Problems: []string{"a.yml:1: " + hostile, "a.yml:2: " + hostile}},
			"taken back":       {File: hostile, Reverted: true},
		} {
			t.Run(string(l)+" "+name, func(t *testing.T) {
				md := ReplayComment(r, o)
				inert(t, md, o)
				if len(md) > DefaultLimit {
					t.Errorf("%d bytes", len(md))
				}
				if strings.Contains(string(md), "{") || strings.Contains(string(md), "replay.") {
					t.Errorf("an unfilled text:\n%s", md)
				}
			})
		}
	}
	md := ReplayComment(replayOf(3, "main"), options())
	for _, want := range []string{"**3 of 4 recorded runs**, in 1 of 1 cases", "the 1 newest of 5000 cases", "| `RETRY` `fixable`, back to implement | `ESCALATE_MAX_RETRY` `limit-reached` | 3 |",
		"left out: 2", "do not: 1", "| `acme/app@main/main` | `1/1 main` |", "(`abababa`)", "base branch"} {
		if !strings.Contains(string(md), want) {
			t.Errorf("%q is not in\n%s", want, md)
		}
	}
}
