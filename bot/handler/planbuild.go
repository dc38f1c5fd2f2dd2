package handler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing/plan"
)

// served is the plan of the repository as the App drives it: read from a commit of a branch, without a
// checkout.
type served struct {
	*plans.Runner
	branch string
	commit string
	files  planfile.Commit
}

// read reads the plan as it is on a branch, "" for the default one. The error
// is a *plan.Error if it is wrong, and fs.ErrNotExist if there is none.
func (h planDriver) read(ctx context.Context, branch string) (*served, error) {
	if branch == "" {
		branch = h.DefaultBranch
	}
	var err error
	if branch == "" {
		if branch, err = h.GitHub.Repositories.DefaultBranch(ctx, h.Repo); err != nil {
			return nil, err
		}
	}
	s := &served{branch: branch, Runner: &plans.Runner{Ledger: h.Ledger, Issues: h.GitHub.Issues, Labels: h.GitHub.Labels, Starts: h.GitHub.Dispatches, Checks: h.GitHub.Checks, Escalator: h.Effects(effect.Subject{}, ""), Repo: h.Repo, Name: h.Options.PlanName,
		Settings: plans.SettingsOf(h.Config), Render: h.words(), LeaseTTL: h.LeaseTTL, Now: h.Now}}
	s.Render.Mention = h.Config.Escalation.Mention
	if s.commit, err = h.GitHub.Branches.Head(ctx, h.Repo, branch); err != nil {
		return nil, err
	}
	s.SHA = s.commit
	if s.files, err = commitFiles(ctx, h.Deps, s.commit); err != nil {
		return s, err
	}
	if s.Plan, err = h.Plans.load(ctx, h.Deps, s.commit, s.files); err != nil {
		return s, plans.Invalid(err)
	}
	s.Hashes, err = s.files.Hashes(s.Plan)
	return s, err
}

// commitFiles lists the files of a commit.
func commitFiles(ctx context.Context, d Deps, commit string) (planfile.Commit, error) {
	all, err := d.GitHub.Contents.Files(ctx, d.Repo, commit)
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
func (h planDriver) drives(p plan.Plan) bool { return h.Config.Ports.Drive == "events" && away(p) }

// PlanCache keeps the plans that were read last, so that their files are read again only after a
// change. It is safe for concurrent use; nil keeps nothing.
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

// load returns the plan that the files of a commit contain.
func (c *PlanCache) load(ctx context.Context, d Deps, commit string, all planfile.Commit) (plan.Plan, error) {
	file := d.Options.PlanFile
	key, files := d.Repo.String()+"!"+file, planFiles(all.Files(file))
	if c != nil {
		c.mu.Lock()
		have, ok := c.plans[key]
		c.mu.Unlock()
		if ok && have.files == files {
			return have.plan, nil
		}
	}
	p, err := all.Load(file, func(e planfile.Entry) ([]byte, error) { return d.GitHub.Contents.Get(ctx, d.Repo, e.Path, commit) })
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

// planFiles returns a hash of the names and contents of the files of a plan.
func planFiles(all planfile.Commit) string {
	h := sha256.New()
	for _, e := range all {
		fmt.Fprintf(h, "%q %s %v\n", e.Path, e.Object, e.Link)
	}
	return hex.EncodeToString(h.Sum(nil))
}
