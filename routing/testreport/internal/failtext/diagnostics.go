package failtext

import (
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// Diagnostics hands on diagnostics once each, and a bounded number of warnings.
type Diagnostics struct {
	Out      model.Sink
	Limits   model.Limits
	seen     map[string]bool
	warnings int
	Errors   int
	First    model.Diagnostic // the first error since the last take
}

const maxWarnings = 200

// Add hands on d unless it was before, or is a warning too many.
func (s *Diagnostics) Add(d model.Diagnostic) {
	key := d.File + "\x00" + d.Message + "\x00" + string(rune(d.Line)) + string(rune(d.Column))
	if s.seen[key] {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if len(s.seen) < s.Limits.Failing {
		s.seen[key] = true
	}
	if d.Severity != model.SevError {
		if s.warnings++; s.warnings > maxWarnings {
			if s.warnings == maxWarnings+1 {
				s.Out.Cut("warnings of the compiler after the first 200 are left out")
			}
			return
		}
	} else {
		s.Errors++
		if s.First.Message == "" {
			s.First = d
		}
	}
	s.Out.Diagnostic(d)
}

// Place gives a problem of the build the place of the first error.
func (s *Diagnostics) Place(p *model.Problem) {
	if s.First.Message != "" {
		p.File, p.Line, p.Column = s.First.File, s.First.Line, s.First.Column
		s.First = model.Diagnostic{}
	}
}
