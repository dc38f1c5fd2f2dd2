// Package config reads .github/switchback.yml. Unknown keys and wrong values
// are refused with file, line and remedy, all of them at once.
package config

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Path is where the configuration stands in a repository.
const Path = ".github/switchback.yml"

// File is the configuration as written. A nil pointer means that the key is
// absent and the default applies.
type File struct {
	Version       int                   `yaml:"version,omitempty" json:"version,omitempty" jsonschema:"enum=1,description=Version of this format."`
	Language      string                `yaml:"language,omitempty" json:"language,omitempty" jsonschema:"enum=en,enum=ko,default=en,description=Language of comments and issues."`
	MaxIterations *int                  `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=0,maximum=10,default=3,description=Reworks returned for a fix before an escalation opens; 0 returns for a fix nothing."`
	OnMax         string                `yaml:"on_max,omitempty" json:"on_max,omitempty" jsonschema:"enum=manual,enum=error,enum=skip,default=manual,description=What happens when the reworks are used up: wait for a human or fail the check or skip the checkpoint."`
	Breaker       *bool                 `yaml:"circuit_breaker,omitempty" json:"circuit_breaker,omitempty" jsonschema:"default=true,description=False lifts max_iterations to the hard cap of 10."`
	RetryDelay    *Duration             `yaml:"retry_delay,omitempty" json:"retry_delay,omitempty" jsonschema:"default=5s,description=Waited before each hand-off; at most an hour."`
	Design        *bool                 `yaml:"escalate_on_design_mismatch,omitempty" json:"escalate_on_design_mismatch,omitempty" jsonschema:"default=true,description=False hands a design mismatch back like any other failure."`
	RunReviewer   *bool                 `yaml:"run_reviewer_on_pass,omitempty" json:"run_reviewer_on_pass,omitempty" jsonschema:"default=true,description=Start the reviewer when a checkpoint passes (where one is configured)."`
	Notify        *bool                 `yaml:"notify_on_escalation,omitempty" json:"notify_on_escalation,omitempty" jsonschema:"default=true,description=False writes the report but mentions and assigns nobody."`
	PauseScope    string                `yaml:"pause_scope,omitempty" json:"pause_scope,omitempty" jsonschema:"enum=checkpoint,enum=case,default=checkpoint,description=What an escalation pauses: the checkpoint and its dependents or the whole case."`
	Mode          string                `yaml:"mode,omitempty" json:"mode,omitempty" jsonschema:"enum=auto,enum=manual,default=auto,description=Manual prepares each rework but hands it over only when called."`
	MaxActions    *int                  `yaml:"max_actions,omitempty" json:"max_actions,omitempty" jsonschema:"minimum=1,maximum=1000,default=50,description=Effects carried out in one run of the program."`
	Checkpoints   map[string]Checkpoint `yaml:"checkpoints,omitempty" json:"checkpoints,omitempty" jsonschema:"description=Settings by name of checkpoint."`
	Cases         map[string]Override   `yaml:"cases,omitempty" json:"cases,omitempty" jsonschema:"description=Overrides by case: '#12' for a pull request or '@main' for a branch."`
	Handoff       []Handoff             `yaml:"handoff,omitempty" json:"handoff,omitempty" jsonschema:"description=How a rework reaches its worker; default: mention the author in the comment."`
	Reviewer      *Handoff              `yaml:"reviewer,omitempty" json:"reviewer,omitempty" jsonschema:"description=Who reviews what has passed."`
	Review        ReviewSettings        `yaml:"review,omitempty" json:"review,omitempty" jsonschema:"description=When a review fails."`
	Criteria      Criteria              `yaml:"criteria,omitempty" json:"criteria,omitempty" jsonschema:"description=What a passing run must meet besides that nothing failed."`
	Quarantine    []string              `yaml:"quarantine,omitempty" json:"quarantine,omitempty" jsonschema:"description=Names of flaky tests whose failures count in no case; they are shown as quarantined."`
	Rules         []Rule                `yaml:"rules,omitempty" json:"rules,omitempty" jsonschema:"description=Rules of diagnosis of your own; they come before the built-in ones."`
	Escalation    EscalationSettings    `yaml:"escalation,omitempty" json:"escalation,omitempty" jsonschema:"description=How an escalation opens."`
	Feedback      FeedbackSettings      `yaml:"feedback,omitempty" json:"feedback,omitempty" jsonschema:"description=How people are asked about a cycle of optimization."`
	Ports         PortSettings          `yaml:"ports,omitempty" json:"ports,omitempty" jsonschema:"description=How a plan of ports is run."`
	Acts          string                `yaml:"acts,omitempty" json:"acts,omitempty" jsonschema:"enum=action,enum=app,description=Who acts where both the Action and the App are installed; default: the Action where it has recorded cases and else the App."`
	Reports       []string              `yaml:"reports,omitempty" json:"reports,omitempty" jsonschema:"description=Globs of the report files in a run's artifacts: for the App and for the Action on workflow_run; the input reports goes before it."`
	Workflows     []string              `yaml:"workflows,omitempty" json:"workflows,omitempty" jsonschema:"description=Names of the workflows whose runs the App analyzes; default: all."`
	Answers       AnswerSettings        `yaml:"answers,omitempty" json:"answers,omitempty" jsonschema:"description=Who may answer prompts and give commands."`
}

