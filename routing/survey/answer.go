package survey

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Why says why an answer was refused.
type Why string

// The reasons.
const (
	NoLevel       Why = "no-level"       // none of the three choices
	SeveralLevels Why = "several-levels" // more than one of them
	NoSuggestion  Why = "no-suggestion"  // names a suggestion that there is not
	NotSubmitted  Why = "not-submitted"  // a reply with the boxes, but without Submit
)

// Refused says why nothing is recorded of an answer. Words are what was
// written, raw.
type Refused struct {
	Why   Why
	Words []string
}

func (e *Refused) Error() string {
	return "the answer is refused: " + string(e.Why) + " " + strings.Join(e.Words, ", ")
}

// LevelBox is the id of the box of a choice.
func LevelBox(c Choice) string { return "level:" + string(c) }

var plainID = lazyregexp.New(`^[a-z0-9][a-z0-9.-]*$`)

// SuggestionBox is the id of the box of a suggestion.
func SuggestionBox(s Suggestion) string {
	if plainID.MatchString(s.ID) {
		return "suggestion:" + s.ID
	}
	sum := sha256.Sum256([]byte(s.ID))
	return "suggestion:sha:" + hex.EncodeToString(sum[:8])
}

// ReadBody returns the answer that the body of the survey's issue holds.
// Submitted is false while Submit is not ticked: then nothing has been said.
func (p Survey) ReadBody(body string) (a Answer, submitted bool, err error) {
	boxes, _ := answers.Parse(body)
	if !boxes.Submitted() {
		return a, false, nil
	}
	a, err = p.answer(boxes.Ticked, nil, answers.BodyText(body))
	return a, true, err
}

// ReadComment returns the answer that a comment on the survey's issue gives, by
// its boxes or a command. Is is false for a comment that is none. Posting is
// submitting, unless the comment carries the Submit box: then that counts.
func (p Survey) ReadComment(comment, body string) (a Answer, is bool, err error) {
	r := readReply(comment, body)
	if len(r.Commands) == 0 && len(r.Ticked) == 0 {
		return a, false, nil
	}
	if len(r.Commands) == 0 && slices.Contains(r.Boxes, answers.Submit) && !slices.Contains(r.Ticked, answers.Submit) {
		return a, true, &Refused{Why: NotSubmitted}
	}
	a, err = p.answer(r.Ticked, r.Commands, r.Text)
	return a, true, err
}

// answer puts ticked boxes, commands and text together.
func (p Survey) answer(ticked []string, cmds []Command, text string) (Answer, error) {
	var levels []Choice
	say := func(c Choice) {
		if !slices.Contains(levels, c) {
			levels = append(levels, c)
		}
	}
	for _, c := range Choices {
		if slices.Contains(ticked, LevelBox(c)) {
			say(c)
		}
	}
	accepted := map[string]bool{}
	for _, s := range p.Result.Suggestions {
		accepted[s.ID] = slices.Contains(ticked, SuggestionBox(s))
	}
	var unknown []string
	for _, c := range cmds {
		if c.Level != "" {
			say(Choice(c.Level))
		}
		for _, word := range c.Accept {
			s, ok := p.suggestion(word)
			if !ok {
				unknown = append(unknown, word)
			}
			accepted[s.ID] = ok
		}
	}
	a := Answer{Accepted: []string{}, FreeText: text}
	for _, s := range p.Result.Suggestions {
		if accepted[s.ID] {
			a.Accepted = append(a.Accepted, s.ID)
		}
	}
	switch {
	case len(levels) == 0:
		return Answer{}, &Refused{Why: NoLevel}
	case len(levels) > 1:
		return Answer{}, &Refused{Why: SeveralLevels, Words: words(levels)}
	case len(unknown) > 0:
		return Answer{}, &Refused{Why: NoSuggestion, Words: unknown}
	}
	a.Level = levels[0]
	return a, nil
}

func words(cs []Choice) []string {
	out := make([]string, len(cs))
	for i, c := range cs {
		out[i] = string(c)
	}
	return out
}

// suggestion finds a suggestion by its number in the survey, or by its id.
func (p Survey) suggestion(word string) (Suggestion, bool) {
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(p.Result.Suggestions) {
		return p.Result.Suggestions[n-1], true
	}
	for _, s := range p.Result.Suggestions {
		if strings.EqualFold(s.ID, word) {
			return s, true
		}
	}
	return Suggestion{}, false
}

// ParseAnswer reads an answer as the command line gives it: a choice, the
// suggestions that are accepted (numbers or ids), and free text.
func (p Survey) ParseAnswer(choice string, accept []string, text string) (Answer, error) {
	c := Command{Accept: accept}
	if slices.Contains(Choices, Choice(choice)) {
		c.Level = choice
	}
	return p.answer(nil, []Command{c}, text)
}
