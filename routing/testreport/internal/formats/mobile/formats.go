// Package mobile reads the output of the test tools of mobile apps: XCTest and Swift Testing, and
// the JSON of Dart and Flutter.
package mobile

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		dartJSONFormat,
		xctestFormat,
	)
}
