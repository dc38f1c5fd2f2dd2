package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// annotationsFormat reads the failing tests that the reporters for GitHub of Jest, Vitest and
// Playwright write as workflow commands: "::error file=a.test.js,line=3,title=math › adds::message".
// Where the same step names a test in another way, the annotation is left out.
var annotationsFormat = format.Format{
	Name:  "github-annotations",
	Order: 655,
	Wakes: &format.Wake{},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &annotationsConsole{out: out, lim: lim}
	},
}

type annotationsConsole struct {
	out model.Sink
	lim model.Limits
	n   int
}

func (c *annotationsConsole) Idle() bool { return true }

func (c *annotationsConsole) Line(l lines.Line) bool {
	if l.Mark != "error" || l.Props == "" || c.n >= 5*c.lim.Failing {
		return false
	}
	title, file := lines.Property(l.Props, "title"), lines.Property(l.Props, "file")
	if title == "" || !parse.IsScript(file) {
		return false
	}
	text := lines.CommandData(l.Text)
	if n, rest, ok := parse.LeadingInt(strings.TrimLeft(text, " ")); ok && n > 0 && strings.HasPrefix(rest, ") ") && strings.Contains(parse.HeadLine(rest), " › ") {
		return false // Playwright, also of flaky tests; its list of failures stands in the log as well
	}
	suite, name, ok := annotatedTest(title, file, text)
	if !ok {
		return false
	}
	c.n++
	f := failtext.NewEntry(c.lim, model.Test{Name: name, Suite: suite, File: file, At: l.No})
	f.Test.Line, _, _ = parse.LeadingInt(lines.Property(l.Props, "line"))
	f.Test.Column, _, _ = parse.LeadingInt(parse.FirstOf(lines.Property(l.Props, "col"), lines.Property(l.Props, "column")))
	jsFailure(&f.Test, text)
	if f.Test.Message == "" {
		f.Test.Message = parse.HeadLine(text)
	}
	c.out.Test(f.Test)
	return true
}

// annotatedTest reads the title of an annotation. Jest joins the names by " › ", Vitest by " > "
// behind the file, Playwright sets the project and the place before them. A title without a
// separator is a test's if the message is that of a failed one.
func annotatedTest(title, file, text string) (suite, name string, ok bool) {
	sep := " › "
	if head, _, ok := strings.Cut(title, " > "); ok && (parse.IsScript(head) || !strings.Contains(title, sep)) {
		sep = " > "
	}
	parts := strings.Split(title, sep)
	if len(parts) > 1 && strings.HasPrefix(parts[0], "[") {
		parts = parts[1:] // the project
	}
	if place, _, _, located := parse.Location(parts[0]); len(parts) > 1 && (parse.IsScript(parts[0]) || located && parse.IsScript(place)) {
		parts = parts[1:]
	} else if len(parts) == 1 && !strings.Contains(text, "\n    at ") && !strings.Contains(text, "\n ❯ ") && !strings.Contains(text, "expect(") {
		return "", "", false
	}
	last := len(parts) - 1
	name = strings.TrimRight(parts[last], " ─")
	return strings.Join(parts[:last], " > "), name, name != ""
}

func (c *annotationsConsole) End() { c.n = 0 }
