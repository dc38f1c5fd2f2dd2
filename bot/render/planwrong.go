package render

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/plan"
)

// What is said at a commit of a plan that was not started. Messages quote the plan's
// files and are hostile.

// PlanNotStarted is the title of that.
func PlanNotStarted(o Options) string { return o.Language.say("plan.notbegun") }

// PlanWrong says what is wrong with the files of a plan.
func PlanWrong(name string, all []plan.Problem, o Options) string {
	var b strings.Builder
	b.WriteString(o.Language.say("plan.wrong", "name", code(o.redact(name))) + "\n")
	const most = 50
	for _, p := range all[:min(most, len(all))] {
		where := p.File
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		fmt.Fprintf(&b, "\n- %s: %s", code(o.redact(where)), prose(o.redact(p.Message)))
	}
	if n := len(all) - most; n > 0 {
		b.WriteString("\n- …")
	}
	return b.String() + "\n"
}

// PlanNeedsRunner says that a plan has workers that are commands, and that the workflow
// which runs it is not known.
func PlanNeedsRunner(name string, o Options) string {
	return o.Language.say("plan.norunner", "name", code(o.redact(name)))
}

// PlanCannotStart says why the workflow that runs a plan could not be started.
func PlanCannotStart(err error, o Options) string {
	return o.Language.say("plan.cannot", "why", prose(o.redact(err.Error())))
}
