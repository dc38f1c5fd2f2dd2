// Package incidents keeps the incidents of a repository: which runs and people open, join and end
// them, and in which order their cases are restarted. What is recorded is then shown in the one issue,
// as package trackingissues does, and on the checks of its cases.
package incidents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/incidentview"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/trackingissues"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// Outcome is what came of a change of a case.
type Outcome int

// The outcomes.
const (
	Changed Outcome = iota // now, or by a process before that could not note it
	Other                  // the checkpoint is not on hold for the incident: it was decided otherwise
	Closed                 // the pull request is closed
)

// Escalated is a checkpoint that waits for a person.
type Escalated struct {
	Case, Checkpoint, Author string
	Verdict                  routing.Verdict
}

// Cases are the cases of the repository.
type Cases interface {
	// Change records what an incident does to a checkpoint of a case, and applies what follows.
	Change(ctx context.Context, key string, e routing.IncidentChanged) (Outcome, error)
	// Escalated returns the checkpoints with open escalations that an incident may put on hold.
	Escalated(ctx context.Context) ([]Escalated, error)
}

// Service keeps the incidents of a repository.
type Service struct {
	Ledger ledger.Ledger
	GitHub trackingissues.GitHub
	Cases  Cases
	Repo   string // owner/name
	Config config.File
	Render render.Options

	Owner string        // names this process
	TTL   time.Duration // how long a process may be silent before another takes over
	Now   func() time.Time
}

// stream is the stream of the incidents.
func stream(s *Service) trackingissues.Stream[incident.State, incident.Incident, incident.Payload] {
	return trackingissues.Stream[incident.State, incident.Incident, incident.Payload]{
		Ledger: s.Ledger, Repo: s.Repo, Name: routing.StreamIncidents, Projection: incident.Projection, Lease: leaseOf(s),
		Events: incident.Events, Entry: incident.State.ByID,
		Leased: func(id string, l *routing.Lease) incident.Payload { return incident.Leased{ID: id, Lease: l} },
		Done:   func(d trackingissue.Done) incident.Payload { return incident.WorkDone{Done: d} },
	}
}

func leaseOf(s *Service) ledger.Lease { return ledger.Lease{Owner: s.Owner, TTL: s.TTL, Now: s.Now} }

// State reads the incidents of the repository.
func (s *Service) State(ctx context.Context) (incident.State, error) { return stream(s).Load(ctx) }

// change appends what step returns for the newest state, said by a person or "".
func (s *Service) change(ctx context.Context, by string, step func(incident.Steps) ([]incident.Payload, error)) (incident.State, error) {
	return stream(s).Change(ctx, by, func(st incident.State, now time.Time) ([]incident.Payload, error) {
		return step(incident.Steps{State: st, Now: now, Lease: leaseOf(s).Take(), Settings: s.Config.Incidents.Opens()})
	})
}

// See records a run that failed, files the issue of an incident that it opens, and returns the incident
// that explains it, nil if none does, with the newest state.
func (s *Service) See(ctx context.Context, x incident.Seen) (*incident.Incident, incident.State, error) {
	var in *incident.Incident
	st, err := s.change(ctx, "", func(q incident.Steps) (ps []incident.Payload, err error) {
		ps, in, err = q.See(x)
		return ps, err
	})
	if err != nil {
		return nil, st, err
	}
	filed := false
	for _, now := range st.Live() {
		if now.Number > 0 {
			continue
		}
		if err := s.Apply(ctx, now); err != nil {
			return in, st, err
		}
		filed = true
	}
	if filed {
		if st, err = s.State(ctx); err != nil {
			return in, st, err
		}
	}
	if in != nil {
		now, _ := st.ByID(in.ID)
		in = &now
	}
	return in, st, nil
}

// Passed records that a checkpoint of a case passed.
func (s *Service) Passed(ctx context.Context, key, checkpoint, sha string) error {
	return s.each(ctx, "", func(q incident.Steps) ([]incident.Payload, error) { return q.Pass(key, checkpoint, sha) })
}

// Own records that a checkpoint of a case is no longer on hold for its incidents.
func (s *Service) Own(ctx context.Context, v routing.Verdict, key string) error {
	return s.each(ctx, "", func(q incident.Steps) ([]incident.Payload, error) { return q.Released(key, v) })
}

// BasePasses records the newest run of a checkpoint of a branch.
func (s *Service) BasePasses(ctx context.Context, branch string, cp routing.Checkpoint) error {
	return s.each(ctx, "", func(q incident.Steps) ([]incident.Payload, error) { return q.BasePasses(branch, cp) })
}

