package testreport

import (
	"strings"
)

// failFirst reports the end what for the first of tools that found something.
func (c *lintConsole) failFirst(what string, tools ...string) bool {
	for _, t := range tools {
		if c.count[t] > 0 {
			c.fail(t, what, 0)
			return true
		}
	}
	return false
}

// counted takes an end that begins with a number, or with a sign and a number.
func (c *lintConsole) counted(t string) bool {
	s := t
	if t[0] >= 0xe2 { // ✖ 7 problems, ❌ 2 lint errors
		i := strings.IndexByte(t, ' ')
		if i < 2 || i > 6 {
			return false
		}
		if rest, ok := strings.CutPrefix(t, "✘ [ERROR] "); ok {
			c.hold(Diagnostic{Tool: "esbuild", Severity: SevError, Message: rest}, waitPlace)
			return false
		}
		s = t[i+1:]
	}
	n, rest, ok := leadingInt(s)
	if !ok || !strings.HasPrefix(rest, " ") {
		return false
	}
	rest = rest[1:]
	switch {
	case n == 0:
		return false
	case strings.HasPrefix(rest, "problem"):
		return c.problems(t, rest)
	case strings.HasPrefix(rest, "error") && strings.Contains(rest, " warning") && strings.Contains(rest, " information"):
		c.fail("pyright", t, 0)
		return true
	case strings.HasPrefix(rest, "error") && strings.HasSuffix(rest, " generated."):
		return c.failFirst(t, "cc")
	case rest == "errors" || rest == "error":
		return c.failFirst(t, "javac", "remark-lint")
	case rest == "errors found" || rest == "error found":
		return c.failFirst(t, "psalm", "scalac")
	case strings.HasPrefix(rest, "file"):
		return c.filesCounted(t, rest)
	case rest == "issues:" || rest == "issue:":
		return c.failFirst(t, "golangci-lint", "staticcheck", "go")
	case strings.HasPrefix(rest, "issue(s) found:"):
		c.said = nil
		c.fail("tflint", t, c.no)
		return true
	case strings.HasPrefix(rest, "issue") && strings.HasPrefix(strings.TrimLeft(rest, "isue"), " found"):
		return c.count["dart"] > 0 && c.failFirst(t, "dart")
	case strings.HasPrefix(rest, "total warning"):
		c.failAs("reek", t)
		return true
	case strings.HasPrefix(rest, "error(s) were found in ERB files"):
		c.failAs("erb-lint", t)
		return true
	}
	return false
}

// problems takes the end of ESLint and stylelint: "7 problems (6 errors, 1 warning)".
func (c *lintConsole) problems(t, rest string) bool {
	_, in, ok := strings.Cut(rest, "(")
	if ok {
		if n, _, isNum := leadingInt(in); !isNum || n == 0 {
			return isNum
		}
		tool := "eslint"
		if c.count["stylelint"] > 0 {
			tool = "stylelint"
		}
		c.fail(tool, t, 0)
		return true
	}
	for _, tool := range []string{"eslint", "stylelint"} {
		if c.first[tool].Severity == SevError {
			c.fail(tool, t, 0)
			return true
		}
	}
	return c.count["eslint"]+c.count["stylelint"] > 0
}

// filesCounted takes the end of black, ruff format, RuboCop and its relatives.
func (c *lintConsole) filesCounted(t, rest string) bool {
	switch {
	case strings.Contains(rest, "would be reformatted"), strings.Contains(rest, "would fail to reformat"), strings.Contains(rest, "failed to reformat"):
		if c.count["ruff"] > 0 && c.count["black"] == 0 {
			c.fail("ruff", t, 0)
		} else {
			c.fail("black", t, 0)
		}
		return true
	case strings.Contains(rest, " inspected, "):
		_, found, _ := strings.Cut(rest, " inspected, ")
		n, what, ok := leadingInt(found)
		if !ok || n == 0 || !strings.Contains(what, " detected") {
			return false
		}
		tool := "rubocop"
		for _, other := range []string{"haml-lint", "slim-lint", "fasterer"} {
			if c.count[other] > 0 {
				tool = other
			}
		}
		if tool == "rubocop" && !strings.HasPrefix(what, " offense") {
			return false
		}
		c.fail(tool, t, 0)
		return true
	}
	return false
}

