package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/incidents"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/trackingissues"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
)

// Incidents returns the service that keeps the incidents of the repository.
func Incidents(d Deps) *incidents.Service {
	return &incidents.Service{
		Ledger: d.Ledger, Repo: d.Repo.String(), Config: d.Config, Render: d.words(), Owner: d.owner(), TTL: d.LeaseTTL, Now: d.Now, Cases: incidentCases{d},
		GitHub: trackedBy(d),
	}
}

// trackedBy returns what is done to the issues of incidents and flaky tests.
func trackedBy(d Deps) trackingissues.GitHub {
	return trackingissues.GitHub{Issues: d.GitHub.Issues, Comments: d.GitHub.Comments, Repositories: d.GitHub.Repositories}
}

// withIncident returns v with the incident that explains it, and with whether one is open at all. It
// records the causes of v, which may open an incident. The run of a merge group joins none, because
// nothing of a queue is restarted.
func withIncident(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict, base base) (routing.Verdict, error) {
	stale := t.Head != "" && t.Run.SHA != "" && t.Head != t.Run.SHA
	if !d.Config.Incidents.On() || t.Review != nil || t.Subject.Group() || stale || len(incident.CausesOf(v)) == 0 {
		return v, nil
	}
	x := incident.Seen{Case: t.Subject.Key(d.Repo), Author: t.Subject.Author, Base: t.Subject.Base, Verdict: v}
	if v.At.IsZero() {
		x.Verdict.At = d.Now()
	}
	cp := base.cases.Checkpoints[t.Checkpoint]
	switch {
	case t.Subject.Number > 0:
		x.Red = incident.Red(cp, routing.Verdict{})
	case d.DefaultBranch == "" || t.Subject.Branch == d.DefaultBranch:
		c, err := load(ctx, d, x.Case)
		if err != nil {
			return v, err
		}
		cp = c.Checkpoints[t.Checkpoint]
		x.OfBase, x.Base, x.Red = true, t.Subject.Branch, incident.Red(cp, v)
		x.RedRuns = append(x.RedRuns, t.Run)
		fallthrough
	default:
		x.Author = t.Run.Pusher
	}
	for _, parts := range routing.NewestRuns(cp, 2) {
		x.RedRuns = append(x.RedRuns, parts[0].Run)
	}
	s := Incidents(d)
	in, st, err := s.See(ctx, x)
	if err != nil {
		why, over := permanent(err)
		if over != nil && !ReadOnly(err) {
			return v, err
		}
		d.Log.Warn("what the run shares with others is not recorded", "repository", d.Repo.String(), "err", cmp.Or(why, err))
		if st, err = s.State(ctx); err != nil {
			return v, nil
		}
		if known, ok := st.Explaining(v); ok && !x.OfBase {
			in = &known
		}
	}
	if in != nil {
		ref := in.Ref()
		v.Incident = &ref
		return v, nil
	}
	for _, i := range st.Live() {
		if i.Standing == incident.Open {
			v.During = i.ID
			break
		}
	}
	return v, nil
}

// afterIncident does what a decided run means for incidents. It may be done again.
func afterIncident(ctx context.Context, d Deps, r Routed) error {
	if !d.Config.Incidents.On() || r.Review != nil {
		return nil
	}
	cp := r.Case.Checkpoints[r.Checkpoint]
	s := Incidents(d)
	ref, on := routing.OnHoldForIncident(cp)
	n := len(cp.Attempts)
	switch {
	case on:
		return s.Settle(ctx, []incidents.Held{{Case: r.Case.Key, Checkpoint: cp.Name, Ref: ref}})
	case n > 1 && cp.Attempts[n-2].Kind == routing.KindIncident && cp.Attempts[n-1].Verdict.Run.Key() == r.Run.Key():
		if cp.Attempts[n-1].Kind == routing.KindPass {
			return s.Passed(ctx, r.Case.Key, cp.Name, r.Run.SHA)
		}
		return s.Own(ctx, cp.Attempts[n-1].Verdict, r.Case.Key)
	case r.Subject.Number == 0 && routing.Fixes(cp):
		return s.BasePasses(ctx, r.Subject.Branch, cp)
	}
	return nil
}

// incidentCases are the cases of a repository, as its incidents change them.
type incidentCases struct{ Deps }

