// Package config reads .github/switchback.yml. Unknown keys and wrong values
// are refused with file, line and remedy, all of them at once.
package config

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Path is the path of the configuration in a repository. OtherPath is read where that is not there.
const (
	Path      = ".github/switchback.yml"
	OtherPath = ".github/switchback.yaml"
)

// Find returns the path of the configuration in a checkout, "" if it has none. Of two files neither
// is read: who edits one does not see that the other counts.
func Find(checkout fs.FS) (string, error) {
	found := ""
	for _, name := range []string{Path, OtherPath} {
		switch _, err := fs.Stat(checkout, name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case found != "":
			return "", &Error{[]Problem{{File: OtherPath, Message: "there is also " + Path + ", and only one of the two can count; merge them into " + Path + " and delete this one"}}}
		default:
			found = name
		}
	}
	return found, nil
}

// File is the configuration as written. A nil pointer means that the key is
// absent and the default applies.
type File struct {
	Version       int                   `yaml:"version,omitempty" json:"version,omitempty" jsonschema:"enum=1,description=Version of this format."`
	Language      string                `yaml:"language,omitempty" json:"language,omitempty" jsonschema:"enum=en,enum=ko,default=en,description=Language of comments and issues."`
	MaxIterations *int                  `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=0,maximum=10,default=3,description=Fix attempts before an escalation opens; 0 returns nothing for a fix."`
	OnMax         string                `yaml:"on_max,omitempty" json:"on_max,omitempty" jsonschema:"enum=manual,enum=error,enum=skip,default=manual,description=What happens when the fix attempts are used up: wait for a maintainer or fail the check or skip the checkpoint."`
	NoProgress    *int                  `yaml:"no_progress,omitempty" json:"no_progress,omitempty" jsonschema:"minimum=0,maximum=10,default=3,description=New commits in a row that change nothing about the failures from which an escalation opens before max_iterations; 0 never stops early."`
	Breaker       *bool                 `yaml:"circuit_breaker,omitempty" json:"circuit_breaker,omitempty" jsonschema:"default=true,description=False lifts max_iterations to the hard cap of 10."`
	RetryDelay    *Duration             `yaml:"retry_delay,omitempty" json:"retry_delay,omitempty" jsonschema:"default=5s,description=Delay before each hand-off; at most an hour."`
	Design        *bool                 `yaml:"escalate_on_design_mismatch,omitempty" json:"escalate_on_design_mismatch,omitempty" jsonschema:"default=true,description=False returns a design mismatch for a fix like any other failure."`
	RunReviewer   *bool                 `yaml:"run_reviewer_on_pass,omitempty" json:"run_reviewer_on_pass,omitempty" jsonschema:"default=true,description=Start the reviewer when a checkpoint passes (if one is configured)."`
	Notify        *bool                 `yaml:"notify_on_escalation,omitempty" json:"notify_on_escalation,omitempty" jsonschema:"default=true,description=False writes the report but mentions and assigns nobody."`
	PauseScope    string                `yaml:"pause_scope,omitempty" json:"pause_scope,omitempty" jsonschema:"enum=checkpoint,enum=case,default=checkpoint,description=What an escalation puts on hold: the checkpoint and its dependents or the whole case."`
	Mode          string                `yaml:"mode,omitempty" json:"mode,omitempty" jsonschema:"enum=auto,enum=manual,default=auto,description=Manual prepares each hand-off but sends it only on a command."`
	MaxActions    *int                  `yaml:"max_actions,omitempty" json:"max_actions,omitempty" jsonschema:"minimum=1,maximum=1000,default=50,description=Effects applied in one run of the program."`
	Comment       string                `yaml:"comment,omitempty" json:"comment,omitempty" jsonschema:"enum=case,enum=checkpoint,default=case,description=How many sticky comments a pull request has: one with a section per checkpoint or one for each checkpoint."`
	Checkpoints   map[string]Checkpoint `yaml:"checkpoints,omitempty" json:"checkpoints,omitempty" jsonschema:"description=Settings by name of checkpoint."`
	Cases         map[string]Override   `yaml:"cases,omitempty" json:"cases,omitempty" jsonschema:"description=Overrides by case: '#12' for a pull request or '@main' for a branch."`
	Handoff       Handoffs              `yaml:"handoff,omitempty" json:"handoff,omitempty" jsonschema:"description=How a failure that is returned for a fix reaches its worker; default: mention the author in the comment. A list is short for its key to."`
	Reviewer      *Handoff              `yaml:"reviewer,omitempty" json:"reviewer,omitempty" jsonschema:"description=Who reviews a checkpoint that has passed."`
	Review        ReviewSettings        `yaml:"review,omitempty" json:"review,omitempty" jsonschema:"description=When a review fails."`
	Criteria      Criteria              `yaml:"criteria,omitempty" json:"criteria,omitempty" jsonschema:"description=What a run has to meet to pass in addition to having no failures."`
	Green         GreenSettings         `yaml:"green,omitempty" json:"green,omitempty" jsonschema:"description=When a green run is not trusted by itself."`
	Base          BaseSettings          `yaml:"base,omitempty" json:"base,omitempty" jsonschema:"description=What happens to failures that stand on the base of a change already."`
	Rerun         string                `yaml:"rerun,omitempty" json:"rerun,omitempty" jsonschema:"enum=never,enum=flaky,enum=transient,default=flaky,description=When failed jobs run again before a failure is returned: never; for tests that failed and passed on one commit; or also for failures of the environment."`
	Budgets       Budgets               `yaml:"budgets,omitempty" json:"budgets,omitempty" jsonschema:"description=Fix attempts by cause within max_iterations."`
	Quarantine    []QuarantinedTest     `yaml:"quarantine,omitempty" json:"quarantine,omitempty" jsonschema:"description=Flaky tests whose failures do not count in any case until a date; they are shown as quarantined."`
	QuarantineFor *int                  `yaml:"quarantine_days,omitempty" json:"quarantine_days,omitempty" jsonschema:"minimum=1,maximum=30,default=14,description=Days after which the failures of a test count again that a person put into quarantine."`
	Incidents     IncidentSettings      `yaml:"incidents,omitempty" json:"incidents,omitempty" jsonschema:"description=When many failures are taken for one incident that puts them on hold."`
	Rules         []Rule                `yaml:"rules,omitempty" json:"rules,omitempty" jsonschema:"description=Your own diagnosis rules; they are tried before the built-in ones."`
	Escalation    EscalationSettings    `yaml:"escalation,omitempty" json:"escalation,omitempty" jsonschema:"description=How escalation issues are opened."`
	Feedback      FeedbackSettings      `yaml:"feedback,omitempty" json:"feedback,omitempty" jsonschema:"description=How people are surveyed about a cycle of optimization."`
	Ports         PortSettings          `yaml:"ports,omitempty" json:"ports,omitempty" jsonschema:"description=How a plan of ports runs."`
	Acts          string                `yaml:"acts,omitempty" json:"acts,omitempty" jsonschema:"enum=action,enum=app,description=Who acts if both the Action and the App are installed; default: the Action if it has recorded cases or else the App."`
	Reports       []string              `yaml:"reports,omitempty" json:"reports,omitempty" jsonschema:"description=Globs of the report files in a run's artifacts: for the App and for the Action on workflow_run; the input reports takes precedence."`
	Workflows     []string              `yaml:"workflows,omitempty" json:"workflows,omitempty" jsonschema:"description=Names of the workflows whose runs the App analyzes; default: all."`
	Answers       AnswerSettings        `yaml:"answers,omitempty" json:"answers,omitempty" jsonschema:"description=Who may answer escalations and surveys and give commands."`
}

