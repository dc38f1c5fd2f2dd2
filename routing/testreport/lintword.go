package testreport

import (
	"strings"
)

// worded takes a line of a shape of its own, by its first byte.
func (c *lintConsole) worded(t, mark string) bool {
	switch t[0] {
	case '[':
		return c.levelled(t)
	case 'e', 'w':
		return c.lowerWord(t)
	case 'E', 'W', 'F', 'S', 'C', 'O', 'A', 'D', 'B', 'I':
		return c.upperWord(t)
	case 'd':
		return c.gofmtDiff(t)
	case 's':
		if strings.HasPrefix(t, "standard: Use ") && strings.Contains(t, " Standard Style") {
			c.head, c.headOf = "", "standard"
			return true
		}
	case 'v':
		if rest, ok := strings.CutPrefix(t, "vet: "); ok {
			return c.placed(rest, mark)
		}
	case 'c', '/':
		if c.linker(t) {
			return true
		}
	}
	if t[0] >= '0' && t[0] <= '9' || t[0] >= 0xe2 {
		return c.counted(t)
	}
	if strings.HasSuffix(t, "━━━━") {
		if f, _, ok := strings.Cut(t, " format ━"); ok {
			return c.file("biome", f, SevError, "is not formatted")
		}
	}
	if n := len(t); t[n-1] >= '0' && t[n-1] <= '9' {
		return c.puppet(t)
	}
	return c.brakeman(t)
}

// lowerWord takes lines of kotlinc, black, typos, scalastyle and tsc.
func (c *lintConsole) lowerWord(t string) bool {
	switch {
	case strings.HasPrefix(t, "e: "), strings.HasPrefix(t, "w: "):
		return c.kotlin(t)
	case strings.HasPrefix(t, "would reformat "):
		return c.file("black", t[len("would reformat "):], SevError, "would be reformatted")
	case strings.HasPrefix(t, "error: cannot format "):
		return c.cannotFormat(t[len("error: cannot format "):])
	case strings.HasPrefix(t, "error file="), strings.HasPrefix(t, "warning file="):
		return c.scalastyle(t)
	case strings.HasPrefix(t, "error:/") && c.count["black"] > 0:
		return c.placed(t[len("error:"):], "error")
	case strings.HasPrefix(t, "error: "):
		c.hold(Diagnostic{Severity: SevError, Message: t[len("error: "):], Tool: "lint"}, waitPlace)
		return false
	case strings.HasPrefix(t, "error TS"):
		if sev, code, msg, ok := cutSeverity(t); ok {
			c.emit(Diagnostic{Tool: "tsc", Severity: sev, Code: code, Message: msg})
			return true
		}
	}
	return false
}

// cannotFormat reads black's "f.py: Cannot parse: 1:3: x = (".
func (c *lintConsole) cannotFormat(s string) bool {
	f, why, ok := strings.Cut(s, ": ")
	if _, isFile := sourceFile(f); !ok || !isFile {
		return false
	}
	d := Diagnostic{Tool: "black", File: f, Severity: SevError, Message: "cannot format: " + why}
	if i := strings.Index(why, ": "); i > 0 && strings.HasPrefix(why, "Cannot parse") {
		n, rest, isNum := leadingInt(why[i+2:])
		if m, _, two := leadingInt(strings.TrimPrefix(rest, ":")); isNum && two {
			d.Line, d.Column = n, m
		}
	}
	c.emit(d)
	return true
}

// file takes a finding about a file as a whole.
func (c *lintConsole) file(tool, file string, sev Severity, msg string) bool {
	if _, ok := sourceFile(file); !ok {
		return false
	}
	c.emit(Diagnostic{Tool: tool, File: file, Severity: sev, Message: msg})
	return true
}

// kotlin reads "e: file:///p/X.kt:1:2 message" and "e: /p/X.kt: (1, 2): message".
func (c *lintConsole) kotlin(t string) bool {
	s := strings.TrimPrefix(t[3:], "file://")
	i := strings.Index(s, ".kt")
	if i < 0 {
		return false
	}
	d := Diagnostic{Tool: "kotlinc", Severity: SevError}
	if t[0] == 'w' {
		d.Severity = SevWarning
	}
	j := strings.IndexByte(s[i:], ':') + i
	if j < i {
		return false
	}
	d.File = s[:j]
	rest := strings.TrimLeft(s[j+1:], " (")
	var ok bool
	if d.Line, rest, ok = leadingInt(rest); !ok || rest == "" {
		return false
	}
	if d.Column, rest, ok = leadingInt(strings.TrimLeft(rest, ":, ")); !ok {
		return false
	}
	d.Message = strings.TrimLeft(rest, "): ")
	c.emit(d)
	return true
}

