package answers

import (
	"slices"
	"testing"
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
			got, text, ok := answerCommand(c.line)
			if !ok || got.Level != c.level || got.Word != c.word || !slices.Equal(got.Accept, c.accept) || text != c.text {
				t.Errorf("%+v %q %v", got, text, ok)
			}
		})
	}
	for _, line := range []string{"/switchback answers", "say /switchback answer raise", "/switchback retry 2", "switchback answer raise"} {
		if _, _, ok := answerCommand(line); ok {
			t.Errorf("%q is taken for an answer", line)
		}
	}
}

func TestReadReply(t *testing.T) {
	t.Parallel()
	body := "### Please review\n\n1. Level?\n   - [ ] Raise <!-- sb:level:raise -->\n"
	r := ReadReply("### Please review\r\n\r\n1. Level?\r\n   - [x] Raise <!-- sb:level:raise -->\r\n\r\nMy own\r\n\r\n    - [x] code <!-- sb:level:lower -->\r\n", body)
	if !slices.Equal(r.Ticked, []string{"level:raise"}) || r.Text != "My own\n\n    - [x] code <!-- sb:level:lower -->" {
		t.Errorf("%+v", r)
	}
}

func TestSwapText(t *testing.T) {
	t.Parallel()
	body := "a\n" + TextBegin + "\n\nmine\n\n" + TextEnd + "\nb\n"
	if got := BodyText(body); got != "mine" {
		t.Errorf("%q", got)
	}
	for _, c := range []struct{ name, body, was, text, want string }{
		{"another text takes its place", body, "mine", "was\nthere", "was\nthere"},
		{"an empty one", body, "mine", "", ""},
		{"what somebody else wrote since stays", body, "yours", "was", "mine"},
		{"without its marks nothing is changed", "a\nb", "mine", "was", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := SwapText(c.body, c.was, c.text)
			if BodyText(got) != c.want {
				t.Errorf("%q", got)
			}
			if again := SwapText(got, c.was, c.text); BodyText(again) != c.want {
				t.Errorf("a second time: %q", again)
			}
		})
	}
}

func TestReadReplyQuotes(t *testing.T) {
	t.Parallel()
	body := "### Review\n\n1. Was **the level** right?\n   " + Line("level:raise", "Raise it", false) + "\n3. Anything?\n\n" + TextBegin + "\n\n" + TextEnd + "\n" + Line(Submit, "**Submit**", false)
	for _, c := range []struct{ name, comment, text string }{
		{"S1-17 the prompt quoted is not the free text", "> ### Review\n>\n> 1. Was the level right?\n>    - [x] Raise it\n>\n> - [ ] **Submit**\n\n/switchback answer raise\n\nFix X", "Fix X"},
		{"S1-17 another's words quoted are", "> somebody said\n>\n> more\n\n/switchback answer raise\nI agree", "> somebody said\n>\n> more\n\nI agree"},
		{"S1-17 code is, whatever it holds", "```\n> ### Review\n```\n/switchback answer raise", "```\n> ### Review\n```"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := ReadReply(c.comment, body); r.Text != c.text || len(r.Commands) != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}
