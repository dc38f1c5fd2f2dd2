package escalation

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

func TestRequestOf(t *testing.T) {
	t.Parallel()
	p := routing.DefaultPolicy()
	c := play(t, p, run(1, routing.EnvIssue, "f#a"))
	t.Run("a run that came while the checkpoint waited is the newest", func(t *testing.T) {
		cp := c.Checkpoints["unit"]
		cp.Last = routing.Run{ID: "999", SHA: "newer", URL: "there"}
		later := routing.Case{Key: c.Key, Checkpoints: map[string]routing.Checkpoint{"unit": cp}}
		if m := RequestOf(later, "unit", "id", "t", p).Member; m.SHA != "newer" || m.Run != cp.Last.Key() || m.RunURL != "there" || m.First != "TestA" {
			t.Errorf("%+v", m)
		}
		cp.Last.SHA = ""
		later.Checkpoints["unit"] = cp
		if m := RequestOf(later, "unit", "id", "t", p).Member; m.SHA != fmt.Sprintf("%040d", 1) {
			t.Errorf("a run of no commit: %+v", m)
		}
	})
	t.Run("a checkpoint without runs has no commit", func(t *testing.T) {
		empty := routing.Case{Key: "acme/shop#1", Checkpoints: map[string]routing.Checkpoint{"unit": {Name: "unit"}}}
		if m := RequestOf(empty, "unit", "id", "t", p).Member; m.SHA != "" || m.Run != "" || m.Group != "" {
			t.Errorf("%+v", m)
		}
	})
}

func TestPlacingAgain(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.place(call(1, "a", "c1"))
	as := b.reg.Records[0].Members[0]
	placed := func(m Member) Placed {
		t.Helper()
		c := call(1, "a", "c1")
		c.Member, c.Facts.Type = m, m.Type
		p, err := b.at().Place(c, b.limits, b.in)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := placed(as); len(p.Events) != 0 || p.News {
		t.Errorf("what the record says already: %+v", p)
	}
	for name, change := range map[string]func(*Member){
		"generation": func(m *Member) { m.Gen++ },
		"run":        func(m *Member) { m.Run = "another" },
		"type":       func(m *Member) { m.Type = Blocked },
		"group":      func(m *Member) { m.Group = "another" },
		"opened":     func(m *Member) { m.Opened = m.Opened.Add(time.Second) },
	} {
		m := as
		change(&m)
		if p := placed(m); len(p.Events) != 1 || p.News != (name == "run") {
			t.Errorf("another %s: %+v", name, p)
		}
	}
	if p := b.place(call(1, "a", "c2")); len(b.reg.Records[0].Members) != 1 {
		t.Errorf("the host joined twice: %+v, %+v", p, b.reg.Records[0].Members)
	}
	t.Run("the facts are the host's", func(t *testing.T) {
		titled := func(pr int, title string) string {
			c := call(pr, "a", fmt.Sprint("of ", title))
			c.Facts.Title = title
			b.place(c)
			return b.reg.Records[0].Title
		}
		if got := titled(2, "of a guest"); got != "It fails" {
			t.Errorf("a guest joins: %q", got)
		}
		if got := titled(1, "of the host"); got != "of the host" {
			t.Errorf("the host comes again: %q", got)
		}
	})
	if b.reg.Version != len(b.events) {
		t.Errorf("version %d of %d events", b.reg.Version, len(b.events))
	}
}

func TestEarlierRecords(t *testing.T) {
	t.Parallel()
	// resolved is a book with one record that a person resolved.
	resolved := func(t *testing.T, print string) (*book, string) {
		b := newBook(t)
		id := b.place(call(1, print, "c1")).ID
		b.leave(id, 1, Released, "octocat", "c2")
		b.in[Ancestry{"c2", "d3"}] = true
		return b, id
	}
	t.Run("another case with the same failure opens the record again", func(t *testing.T) {
		b, id := resolved(t, "a")
		if p := b.place(call(2, "a", "d3")); p.ID != id {
			t.Errorf("%+v", p)
		}
	})
	t.Run("another case with another failure does not", func(t *testing.T) {
		b, id := resolved(t, "a")
		if p := b.place(call(2, "z", "d3")); p.ID == id {
			t.Errorf("%+v", p)
		}
	})
	t.Run("failures that cannot be compared are the same in the same case", func(t *testing.T) {
		b, id := resolved(t, "")
		if p := b.place(call(1, "", "d3")); p.ID != id {
			t.Errorf("%+v", p)
		}
	})
	t.Run("failures that cannot be compared are not the same in two cases", func(t *testing.T) {
		b, id := resolved(t, "")
		if p := b.place(call(2, "", "d3")); p.ID == id {
			t.Errorf("%+v", p)
		}
	})
	t.Run("a failure that can be compared is not one that cannot", func(t *testing.T) {
		b, id := resolved(t, "")
		if p := b.place(call(1, "a", "d3")); p.ID == id {
			t.Errorf("%+v", p)
		}
	})
	t.Run("a record that the checkpoint moved out of is not opened again", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.leave(id, 1, Moved, "", "c2")
		b.in[Ancestry{"c2", "d3"}] = true
		if p := b.place(call(1, "a", "d3")); p.ID == id {
			t.Errorf("%+v", p)
		}
	})
	t.Run("what a human closed is silent for another case with the same failure at its commit", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "a", "c1")).ID
		b.do(b.at().Dismiss(id, "c1", "octocat"))
		if p := b.place(call(2, "a", "c1")); !p.Silent || p.ID != id {
			t.Errorf("the same failure: %+v", p)
		}
		if p := b.place(call(3, "z", "c1")); p.Silent {
			t.Errorf("another failure: %+v", p)
		}
		if p := b.place(call(4, "", "c1")); p.Silent {
			t.Errorf("a failure that cannot be compared: %+v", p)
		}
	})
	t.Run("a failure that cannot be compared is silent in its own case only", func(t *testing.T) {
		b := newBook(t)
		id := b.place(call(1, "", "c1")).ID
		b.do(b.at().Dismiss(id, "c1", "octocat"))
		if p := b.place(call(2, "", "c1")); p.Silent || p.ID == id {
			t.Errorf("another case: %+v", p)
		}
		if p := b.place(call(1, "", "c1")); !p.Silent || p.ID != id {
			t.Errorf("its own: %+v", p)
		}
	})
}

