package answers

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// Spec is one command: a row of the table that the parser of comments, /switchback help, the
// checkboxes of escalation issues, `switchback case` and the tables of the documentation are made
// from. Its texts are in the catalogues of package render, by the ids that HelpID and BoxSpec.Text
// give.
type Spec struct {
	Name       string   // the word behind Prefix
	Aliases    []string // further words for it, which no list shows
	Args       []Arg    // what follows the name, in this order
	Permission Permission
	// Action is what the command records for a checkpoint, a port or a feedback request. It is
	// empty for a command that has a handler of its own.
	Action routing.HumanAction
	// Asked is true for a command that is understood only where its issue asks for it.
	Asked bool
	// Parse reads the rest of a command that is followed by free text, and takes the place of Args.
	Parse func(c *Command, t Tail)
	// Box is the checkbox that does the same, nil if there is none.
	Box *BoxSpec
	// See is a Markdown link to more about the command, for the documentation.
	See string
}

// Arg is one argument of a command.
type Arg struct {
	// Name is how lists show it: a placeholder, or the words to choose from.
	Name     string
	Optional bool
	// Read takes the argument off the words that follow the command, and returns the others. It
	// sets c.Err if the argument is missing or wrong. nil if Spec.Parse reads it.
	Read func(c *Command, words []string) []string
	// Flag is the argument on the command line, nil if it has none there.
	Flag *Flag
}

// Flag is an argument as a flag of `switchback case`.
type Flag struct {
	Name, Default, Usage string
	// Set puts the flag's value into the command. Its error says what the value must be. What the
	// case itself refuses is left to it.
	Set func(c *Command, value string) error
}

// Permission says who may give a command.
type Permission string

// ByRole needs the role on the repository that `answers.permission` of the configuration names, or
// a higher one. Unless configured, that is write.
const ByRole Permission = "answers.permission"

// Usage is the command's name with its arguments, optional ones in brackets.
func (s Spec) Usage() string {
	out := s.Name
	for _, a := range s.Args {
		if a.Optional {
			out += " [" + a.Name + "]"
		} else {
			out += " " + a.Name
		}
	}
	return out
}

// HelpID is the id of the text that says what the command does.
func (s Spec) HelpID() string { return "help." + s.Name }

// Command returns the command as a comment would give it without its arguments.
func (s Spec) Command() Command { return Command{Name: s.Name, Action: s.Action} }

// OnCase reports whether the command records an action for a case, so that the command line has it
// as well.
func (s Spec) OnCase() bool { return s.Action != "" && !s.Asked }

// Group is a kind of answers. The catalogues have a heading for each, whose id is "ask." and the
// group.
type Group string

// The groups: the work is tried again, something else is at fault, nothing more is tried, or a green
// run counts.
const (
	TryAgain   Group = "again"
	NotTheCode Group = "elsewhere"
	Stop       Group = "stop"
	Accept     Group = "accept"
)

// BoxSpec is one kind of checkbox of an escalation issue.
type BoxSpec struct {
	// ID begins the id of each of its boxes, which is hidden behind the box's text and is the same
	// in every language. The box's argument follows behind a colon.
	ID string
	// Text is the id of its text in the catalogues, which {n}, {phase} or {test} of the box fill.
	Text string
	// Action is what the box records. Of the box of a command it is that of the command.
	Action routing.HumanAction
	// Group is under which heading the box stands among those of a case.
	Group Group
	// First are the decisions after which the box is among the likeliest answers, and stands before
	// those that are not.
	First []routing.Kind
	// Offer returns the boxes with their arguments for a checkpoint, none where the action would be
	// refused. nil: one without an argument.
	Offer func(q Question) []Box
	// Read puts the argument of an id into the box.
	Read func(b *Box, arg string)
}

func (s BoxSpec) box(arg string) Box {
	b := Box{ID: s.ID, Action: s.Action, Text: s.Text, Group: s.Group}
	if arg != "" {
		b.ID += ":" + arg
	}
	if s.Read != nil {
		s.Read(&b, arg)
	}
	return b
}

