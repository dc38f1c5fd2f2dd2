// Package evidence reads what a change does to the tests that are to show that it works, and to what
// runs them: the diff of its files in, a list out. It decides nothing, and knows no clock, network or
// file.
package evidence

import (
	"path"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/truncate"
)

// File is a file of a change.
type File struct {
	Path   string
	Was    string // path before a rename, "" if it has the same
	Status string // added, modified, removed or renamed
	Patch  string // unified diff, "" if there is none or it is too large
	Edited bool   // lines changed
}

// What is a kind of change.
type What string

// The kinds. Assertion and TestRemoved are shown; a lowered threshold, a new skip marker, and what
// selects or runs tests can be made to count (Gates).
const (
	Workflow    What = "workflow"     // a file of CI itself
	Config      What = "test_config"  // configuration of tests or of coverage
	Threshold   What = "threshold"    // a limit that was lowered or taken away
	Skip        What = "skip_marker"  // a marker that keeps tests from running
	TestRemoved What = "test_removed" // a file of tests
	Assertion   What = "assertion"    // an assertion that was changed or taken away
)

// Gates reports whether changes of this kind can make a green run count for less.
func (w What) Gates() bool {
	return w == Workflow || w == Config || w == Threshold || w == Skip
}

// Change is one thing that a change does.
type Change struct {
	What What   `json:"what"`
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 1-based, in the new file; of an assertion that was removed in the old one
	Text string `json:"text,omitempty"` // the line
	Was  string `json:"was,omitempty"`  // what stood there
}

// Reading is what Read returns.
type Reading struct {
	Changes []Change
	// Untouched says that nothing in the change can have taken a test away, or kept it from running:
	// whatever is missing is missing for another reason.
	Untouched bool
}

// The bounds of a reading.
const (
	mostChanges    = 60
	mostOfFile     = 8
	mostAssertions = 20
	mostText       = 160
)

// Read returns what a change does, the kinds in their order. whole says that files are all files of
// the change.
func Read(files []File, whole bool) Reading {
	r := Reading{Untouched: whole}
	byKind := map[What][]Change{}
	for _, f := range files {
		kind := kindOf(f)
		edits := blocks(f.Patch)
		unread := f.Patch == "" && (f.Edited || f.Status == "modified" || f.Status == "changed")
		var found []Change
		switch {
		case IsWorkflow(f.Path) || f.Was != "" && IsWorkflow(f.Was):
			found = append(found, Change{What: Workflow, File: f.Path})
		case kind.config && (f.Status == "removed" || f.Status == "added" || f.Patch == "" || configTouched(f, edits)):
			found = append(found, Change{What: Config, File: f.Path})
		}
		if kind.test && f.Status == "removed" {
			found = append(found, Change{What: TestRemoved, File: f.Path})
		}
		if kind.settings || kind.config || IsWorkflow(f.Path) {
			found = append(found, thresholds(f.Path, edits)...)
		}
		if f.Status != "removed" {
			found = append(found, skips(f.Path, kind, edits)...)
		}
		if kind.test {
			found = append(found, assertions(f.Path, edits)...)
		}
		if len(found) > 0 || unread && (kind.test || kind.settings) || f.Status == "removed" && kind.source ||
			(kind.test || inline(f.Path)) && slices.ContainsFunc(edits, func(b block) bool { return len(b.removed) > 0 }) ||
			kind.test && f.Was != "" {
			r.Untouched = false
		}
		for _, c := range found {
			c.Text, c.Was = cut(c.Text), cut(c.Was)
			byKind[c.What] = append(byKind[c.What], c)
		}
	}
	for _, w := range []What{Threshold, Skip, Config, Workflow, TestRemoved, Assertion} {
		most := mostChanges - len(r.Changes)
		if w == Assertion {
			most = min(most, mostAssertions)
		}
		r.Changes = append(r.Changes, byKind[w][:min(len(byKind[w]), max(0, most))]...)
	}
	return r
}

func cut(text string) string {
	return truncate.Runes(strings.TrimSpace(text), mostText, "…")
}

// kind is what a file may hold, as far as its path tells.
type kind struct {
	test     bool // tests
	config   bool // settings of a test or coverage tool, or among others such settings
	settings bool // settings of any kind, where thresholds may stand
	source   bool
}

func kindOf(f File) kind {
	k := kind{test: IsTest(f.Path) || f.Was != "" && IsTest(f.Was), config: isConfig(f.Path) || f.Was != "" && isConfig(f.Was)}
	ext := path.Ext(f.Path)
	k.settings = !k.test && slices.Contains(settings, ext) || slices.Contains(settingsNames, strings.ToLower(path.Base(f.Path)))
	k.source = !k.settings && slices.Contains(sources, ext)
	return k
}

var (
	settings      = []string{".yml", ".yaml", ".json", ".toml", ".ini", ".cfg", ".xml", ".gradle", ".kts", ".csproj", ".fsproj", ".vbproj", ".props", ".targets", ".properties", ".runsettings", ".sh", ".mk", ".neon", ".conf", ".config", ".exs"}
	settingsNames = []string{"makefile", "gnumakefile", "justfile", "rakefile", "dockerfile", ".coveragerc", ".nycrc", ".c8rc", ".simplecov", "spec_helper.rb", "rails_helper.rb", "test_helper.rb", "noxfile.py", "conftest.py"}
	sources       = []string{".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".java", ".kt", ".scala", ".groovy", ".rb", ".rs", ".php", ".cs", ".fs", ".vb", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".swift", ".m", ".dart", ".ex", ".exs", ".lua", ".pl", ".t", ".hs", ".clj", ".feature"}
)

// inline reports whether tests stand beside what they test in files of this language.
func inline(name string) bool { return path.Ext(name) == ".rs" }

// IsWorkflow reports whether a file is of CI itself.
func IsWorkflow(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, ".github/workflows/") || strings.HasPrefix(name, ".github/actions/") || base == "action.yml" || base == "action.yaml"
}

