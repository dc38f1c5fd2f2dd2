package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// contexts are the repositories that the App works in.
type contexts struct {
	installations *installations
	store         *queue.Store
	metrics       *metrics
	log           *slog.Logger
	appID         int64
	serverURL     string
	leaseTTL      time.Duration
	shown         func(context.Context, eventstream.Stream) // is called with what is written to a ledger branch; nil: nobody

	mu        sync.Mutex
	configs   map[int64]cachedConfig
	plans     handler.PlanCache
	baselines handler.BaselineCache
	bases     handler.MergeBaseCache
	changes   handler.ChangeCache
}

// cachedConfig is the configuration on the default branch of a repository, as it was read last.
type cachedConfig struct {
	config config.File
	file   string    // its path
	acts   bool      // the App acts in the repository, not the Action
	read   time.Time // when reading it began
	until  time.Time
}

// good reports whether a cached configuration is valid for what came at a time. That the Action
// acts is certain only for what came before it was read: this process may not have received the
// push that changed it.
func (p cachedConfig) good(came, now time.Time) bool {
	return now.Before(p.until) && (p.acts || came.Before(p.read))
}

// remembered is how long a configuration is used without reading it again. A push to the default
// branch ends it in the process that receives it.
const remembered = time.Minute

// repoContext is what the work in one repository needs.
type repoContext struct {
	*contexts
	repo   github.Repo
	gh     *github.Client
	ledger *repoLedger
	cachedConfig
}

// stale drops the cached configuration of a repository.
func (f *contexts) stale(repository int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.configs, repository)
}

// open returns the context of the repository of a delivery.
func (f *contexts) open(ctx context.Context, d delivery) (*repoContext, error) {
	if d.event.Repository.ID <= 0 {
		return nil, fmt.Errorf("%w: no repository", handler.ErrMalformed)
	}
	if _, err := github.ParseRepo(d.repository()); err != nil {
		return nil, fmt.Errorf("%w: %w", handler.ErrMalformed, err)
	}
	r, known, err := f.store.Repositories.Get(ctx, d.event.Repository.ID)
	if err != nil {
		return nil, err
	}
	if !known {
		if d.Installation <= 0 {
			return nil, fmt.Errorf("%w: no installation", handler.ErrMalformed)
		}
		if r, err = f.add(ctx, d); err != nil {
			return nil, err
		}
	}
	if r.Gone || r.Name != d.repository() || r.Installation != d.Installation && d.Installation > 0 {
		if r, err = f.follow(ctx, r, d.Installation); err != nil {
			return nil, err
		}
	}
	return f.context(ctx, r, d.ReceivedAt)
}

// add makes the row of an unknown repository, once GitHub confirms that it exists: a signed payload
// may be out of date.
func (f *contexts) add(ctx context.Context, d delivery) (queue.Repository, error) {
	h, err := f.installations.client(d.Installation)
	if err != nil {
		return queue.Repository{}, err
	}
	now, err := h.Repositories.GetByID(ctx, d.event.Repository.ID)
	if err != nil {
		return queue.Repository{}, err
	}
	return f.store.Repositories.Add(ctx, d.event.Repository.ID, d.Installation, now.String())
}

// follow asks GitHub for the present name and installation of a repository. The ones of a delivery
// may be older or newer than the known ones. For a repository that the App is not installed in any
// more the error is ErrNotFound, and its row says so. named is the installation that an event
// names, 0 for none.
func (f *contexts) follow(ctx context.Context, r queue.Repository, named int64) (queue.Repository, error) {
	now, err := f.currentName(ctx, r, named)
	if err == nil {
		// Any installation can read a public repository: only the App itself is told where it
		// is installed.
		r.Installation, err = f.installations.app.InstallationOf(ctx, now)
	}
	if errors.Is(err, github.ErrNotFound) {
		return r, errors.Join(err, f.store.Repositories.Lose(ctx, r.ID))
	}
	if err != nil {
		return r, err
	}
	if now.String() != r.Name {
		f.log.Info("the repository has another name", "repository", now.String(), "before", r.Name)
	}
	r.Name, r.Gone = now.String(), false
	return r, f.store.Repositories.Move(ctx, r.ID, r.Installation, r.Name)
}

// removed reports whether err means that the App was removed from a repository, and records that.
// Its event may have come while no server ran.
func (f *contexts) removed(ctx context.Context, r queue.Repository, err error) bool {
	if kind := advice.Of(err).Kind; kind != advice.Gone && !errors.Is(err, github.ErrReadOnly) {
		return false
	}
	_, err = f.follow(ctx, r, 0)
	return errors.Is(err, github.ErrNotFound)
}

