// Package labelled reads recorded logs whose truth is known: the sets of fixtures beside this
// checkout, and the corpus in it. It says what of a prediction is right.
package labelled

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// Log is one recorded log.
type Log struct {
	Set, File string
	Path      string
	Truth     Truth

	text        func() ([]byte, error) // nil: the file at Path
	LoneReturns bool                   // a lone carriage return ends a line too, in the numbers of Truth
}

// Truth is what is known of a log; what is nil or "" is not.
type Truth struct {
	Class    routing.Class
	ClassAlt []routing.Class // also right

	FailingTests  []string // full names
	NamesComplete bool     // no test but those of FailingTests failed

	lines lineTruth
}

// lineTruth are the lines that state why the run failed.
type lineTruth struct {
	ranges [][2]int
	texts  []string
	pieces []string // parts of lines
	known  bool
}

// HasLines reports whether the lines are known that state why the run failed.
func (t Truth) HasLines() bool { return t.lines.known }

// Line reports whether a line of the log, by its number or text, states why the run failed.
func (t Truth) Line(no int, text string) bool {
	for _, r := range t.lines.ranges {
		if r[0] <= no && no <= r[1] {
			return true
		}
	}
	if t.lines.holdsPiece(text) {
		return true
	}
	text = normLine(text)
	if len(text) <= 8 {
		return false
	}
	for _, q := range t.lines.texts {
		if head(text, 120) == head(q, 120) || len(text) > 20 && (strings.Contains(q, head(text, 200)) || strings.Contains(text, head(q, 200))) {
			return true
		}
	}
	return false
}

func head(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

// ClassIs reports whether class is what the log's truth says, and whether it is at least allowed.
func (t Truth) ClassIs(class routing.Class) (strict, lenient bool) {
	strict = class == t.Class
	return strict, strict || slices.Contains(t.ClassAlt, class)
}

var (
	ansi   = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`)
	stamp  = regexp.MustCompile(`^(\S+\t[^\t]*\t)?\d{4}-\d\d-\d\dT[\d:.]+Z `)
	blanks = regexp.MustCompile(`\s+`)
)

func normLine(s string) string {
	return strings.TrimSpace(blanks.ReplaceAllString(ansi.ReplaceAllString(stamp.ReplaceAllString(s, ""), ""), " "))
}

type manifest struct {
	ScoreWith string `json:"score_with"`
	Files     []struct {
		File      string
		Numbering string `json:"line_numbering"`
		Expect    expect
	}
}

type expect struct {
	Class       routing.Class
	ClassAlt    []routing.Class `json:"class_alt"`
	Failing     []string        `json:"failing_tests"`
	Complete    *bool           `json:"failing_tests_complete"`
	Ranges      [][2]int        `json:"error_line_ranges"`
	MoreRanges  [][2]int        `json:"error_line_ranges_annotator2"`
	ErrorLine   int             `json:"error_line"`
	ErrorLines  []numberedLine  `json:"error_lines"`
	ErrorText   []string        `json:"error_text"`
	ErrorSample []string        `json:"error_text_sample"`
}

type numberedLine struct {
	Line int
	Text string
}

// Fixtures returns the logs of the sets below root, set by set. Sets of reports are left out.
func Fixtures(root string) ([]Log, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var out []Log
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		var m manifest
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		if m.ScoreWith != "" {
			continue
		}
		dir := filepath.Dir(p)
		for _, f := range m.Files {
			out = append(out, Log{Set: filepath.Base(dir), File: f.File, Path: filepath.Join(dir, f.File), Truth: f.Expect.truth(), LoneReturns: strings.Contains(f.Numbering, `\r`)})
		}
	}
	return out, nil
}

func (e expect) truth() Truth {
	t := Truth{Class: e.Class, ClassAlt: e.ClassAlt, FailingTests: e.Failing, NamesComplete: e.Complete == nil || *e.Complete}
	l := &t.lines
	switch {
	case e.Ranges != nil:
		l.ranges = append(slices.Clone(e.Ranges), e.MoreRanges...)
	case e.ErrorLine > 0:
		l.ranges = [][2]int{{e.ErrorLine, e.ErrorLine}}
	case e.ErrorLines != nil:
		for _, x := range e.ErrorLines {
			l.ranges = append(l.ranges, [2]int{x.Line, x.Line})
		}
	}
	texts := e.ErrorText
	if texts == nil {
		texts = e.ErrorSample
	}
	if texts == nil {
		for _, x := range e.ErrorLines {
			texts = append(texts, x.Text)
		}
	}
	for _, s := range texts {
		if n := normLine(s); len(n) > 8 {
			l.texts = append(l.texts, n)
		}
	}
	l.known = len(l.ranges) > 0 || len(l.texts) > 0
	return t
}

// Open returns the text of the log.
func (l Log) Open() (io.ReadCloser, error) {
	if l.text != nil {
		return openText(l.text)
	}
	f, err := os.Open(l.Path)
	if err != nil || !strings.HasSuffix(l.Path, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// Numbers returns a function that changes the number of a line, as this project counts lines, to
// that of the log's truth, for which a lone carriage return can end a line too.
func (l Log) Numbers() (func(int) int, error) {
	if !l.LoneReturns {
		return func(n int) int { return n }, nil
	}
	r, err := l.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	added := []int{0} // lone carriage returns before the end of line n
	n := 0
	for line := range bytes.Lines(data) {
		n += bytes.Count(line, []byte("\r"))
		added = append(added, n)
	}
	return func(n int) int {
		if n > 0 && n < len(added) {
			return n + added[n]
		}
		return n
	}, nil
}
