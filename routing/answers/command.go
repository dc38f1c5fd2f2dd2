// Package answers is what people are asked and what they answer: boxes in the
// body of an issue, and commands in comments.
package answers

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// Prefix begins every command.
const Prefix = "/switchback"

// MostCommands is how many commands of one comment count.
const MostCommands = 10

// Questions are commands that change nothing and are answered by a reply.
const (
	AskStatus = "status"
	AskHelp   = "help"
)

// Of the issues of plans: commands that are followed by a text.
const (
	TellFeedback = "feedback" // from one port to another
	TellPlanned  = "planned"  // the plan was changed as asked
	TellAnswer   = "answer"   // to a question; of a prompt of a cycle see Reply
	TellDeclined = "declined" // it is not changed
)

// Command is one command of a comment. Err is set if it was not understood.
type Command struct {
	Action     routing.HumanAction // "" for a question and for feedback
	Ask        string              // a question, "" for an action
	Tell       string              // a command that is followed by a text, "" for another
	N          int                 // turns, of retry
	Phase      routing.Phase       // of phase
	Test       string              // of quarantine, as written
	Class      routing.Class       // of wrong
	Checkpoint string              // "" if the command names none
	Line       string              // as written, for the reply
	Text       string              // of planned, answer and declined: what follows, lines and all
	Feedback   *Feedback           // of feedback
	Err        *Misread
}

// verb is one command: its word, what follows it, and what it does.
type verb struct {
	word, args string
	action     routing.HumanAction
	hidden     bool // an older word for another
}

var verbs = []verb{
	{"retry", "[n]", routing.HumanExtend, false},
	{"reset", "", routing.HumanReset, false},
	{"phase", "plan|research|implement", routing.HumanPhase, false},
	{"rerun", "", routing.HumanRerun, false},
	{"quarantine", "TEST", routing.HumanQuarantine, false},
	{"skip", "", routing.HumanSkip, false},
	{"pause", "", routing.HumanPause, false},
	{"resume", "", routing.HumanResume, false},
	{"wont-fix", "", routing.HumanWontFix, false},
	{"wrong", "CLASS", routing.HumanWrong, false},
	{"handoff", "", routing.HumanHandoff, false},
	{TellFeedback, "TYPE to:PORT …", "", false},
	{TellPlanned, "[TEXT]", routing.HumanResume, false},
	{TellAnswer, "TEXT", routing.HumanResume, false},
	{TellDeclined, "[TEXT]", routing.HumanWontFix, false},
	{AskStatus, "", "", false},
	{AskHelp, "", "", false},
	{"extend", "[n]", routing.HumanExtend, true},
	{"wontfix", "", routing.HumanWontFix, true},
}

// Usages are the commands with what follows them, for help.
func Usages() []string {
	var out []string
	for _, v := range verbs {
		if !v.hidden {
			out = append(out, strings.TrimSpace(v.word+" "+v.args))
		}
	}
	return out
}

// Usage lists the commands on one line.
var Usage = "`" + Prefix + " " + strings.Join(Usages(), " | ") + "`"

// Commands returns the commands of a comment in their order, at most
// MostCommands. A command begins its line; code, quotes and hidden comments
// hold none. Some are followed by a text, on their line and below.
func Commands(body string) []Command {
	lines := split(strings.ReplaceAll(body, "\r\n", "\n"))
	var out []Command
	var parts []below
	live(lines, func(i int, line string) {
		n := len(parts)
		if c, ok := parse(visible(line)); ok {
			out, parts = append(out, c), append(parts, below{at: i})
		} else if n > 0 {
			parts[n-1].lines = append(parts[n-1].lines, numbered{i, line})
		}
	})
	out = out[:min(len(out), MostCommands)]
	for n := range out {
		end := len(lines)
		if n+1 < len(parts) {
			end = parts[n+1].at
		}
		parts[n].raw = strings.Join(lines[parts[n].at+1:end], "\n")
		out[n].tell(parts[n])
	}
	return out
}

// visible returns s without the blanks around it and around its first two
// words, also those that do not show, as text copied from a page has.
func visible(s string) string {
	trim := func(s string) string {
		return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
	}
	words := strings.SplitN(trim(s), " ", 3)
	for i := range words {
		words[i] = trim(words[i])
	}
	return strings.Join(words, " ")
}

