package effect

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// GitHub carries out effects on one subject of one repository.
type GitHub struct {
	Hub     Hub
	Repo    github.Repo
	Subject Subject
	Config  config.File
	Render  render.Options // without what a single effect adds
	Sleep   func(context.Context, time.Duration) error
	Ledger  ledger.Ledger // holds the register of escalations
	Now     func() time.Time
	Log     *slog.Logger
	Owner   string        // names this process among those that file issues
	FileTTL time.Duration // how long others leave the filing of an issue to it, 0: two minutes

	Reports ReportSource // of escalations that belong to no case; nil: none

	// Questions returns the questions at the end of an escalation issue. live is
	// the body that stands there, from which it keeps what people ticked. nil: none.
	Questions func(rec escalation.Record, host routing.Case, live string) markdown.Text
}

func (g *GitHub) now() time.Time {
	if g.Now != nil {
		return g.Now().UTC()
	}
	return time.Now().UTC()
}

func (g *GitHub) log() *slog.Logger {
	if g.Log != nil {
		return g.Log
	}
	return slog.New(slog.DiscardHandler)
}

// Do implements pipeline.Effector.
func (g *GitHub) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	ref, err := g.do(github.AskedAt(ctx, decidedAt(c, e)), c, e, fresh)
	if err != nil {
		err = g.Hub.Repositories.Absent(ctx, g.Repo, err)
	}
	return ref, err
}

// decidedAt returns when what e shows was decided, at the latest: no post of e's key is older.
func decidedAt(c routing.Case, e routing.Effect) time.Time {
	for _, a := range c.Checkpoints[e.Checkpoint].Attempts {
		if e.SHA != "" && a.Verdict.Run.SHA == e.SHA && a.Iteration == e.Iteration {
			return a.At
		}
	}
	return c.Opened
}

func (g *GitHub) do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	switch e.Kind {
	case routing.EffectComment:
		return commentPoster{g.Hub, g.Repo, g.Subject, g.Config, g.Render}.post(ctx, c, e)
	case routing.EffectCheck:
		return checkPoster{g.Hub, g.Repo, g.Render}.post(ctx, c, e, fresh)
	case routing.EffectIssue:
		return g.opener().escalate(ctx, c, e, g.policy(e.Checkpoint))
	case routing.EffectClose:
		return "", g.closer().close(ctx, c, e)
	case routing.EffectLabel:
		return "", labelSetter{g.Hub, g.Repo, g.Subject}.set(ctx, c)
	case routing.EffectHandoff:
		if err := g.Sleep(ctx, g.policy(e.Checkpoint).RetryDelay); err != nil {
			return "", err
		}
		return g.handOff(ctx, c, e, handoffs(g.Config, c, e), fresh)
	case routing.EffectReview:
		if g.Config.Reviewer == nil {
			return "", nil
		}
		return g.handOff(ctx, c, e, []config.Handoff{*g.Config.Reviewer}, fresh)
	case routing.EffectReady:
		if s := g.Config.Checkpoints[e.Target].Start; s != nil {
			return g.handOff(ctx, c, e, []config.Handoff{*s}, fresh)
		}
		return "", nil
	case routing.EffectRerun:
		return rerunner{g}.run(ctx, c, e)
	case routing.EffectUpdate:
		return branchUpdater{g.Hub, g.Repo, g.Subject, g.Config.Base.Update, g.Render, g.log()}.update(ctx, c, e, fresh)
	case routing.EffectReact:
		return "", g.responder().react(ctx, e)
	}
	return "", fmt.Errorf("unknown effect %q", e.Kind)
}

func (g *GitHub) policy(checkpoint string) routing.Policy {
	return g.Config.Policy(checkpoint, g.Subject.Ref(), nil)
}

// Escalate brings the issue of an escalation that belongs to no case up to date, and opens it where
// there is none. It returns the issue's number and address, "" where none is to be shown. A pass a
// moment ago is no reason to wait.
func (g *GitHub) Escalate(ctx context.Context, request escalation.Request) (string, error) {
	limits := g.Config.Escalation.Limits()
	limits.Quiet = 0
	return g.opener().open(ctx, routing.Case{Key: request.Member.Case}, request, limits)
}

