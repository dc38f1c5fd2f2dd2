package worker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// files are what is kept of a port below one folder, and what its workers are
// told by. They are written anew for each turn, so that nothing hangs on what a
// worker does to them.
type files struct{ dir string }

func (f files) path(name string) string { return filepath.Join(f.dir, name) }

// write replaces a file, whatever a worker has put in its place: what is written
// into a pipe or a link waits forever, or goes elsewhere.
func (f files) write(name string, data []byte) error {
	if err := f.make(); err != nil {
		return err
	}
	t, err := os.CreateTemp(f.dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = t.Write(data)
	err = errors.Join(err, t.Chmod(0o644), t.Close())
	if err == nil {
		if err = os.Rename(t.Name(), f.path(name)); err != nil { // a folder is in its place
			err = errors.Join(os.RemoveAll(f.path(name)), os.Rename(t.Name(), f.path(name)))
		}
	}
	if err != nil {
		_ = os.Remove(t.Name()) // why it was not written is said
	}
	return err
}

// make makes the folder again, also where a worker left something else.
func (f files) make() error {
	if info, err := os.Stat(f.dir); err != nil || !info.IsDir() {
		_ = os.Remove(f.dir) // what is not there need not be removed
	}
	return os.MkdirAll(f.dir, 0o755)
}

// openFile opens a file that a worker wrote. What is none, such as a pipe, is
// refused: to read it might never end.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		kind := "something else"
		switch m := info.Mode(); {
		case m.IsDir():
			kind = "a folder"
		case m&fs.ModeNamedPipe != 0:
			kind = "a pipe"
		case m&fs.ModeDevice != 0:
			kind = "a device"
		}
		err = fmt.Errorf("%s is %s, not a file", filepath.Base(path), kind)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// turnFiles are the files of one worker in one turn.
type turnFiles struct{ brief, feedback, feedbackJSON, result, tokens, reports, said string }

// prepare writes the files of a worker's turn, and removes what an earlier
// process left in their place.
func (f files) prepare(spec plan.Spec, l plan.Loop, role plan.Role, result []byte, feedback string, feedbackJSON []byte) (turnFiles, error) {
	turn := strconv.Itoa(l.Attempt)
	t := turnFiles{brief: f.path("brief.md"), tokens: f.path("tokens-" + string(role) + "-" + turn)}
	errs := []error{f.write("brief.md", []byte(spec.Brief+"\n")), remove(t.tokens)}
	if feedback != "" {
		t.feedback, t.feedbackJSON = f.path("feedback.md"), f.path("feedback.json")
		errs = append(errs, f.write("feedback.md", []byte(feedback)), f.write("feedback.json", feedbackJSON))
	} else {
		errs = append(errs, remove(f.path("feedback.md")), remove(f.path("feedback.json")))
	}
	if role == plan.Test {
		t.reports, t.said, t.result = f.path("reports-"+turn), f.path("said-"+turn+".json"), f.path("result-"+turn+".json")
		if len(result) == 0 {
			result = []byte("{}")
		}
		errs = append(errs, os.RemoveAll(t.reports), os.MkdirAll(t.reports, 0o755), remove(t.said), f.write(filepath.Base(t.result), result))
	}
	return t, errors.Join(errs...)
}

func remove(path string) error {
	if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func sorted(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// mostSaid bounds what a testing worker may say in its own words, in bytes.
const mostSaid = 1 << 20

// said returns the feedback that the testing worker wrote itself, nil if none.
func said(path string) (*plan.TestFeedback, error) {
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return saidIn(f)
}

// saidIn reads feedback in the testing worker's own words, nil if it is empty.
func saidIn(r io.Reader) (*plan.TestFeedback, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostSaid+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > mostSaid:
		return nil, fmt.Errorf("it has more than %d bytes", mostSaid)
	case len(strings.TrimSpace(string(data))) == 0:
		return nil, nil
	}
	fb, err := plan.ParseFeedback(data)
	if err != nil {
		return nil, err
	}
	return bounded(masked(fb)), nil
}

// mostFeedback bounds the feedback that is recorded and sent, in bytes of its
// JSON, as the analysis bounds what it reads.
const mostFeedback = 64 << 10

// bounded cuts feedback that says more than can be handed on: first its longest
// texts, then the last of its tests and suggestions.
func bounded(f *plan.TestFeedback) *plan.TestFeedback {
	size := func() int { return len(asJSON(f)) }
	tests, hints := len(f.FailedTests), len(f.Suggestions)
	for most := 16 << 10; most >= 256 && size() > mostFeedback; most /= 2 {
		for i := range f.FailedTests {
			t := &f.FailedTests[i]
			for _, s := range []*string{&t.Name, &t.Expected, &t.Actual, &t.StackTrace, &t.SuggestedFix, &t.File} {
				*s = cut(*s, most)
			}
		}
		for i := range f.Suggestions {
			f.Suggestions[i] = cut(f.Suggestions[i], most)
		}
	}
	for size() > mostFeedback {
		f.FailedTests, f.Suggestions = f.FailedTests[:(len(f.FailedTests)+1)/2], f.Suggestions[:len(f.Suggestions)/2]
	}
	if n := tests - len(f.FailedTests) + hints - len(f.Suggestions); n > 0 {
		f.Suggestions = append(f.Suggestions, fmt.Sprintf("%d more failed tests and suggestions are left out here", n))
	}
	return f
}

// cut returns the first bytes of a text, whole characters, and says that it is cut.
func cut(s string, most int) string {
	return strings.ToValidUTF8(truncate.Head(s, most, " […]"), "")
}

// masked returns feedback without secrets.
func masked(f plan.TestFeedback) *plan.TestFeedback {
	f.FailedTests, f.Suggestions = orNone(slices.Clone(f.FailedTests)), orNone(slices.Clone(f.Suggestions))
	for i := range f.FailedTests {
		t := &f.FailedTests[i]
		for _, s := range []*string{&t.Name, &t.Expected, &t.Actual, &t.StackTrace, &t.SuggestedFix} {
			*s = redact.Text(*s)
		}
	}
	for i := range f.Suggestions {
		f.Suggestions[i] = redact.Text(f.Suggestions[i])
	}
	return &f
}

// reports returns the files that a testing worker left in its folder of reports.
func reports(dir string) []analysis.Source {
	const most = 1000
	var out []analysis.Source
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && len(out) < most {
			name, _ := filepath.Rel(dir, path)
			out = append(out, analysis.Source{Name: filepath.ToSlash(name), Open: func() (io.ReadCloser, error) { return openReport(path) }})
		}
		return nil // what cannot be walked is not there
	})
	return out
}