// scalastyle reads "error file=F message=M line=1 column=2".
func (c *lintConsole) scalastyle(t string) bool {
	sev, rest, _ := strings.Cut(t, " file=")
	file, msg, ok := strings.Cut(rest, " message=")
	if !ok {
		return false
	}
	d := Diagnostic{Tool: "scalastyle", File: file, Severity: severities[sev]}
	if i := strings.LastIndex(msg, " line="); i > 0 {
		d.Line, rest, _ = leadingInt(msg[i+6:])
		d.Column, _, _ = leadingInt(strings.TrimPrefix(rest, " column="))
		msg = msg[:i]
	}
	d.Message = msg
	c.emit(d)
	return true
}

// upperWord takes lines that begin with a capital.
func (c *lintConsole) upperWord(t string) bool {
	switch {
	case strings.HasPrefix(t, "Would reformat: "):
		return c.file("ruff", t[len("Would reformat: "):], SevError, "would be reformatted")
	case strings.HasPrefix(t, "ERROR: "):
		return c.upperError(t[len("ERROR: "):])
	case strings.HasPrefix(t, "Error: "), strings.HasPrefix(t, "Warning: "): // Terraform, TFLint; ESLint's compact form has its place first
		sev, _, msg, _ := cutSeverity(t)
		c.hold(Diagnostic{Tool: "terraform", Severity: sev, Message: msg}, waitPlace)
		return false
	case strings.HasPrefix(t, "FILE: "):
		if _, ok := sourceFile(t[6:]); ok {
			c.head, c.headOf = t[6:], "phpcs"
			return true
		}
	case strings.HasPrefix(t, "Diff in "):
		return c.rustfmt(t[len("Diff in "):])
	case strings.HasPrefix(t, "In ") && strings.HasSuffix(t, ":"):
		if f, n, ok := strings.Cut(t[3:len(t)-1], " line "); ok {
			if line, rest, isNum := leadingInt(n); isNum && rest == "" {
				c.head, c.headOf = f+":"+n, "shellcheck"
				_ = line
				return true
			}
		}
	}
	if code, msg, ok := cutCode(t); ok && t[0] != '[' && len(code) <= 7 { // ruff, in full
		c.hold(Diagnostic{Tool: "ruff", Severity: SevError, Code: code, Message: msg}, waitPlace)
		return false
	}
	return c.summary(t)
}

// upperError reads isort's and Psalm's "ERROR: …".
func (c *lintConsole) upperError(s string) bool {
	if f, ok := strings.CutSuffix(s, " Imports are incorrectly sorted and/or formatted."); ok {
		c.emit(Diagnostic{Tool: "isort", File: f, Severity: SevError, Message: "Imports are incorrectly sorted and/or formatted."})
		c.fail("isort", "isort: imports are incorrectly sorted and/or formatted", c.no)
		return true
	}
	kind, rest, ok := strings.Cut(s, " - ")
	if ok && !strings.Contains(kind, " ") {
		place, msg, found := strings.Cut(rest, " - ")
		if f, line, col, isPlace := location(place); found && isPlace && col > 0 {
			c.emit(Diagnostic{Tool: "psalm", File: f, Line: line, Column: col, Severity: SevError, Code: kind, Message: msg})
			return true
		}
	}
	if p := lintPlace(s); p.ok && p.style == '[' && p.col > 0 { // TSLint, newer
		c.emit(Diagnostic{Tool: "tslint", File: p.file, Line: p.line, Column: p.col, Severity: SevError, Message: strings.TrimPrefix(p.rest, ": ")})
		return true
	}
	return false
}

// rustfmt reads "/p/a.rs:12:" and "/p/a.rs at line 12:".
func (c *lintConsole) rustfmt(s string) bool {
	s = strings.ReplaceAll(strings.TrimSuffix(s, ":"), " at line ", ":")
	f, line, _, ok := location(s)
	if !ok || !strings.HasSuffix(f, ".rs") {
		return false
	}
	c.emit(Diagnostic{Tool: "rustfmt", File: f, Line: line, Severity: SevError, Message: "is not formatted"})
	c.fail("rustfmt", "rustfmt: files are not formatted", c.no)
	return true
}

// gofmtDiff reads "diff a.go.orig a.go", the head of what gofmt -d would change.
func (c *lintConsole) gofmtDiff(t string) bool {
	s, ok := strings.CutPrefix(t, "diff ")
	from, to, two := strings.Cut(strings.TrimPrefix(s, "-u "), " ")
	if !ok || !two || from != to+".orig" || !strings.HasSuffix(to, ".go") {
		return false
	}
	c.emit(Diagnostic{Tool: "gofmt", File: to, Severity: SevError, Message: "is not formatted"})
	c.fail("gofmt", "gofmt: files are not formatted", c.no)
	return true
}

// linker takes what a linker ends in.
func (c *lintConsole) linker(t string) bool {
	switch {
	case strings.HasPrefix(t, "collect2: error: "), strings.HasPrefix(t, "clang: error: linker command failed"), strings.HasPrefix(t, "clang++: error: linker command failed"):
		c.fail("ld", t, 0)
		return true
	case t[0] == '/':
		i := strings.Index(t, ": ")
		if i > 0 && i < 60 && strings.Contains(t[:i], "/ld") {
			if strings.HasPrefix(t[i+2:], "cannot find ") {
				c.emit(Diagnostic{Tool: "ld", Severity: SevError, Message: t[i+2:]})
				return true
			}
			return c.undefined(t[i+2:])
		}
	}
	return false
}

