// Package answers reads what people answer: commands in comments, and checkboxes in the body of an
// issue. One table of commands (Table) says what there is; features such as plans add rows of their
// own by Register.
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

// Command is one command of a comment. Err is set if it was not understood.
type Command struct {
	Name       string              // of its Spec, "" if it is unknown
	Action     routing.HumanAction // of its Spec
	N          int                 // further fix attempts, of retry
	Phase      routing.Phase       // of phase
	Test       string              // of quarantine, as written
	Class      routing.Class       // of wrong
	Checkpoint string              // "" if the command names none
	Text       string              // of a command that is followed by a text: what follows, lines and all
	Details    any                 // what the Parse of a feature's command read
	Line       string              // as written, for the reply
	Err        *Misread
}

// Asked reports whether the command is understood only where its issue asks for it.
func (c Command) Asked() bool {
	s, ok := Lookup(c.Name)
	return ok && s.Asked
}

// Event returns the event of a command for a checkpoint.
func (c Command) Event(checkpoint string) routing.HumanActed {
	return routing.HumanActed{Checkpoint: checkpoint, Action: c.Action, N: c.N, Phase: c.Phase, Test: c.Test, Class: c.Class, Note: c.Text}
}

// Tail is what follows the name of a command, until the next command or the end of the comment.
type Tail struct {
	Rest  string     // the rest of its line
	At    int        // the number of its line
	Lines []TextLine // the lines below that are text, as GitHub renders the comment
	Below string     // all lines below
}

// TextLine is a line of a comment with its number.
type TextLine struct {
	N    int
	Text string
}

// Commands returns the commands of a comment in their order, at most MostCommands. A command begins
// its line; code, quotes and hidden comments hold none. Some are followed by a text, on their line
// and below.
func Commands(body string) []Command {
	lines := split(strings.ReplaceAll(body, "\r\n", "\n"))
	var out []Command
	var tails []Tail
	live(lines, func(i int, line string) {
		n := len(tails)
		if c, ok := parse(visible(line)); ok {
			out, tails = append(out, c), append(tails, Tail{At: i})
		} else if n > 0 {
			tails[n-1].Lines = append(tails[n-1].Lines, TextLine{i, line})
		}
	})
	out = out[:min(len(out), MostCommands)]
	for n := range out {
		end := len(lines)
		if n+1 < len(tails) {
			end = tails[n+1].At
		}
		tails[n].Below = strings.Join(lines[tails[n].At+1:end], "\n")
		out[n].follow(tails[n])
	}
	return out
}

// follow reads what follows a command that is followed by a text.
func (c *Command) follow(t Tail) {
	spec, ok := Lookup(c.Name)
	if !ok || spec.Parse == nil || c.Err != nil {
		return
	}
	_, rest := CutWord(c.Line)
	_, t.Rest = CutWord(rest)
	spec.Parse(c, t)
}

// visible returns s without the blanks around it and around its first two words, also those that do
// not show, as text copied from a page has.
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

// parse reads a line. It is not ok if the line is no command.
func parse(line string) (Command, bool) {
	fields := strings.Fields(line)
	if len(fields) == 0 || !strings.EqualFold(fields[0], Prefix) {
		return Command{}, false
	}
	if len(fields) == 1 {
		return Command{Line: line, Err: &Misread{What: NoCommand, Nearest: Prefix + " " + Help}}, true
	}
	spec, ok := Lookup(fields[1])
	if !ok {
		return Command{Line: line, Err: &Misread{What: UnknownCommand, Word: fields[1], Nearest: Prefix + " " + suggest.Nearest(fields[1], words(Table()))}}, true
	}
	c := spec.Command()
	c.Line = line
	if spec.Parse != nil {
		return c, true
	}
	rest := fields[2:]
	for _, a := range spec.Args {
		if rest = a.Read(&c, rest); c.Err != nil {
			return c, true
		}
	}
	c.Checkpoint = Unquote(strings.Join(rest, " "))
	return c, true
}

// CountLast returns the command as it is meant if its number of fix attempts stands behind the
// checkpoint, "retry unit 2", which may as well be a checkpoint of that name.
func (c Command) CountLast() (Command, bool) {
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
