package golang

import (
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// goBuild is one block of compiler, vet or loader messages about one package:
// "# package" and what stands below it.
type goBuild struct {
	pkg     string // the package tested
	of      string // the package compiled, e.g. a dependency
	at      int
	text    bounded.Text
	diag    *model.Diagnostic // still open: indented lines below belong to it
	first   model.Diagnostic  // the first error
	errors  int
	checked bool // taken by a package's end
}

var (
	goBuildHead = lazyregexp.New(`^# ([\w.~@+!/-]+)(?: \[([\w.~@+!/-]+)\])?$`)
	goVetHead   = lazyregexp.New(`^# \[([\w.~@+!/ -]+)\]$`)
	goDiag      = lazyregexp.New(`^(vet: )?((?:[A-Za-z]:)?[^\s:]+\.(?:go|s|c|h|cc|cpp|cxx|m|y|mod|work)):(\d+)(?::(\d+))?: (.+)$`)
	linkerError = lazyregexp.New(`(?i)undefined reference|: error: |^error: |signal: killed|cannot find -l|relocation target .* not defined|import cycle not allowed|build constraints exclude`)
)

// newGoBuild begins a block if line is the head of one.
func newGoBuild(line string, at int, lim model.Limits) *goBuild {
	if len(line) < 3 || line[0] != '#' || line[1] != ' ' {
		return nil
	}
	m := goBuildHead.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	b := &goBuild{of: m[1], pkg: m[1], at: at}
	if m[2] != "" {
		b.pkg = strings.TrimSuffix(m[2], ".test")
	}
	b.text.Max = lim.Text / 2
	b.text.AddLine(line)
	return b
}

// line takes a line below the head and reports whether it belongs to the block.
func (b *goBuild) line(line string, at int, out model.Sink) bool {
	if goVetHead.MatchString(line) {
		b.text.AddLine(line)
		return true
	}
	if m := goDiag.FindStringSubmatch(line); m != nil {
		b.close(out)
		d := &model.Diagnostic{Tool: "go", File: strings.TrimPrefix(m[2], "./"), Severity: model.SevError, Message: m[5], At: at}
		d.Line, _ = strconv.Atoi(m[3])
		d.Column, _ = strconv.Atoi(m[4])
		switch low := strings.ToLower(m[5]); {
		case strings.HasPrefix(low, "warning:"):
			d.Severity, d.Message = model.SevWarning, strings.TrimSpace(m[5][8:])
		case strings.HasPrefix(low, "note:"):
			d.Severity, d.Message = model.SevNote, strings.TrimSpace(m[5][5:])
		}
		b.diag = d
		b.text.AddLine(line)
		return true
	}
	if strings.HasPrefix(line, "\t") && b.diag != nil || strings.TrimSpace(line) == "too many errors" {
		if b.diag != nil && len(b.diag.Message) < 4<<10 {
			b.diag.Message += "\n" + strings.TrimSpace(line)
		}
		b.text.AddLine(line)
		return true
	}
	return false
}

// other takes a line that stands in the block for certain (JSON says so) but
// is no diagnostic.
func (b *goBuild) other(line string) {
	b.text.AddLine(line)
	if linkerError.MatchString(line) || b.errors == 0 && b.first.Message == "" && strings.Contains(line, ": ") {
		b.errors++
		if b.first.Message == "" {
			b.first.Message = line
		}
	}
}

// close hands on the open diagnostic.
func (b *goBuild) close(out model.Sink) {
	if b.diag == nil {
		return
	}
	if b.diag.Severity == model.SevError {
		b.errors++
		if b.first.File == "" {
			b.first = *b.diag
		}
	}
	out.Diagnostic(*b.diag)
	b.diag = nil
}

// problem returns the failure of the build for the package named.
func (b *goBuild) problem(pkg string, kind model.Kind) model.Problem {
	trace := strings.TrimSpace(b.text.String())
	p := model.Problem{Kind: kind, Name: pkg, File: b.first.File, Line: b.first.Line, Column: b.first.Column, Message: b.first.Message, Trace: trace, At: b.at}
	if b.first.At > 0 {
		p.At = b.first.At
	}
	if p.Message == "" {
		p.Message = parse.FirstOf(failtext.LastWords(strings.TrimPrefix(trace, "# ")), "the package does not build")
	}
	return p
}
