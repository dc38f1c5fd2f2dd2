package lint

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// commandsFormat reads the findings that linters write as workflow commands:
// "::error file=a.js,line=3,title=lint/noDebugger::message". Reporters of tests write failing tests
// in the same way; beside a test that failed the commands are left out.
var commandsFormat = format.Format{
	Name:  format.Commands,
	Order: 895,
	Wakes: &format.Wake{},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &commandsConsole{out: out, lim: lim}
	},
}

type commandsConsole struct {
	out model.Sink
	lim model.Limits
	n   int
}

func (c *commandsConsole) Idle() bool { return true }
func (c *commandsConsole) End()       {}

func (c *commandsConsole) Line(l lines.Line) bool {
	if l.Mark != "error" || l.Props == "" || c.n >= c.lim.Failing {
		return false
	}
	file, title := lines.Property(l.Props, "file"), lines.Property(l.Props, "title")
	line, _, ok := parse.LeadingInt(lines.Property(l.Props, "line"))
	if file == "" || !ok || line <= 0 {
		return false
	}
	text := strings.TrimSpace(lines.CommandData(l.Text))
	if strings.Contains(text, "\n") || strings.Contains(title, " › ") || strings.Contains(title, " > ") {
		return false // a test's, which may have passed on another attempt
	}
	d := model.Diagnostic{Tool: "lint", File: file, Line: line, Severity: model.SevError, Message: text, At: l.No}
	d.Column, _, _ = parse.LeadingInt(parse.FirstOf(lines.Property(l.Props, "col"), lines.Property(l.Props, "column")))
	if !strings.ContainsAny(title, " ") {
		d.Code = title
	}
	c.n++
	c.out.Diagnostic(d)
	return true
}
