package corpustest

import (
	"fmt"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// Events writes down everything that a reader hands on.
type Events struct{ List []string }

func (e *Events) Test(t model.Test) { e.List = append(e.List, fmt.Sprintf("test %+v", t)) }

func (e *Events) Problem(p model.Problem) { e.List = append(e.List, fmt.Sprintf("problem %+v", p)) }

func (e *Events) Diagnostic(d model.Diagnostic) {
	e.List = append(e.List, fmt.Sprintf("diagnostic %+v", d))
}

func (e *Events) Cut(note string) { e.List = append(e.List, "cut "+note) }
