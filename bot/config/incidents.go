package config

import (
	"time"

	"github.com/switchback-ci/switchback/routing/incident"
)

// IncidentSettings say when many failures are taken for one incident.
type IncidentSettings struct {
	Enabled  *bool     `yaml:"enabled,omitempty" json:"enabled,omitempty" jsonschema:"default=true,description=False opens no incident: every case goes its own way."`
	Window   *Duration `yaml:"window,omitempty" json:"window,omitempty" jsonschema:"default=30m,description=Time within which pull requests share a cause; a minute to a day."`
	Subjects *int      `yaml:"subjects,omitempty" json:"subjects,omitempty" jsonschema:"minimum=2,maximum=50,default=3,description=Pull requests and branches that share a cause before an incident opens."`
	Authors  *int      `yaml:"authors,omitempty" json:"authors,omitempty" jsonschema:"minimum=1,maximum=50,default=2,description=Authors that these have."`
}

// On reports whether incidents are opened.
func (s IncidentSettings) On() bool { return s.Enabled == nil || *s.Enabled }

// Opens returns when an incident opens.
func (s IncidentSettings) Opens() incident.Settings {
	out := incident.Defaults()
	if s.Window != nil {
		out.Window = time.Duration(*s.Window)
	}
	if s.Subjects != nil {
		out.Subjects = *s.Subjects
	}
	if s.Authors != nil {
		out.Authors = *s.Authors
	}
	return out
}

// incidents checks the settings of incidents.
func (c checker) incidents(s IncidentSettings) {
	if s.Window != nil && (*s.Window < Duration(time.Minute) || *s.Window > Duration(24*time.Hour)) {
		c.add([]any{"incidents", "window"}, "incidents.window is %s; it must be 1m to 24h", time.Duration(*s.Window))
	}
	if n := s.Subjects; n != nil && (*n < 2 || *n > 50) {
		c.add([]any{"incidents", "subjects"}, "incidents.subjects is %d; it must be 2 to 50", *n)
	}
	if n := s.Authors; n != nil && (*n < 1 || *n > 50) {
		c.add([]any{"incidents", "authors"}, "incidents.authors is %d; it must be 1 to 50", *n)
	}
}
