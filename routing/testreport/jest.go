package testreport

import "strings"

// jestFormat reads the default and the verbose reporter of Jest, also behind
// the prefixes of docker compose, Maven, lerna, nx and turbo.
var jestFormat = format{
	name:  "jest",
	order: 380,
	wakes: &wake{flush: "PFTJN\xe2", indent: "PFL\xe2", prefix: true},
	console: func(out Sink, lim Limits) console {
		anon := newAnonymous()
		return &prefixed{starts: startsJest, open: func() console { return newJestRun(out, lim, anon) }}
	},
}

// vitestFormat reads the default and the verbose reporter of Vitest.
var vitestFormat = format{
	name:  "vitest",
	order: 390,
	wakes: &wake{indent: "RD", prefix: true},
	console: func(out Sink, lim Limits) console {
		anon := newAnonymous()
		return &prefixed{starts: startsVitest, open: func() console { return newVitestRun(out, lim, anon) }}
	},
}

// prefixed runs one reader per prefix: tools that run several processes put
// "name: ", "name | " or "[INFO] " before each line of theirs, and mix them.
type prefixed struct {
	starts func(text string) bool
	open   func() console
	runs   []prefixedRun
}

type prefixedRun struct {
	prefix string
	run    console
}

const maxPrefixes = 64

func (p *prefixed) idle() bool { return len(p.runs) == 0 }

func (p *prefixed) line(l Line) bool {
	if stepOver(l) {
		p.end()
		return false
	}
	if l.Mark != "" && l.Mark != "error" {
		return false
	}
	if p.starts(l.Text) {
		return p.run("").line(l)
	}
	if len(p.runs) == 1 && p.runs[0].prefix == "" && strings.HasPrefix(l.Text, "  ") {
		return p.runs[0].run.line(l) // has no prefix
	}
	for i := range p.runs {
		r := &p.runs[i]
		if r.prefix == "" {
			continue
		}
		if text, ok := cutPrefixed(l.Text, r.prefix); ok {
			l.Text = text
			return r.run.line(l)
		}
	}
	if prefix := outputPrefix(l.Text); prefix != "" && len(p.runs) < maxPrefixes && p.starts(l.Text[len(prefix):]) {
		l.Text = l.Text[len(prefix):]
		return p.run(prefix).line(l)
	}
	for _, r := range p.runs {
		if r.prefix == "" {
			return r.run.line(l)
		}
	}
	return false
}

// cutPrefixed cuts prefix off; of an empty line its last blank may be missing.
func cutPrefixed(text, prefix string) (string, bool) {
	if rest, ok := strings.CutPrefix(text, prefix); ok {
		return rest, true
	}
	return "", text != "" && text == strings.TrimRight(prefix, " ")
}

func (p *prefixed) run(prefix string) console {
	for _, r := range p.runs {
		if r.prefix == prefix {
			return r.run
		}
	}
	p.runs = append(p.runs, prefixedRun{strings.Clone(prefix), p.open()})
	return p.runs[len(p.runs)-1].run
}

func (p *prefixed) end() {
	for _, r := range p.runs {
		r.run.end()
	}
	p.runs = nil
}

// outputPrefix returns what may be a tool's prefix of a line: "pkg:test: ",
// "@scope/pkg: ", "web_1  | ", "[INFO] ".
func outputPrefix(t string) string {
	if len(t) > 1 && t[0] == ' ' && t[1] == ' ' {
		return "" // inlined, for the many lines that are
	}
	return findPrefix(t)
}

func findPrefix(t string) string {
	t = t[:min(len(t), 81)]
	// What decides are the blanks and the bytes before them.
	for j := 1; j < len(t); j++ {
		n := strings.IndexByte(t[j:], ' ')
		if n < 0 {
			return ""
		}
		j += n
		if j > 1 {
			switch c := t[j-1]; {
			case c == ':', c == '|', c == ']' && t[0] == '[':
				return t[:j+1]
			}
		}
		if j+1 >= len(t) || t[0] == ' ' || t[j+1] != ' ' && t[j+1] != '|' {
			return ""
		}
	}
	return ""
}

