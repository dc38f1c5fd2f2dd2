// Package surveys asks people about cycles of optimization and takes their
// answers: each step is recorded first, by compare and swap, then carried out on
// GitHub, then noted. A process that is killed anywhere leaves work that the
// next one finds in the register.
package surveys

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
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/surveyview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/survey"
)

// Issues is what a service does to issues.
type Issues interface {
	UpsertIssue(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (github.Issue, bool, error)
	RewriteIssue(ctx context.Context, r github.Repo, number int, marker string, write func(live string) markdown.Text) (github.Issue, bool, error)
	CloseIssueAs(ctx context.Context, r github.Repo, number int, reason string, comment markdown.Text, marker string) (bool, error)
	PostOnce(ctx context.Context, r github.Repo, issue int, marker string, body markdown.Text, fresh bool) (string, bool, error)
	Absent(ctx context.Context, r github.Repo, err error) error
}

// Starts is how a service begins the next cycle.
type Starts interface {
	DispatchWorkflow(ctx context.Context, r github.Repo, workflow, ref string, inputs map[string]string) error
	RepositoryDispatch(ctx context.Context, r github.Repo, event string, payload any) error
	DispatchedSince(ctx context.Context, r github.Repo, event string, since time.Time, needle string) (bool, error)
}

// Service is where a repository's prompts are handled. Without Issues it only
// records: what is to be posted stays pending.
type Service struct {
	Ledger        ledger.Ledger
	Issues        Issues
	Starts        Starts
	Repo          string // owner/name
	Config        config.File
	Render        render.Options
	DefaultBranch string
	Owner         string        // names this process: "run ID/ATTEMPT job NAME …"
	TTL           time.Duration // how long a process may be silent before another takes over
	Now           func() time.Time
}

// Key is the ledger key of the register.
func (d *Service) Key() string { return routing.StreamKey(d.Repo, routing.StreamFeedback) }

// PromptKey is the key of the marker of a prompt's issue.
func (d *Service) PromptKey(id string) string { return d.Key() + "/" + id }

// The generations of an issue's body.
const (
	genAsked = 1
	genDone  = 2
)

// State reads the register.
func (d *Service) State(ctx context.Context) (survey.State, error) {
	r, err := d.stream().Load(ctx)
	if err != nil {
		return r, fmt.Errorf("reading the surveys: %w", err)
	}
	return r, nil
}

func (d *Service) stream() ledger.Stream[survey.State] {
	return ledger.Of(d.Ledger, d.Key(), survey.Projection)
}

// lease is this process's on work that it records now.
func (d *Service) lease() *routing.Lease {
	return ledger.Lease{Owner: d.Owner, TTL: d.TTL, Now: d.Now}.Take()
}

// change appends what step returns for the register as it is, and reports
// whether it was anything. What does not follow is refused before it is written.
func (d *Service) change(ctx context.Context, step func(survey.State) ([]survey.Entry, error)) (reg survey.State, changed bool, err error) {
	reg, err = d.stream().Update(ctx, func(r survey.State) ([]routing.Event, error) {
		entries, err := step(r)
		changed = len(entries) > 0
		return survey.Events(entries, d.Now()), err
	})
	if err != nil {
		return reg, false, fmt.Errorf("recording in the surveys: %w", err)
	}
	return reg, changed, nil
}

// Open asks people about a result, once, and returns the prompt.
func (d *Service) Open(ctx context.Context, res survey.Result) (survey.Prompt, error) {
	id := res.ID(d.Repo)
	reg, fresh, err := d.change(ctx, func(r survey.State) ([]survey.Entry, error) {
		return r.Open(id, res, d.Config.Language, d.Config.Feedback.Wait(), d.lease(), d.Now()), nil
	})
	if err != nil {
		return survey.Prompt{}, err
	}
	p, _ := reg.Prompt(id)
	return d.carry(ctx, p, fresh)
}

// Answer takes what somebody said to a prompt and returns what became of it
// and the prompt as it is then.
func (d *Service) Answer(ctx context.Context, id string, said survey.Said) (survey.Outcome, survey.Prompt, error) {
	var out survey.Outcome
	reg, fresh, err := d.change(ctx, func(r survey.State) (add []survey.Entry, err error) {
		out, add, err = r.Answer(id, said, d.lease(), d.Now())
		return add, err
	})
	if err != nil {
		return "", survey.Prompt{}, err
	}
	p, _ := reg.Prompt(id)
	p, err = d.carry(ctx, p, fresh)
	return out, p, err
}

// Reconcile does what the time brings about and what others left, and returns the
// prompts that timed out now.
func (d *Service) Reconcile(ctx context.Context) ([]survey.Prompt, error) {
	due := map[string]bool{}
	reg, _, err := d.change(ctx, func(r survey.State) ([]survey.Entry, error) {
		clear(due)
		entries := r.Due(d.lease(), d.Now())
		for _, e := range entries {
			due[e.Prompt] = true
		}
		return entries, nil
	})
	if err != nil {
		return nil, err
	}
	var out []survey.Prompt
	for _, p := range reg.Prompts {
		var e error
		fresh := due[p.ID]
		if len(p.Pending) > 1 {
			fresh = false // something older is left too
		}
		p, e = d.carry(ctx, p, fresh)
		err = errors.Join(err, e)
		if due[p.ID] && p.TimedOut {
			out = append(out, p)
		}
	}
	for _, s := range reg.Reentries {
		if !s.Done {
			err = errors.Join(err, d.start(ctx, reg, s, false))
		}
	}
	return out, err
}

// carry does the pending work of a prompt. What this process recorded just now
// is fresh: nobody can have done it before. Else it is taken over, unless
// another process is at it.
func (d *Service) carry(ctx context.Context, p survey.Prompt, fresh bool) (survey.Prompt, error) {
	if d.Issues == nil || len(p.Pending) == 0 {
		return p, nil
	}
	if !fresh {
		mine, err := d.take(ctx, p.ID)
		if err != nil || !mine {
			return p, err
		}
	}
	for _, work := range p.Pending {
		ref, url, err := d.do(ctx, p, work, fresh)
		if err != nil {
			return p, fmt.Errorf("prompt %s: %w", p.ID, err)
		}
		reg, _, err := d.change(ctx, func(survey.State) ([]survey.Entry, error) { return survey.Done(p.ID, work, ref, url), nil })
		if err != nil {
			return p, err
		}
		p, _ = reg.Prompt(p.ID)
	}
	return p, nil
}

// take makes this process the one that does a prompt's work.
func (d *Service) take(ctx context.Context, id string) (bool, error) {
	mine := false
	_, _, err := d.change(ctx, func(r survey.State) ([]survey.Entry, error) {
		p, _ := r.Prompt(id)
		if mine = d.free(p.Lease) && len(p.Pending) > 0; !mine {
			return nil, nil
		}
		return survey.TakeOver(id, d.lease()), nil
	})
	return mine, err
}

// free reports whether work that another process has can be taken over: it has
// been silent for too long, or was an earlier part of this very job.
func (d *Service) free(l *routing.Lease) bool {
	return !l.HeldByOther(d.Owner, d.Now()) || l.Owner == "" || job(l.Owner) != "" && job(l.Owner) == job(d.Owner)
}

// job returns the run and the job of an owner, "" if it names none.
func job(owner string) string {
	f := strings.Fields(owner)
	if len(f) < 4 || f[0] != "run" || f[2] != "job" {
		return ""
	}
	run, _, _ := strings.Cut(f[1], "/")
	return run + " " + f[3]
}

// do carries out one piece of work and returns what stands outside.
func (d *Service) do(ctx context.Context, p survey.Prompt, work string, fresh bool) (ref, url string, err error) {
	repo, err := github.ParseRepo(d.Repo)
	if err != nil {
		return "", "", err
	}
	switch {
	case work == survey.WorkIssue:
		i, _, err := d.Issues.UpsertIssue(ctx, repo, marker.Format(d.PromptKey(p.ID), genAsked), github.IssueSpec{
			Title: surveyview.Title(p, d.Render), Body: surveyview.Body(p, d.Render), Assignees: d.Config.Escalation.Assignees,
			Labels: []github.LabelSpec{{Name: "switchback:feedback", Color: "1d76db", Description: "Switchback asks for feedback"}},
		}, "")
		return fmt.Sprint(i.Number), i.URL, err
	case work == survey.WorkAnswer:
		err = d.finish(ctx, repo, p, work, "completed", surveyview.Acknowledged(p, d.Render), fresh)
	case work == survey.WorkTimeout:
		err = d.finish(ctx, repo, p, work, "not_planned", surveyview.TimedOut(p, d.Render), fresh)
	case strings.HasPrefix(work, survey.WorkReminder):
		o := d.Render
		o.Mention = d.Config.Escalation.Mention
		ref, _, err = d.Issues.PostOnce(ctx, repo, p.Number, d.marker(p.ID, work), surveyview.Reminder(p, p.Reminded, o), fresh)
	default:
		err = fmt.Errorf("%q is no work that is known", work)
	}
	if err != nil {
		err = d.Issues.Absent(ctx, repo, err)
	}
	if !errors.Is(err, github.ErrAbsent) && (errors.Is(err, github.ErrMoved) || errors.Is(err, github.ErrNotFound)) {
		return "gone", "", nil // the issue was deleted or transferred: there is nobody to tell
	}
	return ref, "", err
}

func (d *Service) marker(id, work string) string { return marker.Format(d.PromptKey(id)+"/"+work, 0) }

// finish says how a prompt ended, shows it in the issue, and closes that.
func (d *Service) finish(ctx context.Context, repo github.Repo, p survey.Prompt, work, reason string, text markdown.Text, fresh bool) error {
	if _, _, err := d.Issues.PostOnce(ctx, repo, p.Number, d.marker(p.ID, work), text, fresh); err != nil {
		return err
	}
	_, _, err := d.Issues.RewriteIssue(ctx, repo, p.Number, marker.Format(d.PromptKey(p.ID), genDone), func(string) markdown.Text { return surveyview.Closed(p, d.Render) })
	if err != nil {
		return err
	}
	_, err = d.Issues.CloseIssueAs(ctx, repo, p.Number, reason, "", "")
	return err
}

// Reply posts text on the prompt's issue, once for what it replies to.
func (d *Service) Reply(ctx context.Context, p survey.Prompt, to string, text markdown.Text) error {
	repo, err := github.ParseRepo(d.Repo)
	if err != nil || d.Issues == nil {
		return err
	}
	_, _, err = d.Issues.PostOnce(ctx, repo, p.Number, d.marker(p.ID, "reply/"+to), text, false)
	return err
}

// Rewrite changes the body of an open prompt's issue to what write makes of the
// live one.
func (d *Service) Rewrite(ctx context.Context, p survey.Prompt, write func(live string) markdown.Text) error {
	repo, err := github.ParseRepo(d.Repo)
	if err != nil || d.Issues == nil {
		return err
	}
	gen := genAsked
	if !p.Open() {
		gen = genDone
	}
	_, _, err = d.Issues.RewriteIssue(ctx, repo, p.Number, marker.Format(d.PromptKey(p.ID), gen), write)
	return err
}