// Left records that a case is over: its pull request is closed.
func (s *Service) Left(ctx context.Context, key string) error {
	return s.each(ctx, "", func(q incident.Steps) ([]incident.Payload, error) { return q.Leave(key, "", incident.LeftClosed), nil })
}

// Close ends an incident as a person said, and restarts what it holds unless it is dismissed.
func (s *Service) Close(ctx context.Context, id, source, by string, dismissed bool) error {
	return s.each(ctx, by, func(q incident.Steps) ([]incident.Payload, error) { return q.Close(id, source, dismissed), nil })
}

// Reopen opens an incident again, as a person said.
func (s *Service) Reopen(ctx context.Context, id, source, by string) error {
	return s.each(ctx, by, func(q incident.Steps) ([]incident.Payload, error) { return q.Reopen(id, source), nil })
}

// each records a step, and does what follows from it for the incidents.
func (s *Service) each(ctx context.Context, by string, step func(incident.Steps) ([]incident.Payload, error)) error {
	if _, err := s.change(ctx, by, step); err != nil {
		return err
	}
	return s.Reconcile(ctx)
}

// Reconcile does what is pending for all incidents, and what the time brings about.
func (s *Service) Reconcile(ctx context.Context) error {
	st, err := s.State(ctx)
	for _, in := range st.Incidents {
		err = errors.Join(err, s.Continue(ctx, in.ID))
	}
	return err
}

// Held is a checkpoint that is on hold for an incident, or that may be put on hold for one, as its case
// says.
type Held struct {
	Case, Checkpoint string
	Ref              routing.IncidentRef // of the incident that it is on hold for
	Verdict          routing.Verdict     // of one that may be put on hold
}

// HeldIn returns the checkpoints of a case that are on hold for an incident, or may be put there.
func HeldIn(c routing.Case) []Held {
	var out []Held
	for _, name := range c.Names() {
		if ref, on := routing.OnHoldForIncident(c.Checkpoints[name]); on {
			out = append(out, Held{Case: c.Key, Checkpoint: name, Ref: ref})
		} else if v, may := routing.MayJoinIncident(c.Checkpoints[name]); may {
			out = append(out, Held{Case: c.Key, Checkpoint: name, Verdict: v})
		}
	}
	return out
}

