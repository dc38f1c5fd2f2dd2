// Package generic reads formats that tools of many languages write: JUnit XML, CTRF, TAP, Cucumber,
// the build event protocol of Bazel, mozlog, and the output of Bats and ExUnit, which are alone in
// their language.
package generic

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		junitFormat,
		ctrfFormat,
		cucumberJSONFormat,
		bazelBEPFormat,
		tapFormat,
		exunitFormat,
		cucumberFormat,
		mozlogFormat,
		batsFormat,
		progressFormat,
		luaunitFormat,
		eunitFormat,
		xmlReportFormat,
	)
}
