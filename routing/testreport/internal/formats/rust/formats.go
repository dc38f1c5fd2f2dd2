// Package rust reads the output of Rust test tools: cargo test, cargo nextest and the JSON of
// libtest.
package rust

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		libtestJSONFormat,
		cargoFormat,
	)
}
