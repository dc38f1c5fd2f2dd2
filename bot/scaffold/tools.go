package scaffold

import (
	"regexp"
	"strings"
)

// detectors find the tools of a folder. The machines of GitHub have Go, Node, Python, Java, .NET,
// Rust, PHP, Ruby and CMake, so that a job needs an action only where a file says which version.
var detectors = []func(folder) []Project{goTest, node, pytest, gradle, maven, cargo, dotnet, phpunit, rspec, ctest}

func goTest(f folder) []Project {
	if !f.has("go.mod") {
		return nil
	}
	return []Project{{
		Tool: "go test", By: "go.mod", Run: "go test -json ./... > go-test.json", Report: "go-test.json",
		Setup: []Step{{Uses: "actions/setup-go", With: [][2]string{{"go-version-file", pathIn(f, "go.mod")}}}},
	}}
}

// pathIn is the path of a file of the folder from the root: inputs of actions are relative to it.
func pathIn(f folder, name string) string {
	if f.dir == "." {
		return name
	}
	return f.dir + "/" + name
}

// nodeRunner is a tool that package.json names, with what makes it write a report.
type nodeRunner struct {
	tool, bin, flags string
	alone            string // the command without a script
	report           string
	env              string // before the command
	setup            []Step
}

var nodeRunners = []nodeRunner{
	{tool: "Jest", bin: "jest", flags: "--json --outputFile=jest.json", alone: "jest", report: "jest.json"},
	{tool: "Vitest", bin: "vitest", flags: "--reporter=default --reporter=json --outputFile.json=vitest.json", alone: "vitest run", report: "vitest.json"},
	{tool: "Mocha", bin: "mocha", flags: "--reporter json --reporter-option output=mocha.json", alone: "mocha", report: "mocha.json"},
	{tool: "Playwright", bin: "playwright", flags: "--reporter=line,json", alone: "playwright test", report: "playwright.json",
		env: "PLAYWRIGHT_JSON_OUTPUT_NAME=playwright.json ", setup: []Step{{Name: "Install browsers", Run: "npx playwright install --with-deps"}}},
}

// packageJSON is what is read of a package.json.
type packageJSON struct {
	Scripts                       map[string]string
	Dependencies, DevDependencies map[string]any
	Workspaces                    any
}

// needs reports whether the package depends on one of names.
func (p packageJSON) needs(names ...string) bool {
	for _, n := range names {
		if p.Dependencies[n] != nil || p.DevDependencies[n] != nil {
			return true
		}
	}
	return false
}

var (
	// placeholder is the test script that npm init writes.
	placeholder = regexp.MustCompile(`no test specified`)
	// separators end a command of a script.
	separators = regexp.MustCompile(`&&|\|\||[;|&]`)
	nodeTest   = regexp.MustCompile(`\bnode\b.*\s--test\b`)
)

func node(f folder) []Project {
	var p packageJSON
	if !f.has("package.json") || !f.decode("package.json", &p) {
		return nil
	}
	script := p.Scripts["test"]
	if placeholder.MatchString(script) {
		script = ""
	}
	setup, test, exec := nodeSetup(f)
	var out []Project
	add := func(tool, run, report string, more ...Step) {
		out = append(out, Project{Tool: tool, By: "package.json", Setup: append(setup[:len(setup):len(setup)], more...), Run: run, Report: report, covers: p.Workspaces != nil && script != ""})
	}
	for _, r := range nodeRunners {
		direct := lastCommand(script, r.bin)
		if !direct && !p.needs(r.bin, "@"+r.bin+"/test") {
			continue
		}
		run := r.env + exec + r.alone + " " + r.flags
		if direct {
			run = r.env + test + r.flags
		}
		add(r.tool, run, r.report, r.setup...)
	}
	switch {
	case len(out) > 0 || script == "":
	case nodeTest.MatchString(script) && !separators.MatchString(script):
		add("node:test", "NODE_OPTIONS='--test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination=node-test.xml' npm test", "node-test.xml")
	default: // what the script runs prints something that is known, as a rule
		add("npm test", strings.TrimSuffix(strings.TrimSuffix(test, " "), " --")+" 2>&1 | tee npm-test.log", "npm-test.log")
	}
	return out
}

