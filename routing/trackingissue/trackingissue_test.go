package trackingissue

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

type entry struct {
	Issue
	text string
}

// Work is done in one order, each piece once, and an issue that changed while it was written is written
// again.
func TestWork(t *testing.T) {
	t.Parallel()
	var i Issue
	for _, w := range []string{WorkClose, WorkNote + "1", WorkMembers, WorkReopen, WorkOwners, WorkNote + "1"} {
		i.Want(w)
	}
	i.Redraw()
	if got, want := strings.Join(i.Pending, " "), "owners issue reopen members note/1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	written := Done{Work: WorkIssue, Gen: i.Gen, Number: 7, URL: "u"}
	i.Comment(2)
	i.Finish(written)
	if i.Number != 7 || i.URL != "u" || !slices.Contains(i.Pending, WorkIssue) || !slices.Contains(i.Pending, WorkNote+"2") {
		t.Errorf("%+v", i)
	}
	i.Finish(Done{Work: WorkIssue, Gen: i.Gen})
	i.Finish(Done{Work: WorkIssue, Gen: i.Gen})
	if i.Number != 7 || slices.Contains(i.Pending, WorkIssue) {
		t.Errorf("%+v", i)
	}
	i.Said("")
	i.Said("closed/1")
	if !i.Heard("closed/1") || i.Heard("") || i.Heard("closed/2") {
		t.Errorf("%+v", i.Sources)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	before := []entry{{Issue: Issue{ID: "a"}}, {Issue: Issue{ID: "b", Number: 7, Pending: []string{WorkIssue}}}}
	all := slices.Clone(before)
	lease := &routing.Lease{Owner: "p"}
	if err := Change(all, "test", "b", lease, func(e *entry) error { e.text = "x"; e.Want(WorkOwners); return nil }); err != nil {
		t.Fatal(err)
	}
	e, ok := ByID(all, "b")
	if !ok || e.text != "x" || e.Lease != lease || strings.Join(e.Pending, " ") != "owners issue" || strings.Join(before[1].Pending, " ") != "issue" {
		t.Errorf("%+v, before %+v", e, before[1])
	}
	if e, ok := ByNumber(all, 7); !ok || e.ID != "b" {
		t.Errorf("%+v", e)
	}
	if _, ok := ByNumber(all, 0); ok {
		t.Error("an issue that is not filed has no number")
	}
	refuse := func(e *entry) error { e.text = "y"; return errors.New("no") }
	if err := Change(all, "test", "b", nil, refuse); err == nil || err.Error() != "test b: no" || all[1].text != "x" {
		t.Errorf("%v %+v", err, all)
	}
	if err := Change(all, "test", "c", nil, refuse); err == nil || err.Error() != `there is no test "c"` {
		t.Error(err)
	}
}
