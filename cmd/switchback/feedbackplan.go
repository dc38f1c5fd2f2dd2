package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchback-ci/switchback/bot/plan"
	edge "github.com/switchback-ci/switchback/routing/feedback"
)

// planFile is a plan as JSON.
type planFile struct {
	Root  string `json:"root"`
	Nodes []struct {
		ID string `json:"id"`
		edge.Links
	} `json:"nodes"`
}

// readPlan returns the graph of a plan: ports, or a JSON file of nodes.
func readPlan(name string) (edge.Graph, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("the plan: %w; name it with --plan", err)
	}
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return readNodes(name)
	}
	p, err := plan.Load(name)
	if err != nil {
		return nil, err
	}
	g := edge.Nodes{Top: edge.DefaultRoot, Links: map[string]edge.Links{}}
	for _, s := range p.Ports() {
		g.Links[s.ID] = edge.Links{Parent: s.Parent, DependsOn: s.DependsOn}
	}
	return g, nil
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
