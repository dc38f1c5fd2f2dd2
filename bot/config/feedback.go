package config

import (
	"strings"
	"time"

	"github.com/invopop/jsonschema"
	"gopkg.in/yaml.v3"
)

// FeedbackSettings say how people are asked about a cycle of optimization.
type FeedbackSettings struct {
	Timeout    *Period  `yaml:"timeout,omitempty" json:"timeout,omitempty" jsonschema:"default=72h,description=How long a survey waits for an answer: a minute to 90 days. A reminder is sent at half of it and 12 hours before its end."`
	Permission string   `yaml:"permission,omitempty" json:"permission,omitempty" jsonschema:"enum=triage,enum=write,enum=maintain,enum=admin,default=write,description=Who may answer: people with this role in the repository or a higher one."`
	Workflow   string   `yaml:"workflow,omitempty" json:"workflow,omitempty" jsonschema:"description=File name of the workflow that is started when the next cycle begins (workflow_dispatch)."`
	Ref        string   `yaml:"ref,omitempty" json:"ref,omitempty" jsonschema:"description=Branch or tag that workflow is started on; default: the default branch."`
	Dispatch   string   `yaml:"repository_dispatch,omitempty" json:"repository_dispatch,omitempty" jsonschema:"description=Event type of the repository_dispatch that is sent instead."`
	After      []string `yaml:"after,omitempty" json:"after,omitempty" jsonschema:"description=Names of the workflows whose next completed run begins the next cycle; default: the workflow that the survey is about."`
}

// DefaultTimeout is how long an answer is waited for.
const DefaultTimeout = 72 * time.Hour

// Wait returns how long an answer is waited for.
func (f FeedbackSettings) Wait() time.Duration {
	if f.Timeout == nil {
		return DefaultTimeout
	}
	return time.Duration(*f.Timeout)
}

// Role returns the role that people need to answer.
func (f FeedbackSettings) Role() string {
	if f.Permission == "" {
		return "write"
	}
	return f.Permission
}

// Reenters reports whether it is said how the next cycle begins.
func (f FeedbackSettings) Reenters() bool { return f.Workflow != "" || f.Dispatch != "" }

// Period is a time.Duration that people wait, written as "72h" or "90m".
type Period time.Duration

const (
	shortestPeriod = time.Minute
	longestPeriod  = 90 * 24 * time.Hour
)

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *Period) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{lineError(n.Line, "a list or mapping is not a duration; write e.g. 72h or 90m")}}
	}
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < shortestPeriod || v > longestPeriod {
		return &yaml.TypeError{Errors: []string{lineError(n.Line, "%q is no time to wait; write a minute to 90 days, e.g. 72h or 90m", n.Value)}}
	}
	*p = Period(v)
	return nil
}

// JSONSchema implements the schema generator's interface.
func (Period) JSONSchema() *jsonschema.Schema {
	const pattern = `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
	return &jsonschema.Schema{Type: "string", Pattern: pattern, Examples: []any{"72h", "90m"}}
}

func (c checker) feedback(f FeedbackSettings) {
	c.oneOf([]any{"feedback", "permission"}, f.Permission, "triage", "write", "maintain", "admin")
	if f.Workflow != "" && f.Dispatch != "" {
		c.add([]any{"feedback"}, "name workflow or repository_dispatch, not both")
	}
	if f.Ref != "" && f.Workflow == "" {
		c.add([]any{"feedback", "ref"}, "ref goes with workflow only")
	}
	if strings.ContainsAny(f.Workflow, "/\\") {
		c.add([]any{"feedback", "workflow"}, "workflow %q; give the file name alone, without its folder", f.Workflow)
	}
}
