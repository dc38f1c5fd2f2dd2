package answers

import (
	"fmt"
)

// Reason says why a command was not understood.
type Reason string

// The reasons.
const (
	NoCommand      Reason = "command"
	UnknownCommand Reason = "unknown"
	WrongTurns     Reason = "turns"
	WrongPhase     Reason = "phase"
	WrongClass     Reason = "class"
	NoTest         Reason = "test"
	NoType         Reason = "type"
	NoText         Reason = "text"
)

// Misread says that a command was not understood. Word is what was written,
// raw, and may be empty; Nearest is the command that comes nearest.
type Misread struct {
	What    Reason
	Word    string
	Nearest string
}

func (m *Misread) Error() string {
	what := map[Reason]string{
		NoCommand: "a command is missing", UnknownCommand: "is not a command", WrongTurns: "is no number of turns",
		WrongPhase: "is no phase", WrongClass: "is no class", NoTest: "the name of a test is missing",
		NoType: "the type of the feedback is missing", NoText: "the text is missing",
	}[m.What]
	if m.Word != "" {
		what = fmt.Sprintf("%q %s", m.Word, what)
	}
	return fmt.Sprintf("%s; the nearest command is %q", what, m.Nearest)
}
