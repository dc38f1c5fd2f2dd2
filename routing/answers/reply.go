package answers

import (
	"regexp"
	"strings"
)

// AnswerWord is the command that answers a prompt of a feedback cycle:
//
//	/switchback answer raise|lower|keep [accept 1,3] [text…]
const AnswerWord = "answer"

// Reply is a comment taken apart as the answer to a prompt.
type Reply struct {
	Boxes, Ticked []string // ids of boxes that the comment carries
	Commands      []AnswerCommand
	Text          string // what else it says, verbatim but for the ends of lines
}

// AnswerCommand is one answer command. What follows it on its line is text.
type AnswerCommand struct {
	Level  string   // raise, lower or keep; "" if none stands there
	Word   string   // what stands there instead, as written
	Accept []string // numbers or ids of suggestions, as written
	Line   string   // as written, for the reply
}

// ReadReply reads a comment on the issue with a body. Lines that stand in that
// body as they do in the comment were copied and say nothing of the writer's.
func ReadReply(comment, body string) Reply {
	p, _ := Parse(comment)
	r := Reply{Boxes: p.Boxes, Ticked: p.Ticked}
	ours, quotes := map[string]bool{}, map[string]bool{}
	for _, l := range split(body) {
		ours[strings.TrimSpace(l)] = true
		quotes[quoted(l)] = true
	}
	lines := split(strings.ReplaceAll(comment, "\r\n", "\n"))
	drop := make([]bool, len(lines))
	live(lines, func(i int, line string) {
		if c, text, ok := answerCommand(line); ok {
			r.Commands = append(r.Commands, c)
			lines[i], drop[i] = text, text == ""
			return
		}
		_, _, box := boxOf(line)
		if q := strings.HasPrefix(strings.TrimSpace(line), ">"); q && (quoted(line) != "" || i > 0 && drop[i-1]) && quotes[quoted(line)] {
			drop[i] = true
			return
		}
		drop[i] = box || headOf(line) != nil || strings.TrimSpace(line) != "" && ours[strings.TrimSpace(line)]
	})
	var text []string
	for i, l := range lines {
		if !drop[i] {
			text = append(text, l)
		}
	}
	r.Text = trimLines(strings.Join(text, "\n"))
	return r
}

var (
	hiddenPart = regexp.MustCompile(`<!--.*?-->`)
	tick       = regexp.MustCompile(`\[[ xX]\]`)
)

// quoted is a line of the body as "Quote reply" copies it: what is hidden is
// gone, and the state of a box says nothing.
func quoted(line string) string {
	line = tick.ReplaceAllString(hiddenPart.ReplaceAllString(strings.TrimLeft(line, "> \t"), ""), "[ ]")
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "").Replace(line)), " ")
}

var answerLine = regexp.MustCompile(`(?i)^ {0,3}` + regexp.QuoteMeta(Prefix) + `[ \t]+` + AnswerWord + `(?:[ \t]+|$)`)

// choices are the words for a level, in every language.
var choices = map[string]string{
	"raise": "raise", "lower": "lower", "keep": "keep",
	"상향": "raise", "하향": "lower", "적절": "keep",
}

func answerCommand(line string) (c AnswerCommand, text string, ok bool) {
	at := answerLine.FindString(line)
	if at == "" {
		return c, "", false
	}
	c.Line = strings.TrimSpace(line)
	rest := line[len(at):]
	word, after := cutWord(rest)
	c.Level = choices[strings.ToLower(word)]
	if c.Level == "" {
		c.Word = word
		return c, strings.TrimSpace(rest), true
	}
	if next, behind := cutWord(after); strings.EqualFold(next, "accept") {
		c.Accept, after = acceptList(behind)
	}
	return c, strings.TrimSpace(after), true
}

// acceptList reads "1,3", "1, 3" or "cache-deps , 2": words joined by commas.
func acceptList(s string) (items []string, rest string) {
	for {
		word, after := cutWord(s)
		next, behind := cutWord(after)
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

// cutWord returns the first word of s and what follows it, without the blanks
// between them.
func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t")
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

// trimLines drops blank lines before and behind the text, and no more.
func trimLines(s string) string {
	lines := split(s)
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// The hidden lines between which people write into the body of a prompt.
const (
	TextBegin = "<!-- sb:text -->"
	TextEnd   = "<!-- /sb:text -->"
)

// BodyText returns what people wrote into the body between TextBegin and
// TextEnd, verbatim but for the ends of lines; "" if one of them is gone.
func BodyText(body string) string {
	_, rest, ok := strings.Cut(strings.ReplaceAll(body, "\r\n", "\n"), TextBegin)
	text, _, end := strings.Cut(rest, TextEnd)
	if !ok || !end {
		return ""
	}
	return trimLines(text)
}

// SwapText puts text in the place of what people wrote into a body, if that is
// still was.
func SwapText(body, was, text string) string {
	plain := strings.ReplaceAll(body, "\r\n", "\n")
	if was == text || BodyText(plain) != was {
		return body
	}
	head, rest, ok := strings.Cut(plain, TextBegin)
	_, tail, end := strings.Cut(rest, TextEnd)
	if !ok || !end {
		return body
	}
	if text != "" {
		text = "\n" + text + "\n"
	}
	return head + TextBegin + "\n" + text + "\n" + TextEnd + tail
}
