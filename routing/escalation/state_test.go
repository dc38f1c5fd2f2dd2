package escalation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// book is a register under test, with a clock of its own.
type book struct {
	t      *testing.T
	events []routing.Event
	reg    State
	now    time.Time
	limits Limits
	in     map[Ancestry]bool
}

func newBook(t *testing.T) *book {
	return &book{t: t, now: t0, limits: Limits{Quiet: DefaultQuiet, FuseID: "acme/shop!fuse"}, in: map[Ancestry]bool{}}
}

// do appends events and folds the whole register anew.
func (b *book) do(events []routing.Event, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	b.events = append(b.events, events...)
	if b.reg, err = Fold(b.events); err != nil {
		b.t.Fatal(err)
	}
}

// call is that of the unit checkpoint of pull request pr.
func call(pr int, print string, sha string) Request {
	m := Member{Case: fmt.Sprintf("acme/shop#%d", pr), Checkpoint: "unit", Kind: routing.KindMaxRetry, Type: TestFailure, SHA: sha, Run: "run of " + sha}
	if print != "" {
		m.Group = "ESCALATE_MAX_RETRY/" + print
	}
	return Request{ID: m.Key() + "/issue/ESCALATE_MAX_RETRY", Member: m, Facts: Facts{Kind: m.Kind, Type: m.Type, Severity: High, Title: "It fails"}}
}

func (b *book) place(c Request) Placed {
	b.t.Helper()
	b.now = b.now.Add(time.Second)
	c.Member.Opened = b.now
	p, err := b.at().Place(c, b.limits, b.in)
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(p.Events, nil)
	return p
}

func (b *book) leave(id string, pr int, how How, by, fix string) {
	b.t.Helper()
	b.now = b.now.Add(time.Second)
	b.do(b.at().Leave(id, fmt.Sprintf("acme/shop#%d", pr), "unit", how, by, fix))
}

// at returns the recorder of what happens now.
func (b *book) at() Recorder { return b.reg.Recorder(b.now) }

func (b *book) open() int { return len(b.reg.AllOpen()) }