// Settle puts members on hold that were decided while their incident was opened, links the issue on
// checks that were written before it was filed, and restarts what was put on hold while its incident
// ended.
func (s *Service) Settle(ctx context.Context, all []Held) error {
	if len(all) == 0 {
		return nil
	}
	st, err := s.State(ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, x := range all {
		in, ok := st.ByID(x.Ref.ID)
		if x.Ref.ID == "" {
			if in, ok = st.Explaining(x.Verdict); ok {
				m, _ := in.Member(x.Case, x.Checkpoint)
				ok = m.Case != "" && m.Waits() && m.Run.Key() == x.Verdict.Run.Key()
			}
			if ok {
				_, failed := s.Cases.Change(ctx, x.Case, routing.IncidentChanged{Checkpoint: x.Checkpoint, Ref: in.Ref()})
				err = errors.Join(err, failed)
			}
			continue
		}
		if !ok {
			continue
		}
		if late := in.Late(x.Case, x.Checkpoint); late || x.Ref.Number == 0 && in.Number > 0 {
			_, failed := s.Cases.Change(ctx, x.Case, routing.IncidentChanged{Checkpoint: x.Checkpoint, Ref: in.Ref(), Restart: late, SHA: in.SHA})
			err = errors.Join(err, failed)
		}
		if in.Live() && !seen[in.ID] {
			seen[in.ID] = true
			err = errors.Join(err, s.Continue(ctx, in.ID))
		}
	}
	return err
}

// Continue posts what is pending for an incident, and restarts what is due.
func (s *Service) Continue(ctx context.Context, id string) error {
	for {
		st, err := s.State(ctx)
		if err != nil {
			return err
		}
		in, _ := st.ByID(id)
		if err := s.Apply(ctx, in); err != nil {
			return err
		}
		steps := incident.Steps{State: st, Now: s.Now().UTC()}
		if len(steps.Due(id)) > 0 {
			if _, err := s.change(ctx, "", func(q incident.Steps) ([]incident.Payload, error) { return q.Due(id), nil }); err != nil {
				return err
			}
			continue
		}
		next := in.Next(steps.Now)
		if len(next) == 0 {
			return nil
		}
		for _, m := range next {
			if err := restart(ctx, s, in, m); err != nil {
				return err
			}
		}
	}
}

// restart continues what a member is on hold for, once: the case itself records it, whoever asks.
func restart(ctx context.Context, s *Service, in incident.Incident, m incident.Member) error {
	came, err := s.Cases.Change(ctx, m.Case, routing.IncidentChanged{Checkpoint: m.Checkpoint, Ref: in.Ref(), Restart: true, SHA: in.SHA})
	if err != nil {
		return fmt.Errorf("restarting %s: %w", m.Case, err)
	}
	_, err = s.change(ctx, "", func(q incident.Steps) ([]incident.Payload, error) {
		now, _ := q.ByID(in.ID)
		if cur, ok := now.Member(m.Case, m.Checkpoint); !ok || !cur.Waits() || cur.Run != m.Run {
			return nil, nil
		}
		switch came {
		case Other:
			return []incident.Payload{incident.MemberLeft{ID: in.ID, Case: m.Case, Checkpoint: m.Checkpoint, How: incident.LeftOther}}, nil
		case Closed:
			return []incident.Payload{incident.MemberLeft{ID: in.ID, Case: m.Case, How: incident.LeftClosed}}, nil
		}
		ps := []incident.Payload{incident.MemberRestarted{ID: in.ID, Case: m.Case, Checkpoint: m.Checkpoint}}
		if in.Standing == incident.Testing && in.Kind() == routing.IncidentBase && !s.Config.Base.Update {
			ps = append(ps, incident.CanaryPassed{ID: in.ID, Quiet: true}) // its author was asked: no run follows by itself
		}
		return ps, nil
	})
	return err
}

// Apply does the pending work of an incident, unless another process is at it.
func (s *Service) Apply(ctx context.Context, in incident.Incident) error {
	return stream(s).Apply(ctx, s.GitHub, texts{s}, in)
}

// texts are what is posted for incidents.
type texts struct{ *Service }

// Issue implements trackingissues.Texts.
func (p texts) Issue(in incident.Incident) github.IssueSpec {
	o, e := p.Render, p.Config.Escalation
	spec := github.IssueSpec{
		Title:  incidentview.Title(in, o),
		Labels: []github.LabelSpec{{Name: "switchback:incident", Color: "b60205", Description: "Many cases that fail by one cause"}},
	}
	if p.Config.Policy("", "", nil).Notify {
		spec.Assignees = e.Assignees
		if o.Mention = e.Mention; o.Mention != "" && !strings.HasPrefix(o.Mention, "@") {
			o.Mention = "@" + o.Mention
		}
	}
	spec.Body = incidentview.Body(in, o)
	return spec
}

// Note implements trackingissues.Texts.
func (p texts) Note(in incident.Incident, n int) (markdown.Text, bool) {
	if n < 1 || n > len(in.Notes) {
		return "", false
	}
	return incidentview.Note(in.Notes[n-1], p.Render), true
}

// Other implements trackingissues.Texts.
func (p texts) Other(ctx context.Context, _ github.Repo, in incident.Incident, work string) (incident.Payload, error) {
	done := incident.WorkDone{Done: trackingissue.Done{ID: in.ID, Work: work}}
	if work != trackingissue.WorkMembers {
		return done, fmt.Errorf("%q is no work that is known", work)
	}
	return done, p.members(ctx, in)
}

// members puts the members on hold that were decided before the incident was opened, links the issue on
// their checks, and folds in open escalations that the incident explains.
func (p texts) members(ctx context.Context, in incident.Incident) error {
	join := func(key, checkpoint string) (Outcome, error) {
		return p.Cases.Change(ctx, key, routing.IncidentChanged{Checkpoint: checkpoint, Ref: in.Ref()})
	}
	var failed error
	for _, m := range in.Waiting() {
		_, err := join(m.Case, m.Checkpoint)
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return failed
	}
	open, err := p.Cases.Escalated(ctx)
	if err != nil {
		return err
	}
	for _, e := range open {
		if in.Kind() == routing.IncidentBase && !strings.Contains(e.Case, "#") {
			continue // the base is what has to be fixed
		}
		explained := false
		_, err := p.change(ctx, "", func(q incident.Steps) ([]incident.Payload, error) {
			now, ok := q.Explaining(e.Verdict)
			if explained = ok && now.ID == in.ID; !explained {
				return nil, nil
			}
			if m, known := now.Member(e.Case, e.Checkpoint); known && m.Waits() {
				return nil, nil
			}
			return []incident.Payload{incident.Joined{ID: in.ID, Member: incident.Member{Case: e.Case, Checkpoint: e.Checkpoint, Author: e.Author, Run: e.Verdict.Run}}}, nil
		})
		if err != nil {
			return err
		}
		if explained {
			if _, err := join(e.Case, e.Checkpoint); err != nil {
				return err
			}
		}
	}
	return nil
}
