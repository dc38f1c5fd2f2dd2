package steps

import "github.com/switchback-ci/switchback/routing/testreport"

// marks reads the marks of all services, shells and build tools.
type marks struct{}

func (m *marks) read(r *Reader, l testreport.Line) {}
