package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	edge "github.com/switchback-ci/switchback/routing/plan/feedback"
)

// planFile is a plan as JSON.
type planFile struct {
	Root  string `json:"root"`
	Nodes []struct {
		ID string `json:"id"`
		edge.Links
	} `json:"nodes"`
}

// place takes apart what --plan says: a name in the ledger, or, as long as there
// is such a file or folder, a path.
func (f *feedbackFlags) place() error {
	if f.ports == "" {
		if name, file := planNamed(f.plan); file != "" {
			f.plan, f.ports = name, file
		} else if _, err := os.Stat(f.plan); err == nil {
			f.plan, f.ports = planfile.Name(f.plan), f.plan
		}
	}
	if !planName.MatchString(f.plan) {
		return usage("--plan is %q; use letters, digits, dots, underscores and hyphens, at most 100, or a path", f.plan)
	}
	return nil
}

// path is where the plan is.
func (f *feedbackFlags) path() string {
	if f.ports != "" {
		return f.ports
	}
	if cfg, err := configOr(""); err == nil {
		return cfg.PlanPath()
	}
	return "ports"
}

// book is the feedback of the build that is meant: the one that is named, else
// the newest of the plan, else all that was sent under no build.
func (f *feedbackFlags) book(ctx context.Context, led ledger.Ledger) (requests.Book, error) {
	b := requests.Book{Ledger: led, Repo: f.repo, Build: f.build, Plan: edge.Nodes{Top: edge.DefaultRoot}, Now: time.Now}
	if f.build == "" {
		var err error
		b.Build, err = feedbackOf(ctx, led, f.repo, f.plan, "")
		return b, err
	}
	r, err := b.Register(ctx)
	if err != nil {
		return b, err
	}
	// A build's own name is the shorter one.
	if full := requests.Of(f.plan, f.build); !r.Knows(f.build) && r.Knows(full) {
		b.Build = full
	}
	return b, nil
}

// readPlan returns the graph of a plan: ports, or a JSON file of nodes.
func readPlan(name string) (edge.Graph, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("the plan: %w; name it with --plan", err)
	}
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return readNodes(name)
	}
	p, err := planfile.Load(name)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func readNodes(name string) (edge.Graph, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var p planFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	g := edge.Nodes{Top: orDefault(p.Root, edge.DefaultRoot), Links: map[string]edge.Links{}}
	for _, n := range p.Nodes {
		if _, twice := g.Links[n.ID]; twice || n.ID == "" {
			return nil, fmt.Errorf("%s: node %q is there twice, or has no id", name, n.ID)
		}
		g.Links[n.ID] = n.Links
	}
	return g, nil
}