func TestWithinACommit(t *testing.T) {
	t.Parallel()
	known := map[Ancestry]bool{{"fix", "head"}: true, {"fix", "other"}: false}
	for _, tc := range []struct {
		fix, head string
		in, known bool
	}{
		{"fix", "head", true, true}, {"fix", "other", false, true}, {"fix", "new", false, false},
		{"fix", "fix", true, true}, {"", "head", false, true}, {"fix", "", false, true}, {"", "", false, true},
	} {
		p := placing{request: Request{Member: Member{SHA: tc.head}}, contains: known}
		if in, ok := p.within(tc.fix); in != tc.in || ok != tc.known {
			t.Errorf("%q within %q: %v, known %v", tc.fix, tc.head, in, ok)
		}
	}
}

func TestRecordIDs(t *testing.T) {
	t.Parallel()
	r := State{Records: []Record{{ID: "x/2"}, {ID: "x"}}}
	for id, want := range map[string]string{"y": "y", "x": "x/3", "x/2": "x/2/2"} {
		if got := r.free(id); got != want {
			t.Errorf("a free id for %s is %s, want %s", id, got, want)
		}
	}
}

func TestIssuesWithinAnHour(t *testing.T) {
	t.Parallel()
	r := State{Records: []Record{{OpenedAt: t0}, {OpenedAt: t0, Fuse: true}, {OpenedAt: t0.Add(time.Minute)}}}
	for after, want := range map[time.Duration]int{time.Hour - 1: 2, time.Hour: 1, 2 * time.Hour: 0} {
		if n := r.opened(t0.Add(after)); n != want {
			t.Errorf("%d opened within an hour after %s, want %d", n, after, want)
		}
	}
	t.Run("a summary that was resolved within the hour is opened again, an older one is not", func(t *testing.T) {
		for after, same := range map[time.Duration]bool{0: true, time.Hour - 3*time.Second: true, time.Hour - 2*time.Second: false} {
			b := newBook(t)
			b.limits.MaxIssues = 1
			m := call(9, "z", "c1").Member
			first := Record{ID: b.limits.FuseID, Fuse: true, Members: []Member{m}}
			b.do(b.at().checked(b.at().event(EventOpened, RecordOpened{first})))
			b.leave(first.ID, 9, Passed, "", "c2")
			b.now = b.now.Add(after)
			b.place(call(1, "a", "c1"))
			if p := b.place(call(2, "b", "c1")); !p.Blown || (p.ID == first.ID) != same {
				t.Errorf("after %s: %+v", after, p)
			}
		}
	})
}

func TestOneEscalationOfAnID(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	rec := Record{ID: b.place(call(1, "a", "c1")).ID, Type: Blocked, Members: []Member{call(2, "b", "c1").Member}}
	if _, err := b.at().checked(b.at().event(EventOpened, RecordOpened{rec})); !errors.Is(err, ErrOpen) {
		t.Errorf("another record of the id: %v", err)
	}
	if _, ok := b.reg.ByNumber(0); ok {
		t.Error("a record that is not filed has the number 0")
	}
}

