package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Settings say when an incident opens.
type Settings struct {
	Window   time.Duration // within which subjects share a cause
	Subjects int           // that share it
	Authors  int           // that the subjects have
}

// Defaults returns the settings of an empty configuration.
func Defaults() Settings { return Settings{Window: 30 * time.Minute, Subjects: 3, Authors: 2} }

// How members are restarted.
const (
	Patience = time.Hour      // waited for the run of the canary before the others follow
	Gap      = time.Minute    // between the restarts of two members
	Calm     = 24 * time.Hour // after a dismissal, in which the same cause opens no incident
)

// Steps are the questions to a repository's incidents: what is to be recorded of what happened, at
// Now. Each returns the payloads to append to the state it was asked of; a step that was made before
// returns none.
type Steps struct {
	State
	Now      time.Time
	Lease    *routing.Lease // of the process that does what follows
	Settings Settings
}

// Seen is a run that failed.
type Seen struct {
	Case    string
	Author  string
	Base    string // branch that the pull request is to be merged into, or that the subject is itself
	OfBase  bool   // the subject is the base: its failures open an incident, and do not join one of its own
	Verdict routing.Verdict
	Red     []Cause       // causes by which the base failed twice
	RedRuns []routing.Run // its runs that show it
}

// step applies payloads to the state that further questions are asked of.
func (s *Steps) step(out *[]Payload, ps ...Payload) error {
	for _, e := range Events(ps, "", s.Now) {
		next, err := s.Apply(e)
		if err != nil {
			return err
		}
		s.State = next
	}
	*out = append(*out, ps...)
	return nil
}

// See records a run that failed: it joins the incident that explains it, opens one where enough
// others share its cause, and leaves those that do not explain it any more. It returns the incident
// that explains it, nil if none does.
func (s Steps) See(x Seen) ([]Payload, *Incident, error) {
	var out []Payload
	v := x.Verdict
	if in, ok := s.joins(x); ok {
		err := s.takes(&out, in, x)
		in, _ = s.ByID(in.ID)
		return out, &in, err
	}
	if err := s.releases(&out, x); err != nil {
		return out, nil, err
	}
	causes := CausesOf(v)
	if len(causes) == 0 {
		return out, nil, nil
	}
	if !slices.ContainsFunc(s.Sightings, func(o Sighting) bool {
		return o.Case == x.Case && o.Checkpoint == v.Checkpoint && o.Run.Key() == v.Run.Key() && sameKeys(o.Causes, causes)
	}) {
		if err := s.step(&out, Sighted{Case: x.Case, Checkpoint: v.Checkpoint, Author: x.Author, Run: v.Run, Causes: causes}); err != nil {
			return out, nil, err
		}
	}
	if ps := s.opens(causes, x); len(ps) > 0 {
		if err := s.step(&out, ps...); err != nil {
			return out, nil, err
		}
	}
	in, ok := s.joins(x)
	if !ok {
		return out, nil, nil
	}
	err := s.takes(&out, in, x)
	in, _ = s.ByID(in.ID)
	return out, &in, err
}

func sameKeys(a, b []Cause) bool {
	return slices.EqualFunc(a, b, func(c, d Cause) bool { return c.Key() == d.Key() })
}

// joins returns the incident that takes a run. The base stays out of what comes from itself: it is
// what has to be fixed.
func (s Steps) joins(x Seen) (Incident, bool) {
	in, ok := s.Explaining(x.Verdict)
	return in, ok && !(x.OfBase && in.Kind() == routing.IncidentBase)
}

// takes has a run join an incident. What was restarted and fails by the cause again opens it again.
func (s *Steps) takes(out *[]Payload, in Incident, x Seen) error {
	v := x.Verdict
	m, known := in.Member(x.Case, v.Checkpoint)
	if known && m.Waits() && m.Run == v.Run {
		return nil
	}
	if known && m.Run.Key() == v.Run.Key() && !m.Waits() {
		return nil // the run that was on hold, seen again
	}
	if known && !m.Restarted.IsZero() && in.Standing != Open {
		if err := s.step(out, Reopened{ID: in.ID, Lease: s.Lease}); err != nil {
			return err
		}
	}
	return s.step(out, Joined{ID: in.ID, Member: Member{Case: x.Case, Checkpoint: v.Checkpoint, Author: x.Author, Run: v.Run}})
}