// What Acts may be.
const (
	ActsAction = "action"
	ActsApp    = "app"
)

// AnswerSettings say who may answer.
type AnswerSettings struct {
	Permission string `yaml:"permission,omitempty" json:"permission,omitempty" jsonschema:"enum=triage,enum=write,enum=maintain,enum=admin,default=write,description=What a person must at least be allowed in the repository for an answer to count."`
	Apps       []int  `yaml:"apps,omitempty" json:"apps,omitempty" jsonschema:"description=Numeric ids of the Apps whose bots may answer; others are ignored."`
}

// PermissionOrDefault returns the least role of a person whose answers count.
func (a AnswerSettings) PermissionOrDefault() string {
	if a.Permission == "" {
		return "write"
	}
	return a.Permission
}

// Checkpoint is the configuration of one checkpoint.
type Checkpoint struct {
	Needs         []string  `yaml:"needs,omitempty" json:"needs,omitempty" jsonschema:"description=Checkpoints that must have passed first."`
	MaxIterations *int      `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=0,maximum=10,description=Overrides max_iterations for this checkpoint."`
	Criteria      *Criteria `yaml:"criteria,omitempty" json:"criteria,omitempty" jsonschema:"description=Replaces criteria for this checkpoint."`
	Start         *Handoff  `yaml:"start,omitempty" json:"start,omitempty" jsonschema:"description=Started when the checkpoints it needs have passed: a workflow or a repository_dispatch."`
}

// Override is what one case may have of its own.
type Override struct {
	MaxIterations *int `yaml:"max_iterations" json:"max_iterations" jsonschema:"minimum=0,maximum=10"`
}

// Handoff is one way to reach a worker. Exactly one of Mention, Workflow,
// Dispatch and Label is set.
type Handoff struct {
	Mention  string            `yaml:"mention,omitempty" json:"mention,omitempty" jsonschema:"description=author or a login such as @claude. The author is mentioned in the comment; anyone else by a short comment of its own since an edit notifies nobody."`
	Workflow string            `yaml:"workflow,omitempty" json:"workflow,omitempty" jsonschema:"description=File name of a workflow with workflow_dispatch."`
	Ref      string            `yaml:"ref,omitempty" json:"ref,omitempty" jsonschema:"description=Branch or tag the workflow is dispatched on; default: the default branch."`
	Inputs   map[string]string `yaml:"inputs,omitempty" json:"inputs,omitempty" jsonschema:"description=Further inputs of the workflow."`
	Dispatch string            `yaml:"repository_dispatch,omitempty" json:"repository_dispatch,omitempty" jsonschema:"description=Event type of a repository_dispatch that carries the packet."`
	Label    string            `yaml:"label,omitempty" json:"label,omitempty" jsonschema:"description=A label set on the pull request."`
}

