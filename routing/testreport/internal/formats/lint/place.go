package lint

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// place is where a line says something is, and what it says.
type lintAt struct {
	ok        bool
	file      string
	line, col int
	rest      string // behind the place
	tool      string // that its language suggests
	two       bool   // a column is stated, be it 0
	style     byte   // ':' f:1:2, '(' f(1,2), '[' f[1, 2] or f:[1,2]
}

// lintPlace reads the place a line begins with: "a.c:1:2", "a.ts(1,2)",
// "a.ts[1, 2]", "C:\a.cs(1,2)". It is the gate that every line of a log comes
// through, and looks no further than the first colon.
func lintPlace(t string) lintAt {
	from := 0
	if len(t) > 2 && t[1] == ':' && (t[2] == '\\' || t[2] == '/') {
		from = 2
	} else if strings.HasPrefix(t, "file:///") {
		from = 5
	}
	i := strings.IndexByte(t[from:], ':') + from
	if i <= from || i+1 >= len(t) {
		return lintAt{}
	}
	switch c := t[i+1]; {
	case c >= '0' && c <= '9':
		return colonPlace(t, i)
	case t[i-1] == ')' || t[i-1] == ']':
		return bracketPlace(t, i)
	case t[i-1] == ' ' && i > 2 && t[i-2] == ')': // "a.cs(1,2) : error"
		return bracketPlace(t, i-1)
	case c == '(':
		return lintAt{style: 'u'}
	case c == ' ' && strings.HasPrefix(t[i:], ": line "):
		return wordPlace(t, i)
	}
	return lintAt{}
}

func colonPlace(t string, i int) lintAt {
	p := lintAt{file: t[:i], style: ':'}
	p.line, p.rest, _ = parse.LeadingInt(t[i+1:])
	if len(p.rest) > 1 && p.rest[0] == ':' {
		if n, rest, isNum := parse.LeadingInt(p.rest[1:]); isNum {
			p.col, p.rest, p.two = n, rest, true
		}
	}
	if len(p.rest) > 1 && p.rest[0] == '-' { // the end of the range
		if _, rest, isNum := parse.LeadingInt(p.rest[1:]); isNum {
			p.rest = rest
		}
	}
	if p.line == 0 || len(p.rest) < 3 {
		return lintAt{}
	}
	if p.tool, p.ok = sourceFile(p.file); !p.ok && p.two {
		p.tool, p.ok = otherFile(p.file, p.rest)
	}
	return p
}

// otherFile takes a file of unknown kind where what stands behind its place
// is certainly a compiler's or RuboCop's.
func otherFile(f, rest string) (tool string, ok bool) {
	if !strings.ContainsAny(f, "./") || strings.ContainsAny(f, " \t\"'`<>|*=,;{}()") {
		return "", false
	}
	switch {
	case strings.HasPrefix(rest, ": error: "), strings.HasPrefix(rest, ": fatal error: "):
		return "", true
	case len(rest) > 5 && rest[:2] == ": " && rest[3:5] == ": " && strings.IndexByte("CWEFRI", rest[2]) >= 0:
		return "rubocop", true
	}
	return "", false
}

// bracketPlace reads what ends in a closing bracket at i-1.
func bracketPlace(t string, i int) lintAt {
	o := byte('(')
	if t[i-1] == ']' {
		o = '['
	}
	j := strings.LastIndexByte(t[:i], o)
	if j <= 0 {
		return lintAt{}
	}
	n, rest, isNum := parse.LeadingInt(t[j+1 : i-1])
	if !isNum {
		return lintAt{}
	}
	p := lintAt{file: t[:j], line: n, style: o, rest: strings.TrimLeft(t[i:], " ")}
	if rest != "" {
		if rest[0] != ',' {
			return lintAt{}
		}
		if p.col, _, isNum = parse.LeadingInt(strings.TrimLeft(rest[1:], " ")); !isNum {
			return lintAt{}
		}
	}
	p.tool, p.ok = sourceFile(p.file)
	return p
}

// wordPlace reads "f: line 2, col 10, Error - message" of ESLint's compact form.
func wordPlace(t string, i int) lintAt {
	tool, ok := sourceFile(t[:i])
	n, rest, isNum := parse.LeadingInt(t[i+len(": line "):])
	rest, found := strings.CutPrefix(rest, ", col ")
	col, rest, isCol := parse.LeadingInt(rest)
	if !ok || !isNum || !found || !isCol {
		return lintAt{}
	}
	return lintAt{ok: true, file: t[:i], line: n, col: col, rest: rest, tool: tool, style: 'w'}
}

