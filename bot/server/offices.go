package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/action"
	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// offices are the repositories that the App works in, each with whom it speaks
// as, where it records and what its configuration says.
type offices struct {
	app       *github.App
	appID     int64
	login     string // of the App's bot
	serverURL string
	name      string // of this process
	store     *queue.Store
	settings  Settings
	metrics   *metrics
	log       *slog.Logger
	shown     func(context.Context, eventstream.Stream) // is told of what is written to a branch

	mu     sync.Mutex
	hubs   map[int64]*github.Hub
	asked  []int64 // installations of hubs, the one that was asked for last at the end
	plates map[int64]plate

	plans action.PlanCache
}

// plate is what the default branch of a repository says, as it was read last.
type plate struct {
	config config.File
	acts   bool
	read   time.Time // when it was begun to be read
	until  time.Time
}

// good reports whether a plate serves for what came at a time. That others act
// is known of what came before it was read: what is left to them is done with,
// and a process need not have heard of the push that changed it.
func (p plate) good(came, now time.Time) bool {
	return now.Before(p.until) && (p.acts || came.Before(p.read))
}

// remembered is how long a configuration is used without asking again. A push
// to the default branch ends it in the process that hears of it.
const remembered = time.Minute

// office is one repository that is worked in.
type office struct {
	*offices
	repo github.Repo
	hub  *github.Hub
	book *books
	plate
}

// mostHubs bounds how many installations answers of GitHub, and tokens, are kept of. Who
// is asked for again after that is asked GitHub for anew; the ration is in the database.
const mostHubs = 32

// speaker returns the Hub of an installation. There is one of each in a process,
// and one ration for all processes.
func (f *offices) speaker(installation int64) (*github.Hub, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h := f.hubs[installation]; h != nil {
		f.asked = append(slices.DeleteFunc(f.asked, func(id int64) bool { return id == installation }), installation)
		return h, nil
	}
	h, err := f.app.Installation(installation, github.Options{
		Login: f.login, Former: []string{github.ActionsBot}, Log: f.log.With("installation", installation), ContentInterval: f.settings.Interval,
		MaxWait: 10 * time.Second, IssueCap: 100, CacheBytes: f.settings.Cache << 20, Observe: f.metrics.answered(installation),
		Ration: rationOf(f.store, fmt.Sprintf("installation %d", installation)), Holder: holder(f.store, f.name), Rates: f.settings.Limits,
	})
	if err != nil {
		return nil, err
	}
	if f.hubs == nil {
		f.hubs = map[int64]*github.Hub{}
	}
	f.hubs[installation] = h
	if f.asked = append(f.asked, installation); len(f.asked) > mostHubs {
		delete(f.hubs, f.asked[0])
		f.asked = f.asked[1:]
	}
	return h, nil
}

// forget ends what is kept of an installation: its tokens are no longer good.
func (f *offices) forget(installation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.hubs, installation)
	f.asked = slices.DeleteFunc(f.asked, func(id int64) bool { return id == installation })
}

// stale lets the configuration of a repository be read again.
func (f *offices) stale(repository int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.plates, repository)
}

// open returns the office that a delivery is about.
func (f *offices) open(ctx context.Context, d delivery) (*office, error) {
	if d.repositoryID <= 0 {
		return nil, fmt.Errorf("%w: no repository", action.ErrMalformed)
	}
	if _, err := github.ParseRepo(d.repository); err != nil {
		return nil, fmt.Errorf("%w: %w", action.ErrMalformed, err)
	}
	r, known, err := f.store.Repository(ctx, d.repositoryID)
	if err != nil {
		return nil, err
	}
	if !known {
		if d.Installation <= 0 {
			return nil, fmt.Errorf("%w: no installation", action.ErrMalformed)
		}
		if r, err = f.settle(ctx, d); err != nil {
			return nil, err
		}
	}
	if r.Gone || r.Name != d.repository || r.Installation != d.Installation && d.Installation > 0 {
		if r, err = f.follow(ctx, r, d); err != nil {
			return nil, err
		}
	}
	return f.office(ctx, r, d.ReceivedAt)
}

// settle makes the row of a repository that was not known, once GitHub has
// said that there is one: anything of a signed payload may be out of date.
func (f *offices) settle(ctx context.Context, d delivery) (queue.Repository, error) {
	h, err := f.speaker(d.Installation)
	if err != nil {
		return queue.Repository{}, err
	}
	now, err := h.RepositoryByID(ctx, d.repositoryID)
	if err != nil {
		return queue.Repository{}, err
	}
	return f.store.AddRepository(ctx, d.repositoryID, d.Installation, now.String())
}

