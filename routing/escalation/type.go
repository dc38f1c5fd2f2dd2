// Package escalation knows what a call for a human is: its type, its severity and
// the model of its report, built from the routing state alone.
package escalation

import "github.com/switchback-ci/switchback/routing"

// Type is what kind of help an escalation asks for.
type Type string

// The types.
const (
	General        Type = "general"
	Blocked        Type = "blocked"
	NeedsDecision  Type = "decision"
	TestFailure    Type = "test_failure"
	TokenExhausted Type = "token_exhausted"
	TimedOut       Type = "timeout"
	Conflict       Type = "conflict"
	Dependency     Type = "dependency"
	Quality        Type = "quality"
	BuildFailure   Type = "build_failure"
)

// Types lists all types.
func Types() []Type {
	return []Type{General, Blocked, NeedsDecision, TestFailure, TokenExhausted, TimedOut, Conflict, Dependency, Quality, BuildFailure}
}

// Valid reports whether t is one of the types.
func (t Type) Valid() bool {
	for _, k := range Types() {
		if t == k {
			return true
		}
	}
	return false
}

// Severity is how grave an escalation is.
type Severity string

// The severities, least first.
const (
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Severities lists the severities, least first.
func Severities() []Severity { return []Severity{Low, Medium, High, Critical} }

// Valid reports whether s is one of the severities.
func (s Severity) Valid() bool {
	for _, k := range Severities() {
		if s == k {
			return true
		}
	}
	return false
}

// kinds is what a decision asks for. The first row whose kind and class fit
// wins; an empty class fits all.
var kinds = []struct {
	kind     routing.Kind
	class    routing.Class
	typ      Type
	severity Severity
}{
	{routing.KindDesign, "", NeedsDecision, High},
	{routing.KindEnv, "", Blocked, High},
	{routing.KindTimeout, "", TimedOut, High},
	{routing.KindUnclear, "", General, Medium},
	{routing.KindMaxRetry, routing.DesignMismatch, NeedsDecision, High},
	{routing.KindMaxRetry, routing.TypeError, BuildFailure, High},
	{routing.KindMaxRetry, routing.Quality, Quality, Medium},
	{routing.KindMaxRetry, "", TestFailure, High},
	{routing.KindSuspect, "", NeedsDecision, Medium},
	{routing.KindNoAnswer, "", NeedsDecision, Medium},
	{routing.KindNoProgress, routing.DesignMismatch, NeedsDecision, High},
	{routing.KindNoProgress, routing.TypeError, BuildFailure, High},
	{routing.KindNoProgress, routing.Quality, Quality, Medium},
	{routing.KindNoProgress, "", TestFailure, High},
}

// TypeOf returns the type and severity of an escalation of kind k whose
// decisive failure is of class c. A kind that calls nobody is general and low.
func TypeOf(k routing.Kind, c routing.Class) (Type, Severity) {
	for _, r := range kinds {
		if r.kind == k && (r.class == "" || r.class == c) {
			return r.typ, r.severity
		}
	}
	return General, Low
}
