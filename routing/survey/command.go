package survey

import (
	"regexp"
	"strings"

	"github.com/switchback-ci/switchback/routing/answers"
)

// CommandName is the command that answers a survey in a comment. CommandUsage is what follows it,
// which may be followed by text.
const (
	CommandName  = "answer"
	CommandUsage = "raise|lower|keep [accept 1,3]"
)

// Command is one answer command of a comment.
type Command struct {
	Level  string   // raise, lower or keep; "" if none stands there
	Word   string   // what stands there instead, as written
	Accept []string // numbers or ids of suggestions, as written
	Line   string   // as written, for the reply
}

// reply is a comment on a survey's issue with its commands.
type reply struct {
	answers.Reply
	Commands []Command
}

func readReply(comment, body string) reply {
	var r reply
	r.Reply = answers.ReadReply(comment, body, func(line string) (string, bool) {
		c, text, ok := parseCommand(line)
		if ok {
			r.Commands = append(r.Commands, c)
		}
		return text, ok
	})
	return r
}

var answerLine = regexp.MustCompile(`(?i)^ {0,3}` + regexp.QuoteMeta(answers.Prefix) + `[ \t]+` + CommandName + `(?:[ \t]+|$)`)

// choices are the words for a level, in every language.
var choices = map[string]string{
	"raise": "raise", "lower": "lower", "keep": "keep",
	"상향": "raise", "하향": "lower", "적절": "keep",
}

func parseCommand(line string) (c Command, text string, ok bool) {
	at := answerLine.FindString(line)
	if at == "" {
		return c, "", false
	}
	c.Line = strings.TrimSpace(line)
	rest := line[len(at):]
	word, after := answers.CutWord(rest)
	c.Level = choices[strings.ToLower(word)]
	if c.Level == "" {
		c.Word = word
		return c, strings.TrimSpace(rest), true
	}
	if next, behind := answers.CutWord(after); strings.EqualFold(next, "accept") {
		c.Accept, after = acceptList(behind)
	}
	return c, strings.TrimSpace(after), true
}

// acceptList reads "1,3", "1, 3" or "cache-deps , 2": words joined by commas.
func acceptList(s string) (items []string, rest string) {
	for {
		word, after := answers.CutWord(s)
		next, behind := answers.CutWord(after)
		for _, it := range strings.Split(word, ",") {
			if it != "" {
				items = append(items, it)
			}
		}
		switch {
		case word == "" || after == "":
			return items, after
		case strings.HasSuffix(word, ","):
			s = after
		case next == ",":
			s = behind
		case strings.HasPrefix(next, ","):
			s = after
		default:
			return items, after
		}
	}
}