// mostReport bounds what is read of one report, in bytes. A file may be said to be
// of any length and take no space.
const mostReport = 1 << 30

func openReport(path string) (io.ReadCloser, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() > mostReport {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("it has more than %d bytes", mostReport))
	}
	return f, nil
}

// FeedbackText writes feedback for the implementing worker, as Markdown. What
// the tests printed stands in fences.
func FeedbackText(f plan.TestFeedback, failures int) string {
	var b strings.Builder
	m := f.Metrics
	fmt.Fprintf(&b, "# The tests failed (%d so far)\n\n%d tests: %d passed, %d failed, %d skipped.\n", failures, m.Total, m.Passed, m.Failed, m.Skipped)
	for _, t := range f.FailedTests {
		fmt.Fprintf(&b, "\n## %s\n", oneLine(t.Name))
		if t.File != "" {
			fmt.Fprintf(&b, "\nAt %s", oneLine(t.File))
			if t.Line > 0 {
				fmt.Fprintf(&b, ":%d", t.Line)
			}
			b.WriteString(".\n")
		}
		block(&b, "Expected", t.Expected)
		block(&b, "Actual", t.Actual)
		block(&b, "Trace", t.StackTrace)
		if t.SuggestedFix != "" {
			fmt.Fprintf(&b, "\nSuggested fix: %s\n", oneLine(t.SuggestedFix))
		}
	}
	if len(f.Suggestions) > 0 {
		b.WriteString("\n## Suggestions\n\n")
		for _, s := range f.Suggestions {
			fmt.Fprintf(&b, "- %s\n", oneLine(s))
		}
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(markdown.Printable(s)), " ") }

func block(b *strings.Builder, name, text string) {
	if text = strings.TrimRight(markdown.Printable(text), "\n"); text == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n%s:\n\n%s\n%s\n%s\n", name, fence, text, fence)
}