// currentName returns the present name of a repository.
func (f *contexts) currentName(ctx context.Context, r queue.Repository, named int64) (github.Repo, error) {
	var failed error
	for _, installation := range []int64{named, r.Installation} {
		if installation <= 0 {
			continue
		}
		h, err := f.installations.client(installation)
		if err != nil {
			return github.Repo{}, err
		}
		now, err := h.Repositories.GetByID(ctx, r.ID)
		if kind := advice.Of(err).Kind; kind == advice.Gone || errors.Is(err, github.ErrSuspended) {
			if failed == nil || kind != advice.Gone {
				failed = err // of the two, the one that may succeed later
			}
			continue
		}
		return now, err
	}
	return github.Repo{}, failed
}

// unread returns the context of a repository, without its configuration.
func (f *contexts) unread(r queue.Repository) (*repoContext, error) {
	repo, err := github.ParseRepo(r.Name)
	if err != nil {
		return nil, err
	}
	h, err := f.installations.client(r.Installation)
	if err != nil {
		return nil, err
	}
	o := &repoContext{contexts: f, repo: repo, gh: h}
	o.ledger = newRepoLedger(r.Name, r.Ledger, f.store.Ledger(), gitbranch.NewGit(h, repo, ""))
	o.ledger.shown = f.shown
	return o, nil
}

// context returns the context of a repository for what came at a time.
func (f *contexts) context(ctx context.Context, r queue.Repository, came time.Time) (*repoContext, error) {
	o, err := f.unread(r)
	if err != nil {
		return nil, err
	}
	if err := o.readConfig(ctx, r, came); err != nil {
		return nil, err
	}
	if o.acts && o.config.Acts == config.ActsApp && !r.Imported {
		n, err := importLedger(ctx, o.ledger)
		if err != nil {
			return nil, github.Wrap("import the Action's ledger", err)
		}
		if n > 0 {
			f.log.Info("imported the Action's ledger", "repository", r.Name, "streams", n)
		}
		return o, f.store.Repositories.Imported(ctx, r.ID)
	}
	return o, nil
}

// readConfig reads the configuration of the default branch, and whether the App or the Action acts,
// unless the cached one is valid for what came at a time.
func (o *repoContext) readConfig(ctx context.Context, r queue.Repository, came time.Time) error {
	o.mu.Lock()
	p, ok := o.configs[r.ID]
	o.mu.Unlock()
	now := time.Now()
	if ok && p.good(came, now) {
		o.cachedConfig = p
		return nil
	}
	p.read = now
	var data []byte
	var err error
	p.file, data, err = handler.ReadConfig(ctx, o.gh, o.repo)
	if err = o.gh.Repositories.Absent(ctx, o.repo, err); err != nil && (errors.Is(err, github.ErrAbsent) || !errors.Is(err, github.ErrNotFound)) {
		return err
	}
	if p.config, err = config.Parse(p.file, data); err != nil {
		return err
	}
	p.acts = p.config.Acts != config.ActsAction
	if p.config.Acts == "" {
		theirs, err := recordedByAction(ctx, o.ledger)
		if err != nil {
			return github.Wrap("look for the Action's ledger", err)
		}
		p.acts = !theirs
	}
	p.until = time.Now().Add(remembered)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.configs == nil {
		o.configs = map[int64]cachedConfig{}
	}
	o.configs[r.ID], o.cachedConfig = p, p
	return nil
}

// deps are what handlers are given for a delivery.
func (o *repoContext) deps(d delivery, wait *waiter, log *slog.Logger) (handler.Deps, error) {
	rules, err := analysis.Rules(o.config)
	planFile, planName := handler.PlanOf(o.config)
	return handler.Deps{
		Repo: o.repo, GitHub: o.gh, Ledger: o.ledger, Config: o.config, Rules: rules, ServerURL: o.serverURL,
		DefaultBranch: d.event.Repository.DefaultBranch,
		Process:       "app " + o.installations.process + " delivery " + d.ID, LeaseTTL: o.leaseTTL, Now: time.Now, Log: log,
		Reporter: reporter{log}, Goals: handler.NoGoals{}, Metrics: o.metrics, Waiter: wait, Builds: handler.ServedBuilds{}, Plans: &o.plans, Baselines: &o.baselines, MergeBases: &o.bases, Changes: &o.changes,
		Options: handler.Options{
			Reports: o.config.Reports, Workflows: o.config.Workflows, ConfigFile: o.file, AppID: o.appID, Replayed: mostReplayed,
			PlanFile: planFile, PlanName: planName,
		},
	}, err
}

// mostReplayed is how many cases a replay reads from the database.
const mostReplayed = 2000