// puppet reads "a.pp - ERROR: message on line 7".
func (c *lintConsole) puppet(t string) bool {
	i := strings.LastIndex(t, " on line ")
	if i < 0 {
		return false
	}
	f, msg, ok := strings.Cut(t[:i], " - ")
	if !ok || !strings.HasSuffix(f, ".pp") {
		return false
	}
	d := Diagnostic{Tool: "puppet-lint", File: f}
	d.Line, _, _ = leadingInt(t[i+len(" on line "):])
	if d.Severity, _, d.Message, ok = cutSeverity(msg); ok {
		c.emit(d)
	}
	return ok
}

// brakeman reads its table of tabs or wide blanks, file, line, type, message, confidence.
func (c *lintConsole) brakeman(t string) bool {
	if !strings.HasSuffix(t, "High") && !strings.HasSuffix(t, "Medium") && !strings.HasSuffix(t, "Weak") {
		return false
	}
	f, rest, _ := strings.Cut(t, " ")
	if g, r, ok := strings.Cut(t, "\t"); ok && len(g) < len(f) {
		f, rest = g, r
	}
	if tool, ok := sourceFile(f); !ok || tool != "rubocop" && tool != "erb-lint" {
		return false
	}
	n, msg, ok := leadingInt(strings.TrimLeft(rest, " \t"))
	if !ok || !strings.HasPrefix(msg, " ") && !strings.HasPrefix(msg, "\t") {
		return false
	}
	c.emitSoft(Diagnostic{Tool: "brakeman", File: f, Line: n, Message: strings.TrimSpace(msg)})
	return true
}

// levelled takes lines behind a level in brackets: sbt, prettier, checkstyle, protolint.
func (c *lintConsole) levelled(t string) bool {
	i := strings.IndexByte(t, ']')
	if i < 4 || i+2 >= len(t) || t[i+1] != ' ' {
		return false
	}
	word, rest := t[1:i], t[i+2:]
	if word == "ant:checkstyle" {
		return c.levelled(rest)
	}
	sev, ok := severities[word]
	if !ok {
		sev, ok = capitals[word]
	}
	if !ok {
		sev, ok = severities[strings.ToLower(word)]
	}
	if !ok {
		return c.protolint(word, rest)
	}
	switch {
	case strings.HasPrefix(rest, "Code style issues ") || strings.HasPrefix(rest, "Code style issues found"):
		c.fail("prettier", rest, c.no)
		return true
	case word == "warn" && c.prettierFile(rest):
		return true
	case strings.HasPrefix(rest, "  ") && c.open != nil:
		return false
	}
	p := lintPlace(rest)
	if !p.ok {
		return c.levelledFile(sev, rest)
	}
	d := Diagnostic{Tool: p.tool, File: p.file, Line: p.line, Column: p.col, Severity: sev, Message: strings.TrimLeft(p.rest, ": ")}
	if d.Message == "" || sev == SevNote {
		return false
	}
	if d.Tool == "javac" && (strings.HasSuffix(d.Message, "]") || p.col > 0) {
		d.Tool = "checkstyle"
	}
	if _, _, m, ok := cutSeverity(d.Message); ok {
		d.Message = m
	}
	if d.Tool == "scalac" && d.Column == 0 {
		c.hold(d, waitCaret)
		return true
	}
	c.emit(d)
	return true
}

// levelledFile takes "[error] /p/a.scala: message" of sbt-scalastyle and prettier.
func (c *lintConsole) levelledFile(sev Severity, s string) bool {
	f, msg, ok := strings.Cut(s, ": ")
	tool, isFile := sourceFile(f)
	if !ok || !isFile || sev == SevNote || msg == "" {
		return false
	}
	switch tool {
	case "scalac":
		tool = "scalastyle"
	case "eslint", "tsc", "stylelint", "lint", "yamllint", "markdownlint":
		tool = "prettier"
	default:
		return false
	}
	c.emit(Diagnostic{Tool: tool, File: f, Severity: sev, Message: msg})
	return true
}

// prettierFile takes "[warn] src/a.js": a file that prettier would change.
func (c *lintConsole) prettierFile(s string) bool {
	if tool, ok := sourceFile(s); !ok || tool == "scalac" || tool == "javac" {
		return false
	}
	c.emit(Diagnostic{Tool: "prettier", File: s, Severity: SevWarning, Message: "is not formatted"})
	return true
}

// protolint reads "[a.proto:1:1] message".
func (c *lintConsole) protolint(place, msg string) bool {
	f, line, col, ok := location(place)
	if !ok || col == 0 || !strings.HasSuffix(f, ".proto") {
		return false
	}
	c.emitSoft(Diagnostic{Tool: "protolint", File: f, Line: line, Column: col, Message: msg})
	return true
}