func TestRegister(t *testing.T) {
	t.Parallel()
	t.Run("S2-70 the same open escalation is not filed twice", func(t *testing.T) {
		b := newBook(t)
		first := b.place(call(1, "a", "c1"))
		again := b.place(call(1, "a", "c2"))
		if first.ID != again.ID || b.open() != 1 || !again.News {
			t.Errorf("%+v %+v, %d open", first, again, b.open())
		}
		dup := b.reg.Records[0]
		dup.ID = "another"
		if _, err := b.at().checked(b.at().event(EventOpened, RecordOpened{dup})); !errors.Is(err, ErrOpen) {
			t.Errorf("a second record of the same: %v", err)
		}
	})
	t.Run("S2-71 resolving sets who and when, and twice is an error", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.do(b.at().Resolve(id, "octocat", "not our bug"))
		rec, _ := b.reg.ByID(id)
		if rec.Open() || rec.ResolvedBy != "octocat" || !rec.ResolvedAt.Equal(b.now) || rec.Resolution != "not our bug" {
			t.Errorf("%+v", rec)
		}
		if _, err := b.at().Resolve(id, "hubot", ""); !errors.Is(err, ErrResolved) {
			t.Errorf("resolved again: %v", err)
		}
		if _, err := b.at().checked(b.at().resolved(id, "hubot", "", "")); !errors.Is(err, ErrResolved) {
			t.Errorf("an event that resolves again: %v", err)
		}
	})
	t.Run("S2-63 a record holds all that an escalation is", func(t *testing.T) {
		c := play(t, routing.DefaultPolicy(), run(1, routing.EnvIssue, "f#a"))
		b := newBook(t)
		b.place(RequestOf(c, "unit", "acme/shop#12/unit/issue/ESCALATE_ENV", "It fails", routing.DefaultPolicy()))
		r := b.reg.Records[0]
		if r.ID == "" || r.Session != "acme/shop#12" || r.Port != "unit" || r.Type != Blocked || r.Severity != High || r.Title != "It fails" ||
			r.Description == "" || r.Context == "" || len(r.Suggested) < 3 || r.ResolvedBy != "" || !r.ResolvedAt.IsZero() || r.OpenedAt.IsZero() {
			t.Errorf("%+v", r)
		}
		m := r.Members[0]
		if m.SHA != fmt.Sprintf("%040d", 1) || m.First != "TestA" || m.Group != "ESCALATE_ENV/a" || m.RunURL == "" {
			t.Errorf("%+v", m)
		}
	})
	t.Run("cases with one failure share a record until the last leaves", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		if p := b.place(call(2, "a", "d1")); p.ID != id || b.open() != 1 {
			t.Fatalf("%+v, %d open", p, b.open())
		}
		if p := b.place(call(3, "b", "e1")); p.ID == id || b.open() != 2 {
			t.Fatalf("another failure: %+v, %d open", p, b.open())
		}
		if p := b.place(call(4, "", "f1")); p.ID == id || b.open() != 3 {
			t.Fatalf("a failure that cannot be compared: %+v, %d open", p, b.open())
		}
		b.leave(id, 1, Passed, "", "c2")
		rec, _ := b.reg.ByID(id)
		if !rec.Open() || rec.Host().Case != "acme/shop#2" {
			t.Fatalf("%+v", rec)
		}
		b.leave(id, 2, Passed, "", "d2")
		if rec, _ = b.reg.ByID(id); rec.Open() || rec.Fix != "d2" || rec.ResolvedBy != "switchback" {
			t.Errorf("%+v", rec)
		}
		if events, err := b.at().Leave(id, "acme/shop#2", "unit", Passed, "", "d2"); err != nil || events != nil {
			t.Errorf("left twice: %v %v", events, err)
		}
	})
	t.Run("a case has one open record of a type, whatever its checkpoints", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		c := call(1, "z", "c1")
		c.Member.Checkpoint = "lint"
		if p := b.place(c); p.ID != id {
			t.Errorf("%s, want %s", p.ID, id)
		}
		c.Member.Checkpoint, c.Member.Type, c.ID = "build", BuildFailure, "build"
		if p := b.place(c); p.ID == id {
			t.Error("another type joined")
		}
	})
	t.Run("a type that changes changes the record in place", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		c := call(1, "a", "c1")
		c.Member.Type, c.Facts.Type, c.Facts.Severity, c.Member.Gen = NeedsDecision, NeedsDecision, Medium, 9
		if p := b.place(c); p.ID != id || p.News {
			t.Errorf("%+v", p)
		}
		if rec, _ := b.reg.ByID(id); rec.Type != NeedsDecision || rec.Severity != Medium || b.open() != 1 {
			t.Errorf("%+v", rec)
		}
	})
}

