package survey

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// me is the lease of the process under test.
var me = &routing.Lease{Owner: "me", Until: start.Add(time.Hour)}

// led is a register as a ledger keeps it.
type led struct {
	t      *testing.T
	events []routing.Event
}

func (l *led) fold() State {
	l.t.Helper()
	r, err := Fold(l.events)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *led) add(now time.Time, entries ...Entry) State {
	l.t.Helper()
	l.events = append(l.events, Events(entries, now)...)
	return l.fold()
}

func (l *led) open(n int) string {
	l.t.Helper()
	id := fmt.Sprintf("p%d", n)
	l.add(start, l.fold().Open(id, result(20), "en", 72*time.Hour, me, start)...)
	l.add(start, Done(id, WorkIssue, fmt.Sprint(100+n), "https://github.com/a/b/issues/1")...)
	return id
}

func (l *led) answer(id string, s Said, now time.Time) Outcome {
	l.t.Helper()
	out, add, err := l.fold().Answer(id, s, me, now)
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
	t.Run("S1-1 S1-27 the survey is opened after its audit row and refers to it", func(t *testing.T) {
		var kinds []string
		for _, e := range l.events {
			if _, err := EntryOf(e); err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, e.Type.Name())
		}
		r := l.fold()
		if !slices.Equal(kinds, []string{"audit", "opened", "done"}) || r.Audits[0].ID != "TASK-0001" || r.Surveys[0].Audit != "TASK-0001" || *r.Audits[0].OutputPath != "optimizer/level20_report.md" {
			t.Errorf("%v %+v", kinds, r)
		}
		if _, err := (State{}).Apply(SurveyOpened{Survey: "x", Opened: Opened{result(20), "TASK-0009", "en", time.Hour}}, start); err == nil {
			t.Error("a survey without its audit row is taken")
		}
	})
	t.Run("opening again changes nothing", func(t *testing.T) {
		if add := l.fold().Open(id, result(20), "en", time.Hour, &routing.Lease{Owner: "other"}, start); add != nil {
			t.Errorf("%+v", add)
		}
	})
	said := Said{Answer: Answer{Level: Raise, Accepted: []string{"cache"}}, By: "octo", Source: "comment/1", At: start.Add(time.Hour)}
	t.Run("S1-33 no goal before the answer", func(t *testing.T) {
		if p := l.fold().Surveys[0]; p.Goal != nil || !p.Open() {
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
		if r := l.fold(); len(r.Feedback) != 1 || r.Surveys[0].Goal.NextAutomationLevel != 30 || !slices.Equal(r.Surveys[0].Pending, []string{WorkAnswer}) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S1-32 the fold refuses a second answer", func(t *testing.T) {
		a := *l.fold().Surveys[0].Answered
		a.Feedback.ID = "FB-0002"
		if _, err := l.fold().Apply(SurveyAnswered{Survey: id, Answered: a}, start); err == nil {
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
		a := *l.fold().Surveys[1].Answered
		l.open(6)
		if _, err := l.fold().Apply(SurveyAnswered{Survey: "p6", Answered: a}, start); err == nil {
			t.Error("an id is taken twice")
		}
	})
}

// isReminder reports whether entries are the n-th reminder of a survey alone.
func isReminder(entries []Entry, n int) bool {
	if len(entries) != 1 {
		return false
	}
	r, ok := entries[0].(SurveyReminded)
	return ok && r.Reminder == n
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	l := &led{t: t}
	id := l.open(1)
	due := func(h int) []Entry { return l.fold().Due(me, start.Add(time.Duration(h)*time.Hour)) }
	t.Run("S1-41 reminders at half the time and in the last 12 hours, then the timeout", func(t *testing.T) {
		if got := due(35); got != nil {
			t.Errorf("%+v", got)
		}
		for _, c := range []struct {
			hours, reminder int
			pending         string
		}{{36, 1, "remind/1"}, {60, 2, "remind/2"}} {
			got := due(c.hours)
			if !isReminder(got, c.reminder) {
				t.Fatalf("after %d hours: %+v", c.hours, got)
			}
			if r := l.add(start.Add(time.Duration(c.hours)*time.Hour), got...); !slices.Equal(r.Surveys[0].Pending, []string{c.pending}) {
				t.Errorf("pending %v", r.Surveys[0].Pending)
			}
		}
		got := due(72)
		if len(got) != 1 || got[0].event() != EventTimedOut {
			t.Fatalf("%+v", got)
		}
		r := l.add(start.Add(72*time.Hour), got...)
		if p := r.Surveys[0]; p.Goal.Line() != TimedOut(result(20), "en").Line() || !slices.Equal(p.Pending, []string{WorkTimeout}) {
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
	t.Run("S1-41 an answer after the deadline that no reconcile has seen yet is late too", func(t *testing.T) {
		l := &led{t: t}
		id := l.open(1)
		out := l.answer(id, Said{Answer: Answer{Level: Raise}, By: "octo", Source: "comment/1", At: start.Add(72 * time.Hour)}, start.Add(73*time.Hour))
		if r := l.fold(); out != Late || !r.Surveys[0].TimedOut || len(r.Feedback) != 0 {
			t.Errorf("%s %+v", out, r.Surveys[0])
		}
	})
	t.Run("S1-41 a reconcile that comes late reminds once", func(t *testing.T) {
		l := &led{t: t}
		l.open(1)
		if got := l.fold().Due(me, start.Add(61*time.Hour)); !isReminder(got, 2) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S1-41 a short timeout has one reminder", func(t *testing.T) {
		p := Survey{OpenedAt: start, Opened: Opened{Timeout: 24 * time.Hour}}
		if got := p.reminders(); len(got) != 1 || !got[0].Equal(start.Add(12*time.Hour)) {
			t.Errorf("%v", got)
		}
	})
}

func TestReentry(t *testing.T) {
	t.Parallel()
	over := func(t *testing.T, text string) (*led, State) {
		l := &led{t: t}
		l.answer(l.open(1), Said{Answer: Answer{Level: Keep, FreeText: text}, By: "octo", Source: "comment/1", At: start}, start)
		return l, l.fold()
	}
	next := Completed{ID: "78", Workflow: "Nightly", At: start.Add(time.Hour)}
	t.Run("S1-43 S1-45 a goal that carries over starts the next cycle when the next run completes", func(t *testing.T) {
		_, r := over(t, "look again")
		if got := r.Reenter(next, nil, me); len(got) != 1 || got[0].event() != EventReentered || !slices.Equal(got[0].Surveys(), []string{"p1"}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S1-44 one that carries nothing over does not", func(t *testing.T) {
		_, r := over(t, " ")
		if got := r.Reenter(next, nil, me); got != nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S1-46 once per completed run, and once per goal", func(t *testing.T) {
		l, r := over(t, "look again")
		add := r.Reenter(next, nil, me)
		r = l.add(start, add...)
		if got := r.Reenter(next, nil, me); got != nil {
			t.Errorf("the same run: %+v", got)
		}
		after := next
		after.ID = "79"
		if got := r.Reenter(after, nil, me); got != nil {
			t.Errorf("the run after: %+v", got)
		}
		if _, err := r.Apply(add[0], start); err == nil {
			t.Error("the fold takes it twice")
		}
	})
	t.Run("S1-46 the re-entry's own run does not count", func(t *testing.T) {
		_, r := over(t, "look again")
		own := next
		own.Own = true
		if got := r.Reenter(own, nil, me); got != nil {
			t.Errorf("%+v", got)
		}
	})
	for name, run := range map[string]Completed{
		"S1-43 the run that the survey is about is not the next one": {ID: "77", Workflow: "Nightly", At: start.Add(time.Hour)},
		"S1-43 a run that ended before the goal is not the next one": {ID: "76", Workflow: "Nightly", At: start.Add(-time.Minute)},
		"S1-43 a run of another workflow does not count":             {ID: "78", Workflow: "CI", At: start.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := over(t, "look again")
			if got := r.Reenter(run, nil, me); got != nil {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("S1-43 workflows that are configured count instead", func(t *testing.T) {
		_, r := over(t, "look again")
		if got := r.Reenter(Completed{ID: "78", Workflow: "CI"}, []string{"CI"}, me); len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S1-43 a timeout carries over too", func(t *testing.T) {
		l := &led{t: t}
		l.open(1)
		r := l.add(start.Add(72*time.Hour), l.fold().Due(me, start.Add(72*time.Hour))...)
		if got := r.Reenter(Completed{ID: "78", Workflow: "Nightly"}, nil, me); len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestLanguageOfASurvey(t *testing.T) {
	for language, want := range map[string]string{Korean: Korean, "en": "en", "de": "en", "": "en"} {
		got := State{}.Open("p", result(20), language, time.Hour, nil, start)
		if opened := got[1].(SurveyOpened).Opened; opened.Language != want {
			t.Errorf("a survey in %q is in %q, want %q", language, opened.Language, want)
		}
	}
}

// TestRepeatedAnswer: the same event, or the same person who submits the same again.
func TestRepeatedAnswer(t *testing.T) {
	first := Answered{Answer: Answer{Level: Raise, Accepted: []string{"a"}, FreeText: "x"}, By: "mona", Source: "comment/1"}
	for name, c := range map[string]struct {
		change func(*Said)
		want   bool
	}{
		"all of it":            {func(*Said) {}, true},
		"another event":        {func(s *Said) { s.Source = "comment/2" }, true},
		"in other letters":     {func(s *Said) { s.Source, s.By = "comment/2", "Mona" }, true},
		"by another person":    {func(s *Said) { s.Source, s.By = "comment/2", "hubot" }, false},
		"of another text":      {func(s *Said) { s.Source, s.Answer.FreeText = "comment/2", "y" }, false},
		"of another level":     {func(s *Said) { s.Source, s.Answer.Level = "comment/2", Keep }, false},
		"of other suggestions": {func(s *Said) { s.Source, s.Answer.Accepted = "comment/2", nil }, false},
	} {
		s := Said{Answer: first.Answer, By: first.By, Source: first.Source}
		c.change(&s)
		if got := first.repeats(s); got != c.want {
			t.Errorf("%s: repeats %v", name, got)
		}
	}
}
