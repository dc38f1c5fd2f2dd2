// Package golang reads the output of Go test runs: go test, go test -json and the JSON report of
// Ginkgo.
package golang

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		ginkgoJSONFormat,
		goTestJSONFormat,
		goTestFormat,
	)
}
