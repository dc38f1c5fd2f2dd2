// Package surveys asks people about cycles of optimization and takes their
// answers: each step is recorded first, by compare and swap, then carried out on
// GitHub, then noted. A process that is killed anywhere leaves work that the
// next one finds in the register.
package surveys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/survey"
)

// Issues is what a service does to issues.
type Issues interface {
	Upsert(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (github.Issue, bool, error)
	Rewrite(ctx context.Context, r github.Repo, number int, marker string, write func(live string) markdown.Text) (github.Issue, bool, error)
	CloseAs(ctx context.Context, r github.Repo, number int, reason string, comment markdown.Text, marker string) (bool, error)
}

// Comments is what a service posts on issues.
type Comments interface {
	PostOnce(ctx context.Context, r github.Repo, issue int, marker string, body markdown.Text, fresh bool) (string, bool, error)
}

// Repositories tells a missing issue from a missing repository.
type Repositories interface {
	Absent(ctx context.Context, r github.Repo, err error) error
}

// Starts is how a service begins the next cycle.
type Starts interface {
	StartWorkflow(ctx context.Context, r github.Repo, workflow, ref string, inputs map[string]string) error
	SendEvent(ctx context.Context, r github.Repo, event string, payload any) error
	HasRunSince(ctx context.Context, r github.Repo, event string, since time.Time, needle string) (bool, error)
}

// Service asks people about the results of a repository's cycles. Without Issues it only records:
// what is to be posted stays pending.
type Service struct {
	Ledger        ledger.Ledger
	Issues        Issues
	Comments      Comments     // nil only if Issues is
	Repositories  Repositories // nil only if Issues is
	Starts        Starts
	Repo          string // owner/name
	Config        config.File
	Render        render.Options
	DefaultBranch string
	Owner         string        // names this process: "run ID/ATTEMPT job NAME …"
	TTL           time.Duration // how long a process may be silent before another takes over
	Now           func() time.Time
}

// Key is the ledger key of the repository's surveys.
func (d *Service) Key() string { return routing.StreamKey(d.Repo, routing.StreamSurveys) }

// SurveyKey is the key of the marker of a survey's issue.
func (d *Service) SurveyKey(id string) string { return d.Key() + "/" + id }

// State reads the surveys of the repository.
func (d *Service) State(ctx context.Context) (survey.State, error) { return d.store().load(ctx) }

func (d *Service) store() store {
	return store{stream: ledger.Of(d.Ledger, d.Key(), survey.Projection), lease: ledger.Lease{Owner: d.Owner, TTL: d.TTL, Now: d.Now}, now: d.Now}
}

// poster returns what writes to the issues of the surveys, nil if none are written.
func (d *Service) poster() (*poster, error) {
	if d.Issues == nil {
		return nil, nil
	}
	repo, err := github.ParseRepo(d.Repo)
	if err != nil {
		return nil, err
	}
	return &poster{issues: d.Issues, comments: d.Comments, repositories: d.Repositories, repo: repo, key: d.SurveyKey, assignees: d.Config.Escalation.Assignees, mention: d.Config.Escalation.Mention, render: d.Render}, nil
}

func (d *Service) starter() starter {
	return starter{store: d.store(), starts: d.Starts, repo: d.Repo, key: d.Key(), config: d.Config.Feedback, defaultBranch: d.DefaultBranch}
}

// Open asks people about a result, once, and returns the survey.
func (d *Service) Open(ctx context.Context, res survey.Result) (survey.Survey, error) {
	id := res.ID(d.Repo)
	st := d.store()
	reg, fresh, err := st.change(ctx, func(r survey.State) ([]survey.Entry, error) {
		return r.Open(id, res, d.Config.Language, d.Config.Feedback.Wait(), st.lease.Take(), d.Now()), nil
	})
	if err != nil {
		return survey.Survey{}, err
	}
	p, _ := reg.Survey(id)
	return d.apply(ctx, p, fresh)
}

// Answer takes what somebody said to a survey and returns what became of it
// and the survey as it is then.
func (d *Service) Answer(ctx context.Context, id string, said survey.Said) (survey.Outcome, survey.Survey, error) {
	var out survey.Outcome
	st := d.store()
	reg, fresh, err := st.change(ctx, func(r survey.State) (add []survey.Entry, err error) {
		out, add, err = r.Answer(id, said, st.lease.Take(), d.Now())
		return add, err
	})
	if err != nil {
		return "", survey.Survey{}, err
	}
	p, _ := reg.Survey(id)
	p, err = d.apply(ctx, p, fresh)
	return out, p, err
}

// Reconcile does what the time brings about and what others left, and returns the
// surveys that timed out now.
func (d *Service) Reconcile(ctx context.Context) ([]survey.Survey, error) {
	due := map[string]bool{}
	st := d.store()
	reg, _, err := st.change(ctx, func(r survey.State) ([]survey.Entry, error) {
		clear(due)
		entries := r.Due(st.lease.Take(), d.Now())
		for _, e := range entries {
			for _, id := range e.Surveys() {
				due[id] = true
			}
		}
		return entries, nil
	})
	if err != nil {
		return nil, err
	}
	var out []survey.Survey
	for _, p := range reg.Surveys {
		var e error
		fresh := due[p.ID]
		if len(p.Pending) > 1 {
			fresh = false // something older is left too
		}
		p, e = d.apply(ctx, p, fresh)
		err = errors.Join(err, e)
		if due[p.ID] && p.TimedOut {
			out = append(out, p)
		}
	}
	for _, s := range reg.Reentries {
		if !s.Done {
			err = errors.Join(err, d.starter().start(ctx, reg, s, false))
		}
	}
	return out, err
}

// apply does the pending work of a survey. What this process recorded just now
// is fresh: nobody can have done it before. Else it is taken over, unless
// another process is at it.
func (d *Service) apply(ctx context.Context, p survey.Survey, fresh bool) (survey.Survey, error) {
	if len(p.Pending) == 0 {
		return p, nil
	}
	post, err := d.poster()
	if post == nil || err != nil {
		return p, err
	}
	st := d.store()
	if !fresh {
		mine, err := st.take(ctx, p.ID)
		if err != nil || !mine {
			return p, err
		}
	}
	for _, work := range p.Pending {
		ref, url, err := post.do(ctx, p, work, fresh)
		if err != nil {
			return p, fmt.Errorf("survey %s: %w", p.ID, err)
		}
		reg, _, err := st.change(ctx, func(survey.State) ([]survey.Entry, error) { return survey.Done(p.ID, work, ref, url), nil })
		if err != nil {
			return p, err
		}
		p, _ = reg.Survey(p.ID)
	}
	return p, nil
}

// Reply posts text on the survey's issue, once for what it replies to.
func (d *Service) Reply(ctx context.Context, p survey.Survey, to string, text markdown.Text) error {
	post, err := d.poster()
	if err != nil || post == nil {
		return err
	}
	return post.reply(ctx, p, to, text)
}

// Rewrite changes the body of an open survey's issue to what write makes of the
// live one.
func (d *Service) Rewrite(ctx context.Context, p survey.Survey, write func(live string) markdown.Text) error {
	post, err := d.poster()
	if err != nil || post == nil {
		return err
	}
	return post.rewrite(ctx, p, write)
}
