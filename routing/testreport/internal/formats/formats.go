// Package formats registers the formats of every family. It is imported for that alone.
package formats

import (
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/dotnet"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/generic"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/golang"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/js"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/jvm"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/lint"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/mobile"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/native"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/php"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/python"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/ruby"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats/rust"
)
