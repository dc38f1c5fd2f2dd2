// Package lint reads the findings of compilers and linters: their lines in logs, Checkstyle, SARIF,
// and the formats of the errorformat library.
package lint

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		checkstyleFormat,
		cppcheckXMLFormat,
		sarifFormat,
		pylintJSONFormat,
		findingsJSONFormat,
		commandsFormat,
		lintFormat,
	)
	format.RegisterCatalogue("errorformat", errorformats)
}
