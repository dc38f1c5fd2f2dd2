package hitl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
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
	t.Run("S1-15 checked suggestions are directives in the order of the prompt", func(t *testing.T) {
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
	t.Run("S1-37..40 the level stays, nothing is directed, the unanswered prompt is carried over", func(t *testing.T) {
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

// led is a register as a ledger keeps it.
type led struct {
	t      *testing.T
	events []routing.Event
}

func (l *led) fold() Register {
	l.t.Helper()
	r, err := Fold(l.events)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *led) add(now time.Time, entries ...Entry) Register {
	l.t.Helper()
	l.events = append(l.events, Events(entries, now)...)
	return l.fold()
}

func (l *led) open(n int) string {
	l.t.Helper()
	id := fmt.Sprintf("p%d", n)
	l.add(start, l.fold().Open(id, result(20), "en", 72*time.Hour, "me", start)...)
	l.add(start, Done(id, WorkIssue, fmt.Sprint(100+n), "https://github.com/a/b/issues/1")...)
	return id
}

func (l *led) answer(id string, s Said, now time.Time) Outcome {
	l.t.Helper()
	out, add, err := l.fold().Answer(id, s, "me", now)
	if err != nil {
		l.t.Fatal(err)
	}
	l.add(now, add...)
	return out
}

func TestRegister(t *testing.T) {
	t.Parallel()
	l := &led{t: t}
	id := l.open(1)
	t.Run("S1-1 S1-27 the prompt is opened after its audit row and refers to it", func(t *testing.T) {
		var kinds []string
		for _, e := range l.events {
			var en Entry
			if err := json.Unmarshal(e.Data, &en); err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, string(en.Kind))
		}
		r := l.fold()
		if !slices.Equal(kinds, []string{"audit", "opened", "done"}) || r.Audits[0].ID != "TASK-0001" || r.Prompts[0].Audit != "TASK-0001" || *r.Audits[0].OutputPath != "optimizer/level20_report.md" {
			t.Errorf("%v %+v", kinds, r)
		}
		if _, err := (Register{}).Apply(Entry{Kind: EntryOpened, Prompt: "x", Opened: &Opened{result(20), "TASK-0009", "en", time.Hour}}); err == nil {
			t.Error("a prompt without its audit row is taken")
		}
	})
	t.Run("opening again changes nothing", func(t *testing.T) {
		if add := l.fold().Open(id, result(20), "en", time.Hour, "other", start); add != nil {
			t.Errorf("%+v", add)
		}
	})
	said := Said{Answer: Answer{Level: Raise, Accepted: []string{"cache"}}, By: "octo", Source: "comment/1", At: start.Add(time.Hour)}
	t.Run("S1-33 no goal before the answer", func(t *testing.T) {
		if p := l.fold().Prompts[0]; p.Goal != nil || !p.Open() {
			t.Errorf("%+v", p)
		}
	})
	t.Run("S1-32 a double submit records once and the second person is second", func(t *testing.T) {
		if out := l.answer(id, said, start.Add(time.Hour)); out != Accepted {
			t.Error(out)
		}
		again := said
		again.Source = "body/2"
		other := Said{Answer: Answer{Level: Lower}, By: "hubot", Source: "comment/3", At: start.Add(time.Hour)}
		for _, c := range []struct {
			s    Said
			want Outcome
		}{{said, Accepted}, {again, Accepted}, {other, Second}} {
			if out := l.answer(id, c.s, start.Add(2*time.Hour)); out != c.want {
				t.Errorf("%+v: %s", c.s, out)
			}
		}
		if r := l.fold(); len(r.Feedback) != 1 || r.Prompts[0].Goal.NextAutomationLevel != 30 || !slices.Equal(r.Prompts[0].Pending, []string{WorkAnswer}) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S1-32 the fold refuses a second answer", func(t *testing.T) {
		a := *l.fold().Prompts[0].Answered
		a.Feedback.ID = "FB-0002"
		if _, err := l.fold().Apply(Entry{Kind: EntryAnswered, Prompt: id, Answered: &a}); err == nil {
			t.Error("taken")
		}
	})
	t.Run("S1-19 each row has an id of its own", func(t *testing.T) {
		for n := 2; n <= 5; n++ {
			l.answer(l.open(n), Said{Answer: Answer{Level: Keep}, By: "octo", Source: fmt.Sprint("comment/", n), At: start}, start)
		}
		seen := map[string]bool{}
		for _, f := range l.fold().Feedback {
			if seen[f.ID] {
				t.Errorf("%s twice", f.ID)
			}
			seen[f.ID] = true
		}
		if len(seen) != 5 {
			t.Errorf("%v", seen)
		}
		a := *l.fold().Prompts[1].Answered
		l.open(6)
		if _, err := l.fold().Apply(Entry{Kind: EntryAnswered, Prompt: "p6", Answered: &a}); err == nil {
			t.Error("an id is taken twice")
		}
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	l := &led{t: t}
	id := l.open(1)
	due := func(h int) []Entry { return l.fold().Due("me", start.Add(time.Duration(h)*time.Hour)) }
	t.Run("S1-41 reminders at half the time and in the last 12 hours, then the timeout", func(t *testing.T) {
		if got := due(35); got != nil {
			t.Errorf("%+v", got)
		}
		for _, c := range []struct {
			hours, reminder int
			pending         string
		}{{36, 1, "remind/1"}, {60, 2, "remind/2"}} {
			got := due(c.hours)
			if len(got) != 1 || got[0].Kind != EntryReminded || got[0].Reminder != c.reminder {
				t.Fatalf("after %d hours: %+v", c.hours, got)
			}
			if r := l.add(start.Add(time.Duration(c.hours)*time.Hour), got...); !slices.Equal(r.Prompts[0].Pending, []string{c.pending}) {
				t.Errorf("pending %v", r.Prompts[0].Pending)
			}
		}
		got := due(72)
		if len(got) != 1 || got[0].Kind != EntryTimedOut {
			t.Fatalf("%+v", got)
		}
		r := l.add(start.Add(72*time.Hour), got...)
		if p := r.Prompts[0]; p.Goal.Line() != TimedOut(result(20), "en").Line() || !slices.Equal(p.Pending, []string{WorkTimeout}) {
			t.Errorf("%+v", p)
		}
	})
	t.Run("S1-42 a timeout writes no user_feedback row", func(t *testing.T) {
		if n := len(l.fold().Feedback); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
	t.Run("S1-41 an answer after it changes nothing", func(t *testing.T) {
		n := len(l.events)
		if out := l.answer(id, Said{Answer: Answer{Level: Raise}, By: "octo", Source: "comment/1", At: start.Add(80 * time.Hour)}, start.Add(80*time.Hour)); out != Late || len(l.events) != n {
			t.Errorf("%s, %d events more", out, len(l.events)-n)
		}
	})
	t.Run("S1-41 an answer after the deadline that no sweep has seen yet is late too", func(t *testing.T) {
		l := &led{t: t}
		id := l.open(1)
		out := l.answer(id, Said{Answer: Answer{Level: Raise}, By: "octo", Source: "comment/1", At: start.Add(72 * time.Hour)}, start.Add(73*time.Hour))
		if r := l.fold(); out != Late || !r.Prompts[0].TimedOut || len(r.Feedback) != 0 {
			t.Errorf("%s %+v", out, r.Prompts[0])
		}
	})
	t.Run("S1-41 a sweep that comes late reminds once", func(t *testing.T) {
		l := &led{t: t}
		l.open(1)
		if got := l.fold().Due("me", start.Add(61*time.Hour)); len(got) != 1 || got[0].Reminder != 2 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S1-41 a short timeout has one reminder", func(t *testing.T) {
		p := Prompt{OpenedAt: start, Opened: Opened{Timeout: 24 * time.Hour}}
		if got := p.reminders(); len(got) != 1 || !got[0].Equal(start.Add(12*time.Hour)) {
			t.Errorf("%v", got)
		}
	})
}

func TestReentry(t *testing.T) {
	t.Parallel()
	over := func(t *testing.T, text string) (*led, Register) {
		l := &led{t: t}
		l.answer(l.open(1), Said{Answer: Answer{Level: Keep, FreeText: text}, By: "octo", Source: "comment/1", At: start}, start)
		return l, l.fold()
	}
	next := Completed{ID: "78", Workflow: "Nightly", At: start.Add(time.Hour)}
	t.Run("S1-43 S1-45 a goal that carries over starts the next cycle when the next run completes", func(t *testing.T) {
		_, r := over(t, "look again")
		if got := r.Reenter(next, nil, "me"); len(got) != 1 || got[0].Kind != EntryReentered || !slices.Equal(got[0].Reentry.Prompts, []string{"p1"}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S1-44 one that carries nothing over does not", func(t *testing.T) {
		_, r := over(t, " ")
		if got := r.Reenter(next, nil, "me"); got != nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S1-46 once per completed run, and once per goal", func(t *testing.T) {
		l, r := over(t, "look again")
		add := r.Reenter(next, nil, "me")
		r = l.add(start, add...)
		if got := r.Reenter(next, nil, "me"); got != nil {
			t.Errorf("the same run: %+v", got)
		}
		after := next
		after.ID = "79"
		if got := r.Reenter(after, nil, "me"); got != nil {
			t.Errorf("the run after: %+v", got)
		}
		if _, err := r.Apply(add[0]); err == nil {
			t.Error("the fold takes it twice")
		}
	})
	t.Run("S1-46 the re-entry's own run does not count", func(t *testing.T) {
		_, r := over(t, "look again")
		own := next
		own.Own = true
		if got := r.Reenter(own, nil, "me"); got != nil {
			t.Errorf("%+v", got)
		}
	})
	for name, run := range map[string]Completed{
		"S1-43 the run that the prompt is about is not the next one": {ID: "77", Workflow: "Nightly", At: start.Add(time.Hour)},
		"S1-43 a run that ended before the goal is not the next one": {ID: "76", Workflow: "Nightly", At: start.Add(-time.Minute)},
		"S1-43 a run of another workflow does not count":             {ID: "78", Workflow: "CI", At: start.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := over(t, "look again")
			if got := r.Reenter(run, nil, "me"); got != nil {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("S1-43 workflows that are configured count instead", func(t *testing.T) {
		_, r := over(t, "look again")
		if got := r.Reenter(Completed{ID: "78", Workflow: "CI"}, []string{"CI"}, "me"); len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S1-43 a timeout carries over too", func(t *testing.T) {
		l := &led{t: t}
		l.open(1)
		r := l.add(start.Add(72*time.Hour), l.fold().Due("me", start.Add(72*time.Hour))...)
		if got := r.Reenter(Completed{ID: "78", Workflow: "Nightly"}, nil, "me"); len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
}
