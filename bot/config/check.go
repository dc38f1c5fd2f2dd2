package config

import (
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/suggest"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// checker checks the values of a configuration.
type checker struct {
	root     *yaml.Node // for the lines of problems
	problems *problemList
}

// add lists a problem at the line of the key or item that path leads to.
func (c checker) add(path []any, format string, a ...any) {
	c.problems.add(lineOf(c.root, path), format, a...)
}

// has reports whether the list that path leads to has n items: of a list with
// items of a wrong type the others are no longer where they stand.
func (c checker) has(n int, path ...any) bool {
	at := find(c.root, path)
	return at != nil && at.Kind == yaml.SequenceNode && len(at.Content) == n
}

func (c checker) check(f File) {
	c.oneOf([]any{"language"}, f.Language, "en", "ko")
	c.oneOf([]any{"on_max"}, f.OnMax, "manual", "error", "skip")
	c.oneOf([]any{"pause_scope"}, f.PauseScope, "checkpoint", "case")
	c.oneOf([]any{"comment"}, f.Comment, CommentPerCase, CommentPerCheckpoint)
	c.oneOf([]any{"rerun"}, f.Rerun, "never", "flaky", "transient")
	for _, name := range keys(f.Budgets.of()) {
		if n := f.Budgets.of()[name]; n != nil && (*n < 0 || *n > routing.HardCap) {
			c.add([]any{"budgets", name}, "budgets.%s is %d; it must be 0 to %d", name, *n, routing.HardCap)
		}
	}
	c.oneOf([]any{"mode"}, f.Mode, "auto", "manual")
	c.oneOf([]any{"green", "mode"}, f.Green.Mode, string(routing.GreenReport), string(routing.GreenGate))
	c.oneOf([]any{"base", "check"}, f.Base.Check, "neutral", "failure", "success")
	c.oneOf([]any{"acts"}, f.Acts, ActsAction, ActsApp)
	for i, glob := range f.Reports {
		if strings.TrimSpace(glob) == "" || !doublestar.ValidatePattern(glob) {
			c.add([]any{"reports", i}, "reports[%d] is %q, which is no pattern of files; write e.g. \"**/junit*.xml\"", i, glob)
		}
	}
	if f.Version != 0 && f.Version != 1 {
		c.add([]any{"version"}, "version %d is not known; write 1 or leave it out", f.Version)
	}
	c.limit([]any{"max_iterations"}, f.MaxIterations)
	if n := f.NoProgress; n != nil && (*n < 0 || *n > routing.HardCap) {
		c.add([]any{"no_progress"}, "no_progress is %d; it must be 0 to %d", *n, routing.HardCap)
	}
	if f.MaxActions != nil && (*f.MaxActions < 1 || *f.MaxActions > 1000) {
		c.add([]any{"max_actions"}, "max_actions is %d; it must be 1 to 1000", *f.MaxActions)
	}
	c.quarantine(f)
	c.incidents(f.Incidents)
	for _, ref := range keys(f.Cases) {
		if !regexp.MustCompile(`^(#\d+|@\S+)$`).MatchString(ref) {
			c.add([]any{"cases", ref}, "case %q is neither a pull request (\"#12\") nor a branch (\"@main\")", ref)
		}
		if f.Cases[ref].MaxIterations == nil {
			c.add([]any{"cases", ref}, "case %q overrides nothing; write max_iterations", ref)
		}
		c.limit([]any{"cases", ref, "max_iterations"}, f.Cases[ref].MaxIterations)
	}
	c.handoffs(f.Handoff)
	if f.Reviewer != nil {
		c.handoff([]any{"reviewer"}, *f.Reviewer)
		checkUnlimited(c, []any{"reviewer"}, *f.Reviewer)
	}
	for _, sev := range keys(f.Review.FailOn) {
		c.oneOf([]any{"review", "fail_on", sev}, sev, "blocker", "critical", "major", "minor")
		if f.Review.FailOn[sev] < 0 {
			c.add([]any{"review", "fail_on", sev}, "fail_on.%s is %d; it must be 0 (never) or more", sev, f.Review.FailOn[sev])
		}
	}
	c.oneOf([]any{"answers", "permission"}, f.Answers.Permission, "triage", "write", "maintain", "admin")
	for i, id := range f.Answers.Apps {
		if id < 1 {
			c.add([]any{"answers", "apps", i}, "%d is no id of an App; it is the number on its settings page", id)
		}
	}
	c.criteria([]any{"criteria"}, f.Criteria)
	c.escalation(f.Escalation)
	c.feedback(f.Feedback)
	c.ports(f.Ports)
	c.checkpoints(f)
	c.rules(f.Rules)
}

func (c checker) escalation(e EscalationSettings) {
	if n := e.MaxIssues; n != nil && (*n < 1 || *n > 50) {
		c.add([]any{"escalation", "max_issues"}, "max_issues is %d; it must be 1 to 50", *n)
	}
	var types []string
	for _, t := range escalation.Types() {
		types = append(types, string(t))
	}
	for _, t := range keys(e.AutoResolve) {
		c.oneOf([]any{"escalation", "auto_resolve", t}, t, types...)
	}
}

func (c checker) criteria(path []any, cr Criteria) {
	for _, k := range []struct {
		name string
		v    *int
	}{{"min_tests", cr.MinTests}, {"max_skipped", cr.MaxSkipped}, {"max_flaky", cr.MaxFlaky}, {"max_drop", cr.MaxDrop}} {
		if k.v != nil && *k.v < 0 {
			c.add(append(path, k.name), "%s is %d; it must not be negative", k.name, *k.v)
		}
	}
	if d := cr.MaxDrop; d != nil && *d > 100 {
		c.add(append(path, "max_drop"), "max_drop is %d; it is per cent, 0 to 100", *d)
	}
}

func (c checker) checkpoints(f File) {
	names := keys(f.Checkpoints)
	if len(names) > maxCheckpoints {
		c.add([]any{"checkpoints"}, "%d checkpoints, at most %d are allowed; name only those that need settings of their own", len(names), maxCheckpoints)
		return
	}
	for _, name := range names {
		cp := f.Checkpoints[name]
		path := []any{"checkpoints", name}
		c.limit(append(path, "max_iterations"), cp.MaxIterations)
		if cp.Criteria != nil {
			c.criteria(append(path, "criteria"), *cp.Criteria)
		}
		if cp.Start != nil {
			c.handoff(append(path, "start"), *cp.Start)
			checkUnlimited(c, append(path, "start"), *cp.Start)
		}
		for i, n := range cp.Needs {
			switch _, ok := f.Checkpoints[n]; {
			case ok:
			case c.problems.full():
			case c.has(len(cp.Needs), "checkpoints", name, "needs"):
				c.add(append(path, "needs", i), "checkpoint %q needs %q, which is not among the checkpoints; %s", name, n, suggest.Hint(n, names))
			}
		}
	}
	if cycle := findCycle(f.Checkpoints); cycle != nil {
		c.add([]any{"checkpoints", cycle[0], "needs"}, "the checkpoints need each other in a circle: %s; remove one of these needs", strings.Join(cycle, " → "))
	}
}

func (c checker) rules(rules []Rule) {
	seen := map[string]bool{}
	if !c.has(len(rules), "rules") {
		return
	}
	var bounds diagnosis.RuleBounds
	for i, r := range rules {
		path := []any{"rules", i}
		if i == diagnosis.MaxUserRules {
			c.add(path, "%d rules, at most %d are allowed; join patterns of one class with |", len(rules), diagnosis.MaxUserRules)
			return
		}
		if strings.TrimSpace(r.Name) == "" {
			c.add(path, "a rule without name; give it one")
		} else if seen[r.Name] {
			c.add(append(path, "name"), "a second rule named %q; names are shown as evidence and must differ", r.Name)
		}
		seen[r.Name] = true
		if r.Pattern == "" {
			c.add(path, "rule %q has no pattern; give it a regular expression", r.Name)
		} else if err := bounds.Check(diagnosis.UserRule{Name: r.Name, Pattern: r.Pattern, Suggestion: r.Suggestion}); err != nil {
			c.add(append(path, "pattern"), "rule %q: %v", truncate.Message(r.Name), err)
		}
		if r.Class == string(routing.Flaky) {
			c.add(append(path, "class"), "rule %q: FLAKY needs a test that failed and passed on one commit, no pattern can show it", r.Name)
		} else if !routing.Class(r.Class).Valid() {
			c.add(append(path, "class"), "rule %q: class %q is not known; %s", r.Name, r.Class, suggest.Hint(r.Class, classNames()))
		}
	}
}

func (c checker) limit(path []any, n *int) {
	if n != nil && (*n < 0 || *n > routing.HardCap) {
		c.add(path, "max_iterations is %d; it must be 0 (return nothing for a fix) to %d", *n, routing.HardCap)
	}
}

func (c checker) oneOf(path []any, got string, want ...string) {
	for _, w := range want {
		if got == w || got == "" {
			return
		}
	}
	c.add(path, "%v is %q; it must be one of %s", path[len(path)-1], got, strings.Join(want, ", "))
}

func (c checker) handoffs(hs Handoffs) {
	c.oneOf([]any{"handoff", "forks"}, hs.Forks, ForksNever, ForksApproved, ForksAlways)
	path := []any{"handoff"}
	if at := find(c.root, path); at != nil && at.Kind == yaml.MappingNode {
		path = append(path, "to")
	}
	if !c.has(len(hs.To), path...) {
		return
	}
	for i, h := range hs.To {
		c.handoff(append(path[:len(path):len(path)], i), h)
	}
	if hs.InTurn() {
		checkInTurn(c, path, hs.To)
	}
}

func (c checker) handoff(path []any, h Handoff) {
	set := 0
	for _, s := range []string{h.Mention, h.Workflow, h.Dispatch, h.Label} {
		if s != "" {
			set++
		}
	}
	if set != 1 {
		c.add(path, "name exactly one of mention, workflow, repository_dispatch, label; %d are named", set)
	}
	if h.Workflow == "" && (h.Ref != "" || len(h.Inputs) > 0) {
		c.add(path, "ref and inputs go with workflow only")
	}
	if h.Workflow != "" && strings.ContainsAny(h.Workflow, "/\\") {
		c.add(append(path, "workflow"), "workflow %q; give the file name alone, without its folder", h.Workflow)
	}
}
