package action

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing/plan"
)

// served is the plan of the repository as the App drives it: read from a commit of a
// branch, without a checkout.
type served struct {
	*plans.Desk
	branch string
	commit string
	files  planfile.Commit
}

// servedPlan reads the plan as it is on a branch, "" for the default one. The error
// is a *port.Error if it is wrong, and fs.ErrNotExist if there is none.
func (f *face) servedPlan(ctx context.Context, branch string) (*served, error) {
	if branch == "" {
		branch = f.event.Repository.DefaultBranch
	}
	var err error
	if branch == "" {
		if branch, err = f.hub.DefaultBranch(ctx, f.repo); err != nil {
			return nil, err
		}
	}
	_, name := f.planPath()
	s := &served{branch: branch, Desk: &plans.Desk{Ledger: f.led, Issues: f.hub, Starts: f.hub, Checks: f.hub, Calls: f.effects(trigger{}), Repo: f.repo, Name: name,
		Settings: f.config.Plan(), Render: f.renderOptions(trigger{}), Claim: f.claimTTL(), Now: f.now}}
	s.Render.Mention = f.config.Escalation.Mention
	if s.commit, err = f.hub.Head(ctx, f.repo, branch); err != nil {
		return nil, err
	}
	s.SHA = s.commit
	if s.files, err = f.commitFiles(ctx, s.commit); err != nil {
		return s, err
	}
	if s.Plan, err = f.app.Plans.load(ctx, f, s.commit, s.files); err != nil {
		return s, err
	}
	s.Hashes, err = s.files.Hashes(s.Plan)
	return s, err
}

func (f *face) commitFiles(ctx context.Context, commit string) (planfile.Commit, error) {
	all, err := f.hub.Files(ctx, f.repo, commit)
	out := make(planfile.Commit, len(all))
	for i, x := range all {
		out[i] = planfile.Entry(x)
	}
	return out, err
}

// away reports whether all workers of a plan are workflows, so that no runner is
// needed to drive it.
func away(p plan.Plan) bool {
	return p.Len() > 0 && !slices.ContainsFunc(p.Ports(), func(s plan.Spec) bool {
		return s.Status != plan.Held && s.Status != plan.Completed && !worker.Away(s)
	})
}

// drives reports whether the App drives the builds of a plan itself.
func (f *face) drives(p plan.Plan) bool { return f.config.Ports.Drive == "events" && away(p) }

// PlanCache keeps the plans that were read last, so that their files are asked for
// again only when they have changed. It is safe for use by many; nil keeps nothing.
type PlanCache struct {
	mu    sync.Mutex
	plans map[string]cachedPlan // by repository and path
}

type cachedPlan struct {
	files string // what they are
	plan  plan.Plan
}

// mostPlans is how many plans are kept.
const mostPlans = 64

// load returns the plan that stands in the files of a commit.
func (c *PlanCache) load(ctx context.Context, f *face, commit string, all planfile.Commit) (plan.Plan, error) {
	file, _ := f.planPath()
	key, files := f.repo.String()+"!"+file, planFiles(all.Files(file))
	if c != nil {
		c.mu.Lock()
		have, ok := c.plans[key]
		c.mu.Unlock()
		if ok && have.files == files {
			return have.plan, nil
		}
	}
	p, err := all.Load(file, func(e planfile.Entry) ([]byte, error) { return f.hub.File(ctx, f.repo, e.Path, commit) })
	if err != nil || c == nil {
		return p, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil || len(c.plans) >= mostPlans {
		c.plans = map[string]cachedPlan{}
	}
	c.plans[key] = cachedPlan{files, p}
	return p, nil
}

// planFiles tells the files of a plan from others.
func planFiles(all planfile.Commit) string {
	h := sha256.New()
	for _, e := range all {
		fmt.Fprintf(h, "%q %s %v\n", e.Path, e.Object, e.Link)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// nextServed begins the next build of a plan that the App drives, which takes up what
// was decided, unless one has begun since, and goes on with it. done is false if the
// App does not drive it.
func (f *face) nextServed(ctx context.Context, name string, reg plan.Register, key string, begun bool) (done bool, err error) {
	if _, own := f.planPath(); !reg.Build.Served || name != own {
		return false, nil
	}
	s, err := f.servedPlan(ctx, "")
	if err != nil || !f.drives(s.Plan) {
		return false, err
	}
	if !begun {
		if err := s.BeginServed(ctx, key, nil); err != nil {
			return true, err
		}
	}
	return true, f.drive(ctx, s, nil, false)
}

// reconcilePorts looks after the ports of the plan: those whose workers have ended or are
// over their time, which nobody said, those that were handed out and not begun, and
// those that are ready.
func (f *face) reconcilePorts(ctx context.Context) error {
	_, name := f.planPath()
	reg, err := f.planRegister(ctx, name)
	if err != nil || reg.Build.ID == "" || !reg.Build.Served && f.config.Ports.Drive != "events" {
		return err
	}
	s, err := f.servedPlan(ctx, branchOf(reg))
	if err != nil {
		return err
	}
	if reg.Build.Served {
		return f.drive(ctx, s, nil, true)
	}
	all, err := s.Awaited(ctx)
	if err != nil {
		return err
	}
	var went []string
	for _, a := range all {
		j, jerr := s.Journal(ctx, a.Port)
		if jerr == nil {
			jerr = f.stepPort(ctx, s, reg, plans.Served{ID: a.Port, Known: reg.Ports[a.Port], Journal: j}, nil)
		}
		err, went = errors.Join(err, jerr), append(went, a.Port)
	}
	return errors.Join(err, f.portsEnded(ctx, s.Desk, went, s.branch))
}