// sources are the endings of files that compilers and linters speak of, with
// the tool that most likely does.
var sources = map[string]string{
	"c": "cc", "cc": "cc", "cpp": "cc", "cxx": "cc", "c++": "cc", "h": "cc", "hh": "cc", "hpp": "cc", "hxx": "cc", "inl": "cc", "ipp": "cc",
	"m": "cc", "mm": "cc", "cu": "nvcc", "cuh": "nvcc", "S": "cc", "s": "cc", "f": "gfortran", "f90": "gfortran", "F90": "gfortran",
	"go": "go", "mod": "go", "rs": "rustc", "swift": "swiftc", "zig": "zig", "nim": "nim", "d": "dmd", "v": "v", "adb": "gnat", "ads": "gnat",
	"java": "javac", "kt": "kotlinc", "kts": "kotlinc", "scala": "scalac", "sc": "scalac", "groovy": "groovyc", "gradle": "gradle",
	"ts": "tsc", "tsx": "tsc", "mts": "tsc", "cts": "tsc", "js": "eslint", "jsx": "eslint", "mjs": "eslint", "cjs": "eslint", "vue": "eslint", "svelte": "eslint",
	"py": "flake8", "pyi": "mypy", "pyx": "cython", "ipynb": "ruff", "rb": "rubocop", "rake": "rubocop", "gemspec": "rubocop", "ru": "rubocop", "erb": "erb-lint", "haml": "haml-lint", "slim": "slim-lint",
	"php": "phpstan", "cs": "csc", "vb": "vbc", "fs": "fsc", "fsx": "fsc", "csproj": "msbuild", "vbproj": "msbuild", "fsproj": "msbuild", "vcxproj": "msbuild", "sln": "msbuild", "targets": "msbuild", "props": "msbuild", "xaml": "msbuild", "razor": "csc", "cshtml": "csc",
	"hs": "ghc", "lhs": "ghc", "ml": "ocaml", "mli": "ocaml", "elm": "elm", "ex": "elixirc", "exs": "elixirc", "erl": "erlc", "hrl": "erlc", "clj": "clj-kondo", "cljs": "clj-kondo", "dart": "dart", "lua": "luacheck", "pl": "perl", "pm": "perl", "r": "lintr", "R": "lintr", "jl": "julia",
	"sh": "shellcheck", "bash": "shellcheck", "ps1": "psscriptanalyzer", "yml": "yamllint", "yaml": "yamllint", "json": "lint", "json5": "lint", "toml": "lint", "xml": "lint", "html": "lint", "htm": "lint",
	"css": "stylelint", "scss": "stylelint", "sass": "stylelint", "less": "stylelint", "md": "markdownlint", "mdx": "markdownlint", "rst": "rst-lint", "txt": "lint", "adoc": "lint", "tex": "lint", "in": "lint",
	"proto": "protoc", "graphql": "graphql", "sql": "sqlfluff", "tf": "terraform", "tfvars": "terraform", "hcl": "terraform", "pp": "puppet-lint", "cmake": "cmake", "mk": "make", "bzl": "buildifier", "bazel": "buildifier", "sol": "solc", "y": "bison", "l": "flex", "vhd": "ghdl", "sv": "verilator", "nix": "nix", "feature": "lint", "po": "lint", "cfg": "lint", "ini": "lint", "env": "dotenv-linter",
}

// sourceNames are files without an ending that linters speak of.
var sourceNames = map[string]string{
	"Dockerfile": "hadolint", "Containerfile": "hadolint", "Makefile": "make", "GNUmakefile": "make", "makefile": "make", "Gemfile": "rubocop", "Rakefile": "rubocop",
	"Podfile": "rubocop", "Fastfile": "rubocop", "Vagrantfile": "rubocop", "Guardfile": "rubocop", "Capfile": "rubocop", "Brewfile": "rubocop", "Jenkinsfile": "lint", "BUILD": "buildifier", "WORKSPACE": "buildifier", "Justfile": "lint",
}

// sourceFile reports whether f looks like the path of a source file, and the
// tool its language suggests.
func sourceFile(f string) (tool string, ok bool) {
	if f == "" || len(f) > 1024 {
		return "", false
	}
	base := f[strings.LastIndexAny(f, `/\`)+1:]
	i := strings.LastIndexByte(base, '.')
	if i < 0 {
		tool, ok = sourceNames[base]
	} else if tool, ok = sources[base[i+1:]]; !ok {
		switch {
		case strings.HasPrefix(base, "Dockerfile."):
			tool, ok = "hadolint", true
		case strings.HasPrefix(base, ".env"):
			tool, ok = "dotenv-linter", true
		}
	}
	if !ok || strings.ContainsAny(f, "\"'`<>|*=,;{}\t") {
		return "", false
	}
	if strings.IndexByte(f, ' ') >= 0 {
		// A blank stands in paths, but hardly at the start of a message's path.
		return tool, f[0] == '/' || len(f) > 2 && f[1] == ':'
	}
	if tool == "yamllint" && strings.Contains(f, ".github/workflows/") {
		tool = "actionlint"
	}
	return tool, true
}

// Compiler reports whether errors of tool keep code from building.
func Compiler(tool string) bool {
	switch tool {
	case "cc", "ld", "nvcc", "gfortran", "go", "rustc", "swiftc", "zig", "nim", "dmd", "v", "gnat", "javac", "kotlinc", "scalac", "groovyc", "gradle",
		"tsc", "mypy", "pyright", "cython", "csc", "vbc", "fsc", "msbuild", "ghc", "ocaml", "elm", "elixirc", "erlc", "dart", "perl", "protoc", "cmake", "make", "solc",
		"bison", "flex", "terraform", "flow", "sorbet", "esbuild":
		return true
	}
	return false
}
