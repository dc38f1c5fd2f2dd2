package testreport

import (
	"strings"
)

// placed takes a line that begins with a place.
func (c *lintConsole) placed(t, mark string) bool {
	p := lintPlace(t)
	if !p.ok {
		return p.style == 'u' && c.undefined(t)
	}
	d := Diagnostic{Tool: p.tool, File: p.file, Line: p.line, Column: p.col}
	switch p.style {
	case 'w': // ESLint, compact
		if sev, code, msg, ok := cutSeverity(strings.TrimPrefix(p.rest, ", ")); ok {
			d.Severity, d.Code, d.Message = sev, code, msg
			c.emit(d)
			return true
		}
		return false
	case '(':
		return c.explicit(d, strings.TrimLeft(p.rest, ": "), mark)
	case '[': // TSLint
		if msg, ok := strings.CutPrefix(p.rest, ": "); ok && p.col > 0 && (p.tool == "tsc" || p.tool == "eslint") {
			d.Tool, d.Message = "tslint", msg
			c.emitSoft(d)
			return true
		}
		return false
	}
	switch {
	case len(p.rest) < 3:
		return false
	case p.rest[0] == ':':
		s := strings.TrimLeft(p.rest[1:], " \t")
		return s != "" && (c.explicit(d, s, mark) || c.stated(d, s, mark, p))
	case p.rest[0] == ' ':
		return c.spaced(d, strings.TrimLeft(p.rest, " "), mark)
	}
	return false
}

// explicit takes a message that states its severity: "error TS1005: ';' expected."
func (c *lintConsole) explicit(d Diagnostic, s, mark string) bool {
	sev, code, msg, ok := cutSeverity(s)
	if !ok || msg == "" {
		return false
	}
	d.Severity, d.Code, d.Message = sev, code, msg
	d.Tool = explicitTool(d, s)
	if mark == "warning" {
		d.Severity = SevWarning
	}
	if d.Column == 0 && sev != SevNote && (d.Tool == "javac" || d.Tool == "scalac") {
		c.hold(d, waitCaret)
		return true
	}
	c.emit(d)
	return true
}

// explicitTool tells which tool states a severity for a file of d.Tool's kind.
func explicitTool(d Diagnostic, s string) string {
	last := ""
	if n := len(d.Message); n > 3 && (d.Message[n-1] == ']' || d.Message[n-1] == ')') {
		if i := strings.LastIndexAny(d.Message, "[("); i > 0 {
			last = d.Message[i:]
		}
	}
	switch d.Tool {
	case "flake8", "mypy":
		return "mypy"
	case "cc":
		if strings.HasPrefix(last, "[") && strings.Contains(last, "-") && !strings.HasPrefix(last, "[-W") && !strings.Contains(last, " ") {
			return "clang-tidy"
		}
	case "swiftc":
		if strings.HasPrefix(last, "(") && strings.Contains(s, " Violation: ") {
			return "swiftlint"
		}
	case "eslint":
		if strings.HasPrefix(d.Code, "TS") {
			return "tsc"
		}
	case "phpstan":
		if strings.HasPrefix(s, "error - ") {
			return "psalm"
		}
	case "go":
		if strings.HasPrefix(last, "(") && !strings.Contains(last, " ") {
			return "golangci-lint"
		}
	case "ghc":
		if strings.HasPrefix(s, "Suggestion:") || strings.HasPrefix(s, "Warning:") || strings.HasPrefix(s, "Error:") {
			return "hlint"
		}
	}
	return d.Tool
}

