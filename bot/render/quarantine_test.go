package render

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// A failure in quarantine is shown wherever failures are, with the end of its quarantine and its issue.
func TestQuarantinedFailuresAreShownS5_56(t *testing.T) {
	t.Parallel()
	v := named(1, routing.LogicError, "TestReal", "TestFlaky")
	v.Register = &routing.Register{Entries: []routing.QuarantineEntry{{
		Name: "TestFlaky", Until: time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC), Issue: 12, URL: "https://github.com/acme/app/issues/12",
	}}}
	c, d := playActs(t, v)
	text := "1 failure is in quarantine and does not count: `TestFlaky` (until 2026-05-20, [#12](https://github.com/acme/app/issues/12))"
	has(t, "S5-56: comment", string(Comment(c, "unit", Options{})), text, "`TestReal`")
	has(t, "S5-56: summary", string(Summary(c, "unit", d, Options{})), text)
	k := Check(c, "unit", v.Run.SHA, Options{})
	has(t, "S5-56: check", k.Title+string(k.Summary), "1 in quarantine", text)
	var p struct {
		Failures    []struct{ Name string }
		Quarantined []struct {
			Name, Standing, Message string
			Until                   time.Time
			Issue                   int
		}
	}
	if err := json.Unmarshal(Packet(c, "unit", Options{}), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Failures) != 1 || p.Failures[0].Name != "TestReal" || len(p.Quarantined) != 1 {
		t.Fatalf("S5-56: %+v", p)
	}
	if q := p.Quarantined[0]; q.Name != "TestFlaky" || q.Standing != "quarantined" || q.Issue != 12 || q.Until.Day() != 20 || q.Message == "" {
		t.Errorf("S5-56: %+v", q)
	}
	has(t, "S5-56: in Korean", string(Comment(c, "unit", Options{Language: Korean})), "`TestFlaky` (2026-05-20까지, [#12]")
}