// ReviewSettings say when a review fails.
type ReviewSettings struct {
	Checkpoint string         `yaml:"checkpoint,omitempty" json:"checkpoint,omitempty" jsonschema:"default=review,description=Name of the checkpoint that reviews belong to."`
	Reviewers  []string       `yaml:"reviewers,omitempty" json:"reviewers,omitempty" jsonschema:"description=Logins whose reviews count although they may not write: reviewing bots."`
	FailOn     map[string]int `yaml:"fail_on,omitempty" json:"fail_on,omitempty" jsonschema:"description=Number of issues of a severity from which a review fails; default blocker: 1 and critical: 1."`
}

// Criteria are what a run without failures must meet to pass.
type Criteria struct {
	RequireReport *bool `yaml:"require_report,omitempty" json:"require_report,omitempty" jsonschema:"default=true,description=False lets a run whose conclusion is success pass without any test report."`
	MinTests      *int  `yaml:"min_tests,omitempty" json:"min_tests,omitempty" jsonschema:"minimum=0,description=Fewer tests than this are no pass."`
	MaxSkipped    *int  `yaml:"max_skipped,omitempty" json:"max_skipped,omitempty" jsonschema:"minimum=0,description=More skipped tests than this are no pass."`
	MaxDrop       *int  `yaml:"max_drop,omitempty" json:"max_drop,omitempty" jsonschema:"minimum=0,maximum=100,default=50,description=Per cent of tests that a green run may lack against the last green one; 100 allows any."`
	MaxFlaky      *int  `yaml:"max_flaky,omitempty" json:"max_flaky,omitempty" jsonschema:"minimum=0,description=More tests than this that passed only when repeated are no pass."`
}

// Rule is one rule of diagnosis.
type Rule struct {
	Name       string `yaml:"name" json:"name" jsonschema:"description=Shown as the signal of the evidence."`
	Pattern    string `yaml:"pattern" json:"pattern" jsonschema:"description=Regular expression (RE2) matched against each line of a failure."`
	Class      string `yaml:"class" json:"class" jsonschema:"enum=NOT_IMPLEMENTED,enum=LOGIC_ERROR,enum=TYPE_ERROR,enum=QUALITY,enum=DESIGN_MISMATCH,enum=ENV_ISSUE,enum=TIMEOUT,enum=UNKNOWN"`
	Suggestion string `yaml:"suggestion,omitempty" json:"suggestion,omitempty" jsonschema:"description=What to do about it."`
	Priority   int    `yaml:"priority,omitempty" json:"priority,omitempty" jsonschema:"description=A higher number is tried first among your own rules."`
}

// EscalationSettings say how an escalation opens.
type EscalationSettings struct {
	Assignees   []string        `yaml:"assignees,omitempty" json:"assignees,omitempty" jsonschema:"description=Logins to assign; default: the owners of the failing files that CODEOWNERS names and that can be assigned."`
	Mention     string          `yaml:"mention,omitempty" json:"mention,omitempty" jsonschema:"description=A login or team to mention in the issue."`
	MaxIssues   *int            `yaml:"max_issues,omitempty" json:"max_issues,omitempty" jsonschema:"minimum=1,maximum=50,default=10,description=New issues within an hour; what is beyond is listed in one summary issue."`
	Quiet       *Duration       `yaml:"quiet,omitempty" json:"quiet,omitempty" jsonschema:"default=10m,description=How long after a green run closed an issue nothing of its kind is opened; at most an hour."`
	AutoResolve map[string]bool `yaml:"auto_resolve,omitempty" json:"auto_resolve,omitempty" jsonschema:"description=By type of escalation: false leaves the issue open for a person to close when its case passes; default: true."`
}

// Limits returns what bounds the filing of escalations.
func (e EscalationSettings) Limits() escalation.Limits {
	l := escalation.Limits{MaxIssues: escalation.DefaultMaxIssues, Quiet: escalation.DefaultQuiet}
	setInt(&l.MaxIssues, e.MaxIssues)
	if e.Quiet != nil {
		l.Quiet = time.Duration(*e.Quiet)
	}
	return l
}

// Resolves reports whether an escalation of a type is closed when its case
// passes.
func (e EscalationSettings) Resolves(t escalation.Type) bool {
	yes, set := e.AutoResolve[string(t)]
	return yes || !set
}

// Duration is a time.Duration written as "5s" or "2m".
type Duration time.Duration

