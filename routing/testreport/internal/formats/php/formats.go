// Package php reads the output of PHP test tools: PHPUnit and Pest.
package php

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		phpunitFormat,
		pestFormat,
	)
}
