package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// patch makes a unified diff of one hunk.
func patch(removed, added string) string {
	var b strings.Builder
	b.WriteString("@@ -10,3 +10,3 @@ context\n unchanged\n")
	for _, part := range []struct{ sign, text string }{{"-", removed}, {"+", added}} {
		if part.text != "" {
			for l := range strings.Lines(part.text) {
				fmt.Fprintf(&b, "%s%s\n", part.sign, strings.TrimSuffix(l, "\n"))
			}
		}
	}
	return b.String() + " unchanged\n"
}

func read(name, removed, added string) []Change {
	return Read([]File{{Path: name, Status: "modified", Patch: patch(removed, added), Edited: true}}, true).Changes
}

func kinds(cs []Change) (out []What) {
	for _, c := range cs {
		out = append(out, c.What)
	}
	return out
}

func TestSkipMarkers(t *testing.T) {
	for _, c := range []struct{ file, line string }{
		{"tests/test_calc.py", "@pytest.mark.skip(reason='later')"},
		{"tests/test_calc.py", "    @pytest.mark.skipif(sys.platform == 'linux', reason='x')"},
		{"tests/test_calc.py", "@pytest.mark.xfail"},
		{"tests/test_calc.py", "    pytest.skip('later')"},
		{"tests/test_calc.py", "pytestmark = pytest.mark.skip"},
		{"tests/test_calc.py", "        pytest.param(1, marks=pytest.mark.skip),"},
		{"tests/test_calc.py", "    @unittest.skip('later')"},
		{"tests/test_calc.py", "    @unittest.expectedFailure"},
		{"tests/test_calc.py", "        self.skipTest('later')"},
		{"tests/test_calc.py", "        raise unittest.SkipTest"},
		{"src/calc.test.js", "  it.skip('adds', () => {"},
		{"src/calc.test.js", "  xit('adds', () => {"},
		{"src/calc.test.ts", "  test.only('adds', () => {"},
		{"src/calc.test.ts", "  test.todo('adds')"},
		{"src/calc.spec.ts", "  describe.skip('calc', () => {"},
		{"src/calc.spec.ts", "  it.skipIf(isLinux)('adds', () => {"},
		{"src/calc.spec.ts", "  test.fixme('adds', async () => {"},
		{"src/__tests__/calc.jsx", "  fit('adds', () => {"},
		{"test/calc.js", "    this.skip()"},
		{"test/calc.mjs", "test('adds', { skip: true }, () => {"},
		{"calc_test.go", "\tt.Skip(\"later\")"},
		{"calc_test.go", "\tt.SkipNow()"},
		{"calc_test.go", "\tb.Skipf(\"%d\", 1)"},
		{"calc_test.go", "//go:build ignore"},
		{"calc_test.go", "\tXIt(\"adds\", func() {"},
		{"src/test/java/CalcTest.java", "    @Disabled(\"later\")"},
		{"src/test/java/CalcTest.java", "    @Ignore"},
		{"src/test/java/CalcTest.java", "    @Test(enabled = false)"},
		{"src/test/java/CalcTest.java", "        assumeTrue(false);"},
		{"src/test/kotlin/CalcTest.kt", "    @EnabledOnOs(OS.WINDOWS)"},
		{"src/test/scala/CalcSpec.scala", "  ignore(\"adds\") {"},
		{"src/test/groovy/CalcSpec.groovy", "    @PendingFeature"},
		{"spec/calc_spec.rb", "    skip 'later'"},
		{"spec/calc_spec.rb", "    pending"},
		{"spec/calc_spec.rb", "  xit 'adds' do"},
		{"spec/calc_spec.rb", "  it 'adds', :skip do"},
		{"spec/calc_spec.rb", "  it 'adds', skip: 'later' do"},
		{"src/lib.rs", "    #[ignore]"},
		{"tests/calc.rs", "    #[ignore = \"later\"]"},
		{"tests/CalcTest.php", "        $this->markTestSkipped('later');"},
		{"tests/CalcTest.php", "        self::markTestIncomplete();"},
		{"tests/CalcTest.php", "})->skip();"},
		{"Calc.Tests/CalcTests.cs", "        [Ignore(\"later\")]"},
		{"Calc.Tests/CalcTests.cs", "        [Fact(Skip = \"later\")]"},
		{"Calc.Tests/CalcTests.cs", "        Assert.Inconclusive();"},
		{"test/calc_test.cc", "TEST(Calc, DISABLED_Adds) {"},
		{"test/calc_test.cc", "  GTEST_SKIP() << \"later\";"},
		{"test/calc_test.cpp", "TEST_CASE(\"adds\", \"[.]\") {"},
		{"test/calc_test.cpp", "TEST_CASE(\"adds\" * doctest::skip()) {"},
		{"test/calc_test.exs", "  @tag :skip"},
		{"Tests/CalcTests.swift", "        throw XCTSkip(\"later\")"},
		{"test/calc_test.dart", "  }, skip: true);"},
		{"features/calc.feature", "  @wip"},
		{"t/calc.t", "plan skip_all => 'later';"},
		{"pom.xml", "    <maven.test.skip>true</maven.test.skip>"},
		{".github/workflows/ci.yml", "      - run: go test ./... || true"},
		{".github/workflows/ci.yml", "        continue-on-error: true"},
		{"package.json", "    \"test\": \"jest --passWithNoTests\","},
	} {
		t.Run("S5-23 new skip marker "+c.file+" "+strings.TrimSpace(c.line), func(t *testing.T) {
			got := read(c.file, "", c.line)
			at := slices.IndexFunc(got, func(c Change) bool { return c.What == Skip })
			if at < 0 || got[at].Line != 11 || got[at].Text != strings.TrimSpace(c.line) {
				t.Fatalf("%+v", got)
			}
			if again := read(c.file, c.line, "    "+c.line); slices.Contains(kinds(again), Skip) {
				t.Errorf("a line that was indented is taken for a new marker: %+v", again)
			}
			if gone := read(c.file, c.line, ""); slices.Contains(kinds(gone), Skip) {
				t.Errorf("a marker that was taken away is taken for a new one: %+v", gone)
			}
		})
	}
}