// The values of File.Acts.
const (
	ActsAction = "action"
	ActsApp    = "app"
)

// The values of File.Comment.
const (
	CommentPerCase       = "case"
	CommentPerCheckpoint = "checkpoint"
)

// CommentsByCase reports whether a pull request has one sticky comment for all its checkpoints.
func (f File) CommentsByCase() bool { return f.Comment != CommentPerCheckpoint }

// AnswerSettings say who may answer.
type AnswerSettings struct {
	Permission string `yaml:"permission,omitempty" json:"permission,omitempty" jsonschema:"enum=triage,enum=write,enum=maintain,enum=admin,default=write,description=Lowest role in the repository with which a person's answer counts."`
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
	Needs         []string  `yaml:"needs,omitempty" json:"needs,omitempty" jsonschema:"description=Checkpoints that have to pass first."`
	MaxIterations *int      `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=0,maximum=10,description=Overrides max_iterations for this checkpoint."`
	Criteria      *Criteria `yaml:"criteria,omitempty" json:"criteria,omitempty" jsonschema:"description=Replaces criteria for this checkpoint."`
	Review        bool      `yaml:"review,omitempty" json:"review,omitempty" jsonschema:"description=True takes review documents among the reports of this checkpoint for its result. Everywhere else a review document is no report."`
	Start         *Handoff  `yaml:"start,omitempty" json:"start,omitempty" jsonschema:"description=What to start when the checkpoints it needs have passed: a workflow or a repository_dispatch."`
}

