// Package incident says when many failures have one cause, which cases an incident holds, and in
// which order they are restarted when it is over. It is pure: the incidents of a repository are folded
// from the events of one stream, and what follows from the time is asked for with the time.
package incident

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Cause is what failures of several cases have in common: for the environment a signal and the host or
// service that it is about, without the test; for the base a checkpoint and a fingerprint.
type Cause struct {
	Kind       routing.IncidentKind `json:"kind"`
	Signal     string               `json:"signal,omitempty"`     // diagnosis rule, of the environment
	Service    string               `json:"service,omitempty"`    // host or service, "" where the signal is all that is known
	Checkpoint string               `json:"checkpoint,omitempty"` // of the base
	Print      string               `json:"print,omitempty"`      // fingerprint in its short form, in hexadecimal
	Suite      string               `json:"suite,omitempty"`      // where Print was seen first
	Name       string               `json:"name,omitempty"`
}

// Key is what two causes are compared by.
func (c Cause) Key() string {
	if c.Kind == routing.IncidentBase {
		return strings.Join([]string{string(c.Kind), c.Checkpoint, c.Print}, "/")
	}
	return strings.Join([]string{string(c.Kind), c.Signal, c.Service}, "/")
}

// Text names the cause for people. It comes from runs and is hostile.
func (c Cause) Text() string {
	text := c.Signal + ": " + c.Service
	switch {
	case c.Kind == routing.IncidentBase:
		text = c.Checkpoint + ": " + routing.TestName(c.Suite, c.Name)
	case c.Service == "":
		text = c.Signal
	}
	return truncate.Counted(text, 200)
}

// id is the part of an incident's id that its cause gives.
func (c Cause) id() string {
	sum := sha256.Sum256([]byte(c.Key()))
	return fmt.Sprintf("%x", sum[:6])
}

// mostCauses bounds the causes that one run is recorded with.
const mostCauses = 20

// CausesOf returns the causes that failures of v may have in common with others, each once. Failures
// that do not count have none.
func CausesOf(v routing.Verdict) []Cause {
	if v.Review != nil || v.Result == routing.Pass || v.Result.Silent() {
		return nil
	}
	var out []Cause
	add := func(c Cause, ok bool) {
		same := func(k Cause) bool { return k.Key() == c.Key() }
		if ok && len(out) < mostCauses && !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	if v.Class == routing.EnvIssue && v.Result == routing.Fail && len(v.Failures) == 0 {
		add(environment(v.Evidence, v.Reason))
	}
	for _, f := range v.Failures {
		add(causeOf(v, f))
	}
	for _, f := range v.Cut {
		if !f.Quarantined && v.Class != routing.EnvIssue {
			add(base(v.Checkpoint, f.Suite, f.Name, f.Print))
		}
	}
	return out
}

// causeOf returns the cause of a failure, false where it has none that others could share.
func causeOf(v routing.Verdict, f routing.Failure) (Cause, bool) {
	switch {
	case f.Quarantined:
		return Cause{}, false
	case f.Class == routing.EnvIssue:
		return environment(f.Evidence, f.Message)
	case v.Class == routing.EnvIssue || !f.Comparable():
		return Cause{}, false
	}
	return base(v.Checkpoint, f.Suite, f.Name, history.FingerprintOf(f.Fingerprint))
}

func base(checkpoint, suite, name string, print uint64) (Cause, bool) {
	c := Cause{Kind: routing.IncidentBase, Checkpoint: checkpoint, Print: strconv.FormatUint(print, 16), Suite: suite, Name: name}
	return c, print != 0 && name != ""
}

func environment(evidence []routing.Evidence, message string) (Cause, bool) {
	c := Cause{Kind: routing.IncidentEnvironment}
	var text []string
	for _, e := range evidence {
		if c.Signal == "" {
			c.Signal = e.Signal
		}
		text = append(text, e.Text)
	}
	c.Service = service(append(text, message))
	return c, c.Signal != ""
}

// services are the ways in which a line names a host or a service, the surest first.
var services = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(?:\blookup|resolve host(?:name)?:?|\bENOTFOUND|\bEAI_AGAIN|UnknownHostException:?|\bresolving) +'?"?([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)`),
	regexp.MustCompile(`(?i)([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?):? (?:no such host|Name or service not known|nodename nor servname)`),
	regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://(?:[^/@\s"']*@)?([a-z0-9_-][a-z0-9_.-]*(?::\d+)?)`),
	regexp.MustCompile(`(?i)\b((?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d{2,5})\b`),
	regexp.MustCompile(`(?i)\bconnect(?:ion)? to (?:server at )?"?([a-z0-9_-][a-z0-9_.-]*(?:(?::| port )\d+)?)`),
	regexp.MustCompile(`(?i)\b((?:[a-z0-9_-]+\.)+(?:com|org|net|io|dev|cloud|app|edu|gov|local|internal))\b`),
	regexp.MustCompile(`([\w.+-]+): (?:command )?not found$`),
}

