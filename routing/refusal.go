package routing

import (
	"fmt"
	"strconv"
	"strings"
)

// StaleAnswerError says that an answer was given to another commit than the
// checkpoint's newest.
type StaleAnswerError struct {
	Checkpoint string
	SHA        string // of the answer
	Newest     string
}

func (e *StaleAnswerError) Error() string {
	return fmt.Sprintf("the answer is to commit %s, and %s of checkpoint %q has been analyzed since", short(e.SHA), short(e.Newest), e.Checkpoint)
}

// RefusedError says why what a person asked for is not possible now. Renderers show it to that person
// by its id, in their language.
type RefusedError struct {
	ID   string // of the reason; the catalogues of bot/render have it under "refused."
	Text string // in English, with a {placeholder} for each argument
	Args []any  // names and values of the placeholders in turn: a string, a number, or []string for a list
}

// Refuse returns a *RefusedError.
func Refuse(id, text string, args ...any) error { return &RefusedError{id, text, args} }

// Error returns the English text, for logs: strings are quoted.
func (e *RefusedError) Error() string {
	var pairs []string
	for i := 0; i+1 < len(e.Args); i += 2 {
		v := fmt.Sprint(e.Args[i+1])
		switch a := e.Args[i+1].(type) {
		case string:
			v = strconv.Quote(a)
		case []string:
			v = orElse(strings.Join(a, ", "), "none")
		}
		pairs = append(pairs, fmt.Sprintf("{%v}", e.Args[i]), v)
	}
	return strings.NewReplacer(pairs...).Replace(e.Text)
}

// Refusal returns what a renderer needs to say the reason.
func (e *RefusedError) Refusal() (id, text string, args []any) { return e.ID, e.Text, e.Args }