// longest is the longest time to wait: a runner is paid for all of it.
const longest = time.Hour

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{lineError(n.Line, "a list or mapping is not a duration; write e.g. 5s or 2m")}}
	}
	v, err := time.ParseDuration(n.Value)
	if err == nil && v > longest {
		return &yaml.TypeError{Errors: []string{lineError(n.Line, "%q is longer than an hour; the job waits that long", n.Value)}}
	}
	if err != nil || v < 0 {
		return &yaml.TypeError{Errors: []string{lineError(n.Line, "%q is not a duration; write e.g. 5s or 2m", n.Value)}}
	}
	*d = Duration(v)
	return nil
}

// Policy returns what the file means for a checkpoint of a case. label is the
// override that a label on the pull request gives, nil if there is none.
func (f File) Policy(checkpoint, caseRef string, label *int) routing.Policy {
	p := routing.DefaultPolicy()
	setInt(&p.Max, f.MaxIterations)
	setBool(&p.Breaker, f.Breaker)
	setBool(&p.EscalateOnDesign, f.Design)
	setBool(&p.RunReviewerOnPass, f.RunReviewer)
	setBool(&p.Notify, f.Notify)
	setInt(&p.MaxActions, f.MaxActions)
	if f.OnMax != "" {
		p.OnMax = routing.OnMax(f.OnMax)
	}
	if f.PauseScope != "" {
		p.Scope = routing.Scope(f.PauseScope)
	}
	if f.RetryDelay != nil {
		p.RetryDelay = time.Duration(*f.RetryDelay)
	}
	p.Quarantine = f.Quarantine
	p.Reviewer, p.Manual = f.Reviewer != nil, f.Mode == "manual"
	if len(f.Review.FailOn) > 0 {
		p.FailOn = routing.FailOn{}
		for k, n := range f.Review.FailOn {
			p.FailOn[routing.IssueSeverity(k)] = n
		}
	}
	p.Needs = map[string][]string{}
	for name, cp := range f.Checkpoints {
		p.Checkpoints = append(p.Checkpoints, name)
		if len(cp.Needs) > 0 {
			p.Needs[name] = cp.Needs
		}
	}
	setInt(&p.Max, f.Checkpoints[checkpoint].MaxIterations)
	if d := f.CriteriaOf(checkpoint).MaxDrop; d != nil {
		p.MaxDrop = float64(*d) / 100
		if *d == 100 {
			p.MaxDrop = 0
		}
	}
	if o, ok := f.Cases[caseRef]; ok {
		p.Override = o.MaxIterations
	}
	if label != nil {
		p.Override, p.Labelled = label, true
	}
	return p
}

// CriteriaOf returns the criteria of a checkpoint.
func (f File) CriteriaOf(checkpoint string) Criteria {
	if c := f.Checkpoints[checkpoint].Criteria; c != nil {
		return *c
	}
	return f.Criteria
}

// Unmet returns which criteria counts does not meet, in words.
func (c Criteria) Unmet(n routing.Counts) []string {
	var out []string
	if c.MinTests != nil && n.Tests < *c.MinTests {
		out = append(out, sentence("%d tests ran, at least %d are wanted (min_tests)", n.Tests, *c.MinTests))
	}
	if c.MaxSkipped != nil && n.Skipped > *c.MaxSkipped {
		out = append(out, sentence("%d tests were skipped, at most %d may be (max_skipped)", n.Skipped, *c.MaxSkipped))
	}
	if c.MaxFlaky != nil && n.Flaky > *c.MaxFlaky {
		out = append(out, sentence("%d tests passed only when repeated, at most %d may (max_flaky)", n.Flaky, *c.MaxFlaky))
	}
	return out
}

// HandoffsOrDefault returns the configured hand-offs, or to mention the author.
func (f File) HandoffsOrDefault() []Handoff {
	if len(f.Handoff) == 0 {
		return []Handoff{{Mention: "author"}}
	}
	return f.Handoff
}

func setInt(to *int, from *int) {
	if from != nil {
		*to = *from
	}
}

func setBool(to *bool, from *bool) {
	if from != nil {
		*to = *from
	}
}
