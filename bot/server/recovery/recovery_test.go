package recovery

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
)

func TestAttemptsOfADelivery(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(1700000000, 0).Add(time.Duration(n) * time.Minute) }
	var m *missing
	for _, d := range []github.HookDelivery{{ID: 9, At: at(9), Redelivery: true}, {ID: 5, At: at(5), Redelivery: true}, {ID: 1, At: at(1)}} {
		m = m.with(d)
	}
	if m.ID != 9 || m.attempts != 3 || !m.first.Equal(at(1)) || !m.again.Equal(at(9)) || m.taken {
		t.Errorf("%+v", m)
	}
	for _, ok := range [][]bool{{true, false}, {false, true}, {true}} {
		var m *missing
		for _, ok := range ok {
			m = m.with(github.HookDelivery{OK: ok})
		}
		if !m.taken {
			t.Errorf("%v is not taken", ok)
		}
	}
}

func TestSubjectOfARun(t *testing.T) {
	t.Parallel()
	here := github.Repo{Owner: "acme", Name: "app"}
	pulls := []github.PullRequest{{Number: 3, HeadSHA: "aaa", HeadRef: "feature", HeadRepo: "acme/app"}, {Number: 4, HeadSHA: "bbb", HeadRef: "main", HeadRepo: "fork/app"}}
	for name, c := range map[string]struct {
		run  github.FinishedRun
		want string
	}{
		"its head":                   {github.FinishedRun{Event: "pull_request", HeadSHA: "aaa", HeadBranch: "feature", HeadRepo: "acme/app"}, "acme/app#3"},
		"pushed to its branch":       {github.FinishedRun{Event: "push", HeadSHA: "aaa", HeadBranch: "feature", HeadRepo: "acme/app"}, "acme/app#3"},
		"moved on":                   {github.FinishedRun{Event: "pull_request", HeadSHA: "000", HeadBranch: "feature", HeadRepo: "acme/app"}, ""},
		"moved on, pushed":           {github.FinishedRun{Event: "push", HeadSHA: "000", HeadBranch: "feature", HeadRepo: "acme/app"}, ""},
		"a fork's":                   {github.FinishedRun{Event: "pull_request", HeadSHA: "bbb", HeadBranch: "main", HeadRepo: "fork/app"}, "acme/app#4"},
		"a fork's with another head": {github.FinishedRun{Event: "push", HeadSHA: "bbc", HeadBranch: "main", HeadRepo: "fork/app"}, ""},
		"a branch":                   {github.FinishedRun{Event: "push", HeadSHA: "ccc", HeadBranch: "main", HeadRepo: "acme/app"}, "acme/app@main"},
		"a fork that is gone":        {github.FinishedRun{Event: "pull_request", HeadSHA: "ddd", HeadBranch: "x"}, ""},
		"no branch":                  {github.FinishedRun{Event: "schedule", HeadSHA: "ddd", HeadRepo: "acme/app"}, ""},
	} {
		if key, ok := subject(here, c.run, pulls); key != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", name, key, ok, c.want)
		}
	}
}

func TestPartOfADocument(t *testing.T) {
	t.Parallel()
	doc := json.RawMessage(`{"a": {"login": "x"}}`)
	if got := string(part(doc, "a")); got != `{"login": "x"}` {
		t.Error(got)
	}
	for _, doc := range []json.RawMessage{doc, json.RawMessage(`[`)} {
		if got := string(part(doc, "b")); got != "null" {
			t.Error(got)
		}
	}
}