func parse(line string) (Command, bool) {
	words := strings.Fields(line)
	if len(words) == 0 || !strings.EqualFold(words[0], Prefix) {
		return Command{}, false
	}
	c := Command{Line: line}
	if len(words) == 1 {
		c.Err = &Misread{What: NoCommand, Nearest: Prefix + " " + AskHelp}
		return c, true
	}
	v, ok := verbOf(words[1])
	if !ok {
		c.Err = &Misread{What: UnknownCommand, Word: words[1], Nearest: Prefix + " " + suggest.Nearest(words[1], commandWords())}
		return c, true
	}
	c.Action = v.action
	switch {
	case tells(v.word):
		c.Tell = v.word
		return c, true
	case v.action == "":
		c.Ask = v.word
	}
	c.arguments(words[2:])
	return c, true
}

func verbOf(word string) (verb, bool) {
	for _, v := range verbs {
		if strings.EqualFold(v.word, word) {
			return v, true
		}
	}
	return verb{}, false
}

func commandWords() []string {
	out := make([]string, len(verbs))
	for i, v := range verbs {
		out[i] = v.word
	}
	return out
}

// arguments reads what follows the command's word: first what the command
// needs, then the name of a checkpoint. What is quarantined may hold blanks, so
// a checkpoint cannot follow it.
func (c *Command) arguments(rest []string) {
	switch c.Action {
	case routing.HumanExtend:
		rest = c.turns(rest)
	case routing.HumanPhase:
		rest = c.phase(rest)
	case routing.HumanWrong:
		rest = c.class(rest)
	case routing.HumanQuarantine:
		c.Test = bare(strings.Join(rest, " "))
		if rest = nil; c.Test == "" {
			c.Err = &Misread{What: NoTest, Nearest: Prefix + " quarantine TEST"}
		}
	}
	c.Checkpoint = bare(strings.Join(rest, " "))
}

func (c *Command) turns(rest []string) []string {
	c.N = 1
	if len(rest) == 0 {
		return rest
	}
	n, err := strconv.Atoi(rest[0])
	if err != nil {
		return rest // the name of a checkpoint
	}
	if n < 1 || n > routing.HardCap {
		c.Err = &Misread{What: WrongTurns, Word: rest[0], Nearest: Prefix + " retry " + strconv.Itoa(max(1, min(n, routing.HardCap)))}
	}
	c.N = n
	return rest[1:]
}

func (c *Command) phase(rest []string) []string {
	known := []string{string(routing.Plan), string(routing.Research), string(routing.Implement)}
	if len(rest) == 0 {
		c.Err = &Misread{What: WrongPhase, Nearest: Prefix + " phase " + known[0]}
		return nil
	}
	word := strings.ToLower(bare(rest[0]))
	for _, k := range known {
		if word == k {
			c.Phase = routing.Phase(k)
			return rest[1:]
		}
	}
	c.Err = &Misread{What: WrongPhase, Word: rest[0], Nearest: Prefix + " phase " + suggest.Nearest(word, known)}
	return nil
}

func (c *Command) class(rest []string) []string {
	var known []string
	for _, k := range routing.Classes() {
		if k != routing.Flaky && k != routing.Unknown {
			known = append(known, string(k))
		}
	}
	if len(rest) == 0 {
		c.Err = &Misread{What: WrongClass, Nearest: Prefix + " wrong " + string(routing.LogicError)}
		return nil
	}
	word := strings.ToUpper(strings.ReplaceAll(bare(rest[0]), "-", "_"))
	for _, k := range known {
		if word == k {
			c.Class = routing.Class(k)
			return rest[1:]
		}
	}
	c.Err = &Misread{What: WrongClass, Word: rest[0], Nearest: Prefix + " wrong " + suggest.Nearest(word, known)}
	if word == string(routing.Flaky) {
		c.Err.Nearest = Prefix + " quarantine TEST"
	}
	return nil
}

// bare takes a word out of the quotes or backticks a person may put around it.
func bare(s string) string {
	for _, q := range []string{"`", `"`, "'"} {
		if len(s) > 1 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return strings.TrimSpace(s[1 : len(s)-1])
		}
	}
	return s
}

// TurnsLast returns the command as it is meant if its number of turns stands
// behind the checkpoint, "retry unit 2", which may as well be a checkpoint of
// that name.
func (c Command) TurnsLast() (Command, bool) {
	i := strings.LastIndexByte(c.Checkpoint, ' ')
	if c.Action != routing.HumanExtend || i < 0 {
		return c, false
	}
	n, err := strconv.Atoi(c.Checkpoint[i+1:])
	if err != nil || n < 1 || n > routing.HardCap {
		return c, false
	}
	c.N, c.Checkpoint = n, strings.TrimSpace(c.Checkpoint[:i])
	return c, true
}