// Override holds the settings that one case can override.
type Override struct {
	MaxIterations *int `yaml:"max_iterations" json:"max_iterations" jsonschema:"minimum=0,maximum=10"`
}

// Handoff is one way to reach a worker. Exactly one of Mention, Workflow,
// Dispatch and Label is set.
type Handoff struct {
	Mention  string            `yaml:"mention,omitempty" json:"mention,omitempty" jsonschema:"description=author or a login such as @claude. The author is mentioned in the comment; anyone else in a short comment of its own because an edit notifies nobody."`
	Workflow string            `yaml:"workflow,omitempty" json:"workflow,omitempty" jsonschema:"description=File name of a workflow with workflow_dispatch."`
	Ref      string            `yaml:"ref,omitempty" json:"ref,omitempty" jsonschema:"description=Branch or tag the workflow is dispatched on; default: the default branch."`
	Inputs   map[string]string `yaml:"inputs,omitempty" json:"inputs,omitempty" jsonschema:"description=Further inputs of the workflow."`
	Dispatch string            `yaml:"repository_dispatch,omitempty" json:"repository_dispatch,omitempty" jsonschema:"description=Event type of a repository_dispatch that carries the packet."`
	Label    string            `yaml:"label,omitempty" json:"label,omitempty" jsonschema:"description=A label set on the pull request."`

	AckWithin     *Period `yaml:"ack_within,omitempty" json:"ack_within,omitempty" jsonschema:"description=Only in handoff: how long the worker has to acknowledge before the next one is told; a minute to 90 days. Workers are told in turn as soon as one has a limit and else all at once."`
	DeliverWithin *Period `yaml:"deliver_within,omitempty" json:"deliver_within,omitempty" jsonschema:"description=Only in handoff: how long the worker has to push a commit before the next one is told; a minute to 90 days."`
	Login         string  `yaml:"login,omitempty" json:"login,omitempty" jsonschema:"description=Only in handoff: the login whose comments and reactions acknowledge; default: the mentioned one or the bot of the App of that name."`
}

// ReviewSettings say when a review fails.
type ReviewSettings struct {
	Checkpoint string         `yaml:"checkpoint,omitempty" json:"checkpoint,omitempty" jsonschema:"default=review,description=Name of the checkpoint that reviews belong to."`
	Reviewers  []string       `yaml:"reviewers,omitempty" json:"reviewers,omitempty" jsonschema:"description=Logins whose reviews count without write access: reviewing bots."`
	FailOn     map[string]int `yaml:"fail_on,omitempty" json:"fail_on,omitempty" jsonschema:"description=Number of issues of a severity from which a review fails; default blocker: 1 and critical: 1."`
}