// core are the commands on cases, in the order of the lists. Boxes are offered in the same order.
var core = []Spec{
	{
		Name: "accept", Permission: ByRole, Action: routing.HumanAccept,
		Box: &BoxSpec{ID: "accept", Text: "box.accept", Group: Accept, First: []routing.Kind{routing.KindSuspect}, Offer: offerAccept},
	},
	{
		Name: "retry", Aliases: []string{"extend"}, Args: []Arg{attempts}, Permission: ByRole, Action: routing.HumanExtend,
		Box: &BoxSpec{ID: "retry", Text: "box.retry", Group: TryAgain, Offer: offerRetry, Read: readAttempts},
	},
	{Name: "reset", Permission: ByRole, Action: routing.HumanReset, Box: &BoxSpec{ID: "reset", Text: "box.reset", Group: TryAgain, Offer: offerReset}},
	{
		Name: "phase", Args: []Arg{phase}, Permission: ByRole, Action: routing.HumanPhase,
		Box: &BoxSpec{ID: "phase", Text: "box.phase", Group: TryAgain, First: []routing.Kind{routing.KindDesign}, Offer: offerPhases, Read: readPhase},
	},
	{
		Name: "rerun", Permission: ByRole, Action: routing.HumanRerun,
		Box: &BoxSpec{ID: "rerun", Text: "box.rerun", Group: NotTheCode, First: []routing.Kind{routing.KindEnv, routing.KindUnclear}, Offer: offerRerun},
	},
	{
		Name: "quarantine", Args: []Arg{test}, Permission: ByRole, Action: routing.HumanQuarantine,
		Box: &BoxSpec{ID: "quarantine", Text: "box.quarantine", Group: NotTheCode, Offer: offerQuarantine},
	},
	{Name: "skip", Permission: ByRole, Action: routing.HumanSkip, Box: &BoxSpec{ID: "skip", Text: "box.skip", Group: Stop}},
	{Name: "pause", Permission: ByRole, Action: routing.HumanPause},
	{Name: "resume", Permission: ByRole, Action: routing.HumanResume},
	{Name: "wont-fix", Aliases: []string{"wontfix"}, Permission: ByRole, Action: routing.HumanWontFix, Box: &BoxSpec{ID: "wont-fix", Text: "box.wont-fix", Group: Stop}},
	{Name: "wrong", Args: []Arg{class}, Permission: ByRole, Action: routing.HumanWrong},
	{Name: "handoff", Permission: ByRole, Action: routing.HumanHandoff},
	{Name: "ack", Permission: ByRole, Action: routing.HumanAck},
}

// The commands that change nothing and are answered by a reply.
const (
	Status = "status"
	Help   = "help"
)

var questions = []Spec{{Name: Status, Permission: ByRole}, {Name: Help, Permission: ByRole}}

// Feature adds commands and boxes for escalations of its own, such as those of plans.
type Feature interface {
	// Commands are the rows that the feature adds to the table.
	Commands() []Spec
	// Boxes are further boxes, whose actions commands of the table record as well.
	Boxes() []BoxSpec
	// Offer returns the boxes for an escalation. It is not ok if the escalation is of a stream that
	// is not the feature's.
	Offer(q Question) (boxes []Box, ok bool)
}

var features []Feature

// Register adds a feature to the table. It is called from init functions only, and panics if a name
// or a box is there already.
func Register(f Feature) {
	taken := words(Table())
	for _, s := range f.Commands() {
		for _, w := range append([]string{s.Name}, s.Aliases...) {
			if slices.Contains(taken, w) {
				panic("answers: command " + w + " is registered twice")
			}
		}
	}
	known := boxSpecs()
	features = append(features, f)
	for _, b := range boxSpecs()[len(known):] {
		if slices.ContainsFunc(known, func(k BoxSpec) bool { return k.ID == b.ID }) {
			panic("answers: box " + b.ID + " is registered twice")
		}
	}
}

// Table returns all commands, in the order of the lists.
func Table() []Spec {
	out := slices.Clone(core)
	for _, f := range features {
		out = append(out, f.Commands()...)
	}
	return append(out, questions...)
}

// Lookup returns the command of a name or an alias, in any case of its letters.
func Lookup(word string) (Spec, bool) {
	for _, s := range Table() {
		if strings.EqualFold(s.Name, word) || slices.ContainsFunc(s.Aliases, func(a string) bool { return strings.EqualFold(a, word) }) {
			return s, true
		}
	}
	return Spec{}, false
}

// words are the names of commands, and behind them their aliases.
func words(table []Spec) []string {
	var names, aliases []string
	for _, s := range table {
		names, aliases = append(names, s.Name), append(aliases, s.Aliases...)
	}
	return append(names, aliases...)
}

// boxSpecs returns all kinds of boxes, those of cases first.
func boxSpecs() []BoxSpec {
	boxes := func(table []Spec) (out []BoxSpec) {
		for _, s := range table {
			if s.Box != nil {
				b := *s.Box
				b.Action = s.Action
				out = append(out, b)
			}
		}
		return out
	}
	out := boxes(core)
	for _, f := range features {
		out = append(append(out, boxes(f.Commands())...), f.Boxes()...)
	}
	return out
}
