package handler

import (
	"errors"
	"testing"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
)

func TestDeliverIncomplete(t *testing.T) {
	t.Parallel()
	d := Deps{Repo: github.Repo{Owner: "octo", Name: "app"}, Ledger: &ledger.Memory{}}
	deliver := func(event, payload string) error {
		e, err := ParseEvent(event, []byte(payload))
		if err != nil {
			return err
		}
		return Deliver(t.Context(), d, e)
	}
	for event, payload := range map[string]string{
		"workflow_run":        `{"action":"completed"}`,
		"check_run":           `{"action":"rerequested"}`,
		"check_suite":         `{"action":"rerequested"}`,
		"pull_request":        `{"action":"closed","pull_request":{}}`,
		"pull_request_review": `{"action":"submitted","pull_request":{"number":1}}`,
		"issues":              `{"action":"edited"}`,
		"issue_comment":       `{"action":"created","issue":{"number":3}}`,
		"push":                `{"ref":`,
	} {
		if err := deliver(event, payload); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", event, err)
		}
	}
	for event, payload := range map[string]string{
		"workflow_run": `{"action":"requested","workflow_run":{"id":5}}`,
		"check_run":    `{"action":"created","check_run":{}}`,
		"star":         `{"action":"created"}`,
	} {
		if err := deliver(event, payload); err != nil {
			t.Errorf("%s is not left alone: %v", event, err)
		}
	}
}
