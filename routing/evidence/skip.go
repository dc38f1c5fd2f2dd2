package evidence

import (
	"path"
	"strings"
)

// skipMarkers are what keeps tests from running, by the extension of the file. anywhere is true for
// those that mean nothing else outside of files of tests.
var skipMarkers = map[string]struct {
	re       pattern
	anywhere bool
}{
	".py": {all(`@(pytest\.)?mark\.(skip|skipif|xfail)\b`, `\bpytest\.(skip|xfail|importorskip)\s*\(`, `\bpytestmark\s*=.*\b(skip|skipif|xfail)\b`, `@(unittest\.)?(skip|skipIf|skipUnless|expectedFailure)\b`,
		`\bself\.skipTest\s*\(`, `\bunittest\.skip`, `\braise\s+(unittest\.)?SkipTest\b`, `\bmarks\s*=.*\b(skip|xfail)\b`, `^\s*__test__\s*=\s*False\b`, `\bcollect_ignore(_glob)?\b`), true},
	".go": {all(`\b[a-zA-Z]\w*\.(Skip|Skipf|SkipNow)\s*\(`, `^//go:build\s+.*\bignore\b`, `^// \+build\s+.*\bignore\b`, `\b(XIt|XDescribe|XContext|XSpecify|PIt|PDescribe|PContext|PWhen|FIt|FDescribe|FContext)\s*\(`), false},
	".rs": {all(`#\s*\[\s*ignore\b`, `#\s*\[\s*cfg_attr\s*\([^)]*\bignore\b`), true},
	".rb": {all(`^\s*(skip|pending)(\s*$|\s+['"(:]|\s*\(|\s+(if|unless)\b)`, `^\s*(xit|xspecify|xexample|xdescribe|xcontext|xfeature|xscenario|fit|fdescribe|fcontext|fspecify)\b`,
		`\b(it|describe|context|specify|scenario|feature|example)\b.*(,\s*|\()(:skip|:pending|skip:|pending:|:focus|focus:)`, `\bomit\s*(\(|['"])`), false},
	".php":     {all(`->\s*(markTestSkipped|markTestIncomplete)\s*\(`, `::\s*(markTestSkipped|markTestIncomplete)\s*\(`, `->\s*skip\s*\(`, `->\s*todo\s*\(`, `#\[\s*(Requires\w*|IgnoreTest)\b`, `@(requires|doesNotPerformAssertions)\b`), false},
	".cs":      {all(`\[\s*Ignore\b`, `,\s*Ignore\b`, `\[\s*(Fact|Theory|InlineData|SkippableFact|SkippableTheory)[^\]]*\bSkip\s*=`, `\bSkip\s*=\s*["$@]`, `\bAssert\.(Ignore|Inconclusive|Skip)\s*\(`, `\[\s*Explicit\b`, `\bSkip\.(If|IfNot)\s*\(`), true},
	".fs":      {all(`\[<\s*Ignore\b`, `\bSkip\s*=\s*"`, `\bptest\w*\b`), true},
	".vb":      {all(`<\s*Ignore\b`, `\bSkip\s*:=`), true},
	".ex":      {all(`@(tag|moduletag|describetag)\s+:?skip\b`, `@(tag|moduletag|describetag)\s+skip:`), true},
	".swift":   {all(`\bXCTSkip(If|Unless)?\b`, `\bfunc\s+(x|disabled_?|skip_?)test\w*`, `\.disabled\s*\(`, `\b(xit|xdescribe|xcontext|fit|fdescribe|pending)\s*\(`), false},
	".dart":    {all(`\bskip\s*:\s*(true|['"])`, `@Skip\b`, `\bsolo\s*:\s*true`), false},
	".feature": {all(`(?i)^\s*(@\S+\s+)*@(ignore|skip|wip|pending|disabled|manual|todo|focus)\b`), true},
	".lua":     {all(`^\s*pending\s*\(`), false},
	".t":       {all(`\bplan\s+skip_all\b`, `\bskip_all\s*=>`, `^\s*skip\b`, `\btodo_skip\b`, `\blocal\s+\$TODO\b`), true},
	".hs":      {all(`\b(xit|xdescribe|xspecify|xcontext|pending|pendingWith|fit|fdescribe|expectFail|ignoreTest\w*)\b`), false},
}

