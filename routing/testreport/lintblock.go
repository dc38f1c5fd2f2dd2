package testreport

import (
	"strings"
)

// maybeHead notes a line that may head findings of the lines below it.
func (c *lintConsole) maybeHead(t string) {
	if t[0] == '-' && strings.HasPrefix(t, "----") || t[0] == '|' || t[0] == '+' || c.headOf == "phpcs" || c.headOf == "shellcheck" {
		return
	}
	c.head = ""
	if c.headOf != "standard" {
		c.headOf = ""
	}
}

// indented takes a line that begins with white space.
func (c *lintConsole) indented(t, mark string) bool {
	s := strings.TrimLeft(t, " \t")
	if len(s) < 4 {
		return false
	}
	switch b := s[0]; {
	case b >= '0' && b <= '9':
		return c.listed(s)
	case b == '^' || c.headOf == "shellcheck" && (b == '`'):
		return c.headOf == "shellcheck" && c.shellcheck(s)
	case b == 'L' && strings.HasPrefix(s, "Line ") && strings.HasPrefix(c.before, " ---"):
		if f := strings.TrimSpace(s[5:]); f != "" {
			if tool, ok := sourceFile(f); ok && tool == "phpstan" {
				c.head, c.headOf = f, "phpstan"
				return true
			}
		}
		return false
	case (b == 'e' || b == 'w' || b == 'i') && c.dart(s):
		return true
	}
	p := lintPlace(s)
	if !p.ok || p.style != ':' {
		return p.ok && p.style == '(' && c.explicit(Diagnostic{Tool: p.tool, File: p.file, Line: p.line, Column: p.col}, strings.TrimLeft(p.rest, ": "), mark)
	}
	d := Diagnostic{Tool: p.tool, File: p.file, Line: p.line, Column: p.col}
	rest := strings.TrimLeft(p.rest, ": ")
	switch {
	case rest == "":
		return false
	case strings.HasPrefix(p.rest, " - ") && p.col > 0:
		d.Tool = strings.Replace(d.Tool, "flake8", "pyright", 1)
		if sev, code, msg, ok := cutSeverity(rest[2:]); ok {
			d.Severity, d.Code, d.Message = sev, code, msg
			c.emit(d)
			return true
		}
	case c.headOf == "standard" && p.col > 0:
		d.Tool, d.Message, d.Severity = "standard", rest, SevError
		c.emit(d)
		c.fail("standard", "standard found problems", 0)
		return true
	case p.tool == "luacheck" && p.col > 0 && p.rest[0] == ':', strings.Contains(rest, "troessner/reek"):
		return c.stated(d, rest, mark, p)
	case p.col > 0:
		return c.explicit(d, rest, mark)
	}
	return false
}

// listed takes a line of a list below the name of a file.
func (c *lintConsole) listed(s string) bool {
	line, rest, _ := leadingInt(s)
	switch {
	case strings.HasPrefix(rest, ":"):
		col, rest, ok := leadingInt(rest[1:])
		if !ok || !strings.HasPrefix(rest, " ") {
			return false
		}
		return c.stylish(line, col, strings.TrimSpace(rest))
	case strings.HasPrefix(rest, " Error(s)"):
		if line > 0 && c.count["msbuild"]+c.count["csc"]+c.count["fsc"]+c.count["vbc"]+c.count["cc"] > 0 {
			c.failFirst(s, "msbuild", "csc", "fsc", "vbc", "cc")
			return true
		}
	case c.headOf == "phpcs" && strings.HasPrefix(rest, " | "):
		sev, msg, ok := strings.Cut(rest[3:], "|")
		if grave, known := severities[strings.ToLower(strings.TrimSpace(sev))]; ok && known {
			msg = strings.TrimSpace(msg)
			if len(msg) > 4 && msg[0] == '[' && msg[2] == ']' {
				msg = msg[4:]
			}
			c.hold(Diagnostic{Tool: "phpcs", File: c.head, Line: line, Severity: grave, Message: msg}, waitMore)
			return true
		}
	case c.headOf == "phpstan" && strings.HasPrefix(rest, "  "):
		c.emit(Diagnostic{Tool: "phpstan", File: c.head, Line: line, Severity: SevError, Message: strings.TrimSpace(rest)})
		return true
	}
	return false
}

