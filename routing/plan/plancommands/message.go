package plancommands

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// NoType says that a feedback request has no type.
const NoType answers.Reason = "type"

// Request is a feedback request as a comment words it. What the comment does not say is empty, for
// whoever knows the plan to fill in.
type Request struct {
	Message feedback.Message
	Plan    string // "" if the comment names none
}

// RequestOf returns the request of a feedback command, nil of another command.
func RequestOf(c answers.Command) *Request {
	r, _ := c.Details.(*Request)
	return r
}

// parse reads, behind the type, the words to:, from:, priority: and plan: in any order; what
// follows is the message. It goes on below until a blank line or the next command. The other fields
// stand on lines of their own, each behind its name and a colon.
func parse(c *answers.Command, t answers.Tail) {
	r := &Request{Message: feedback.Message{Priority: feedback.Medium}}
	c.Details = r
	word, rest := answers.CutWord(t.Rest)
	if strings.EqualFold(word, "send") { // as on the command line
		word, rest = answers.CutWord(rest)
	}
	if word == "" {
		c.Err = &answers.Misread{What: NoType, Nearest: answers.Prefix + " " + Feedback + " " + string(feedback.FixRequest) + " to:PORT"}
		return
	}
	r.Message.Type = feedback.Type(answers.Unquote(word))
	if t := feedback.Type(strings.ToUpper(strings.ReplaceAll(answers.Unquote(word), "-", "_"))); t.Valid() {
		r.Message.Type = t
	}
	r.text(r.header(rest), t)
}

// header takes the words with a colon off s and returns what follows them.
func (r *Request) header(s string) (rest string) {
	for {
		word, next := answers.CutWord(s)
		key, value, ok := strings.Cut(word, ":")
		if !ok {
			return s
		}
		if value = answers.Unquote(value); value == "" { // "to: port"
			value, next = answers.CutWord(next)
			value = answers.Unquote(value)
		}
		switch strings.ToLower(key) {
		case "to":
			r.Message.To = value
		case "from":
			r.Message.From = value
		case "priority":
			r.Message.Priority = feedback.Priority(strings.ToLower(value))
		case "plan":
			r.Plan = value
		default:
			return s
		}
		s = next
	}
}

// fieldLine is a field on a line of its own, also as an item of a list.
var fieldLine = lazyregexp.New("(?i)^ {0,3}(?:[-*+] +)?[*`_]*((?:suggested[ _-])?(?:fix|action)|(?:requested[ _-])?info|artifacts?)[*`_]*:[*`_]*[ \t]*(.*)$")

func (r *Request) text(first string, t answers.Tail) {
	m := &r.Message
	m.Text = first
	to := &m.Text // what the next line goes on with, nil between two
	var places string
	last := t.At
	for _, l := range t.Lines {
		field := fieldLine.FindStringSubmatch(l.Text)
		switch {
		case field != nil:
			if to = fieldOf(m, field[1]); to == nil {
				to = &places
			}
			*to = joined(*to, field[2])
		case strings.TrimSpace(l.Text) == "" || l.N != last+1:
			to = nil
		case to != nil:
			*to = joined(*to, l.Text)
		}
		last = l.N
	}
	m.Text = strings.TrimSpace(m.Text)
	for _, s := range strings.FieldsFunc(places, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		a, err := feedback.ParseArtifact(answers.Unquote(s))
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