// Release takes what waits under key out of the issues that hold it: how it ceased to wait, and who
// ended it, "" for a green run. An issue that holds nothing any more is closed with comment. It may
// be done again.
func (g *GitHub) Release(ctx context.Context, key, checkpoint string, how escalation.How, by string, comment markdown.Text) error {
	return g.closer().release(ctx, key, checkpoint, how, by, comment)
}

// Redraw writes the issue of a record anew out of the ledger, also over what was edited there. What
// live makes of the present body says which boxes stay ticked.
func (g *GitHub) Redraw(ctx context.Context, rec escalation.Record, live func(body string) string) error {
	return g.writer().rewrite(ctx, rec, live)
}

// Escalations reads the escalations of the repository.
func (g *GitHub) Escalations(ctx context.Context) (escalation.State, error) {
	return g.store().stream.Load(ctx)
}

func (g *GitHub) store() escalationStore {
	return escalationStore{
		stream: escalations(g.Ledger, g.Repo.String()), now: g.now, sleep: g.Sleep,
		lease: ledger.Lease{Owner: g.Owner, TTL: g.FileTTL, Now: g.now},
	}
}

func (g *GitHub) writer() issueWriter {
	return issueWriter{
		hub: g.Hub, repo: g.Repo, subject: g.Subject, policy: g.policy, config: g.Config.Escalation, render: g.Render,
		ledger: g.Ledger, source: g.Reports, questions: g.Questions, log: g.log(),
	}
}

func (g *GitHub) opener() issueOpener {
	return issueOpener{
		hub: g.Hub, repo: g.Repo, store: g.store(), writer: g.writer(), limits: g.Config.Escalation.Limits(), render: g.Render, log: g.log(),
	}
}

func (g *GitHub) closer() issueCloser {
	return issueCloser{hub: g.Hub, repo: g.Repo, store: g.store(), opener: g.opener(), closes: g.Config.Escalation.Resolves, render: g.Render}
}

// handoffs returns how the workers are reached whom a hand-off tells: all, or of those who are told in
// turn the one who holds it. One that the configuration has no more cannot be told.
func handoffs(f config.File, c routing.Case, e routing.Effect) []config.Handoff {
	if e.Target == "" || c.Handoff == nil {
		return f.HandoffsOrDefault()
	}
	h, ok := f.Handoff.ByName(c.Handoff.Worker().Name, c.Handoff.Place+1)
	if !ok {
		return nil
	}
	return []config.Handoff{h}
}

// handOff reaches workers: of a change that may start no agent only its author.
func (g *GitHub) handOff(ctx context.Context, c routing.Case, e routing.Effect, hs []config.Handoff, fresh bool) (string, error) {
	if !startsAgents(g.Subject, g.Config.ForksOrDefault(), c.Checkpoints[e.Checkpoint], e.SHA) {
		g.log().Info("nobody but the author is reached: the change comes from outside", "case", c.Key, "effect", e.Key)
		hs = slices.DeleteFunc(slices.Clone(hs), func(h config.Handoff) bool { return !h.ToAuthor() })
	}
	return handoffSender{hub: g.Hub, repo: g.Repo, subject: g.Subject, render: g.Render}.sendAll(ctx, c, e, hs, fresh)
}

// startsAgents reports whether a commit of the subject may start anybody but its author. An approval
// is of one commit, which has to be the newest still.
func startsAgents(subject Subject, forks string, cp routing.Checkpoint, sha string) bool {
	if subject.Number == 0 || subject.Trusted {
		return true
	}
	switch forks {
	case config.ForksAlways:
		return true
	case config.ForksApproved:
		return cp.Approved(sha) && (subject.Head == "" || subject.Head == sha)
	}
	return false
}

func (g *GitHub) responder() responder {
	return responder{hub: g.Hub, repo: g.Repo, subject: g.Subject, render: g.Render, log: g.log()}
}

// issueURL returns the address of the escalation issue of the newest escalation.
func issueURL(c routing.Case, cp routing.Checkpoint) string {
	if cp.Escalation == nil {
		return ""
	}
	_, url, _ := strings.Cut(c.Done[issueSlot(cp.Name, string(cp.Escalation.Kind))], " ")
	return url
}

func issueSlot(checkpoint, kind string) string {
	return checkpoint + "/" + string(routing.EffectIssue) + "/" + kind
}
