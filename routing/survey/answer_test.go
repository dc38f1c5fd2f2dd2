package survey

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

// body is an issue's body with the given boxes ticked.
func body(p Survey, text string, ticked ...string) string {
	var b strings.Builder
	b.WriteString("1. Level?\n")
	line := func(id, text string) {
		b.WriteString("   " + answers.Line(id, text, slices.Contains(ticked, id)) + "\n")
	}
	for _, c := range Choices {
		line(LevelBox(c), "Choice "+string(c))
	}
	for i, s := range p.Result.Suggestions {
		line(SuggestionBox(s), fmt.Sprintf("(%d) %s", i+1, s.Text))
	}
	b.WriteString("3. Remarks\n\n" + answers.TextBegin + "\n" + text + "\n" + answers.TextEnd + "\n\n")
	b.WriteString(answers.Line(answers.Submit, "Submit", slices.Contains(ticked, answers.Submit)) + "\n")
	return b.String()
}

func asked() Survey { return Survey{Opened: Opened{Result: result(20)}} }

func refused(err error) Why {
	var r *Refused
	if errors.As(err, &r) {
		return r.Why
	}
	return ""
}

func TestReadBody(t *testing.T) {
	t.Parallel()
	p := asked()
	split := SuggestionBox(p.Result.Suggestions[1])
	t.Run("S1-8 toggles alone say nothing", func(t *testing.T) {
		if _, submitted, err := p.ReadBody(body(p, "", "level:raise", "suggestion:cache")); submitted || err != nil {
			t.Errorf("%v %v", submitted, err)
		}
	})
	t.Run("S1-4 S1-8 S1-9 with Submit the ticked ids are the answer", func(t *testing.T) {
		a, submitted, err := p.ReadBody(body(p, "\n as it is\n  said \n", "level:raise", split, "submit"))
		if !submitted || err != nil || a.Level != Raise || !slices.Equal(a.Accepted, []string{"Split-It"}) || a.FreeText != " as it is\n  said " {
			t.Errorf("%+v %v %v", a, submitted, err)
		}
	})
	t.Run("S1-9 a suggestion whose text was edited is the same suggestion", func(t *testing.T) {
		b := strings.Replace(body(p, "", "level:keep", "suggestion:cache", "submit"), "Cache the modules", "Split the suite", 1)
		if a, _, err := p.ReadBody(b); err != nil || !slices.Equal(a.Accepted, []string{"cache"}) {
			t.Errorf("%+v %v", a, err)
		}
	})
	t.Run("S1-7 no level is refused", func(t *testing.T) {
		if _, submitted, err := p.ReadBody(body(p, "", "suggestion:cache", "submit")); !submitted || refused(err) != NoLevel {
			t.Errorf("%v %v", submitted, err)
		}
	})
	t.Run("S1-7 several levels are refused", func(t *testing.T) {
		if _, _, err := p.ReadBody(body(p, "", "level:raise", "level:keep", "submit")); refused(err) != SeveralLevels {
			t.Error(err)
		}
	})
	t.Run("S1-17 an edit in a browser ends lines otherwise", func(t *testing.T) {
		b := strings.ReplaceAll(body(p, "a\nb", "level:keep", "submit"), "\n", "\r\n")
		if a, _, err := p.ReadBody(b); err != nil || a.FreeText != "a\nb" {
			t.Errorf("%+v %v", a, err)
		}
	})
}

func TestReadComment(t *testing.T) {
	t.Parallel()
	p := asked()
	issue := body(p, "")
	for _, c := range []struct {
		name, comment string
		level         Choice
		accepted      []string
		text          string
	}{
		{"S1-8 a command", "/switchback answer raise", Raise, []string{}, ""},
		{"S1-15 a command with numbers", "/switchback answer lower accept 3,1", Lower, []string{"cache", "3rd"}, ""},
		{"S1-9 a command with ids", "/SwitchBack Answer keep accept cache, split-it", Keep, []string{"cache", "Split-It"}, ""},
		{"S1-17 a command with text behind it", "/switchback answer raise accept 1 , 2 the uploads  still fail", Raise, []string{"cache", "Split-It"}, "the uploads  still fail"},
		{"S1-17 a command with text around it", "Hello.\n\n/switchback answer keep this:\n\n    code\n- one\n", Keep, []string{}, "Hello.\n\nthis:\n\n    code\n- one"},
		{"S1-8 a Korean command", "/switchback answer 상향", Raise, []string{}, ""},
		{"S1-8 the boxes, ticked", strings.ReplaceAll(body(p, "", "level:lower", "suggestion:3rd", "submit"), answers.TextBegin, "Because."), Lower, []string{"3rd"}, "Because."},
		{"S1-8 some of the boxes", "- [x] Raise <!-- sb:level:raise -->\n\nThank you", Raise, []string{}, "Thank you"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, is, err := p.ReadComment(c.comment, issue)
			if !is || err != nil || a.Level != c.level || !slices.Equal(a.Accepted, c.accepted) || a.FreeText != c.text {
				t.Errorf("%+v %v %v", a, is, err)
			}
		})
	}
	for name, comment := range map[string]string{
		"a discussion":                   "I would raise it.",
		"S1-8 boxes that are not ticked": issue,
		"a quoted answer":                "> /switchback answer raise\n> - [x] Raise <!-- sb:level:raise -->",
		"an answer in a code block":      "```\n/switchback answer raise\n```",
	} {
		t.Run(name+" is no answer", func(t *testing.T) {
			if a, is, err := p.ReadComment(comment, issue); is || err != nil {
				t.Errorf("%+v %v", a, err)
			}
		})
	}
	for _, c := range []struct {
		name, comment string
		why           Why
	}{
		{"S1-7 a command without level", "/switchback answer", NoLevel},
		{"S1-7 a command with another word", "/switchback answer higher", NoLevel},
		{"S1-7 two commands that differ", "/switchback answer raise\n/switchback answer lower", SeveralLevels},
		{"S1-7 a command and a box that differ", "/switchback answer raise\n- [x] Lower <!-- sb:level:lower -->", SeveralLevels},
		{"S1-9 a number that there is not", "/switchback answer raise accept 4", NoSuggestion},
		{"S1-8 the boxes without Submit", body(p, "", "level:raise"), NotSubmitted},
	} {
		t.Run(c.name+" is refused", func(t *testing.T) {
			if _, is, err := p.ReadComment(c.comment, issue); !is || refused(err) != c.why {
				t.Errorf("%v %v", is, err)
			}
		})
	}
}

func FuzzReadComment(f *testing.F) {
	f.Add("/switchback answer raise accept 1,,2 x", "y")
	f.Add("- [x] Raise <!-- sb:level:raise -->", "")
	f.Fuzz(func(t *testing.T, comment, text string) {
		p := asked()
		a, _, err := p.ReadComment(comment, body(p, text))
		if _, _, cerr := Converge(p.Result, a); err == nil && a.Level != "" && cerr != nil {
			t.Fatal(cerr)
		}
		_, _, _ = p.ReadBody(comment)
	})
}