func TestReopening(t *testing.T) {
	t.Parallel()
	resolved := func(t *testing.T, how How, by string) (*book, string) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.do(b.at().Filed(id, 7, "u"))
		b.leave(id, 1, how, by, "c2")
		return b, id
	}
	t.Run("within the quiet period after a green run nothing is opened", func(t *testing.T) {
		b, _ := resolved(t, Passed, "")
		p := b.place(call(1, "a", "c3"))
		if p.Wait.IsZero() || len(p.Events) != 0 || b.open() != 0 {
			t.Fatalf("%+v", p)
		}
		b.in[Ancestry{"c2", "c3"}] = true
		b.now = p.Wait
		if p = b.place(call(1, "a", "c3")); p.ID == "" || b.open() != 1 {
			t.Errorf("after it: %+v", p)
		}
	})
	t.Run("a human's answer is followed by no quiet period", func(t *testing.T) {
		b, id := resolved(t, Released, "octocat")
		b.in[Ancestry{"c2", "c3"}] = true
		if p := b.place(call(1, "a", "c3")); p.ID != id {
			t.Errorf("%+v", p)
		}
	})
	for _, in := range []bool{true, false} {
		t.Run(fmt.Sprintf("a commit that contains the fix (%v) opens the same issue again (%v)", in, in), func(t *testing.T) {
			b, id := resolved(t, Passed, "")
			b.now = b.now.Add(time.Hour)
			p := b.place(call(1, "a", "c3"))
			if p.Ask == nil || *p.Ask != (Ancestry{"c2", "c3"}) {
				t.Fatalf("%+v", p)
			}
			b.in[*p.Ask] = in
			p = b.place(call(1, "a", "c3"))
			rec, _ := b.reg.ByID(p.ID)
			if (p.ID == id) != in || (rec.Number == 7) != in || (rec.Reopened == 1) != in || b.open() != 1 {
				t.Errorf("%+v\n%+v", p, rec)
			}
			if !in && p.ID != id+"/2" {
				t.Errorf("id %s", p.ID)
			}
		})
	}
	t.Run("another failure of the case opens a record of its own", func(t *testing.T) {
		b, id := resolved(t, Passed, "")
		b.now = b.now.Add(time.Hour)
		if p := b.place(call(1, "z", "c3")); p.ID == id || p.Ask != nil {
			t.Errorf("%+v", p)
		}
	})
	t.Run("what a human closed is silent for its commit and calls again with a later one", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.do(b.at().Filed(id, 7, "u"))
		b.do(b.at().Dismiss(id, "c1", "octocat"))
		if p := b.place(call(1, "a", "c1")); !p.Silent || p.ID != id {
			t.Errorf("the same commit: %+v", p)
		}
		if p := b.place(call(1, "a", "c2")); p.Ask == nil {
			t.Fatalf("%+v", p)
		}
		b.in[Ancestry{"c1", "c2"}] = true
		if p := b.place(call(1, "a", "c2")); p.Silent || p.ID != id {
			t.Errorf("a later commit: %+v", p)
		}
		if rec, _ := b.reg.ByID(id); rec.Dismissed != "" || b.open() != 1 {
			t.Errorf("%+v", rec)
		}
	})
	t.Run("a later commit that does not contain what was closed is another issue", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.do(b.at().Dismiss(id, "c1", "octocat"))
		b.in[Ancestry{"c1", "x2"}] = false
		p := b.place(call(1, "a", "x2"))
		old, _ := b.reg.ByID(id)
		if p.ID == id || old.Open() || b.open() != 1 {
			t.Errorf("%+v, %+v", p, old)
		}
	})
	t.Run("dismissed and resolved, the same commit stays silent", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.do(b.at().Dismiss(id, "c1", "octocat"))
		b.leave(id, 1, Released, "octocat", "c1")
		if p := b.place(call(1, "a", "c1")); !p.Silent || p.ID != id {
			t.Errorf("%+v", p)
		}
	})
	t.Run("what a human closed is silent for the commit of each case that it held", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.place(call(2, "a", "d1"))
		b.do(b.at().Dismiss(id, "c1", "octocat"))
		b.leave(id, 1, Released, "octocat", "c1")
		b.leave(id, 2, Released, "octocat", "d1")
		for range 2 { // a second run of the commit says no more
			for pr, sha := range map[int]string{1: "c1", 2: "d1"} {
				if p := b.place(call(pr, "a", sha)); !p.Silent || p.ID != id {
					t.Errorf("#%d: %+v", pr, p)
				}
			}
		}
		if p := b.place(call(3, "a", "e1")); p.Silent {
			t.Errorf("a case that it did not hold: %+v", p)
		}
		b.in[Ancestry{"c1", "d2"}] = true
		if p := b.place(call(2, "a", "d2")); p.Silent {
			t.Errorf("a later commit: %+v", p)
		}
	})
	t.Run("S2-70 a checkpoint that becomes of another type joins the record of that type which its case has", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		lint := call(1, "b", "c1")
		lint.Member.Checkpoint, lint.Member.Type, lint.Facts.Type, lint.ID = "lint", Blocked, Blocked, "lint"
		if p := b.place(lint); p.ID != "lint" {
			t.Fatalf("%+v", p)
		}
		lint.Member.Type, lint.Facts.Type = TestFailure, TestFailure
		if p := b.place(lint); p.ID != id || b.open() != 1 {
			t.Errorf("%+v, %d open", p, b.open())
		}
	})
	t.Run("an issue that is gone is filed again with new evidence only", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.do(b.at().Filed(id, 7, "u"))
		b.do(b.at().Forget(id))
		if p := b.place(call(1, "a", "c1")); p.News {
			t.Errorf("the same run: %+v", p)
		}
		if p := b.place(call(1, "a", "c2")); !p.News || p.ID != id {
			t.Errorf("a new run: %+v", p)
		}
	})
}