// follow finds out what a repository is called now, and of whose installation
// it is: a delivery tells another, and may be older or newer than what is known.
// One that the App is not installed in any more is ErrNotFound, and is left.
func (f *offices) follow(ctx context.Context, r queue.Repository, d delivery) (queue.Repository, error) {
	now, err := f.called(ctx, r, d)
	if err == nil {
		// Whoever is installed anywhere reads what is public: only the App itself
		// is told where it is installed.
		r.Installation, err = f.app.InstallationOf(ctx, now)
	}
	if errors.Is(err, github.ErrNotFound) {
		return r, errors.Join(err, f.store.LoseRepository(ctx, r.ID))
	}
	if err != nil {
		return r, err
	}
	if now.String() != r.Name {
		f.log.Info("the repository has another name", "repository", now.String(), "before", r.Name)
	}
	r.Name, r.Gone = now.String(), false
	return r, f.store.MoveRepository(ctx, r.ID, r.Installation, r.Name)
}

// left reports whether err comes from that the App was taken from a repository without
// a word, and notes it then: that was told while no server ran.
func (f *offices) left(ctx context.Context, r queue.Repository, err error) bool {
	if kind := advice.Of(err).Kind; kind != advice.Gone && !errors.Is(err, github.ErrReadOnly) {
		return false
	}
	_, err = f.follow(ctx, r, delivery{})
	return errors.Is(err, github.ErrNotFound)
}

// called returns what a repository is called now.
func (f *offices) called(ctx context.Context, r queue.Repository, d delivery) (github.Repo, error) {
	var failed error
	for _, installation := range []int64{d.Installation, r.Installation} {
		if installation <= 0 {
			continue
		}
		h, err := f.speaker(installation)
		if err != nil {
			return github.Repo{}, err
		}
		now, err := h.RepositoryByID(ctx, r.ID)
		if kind := advice.Of(err).Kind; kind == advice.Gone || errors.Is(err, github.ErrSuspended) {
			if failed == nil || kind != advice.Gone {
				failed = err // of the two, the one that may come right
			}
			continue
		}
		return now, err
	}
	return github.Repo{}, failed
}

// enter returns the office of a repository, of which nothing was read yet.
func (f *offices) enter(r queue.Repository) (*office, error) {
	repo, err := github.ParseRepo(r.Name)
	if err != nil {
		return nil, err
	}
	h, err := f.speaker(r.Installation)
	if err != nil {
		return nil, err
	}
	o := &office{offices: f, repo: repo, hub: h}
	o.book = newBooks(r.Name, r.Ledger, f.store.Ledger(), gitbranch.NewGit(h.Client(), repo.Owner, repo.Name, ""))
	o.book.shown = f.shown
	return o, nil
}

// office returns the office of a repository for what came at a time.
func (f *offices) office(ctx context.Context, r queue.Repository, came time.Time) (*office, error) {
	o, err := f.enter(r)
	if err != nil {
		return nil, err
	}
	if err := o.look(ctx, r, came); err != nil {
		return nil, err
	}
	if o.acts && o.config.Acts == config.ActsApp && !r.Imported {
		n, err := importBooks(ctx, o.book)
		if err != nil {
			return nil, github.Wrap("take over the Action's ledger", err)
		}
		if n > 0 {
			f.log.Info("took over the Action's ledger", "repository", r.Name, "streams", n)
		}
		return o, f.store.ImportedRepository(ctx, r.ID)
	}
	return o, nil
}

// look reads the configuration of the default branch, and who acts, unless that
// is known for what came at a time.
func (o *office) look(ctx context.Context, r queue.Repository, came time.Time) error {
	o.mu.Lock()
	p, ok := o.plates[r.ID]
	o.mu.Unlock()
	now := time.Now()
	if ok && p.good(came, now) {
		o.plate = p
		return nil
	}
	p.read = now
	data, err := o.hub.File(ctx, o.repo, config.Path, "")
	if err = o.hub.Absent(ctx, o.repo, err); err != nil && (errors.Is(err, github.ErrAbsent) || !errors.Is(err, github.ErrNotFound)) {
		return err
	}
	if p.config, err = config.Parse(config.Path, data); err != nil {
		return err
	}
	p.acts = p.config.Acts != config.ActsAction
	if p.config.Acts == "" {
		theirs, err := recordedByAction(ctx, o.book)
		if err != nil {
			return github.Wrap("look for the Action's ledger", err)
		}
		p.acts = !theirs
	}
	p.until = time.Now().Add(remembered)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.plates == nil {
		o.plates = map[int64]plate{}
	}
	o.plates[r.ID], o.plate = p, p
	return nil
}

// work is what the core is given for a delivery.
func (o *office) work(d delivery, log *slog.Logger) action.Work {
	return action.Work{
		AppID: o.appID, Repo: o.repo, Hub: o.hub, Ledger: o.book, Config: o.config, ServerURL: o.serverURL,
		Name: "app " + o.name + " delivery " + d.ID, ClaimTTL: o.settings.Claim, Log: log, Received: d.ReceivedAt, Plans: &o.plans,
		Decided: o.metrics.decided, Done: o.metrics.done,
	}
}