func TestNoSkipMarkers(t *testing.T) {
	for _, c := range []struct{ file, line string }{
		{"tests/test_calc.py", "    # pytest.skip('no')"},
		{"tests/test_calc.py", "    assert skip(1) == 2"},
		{"src/list.js", "  return list.skip(1)"},
		{"src/calc.test.js", "  expect(stream.skip(1)).toEqual([2])"},
		{"src/calc.test.js", "  it('can skip a line', () => {"},
		{"calc.go", "\tr.Skip(1)"},
		{"src/main/java/Reader.java", "        reader.skip(1);"},
		{"src/test/java/CalcTest.java", "        assertTrue(reader.ready());"},
		{"src/lib.rs", "    let ignore = true;"},
		{"spec/calc_spec.rb", "  it 'shows pending orders' do"},
		{"src/calc.cc", "  int a[10] = {};"},
		{"docs/guide.md", "Use `it.skip` to skip a test."},
		{"features/calc.feature", "  Scenario: skip a line"},
	} {
		if got := read(c.file, "", c.line); slices.Contains(kinds(got), Skip) {
			t.Errorf("S5-23: %s %q is no skip marker: %+v", c.file, c.line, got)
		}
	}
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct{ file, was, now string }{
		{"jest.config.js", "    global: { branches: 90, lines: 90 },", "    global: { branches: 90, lines: 40 },"},
		{"vitest.config.ts", "        statements: 80,", "        statements: 10,"},
		{"package.json", "      \"lines\": 90,", "      \"lines\": 50,"},
		{".nycrc", "  \"check-coverage\": true,", "  \"check-coverage\": false,"},
		{"pyproject.toml", "fail_under = 90", "fail_under = 10"},
		{".coveragerc", "fail_under = 90.5", "fail_under = 90"},
		{"setup.cfg", "addopts = --cov --cov-fail-under=90", "addopts = --cov --cov-fail-under=5"},
		{".github/workflows/ci.yml", "      - run: pytest --cov-fail-under=90", "      - run: pytest --cov-fail-under=0"},
		{"pom.xml", "                  <minimum>0.80</minimum>", "                  <minimum>0.10</minimum>"},
		{"build.gradle", "                minimum = 0.8", "                minimum = 0.1"},
		{"build.gradle.kts", "            minBound(80)", "            minBound(8)"},
		{"codecov.yml", "        target: 80%", "        target: 20%"},
		{"codecov.yml", "        threshold: 1%", "        threshold: 50%"},
		{"Calc.Tests/Calc.Tests.csproj", "    <Threshold>80</Threshold>", "    <Threshold>0</Threshold>"},
		{"package.json", "    \"lint\": \"eslint . --max-warnings 0\",", "    \"lint\": \"eslint . --max-warnings 500\","},
		{"spec/spec_helper.rb", "  minimum_coverage 90", "  minimum_coverage 10"},
		{"infection.json", "    \"minMsi\": 80,", "    \"minMsi\": 8,"},
		{"mix.exs", "      test_coverage: [summary: [threshold: 90]],", "      test_coverage: [summary: [threshold: 1]],"},
		{".github/switchback.yml", "  min_tests: 100", "  min_tests: 1"},
		{".github/switchback.yml", "  max_skipped: 0", "  max_skipped: 900"},
		{"pyproject.toml", "fail_under = 90", "fail_over = 90"},
	} {
		t.Run("S5-23 lowered threshold "+c.file+" "+strings.TrimSpace(c.was), func(t *testing.T) {
			got := read(c.file, c.was, c.now)
			if !slices.ContainsFunc(got, func(x Change) bool {
				return x.What == Threshold && x.Was == strings.TrimSpace(c.was) || x.What == Threshold && strings.Contains(c.now, "false")
			}) {
				t.Fatalf("%+v", got)
			}
			if back := read(c.file, c.now, c.was); slices.Contains(kinds(back), Threshold) && c.now != "fail_over = 90" {
				t.Errorf("a threshold that was raised is listed: %+v", back)
			}
			if same := read(c.file, c.was, c.was+" "); slices.Contains(kinds(same), Threshold) {
				t.Errorf("a threshold that stayed is listed: %+v", same)
			}
		})
	}
}

