// Package native reads the output of C, C++ and Ada test tools: CTest, GoogleTest, Catch2, doctest,
// Boost.Test, CppUnit, AUnit, CUnit, Check, Qt Test, and the reports of Valgrind.
package native

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		cppunitFormat,
		aunitFormat,
		checkFormat,
		cunitFormat,
		qtestFormat,
		valgrindFormat,
		ctestXMLFormat,
		boostXMLFormat,
		catch2XMLFormat,
		ctestFormat,
		gtestFormat,
		gtestJSONFormat,
		catch2Format,
		doctestFormat,
		boostTestFormat,
	)
}
