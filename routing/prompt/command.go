// Package prompt reads what people answer: commands in comments.
package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// Prefix begins every command.
const Prefix = "/switchback"

// Command is one command of a comment. Err is set if it was not understood.
type Command struct {
	Action     routing.HumanAction
	N          int    // turns, of extend
	Checkpoint string // "" if the command names none
	Line       string // as written, for the reply
	Err        error
}

// verbs are the commands and what they do.
var verbs = map[string]routing.HumanAction{
	"resume":   routing.HumanResume,
	"reset":    routing.HumanReset,
	"extend":   routing.HumanExtend,
	"retry":    routing.HumanExtend,
	"pause":    routing.HumanPause,
	"skip":     routing.HumanSkip,
	"handover": routing.HumanHandover,
}

// Usage is what a command that was not understood is answered with.
const Usage = "`/switchback resume | reset | extend [n] | pause | skip | handover [checkpoint]`, on a line of its own"

// Commands returns the commands of a comment in their order. A command begins
// its line; fenced and indented code, quotes and hidden comments hold none.
func Commands(body string) []Command {
	var out []Command
	fence := ""
	hidden := false
	for _, line := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n") {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		if fence != "" {
			if f := fenceOf(trimmed); strings.HasPrefix(f, fence) && strings.Trim(trimmed, "`~ ") == "" {
				fence = ""
			}
			continue
		}
		if f := fenceOf(trimmed); f != "" && indent < 4 {
			fence = f
			continue
		}
		wasHidden := hidden
		hidden = hiddenAfter(line, hidden)
		if wasHidden || indent >= 4 || strings.HasPrefix(line, "\t") || len(out) >= 10 {
			continue
		}
		if c, ok := parse(strings.TrimSpace(trimmed)); ok {
			out = append(out, c)
		}
	}
	return out
}

// fenceOf returns the run of backticks or tildes that begins s, if it is a fence.
func fenceOf(s string) string {
	for _, c := range []string{"`", "~"} {
		n := len(s) - len(strings.TrimLeft(s, c))
		if n >= 3 {
			return s[:n]
		}
	}
	return ""
}

// hiddenAfter reports whether an HTML comment is open at the end of line.
func hiddenAfter(line string, open bool) bool {
	for {
		mark := "<!--"
		if open {
			mark = "-->"
		}
		_, rest, ok := strings.Cut(line, mark)
		if !ok {
			return open
		}
		line, open = rest, !open
	}
}

func parse(line string) (Command, bool) {
	words := strings.Fields(line)
	if len(words) == 0 || !strings.EqualFold(words[0], Prefix) {
		return Command{}, false
	}
	c := Command{Line: line, N: 1}
	if len(words) == 1 {
		c.Err = fmt.Errorf("a command is missing; known are %s", Usage)
		return c, true
	}
	action, ok := verbs[strings.ToLower(words[1])]
	if !ok {
		c.Err = fmt.Errorf("%q is not a command; known are %s", words[1], Usage)
		return c, true
	}
	c.Action = action
	rest := words[2:]
	if action == routing.HumanExtend && len(rest) > 0 {
		if n, err := strconv.Atoi(rest[0]); err == nil {
			if n < 1 || n > routing.HardCap {
				c.Err = fmt.Errorf("%d turns; it must be 1 to %d", n, routing.HardCap)
				return c, true
			}
			c.N, rest = n, rest[1:]
		}
	}
	c.Checkpoint = strings.Join(rest, " ")
	return c, true
}