// releases has a checkpoint leave the incidents that do not explain its run: it has a failure of its
// own. A canary that fails otherwise shows that the cause is over.
func (s *Steps) releases(out *[]Payload, x Seen) error {
	for _, in := range s.Live() {
		m, known := in.Member(x.Case, x.Verdict.Checkpoint)
		if !known || m.Left != "" || m.Run.Key() == x.Verdict.Run.Key() && m.Run.Part != x.Verdict.Run.Part && !m.Restarted.IsZero() {
			continue
		}
		if err := s.ends(out, in, m, LeftOwn); err != nil {
			return err
		}
	}
	return nil
}

// ends has a member leave; if it is the canary that was restarted, the others may follow.
func (s *Steps) ends(out *[]Payload, in Incident, m Member, how How) error {
	if in.Standing == Testing && in.Canary.Is(m.Case, m.Checkpoint) && !m.Restarted.IsZero() && how != LeftClosed {
		if err := s.step(out, CanaryPassed{ID: in.ID}); err != nil {
			return err
		}
	}
	return s.step(out, MemberLeft{ID: in.ID, Case: m.Case, Checkpoint: m.Checkpoint, How: how})
}

// opens returns the incident that is to be opened for the causes of a run, if any. Further failures of
// a base that has an incident are added to that: one red base is one incident.
func (s Steps) opens(causes []Cause, x Seen) []Payload {
	var o Opened
	for _, c := range causes {
		next, due := s.due(c, x)
		switch {
		case !due || o.ID != "" && o.Causes[0].Kind != c.Kind:
		case o.ID == "":
			o = next
		default:
			o.Causes = append(o.Causes, c)
		}
	}
	if o.ID == "" {
		return nil
	}
	for _, in := range s.Live() {
		if first := in.Causes[0]; in.Standing == Open && first.Kind == routing.IncidentBase && o.Causes[0].Kind == first.Kind && first.Checkpoint == o.Causes[0].Checkpoint && in.Base == o.Base {
			ps := []Payload{Widened{ID: in.ID, Causes: o.Causes}}
			for _, m := range o.Members {
				if _, known := in.Member(m.Case, m.Checkpoint); !known {
					ps = append(ps, Joined{ID: in.ID, Member: m})
				}
			}
			return ps
		}
	}
	return []Payload{o}
}

// due returns the incident that is to be opened for a cause, if it is.
func (s Steps) due(c Cause, x Seen) (Opened, bool) {
	n := 1
	for _, in := range s.Incidents {
		if !in.Has(c) {
			continue
		}
		if n++; in.Live() || in.Standing == Dismissed && s.Now.Sub(in.EndedAt) < Calm {
			return Opened{}, false
		}
	}
	o := Opened{ID: fmt.Sprintf("%s-%d", c.id(), n), Causes: []Cause{c}, Base: x.Base, Lease: s.Lease}
	subjects, authors := map[string]bool{}, map[string]bool{}
	for _, y := range s.Sightings {
		if d := s.Now.Sub(y.At); d > s.Settings.Window || d < -s.Settings.Window || !slices.ContainsFunc(y.Causes, func(k Cause) bool { return k.Key() == c.Key() }) {
			continue
		}
		if y.Author != "" {
			authors[strings.ToLower(y.Author)] = true
		}
		subjects[y.Case] = true
		if c.Kind == routing.IncidentBase && !strings.Contains(y.Case, "#") {
			continue // the base is what has to be fixed
		}
		m := Member{Case: y.Case, Checkpoint: y.Checkpoint, Author: y.Author, Run: y.Run}
		if i := slices.IndexFunc(o.Members, func(o Member) bool { return o.Is(m.Case, m.Checkpoint) }); i >= 0 {
			o.Members[i] = m
		} else {
			o.Members = append(o.Members, m)
		}
	}
	if len(subjects) >= s.Settings.Subjects && len(authors) >= s.Settings.Authors {
		return o, true
	}
	if slices.ContainsFunc(x.Red, func(k Cause) bool { return k.Key() == c.Key() }) {
		o.Red = x.RedRuns
		return o, true
	}
	return o, false
}

