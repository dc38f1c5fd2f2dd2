package config

import (
	"strings"
	"testing"
)

func TestPorts(t *testing.T) {
	t.Parallel()
	if f, _ := full(t); f.PlanPath() != "work/ports" || (File{}).PlanPath() != "ports" {
		t.Errorf("path %q, default %q", f.PlanPath(), (File{}).PlanPath())
	}
	for _, c := range []struct{ name, yaml, want string }{
		{"S2-52 none at once", "ports:\n  max_concurrency: 0\n", "2: max_concurrency is 0; it must be 1 to 256"},
		{"S2-52 less than none", "ports: {max_concurrency: -1}\n", "1: max_concurrency is -1; it must be 1 to 256"},
		{"S0-56 too many reworks", "ports: {max_iterations: 11}\n", "1: max_iterations is 11"},
		{"S0-56 a time that no job has", "ports: {timeout_per_port: 121h}\n", "1: timeout_per_port is 121h0m0s; a job takes 120h at most"},
		{"S0-56 a path outside", "ports: {path: ../x}\n", `1: path "../x" is outside of the repository`},
		{"S0-56 an expression as label", "ports: {runs_on: [\"${{ 1 }}\"]}\n", "1: runs_on has"},
		{"S0-56 another way to go on", "ports: {drive: poll}\n", `1: drive is "poll"; write wait or events`},
		{"S0-56 another start", "ports: {start: tag}\n", `1: start is "tag"; write none or push`},
		{"S0-56 a workflow's path", "ports: {workflow: .github/workflows/plan.yml}\n", `1: workflow is ".github/workflows/plan.yml"; write the name of a file below .github/workflows`},
		{"S0-56 an unknown key", "ports: {max_concurency: 3}\n", `did you mean "max_concurrency"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse("sb.yml", []byte(c.yaml)); err == nil || !strings.Contains(err.Error(), "sb.yml:") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