// stated takes a message behind "file:1:2:" that states no severity.
func (c *lintConsole) stated(d Diagnostic, s, mark string, p lintAt) bool {
	code, msg, coded := cutCode(s)
	switch {
	case d.Tool == "rubocop" && len(s) > 3 && s[1] == ':' && strings.IndexByte("CWEFRI", s[0]) >= 0 && p.two:
		d.Severity, d.Message = SevWarning, strings.TrimSpace(s[2:])
		if s[0] == 'E' || s[0] == 'F' {
			d.Severity = SevError
		}
		c.emit(d)
		return true
	case coded && (p.two || s[0] == '[' || strings.Contains(s, "[bandit]")):
		d.Code, d.Message = code, msg
		d.Tool = codeTool(d, s)
	case d.Tool == "go" && p.two:
		d.Severity, d.Message = SevError, s
		if i := strings.LastIndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") && !strings.Contains(s[i:], " ") {
			d.Tool, d.Code = "golangci-lint", s[i+1:len(s)-1]
			if isLetterCode(d.Code) {
				d.Tool = "staticcheck"
			}
		} else if strings.Contains(s, " (Rule:G") {
			d.Tool = "gosec"
		}
		c.emit(d)
		return true
	case strings.HasSuffix(s, "]") && (strings.Contains(s, " [Error/") || strings.Contains(s, " [Warning/")): // ESLint, unix
		i := strings.LastIndex(s, " [")
		word, code, _ := strings.Cut(strings.TrimSuffix(s[i+2:], "]"), "/")
		d.Severity, d.Code, d.Message = severities[strings.ToLower(word)], code, s[:i]
		c.emit(d)
		return true
	case p.two:
		d.Message = s
		d.Tool = namedTool(d.Tool, s)
	case d.Tool == "rubocop" && strings.Contains(s, ": ") && strings.Contains(s, "troessner/reek"):
		d.Tool, d.Message = "reek", s
	case d.Tool == "rubocop" && strings.Contains(s, " https://srb.help/"):
		d.Tool, d.Message, d.Severity = "sorbet", s, SevError
		c.emit(d)
		return true
	case d.Tool == "phpstan" && p.rest[1] != ' ':
		d.Message = s
	default:
		return false
	}
	if mark == "error" {
		d.Severity = SevError
		c.emit(d)
		return true
	}
	c.emitSoft(d)
	return true
}

// codeTool tells whose code d.Code is.
func codeTool(d Diagnostic, s string) string {
	switch {
	case strings.Contains(s, "[bandit]"):
		return "bandit"
	case d.Tool == "yamllint" || s[0] == '[' && d.Column == 0:
		return "ansible-lint"
	case d.Tool == "flake8" && len(d.Code) == 5 && strings.HasPrefix(s, d.Code+":"):
		return "pylint"
	case strings.HasPrefix(d.Code, "MD"):
		return "markdownlint"
	case strings.HasPrefix(d.Code, "SC"):
		return "shellcheck"
	case strings.HasPrefix(d.Code, "DL"):
		return "hadolint"
	}
	return d.Tool
}

// namedTool tells whose message without code or severity s is.
func namedTool(tool, s string) string {
	switch tool {
	case "kotlinc":
		if strings.HasSuffix(s, "]") {
			return "detekt"
		}
		return "ktlint"
	case "javac":
		return "checkstyle"
	case "tsc":
		return "eslint"
	case "protoc":
		return "buf"
	case "cc":
		return "cpplint"
	case "rustc", "scalac", "swiftc", "csc", "ghc", "groovyc", "dart", "terraform", "make", "elixirc":
		return "lint"
	}
	return tool
}

// spaced takes a message behind "file:1" or "file:1:2" and a blank.
func (c *lintConsole) spaced(d Diagnostic, s, mark string) bool {
	code, msg, coded := cutCode(s)
	switch {
	case strings.HasPrefix(s, "- "): // tsc and pyright
		if !c.explicit(d, s[2:], mark) {
			return false
		}
		return true
	case len(s) > 4 && (strings.HasPrefix(s, "[W] ") || strings.HasPrefix(s, "[E] ")):
		d.Message, d.Severity = s[4:], SevWarning
		if s[1] == 'E' {
			d.Severity = SevError
		}
		c.emit(d)
		return true
	case coded && d.Tool == "hadolint", coded && d.Tool == "markdownlint":
		d.Code, d.Message = code, msg
		if sev, _, m, ok := cutSeverity(msg); ok {
			d.Severity, d.Message = sev, m
			c.emit(d)
			return true
		}
	case d.Tool == "markdownlint" && strings.HasPrefix(s, "error MD"):
		d.Code, d.Message, _ = cutCode(s[6:])
		d.Severity = SevError
		c.emit(d)
		return true
	case d.Tool == "dotenv-linter":
		d.Message = s
	case d.Tool == "rubocop" && strings.Contains(s, " is slower than "):
		d.Tool, d.Message = "fasterer", s
	case d.Tool == "flake8" && strings.HasSuffix(s, ":") && (s == "at module level:" || strings.HasPrefix(s, "in p") && strings.HasSuffix(s, "`:")):
		d.Tool = "pydocstyle"
		c.hold(d, waitText)
		return true
	case strings.HasPrefix(s, "lint/") && strings.Contains(s, "━"):
		rule, _, _ := strings.Cut(s, " ")
		d.Tool, d.Code, d.Severity = "biome", rule, SevError
		c.hold(d, waitText)
		return true
	default:
		return false
	}
	c.emitSoft(d)
	return true
}

