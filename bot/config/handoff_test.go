package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

const inTurn = `handoff:
  - {mention: "@claude", login: claude, ack_within: 15m, deliver_within: 2h}
  - {workflow: fix.yml, ack_within: 5m}
  - mention: author
`

func TestWorkersInTurn(t *testing.T) {
	t.Parallel()
	parse := func(text string) File {
		f, err := Parse("sb.yml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := parse(inTurn)
	want := []routing.Worker{{Name: "claude", Ack: 15 * time.Minute, Deliver: 2 * time.Hour}, {Name: "fix.yml", Ack: 5 * time.Minute}, {Name: Author}}
	t.Run("S5-80 workers with limits are told in turn, in their order", func(t *testing.T) {
		if got := f.Policy("unit", "#1", nil).Workers; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v", got)
		}
		if h, ok := f.Handoff.ByName("fix.yml", 2); !ok || h.Workflow != "fix.yml" {
			t.Errorf("%+v", h)
		}
		if _, ok := f.Handoff.ByName("gone.yml", 2); ok {
			t.Error("a worker is found that the configuration has no more")
		}
	})
	t.Run("S5-80 a branch has nobody to mention", func(t *testing.T) {
		if got := f.Policy("unit", "@main", nil).Workers; !reflect.DeepEqual(got, want[1:2]) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S5-80 without limits all are told at once", func(t *testing.T) {
		if got := parse("handoff: [{mention: \"@a\"}, {workflow: fix.yml}]\n").Policy("unit", "#1", nil).Workers; got != nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S5-85 a mention that GITHUB_TOKEN cannot make start anything is warned of", func(t *testing.T) {
		got := Unstarted(parse(inTurn + "reviewer: {mention: \"@critic\"}\ncheckpoints: {e2e: {start: {mention: runner}}}\n"))
		if len(got) != 3 || !strings.HasPrefix(got[0], "handoff[0]: ") || !strings.Contains(got[0], "claude") || !strings.HasPrefix(got[1], "reviewer: ") || !strings.HasPrefix(got[2], "checkpoints.e2e.start: ") {
			t.Errorf("%q", got)
		}
		for _, quiet := range []string{"acts: app\n" + inTurn, "handoff: [{mention: author}, {workflow: fix.yml}, {mention: \"@acme/fixers\"}]\n", ""} {
			if got := Unstarted(parse(quiet)); len(got) != 0 {
				t.Errorf("%q of %s", got, quiet)
			}
		}
	})
}
