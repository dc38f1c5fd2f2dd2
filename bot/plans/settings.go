package plans

import (
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing/plan"
)

// SettingsOf returns how a repository's configuration wants its plan run.
func SettingsOf(f config.File) plan.Settings {
	s := plan.DefaultSettings()
	if n := f.Ports.MaxConcurrency; n != nil {
		s.MaxConcurrency = *n
	}
	if parallel := f.Ports.Parallel; parallel != nil {
		s.Parallel = *parallel
	}
	for _, n := range []*int{f.MaxIterations, f.Ports.MaxIterations} { // the latter is the more specific
		if n != nil {
			s.MaxIterations = *n
		}
	}
	if f.Ports.Timeout != nil {
		s.Timeout = time.Duration(*f.Ports.Timeout)
	}
	if len(f.Ports.RunsOn) > 0 {
		s.RunsOn = f.Ports.RunsOn
	}
	return s
}
