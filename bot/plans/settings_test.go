package plans

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing/plan"
)

func TestSettingsOf(t *testing.T) {
	t.Parallel()
	t.Run("S2-49 S2-50 S2-51 the defaults: three at once, in parallel, thirty minutes each", func(t *testing.T) {
		s := SettingsOf(config.File{})
		if s.MaxConcurrency != 3 || !s.Parallel || s.Timeout != 30*time.Minute || s.MaxIterations != 3 || s.Validate() != nil {
			t.Errorf("%+v", s)
		}
	})
	for _, c := range []struct {
		name, yaml string
		want       plan.Settings
	}{
		{"all settings", "max_iterations: 5\nports: {max_concurrency: 8, timeout_per_port: 45m, max_iterations: 2, runs_on: [self-hosted, linux]}\n",
			plan.Settings{MaxConcurrency: 8, Parallel: true, Timeout: 45 * time.Minute, MaxIterations: 2, RunsOn: []string{"self-hosted", "linux"}}},
		{"max_iterations of the whole file", "max_iterations: 5\n", plan.Settings{MaxConcurrency: 3, Parallel: true, Timeout: 30 * time.Minute, MaxIterations: 5, RunsOn: plan.DefaultSettings().RunsOn}},
	} {
		f, err := config.Parse("sb.yml", []byte(c.yaml))
		if got := SettingsOf(f); err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v %v", c.name, got, err)
		}
	}
	f, err := config.Parse("sb.yml", []byte("ports: {parallel: false}\n"))
	if s := SettingsOf(f); err != nil || s.Concurrency() != 1 {
		t.Errorf("%+v %v", s, err)
	}
}
