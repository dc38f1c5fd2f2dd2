package survey

import (
	"slices"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

func TestAnswerCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, level, word string
		accept            []string
		text              string
	}{
		{"/switchback answer raise", "raise", "", nil, ""},
		{"/switchback answer raise accept", "raise", "", nil, ""},
		{"/switchback answer raise accept 1,3", "raise", "", []string{"1", "3"}, ""},
		{"/switchback answer raise accept 1, 3 and more", "raise", "", []string{"1", "3"}, "and more"},
		{"/switchback answer raise accept 1 ,3 , 4 x", "raise", "", []string{"1", "3", "4"}, "x"},
		{"/switchback answer raise accept 1 3 x", "raise", "", []string{"1"}, "3 x"},
		{"/switchback answer keep accepting no more", "keep", "", nil, "accepting no more"},
		{"/switchback answer  LOWER\tAccept cache-deps", "lower", "", []string{"cache-deps"}, ""},
		{"/switchback answer up a bit", "", "up", nil, "up a bit"},
		{"/switchback answer", "", "", nil, ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			got, text, ok := parseCommand(c.line)
			if !ok || got.Level != c.level || got.Word != c.word || !slices.Equal(got.Accept, c.accept) || text != c.text {
				t.Errorf("%+v %q %v", got, text, ok)
			}
		})
	}
	for _, line := range []string{"/switchback answers", "say /switchback answer raise", "/switchback retry 2", "switchback answer raise"} {
		if _, _, ok := parseCommand(line); ok {
			t.Errorf("%q is taken for an answer", line)
		}
	}
}

func TestReadReply(t *testing.T) {
	t.Parallel()
	body := "### Please review\n\n1. Level?\n   - [ ] Raise <!-- sb:level:raise -->\n"
	r := readReply("### Please review\r\n\r\n1. Level?\r\n   - [x] Raise <!-- sb:level:raise -->\r\n\r\nMy own\r\n\r\n    - [x] code <!-- sb:level:lower -->\r\n", body)
	if !slices.Equal(r.Ticked, []string{"level:raise"}) || r.Text != "My own\n\n    - [x] code <!-- sb:level:lower -->" {
		t.Errorf("%+v", r)
	}
}

func TestReadReplyQuotes(t *testing.T) {
	t.Parallel()
	body := "### Review\n\n1. Was **the level** right?\n   " + answers.Line("level:raise", "Raise it", false) + "\n3. Anything?\n\n" + answers.TextBegin + "\n\n" + answers.TextEnd + "\n" + answers.Line(answers.Submit, "**Submit**", false)
	for _, c := range []struct{ name, comment, text string }{
		{"S1-17 the survey quoted is not the free text", "> ### Review\n>\n> 1. Was the level right?\n>    - [x] Raise it\n>\n> - [ ] **Submit**\n\n/switchback answer raise\n\nFix X", "Fix X"},
		{"S1-17 another's words quoted are", "> somebody said\n>\n> more\n\n/switchback answer raise\nI agree", "> somebody said\n>\n> more\n\nI agree"},
		{"S1-17 code is, whatever it holds", "```\n> ### Review\n```\n/switchback answer raise", "```\n> ### Review\n```"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := readReply(c.comment, body); r.Text != c.text || len(r.Commands) != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}