// Pass records that a checkpoint of a case passed: it leaves what holds it. A canary shows that the
// cause is over, and so does a member of an incident of the environment that passes before.
func (s Steps) Pass(key, checkpoint, sha string) ([]Payload, error) {
	var out []Payload
	for _, in := range s.Live() {
		m, known := in.Member(key, checkpoint)
		if !known || m.Left != "" {
			continue
		}
		if err := s.ends(&out, in, m, LeftPassed); err != nil {
			return out, err
		}
		if in.Standing == Open && in.Kind() == routing.IncidentEnvironment {
			if err := s.step(&out, Resolved{ID: in.ID, SHA: sha, Lease: s.Lease}); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// BasePasses records that the newest run of a checkpoint of a branch does not fail by some causes any
// more, which ends the incidents that come from them.
func (s Steps) BasePasses(branch string, cp routing.Checkpoint) ([]Payload, error) {
	var out []Payload
	newest := routing.NewestRuns(cp, 1)
	if len(newest) == 0 || newest[0][0].Run.Key() != cp.Last.Key() {
		return nil, nil
	}
	for _, in := range s.Live() {
		fails := func(c Cause) bool { return c.Checkpoint != cp.Name || !routing.PassesTest(cp, c.Suite, c.Name) }
		if in.Standing != Open || in.Kind() != routing.IncidentBase || in.Base != branch && in.Base != "" || slices.ContainsFunc(in.Causes, fails) {
			continue
		}
		if err := s.step(&out, Resolved{ID: in.ID, SHA: cp.Last.SHA, Lease: s.Lease}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Close ends an incident as a person said.
func (s Steps) Close(id, source string, dismissed bool) []Payload {
	in, ok := s.ByID(id)
	if !ok || in.Heard(source) || in.Standing != Open && !(dismissed && in.Live()) {
		return nil
	}
	return []Payload{Resolved{ID: id, Source: source, Dismissed: dismissed, Lease: s.Lease}}
}

// Reopen opens an incident again, as a person said.
func (s Steps) Reopen(id, source string) []Payload {
	in, ok := s.ByID(id)
	if !ok || in.Heard(source) || in.Standing == Open || in.Standing == Over {
		return nil
	}
	for _, o := range s.Live() {
		if o.ID != id && slices.ContainsFunc(in.Causes, o.Has) {
			return nil
		}
	}
	return []Payload{Reopened{ID: id, Source: source, Lease: s.Lease}}
}

// Leave has a case leave every incident, for a checkpoint or all of them.
func (s Steps) Leave(key, checkpoint string, how How) []Payload {
	var out []Payload
	for _, in := range s.Live() {
		if slices.ContainsFunc(in.Members, func(m Member) bool {
			return m.Case == key && (checkpoint == "" || m.Checkpoint == checkpoint) && m.Left == ""
		}) {
			out = append(out, MemberLeft{ID: in.ID, Case: key, Checkpoint: checkpoint, How: how})
		}
	}
	return out
}

// Due returns what the time brings about for an incident: its canary, the end of waiting for it, or
// that it is over.
func (s Steps) Due(id string) []Payload {
	in, ok := s.ByID(id)
	if !ok {
		return nil
	}
	waiting := in.Waiting()
	switch {
	case in.Standing == Testing && in.Canary.Case == "" && len(waiting) > 0:
		return []Payload{CanaryChosen{ID: id, Case: waiting[0].Case, Checkpoint: waiting[0].Checkpoint}}
	case in.Standing == Testing && in.Canary.Case == "":
		return []Payload{CanaryPassed{ID: id, Quiet: true}}
	case in.Standing == Testing:
		m, _ := in.Member(in.Canary.Case, in.Canary.Checkpoint)
		if !m.Restarted.IsZero() && s.Now.Sub(m.Restarted) >= Patience {
			return []Payload{CanaryPassed{ID: id, Quiet: true}}
		}
	case in.Standing == Resuming && len(waiting) == 0:
		return []Payload{Finished{ID: id, Lease: s.Lease}}
	}
	return nil
}

// Next returns the members that are to be restarted now: the canary, or those whose turn has come.
func (i Incident) Next(now time.Time) []Member {
	switch i.Standing {
	case Testing:
		if m, ok := i.Member(i.Canary.Case, i.Canary.Checkpoint); ok && m.Waits() {
			return []Member{m}
		}
	case Resuming:
		waiting := i.Waiting()
		turns := 1 + int(now.Sub(i.PassedAt)/Gap)
		for _, m := range i.Members {
			if m.Left == "" && !m.Restarted.Before(i.PassedAt) && !m.Restarted.IsZero() {
				turns--
			}
		}
		return waiting[:min(max(turns, 0), len(waiting))]
	}
	return nil
}

// Released records that the newest run of a checkpoint was decided otherwise than by its incidents.
func (s Steps) Released(key string, v routing.Verdict) ([]Payload, error) {
	var out []Payload
	err := s.releases(&out, Seen{Case: key, Verdict: v})
	return out, err
}