// service returns the host or service that lines name: what the first way finds in the first line.
func service(lines []string) string {
	for _, way := range services {
		for _, line := range lines {
			m := way.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			name := strings.ToLower(strings.ReplaceAll(m[1], " port ", ":"))
			if i := strings.LastIndexByte(name, ':'); i > 0 && (name[i:] == ":443" || name[i:] == ":80") {
				name = name[:i]
			}
			return truncate.Counted(strings.TrimRight(name, "."), 120)
		}
	}
	return ""
}

// explains reports whether causes with the keys explain all that failed in v: every failure that
// counts has one of them, or stands on the base where the cause is the base's. Failures of a run in a
// broken environment that are known by name and class alone are taken for the same as the others.
func explains(kind routing.IncidentKind, keys map[string]bool, v routing.Verdict) bool {
	if v.Review != nil || v.Result != routing.Fail || len(v.Unmet) > 0 {
		return false
	}
	if env := v.Class == routing.EnvIssue; env != (kind == routing.IncidentEnvironment) {
		return false
	} else if env && len(v.Failures) == 0 {
		c, ok := environment(v.Evidence, v.Reason)
		return ok && keys[c.Key()]
	}
	found := false
	for _, f := range v.Failures {
		c, ok := causeOf(v, f)
		switch {
		case ok && keys[c.Key()]:
			found = true
		case f.Quarantined, f.Standing == history.StandingPreExisting:
		case v.Class == routing.EnvIssue && f.Kind == "exit":
		default:
			return false
		}
	}
	for _, f := range v.Cut {
		c, ok := base(v.Checkpoint, f.Suite, f.Name, f.Print)
		switch {
		case v.Class == routing.EnvIssue && f.Class == routing.EnvIssue:
		case ok && keys[c.Key()]:
			found = true
		case !f.Quarantined && !f.PreExisting:
			return false
		}
	}
	return found && (v.Class == routing.EnvIssue || v.Unlisted() == 0)
}

// Red reports which causes a base fails with twice: in its newest two runs of the checkpoint, of which
// v is the newer one if it is no zero verdict.
func Red(cp routing.Checkpoint, v routing.Verdict) []Cause {
	var runs [][]routing.Verdict
	if v.Result != "" {
		runs = append(runs, []routing.Verdict{v})
	}
	for _, parts := range routing.NewestRuns(cp, 3) {
		if v.Result == "" || parts[0].Run.ID != v.Run.ID {
			runs = append(runs, parts)
		}
	}
	if len(runs) < 2 {
		return nil
	}
	before := map[string]bool{}
	for _, p := range runs[1] {
		for _, c := range CausesOf(p) {
			before[c.Key()] = true
		}
	}
	var out []Cause
	for _, p := range runs[0] {
		for _, c := range CausesOf(p) {
			if before[c.Key()] {
				out = append(out, c)
			}
		}
	}
	return out
}