// startsJest recognises the lines that only Jest prints.
func startsJest(t string) bool {
	if len(t) < 8 {
		return false
	}
	switch t[0] {
	case 'P', 'F':
		_, _, ok := jestFile(t)
		return ok
	case ' ':
		switch t[1] {
		case 'P', 'F':
			_, _, ok := jestFile(t)
			return ok
		case 'L':
			return strings.HasPrefix(t, jestRetries)
		case ' ':
			return strings.HasPrefix(t, jestExit)
		}
		return false
	case 'T':
		return isJestSuites(t)
	case 'J':
		return strings.HasPrefix(t, `Jest: "`) && strings.Contains(t, `" coverage threshold for `)
	case 'N':
		return strings.HasPrefix(t, "No tests found, exiting with code 1")
	}
	return strings.HasPrefix(t, "● Validation Error:")
}

// isJestSuites recognises "Test Suites: 1 failed, 1 total".
func isJestSuites(t string) bool {
	return strings.HasPrefix(t, "Test Suites: ") && strings.HasSuffix(strings.TrimRight(t, " "), " total")
}

// jestFile reads "PASS src/a.test.js (5.3 s)", " FAIL   project  src/a.test.js".
func jestFile(t string) (status, file string, ok bool) {
	t = strings.TrimPrefix(t, " ")
	if len(t) < 8 || t[0] != 'P' && t[0] != 'F' {
		return "", "", false
	}
	t = trimSpaces(t)
	if len(t) < 8 || len(t) > 1<<12 || t[4] != ' ' {
		return "", "", false
	}
	status, rest := t[:4], strings.TrimLeft(t[4:], " ")
	if status != "PASS" && status != "FAIL" {
		return "", "", false
	}
	if strings.HasSuffix(rest, ")") {
		if i := strings.LastIndex(rest, " ("); i > 0 {
			inside := rest[i+2 : len(rest)-1]
			if _, _, isNum := leadingInt(inside); !isNum {
				return "", "", false
			}
			rest = rest[:i]
			// "(5.3 s, 120 MB heap size)" or "(5.3 s) (120 MB heap size)"
			if strings.HasSuffix(rest, ")") {
				if i := strings.LastIndex(rest, " ("); i > 0 {
					rest = rest[:i]
				}
			}
		}
	}
	if i := strings.LastIndexByte(rest, ' '); i >= 0 { // a project's name
		if strings.ContainsAny(rest[:i], ">[]:") {
			return "", "", false
		}
		rest = rest[i+1:]
	}
	if !isScript(rest) {
		return "", "", false
	}
	return status, rest, true
}

// isScript reports whether a path ends as the source of a JavaScript test.
func isScript(file string) bool {
	i := strings.LastIndexByte(file, '.')
	if i <= 0 {
		return false
	}
	switch file[i+1:] {
	case "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "es6", "coffee":
		return true
	}
	return false
}

// jsFrame reads a stack frame: "at f (src/a.js:12:5)", "at src/a.js:12:5",
// "❯ src/a.ts:12:5", "❯ f src/a.ts:12:5".
func jsFrame(t string) (file string, line, col int, ok bool) {
	t = strings.TrimSpace(t)
	rest, found := strings.CutPrefix(t, "at ")
	if !found {
		if rest, found = strings.CutPrefix(t, "❯ "); !found {
			return "", 0, 0, false
		}
	}
	if strings.HasSuffix(rest, ")") {
		i := strings.LastIndexByte(rest, '(')
		if i < 0 {
			return "", 0, 0, false
		}
		rest = rest[i+1 : len(rest)-1]
	} else if i := strings.LastIndexByte(rest, ' '); i >= 0 {
		rest = rest[i+1:]
	}
	file, line, col, ok = location(strings.TrimPrefix(rest, "file://"))
	return file, line, col, ok && col > 0
}

// jsError returns the type an error's first line starts with, "" if none.
func jsError(msg string) string {
	head := headLine(msg)
	i := strings.IndexByte(head, ':')
	if i <= 0 || i > 80 {
		return ""
	}
	name, _, _ := strings.Cut(head[:i], " [") // "AssertionError [ERR_ASSERTION]"
	if strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception") {
		if !strings.ContainsAny(name, " /") {
			return name
		}
	}
	return ""
}