// lastCommand reports whether the last command of a script runs bin, so that flags behind the script
// are flags of bin.
func lastCommand(script, bin string) bool {
	all := separators.Split(script, -1)
	return regexp.MustCompile(`(^|[\s/])` + bin + `(\s|$)`).MatchString(all[len(all)-1])
}

// nodeSetup returns the steps before the tests, and how the package manager runs the test script
// with flags and a program.
func nodeSetup(f folder) (setup []Step, test, exec string) {
	if v := f.first(".nvmrc", ".node-version"); v != "" {
		setup = []Step{{Uses: "actions/setup-node", With: [][2]string{{"node-version-file", pathIn(f, v)}}}}
	}
	install := func(run string) []Step { return append(setup, Step{Name: "Install", Run: run}) }
	switch f.above("pnpm-lock.yaml", "yarn.lock", "package-lock.json") {
	case "pnpm-lock.yaml":
		return install("corepack enable\npnpm install --frozen-lockfile"), "pnpm test ", "pnpm exec "
	case "yarn.lock":
		return install("corepack enable\nyarn install --immutable || yarn install --frozen-lockfile"), "yarn test ", "yarn run "
	case "package-lock.json":
		return install("npm ci"), "npm test -- ", "npx "
	}
	return install("npm install"), "npm test -- ", "npx "
}

func pytest(f folder) []Project {
	by := f.first("pytest.ini")
	if by == "" {
		by = f.mention("pytest", append([]string{"pyproject.toml", "tox.ini", "setup.cfg", "setup.py", "Pipfile"}, f.match("*requirements*.txt")...)...)
	}
	if by == "" {
		by = f.first("conftest.py")
	}
	if by == "" {
		return nil
	}
	p := Project{Tool: "pytest", By: by, Report: "pytest.xml", covers: true}
	const run = "pytest --junitxml=pytest.xml"
	switch {
	case f.has("uv.lock"):
		p.Setup = []Step{{Name: "Install", Run: "pipx install uv\nuv sync --all-extras --all-groups"}}
		p.Run = "uv run --with pytest " + run
	case f.has("poetry.lock"):
		p.Setup = []Step{{Name: "Install", Run: "pipx install poetry\npoetry install --all-extras"}}
		p.Run = "poetry run " + run
	default:
		p.Setup = []Step{{Name: "Install", Run: "python3 -m venv .venv\n.venv/bin/pip install pytest" + pipArguments(f)}}
		p.Run = ".venv/bin/" + run
	}
	return []Project{p}
}

// pipArguments are what to install besides pytest: the requirements, and the package itself.
func pipArguments(f folder) string {
	var b strings.Builder
	for _, n := range f.match("*requirements*.txt") {
		if folderName.MatchString(n) {
			b.WriteString(" -r " + n)
		}
	}
	project := f.text("pyproject.toml")
	if !f.has("setup.py") && !strings.Contains(project, "[project]") && !strings.Contains(project, "[build-system]") {
		return b.String()
	}
	b.WriteString(" -e '.")
	if _, extras, ok := strings.Cut(project, "[project.optional-dependencies]"); ok {
		extras, _, _ = strings.Cut(extras, "\n[")
		for _, n := range []string{"test", "tests", "testing", "dev"} {
			if regexp.MustCompile(`(?m)^` + n + `\s*=`).MatchString(extras) {
				b.WriteString("[" + n + "]")
				break
			}
		}
	}
	b.WriteString("'")
	return b.String()
}

func gradle(f folder) []Project {
	by := f.first("settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle")
	if by == "" {
		return nil
	}
	command := "gradle"
	if f.has("gradlew") {
		command = "sh ./gradlew"
	}
	return []Project{{Tool: "Gradle", By: by, Run: command + " test --continue --console=plain", Report: "**/build/test-results/**/*.xml", covers: true}}
}

