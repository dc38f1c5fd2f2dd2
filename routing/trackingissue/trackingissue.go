// Package trackingissue is what entries of a repository's stream have in common that are shown in one
// issue each, such as an incident or a flaky test: the issue, and the work that events leave to be done
// there. It is pure.
package trackingissue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// The work that events leave to be done outside, in the order in which it is done.
const (
	WorkOwners  = "owners"  // find out who owns what the issue is about
	WorkIssue   = "issue"   // file the issue, or bring it up to date
	WorkReopen  = "reopen"  // open the issue again
	WorkMembers = "members" // change the cases that the issue is about
	WorkNote    = "note/"   // and the number of the note: post it as a comment
	WorkClose   = "close"   // close the issue
)

var order = []string{WorkOwners, WorkIssue, WorkReopen, WorkMembers, WorkNote, WorkClose}

// Issue is the issue of an entry. Entries embed it.
type Issue struct {
	ID      string // of the entry
	Number  int    // 0 until it is filed
	URL     string
	Gen     int            // grows with every change of what the issue shows
	Pending []string       // work
	Lease   *routing.Lease // of the process that does what is pending
	Sources []string       // what people did, and counted
}

// Done says that a piece of work is done.
type Done struct {
	ID     string `json:"id"`
	Work   string `json:"work"`             // what of Issue.Pending
	Gen    int    `json:"gen,omitempty"`    // of WorkIssue: what the issue shows now
	Number int    `json:"number,omitempty"` // of WorkIssue
	URL    string `json:"url,omitempty"`
}

// Tracked returns the issue of an entry that embeds it.
func (i Issue) Tracked() Issue { return i }

func (i *Issue) issue() *Issue { return i }

// Redraw notes a change of what the issue shows.
func (i *Issue) Redraw() {
	i.Gen++
	i.Want(WorkIssue)
}

// Comment wants the n-th note, counted from 1, to be posted, and the issue to be brought up to date.
func (i *Issue) Comment(n int) {
	i.Redraw()
	i.Want(fmt.Sprint(WorkNote, n))
}

// Said notes what a person did, "" for nothing, so that it counts once.
func (i *Issue) Said(source string) {
	if source != "" {
		i.Sources = append(i.Sources, source)
	}
}

// Heard reports whether what a person did was counted.
func (i Issue) Heard(source string) bool { return source != "" && slices.Contains(i.Sources, source) }

// Want adds work, once. To close and to reopen cancel each other.
func (i *Issue) Want(work string) {
	opposite := map[string]string{WorkClose: WorkReopen, WorkReopen: WorkClose}[work]
	i.Pending = slices.DeleteFunc(i.Pending, func(w string) bool { return w == opposite })
	if !slices.Contains(i.Pending, work) {
		i.Pending = append(i.Pending, work)
	}
	slices.SortStableFunc(i.Pending, func(a, b string) int { return place(a) - place(b) })
}

// place is that of work in the order.
func place(work string) int {
	if strings.HasPrefix(work, WorkNote) {
		work = WorkNote
	}
	return slices.Index(order, work)
}

// Finish takes work off that is done. An issue that changed while it was written stays to be written.
func (i *Issue) Finish(d Done) {
	n := slices.Index(i.Pending, d.Work)
	if n < 0 {
		return // done by two at once
	}
	if d.Work == WorkIssue {
		if d.Number > 0 {
			i.Number, i.URL = d.Number, d.URL
		}
		if d.Gen < i.Gen {
			return
		}
	}
	i.Pending = slices.Delete(i.Pending, n, n+1)
}

// Entry is what embeds an Issue.
type Entry interface{ Tracked() Issue }

// ByID returns the entry of an id.
func ByID[E Entry](all []E, id string) (E, bool) {
	return find(all, func(i Issue) bool { return i.ID == id })
}

// ByNumber returns the entry whose issue has a number.
func ByNumber[E Entry](all []E, n int) (E, bool) {
	return find(all, func(i Issue) bool { return n > 0 && i.Number == n })
}

func find[E Entry](all []E, is func(Issue) bool) (E, bool) {
	for _, e := range all {
		if is(e.Tracked()) {
			return e, true
		}
	}
	var none E
	return none, false
}

// Change changes the entry of an id by fn, and gives it a lease unless that is nil. What is the noun of
// the entries in errors. fn gets a copy with slices of its own in the Issue; on an error nothing changes.
func Change[E Entry, P interface {
	*E
	issue() *Issue
}](all []E, what, id string, lease *routing.Lease, fn func(*E) error) error {
	n := slices.IndexFunc(all, func(e E) bool { return e.Tracked().ID == id })
	if n < 0 {
		return fmt.Errorf("there is no %s %q", what, id)
	}
	e := all[n]
	i := P(&e).issue()
	i.Pending, i.Sources = slices.Clone(i.Pending), slices.Clone(i.Sources)
	if err := fn(&e); err != nil {
		return fmt.Errorf("%s %s: %w", what, id, err)
	}
	if lease != nil {
		i.Lease = lease
	}
	all[n] = e
	return nil
}
