package stats

import (
	"fmt"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
)

// Incidents are counts over the incidents of one kind that opened in the window.
type Incidents struct {
	Opened      int `json:"opened"`
	Open        int `json:"open"` // that are not over
	Dismissed   int `json:"dismissed"`
	Reopened    int `json:"reopened"`    // how often
	Checkpoints int `json:"checkpoints"` // that were on hold
	Restarted   int `json:"restarted"`   // of these
}

func (e Incidents) plus(o Incidents) Incidents {
	return Incidents{e.Opened + o.Opened, e.Open + o.Open, e.Dismissed + o.Dismissed, e.Reopened + o.Reopened, e.Checkpoints + o.Checkpoints, e.Restarted + o.Restarted}
}

// IncidentKinds lists what incidents come from in the order of their reports.
func IncidentKinds() []routing.IncidentKind {
	return []routing.IncidentKind{routing.IncidentEnvironment, routing.IncidentBase}
}

// addIncidents counts the incidents of a repository.
func (t *Tally) addIncidents(key string, events []routing.Event) error {
	st, err := incident.Fold(events)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for _, i := range st.Incidents {
		if !t.Window.Holds(i.OpenedAt) {
			continue
		}
		e := Incidents{Opened: 1, Reopened: i.Reopened, Checkpoints: len(i.Members)}
		switch {
		case i.Live():
			e.Open = 1
		case i.Standing == incident.Dismissed:
			e.Dismissed = 1
		}
		for _, m := range i.Members {
			if !m.Restarted.IsZero() {
				e.Restarted++
			}
		}
		t.incidents[i.Kind()] = t.incidents[i.Kind()].plus(e)
	}
	return nil
}

// Incidents returns the figures of incidents, by what they come from.
func (t *Tally) Incidents() map[routing.IncidentKind]Incidents {
	out := map[routing.IncidentKind]Incidents{}
	for _, k := range IncidentKinds() {
		out[k] = t.incidents[k]
	}
	return out
}
