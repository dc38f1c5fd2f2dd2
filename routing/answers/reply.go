package answers

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Reply is a comment taken apart as the answer to the question of an issue.
type Reply struct {
	Boxes, Ticked []string // ids of boxes that the comment carries
	Text          string   // what else it says, verbatim but for the ends of lines
}

// ReadReply reads a comment on the issue with a body. Lines that stand in that body as they do in
// the comment were copied and say nothing of the writer's. command is asked about each line that
// GitHub renders as text: it reports whether the line is a command, and what of it is text.
func ReadReply(comment, body string, command func(line string) (text string, ok bool)) Reply {
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
		if text, ok := command(line); ok {
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
	hiddenPart = lazyregexp.New(`<!--.*?-->`)
	tick       = lazyregexp.New(`\[[ xX]\]`)
)

// quoted is a line of the body as "Quote reply" copies it: what is hidden is
// gone, and the state of a box says nothing.
func quoted(line string) string {
	line = tick.ReplaceAllString(hiddenPart.ReplaceAllString(strings.TrimLeft(line, "> \t"), ""), "[ ]")
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "").Replace(line)), " ")
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

// The hidden lines between which people write into the body with checkboxes.
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
