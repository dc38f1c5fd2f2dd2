// Package ruby reads the output of Ruby test tools: RSpec, its JSON report, and minitest.
package ruby

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		rspecJSONFormat,
		rspecFormat,
		minitestFormat,
	)
}