// Budgets are the fix attempts of a streak by what they are for, beside max_iterations for all
// together, and the reruns of a case.
type Budgets struct {
	Logic   *int `yaml:"logic,omitempty" json:"logic,omitempty" jsonschema:"minimum=0,maximum=10,description=Fix attempts for wrong results and what is not implemented."`
	Build   *int `yaml:"build,omitempty" json:"build,omitempty" jsonschema:"minimum=0,maximum=10,description=Fix attempts for what does not compile."`
	Quality *int `yaml:"quality,omitempty" json:"quality,omitempty" jsonschema:"minimum=0,maximum=10,description=Fix attempts for lint and formatting and coverage."`
	Timeout *int `yaml:"timeout,omitempty" json:"timeout,omitempty" jsonschema:"minimum=0,maximum=10,description=Fix attempts for runs that ran out of time."`
	Rerun   *int `yaml:"rerun,omitempty" json:"rerun,omitempty" jsonschema:"minimum=0,maximum=10,default=3,description=Runs of a case whose failed jobs run again."`
}

// of returns the budgets by name.
func (b Budgets) of() map[string]*int {
	return map[string]*int{"logic": b.Logic, "build": b.Build, "quality": b.Quality, "timeout": b.Timeout, "rerun": b.Rerun}
}

// BaseSettings say what happens to failures that stand on the base already.
type BaseSettings struct {
	Check string `yaml:"check,omitempty" json:"check,omitempty" jsonschema:"enum=neutral,enum=failure,enum=success,default=neutral,description=Conclusion of the check of a run in which nothing failed but what fails on the base too."`

	Update bool `yaml:"update,omitempty" json:"update,omitempty" jsonschema:"default=false,description=Merges the base into the branch of a pull request once the base passes what it failed\\, instead of asking the author to. Needs contents: write and pull_requests: write."`
}

// GreenSettings say when a maintainer has to accept a green run.
type GreenSettings struct {
	Mode string `yaml:"mode,omitempty" json:"mode,omitempty" jsonschema:"enum=report,enum=gate,default=report,description=gate asks a maintainer to accept a green run whose change edits workflows or test configuration or lowers a threshold or adds a marker that skips tests; report lists that."`

	MaxDrop *Percent `yaml:"max_drop,omitempty" json:"max_drop,omitempty" jsonschema:"description=How many percent fewer tests than its base or an earlier run since the last green one a green run may run before a maintainer is asked; 100 allows any number. Default: 20."`
}

// Percent is a share written as 20 or "20%".
type Percent int

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *Percent) UnmarshalYAML(n *yaml.Node) error {
	v, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(n.Value, "%")))
	if n.Kind != yaml.ScalarNode || err != nil || v < 0 || v > 100 {
		return &yaml.TypeError{Errors: []string{lineError(n.Line, "%q is no percentage; write a whole number from 0 to 100, e.g. 20 or 20%%", n.Value)}}
	}
	*p = Percent(v)
	return nil
}

// Criteria are what a run without failures has to meet to pass.
type Criteria struct {
	RequireReport *bool `yaml:"require_report,omitempty" json:"require_report,omitempty" jsonschema:"default=true,description=False lets a run whose conclusion is success pass without any test report."`
	MinTests      *int  `yaml:"min_tests,omitempty" json:"min_tests,omitempty" jsonschema:"minimum=0,description=A run with fewer tests does not pass."`
	MaxSkipped    *int  `yaml:"max_skipped,omitempty" json:"max_skipped,omitempty" jsonschema:"minimum=0,description=A run with more skipped tests does not pass."`
	MaxDrop       *int  `yaml:"max_drop,omitempty" json:"max_drop,omitempty" jsonschema:"minimum=0,maximum=100,default=50,description=How many percent fewer tests than the last green run a green run may have; 100 allows any number."`
	MaxFlaky      *int  `yaml:"max_flaky,omitempty" json:"max_flaky,omitempty" jsonschema:"minimum=0,description=A run with more tests that passed only when repeated does not pass."`
}

