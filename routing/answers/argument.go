package answers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// attempts is how many more fix attempts are granted.
var attempts = Arg{
	Name: "n", Optional: true,
	Read: func(c *Command, words []string) []string {
		c.N = 1
		if len(words) == 0 {
			return words
		}
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return words // the name of a checkpoint
		}
		if n < 1 || n > routing.HardCap {
			c.Err = &Misread{What: WrongAttempts, Word: words[0], Nearest: Prefix + " retry " + strconv.Itoa(max(1, min(n, routing.HardCap)))}
		}
		c.N = n
		return words[1:]
	},
	Flag: &Flag{Name: "attempts", Default: "1", Usage: fmt.Sprintf("grant `N` further fix attempts, 1 to %d", routing.HardCap), Set: func(c *Command, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > routing.HardCap {
			return fmt.Errorf("it must be 1 to %d", routing.HardCap)
		}
		c.N = n
		return nil
	}},
}

// phases are what work can be sent back to.
var phases = []string{string(routing.Plan), string(routing.Research), string(routing.Implement)}

var phase = Arg{
	Name: strings.Join(phases, "|"),
	Read: func(c *Command, words []string) []string {
		if len(words) == 0 {
			c.Err = &Misread{What: WrongPhase, Nearest: Prefix + " phase " + phases[0]}
			return nil
		}
		word := strings.ToLower(Unquote(words[0]))
		if slices.Contains(phases, word) {
			c.Phase = routing.Phase(word)
			return words[1:]
		}
		c.Err = &Misread{What: WrongPhase, Word: words[0], Nearest: Prefix + " phase " + suggest.Nearest(word, phases)}
		return nil
	},
	Flag: &Flag{Name: "phase", Usage: "the `PHASE` to send the work back to: " + strings.Join(phases, ", "), Set: func(c *Command, value string) error {
		c.Phase = routing.Phase(value)
		return nil
	}},
}

// class is what a failure should have been taken for. FLAKY and UNKNOWN are not routed.
var class = Arg{
	Name: "CLASS",
	Read: func(c *Command, words []string) []string {
		var known []string
		for _, k := range routing.Classes() {
			if k != routing.Flaky && k != routing.Unknown {
				known = append(known, string(k))
			}
		}
		if len(words) == 0 {
			c.Err = &Misread{What: WrongClass, Nearest: Prefix + " wrong " + string(routing.LogicError)}
			return nil
		}
		word := strings.ToUpper(strings.ReplaceAll(Unquote(words[0]), "-", "_"))
		if slices.Contains(known, word) {
			c.Class = routing.Class(word)
			return words[1:]
		}
		c.Err = &Misread{What: WrongClass, Word: words[0], Nearest: Prefix + " wrong " + suggest.Nearest(word, known)}
		if word == string(routing.Flaky) {
			c.Err.Nearest = Prefix + " quarantine TEST"
		}
		return nil
	},
	Flag: &Flag{Name: "class", Usage: "the `CLASS` that is right, such as ENV_ISSUE", Set: func(c *Command, value string) error {
		c.Class = routing.Class(strings.ToUpper(value))
		return nil
	}},
}

// test is the name of a failing test. It may hold blanks, so a checkpoint cannot follow it.
var test = Arg{
	Name: "TEST",
	Read: func(c *Command, words []string) []string {
		if c.Test = Unquote(strings.Join(words, " ")); c.Test == "" {
			c.Err = &Misread{What: NoTest, Nearest: Prefix + " quarantine TEST"}
		}
		return nil
	},
	Flag: &Flag{Name: "test", Usage: "the name of the flaky `TEST`", Set: func(c *Command, value string) error {
		c.Test = value
		return nil
	}},
}

// ReadText is Spec.Parse of a command that is followed by a text, on its line and below. A text
// that is required and missing is a Misread.
func ReadText(required bool) func(*Command, Tail) {
	return func(c *Command, t Tail) {
		c.Text = trimLines(t.Rest + "\n" + t.Below)
		if c.Text == "" && required {
			c.Err = &Misread{What: NoText, Nearest: Prefix + " " + c.Name + " TEXT"}
		}
	}
}

// Unquote takes a word out of the quotes or backticks that a person may put around it.
func Unquote(s string) string {
	for _, q := range []string{"`", `"`, "'"} {
		if len(s) > 1 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return strings.TrimSpace(s[1 : len(s)-1])
		}
	}
	return s
}

// CutWord returns the first word of s and what follows it, without the blanks between them.
func CutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t")
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

// Reason says why a command was not understood. The catalogues have a text for each, whose id is
// "misread." and the reason.
type Reason string

// The reasons that are not of a feature.
const (
	NoCommand      Reason = "command"
	UnknownCommand Reason = "unknown"
	WrongAttempts  Reason = "attempts"
	WrongPhase     Reason = "phase"
	WrongClass     Reason = "class"
	NoTest         Reason = "test"
	NoText         Reason = "text"
)

// Misread says that a command was not understood. Word is what was written, raw, and may be empty;
// Nearest is the command that comes nearest.
type Misread struct {
	What    Reason
	Word    string
	Nearest string
}

func (m *Misread) Error() string {
	what := "an argument is missing"
	switch m.What {
	case NoCommand:
		what = "a command is missing"
	case UnknownCommand:
		what = "is not a command"
	case WrongAttempts:
		what = fmt.Sprintf("is not a number of fix attempts from 1 to %d", routing.HardCap)
	case WrongPhase:
		what = "is not a phase"
	case WrongClass:
		what = "is not a class"
	}
	if m.Word != "" {
		what = fmt.Sprintf("%q %s", m.Word, what)
	}
	return fmt.Sprintf("%s; the nearest command is %q", what, m.Nearest)
}