func init() {
	js := skipMarkers[".py"]
	js.re = all(`\b(it|test|describe|context|suite|specify|bench|step)(\.\w+)*\.(skip|skipIf|runIf|todo|only|fails|failing|fixme|concurrent\.skip)\b\s*(\(|\.|`+"`"+`)`, `\b(xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext|ftest)\s*(\(|\.each\b)`,
		`\bthis\.skip\s*\(\s*\)`, `\bt\.(skip|todo)\s*\(`, `\btest\.(serial\.)?(skip|failing|todo|only)\b`, `^\s*(skip|todo|only)\s*:\s*(true|['"`+"`"+`])`, `\{[^}]*\b(skip|todo|only)\s*:\s*(true|['"`+"`"+`])`,
		`\bpending\s*\(`, `\b(test|describe)\.(disable|deselect)\w*\(`, `\bDeno\.test\.(ignore|only)\b`, `\bignore\s*:\s*true\b`)
	js.anywhere = false
	for _, ext := range []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".coffee"} {
		skipMarkers[ext] = js
	}
	jvm := js
	jvm.re = all(`@(Disabled|Ignore|IgnoreRest|DisabledOn\w+|DisabledIf\w*|EnabledOn\w+|EnabledIf\w*|PendingFeature|Pending)\b`, `@Test\s*\([^)]*\benabled\s*=\s*false`, `\benabled\s*=\s*false`, `\bAssume\.\w+\s*\(`, `\bassume(True|False|That|NoException|NotNull)\s*\(`, `\bAssumptions\.\w+\s*\(`,
		`\b(throw\s+new\s+)(SkipException|TestAbortedException|AssumptionViolatedException)\b`, `\b(xit|xtest|xdescribe|xcontext|xshould|xexpect|xgiven|xscenario)\s*\(`, `\b(ignore|pending|cancel)\s*(\(|\{|")`, `\.config\s*\([^)]*\benabled\s*=\s*false`, `"!`)
	for _, ext := range []string{".java", ".kt", ".kts", ".groovy", ".scala"} {
		skipMarkers[ext] = jvm
	}
	native := js
	native.re = all(`\bDISABLED_\w`, `\bGTEST_SKIP\s*\(`, `"[^"]*\[(\.|!hide|!mayfail|!shouldfail)[^\]]*\]`, `\bSKIP\s*\(`, `\bdoctest::(skip|may_fail|should_fail|expected_failures)\b`, `\bBOOST_(AUTO_)?TEST_CASE\b.*\bdisabled\b`, `\bboost::unit_test::(disabled|expected_failures)\b`, `\bQSKIP\s*\(`, `\bTEST_IGNORE(_MESSAGE)?\s*\(`, `\bIGNORE_TEST\s*\(`, `\bXCTSkip`)
	for _, ext := range []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh", ".m", ".mm"} {
		skipMarkers[ext] = native
	}
	skipMarkers[".exs"] = skipMarkers[".ex"]
}

// configSkipRE is what keeps tests from running from a file of settings.
var configSkipRE = all(
	`(?i)\b(skipTests|maven\.test\.skip|skipITs|testFailureIgnore|maven\.test\.failure\.ignore)\b.*\btrue\b`, `(?i)\bcontinue-on-error\s*:\s*true\b`, `--(passWithNoTests|deselect|ignore|ignore-glob)\b`, `\|\|\s*true\b`,
)

// commentRE is a line that is a comment in most languages.
var commentRE = all(`^\s*(//|#[^\[!]|#$|\*|/\*|--|;|%|<!--)`)

// skips returns the new skip markers of a file.
func skips(name string, k kind, edits []block) []Change {
	of, known := skipMarkers[strings.ToLower(path.Ext(name))]
	matches := func(text string) bool {
		return known && (k.test || of.anywhere) && of.re.MatchString(text) && (!commentRE.MatchString(text) || strings.HasPrefix(text, "//go:build") || strings.HasPrefix(text, "// +build"))
	}
	if k.settings || IsWorkflow(name) {
		matches = func(text string) bool { return configSkipRE.MatchString(text) && !commentRE.MatchString(text) }
	}
	var out []Change
	for _, l := range fresh(edits, matches) {
		if len(out) < mostOfFile {
			out = append(out, Change{What: Skip, File: name, Line: l.number, Text: l.text})
		}
	}
	return out
}

var assertRE = all(
	`\bassert\w*[!.( ]`, `\bexpect\s*[({]`, `\b(EXPECT|ASSERT|CHECK|REQUIRE|BOOST_\w+|TEST_ASSERT\w*|XCTAssert\w*|QCOMPARE|QVERIFY)\w*\s*\(`, `\.should\b|\bshould\.`, `\b(require|assert)\.[A-Z]\w*\(`, `\bt\.(Error|Errorf|Fatal|Fatalf|is|deepEqual|equal|truthy|throws)\s*\(`, `\bverify\s*\(`, `\b(assertThat|assertEquals)\b`, `\$this->assert\w+`, `\bshouldBe\b|\bshould(Equal|Throw)\b`,
)

// assertions returns the assertions of a file of tests that were changed or taken away.
func assertions(name string, edits []block) []Change {
	added := map[string]int{}
	for _, b := range edits {
		for _, l := range b.added {
			added[strings.TrimSpace(l.text)]++
		}
	}
	is := func(l line) bool { return assertRE.MatchString(l.text) && !commentRE.MatchString(l.text) }
	var out []Change
	for _, b := range edits {
		var now []line
		for _, l := range b.added {
			if is(l) {
				now = append(now, l)
			}
		}
		for _, l := range b.removed {
			text := strings.TrimSpace(l.text)
			if !is(l) {
				continue
			}
			if added[text] > 0 { // moved
				added[text]--
				continue
			}
			c := Change{What: Assertion, File: name, Line: l.number, Was: l.text}
			if len(now) > 0 {
				c.Line, c.Text, now = now[0].number, now[0].text, now[1:]
			}
			if len(out) < mostOfFile {
				out = append(out, c)
			}
		}
	}
	return out
}