// undefined takes the linker's "a.c:(.text+0x5): undefined reference to `f'".
func (c *lintConsole) undefined(t string) bool {
	i := strings.Index(t, ": undefined reference to ")
	if i < 0 {
		return false
	}
	file, at, _ := strings.Cut(t[:i], ":(")
	d := Diagnostic{Tool: "ld", File: file, Severity: SevError, Message: t[i+2:]}
	if _, err := sourceFile(file); !err && !strings.HasSuffix(file, ".o") || !strings.HasSuffix(at, ")") {
		return false
	}
	c.emit(d)
	return true
}

// severities are the words by which tools name a severity.
var severities = map[string]Severity{
	"error": SevError, "fatal": SevError, "err": SevError,
	"warning": SevWarning, "warn": SevWarning, "style": SevWarning, "convention": SevWarning, "refactor": SevWarning, "performance": SevWarning, "portability": SevWarning,
	"note": SevNote, "info": SevNote, "information": SevNote, "hint": SevNote, "suggestion": SevNote, "remark": SevNote, "ignore": SevNote, "help": SevNote,
}

// capitals are severities as Maven and loggers write them.
var capitals = map[string]Severity{"INFO": SevNote, "WARN": SevWarning, "WARNING": SevWarning, "ERROR": SevError}

// cutSeverity reads a severity and a code before a message: "error: m",
// "fatal error C1083: m", "[warning] m", "Error - m", "error[E0308]: m".
func cutSeverity(s string) (sev Severity, code, msg string, ok bool) {
	if strings.HasPrefix(s, "[") {
		i := strings.IndexByte(s, ']')
		if i < 4 || i > 12 || i+2 > len(s) {
			return "", "", "", false
		}
		sev, ok = severities[strings.ToLower(s[1:i])]
		return sev, "", strings.TrimSpace(s[i+1:]), ok
	}
	low := strings.HasPrefix(s, "fatal error") || strings.HasPrefix(s, "Fatal error")
	if low {
		s = s[len("fatal "):]
	}
	n := 0
	for n < len(s) && n < 12 && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	if n < 3 || n+1 >= len(s) {
		return "", "", "", false
	}
	if sev, ok = severities[strings.ToLower(s[:n])]; !ok {
		return "", "", "", false
	}
	rest := s[n:]
	switch {
	case rest[0] == ':':
		return sev, "", strings.TrimSpace(rest[1:]), true
	case strings.HasPrefix(rest, " - "):
		return sev, "", strings.TrimSpace(rest[3:]), true
	case rest[0] == '[':
		if i := strings.Index(rest, "]:"); i > 1 && i < 40 {
			return sev, rest[1:i], strings.TrimSpace(rest[i+2:]), true
		}
	case rest[0] == ' ':
		code, msg, found := strings.Cut(rest[1:], ":")
		code = strings.TrimSpace(code)
		if found && isLetterCode(code) {
			return sev, code, strings.TrimSpace(msg), true
		}
	}
	return "", "", "", false
}

// isLetterCode reports whether s is like TS2345, C2065, SA4000, E0308: one to
// six capitals, two to six digits.
func isLetterCode(s string) bool {
	n := 0
	for n < len(s) && s[n] >= 'A' && s[n] <= 'Z' {
		n++
	}
	d := n
	for d < len(s) && s[d] >= '0' && s[d] <= '9' {
		d++
	}
	return n >= 1 && n <= 6 && d-n >= 2 && d-n <= 6 && d == len(s)
}

// cutCode reads a code before a message: "F401 m", "C0114: m", "[E201] m",
// "MD013/line-length m", "B404[bandit]: LOW: m".
func cutCode(s string) (code, msg string, ok bool) {
	t := strings.TrimPrefix(s, "[")
	n := 0
	for n < len(t) && n < 13 && (t[n] >= 'A' && t[n] <= 'Z' || t[n] >= '0' && t[n] <= '9') {
		n++
	}
	if n < 3 || n >= len(t) || !isLetterCode(t[:n]) {
		return "", "", false
	}
	code, rest := t[:n], t[n:]
	if len(t) < len(s) {
		if rest[0] != ']' {
			return "", "", false
		}
		rest = rest[1:]
	}
	switch {
	case strings.HasPrefix(rest, "[bandit]: "):
		rest = rest[len("[bandit]: "):]
	case rest != "" && rest[0] == '/':
		_, rest, _ = strings.Cut(rest, " ")
	case rest == "" || rest[0] != ' ' && rest[0] != ':':
		return "", "", false
	}
	msg = strings.TrimPrefix(strings.TrimLeft(rest, ": "), "[*] ")
	return code, msg, msg != ""
}
