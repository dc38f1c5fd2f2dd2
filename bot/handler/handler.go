// Package handler has one handler for each GitHub event. The Action and the App construct the same
// handlers from explicit dependencies; Table is the table of all events, their handlers and the
// permissions that they need.
//
// A handler knows neither the runner's environment nor HTTP. What differs between the Action and
// the App is behind small interfaces: Reporter, Metrics, Waiter, Builds and Goals.
package handler

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/survey"
)

// Handler does what one event asks for. An event that is handled again changes nothing the second
// time.
type Handler interface {
	// Handle reports whether the event is done with, so that the handlers behind this one in the
	// table leave it alone. An error of a handler that is not done does not keep them from it.
	// github.Verdict says what an error means, and when to try again.
	Handle(ctx context.Context, e *Event) (done bool, err error)
}

// Deps are what handlers work with, for one event of one repository. All of it is set, but for what
// says otherwise.
type Deps struct {
	Repo          github.Repo
	GitHub        *github.Client
	Ledger        ledger.Ledger
	Config        config.File
	Rules         *diagnosis.Rules // of diagnosis, made from Config
	ServerURL     string           // where people see GitHub, "" for github.com
	DefaultBranch string           // of the repository, "" if the event does not say

	Process  string        // names this process among those that write to the ledger
	LeaseTTL time.Duration // how long a process may be silent before another one takes over
	Now      func() time.Time
	Log      *slog.Logger

	Reporter Reporter
	Metrics  Metrics
	Waiter   Waiter
	Goals    Goals
	Builds   Builds
	Plans    *PlanCache // nil keeps no plans between events

	Baselines  *BaselineCache  // nil keeps no logs of successful jobs between events
	MergeBases *MergeBaseCache // nil keeps no merge bases between events
	Changes    *ChangeCache    // nil keeps nothing of what pull requests change between events

	Options Options
}

// Options say which runs and files the handlers are about.
type Options struct {
	Checkpoint string   // that a run is of, "" for the name of its workflow
	Reports    []string // globs of report files in artifacts; none: logs are read
	Workflows  []string // whose runs are analyzed; none: all
	ConfigFile string   // path of the configuration
	AppID      int64    // of the GitHub App whose checks are ours, 0 for any
	Replayed   int      // the most cases that one replay reads
	Temp       string   // directory for temporary files, "" for the system's

	PlanFile string // where the plan of ports is
	PlanName string // its name in the ledger
	Resume   string // workflow that continues a build, "" for the one that began it
}

// ReadConfig reads the configuration on the default branch of a repository, and returns its path:
// config.Path, or config.OtherPath where that is not there. Without either the error is
// github.ErrNotFound, and the path is config.Path.
func ReadConfig(ctx context.Context, gh *github.Client, r github.Repo) (name string, data []byte, err error) {
	data, err = gh.Contents.Get(ctx, r, config.Path, "")
	if !errors.Is(err, github.ErrNotFound) {
		return config.Path, data, err
	}
	if other, e := gh.Contents.Get(ctx, r, config.OtherPath, ""); !errors.Is(e, github.ErrNotFound) {
		return config.OtherPath, other, e
	}
	return config.Path, nil, err
}

// PlanOf returns where the plan of a configuration is, and its name in the ledger.
func PlanOf(c config.File) (file, name string) { return c.PlanPath(), planfile.Name(c.PlanPath()) }

// Reporter shows what handlers did to whoever watches them work.
type Reporter interface {
	Notice(text string)
	Warning(text string)
	// Tests takes every test of the run that is analyzed next; nil: they are not kept.
	Tests() analysis.Tests
	// Routed receives what came of an analyzed run. Its error fails the handler.
	Routed(r Routed) error
	// Replayed receives what came of a replay. Its error fails the handler.
	Replayed(r Replayed) error
}

// Metrics count what is decided and what is done.
type Metrics interface {
	Decided(d routing.Decision, class routing.Class)
	Applied(kind routing.EffectKind, err error)
}