var testPathRE = all(
	`(?i)(^|/)(tests?|specs?|__tests__|__specs__|testing|e2e|cypress|features|t|integration[-_]?tests?|unit[-_]?tests?)/`,
	`(?i)(^|/)test_[^/]*$`, `(?i)[._-](test|spec|cy|e2e|tests|specs|unittest|it)\.[a-z]+$`, `_test\.go$`,
	`[a-z0-9](Test|Tests|TestCase|Spec|Specs|IT|Suite)\.[a-z]+$`, `(^|/)Test[A-Z][^/]*\.[a-z]+$`, `\.feature$`, `(^|/)conftest\.py$`,
)

// IsTest reports whether a path is that of a file of tests.
func IsTest(name string) bool {
	return slices.Contains(sources, path.Ext(name)) && testPathRE.MatchString(name) || strings.HasSuffix(name, ".snap")
}

var configRE = all(
	`(^|/)(jest|vitest|karma|playwright|cypress|wdio|ava|nyc|web-test-runner|stryker|jasmine)\.(config|conf)\.[a-z]+$`, `(^|/)cypress\.json$`, `(^|/)jasmine\.json$`,
	`(^|/)\.(mocharc|nycrc|c8rc|taprc|jestrc|jasmine)(\.[a-z]+)?$`, `(^|/)(pytest\.ini|\.pytest\.ini|tox\.ini|noxfile\.py|conftest\.py|\.coveragerc|coveragerc)$`,
	`(^|/)(phpunit|infection|pest)(\.[a-z]+)*\.(xml|json|json5|dist)$`, `(^|/)phpunit\.xml(\.dist)?$`, `(^|/)\.(rspec|simplecov)$`, `(^|/)(spec|rails|test)_helper\.rb$`,
	`(^|/)\.?codecov\.ya?ml$`, `(^|/)\.coveralls\.yml$`, `(^|/)sonar-project\.properties$`, `(^|/)(junit-platform\.properties|testng[^/]*\.xml)$`,
	`\.runsettings$`, `(^|/)xunit\.runner\.json$`, `(^|/)(coverlet|coverage)[^/]*\.(json|runsettings|config)$`, `(^|/)(nextest|tarpaulin)\.toml$`,
	`(^|/)dart_test\.yaml$`, `(^|/)\.github/switchback\.ya?ml$`, `(^|/)\.bazelrc$`,
	// Files that hold more than tests; configTouched looks at their lines.
	`(^|/)(package\.json|pyproject\.toml|setup\.cfg|pom\.xml|build\.gradle(\.kts)?|Cargo\.toml|mix\.exs|CMakeLists\.txt|bunfig\.toml|deno\.jsonc?|composer\.json|Makefile|Rakefile|[^/]+\.csproj|Directory\.Build\.props)$`,
)

var mixedRE = all(`(^|/)(package\.json|pyproject\.toml|setup\.cfg|pom\.xml|build\.gradle(\.kts)?|Cargo\.toml|mix\.exs|CMakeLists\.txt|bunfig\.toml|deno\.jsonc?|composer\.json|Makefile|Rakefile|[^/]+\.csproj|Directory\.Build\.props)$`)

func isConfig(name string) bool { return configRE.MatchString(name) }

// configLineRE is what a line of a file that holds more than tests says of tests.
var configLineRE = all(
	`(?i)"(pre|post)?(test|jest|mocha|nyc|c8|vitest|ava|coverage)[^"]*"\s*:`, `(?i)\b(coverageThreshold|testMatch|testRegex|testPathIgnorePatterns|collectCoverageFrom|testpaths|addopts|python_files|norecursedirs|fail_under|markers)\b`,
	`(?i)\[tool[.:](pytest|coverage)`, `(?i)\b(pytest|surefire|failsafe|jacoco|kover|useJUnitPlatform|excludeTags|includeTags|skipTests|maven\.test\.skip|testFailureIgnore|ignoreFailures|gtest|add_test|ctest)\b`,
	`(?i)\[\[test\]\]|^\s*(test|doctest|harness)\s*=`, `(?i)\btest_coverage\b`, `(?i)<(Exclude|Threshold|IsTestProject|VSTest[A-Za-z]*)\b`, `(?i)^\s*(test|check|coverage)[\w-]*\s*:`, `(?i)\b(go test|cargo test|npm test|phpunit|rspec|dotnet test|mvn .*test)\b`,
)

// configTouched reports whether lines that say something of tests changed.
func configTouched(f File, edits []block) bool {
	if !mixedRE.MatchString(f.Path) {
		return len(edits) > 0 || f.Was != ""
	}
	return slices.ContainsFunc(edits, func(b block) bool {
		of := func(l line) bool { return configLineRE.MatchString(l.text) }
		return slices.ContainsFunc(b.removed, of) || slices.ContainsFunc(b.added, of)
	})
}
