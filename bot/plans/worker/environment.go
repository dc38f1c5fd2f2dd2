package worker

import (
	"slices"
	"strings"
)

// GivenNames is a variable that names others, separated by commas, which the workers are given
// although a variable of that name may hold a token of Switchback or of the job.
const GivenNames = "SWITCHBACK_WORKER_ENV"

// withheld are the variables that no worker is given: files through which a step speaks to the
// runner, and tokens.
var withheld = []string{
	"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
	"GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN",
}

// withheldPrefixes begin the names of variables of the runner's services and tokens, of the inputs
// of the Action, and of Switchback's own. RUNNER_TRACKING_ID stays: by it the runner ends the
// processes that a job left behind.
var withheldPrefixes = []string{"ACTIONS_", "INPUT_", "SWITCHBACK_"}

// permitted returns the variables of env that a worker is given.
func permitted(env []string) []string {
	var given []string
	for _, kv := range env {
		if names, ok := strings.CutPrefix(kv, GivenNames+"="); ok {
			given = append(given, strings.Split(names, ",")...)
		}
	}
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if !isWithheld(name) || slices.Contains(given, name) && isGivable(name) {
			out = append(out, kv)
		}
	}
	return out
}

func isWithheld(name string) bool {
	up := strings.ToUpper(name)
	return slices.Contains(withheld, up) || slices.ContainsFunc(withheldPrefixes, func(p string) bool { return strings.HasPrefix(up, p) })
}

// isGivable reports whether a variable may be given by its name. Those of GitHub and Switchback may
// not.
func isGivable(name string) bool {
	up := strings.ToUpper(name)
	return !slices.ContainsFunc([]string{"GITHUB_", "ACTIONS_", "INPUT_", "SWITCHBACK_"}, func(p string) bool { return strings.HasPrefix(up, p) })
}
