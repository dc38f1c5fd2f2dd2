// Package dotnet reads the output of .NET test tools: TRX, NUnit 2 and 3, xUnit.net, and dotnet
// test.
package dotnet

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		trxFormat,
		nunit3Format,
		nunit2Format,
		xunitFormat,
		dotnetFormat,
	)
}
