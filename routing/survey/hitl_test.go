package survey

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func result(level int) Result {
	return Result{WorkflowName: "Nightly", AutomationLevel: level, ReportPath: "optimizer/level20_report.md", RunID: "77",
		Suggestions: []Suggestion{{"cache", "Cache the modules"}, {"Split-It", "Split the suite"}, {"3rd", "Retry <b>uploads</b>"}}}
}

const valid = `{"workflow_name":"Nightly","automation_level":20,"report_path":"o/r.md","run_id":77,"suggestions":[{"id":"a","text":"A"}]}`

func TestParseResult(t *testing.T) {
	t.Parallel()
	r, err := ParseResult("r.json", []byte(valid))
	if err != nil || r.RunID != "77" || r.AutomationLevel != 20 || len(r.Suggestions) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	edit := func(from, to string) string { return strings.Replace(valid, from, to, 1) }
	for _, c := range []struct{ name, data, want string }{
		{"no name", edit(`"workflow_name":"Nightly",`, ``), "r.json: workflow_name: it is missing"},
		{"an empty name", edit(`Nightly`, ` `), "r.json: workflow_name: it is empty"},
		{"S1-14 a level that there is not", edit(`:20`, `:25`), "r.json: automation_level: 25 is no level; write the number 10, 20 or 30"},
		{"S1-31 a level that is a text", edit(`:20`, `:"20"`), "automation_level: \"20\" is no level"},
		{"S1-36 a level that is a fraction", edit(`:20`, `:20.0`), "automation_level: 20.0 is no level"},
		{"no level", edit(`"automation_level":20,`, ``), "automation_level: it is missing"},
		{"a report outside the workspace", edit(`o/r.md`, `../r.md`), "report_path: \"../r.md\" leaves the workspace"},
		{"an absolute report", edit(`o/r.md`, `/etc/passwd`), "leaves the workspace"},
		{"no suggestions", edit(`,"suggestions":[{"id":"a","text":"A"}]`, ``), "suggestions: it is missing"},
		{"a suggestion without id", edit(`"id":"a",`, ``), "suggestions[0].id: it is missing"},
		{"an id that cannot be typed", edit(`"id":"a"`, `"id":"a b"`), "suggestions[0].id: \"a b\" is no id"},
		{"an id that ends a comment", edit(`"id":"a"`, `"id":"a-->"`), "is no id"},
		{"an id twice", edit(`}]`, `},{"id":"A","text":"B"}]`), "suggestions[1].id: \"A\" is the id of suggestions[0] already"},
		{"a suggestion without text", edit(`"A"`, `""`), "suggestions[0].text: it is empty"},
		{"an unknown key", edit(`"run_id"`, `"runid"`), "r.json: runid: it is not known; known are"},
		{"a wrong type", edit(`"Nightly"`, `7`), "workflow_name: a JSON number stands there; write a text in quotes"},
		{"two documents", valid + valid, "more follows"},
		{"half a document", valid[:40], "ends too early"},
		{"no JSON", "level: 20", "not valid JSON"},
		{"nothing", "", "ends too early"},
		{"a run that is a list", edit(`77`, `[7]`), "run_id: [7] is no id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseResult("r.json", []byte(c.data))
			var fe *FieldError
			if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func FuzzParseResult(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(`{"suggestions":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseResult("r.json", data)
		if err == nil && r.Check() != nil {
			t.Fatalf("taken, and not valid: %v", r.Check())
		}
		var fe *FieldError
		if err != nil && !errors.As(err, &fe) {
			t.Fatalf("%T", err)
		}
	})
}

func TestNextLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		from   int
		choice Choice
		want   int
	}{
		{"S1-10 S1-13 raise 10", 10, Raise, 20}, {"S1-10 S1-13 raise 20", 20, Raise, 30}, {"S1-10 S1-13 raise 30 stays", 30, Raise, 30},
		{"S1-11 S1-13 lower 30", 30, Lower, 20}, {"S1-11 S1-13 lower 20", 20, Lower, 10}, {"S1-11 S1-13 lower 10 stays", 10, Lower, 10},
		{"S1-12 keep 10", 10, Keep, 10}, {"S1-12 keep 20", 20, Keep, 20}, {"S1-12 keep 30", 30, Keep, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, g, err := Converge(result(c.from), Answer{Level: c.choice})
			if err != nil || g.NextAutomationLevel != c.want || f.LevelBefore != c.from || f.LevelAfter != c.want {
				t.Errorf("%+v %+v %v", f, g, err)
			}
		})
	}
	t.Run("S1-14 other levels are refused", func(t *testing.T) {
		for _, n := range []int{-10, 0, 5, 15, 40} {
			if _, _, err := Converge(result(n), Answer{Level: Raise}); err == nil {
				t.Errorf("%d is taken", n)
			}
		}
		if _, _, err := Converge(result(20), Answer{Level: "up"}); err == nil {
			t.Error("a choice that there is not is taken")
		}
	})
}

func TestConverge(t *testing.T) {
	t.Parallel()
	text := "  first line\n\n- second `line`, as written  "
	f, g, err := Converge(result(20), Answer{Level: Raise, Accepted: []string{"3rd", "cache"}, FreeText: text})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("S1-15 checked suggestions are directives in the order of the survey", func(t *testing.T) {
		if want := []string{"Cache the modules", "Retry <b>uploads</b>"}; !slices.Equal(g.OptimizationDirectives, want) || !slices.Equal(f.AcceptedSuggestions, want) {
			t.Errorf("%q %q", g.OptimizationDirectives, f.AcceptedSuggestions)
		}
	})
	t.Run("S1-16 unchecked ones are rejected", func(t *testing.T) {
		if !slices.Equal(f.RejectedSuggestions, []string{"Split the suite"}) {
			t.Errorf("%q", f.RejectedSuggestions)
		}
	})
	t.Run("S1-17 free text is carried over verbatim and blank adds nothing", func(t *testing.T) {
		if !slices.Equal(g.CarryOverIssues, []string{text}) || f.FreeText != text {
			t.Errorf("%q", g.CarryOverIssues)
		}
		_, g, err := Converge(result(20), Answer{Level: Keep, FreeText: " \n\t"})
		if err != nil || g.CarryOverIssues == nil || len(g.CarryOverIssues) != 0 {
			t.Errorf("%q %v", g.CarryOverIssues, err)
		}
	})
	t.Run("S1-9 an unknown id is refused", func(t *testing.T) {
		if _, _, err := Converge(result(20), Answer{Level: Keep, Accepted: []string{"Cache the modules"}}); err == nil {
			t.Error("a text is taken for an id")
		}
	})
	t.Run("S1-35 approved by human_feedback", func(t *testing.T) {
		if g.ApprovedBy != "human_feedback" {
			t.Error(g.ApprovedBy)
		}
	})
	t.Run("S1-34 S1-36 goal.json has exactly four keys and a whole number", func(t *testing.T) {
		wantGoal(t, g, `{"next_automation_level":30,"optimization_directives":["Cache the modules","Retry <b>uploads</b>"],"carry_over_issues":["  first line\n\n- second `+"`line`"+`, as written  "],"approved_by":"human_feedback"}`)
	})
}

func wantGoal(t *testing.T, g Goal, want string) {
	t.Helper()
	if g.Line() != want {
		t.Errorf("got  %s\nwant %s", g.Line(), want)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(g.JSON(), &keys); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, []string{"approved_by", "carry_over_issues", "next_automation_level", "optimization_directives"}) {
		t.Errorf("keys %v", got)
	}
}

func TestTimedOut(t *testing.T) {
	t.Parallel()
	t.Run("S1-37..40 the level stays, nothing is directed, the unanswered survey is carried over", func(t *testing.T) {
		wantGoal(t, TimedOut(result(20), "en"), `{"next_automation_level":20,"optimization_directives":[],"carry_over_issues":["HITL unanswered — review in the next cycle"],"approved_by":"timeout_fallback"}`)
	})
	t.Run("S1-39 in Korean as in the document", func(t *testing.T) {
		wantGoal(t, TimedOut(result(10), Korean), `{"next_automation_level":10,"optimization_directives":[],"carry_over_issues":["HITL 미응답 — 다음 주기에 재검토 필요"],"approved_by":"timeout_fallback"}`)
	})
}

func TestFeedbackType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a    Answer
		want FeedbackType
	}{
		{"S1-29 S1-30 a level, a suggestion and a text", Answer{Level: Raise, Accepted: []string{"cache"}, FreeText: "x"}, LevelAdjustment},
		{"S1-30 a level that cannot rise", Answer{Level: Raise}, LevelAdjustment},
		{"S1-29 S1-30 a suggestion and a text", Answer{Level: Keep, Accepted: []string{"cache"}, FreeText: "x"}, SuggestionAcceptance},
		{"S1-29 S1-30 a text alone", Answer{Level: Keep, FreeText: "x"}, FreeText},
		{"S1-30 nothing but that the level is right", Answer{Level: Keep}, LevelAdjustment},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _, err := Converge(result(30), c.a)
			if err != nil || f.FeedbackType != c.want {
				t.Errorf("%s %v, want %s", f.FeedbackType, err, c.want)
			}
		})
	}
}

func TestUserFeedback(t *testing.T) {
	t.Parallel()
	f, _, err := Converge(result(20), Answer{Level: Lower, Accepted: []string{"cache"}, FreeText: "a → b"})
	if err != nil {
		t.Fatal(err)
	}
	row := NewUserFeedback(1, start, "octo", "en", result(20), f, "TASK-0001")
	t.Run("S1-18 S1-20 S1-23 S1-24 S1-26 S1-27 the row has exactly the columns of the table", func(t *testing.T) {
		text, _ := json.Marshal(row.FeedbackText)
		want := `{"id":"FB-0001","date":"2026-03-01","user_id":"octo","feedback_text":` + unescape(string(text)) + `,"source_ref_path":"optimizer/level20_report.md","impact_domain":"workflow_optimization","impact_summary":"Level 20 → 10, 1 suggestions accepted","reversibility":"High","related_audit_id":"TASK-0001"}`
		if got := strings.TrimSpace(string(encode(row, ""))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if err := row.Check(); err != nil {
			t.Error(err)
		}
	})
	t.Run("S1-22 S1-28 S1-31 feedback_text is JSON with exactly its keys, levels are numbers", func(t *testing.T) {
		want := `{"feedback_type":"level_adjustment","workflow_name":"Nightly","level_before":20,"level_after":10,"accepted_suggestions":["Cache the modules"],"rejected_suggestions":["Split the suite","Retry <b>uploads</b>"],"free_text":"a → b"}`
		if row.FeedbackText != want {
			t.Errorf("got  %s\nwant %s", row.FeedbackText, want)
		}
	})
	t.Run("S1-25 the summary in both languages", func(t *testing.T) {
		ko := NewUserFeedback(1, start, "octo", Korean, result(20), f, "TASK-0001")
		if row.ImpactSummary != "Level 20 → 10, 1 suggestions accepted" || ko.ImpactSummary != "Level 20 → 10, 1건 제안 수렴" {
			t.Errorf("%q %q", row.ImpactSummary, ko.ImpactSummary)
		}
	})
	t.Run("S1-21 without a responder user_id is null", func(t *testing.T) {
		if got := string(encode(NewUserFeedback(1, start, "", "en", result(20), f, "TASK-0001"), "")); !strings.Contains(got, `"user_id":null`) {
			t.Error(got)
		}
	})
	t.Run("S1-19 ids have four digits or more", func(t *testing.T) {
		for n, want := range map[int]string{7: "FB-0007", 9999: "FB-9999", 10000: "FB-10000"} {
			row := NewUserFeedback(n, start, "octo", "en", result(20), f, "TASK-0001")
			if row.ID != want || row.Check() != nil {
				t.Errorf("%s, want %s: %v", row.ID, want, row.Check())
			}
		}
	})
	for name, breakIt := range map[string]func(*UserFeedback){
		"S1-19 an id of another form":       func(u *UserFeedback) { u.ID = "FB-1" },
		"S1-20 a date that is none":         func(u *UserFeedback) { u.Date = "1.3.2026" },
		"S1-22 a text that is no JSON":      func(u *UserFeedback) { u.FeedbackText = "fine" },
		"S1-26 a reversibility of its own":  func(u *UserFeedback) { u.Reversibility = "Total" },
		"S1-27 an audit id of another form": func(u *UserFeedback) { u.RelatedAuditID = "7" },
		"S1-29 a type that there is not": func(u *UserFeedback) {
			u.FeedbackText = strings.Replace(u.FeedbackText, "level_adjustment", "praise", 1)
		},
		"S1-31 a level that there is not": func(u *UserFeedback) { u.FeedbackText = strings.Replace(u.FeedbackText, `:20`, `:21`, 1) },
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			bad := row
			breakIt(&bad)
			if bad.Check() == nil {
				t.Errorf("%+v", bad)
			}
		})
	}
}

func unescape(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(s)
}