func TestFilesOfTests(t *testing.T) {
	t.Run("S5-23 workflow files and configuration of tests and coverage", func(t *testing.T) {
		for file, want := range map[string]What{
			".github/workflows/ci.yml": Workflow, ".github/actions/setup/action.yml": Workflow, "action.yml": Workflow,
			"jest.config.ts": Config, "web/vitest.config.mts": Config, "pytest.ini": Config, "tox.ini": Config, "conftest.py": Config, ".coveragerc": Config, "phpunit.xml.dist": Config, "codecov.yml": Config, ".rspec": Config, ".nycrc.json": Config, "tests.runsettings": Config,
			"src/calc.go": "", "README.md": "", "docs/pytest.md": "",
		} {
			got := kinds(read(file, "a", "b"))
			if want == "" && len(got) != 0 || want != "" && !slices.Contains(got, want) {
				t.Errorf("%s: %v", file, got)
			}
		}
	})
	t.Run("S5-23 of files that hold more than tests only lines that say something of them", func(t *testing.T) {
		for _, c := range []struct {
			file, line string
			want       bool
		}{
			{"package.json", "  \"version\": \"1.2.3\",", false}, {"package.json", "    \"test\": \"echo ok\",", true},
			{"pyproject.toml", "version = \"1.2\"", false}, {"pyproject.toml", "testpaths = [\"tests/unit\"]", true},
			{"pom.xml", "  <version>1.2</version>", false}, {"pom.xml", "  <skipTests>true</skipTests>", true},
		} {
			if got := slices.Contains(kinds(read(c.file, "x", c.line)), Config); got != c.want {
				t.Errorf("%s %q: %t", c.file, c.line, got)
			}
		}
	})
	t.Run("S5-26 changed and removed assertions are shown, moved ones are not", func(t *testing.T) {
		got := read("calc_test.go", "\trequire.Equal(t, 3, Add(1, 2))", "\trequire.NotNil(t, Add(1, 2))")
		if len(got) != 1 || got[0].What != Assertion || got[0].Was != "require.Equal(t, 3, Add(1, 2))" || got[0].Text != "require.NotNil(t, Add(1, 2))" {
			t.Errorf("%+v", got)
		}
		if got := read("tests/test_a.py", "    assert add(1, 2) == 3", ""); len(got) != 1 || got[0].Text != "" {
			t.Errorf("%+v", got)
		}
		if got := read("tests/test_a.py", "    assert add(1, 2) == 3", "        assert add(1, 2) == 3"); len(got) != 0 {
			t.Errorf("%+v", got)
		}
		if Assertion.Gates() || TestRemoved.Gates() {
			t.Error("what is only shown decides")
		}
	})
	t.Run("S5-25 a change that cannot have taken a test away", func(t *testing.T) {
		for _, c := range []struct {
			f    File
			want bool
		}{
			{File{Path: "src/calc.go", Status: "modified", Patch: patch("a", "b"), Edited: true}, true},
			{File{Path: "calc_test.go", Status: "modified", Patch: patch("", "func TestNew(t *testing.T) {}"), Edited: true}, true},
			{File{Path: "calc_test.go", Status: "modified", Patch: patch("func TestOld(t *testing.T) {}", ""), Edited: true}, false},
			{File{Path: "calc_test.go", Status: "removed"}, false},
			{File{Path: "calc_test.go", Status: "modified", Edited: true}, false},
			{File{Path: "gone_test.go", Was: "calc_test.go", Status: "renamed"}, false},
			{File{Path: "src/lib.rs", Status: "modified", Patch: patch("    #[test]", ""), Edited: true}, false},
			{File{Path: "src/calc.py", Status: "removed"}, false},
			{File{Path: "package.json", Status: "modified", Patch: patch("    \"test\": \"jest\",", "    \"test\": \"jest a\","), Edited: true}, false},
		} {
			if got := Read([]File{c.f}, true); got.Untouched != c.want {
				t.Errorf("%+v: %t", c.f, got.Untouched)
			}
		}
		if Read(nil, false).Untouched {
			t.Error("a change of which files are missing is taken for untouched")
		}
	})
	t.Run("the list is bounded, and keeps what can count", func(t *testing.T) {
		var files []File
		for i := range 300 {
			files = append(files, File{Path: fmt.Sprintf("a%d_test.go", i), Status: "modified", Patch: patch("assert.Equal(t, 1, 1)", strings.Repeat("x", 9)), Edited: true})
		}
		files = append(files, File{Path: "z_test.go", Status: "modified", Patch: patch("", "\tt.Skip(\""+strings.Repeat("é", 900)+"\")"), Edited: true})
		got := Read(files, true).Changes
		if len(got) > mostChanges || got[0].What != Skip || len([]rune(got[0].Text)) > mostText {
			t.Errorf("%d changes, first %+v", len(got), got[0])
		}
	})
}

func TestEveryPatternCompiles(t *testing.T) {
	for ext, m := range skipMarkers {
		if m.re().NumSubexp() < 0 {
			t.Error(ext)
		}
	}
	for _, l := range limits {
		if l.re().NumSubexp() != 1 {
			t.Errorf("%s has %d groups", l.re(), l.re().NumSubexp())
		}
	}
	for _, s := range switches {
		s.on()
	}
}

func FuzzRead(f *testing.F) {
	f.Add("calc_test.go", patch("a", "\tt.Skip()"), "modified")
	f.Add("pom.xml", patch("<minimum>0.8</minimum>", "<minimum>0.1</minimum>"), "added")
	f.Fuzz(func(t *testing.T, name, diff, status string) {
		for _, c := range Read([]File{{Path: name, Patch: diff, Status: status, Edited: true}}, true).Changes {
			if c.File != name || strings.ContainsAny(c.Text, "\n") {
				t.Errorf("%+v", c)
			}
		}
	})
}
