package diagnosis

import (
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis/rank"
	coursesteps "github.com/switchback-ci/switchback/routing/diagnosis/steps"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// roleClass is the class of a failure of which only the role of the unit is known that failed.
var roleClass = map[coursesteps.Role]routing.Class{
	coursesteps.Fetch:   routing.EnvIssue,
	coursesteps.Install: routing.EnvIssue,
	coursesteps.Compile: routing.TypeError,
	coursesteps.Lint:    routing.Quality,
	coursesteps.Test:    routing.LogicError,
}

// contractCheck is a command that compares two sources of one contract.
var contractCheck = lazyregexp.New(`(?i)\b(?:contracts?|pact|openapi|oasdiff|revapi|japicmp|clirr|semver-checks|api-?(?:check|diff|compat\w*|extractor|dump)|schema-?(?:check|diff|compat\w*)|graphql-inspector|apidiff|breaking)\b`)

// failingUnit returns the unit that made the job fail, with the role of the innermost one around it
// that has one.
func failingUnit(tree *coursesteps.Tree) (u coursesteps.Unit, role coursesteps.Role, ok bool) {
	at, ok := tree.Failing()
	if !ok {
		return u, role, false
	}
	for i := at; i >= 0; i = tree.Units[i].Parent {
		if r := tree.Units[i].Role; r != coursesteps.Unknown {
			return tree.Units[i], r, true
		}
	}
	return tree.Units[at], coursesteps.Unknown, true
}

// byRole returns the class of the line r by the role of the unit that failed, with the line that
// names the unit, false if it tells nothing.
func (d *diagnoser) byRole(r ranked) (finding, int, bool) {
	u, role, ok := failingUnit(d.output.course)
	if !ok {
		return finding{}, 0, false
	}
	class := roleClass[role]
	name := firstText(u.Command, u.Name)
	if class != routing.EnvIssue && contractCheck.MatchString(u.Name+" "+u.Command) {
		class, role = routing.DesignMismatch, coursesteps.Lint
	}
	if !says(r, role) {
		return finding{}, 0, false
	}
	if class == "" {
		return finding{}, 0, false
	}
	return finding{class: class, text: name, signal: "unit:" + string(role)}, u.First, true
}

// says reports whether the line r, of a unit of that role, is more than the last output before an
// exit. A linter or compiler that exits with a failure has found something, whatever its words; a
// test or an installation can be stopped from outside.
func says(r ranked, role coursesteps.Role) bool {
	switch {
	case r.rule != nil && r.rule.Class == routing.Unknown:
		return false
	case role == coursesteps.Lint || role == coursesteps.Compile:
		return true
	case r.stop:
		return false
	case r.rule != nil:
		return r.rule.Role == RoleError
	}
	return r.mark || r.features[rank.TraceEnd] != 0 || r.features[rank.TraceHead] != 0
}

// byTool returns the class of a failing test that a compiler or linter reports its findings as, as
// mypy does in JUnit XML: the suite or the test has the tool's name.
func byTool(t testreport.Test) (finding, bool) {
	for _, name := range []string{t.Suite, t.Name} {
		first, _, _ := strings.Cut(name, "-py3")
		first = strings.TrimPrefix(first, "org.")
		if first == "" || len(first) > 24 || strings.ContainsAny(first, " /\\:") {
			continue
		}
		switch role := coursesteps.RoleOf(strings.ToLower(first)); {
		case role == coursesteps.Compile && compilers.MatchString(first):
			return finding{class: routing.TypeError, signal: "tool:" + first, text: firstText(t.Message, t.Name)}, true
		case role == coursesteps.Lint && t.Kind != testreport.KindAssertion:
			return finding{class: routing.Quality, signal: "tool:" + first, text: firstText(t.Message, t.Name)}, true
		}
	}
	return finding{}, false
}

// mute reports whether a failing test says nothing of why it failed: its class is that of a failing
// test and nothing else.
func mute(t testreport.Test) bool {
	switch t.Kind {
	case testreport.KindAssertion, testreport.KindTimeout, testreport.KindRace, testreport.KindCrash, testreport.KindLint:
		return false
	}
	text := strings.ToLower(strings.Trim(firstText(t.Message, t.Trace), " \t\n'\".!:"))
	return t.Expected == "" && t.Actual == "" && (len(text) < 6 || boilerplate.MatchString(text))
}

// boilerplate is what runners print where a test gave no message.
var boilerplate = lazyregexp.New(`^(?:the )?(?:test|tests|test case|test file|test suite|suite|spec|hook|file|sub-?tests?|assertion|1 assertion\(s\)|\d+ subtests?|command|process)?(?:\(s\))?\s*(?:has |have )?(?:failed|failure|errored|error|exception|fail|did not pass)?(?: to run)?(?: with exit code \d+)?$`)
