package survey

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// TestStoredEvents folds every type of event from its stored form.
func TestStoredEvents(t *testing.T) {
	t.Parallel()
	l := &led{t: t}
	p1, p2 := l.open(1), l.open(2)
	l.add(start, TakeOver(p1, me)...)
	l.add(start.Add(36*time.Hour), l.fold().Due(me, start.Add(36*time.Hour))...)
	l.answer(p1, Said{Answer: Answer{Level: Keep, FreeText: "look again"}, By: "octo", Source: "comment/1", At: start}, start.Add(37*time.Hour))
	l.add(start.Add(72*time.Hour), l.fold().Due(me, start.Add(72*time.Hour))...)
	l.add(start.Add(73*time.Hour), l.fold().Reenter(Completed{ID: "78", Workflow: "Nightly", At: start.Add(73 * time.Hour)}, nil, me)...)
	other := &routing.Lease{Owner: "other", Until: start.Add(80 * time.Hour)}
	if r := l.add(start.Add(74*time.Hour), TakeOverReentry("78", other)...); r.Reentries[0].Done || r.Reentries[0].Lease.Owner != "other" {
		t.Errorf("a re-entry that was taken over: %+v", r.Reentries)
	}
	want := l.add(start.Add(74*time.Hour), ReentryDone("78", "repository_dispatch")...)
	if p, _ := want.Survey(p2); !want.Reentries[0].Done || !p.TimedOut {
		t.Errorf("%+v", want)
	}
	data, err := json.Marshal(l.events)
	if err != nil {
		t.Fatal(err)
	}
	var stored []routing.Event
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	seen := map[routing.EventType]bool{}
	for _, e := range stored {
		seen[e.Type] = true
	}
	for typ := range payloads {
		if !seen[typ] {
			t.Errorf("no event %s", typ)
		}
	}
	if got, err := Fold(stored); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

func TestEventsThatDoNotFollow(t *testing.T) {
	t.Parallel()
	l := &led{t: t}
	id := l.open(1)
	for name, e := range map[string]Entry{
		"an empty audit row":             AuditRecorded{},
		"no survey":                      SurveyOpened{},
		"a survey that was opened":       SurveyOpened{Survey: id},
		"an unknown survey":              WorkDone{Survey: "x"},
		"an answer without a goal":       SurveyAnswered{Survey: id},
		"a timeout without a goal":       SurveyTimedOut{Survey: id},
		"a reminder that is not due":     SurveyReminded{Survey: id, Reminder: 3},
		"a re-entry of no run":           CycleReentered{},
		"a re-entry that is not known":   ReentryStarted{Run: "1"},
		"a lease on an unknown re-entry": ReentryLeased{Run: "1"},
	} {
		if _, err := l.fold().Apply(e, start); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for _, e := range []routing.Event{{Type: "survey.else"}, {Type: routing.EventRun}, {Type: EventDone}} {
		if _, err := Fold([]routing.Event{e}); err == nil || !strings.Contains(err.Error(), "event 1") {
			t.Errorf("%s: %v", e.Type, err)
		}
	}
}