// stylish takes "error  message  rule" at a place in the file of the head line.
func (c *lintConsole) stylish(line, col int, s string) bool {
	word, msg, ok := strings.Cut(s, " ")
	sev := severities[word]
	if sign, known := signs[word]; known {
		sev = sign
	}
	if !ok || sev == "" {
		return false
	}
	if c.head == "" {
		tool, isFile := sourceFile(strings.TrimSpace(c.before))
		if !isFile {
			return false
		}
		c.head, c.headOf = strings.TrimSpace(c.before), stylishTool(tool, msg)
	}
	d := Diagnostic{Tool: c.headOf, File: c.head, Line: line, Column: col, Severity: sev, Message: strings.TrimSpace(msg)}
	if i := strings.LastIndex(d.Message, "  "); i > 0 && !strings.Contains(d.Message[i+2:], " ") {
		d.Code, d.Message = strings.Trim(d.Message[i+2:], "()"), strings.TrimSpace(d.Message[:i])
	}
	c.emit(d)
	return true
}

// signs are what tools draw for a severity.
var signs = map[string]Severity{"✖": SevError, "×": SevError, "✘": SevError, "⚠": SevWarning, "‼": SevWarning, "!": SevWarning, "ℹ": SevNote, "i": SevNote}

func stylishTool(tool, msg string) string {
	switch tool {
	case "yamllint", "actionlint":
		return "yamllint"
	case "stylelint":
		return tool
	case "markdownlint":
		if strings.Contains(msg, "remark") {
			return "remark-lint"
		}
		return tool
	}
	return "eslint"
}

// shellcheck reads "^-- SC2086 (info): message" below "In a.sh line 3:".
func (c *lintConsole) shellcheck(s string) bool {
	i := strings.Index(s, "SC")
	if i < 0 || i > 200 {
		return false
	}
	code, rest, ok := strings.Cut(s[i:], " ")
	f, line, _, isPlace := location(c.head)
	if !ok || !isLetterCode(strings.TrimSuffix(code, ":")) || !isPlace {
		return false
	}
	d := Diagnostic{Tool: "shellcheck", File: f, Line: line, Code: strings.TrimSuffix(code, ":"), Severity: SevError, Message: rest}
	if word, msg, ok := strings.Cut(strings.TrimPrefix(rest, "("), "): "); ok {
		d.Message = msg
		if sev, known := severities[word]; known {
			d.Severity = sev
		}
	}
	c.emit(d)
	c.fail("shellcheck", "shellcheck found problems", 0)
	return true
}

// dart reads "error • message • lib/a.dart:1:2 • code" and its form with hyphens.
func (c *lintConsole) dart(s string) bool {
	sep := " • "
	word, rest, ok := strings.Cut(s, sep)
	if !ok {
		sep = " - "
		if word, rest, ok = strings.Cut(s, sep); !ok {
			return false
		}
	}
	sev, known := severities[word]
	if !known {
		return false
	}
	parts := strings.Split(rest, sep)
	for i, p := range parts {
		f, line, col, isPlace := location(p)
		if !isPlace || col == 0 || !strings.HasSuffix(f, ".dart") || len(parts) < 2 {
			continue
		}
		d := Diagnostic{Tool: "dart", File: f, Line: line, Column: col, Severity: sev, Code: parts[len(parts)-1]}
		d.Message = parts[0]
		if i == 0 {
			d.Message = parts[1]
		}
		c.emit(d)
		return true
	}
	return false
}
