package quarantineview

import (
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/quarantine"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

func entry(standing quarantine.Standing) quarantine.Entry {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	t := routing.TestRef{Checkpoint: "ci | x", Suite: "calc", Name: "Test`Add` | @octo [x] <!-- sb:submit -->", File: "calc/@team/add_test.go"}
	return quarantine.Entry{
		Issue:   trackingissue.Issue{ID: quarantine.IDOf(t), Gen: 3},
		TestRef: t, Standing: standing, Asked: at, Since: at, Until: at.Add(72 * time.Hour), By: "@mona",
		Owners:   []string{"@acme/testers", "@mona", "nobody@example.com"},
		Evidence: []quarantine.Evidence{{Case: "acme/app#7", Failed: routing.Run{ID: "1", SHA: "abcdef123", URL: "https://evil.example.com/"}, Passed: routing.Run{ID: "1", Attempt: 2}, At: at}},
	}
}

// What comes from a run neither mentions anybody nor adds a box; the owners alone are mentioned.
func TestBodyIsSafeS5_55(t *testing.T) {
	t.Parallel()
	for _, l := range []render.Language{render.English, render.Korean} {
		for _, standing := range []quarantine.Standing{quarantine.ProposedTest, quarantine.Quarantined, quarantine.Ended, quarantine.Settled} {
			body := string(Body(entry(standing), 14, render.Options{Language: l}))
			p, ok := answers.Parse(body)
			if open := standing != quarantine.Settled; ok != open || open && (strings.Join(p.Boxes, " ") != "quarantine fix release submit" || len(p.Ticked) != 0 || p.Gen != 3) {
				t.Errorf("S5-55: %s: %+v\n%s", standing, p, body)
			}
			if strings.Contains(body, "evil.example.com") || strings.Contains(body, "nobody@example.com") || !strings.Contains(body, "| @acme/testers @mona |") {
				t.Errorf("S5-50: %s:\n%s", standing, body)
			}
		}
	}
}

func TestTicksAreKeptS5_55(t *testing.T) {
	t.Parallel()
	e := entry(quarantine.ProposedTest)
	body := Body(e, 14, render.Options{})
	live := answers.Keep(string(body), []string{BoxFix})
	if got := Kept(body, live); string(got) != live {
		t.Errorf("S5-55: a tick is lost:\n%s", got)
	}
	if got := Kept(body, answers.Keep(live, []string{answers.Submit})); got != body {
		t.Errorf("S5-55: a tick stays that was submitted:\n%s", got)
	}
	if got := Unsubmitted(answers.Keep(live, []string{answers.Submit})); got != markdown.Text(live) {
		t.Errorf("S5-55: Submit stays ticked:\n%s", got)
	}
}
