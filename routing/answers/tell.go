package answers

import (
	"regexp"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Feedback is a feedback from one port to another as a comment words it. What it
// does not say is empty, for whoever knows the plan to fill in.
type Feedback struct {
	Message feedback.Message
	Plan    string // "" if the comment names none
}

// below is what stands below a command, until the next one.
type below struct {
	at    int        // line of the command
	lines []numbered // those that are text
	raw   string     // all of them
}

type numbered struct {
	i    int
	text string
}

func tells(word string) bool {
	return slices.Contains([]string{TellFeedback, TellPlanned, TellAnswer, TellDeclined}, word)
}

// tell reads what follows a command that is followed by a text.
func (c *Command) tell(b below) {
	if c.Tell == "" || c.Err != nil {
		return
	}
	_, rest := cutWord(c.Line)
	_, rest = cutWord(rest)
	if c.Tell == TellFeedback {
		c.feedback(rest, b)
		return
	}
	if c.Text = trimLines(rest + "\n" + b.raw); c.Text == "" && c.Tell == TellAnswer {
		c.Err = &Misread{What: NoText, Nearest: Prefix + " " + TellAnswer + " TEXT"}
	}
}

// feedback reads, behind the type, the words to:, from:, priority: and plan: in
// any order; what follows is the message. It goes on below until a blank line or
// the next command. The other fields stand on lines of their own, each behind its
// name and a colon.
func (c *Command) feedback(rest string, b below) {
	f := &Feedback{Message: feedback.Message{Priority: feedback.Medium}}
	c.Feedback = f
	word, after := cutWord(rest)
	if strings.EqualFold(word, "send") { // as on the command line
		word, after = cutWord(after)
	}
	if word == "" {
		c.Err = &Misread{What: NoType, Nearest: Prefix + " " + TellFeedback + " " + string(feedback.FixRequest) + " to:PORT"}
		return
	}
	f.Message.Type = feedback.Type(bare(word))
	if t := feedback.Type(strings.ToUpper(strings.ReplaceAll(bare(word), "-", "_"))); t.Valid() {
		f.Message.Type = t
	}
	for {
		word, next := cutWord(after)
		key, value, ok := strings.Cut(word, ":")
		if value = bare(value); !ok {
			break
		}
		if value == "" { // "to: port"
			value, next = cutWord(next)
			value = bare(value)
		}
		switch strings.ToLower(key) {
		case "to":
			f.Message.To = value
		case "from":
			f.Message.From = value
		case "priority":
			f.Message.Priority = feedback.Priority(strings.ToLower(value))
		case "plan":
			f.Plan = value
		default:
			ok = false
		}
		if !ok {
			break
		}
		after = next
	}
	f.text(after, b)
}

// fieldLine is a field on a line of its own, also as an item of a list.
var fieldLine = regexp.MustCompile("(?i)^ {0,3}(?:[-*+] +)?[*`_]*((?:suggested[ _-])?(?:fix|action)|(?:requested[ _-])?info|artifacts?)[*`_]*:[*`_]*[ \t]*(.*)$")

func (f *Feedback) text(first string, b below) {
	m := &f.Message
	m.Text = first
	to := &m.Text // what the next line goes on with, nil between two
	var places string
	last := b.at
	for _, l := range b.lines {
		field := fieldLine.FindStringSubmatch(l.text)
		switch {
		case field != nil:
			if to = fieldOf(m, field[1]); to == nil {
				to = &places
			}
			*to = joined(*to, field[2])
		case strings.TrimSpace(l.text) == "" || l.i != last+1:
			to = nil
		case to != nil:
			*to = joined(*to, l.text)
		}
		last = l.i
	}
	m.Text = strings.TrimSpace(m.Text)
	for _, s := range strings.FieldsFunc(places, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		a, err := feedback.ParseArtifact(bare(s))
		if err != nil {
			a = feedback.Artifact{Path: s} // refused with the message
		}
		m.Artifacts = append(m.Artifacts, a)
	}
}

// fieldOf returns the field of a name, nil for the artifacts.
func fieldOf(m *feedback.Message, name string) *string {
	switch name = strings.ToLower(name); {
	case strings.HasSuffix(name, "fix"):
		return &m.SuggestedFix
	case strings.HasSuffix(name, "action"):
		return &m.SuggestedAction
	case strings.HasSuffix(name, "info"):
		return &m.RequestedInfo
	}
	return nil
}

func joined(s, line string) string { return strings.TrimSpace(s + "\n" + strings.TrimSpace(line)) }
