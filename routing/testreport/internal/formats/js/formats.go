// Package js reads the output of JavaScript and TypeScript test tools: Jest, Vitest, Mocha,
// Mochawesome, node:test, Bun, Deno, Playwright, Jasmine, Karma, AVA and TestCafe, as text and,
// where they have one, as JSON.
package js

import "github.com/switchback-ci/switchback/routing/testreport/internal/format"

func init() {
	format.Register(
		jestJSONFormat,
		playwrightJSONFormat,
		mochawesomeFormat,
		mochaJSONFormat,
		karmaJSONFormat,
		testcafeJSONFormat,
		mochaStreamFormat,
		jestFormat,
		vitestFormat,
		mochaFormat,
		nodeTestFormat,
		bunFormat,
		denoFormat,
		playwrightFormat,
		jasmineFormat,
		karmaFormat,
		avaFormat,
		uvuFormat,
		annotationsFormat,
	)
}