// Change implements incidents.Cases.
func (h incidentCases) Change(ctx context.Context, key string, e routing.IncidentChanged) (incidents.Outcome, error) {
	c, err := load(ctx, h.Deps, key)
	if err != nil {
		return incidents.Other, err
	}
	cp := c.Checkpoints[e.Checkpoint]
	if !e.Changes(cp) {
		n := len(cp.Attempts)
		if n == 0 || cp.Attempts[n-1].Verdict.Incident == nil || cp.Attempts[n-1].Verdict.Incident.ID != e.Ref.ID || e.Restart && cp.Attempts[n-1].Restarted == "" {
			return incidents.Other, nil
		}
		return incidents.Changed, Finish(ctx, h.Deps, key) // whoever recorded it may have been interrupted
	}
	subject, err := effect.ParseSubject(h.Repo, key)
	if err != nil {
		return incidents.Other, err
	}
	if subject.Number > 0 {
		pr, err := h.GitHub.PullRequests.Get(ctx, h.Repo, subject.Number)
		if err != nil {
			if err = h.gone(ctx, err); err == nil || advice.Of(err).Kind == advice.Gone {
				return incidents.Closed, nil
			}
			return incidents.Other, err
		}
		if pr.State != "open" {
			return incidents.Closed, nil
		}
		if subject, err = h.trusted(ctx, effect.PullRequest(pr, h.DefaultBranch)); err != nil {
			return incidents.Other, err
		}
	}
	line := newLine(h.Deps, subject, h.Effects(subject, ""))
	rec, err := line.Incident(ctx, key, e)
	if err == nil && !rec.Repeated && !h.Waiter.Defer(key) {
		_, err = line.Apply(ctx, rec)
	}
	return incidents.Changed, err
}

// Escalated implements incidents.Cases.
func (h incidentCases) Escalated(ctx context.Context) ([]incidents.Escalated, error) {
	reg, err := h.register(ctx)
	if err != nil {
		return nil, err
	}
	var out []incidents.Escalated
	for _, rec := range reg.AllOpen() {
		for _, m := range rec.Members {
			if routing.IsRepositoryStream(m.Case) {
				continue
			}
			c, err := load(ctx, h.Deps, m.Case)
			if err != nil {
				return out, err
			}
			if v, may := routing.MayJoinIncident(c.Checkpoints[m.Checkpoint]); may {
				out = append(out, incidents.Escalated{Case: m.Case, Checkpoint: m.Checkpoint, Verdict: v})
			}
		}
	}
	return out, nil
}

// incidentIssue handles the events of the issue of an incident. It is done with those alone.
type incidentIssue struct{ Deps }

// Handle implements Handler.
func (h incidentIssue) Handle(ctx context.Context, e *Event) (bool, error) {
	if e.Issue == nil || e.Issue.PullRequest != nil {
		return false, nil
	}
	s := Incidents(h.Deps)
	st, err := s.State(ctx)
	if err != nil {
		return true, err
	}
	in, ok := st.ByNumber(e.Issue.Number)
	if !ok {
		return false, nil
	}
	if e.Action != "closed" && e.Action != "reopened" {
		return true, nil
	}
	who, err := h.sender(ctx, e, h.Config.Answers.PermissionOrDefault())
	if err != nil || who.ignored {
		return true, err
	}
	source := fmt.Sprintf("%s/%d/%s", e.Action, e.Issue.Number, cmp.Or(e.Issue.ClosedAt, e.Issue.UpdatedAt))
	return true, h.said(ctx, s, in, e.Action, e.Issue.StateReason, source, who)
}

// said does what follows when a person closed the issue or opened it again. Of one who may not answer
// it is taken back.
func (h incidentIssue) said(ctx context.Context, s *incidents.Service, in incident.Incident, action, reason, source string, who standing) error {
	switch {
	case in.Heard(source):
		return s.Continue(ctx, in.ID)
	case !who.may && action == "closed" && in.Live():
		_, err := h.GitHub.Issues.Reopen(ctx, h.Repo, in.Number, "", "")
		return errors.Join(err, h.refuse(ctx, in.Number, who, true))
	case !who.may:
		return nil
	case action == "reopened":
		return s.Reopen(ctx, in.ID, source, who.login)
	}
	return s.Close(ctx, in.ID, source, who.login, reason == "not_planned" || reason == "duplicate")
}

// reconcileIncidents continues incidents: what was interrupted, what the time brings about, and issues
// that were closed without an event.
func reconcileIncidents(ctx context.Context, d Deps, held []incidents.Held) error {
	s := Incidents(d)
	st, err := s.State(ctx)
	if err != nil {
		return err
	}
	h := incidentIssue{d}
	var failed error
	for _, in := range st.Live() {
		if in.Standing == incident.Open && in.Number > 0 {
			failed = errors.Join(failed, h.gone(ctx, h.unheard(ctx, s, in)))
		}
	}
	return errors.Join(failed, s.Reconcile(ctx), s.Settle(ctx, held))
}

// unheard handles an issue whose closing sent no event: who closed it is asked for now.
func (h incidentIssue) unheard(ctx context.Context, s *incidents.Service, in incident.Incident) error {
	i, err := h.GitHub.Issues.Get(ctx, h.Repo, in.Number)
	if errors.Is(err, github.ErrMoved) {
		return nil
	}
	if err != nil || i.State != "closed" || i.ClosedByBot || i.ClosedBy == "" || strings.HasSuffix(i.ClosedBy, "[bot]") || h.Now().Sub(i.UpdatedAt) < unheard {
		return err
	}
	who := standing{login: i.ClosedBy, want: h.Config.Answers.PermissionOrDefault()}
	if who.may, who.have, err = h.mayAnswer(ctx, who.login, who.want); err != nil {
		return err
	}
	source := fmt.Sprintf("closed/%d/%s", in.Number, i.ClosedAt.UTC().Format(time.RFC3339))
	return h.said(ctx, s, in, "closed", i.StateReason, source, who)
}