// Waiter waits, or says by its error when the event is to be handled again.
type Waiter interface {
	// Pause waits until others had that much time.
	Pause(ctx context.Context, d time.Duration) error
	// Delay waits until an effect is due, d after the event.
	Delay(ctx context.Context, d time.Duration) error
	// Defers reports whether the effects of cases are left to a later Finish, which applies those of
	// many runs at once. It does not change while an event is handled.
	Defers() bool
	// Defer is Defers, and has the effects of a case left to Finish if it is true.
	Defer(caseKey string) bool
}

// Goals take the goals of surveys that are closed.
type Goals interface {
	WriteGoals(closed ...survey.Survey) error
}

// NoGoals implements Goals where the next cycle reads the goal in its dispatch.
type NoGoals struct{}

// WriteGoals implements Goals.
func (NoGoals) WriteGoals(...survey.Survey) error { return nil }

// Patience is how long a handler may wait where other work waits. What takes longer is done
// when the event is handled again.
const Patience = 3 * time.Second

// ErrMalformed says that a payload is not what its event says. Delivered again it would be the same.
var ErrMalformed = advice.New("the payload is malformed", advice.Advice{Kind: advice.Invalid, Reason: "malformed"})

func (d Deps) notice(format string, a ...any) { d.Reporter.Notice(fmt.Sprintf(format, a...)) }

// owner returns another name at each call: a lease that an earlier part of this process left behind
// is another's.
func (d Deps) owner() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return d.Process + " " + hex.EncodeToString(b[:])
}

// Render returns the options of texts that link a run, "" for none.
func (d Deps) Render(runURL string) render.Options {
	return render.Options{
		ServerURL: d.ServerURL, Repo: d.Repo.String(), Language: render.Language(d.Config.Language),
		RunURL: runURL, Redact: redact.Text, Handles: d.Config.Handles(),
	}
}

// words are the options of a reply.
func (d Deps) words() render.Options { return d.Render("") }

// Effects applies what is decided about a subject; runURL is of the run that it is decided about, ""
// for none.
func (d Deps) Effects(s effect.Subject, runURL string) *effect.GitHub {
	o := d.Render(runURL)
	return &effect.GitHub{
		Hub: effect.HubOf(d.GitHub), Repo: d.Repo, Subject: s, Config: d.Config, Render: o, Sleep: d.Waiter.Delay,
		Ledger: d.Ledger, Now: d.Now, Log: d.Log, Owner: d.Process, FileTTL: d.LeaseTTL,
		Reports: plans.Reports{Ledger: d.Ledger, Repo: d.Repo},
		Questions: func(rec escalation.Record, host routing.Case, live string) markdown.Text {
			return render.QuestionSection(rec, host, live, o)
		},
	}
}

// key names something of the repository that is posted once.
func (d Deps) key(parts ...any) string {
	key := d.Repo.String()
	for _, p := range parts {
		key += "/" + fmt.Sprint(p)
	}
	return key
}

// reply posts once below an issue or pull request what an event is answered with.
func (d Deps) reply(ctx context.Context, number int, once string, lines ...markdown.Text) error {
	if len(lines) == 0 {
		return nil
	}
	_, _, err := d.GitHub.Comments.PostOnce(ctx, d.Repo, number, marker.Format(d.key("reply", once), 0), markdown.Join(lines, "\n\n"), false)
	return err
}

// gone drops the error of a post on an issue that does not exist any more, as long as its
// repository does.
func (d Deps) gone(ctx context.Context, err error) error {
	err = d.GitHub.Repositories.Absent(ctx, d.Repo, err)
	if kind := advice.Of(err).Kind; err == nil || !errors.Is(err, github.ErrAbsent) && (kind == advice.Gone || errors.Is(err, github.ErrMoved)) {
		return nil
	}
	return err
}

// register returns the register of escalations.
func (d Deps) register(ctx context.Context) (escalation.State, error) {
	reg, err := effect.Escalations(ctx, d.Ledger, d.Repo.String())
	if err != nil {
		err = fmt.Errorf("reading the register of escalations: %w", err)
	}
	return reg, err
}

// change appends to the register of escalations what fn makes of its newest state, and returns it
// with that.
func (d Deps) change(ctx context.Context, fn func(escalation.State) ([]routing.Event, error)) (escalation.State, error) {
	return effect.ChangeEscalations(ctx, d.Ledger, d.Repo.String(), fn)
}
