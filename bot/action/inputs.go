package action

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	githubactions "github.com/sethvargo/go-githubactions"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// Inputs are the inputs of the actions, and what an action.yml adds to them, read and checked.
type Inputs struct {
	Command      string   // one of those of the action
	Reports      []string // globs of files, or of paths in artifacts
	Checkpoint   string   // "" for the default of the event
	Config       string   // path of the configuration, "" for the default
	Token        string
	FailOn       []string // decisions that fail the step
	JobStatus    string   // success, failure, cancelled, or "" if unknown
	Matrix       string   // the job's matrix values as JSON, "" or "null" if none
	MatrixTotal  int      // jobs of the matrix
	Workflows    []string // names of the workflows whose runs workflow-run analyzes; empty: all
	BotLogin     string   // login of the bot whose token is used, "" to find out
	LedgerBranch string
	Result       string // path of a result that people are asked about
	Ports        PortInputs
}

// actionVariable names the environment variable in which an action.yml says which action it is.
const actionVariable = "SWITCHBACK_ACTION"

// actions are the actions of this repository, by the value of SWITCHBACK_ACTION in their action.yml,
// and what the input command of each may be.
var actions = map[string][]string{
	"switchback": {"auto", "step", "workflow-run", "review", "answer", "replay"},
	"ports":      {"plan", "matrix", "port", "collect", "port-event"},
	"survey":     {"survey", "auto"},
	"reconcile":  {"reconcile"},
}

// checkCommand returns an error that names the commands of an action if command is none of them.
// Where no action.yml called the program, it has the commands of all actions.
func checkCommand(action, command string) error {
	if known, ok := actions[action]; ok {
		if slices.Contains(known, command) {
			return nil
		}
		for _, other := range slices.Sorted(maps.Keys(actions)) {
			if slices.Contains(actions[other], command) {
				return fmt.Errorf("input command is %q, which is a command of the action switchback-ci/switchback/%s; the commands of this one are %s", command, other, strings.Join(known, ", "))
			}
		}
		return fmt.Errorf("input command is %q; it must be one of %s", command, strings.Join(known, ", "))
	}
	known := slices.Concat(slices.Collect(maps.Values(actions))...)
	if !slices.Contains(known, command) {
		slices.Sort(known)
		return fmt.Errorf("input command is %q; it must be one of %s", command, strings.Join(slices.Compact(known), ", "))
	}
	return nil
}

// failOnNames are what fail-on may list, with the decisions they stand for.
var failOnNames = map[string][]routing.Kind{
	"retry":       {routing.KindRetry, routing.KindInteraction, routing.KindGroupFailed},
	"design":      {routing.KindDesign},
	"env":         {routing.KindEnv},
	"timeout":     {routing.KindTimeout},
	"unclear":     {routing.KindUnclear},
	"max-retry":   {routing.KindMaxRetry},
	"no-progress": {routing.KindNoProgress},
	"no-answer":   {routing.KindNoAnswer},
	"suspect":     {routing.KindSuspect},
	"escalate":    {routing.KindDesign, routing.KindEnv, routing.KindTimeout, routing.KindUnclear, routing.KindMaxRetry, routing.KindNoProgress, routing.KindNoAnswer, routing.KindSuspect},
}

// readInputs returns the inputs or an error that names the input and remedy.
func readInputs(a *githubactions.Action, getenv func(string) string) (Inputs, error) {
	get := func(name, def string) string {
		if v := strings.TrimSpace(a.GetInput(name)); v != "" {
			return v
		}
		return def
	}
	in := Inputs{
		Command: get("command", "auto"), Checkpoint: get("checkpoint", ""), Config: get("config", ""),
		Token: get("token", getenv("GITHUB_TOKEN")), JobStatus: get("job-status", ""), Matrix: get("matrix", ""),
		BotLogin: get("bot-login", ""), LedgerBranch: get("ledger-branch", "switchback-ledger"),
		Result: get("result", ""), Reports: list(get("reports", "")), Workflows: list(get("workflows", "")), FailOn: list(get("fail-on", "unclear")),
	}
	err := checkCommand(getenv(actionVariable), in.Command)
	if err != nil {
		return in, err
	}
	if in.Ports, err = readPortInputs(get); err != nil {
		return in, err
	}
	for _, f := range in.FailOn {
		if f != "never" && failOnNames[f] == nil {
			if near, ok := suggest.Close(f, slices.Sorted(maps.Keys(failOnNames))); ok {
				return in, fmt.Errorf("input fail-on lists %q; did you mean %q?", f, near)
			}
			return in, fmt.Errorf("input fail-on lists %q; known are never, escalate, retry, design, env, timeout, unclear, max-retry, no-progress, suspect", f)
		}
	}
	if s := get("matrix-total", ""); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return in, fmt.Errorf("input matrix-total is %q; it must be a whole number from 1 on", s)
		}
		in.MatrixTotal = n
	}
	return in, nil
}

// list splits a value at line ends and commas that are not inside braces.
func list(s string) []string {
	var out []string
	depth, start := 0, 0
	flush := func(end int) {
		if item := strings.TrimSpace(s[start:end]); item != "" {
			out = append(out, item)
		}
		start = end + 1
	}
	for i, r := range s {
		switch {
		case r == '{':
			depth++
		case r == '}' && depth > 0:
			depth--
		case r == '\n' || (r == ',' && depth == 0):
			flush(i)
		}
	}
	flush(len(s))
	return out
}

// fails reports whether decision d fails the step.
func (in Inputs) fails(d routing.Decision) bool {
	if (d.Kind == routing.KindMaxRetry || d.Kind == routing.KindNoProgress) && d.OnMax == routing.OnMaxError {
		return true
	}
	for _, f := range in.FailOn {
		if d.Rule == routing.RuleReportsUnmatched && !d.Repeated && (f == "unclear" || f == "escalate") {
			return true
		}
		for _, k := range failOnNames[f] {
			if d.Kind == k && !d.Repeated {
				return true
			}
		}
	}
	return false
}

// part names the leg of a matrix from its values, in a stable order.
func (in Inputs) part() string {
	var m map[string]any
	if in.Matrix == "" || in.Matrix == "null" || json.Unmarshal([]byte(in.Matrix), &m) != nil || len(m) == 0 {
		return ""
	}
	b, err := json.Marshal(m) // sorts keys
	if err != nil {
		return ""
	}
	return string(b)
}