// Rule is one diagnosis rule of the repository's own.
type Rule struct {
	Name       string `yaml:"name" json:"name" jsonschema:"description=Shown as the signal of the evidence."`
	Pattern    string `yaml:"pattern" json:"pattern" jsonschema:"description=Regular expression (RE2) that is matched against each line of a failure."`
	Class      string `yaml:"class" json:"class" jsonschema:"enum=NOT_IMPLEMENTED,enum=LOGIC_ERROR,enum=TYPE_ERROR,enum=QUALITY,enum=DESIGN_MISMATCH,enum=ENV_ISSUE,enum=TIMEOUT,enum=UNKNOWN"`
	Suggestion string `yaml:"suggestion,omitempty" json:"suggestion,omitempty" jsonschema:"description=What to do about it."`
	Priority   int    `yaml:"priority,omitempty" json:"priority,omitempty" jsonschema:"description=A higher number is tried first among your own rules."`
}

// EscalationSettings say how escalation issues are opened.
type EscalationSettings struct {
	Assignees   []string        `yaml:"assignees,omitempty" json:"assignees,omitempty" jsonschema:"description=Logins to assign; default: the owners of the failing files that CODEOWNERS names and that can be assigned."`
	Mention     string          `yaml:"mention,omitempty" json:"mention,omitempty" jsonschema:"description=A login or team to mention in the issue."`
	MaxIssues   *int            `yaml:"max_issues,omitempty" json:"max_issues,omitempty" jsonschema:"minimum=1,maximum=50,default=10,description=New issues within an hour; further escalations are listed in one summary issue."`
	Quiet       *Duration       `yaml:"quiet,omitempty" json:"quiet,omitempty" jsonschema:"default=10m,description=How long no issue of the same kind opens after a green run closed one; at most an hour."`
	AutoResolve map[string]bool `yaml:"auto_resolve,omitempty" json:"auto_resolve,omitempty" jsonschema:"description=By type of escalation: false leaves the issue open for a person to close when its case passes; default: true."`
}

// Limits returns the limits on opening escalation issues.
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

// longest is the longest delay that can be set, because a waiting runner costs minutes.
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
	if !p.Breaker {
		p.NoProgress = 0
	}
	setInt(&p.NoProgress, f.NoProgress)
	if f.OnMax != "" {
		p.OnMax = routing.OnMax(f.OnMax)
	}
	if f.PauseScope != "" {
		p.Scope = routing.Scope(f.PauseScope)
	}
	if f.RetryDelay != nil {
		p.RetryDelay = time.Duration(*f.RetryDelay)
	}
	p.Workers = f.Handoff.workers(strings.HasPrefix(caseRef, "@"))
	for _, q := range f.Quarantine {
		p.Quarantine = append(p.Quarantine, routing.NamedTest{Test: q.Test, Until: q.Until.Begin()})
	}
	if f.Rerun != "" {
		p.Rerun = routing.RerunOn(f.Rerun)
	}
	setInt(&p.MaxReruns, f.Budgets.Rerun)
	for name, n := range f.Budgets.of() {
		if n != nil && name != "rerun" {
			if p.Budgets == nil {
				p.Budgets = map[routing.Budget]int{}
			}
			p.Budgets[routing.Budget(name)] = *n
		}
	}
	if f.Green.Mode != "" {
		p.Green = routing.GreenMode(f.Green.Mode)
	}
	if d := f.Green.MaxDrop; d != nil {
		p.GreenDrop = routing.Drop(*d) / 100
		if *d == 100 {
			p.GreenDrop = 0
		}
	}
	if f.Base.Check != "" {
		p.BaseCheck = f.Base.Check
	}
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

// DefaultReviewCheckpoint is the checkpoint of reviews if review.checkpoint is absent.
const DefaultReviewCheckpoint = "review"

// ReviewCheckpoint returns the name of the checkpoint that submitted reviews belong to.
func (f File) ReviewCheckpoint() string {
	if f.Review.Checkpoint == "" {
		return DefaultReviewCheckpoint
	}
	return f.Review.Checkpoint
}

// AcceptsReviews reports whether a review document decides runs of a checkpoint. Tests can write any
// file where a report is expected, so a checkpoint of tests must not accept one.
func (f File) AcceptsReviews(checkpoint string) bool {
	return checkpoint == f.ReviewCheckpoint() || f.Checkpoints[checkpoint].Review
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