// summary takes an end that begins with a capital.
func (c *lintConsole) summary(t string) bool {
	switch {
	case strings.HasPrefix(t, "Found "):
		return c.foundErrors(t)
	case strings.HasPrefix(t, "FOUND ") && c.headOf == "phpcs":
		if n, rest, ok := leadingInt(t[6:]); ok && n > 0 && strings.HasPrefix(rest, " ERROR") {
			if c.count["phpcs"] == 0 && c.first == nil {
				c.first, c.count = map[string]Diagnostic{}, map[string]int{}
			}
			if c.count["phpcs"] == 0 {
				c.first["phpcs"] = Diagnostic{File: c.head, At: c.no}
			}
			c.fail("phpcs", t, 0)
		}
		return true
	case strings.HasPrefix(t, "Code style issues "), strings.HasPrefix(t, "Error occurred when checking code style in "):
		c.fail("prettier", t, 0)
		return true
	case strings.HasPrefix(t, "ESLint found too many warnings"):
		c.fail("eslint", t, 0)
		return true
	case strings.HasPrefix(t, "Oh no! 💥"):
		return c.count["black"] > 0
	case strings.HasPrefix(t, "Analysis failed with ") && strings.Contains(t, " issue"):
		c.failAs("detekt", t)
		return true
	case strings.HasPrefix(t, "Done linting! Found "):
		if _, rest, ok := strings.Cut(t, ", "); ok {
			if n, _, isNum := leadingInt(rest); isNum && n > 0 {
				c.fail("swiftlint", t, 0)
			}
		}
		return true
	case strings.HasPrefix(t, "Summary: ") && strings.Contains(t, " error(s)"):
		if n, _, ok := leadingInt(t[len("Summary: "):]); ok && n > 0 {
			c.failAs("markdownlint", t)
		}
		return true
	case strings.HasPrefix(t, "Failed: ") && strings.Contains(t, " failure(s), ") && strings.Contains(t, " warning(s)"):
		if n, _, ok := leadingInt(t[len("Failed: "):]); ok && n > 0 {
			c.failAs("ansible-lint", t)
		}
		return true
	case strings.HasPrefix(t, "Errors: ") && c.count["sorbet"] > 0:
		c.fail("sorbet", t, 0)
		return true
	case t == "Build FAILED.":
		return c.failFirst(t, "msbuild", "csc", "fsc", "vbc", "cc")
	}
	return false
}

// foundErrors takes "Found 3 errors in 2 files." of tsc, mypy, ruff and biome.
func (c *lintConsole) foundErrors(t string) bool {
	n, rest, ok := leadingInt(t[len("Found "):])
	if !ok || n == 0 || !strings.HasPrefix(rest, " error") {
		return false
	}
	switch {
	case strings.Contains(rest, "(checked ") || strings.Contains(rest, "errors prevented further checking"):
		c.fail("mypy", t, 0)
	case c.count["tsc"] > 0:
		c.fail("tsc", t, 0)
	case c.count["biome"] > 0:
		c.fail("biome", t, 0)
	case c.count["ruff"] > 0 || c.count["flake8"] > 0:
		c.failAs("ruff", t)
	default:
		return false
	}
	return true
}

// failAs reports the end of a tool whose findings, without severity, may have
// been taken for another's.
func (c *lintConsole) failAs(tool, what string) {
	if _, ok := c.first[tool]; !ok && c.soft.count > 0 {
		c.soft.tool = tool
	}
	c.fail(tool, what, 0)
}