func TestFuse(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.limits.MaxIssues = 2
	for n := 1; n <= 5; n++ {
		p := b.place(call(n, fmt.Sprint("p", n), "c1"))
		if p.Blown != (n > 2) {
			t.Errorf("call %d: %+v", n, p)
		}
	}
	fuse, ok := b.reg.ByID("acme/shop!fuse")
	if !ok || !fuse.Fuse || len(fuse.Members) != 3 || fuse.Severity != Critical || b.open() != 3 {
		t.Fatalf("%+v, %d open", fuse, b.open())
	}
	t.Run("a member stays in the summary", func(t *testing.T) {
		if p := b.place(call(4, "p4", "c2")); p.ID != fuse.ID || !p.News {
			t.Errorf("%+v", p)
		}
	})
	t.Run("a failure that is filed already is joined, not counted", func(t *testing.T) {
		if p := b.place(call(9, "p1", "c1")); p.Blown {
			t.Errorf("%+v", p)
		}
	})
	t.Run("an hour later issues are filed again", func(t *testing.T) {
		b.now = b.now.Add(time.Hour)
		if p := b.place(call(10, "p10", "c1")); p.Blown {
			t.Errorf("%+v", p)
		}
	})
	t.Run("the summary ends with its last member", func(t *testing.T) {
		for _, n := range []int{3, 4, 5} {
			b.leave(fuse.ID, n, Passed, "", "f")
		}
		if f, _ := b.reg.ByID(fuse.ID); f.Open() {
			t.Errorf("%+v", f)
		}
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	id := b.place(call(1, "a", "c1")).ID
	b.do(b.at().Answer(id, Answered{By: "octocat", Boxes: []string{"retry:2"}}))
	var first *AnsweredError
	if _, err := b.at().Answer(id, Answered{By: "hubot"}); !errors.As(err, &first) || first.First.By != "octocat" {
		t.Errorf("a second answer of the same questions: %v", err)
	}
	if _, err := b.at().Answer(id, Answered{By: "hubot", Generation: 4}); err == nil {
		t.Error("an answer of questions that were never asked")
	}
	b.do(b.at().Fanned(id, 0))
	if rec, _ := b.reg.ByID(id); rec.Generation != 1 || !rec.Answers[0].Fanned {
		t.Errorf("%+v", rec)
	}
	b.do(b.at().Resolve(id, "octocat", ""))
	if _, err := b.at().Answer(id, Answered{By: "hubot", Generation: 1}); !errors.Is(err, ErrResolved) {
		t.Errorf("an answer to a resolved one: %v", err)
	}
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]routing.Event{
		"another type":      {Type: routing.EventRun},
		"no data":           {Type: EventFiled},
		"an unknown record": {Type: EventFiled, At: t0, Data: IssueFiled{ID: "x"}},
		"a record of none":  {Type: EventOpened, At: t0, Data: RecordOpened{Record{ID: "x"}}},
	} {
		if _, err := Fold([]routing.Event{e}); err == nil || !strings.Contains(err.Error(), "event 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := newBook(t)
	b.place(call(1, "a", "c1"))
	b.do(b.reg.Recorder(b.now.Add(-time.Hour)).Filed(b.reg.Records[0].ID, 7, "u"))
	if r, ok := b.reg.ByNumber(7); !ok || !r.UpdatedAt.After(r.OpenedAt) {
		t.Errorf("a clock that goes backwards: %+v", r)
	}
}

func TestFiling(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	c := call(1, "a", "c1")
	c.Lease = &routing.Lease{Owner: "one", Until: b.now.Add(time.Minute)}
	id := b.place(c).ID
	var busy *BusyError
	if _, err := b.at().File(id, routing.Lease{Owner: "two", Until: b.now.Add(time.Minute)}); !errors.As(err, &busy) {
		t.Errorf("two file at once: %v", err)
	}
	if events, err := b.at().File(id, routing.Lease{Owner: "one", Until: b.now.Add(time.Minute)}); err != nil || events != nil {
		t.Errorf("the one that opened it: %v %v", events, err)
	}
	b.now = b.now.Add(time.Hour)
	b.do(b.at().File(id, routing.Lease{Owner: "two", Until: b.now.Add(time.Minute)}))
	b.do(b.at().Filed(id, 7, "u"))
	if events, err := b.at().File(id, routing.Lease{Owner: "three", Until: b.now.Add(time.Minute)}); err != nil || events != nil {
		t.Errorf("it is filed: %v %v", events, err)
	}
}
