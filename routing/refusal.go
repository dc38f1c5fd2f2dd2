package routing

import (
	"fmt"

	"github.com/switchback-ci/switchback/routing/truncate"
)

// StaleAnswerError says that an answer was given to another commit than the
// checkpoint's newest.
type StaleAnswerError struct {
	Checkpoint string
	SHA        string // of the answer
	Newest     string
}

func (e *StaleAnswerError) Error() string {
	return fmt.Sprintf("the answer is to commit %s, and %s of checkpoint %q has been analyzed since", truncate.ShortSHA(e.SHA), truncate.ShortSHA(e.Newest), e.Checkpoint)
}

// RefusedError says why a human's act is not possible now, in words for that
// human.
type RefusedError struct {
	Format string // names the reason, and says it in English
	Args   []any
}

func (e *RefusedError) Error() string { return fmt.Sprintf(e.Format, e.Args...) }

// Refusal returns the reason for one who says it in another language.
func (e *RefusedError) Refusal() (format string, args []any) { return e.Format, e.Args }

func refuse(format string, a ...any) error { return &RefusedError{format, a} }
