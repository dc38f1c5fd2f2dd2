package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing/plan"
)

// TestS6_3_PortsWorkflow checks that workers run in no job that may write, in the workflow that the
// project has and in the one that it generates.
func TestS6_3_PortsWorkflow(t *testing.T) {
	t.Parallel()
	shipped, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "ports.yml"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile([]plan.File{{Name: "ports.yml", Data: []byte("- {id: a, impl: make, test: make test}\n- {id: b, test: {workflow: t.yml}}\n- {id: c, impl: make, test: {workflow: t.yml}}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	generated, err := plan.Workflow(p, plan.DefaultSettings(), plan.WorkflowOptions{Name: "Plan", Plan: "ports.yml", Uses: actionVersion})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text            []byte
		workers, others int // jobs
	}{"ports.yml": {shipped, 3, 3}, "generated": {generated, 2, 1}} {
		var file struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Strategy    struct{ Matrix string }
				Steps       []struct {
					Uses string
					With map[string]string
				}
			}
		}
		if err := yaml.NewDecoder(bytes.NewReader(c.text)).Decode(&file); err != nil {
			t.Fatal(err)
		}
		workers, others := 0, 0
		for id, j := range file.Jobs {
			for _, s := range j.Steps {
				if s.With["command"] != "port" {
					continue
				}
				if s.With["journal"] == "artifact" {
					workers++
					if len(j.Permissions) != 1 || j.Permissions["contents"] != "read" || strings.Contains(s.With["token"], "secrets.") {
						t.Errorf("%s: workers run in job %s with %v and token %q", name, id, j.Permissions, s.With["token"])
					}
					continue
				}
				others++
				if s.With["worker-env"] != "" || name == "ports.yml" && !strings.Contains(j.Strategy.Matrix, ".workflow-matrix)") || name == "generated" && s.With["port"] != "b" {
					t.Errorf("%s: job %s may write, and runs %v", name, id, s.With)
				}
			}
		}
		if workers != c.workers || others != c.others {
			t.Errorf("%s: %d jobs run workers and %d dispatch them, want %d and %d", name, workers, others, c.workers, c.others)
		}
	}
}
