package failtext

import (
	"path"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// ExceptionMessage is "SomeError: text" as pytest gives it.
var ExceptionMessage = lazyregexp.New(`^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b(?:: |$)|^Exception: `)

var (
	pythonFrame = lazyregexp.New(`^\s*File "([^"]+)", line (\d+)`)
	csharpFrame = lazyregexp.New(` in (.+\.\w+):line (\d+)`)
	msvcPlace   = lazyregexp.New(`^\s*((?:[A-Za-z]:)?[\w./\\@+-]+\.(?:cc|cpp|cxx|c|h|hpp|m|mm))\((\d+)\)`)
	// commaPlace is "(calc.erl, line 5)" of Erlang and bats; listedFile and listedLine are Boost's.
	commaPlace = lazyregexp.New(`([\w./\\@+~-]*[\w@+-]\.\w{1,6}), line (\d+)`)
	listedFile = lazyregexp.New(`^\W*file\s*: (.+\.\w+)$`)
	listedLine = lazyregexp.New(`^\W*line\s*: (\d+)$`)
	plainPlace = lazyregexp.New(`((?:[A-Za-z]:[\\/])?[\w./\\@+~-]*[\w@+-]\.(?:py|rb|go|rs|js|jsx|ts|tsx|mjs|cjs|mts|cts|php|phpt|exs?|cs|fs|vb|cc|cpp|cxx|c|h|hpp|mm|m|swift|kt|kts|java|scala|groovy|dart|lua|pl|pm|t|hs|ml|clj|zig|nim|vue|svelte|feature|bats|sh|erl|hrl|tcl|r|R|jl|rkt|scm)):(\d+)(?::\d+)?(?:\D|$)`)
)

// frameworkFrames are the packages whose frames say nothing about the place.
var frameworkFrames = []string{
	"org.junit.", "junit.", "java.", "javax.", "jdk.", "sun.", "org.assertj.", "org.hamcrest.", "org.testng.", "org.mockito.", "org.opentest4j.",
	"kotlin.", "kotlinx.", "scala.", "org.scalatest.", "org.gradle.", "org.apache.maven.", "com.google.common.truth.", "io.kotest.", "groovy.",
	"org.codehaus.groovy.", "org.spockframework.", "worker.org.gradle.", "org.easymock.", "org.powermock.", "app//org.junit.", "java.base/", "com.intellij.rt.",
}

// frameworkPaths are parts of paths that belong to a tool, not to the tests.
var frameworkPaths = []string{
	"node_modules/", "__cypress/runner/", "node:internal", "internal/", "site-packages/", "dist-packages/", "/vendor/", "/gems/", "/lib/ruby/", "/lib/python", "lib/elixir/",
	"/usr/lib/", "/usr/local/go/", "/src/testing/", "<frozen", "/rustc/", "phpunit/phpunit", "jest-circus", "mocha/lib", "/.cargo/registry/",
	"(eunit_", "/eunit_", "ext:cli/", "ext:deno_",
}

// PlaceIn finds where a failure happened in the text of it: the first Place
// that is not the test framework's, in the class or file named if given.
func PlaceIn(text, class, file string) (string, int) {
	if !strings.ContainsAny(text, ":(") && !strings.Contains(text, ", line ") {
		return "", 0
	}
	text = bounded.CutText(text, 16<<10)
	var best, py Place
	python := strings.Contains(text, "Traceback (most recent call last)")
	for len(text) > 0 {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if len(line) > 2000 {
			line = line[:2000]
		}
		p, ok := placeInLine(line, class, best.File != "")
		if !ok {
			p, ok = listedPlace(line, text)
		}
		if !ok {
			continue
		}
		if file != "" && !SameFile(file, p.File) {
			continue
		}
		if python && p.python {
			py = p // the innermost frame stands last
			continue
		}
		if p.sure || best.File == "" {
			best = p
		}
		if p.sure && !strings.HasSuffix(p.File, ".py") { // pytest: the last of a chain of exceptions
			break
		}
	}
	if py.File != "" && !best.sure {
		best = py
	}
	return best.File, best.Line
}

type Place struct {
	File   string
	Line   int
	python bool
	sure   bool // in the class asked for, or the tool's own statement of the Place
}

// listedPlace reads "- file: a.cc" with "- line: 5" below it.
func listedPlace(line, below string) (Place, bool) {
	if !strings.Contains(line, "file") {
		return Place{}, false
	}
	f := listedFile.FindStringSubmatch(strings.TrimSpace(line))
	if f == nil {
		return Place{}, false
	}
	next, _, _ := strings.Cut(below, "\n")
	n := listedLine.FindStringSubmatch(strings.TrimSpace(next))
	if n == nil || n[1] == "0" {
		return Place{}, false
	}
	return newPlace(f[1], n[1], false), true
}

// PlaceInLine finds a place in one line, as PlaceIn does.
func PlaceInLine(line, class string) (Place, bool) { return placeInLine(line, class, false) }

// placeInLine finds a place in one line. With known it can leave out a place that is neither sure
// nor of Python.
func placeInLine(line, class string, known bool) (Place, bool) {
	// Each look for a literal spares a regexp on nearly every line.
	open := strings.IndexByte(line, '(') >= 0
	if open && strings.Contains(line, "at ") {
		if method, file, number, ok := jvmFrame(line); ok {
			for _, p := range frameworkFrames {
				if strings.HasPrefix(method, p) {
					return Place{}, false
				}
			}
			return newPlace(file, number, class != "" && strings.HasPrefix(method, class) && strings.HasPrefix(method[len(class):], ".")), true
		}
	}
	if strings.Contains(line, "File \"") {
		if m := pythonFrame.FindStringSubmatch(line); m != nil {
			if parse.HasAny(m[1], frameworkPaths...) || strings.Contains(m[1], "/unittest/") {
				return Place{}, false
			}
			p := newPlace(m[1], m[2], false)
			p.python = true
			return p, true
		}
	}
	if known && !strings.Contains(line, ".py:") {
		return Place{}, false // only pytest's own statement of the place is sure
	}
	if strings.Contains(line, ":line ") {
		if m := csharpFrame.FindStringSubmatch(line); m != nil {
			return newPlace(m[1], m[2], false), true
		}
	}
	if open {
		if m := msvcPlace.FindStringSubmatch(line); m != nil {
			return newPlace(m[1], m[2], false), true
		}
	}
	if strings.Contains(line, ", line ") && !parse.HasAny(line, frameworkPaths...) {
		if m := commaPlace.FindStringSubmatch(line); m != nil {
			return newPlace(cleanPath(m[1]), m[2], false), true
		}
	}
	if !numbered(line) || parse.HasAny(line, frameworkPaths...) {
		return Place{}, false
	}
	m := plainPlace.FindStringSubmatch(line)
	if m == nil {
		return Place{}, false
	}
	// pytest ends its text with "path.py:12: AssertionError".
	trimmed := strings.TrimSpace(line)
	sure := strings.HasSuffix(m[1], ".py") && strings.HasPrefix(trimmed, m[1]+":"+m[2]+": ") && !strings.Contains(trimmed, ": in ")
	return newPlace(cleanPath(m[1]), m[2], sure), true
}

// jvmFrame parses "at a.b.Cls.method(File.java:12)" as the regular expression
//
//	^\s*at ([\w.$/@<>-]+)\(([\w$-]+\.(?:java|kt|scala|groovy|clj)):(\d+)\)
//
// does, but faster: reports of the JVM consist mostly of such lines.
func jvmFrame(line string) (method, file, number string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t\n\f\r"), "at ")
	if !ok {
		return "", "", "", false
	}
	method, rest, ok = strings.Cut(rest, "(")
	if !ok || !allOf(method, ".$/@<>-") {
		return "", "", "", false
	}
	place, _, ok := strings.Cut(rest, ")")
	if !ok {
		return "", "", "", false
	}
	file, number, _ = strings.Cut(place, ":")
	stem, ext, _ := strings.Cut(file, ".")
	if !allOf(stem, "$-") || number == "" || strings.Trim(number, "0123456789") != "" {
		return "", "", "", false
	}
	switch ext {
	case "java", "kt", "scala", "groovy", "clj":
		return method, file, number, true
	}
	return "", "", "", false
}

// allOf reports whether s is not empty and consists of letters, digits, underscores and others.
func allOf(s, others string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return s != ""
}

// numbered reports whether a digit stands behind a colon.
func numbered(line string) bool {
	for {
		i := strings.IndexByte(line, ':')
		if i < 0 || i+1 == len(line) {
			return false
		}
		if line = line[i+1:]; line[0] >= '0' && line[0] <= '9' {
			return true
		}
	}
}

// cleanPath takes off what bundlers put before a path.
func cleanPath(p string) string {
	if i := strings.Index(p, "//"); i >= 0 && i+2 < len(p) {
		p = p[i+2:]
	}
	return strings.TrimPrefix(p, "./")
}

func newPlace(file, line string, sure bool) Place {
	n, _ := strconv.Atoi(line)
	return Place{File: file, Line: n, sure: sure}
}

// SameFile reports whether one path ends with the other, by whole parts.
func SameFile(a, b string) bool {
	a, b = path.Clean(strings.ReplaceAll(a, "\\", "/")), path.Clean(strings.ReplaceAll(b, "\\", "/"))
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || b != "." && strings.HasSuffix(a, "/"+strings.TrimPrefix(b, "/"))
}
