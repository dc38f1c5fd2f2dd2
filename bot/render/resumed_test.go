package render

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

func TestResumedS5_97(t *testing.T) {
	t.Parallel()
	c := stories(t)["max_retry"]
	if text := string(Comment(c, "unit", options())); !strings.Contains(text, "Nothing is retried") {
		t.Fatalf("before it is resumed:\n%.900s", text)
	}
	c, err := c.Apply(routing.HumanEvent(c.Key, routing.HumanActed{Action: routing.HumanResume, By: "mona", Checkpoint: "unit"}, t0))
	if err != nil {
		t.Fatal(err)
	}
	attempts := c.Checkpoints["unit"].Attempts
	last := attempts[len(attempts)-1]
	again := c.Checkpoints["unit"].Runs[last.Verdict.Run.Key()].Decision // a step that is run again shows it
	again.Repeated, again.Verdict = true, last.Verdict
	for _, lang := range []Language{English, Korean} {
		o := options()
		o.Language = lang
		check := Check(c, "unit", "", o)
		for name, text := range map[string]string{
			"comment": string(Comment(c, "unit", o)), "check": check.Title + string(check.Summary), "summary": string(Summary(c, "unit", again, o)),
		} {
			for _, not := range []string{lang.Plain("next.ESCALATE"), "retried until", "Who must act", "재시도하지"} {
				if strings.Contains(text, not) {
					t.Errorf("S5-97: the %s says %q", name, not)
				}
			}
		}
	}
}
