package handler

import (
	"fmt"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// A test that was ticked is quarantined also if more have failed since, so that
// it is not among those that get a box any more.
func TestTickedTestIsKept(t *testing.T) {
	t.Parallel()
	var fs []routing.Failure
	for n := range 8 {
		fs = append(fs, routing.Failure{Name: fmt.Sprint("Test", n)})
	}
	host := routing.Case{Key: "acme/app#1", Checkpoints: map[string]routing.Checkpoint{"ci": {Name: "ci", Attempts: []routing.Attempt{{Verdict: routing.Verdict{Failures: fs}}}}}}
	rec := escalation.Record{Members: []escalation.Member{{Case: host.Key, Checkpoint: "ci"}}, Kind: routing.KindMaxRetry}
	ticked := []string{answers.TestID("Test7"), answers.TestID("Foreign"), "reset", answers.Submit}
	boxes, err := answers.Choose(offered(rec, host, ticked), ticked)
	if err != nil || len(boxes) != 2 || boxes[0].Test != "Test7" || boxes[1].Action != routing.HumanReset {
		t.Errorf("%+v %v", boxes, err)
	}
	host.Quarantine = []routing.Quarantined{{Test: "Test7"}}
	if boxes, err := answers.Choose(offered(rec, host, ticked), ticked); err != nil || len(boxes) != 1 {
		t.Errorf("%+v %v", boxes, err)
	}
}
