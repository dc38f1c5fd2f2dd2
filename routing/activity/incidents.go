package activity

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
	"github.com/switchback-ci/switchback/routing/quarantine"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// Filed is the change of an incident or a flaky test that has its issue now.
const Filed = "filed"

// IncidentChange is the Data of IncidentChanged.
type IncidentChange struct {
	Incident   string               `json:"incident"`
	Change     string               `json:"change"` // the event's name, dismissed, or Filed
	Kind       routing.IncidentKind `json:"kind"`
	Cause      string               `json:"cause"`
	Case       string               `json:"case,omitempty"` // of a member, where the change is one's
	Checkpoint string               `json:"checkpoint,omitempty"`
	How        incident.How         `json:"how,omitempty"` // it left
	OnHold     int                  `json:"on_hold"`       // members that wait
	Number     int                  `json:"number,omitempty"`
	URL        string               `json:"url,omitempty"`
	By         string               `json:"by,omitempty"`
}

// QuarantineChange is the Data of QuarantineChanged.
type QuarantineChange struct {
	Entry      string              `json:"entry"`
	Change     string              `json:"change"` // the event's name, or Filed
	Standing   quarantine.Standing `json:"standing"`
	Checkpoint string              `json:"checkpoint"`
	Suite      string              `json:"suite,omitempty"`
	Name       string              `json:"name"`
	Until      *time.Time          `json:"until,omitempty"`
	Owners     []string            `json:"owners,omitempty"`
	Number     int                 `json:"number,omitempty"`
	URL        string              `json:"url,omitempty"`
	By         string              `json:"by,omitempty"`
}

// incidents tells of the incidents of a repository.
func (n *teller) incidents(events []routing.Event, seen int) error {
	st, err := incident.Fold(events[:seen])
	if err != nil {
		return fmt.Errorf("%s: %w", n.key, err)
	}
	for i, e := range events[seen:] {
		about, err := incident.About(e)
		if err != nil {
			return fmt.Errorf("event %d of %s: %w", seen+i+1, n.key, err)
		}
		before, _ := st.ByID(about.ID)
		if st, err = incident.Projection.Apply(st, e); err != nil {
			return fmt.Errorf("event %d of %s: %w", seen+i+1, n.key, err)
		}
		in, ok := st.ByID(about.ID)
		if !ok {
			continue
		}
		x := IncidentChange{Incident: in.ID, Change: e.Type.Name(), Kind: in.Kind(), Cause: in.What(), Case: about.Case, Checkpoint: about.Checkpoint, How: about.How,
			OnHold: in.OnHold(), Number: in.Number, URL: in.URL, By: e.Actor}
		switch {
		case e.Type == incident.EventLeased, e.Type == incident.EventDone && !filed(before.Issue, in.Issue):
			continue
		case e.Type == incident.EventDone:
			x.Change = Filed
		case e.Type == incident.EventResolved && in.Standing == incident.Dismissed:
			x.Change = "dismissed"
		}
		n.tell(IncidentChanged, e.At, n.key+"/"+in.ID, "", x)
	}
	return nil
}

// filed reports whether an issue was filed, or could not be.
func filed(was, is trackingissue.Issue) bool {
	return was.Number == 0 && (is.Number > 0 || len(is.Pending) < len(was.Pending) && was.Pending[0] == trackingissue.WorkIssue)
}

// quarantined tells of the flaky tests of a repository.
func (n *teller) quarantined(events []routing.Event, seen int) error {
	st, err := quarantine.Fold(events[:seen])
	if err != nil {
		return fmt.Errorf("%s: %w", n.key, err)
	}
	for i, e := range events[seen:] {
		was := st
		if st, err = st.Apply(e); err != nil {
			return fmt.Errorf("event %d of %s: %w", seen+i+1, n.key, err)
		}
		id, err := quarantine.About(e)
		if err != nil {
			return fmt.Errorf("event %d of %s: %w", seen+i+1, n.key, err)
		}
		t, ok := st.Entry(id)
		if !ok {
			continue
		}
		x := QuarantineChange{Entry: id, Change: e.Type.Name(), Standing: t.Standing, Checkpoint: t.Checkpoint, Suite: t.Suite, Name: t.Name, Owners: t.Owners,
			Number: t.Number, URL: t.URL, By: e.Actor}
		if !t.Until.IsZero() {
			until := t.Until.UTC()
			x.Until = &until
		}
		before, _ := was.Entry(id)
		switch {
		case e.Type == quarantine.EventLeased, e.Type == quarantine.EventDone && !filed(before.Issue, t.Issue):
			continue
		case e.Type == quarantine.EventDone:
			x.Change = Filed
		}
		n.tell(QuarantineChanged, e.At, n.key+"/"+id, "", x)
	}
	return nil
}