// TestRepeated says what a second report of one thing changes: nothing.
func TestRepeated(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	id := b.place(call(1, "a", "c1")).ID
	changes := func(name string, want bool, events []routing.Event, err error) {
		t.Helper()
		if err != nil || (len(events) > 0) != want {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
	}
	b.do(b.at().Filed(id, 7, "u"))
	events, err := b.at().Filed(id, 7, "u")
	changes("the same issue", false, events, err)
	events, err = b.at().Filed(id, 7, "v")
	changes("another page", true, events, err)
	events, err = b.at().Filed(id, 8, "u")
	changes("another issue", true, events, err)

	b.do(b.at().Dismiss(id, "c1", "octocat"))
	events, err = b.at().Dismiss(id, "c1", "hubot")
	changes("dismissed for the same commit", false, events, err)
	events, err = b.at().Dismiss(id, "c2", "hubot")
	changes("dismissed for another commit", true, events, err)
	b.do(b.at().Recall(id))
	events, err = b.at().Recall(id)
	changes("recalled twice", false, events, err)

	b.do(b.at().Answer(id, Answered{By: "octocat"}))
	b.do(b.at().Answer(id, Answered{By: "octocat", Generation: 1}))
	b.do(b.at().Fanned(id, 1))
	events, err = b.at().Fanned(id, 1)
	changes("fanned twice", false, events, err)
	events, err = b.at().Fanned(id, 0)
	changes("fanned for another generation", true, events, err)

	b.do(b.at().Forget(id))
	events, err = b.at().Forget(id)
	changes("gone twice", false, events, err)
	b.do(b.at().Resolve(id, "octocat", ""))
	b.do(b.at().Settle(id))
	events, err = b.at().Settle(id)
	changes("settled twice", false, events, err)
}

func TestLeftBehind(t *testing.T) {
	t.Parallel()
	left := func(cases ...Member) Record { return Record{ID: "r", ResolvedAt: t0, Left: cases} }
	moved := Member{Case: "acme/shop#1", Checkpoint: "unit", How: Moved}
	passed := moved
	passed.How = Passed
	other := moved
	other.Checkpoint = "lint"
	open := left(moved)
	open.ResolvedAt = time.Time{}
	settled := left(moved)
	settled.Settled = true
	for name, tc := range map[string]struct {
		rec  Record
		want bool
	}{
		"moved out as the last":      {left(moved), true},
		"moved out after others":     {left(passed, moved), true},
		"left before the last":       {left(moved, other), false},
		"passed":                     {left(passed), false},
		"another checkpoint":         {left(other), false},
		"nobody left":                {left(), false},
		"it is open":                 {open, false},
		"its issue shows it already": {settled, false},
	} {
		if got := (State{Records: []Record{tc.rec}}).LeftBehind("acme/shop#1", "unit"); (len(got) == 1) != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	a, b := Member{Case: "a", At: t0}, Member{Case: "b", At: t0.Add(time.Minute)}
	for want, r := range map[string]Record{
		"a": {Members: []Member{a, b}, Left: []Member{b}},
		"b": {Left: []Member{a, b}},
		"s": {Session: "s", Port: "unit"},
	} {
		if got := r.Host().Case; got != want {
			t.Errorf("host %q, want %q", got, want)
		}
	}
	if got := (Record{Members: []Member{a, b}}).Newest().Case; got != "b" {
		t.Errorf("newest %q", got)
	}
}

// TestStoredEvents folds every type of event from its stored form.
func TestStoredEvents(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	id := b.place(call(1, "a", "c1")).ID
	b.place(call(1, "a", "c2"))
	b.do(b.at().File(id, routing.Lease{Owner: "one", Until: b.now.Add(time.Minute)}))
	if l := b.reg.Records[0].Lease; l == nil || l.Owner != "one" {
		t.Errorf("lease %+v", l)
	}
	_, err := b.at().File(id, routing.Lease{Owner: "two", Until: b.now.Add(time.Hour)})
	if want := "another process is filing the issue, until " + b.now.Add(time.Minute).UTC().Format(time.RFC3339); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	b.do(b.at().Forget(id))
	b.do(b.at().Filed(id, 7, "u"))
	b.do(b.at().Answer(id, Answered{By: "octocat"}))
	b.do(b.at().Fanned(id, 0))
	b.do(b.at().Dismiss(id, "c2", "octocat"))
	b.do(b.at().Recall(id))
	b.leave(id, 1, Released, "octocat", "c2")
	b.do(b.at().Settle(id))
	b.in[Ancestry{"c2", "c3"}] = true
	b.place(call(1, "a", "c3"))

	data, err := json.Marshal(b.events)
	if err != nil {
		t.Fatal(err)
	}
	var stored []routing.Event
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	var missing []string
	for typ := range payloads {
		if !slices.ContainsFunc(stored, func(e routing.Event) bool { return e.Type == typ }) {
			missing = append(missing, string(typ))
		}
	}
	if len(missing) > 0 {
		t.Errorf("no event %v", missing)
	}
	if got, err := Fold(stored); err != nil || !reflect.DeepEqual(got, b.reg) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, b.reg)
	}
	t.Run("only the event of a filed issue names one", func(t *testing.T) {
		for _, e := range stored {
			of, n, url, err := Filed(e)
			if filed := e.Type == EventFiled; err != nil || (n == 7) != filed || (of == id) != filed || (url == "u") != filed {
				t.Errorf("%s: %s %d %s %v", e.Type, of, n, url, err)
			}
		}
		if _, _, _, err := Filed(routing.Event{Type: routing.EventRun}); err == nil || !strings.Contains(err.Error(), "unknown event type") {
			t.Errorf("an event of another stream: %v", err)
		}
	})
}
