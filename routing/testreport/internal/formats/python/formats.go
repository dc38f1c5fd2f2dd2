// Package python reads the output of Python test tools: pytest, its JSON report and its report log,
// unittest (also as Django, nose and trial print it), the tests of SymPy, and Robot Framework.
package python

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		robotFormat,
		pytestJSONFormat,
		pytestReportLogFormat,
		pytestFormat,
		unittestFormat,
		sympyFormat,
		robotConsoleFormat,
	)
}