func maven(f folder) []Project {
	if !f.has("pom.xml") {
		return nil
	}
	command := "mvn"
	if f.has("mvnw") {
		command = "sh ./mvnw"
	}
	return []Project{{Tool: "Maven", By: "pom.xml", Run: command + " --batch-mode --no-transfer-progress --fail-at-end test", Report: "**/target/surefire-reports/*.xml", covers: true}}
}

func cargo(f folder) []Project {
	if !f.has("Cargo.toml") {
		return nil
	}
	return []Project{{Tool: "cargo test", By: "Cargo.toml", Run: "cargo test --no-fail-fast 2>&1 | tee cargo-test.log", Report: "cargo-test.log", covers: strings.Contains(f.text("Cargo.toml"), "[workspace]")}}
}

var testSDK = regexp.MustCompile(`Microsoft\.NET\.Test\.Sdk|<IsTestProject>\s*true|MSTest\.Sdk`)

func dotnet(f folder) []Project {
	p := Project{Tool: "dotnet test", Run: "dotnet test --logger trx --results-directory test-results", Report: "test-results/*.trx", covers: true}
	for _, glob := range []string{"*.slnx", "*.sln"} {
		if m := f.match(glob); len(m) > 0 {
			p.By = m[0]
			return []Project{p}
		}
	}
	for _, glob := range []string{"*.csproj", "*.fsproj", "*.vbproj"} {
		for _, n := range f.match(glob) {
			if testSDK.MatchString(f.text(n)) {
				p.By = n
				return []Project{p}
			}
		}
	}
	return nil
}

func phpunit(f folder) []Project {
	by, tool := "", "phpunit"
	switch text := f.text("composer.json"); {
	case strings.Contains(text, `"pestphp/pest"`):
		by, tool = "composer.json", "pest"
	case strings.Contains(text, `"phpunit/phpunit"`), strings.Contains(text, `"symfony/phpunit-bridge"`):
		by = "composer.json"
	case text != "":
		by = f.first("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
	}
	if by == "" {
		return nil
	}
	name := map[string]string{"phpunit": "PHPUnit", "pest": "Pest"}[tool]
	return []Project{{Tool: name, By: by, Report: "phpunit-report.xml",
		Setup: []Step{{Name: "Install", Run: "composer install --no-interaction --no-progress"}}, Run: "vendor/bin/" + tool + " --log-junit phpunit-report.xml"}}
}

func rspec(f folder) []Project {
	by := f.first(".rspec")
	if by == "" {
		by = f.mention("rspec", append([]string{"Gemfile", "Gemfile.lock"}, f.match("*.gemspec")...)...)
	}
	if by == "" {
		return nil
	}
	p := Project{Tool: "RSpec", By: by, Report: "rspec.json", Run: "bundle exec rspec --format progress --format json --out rspec.json",
		Setup: []Step{{Name: "Install", Run: "bundle config set --local path vendor/bundle\nbundle install"}}}
	if !f.has("Gemfile") {
		p.Setup = []Step{{Name: "Install", Run: "sudo gem install rspec"}}
		p.Run = strings.TrimPrefix(p.Run, "bundle exec ")
	}
	return []Project{p}
}

var cmakeTests = regexp.MustCompile(`(?i)\b(enable_testing|add_test|gtest_discover_tests|catch_discover_tests)\s*\(|\binclude\s*\(\s*CTest\s*\)`)

func ctest(f folder) []Project {
	if !cmakeTests.MatchString(f.text("CMakeLists.txt")) {
		return nil
	}
	return []Project{{Tool: "CTest", By: "CMakeLists.txt", Report: "build/ctest.xml", covers: true,
		Setup: []Step{{Name: "Build", Run: "cmake -S . -B build\ncmake --build build --parallel"}},
		Run:   "ctest --test-dir build --output-on-failure --output-junit ctest.xml"}}
}
