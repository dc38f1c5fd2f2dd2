package activity_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// data are the types of what each event's data may be.
var data = map[activity.Type][]any{
	activity.SessionStart:       {activity.Started{}, plan.Session{}},
	activity.SessionEnd:         {activity.Ended{}, ended{}},
	activity.WorkerSpawn:        {spawned{}},
	activity.WorkerComplete:     {plan.Exit{}},
	activity.WorkerProgress:     {plan.Progress{}},
	activity.WorkerFeedback:     {activity.Handed{}, plan.TestFeedback{}},
	activity.DirectMessage:      {plan.Message{}},
	activity.EscalationNew:      {activity.Called{}, plan.Escalation{}},
	activity.EscalationResolved: {activity.Called{}, plan.Escalation{}},
	activity.EscalationIssue:    {activity.Issued{}},
	activity.PairChanged:        {activity.Pair{}},
	activity.RunAnalyzed:        {activity.Analyzed{}},
	activity.HumanActed:         {activity.Acted{}, plan.Answer{}},
	activity.EffectDone:         {activity.Effected{}},
	activity.PlanStart:          {activity.Built{}},
	activity.PlanPort:           {activity.Stands{}},
	activity.FeedbackChanged:    {feedback.Line{}},
	activity.SurveyChanged:      {activity.SurveyChange{}},
	activity.IncidentChanged:    {activity.IncidentChange{}},
	activity.QuarantineChanged:  {activity.QuarantineChange{}},
}

// What live makes without a name of its own.
type (
	ended struct {
		Outcome string `json:"outcome"`
		Reason  string `json:"reason"`
	}
	spawned struct {
		Role      string `json:"role"`
		Iteration int    `json:"iteration"`
		Workflow  string `json:"workflow"`
	}
)

var (
	constant = regexp.MustCompile(`(?m)^\t[A-Z]\w+ +(?:Type = "|= Type\()`)
	quoted   = regexp.MustCompile("`([^`]+)`")
)

// The documentation has every event with every field, and no other (S2-74 S2-75 S2-76
// S2-77 S2-78 S2-79 S2-80 S2-81).
func TestEventsAreDocumented(t *testing.T) {
	source, err := os.ReadFile("live.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(constant.FindAll(source, -1)); n != len(data) {
		t.Errorf("live.go has %d types of events, the test %d", n, len(data))
	}
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[activity.Type][]string{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if name := quoted.FindStringSubmatch(cells[0]); len(cells) == 3 && name != nil && strings.Contains(name[1], ".") || len(cells) == 3 && name != nil && name[1] == "pair" {
			for _, f := range quoted.FindAllStringSubmatch(cells[2], -1) {
				rows[activity.Type(name[1])] = append(rows[activity.Type(name[1])], f[1])
			}
		}
	}
	for name, values := range data {
		want := map[string]bool{}
		for _, v := range values {
			fields(reflect.TypeOf(v), want)
		}
		for f := range want {
			if !slices.Contains(rows[name], f) {
				t.Errorf("docs/events.md: %s lacks `%s`", name, f)
			}
		}
		for _, f := range rows[name] {
			if !want[f] {
				t.Errorf("docs/events.md: %s has no `%s`", name, f)
			}
		}
	}
	for name := range rows {
		if data[name] == nil {
			t.Errorf("docs/events.md: there is no %s", name)
		}
	}
	want := map[string]bool{}
	fields(reflect.TypeFor[activity.Event](), want)
	for f := range want {
		if !strings.Contains(string(page), "\n| `"+f+"` |") {
			t.Errorf("docs/events.md lacks the field `%s` of all events", f)
		}
	}
}

// fields adds the names that a type's fields have in JSON.
func fields(t reflect.Type, to map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			fields(f.Type, to)
		case name != "":
			to[name] = true
		}
	}
}
