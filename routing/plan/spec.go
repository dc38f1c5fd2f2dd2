// Package plan knows what a plan is: ports with dependencies, in which order
// and how many at once they run, and how the pair of workers of one port turns.
// Texts go in and values come out.
package plan

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Spec is one port as it is written. A nil pointer means that the key is absent
// and the plan's default applies.
type Spec struct {
	ID            string            `json:"id"`
	Title         string            `json:"title,omitempty"`
	Status        Status            `json:"status"`
	Priority      int               `json:"priority"` // a lower number runs first
	DependsOn     []string          `json:"depends_on,omitempty"`
	Parent        string            `json:"parent,omitempty"`
	Impl          *Command          `json:"impl,omitempty"`
	Test          *Command          `json:"test,omitempty"`
	Timeout       *time.Duration    `json:"timeout,omitempty"` // 0: none
	MaxIterations *int              `json:"max_iterations,omitempty"`
	RunsOn        []string          `json:"runs_on,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
	Paths         []string          `json:"paths,omitempty"` // globs
	TokenBudget   int64             `json:"token_budget,omitempty"`
	Brief         string            `json:"brief,omitempty"` // what the worker is told, Markdown

	File string `json:"-"` // where it is written
	Line int    `json:"-"` // of its id, or of its first key

	lines map[string]int // of each key
	deps  []int          // the line of each of DependsOn
}

// lineOf returns the line of a key, or of the port where the key is absent.
func (s *Spec) lineOf(key string) int {
	if n := s.lines[key]; n > 0 {
		return n
	}
	return s.Line
}

// Command is how a worker is started: command lines, or a workflow that is
// dispatched.
type Command struct {
	Run      []string          `json:"run,omitempty"` // each a line for the shell, in turn until one fails
	Workflow string            `json:"workflow,omitempty"`
	Ref      string            `json:"ref,omitempty"` // branch or tag, default: the run's own
	Inputs   map[string]string `json:"inputs,omitempty"`
}

// Status is what the file says of a port. How its work goes stands in the
// ledger, not here.
type Status string

// The statuses.
const (
	Draft      Status = "draft"
	Pending    Status = "pending" // the default
	InProgress Status = "in_progress"
	Completed  Status = "completed" // never run again, counts as passed
	Escalated  Status = "escalated"
	Held       Status = "held" // not run; what depends on it waits
)

// statuses are the words for a status, aliases included.
var statuses = map[string]Status{
	"draft": Draft, "pending": Pending, "ready": Pending, "in_progress": InProgress, "running": InProgress,
	"completed": Completed, "complete": Completed, "done": Completed, "escalated": Escalated, "held": Held,
}

// Priorities are the words for a priority and their numbers.
var priorities = map[string]int{"critical": 100, "high": 200, "medium": DefaultPriority, "low": 400}

// Settings are the defaults and limits of a plan.
type Settings struct {
	MaxConcurrency int           // ports at once, at least 1
	Parallel       bool          // false: one at a time, whatever MaxConcurrency is
	Timeout        time.Duration // of a port that names none; 0: none
	MaxIterations  int           // reworks of a port that names none
	RunsOn         []string      // labels of the runner of a port that names none
}

// The defaults of a port.
const (
	DefaultPriority       = 300
	DefaultMaxConcurrency = 3
	DefaultTimeout        = 30 * time.Minute
	DefaultMaxIterations  = 3
)

// DefaultSettings returns the settings of a plan that has none of its own.
func DefaultSettings() Settings {
	return Settings{DefaultMaxConcurrency, true, DefaultTimeout, DefaultMaxIterations, []string{"ubuntu-latest"}}
}

// Validate returns all that is wrong with the settings.
func (s Settings) Validate() error {
	var all []error
	if s.MaxConcurrency < 1 {
		all = append(all, fmt.Errorf("max_concurrency is %d; it must be at least 1", s.MaxConcurrency))
	}
	if s.Timeout < 0 || s.Timeout > longestTimeout {
		all = append(all, fmt.Errorf("timeout is %s; it must be 0 (none) to %s", s.Timeout, longestTimeout))
	}
	if s.MaxIterations < 0 || s.MaxIterations > routing.HardCap {
		all = append(all, fmt.Errorf("max_iterations is %d; it must be 0 to %d", s.MaxIterations, routing.HardCap))
	}
	return errors.Join(all...)
}

// Concurrency returns how many ports run at once.
func (s Settings) Concurrency() int {
	if !s.Parallel {
		return 1
	}
	return max(1, s.MaxConcurrency)
}

// longestTimeout is how long a job of a runner of one's own may take.
const longestTimeout = 5 * 24 * time.Hour

// Problem is one thing wrong with a plan.
type Problem struct {
	File    string
	Line    int // 1-based, 0 if it concerns the whole file
	Message string
}

func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s: %s", p.File, p.Message)
}

// Error is all that is wrong with a plan, in order of files and lines.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Dispatched reports whether all workers of the port are workflows: no command of a worker runs in
// the job of the port.
func (s Spec) Dispatched() bool {
	return s.Test != nil && s.Test.Workflow != "" && (s.Impl == nil || s.Impl.Workflow != "")
}
