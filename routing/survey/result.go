// Package survey asks people about the result of an optimized workflow and turns
// what they say into the goal of the next cycle: the result that is shown, the
// answer, how it converges, the rows that record it, and the register in which
// all of it is kept. It is pure: it is told the time and posts nothing.
package survey

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Levels are the automation levels there are, lowest first.
var Levels = []int{10, 20, 30}

// ValidLevel reports whether n is an automation level.
func ValidLevel(n int) bool { return slices.Contains(Levels, n) }

// Result is what a cycle of optimization ends in and people are asked about.
type Result struct {
	WorkflowName    string       `json:"workflow_name"`
	AutomationLevel int          `json:"automation_level"`
	ReportPath      string       `json:"report_path"` // of the level's report, with slashes
	RunID           string       `json:"run_id,omitempty"`
	Suggestions     []Suggestion `json:"suggestions"`
}

// Suggestion is one proposal for the next cycle. The id is what an answer
// names; the text may read differently tomorrow.
type Suggestion struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// The limits of a result: it has to fit an issue of 65,536 characters, boxes
// and answer included.
const (
	mostSuggestions = 100
	longestText     = 1000 // bytes of a suggestion
	longestName     = 200  // bytes of a workflow's name, a run's id, an id
	longestPath     = 500  // bytes of a path
	largestResult   = 1 << 20
)

// FieldError says what is wrong with a result: which file, which key, and what
// to do about it.
type FieldError struct{ File, Key, Problem string }

func (e *FieldError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s: %s: %s", e.File, e.Key, e.Problem)
}

// written is a result as it stands in a file: what is absent can be told from
// what is empty, and a run's id may be a number.
type written struct {
	WorkflowName    *string         `json:"workflow_name"`
	AutomationLevel json.RawMessage `json:"automation_level"`
	ReportPath      *string         `json:"report_path"`
	RunID           json.RawMessage `json:"run_id"`
	Suggestions     *[]Suggestion   `json:"suggestions"`
}

// ParseResult reads a result, strictly: an unknown key, a second document, a
// missing or empty value and a level that there is not are refused. file is what
// errors call it. Every error is a *FieldError.
func ParseResult(file string, data []byte) (Result, error) {
	bad := func(key, format string, a ...any) (Result, error) {
		return Result{}, &FieldError{file, key, fmt.Sprintf(format, a...)}
	}
	if len(data) > largestResult {
		return bad("", "it has %d bytes; a result has at most %d", len(data), largestResult)
	}
	if !utf8.Valid(data) {
		return bad("", "it is not UTF-8; write it as UTF-8")
	}
	var w written
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return bad(keyOf(err), "%s", explain(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return bad("", "more follows behind the result; keep one JSON object")
	}
	r, ferr := w.result()
	if ferr == nil {
		ferr = r.check()
	}
	if ferr != nil {
		ferr.File = file
		return Result{}, ferr
	}
	return r, nil
}

// result takes the values over, and says which are missing.
func (w written) result() (Result, *FieldError) {
	missing := func(key, remedy string) (Result, *FieldError) {
		return Result{}, &FieldError{Key: key, Problem: "it is missing; " + remedy}
	}
	switch {
	case w.WorkflowName == nil:
		return missing("workflow_name", "give the name of the workflow that was optimized")
	case absent(w.AutomationLevel):
		return missing("automation_level", "give the level that was applied: 10, 20 or 30")
	case w.ReportPath == nil:
		return missing("report_path", "give the path of the level's report")
	case w.Suggestions == nil:
		return missing("suggestions", `give a list of {"id", "text"}, or [] if there are none`)
	}
	level, err := strconv.Atoi(string(w.AutomationLevel))
	if err != nil || !ValidLevel(level) {
		return Result{}, &FieldError{Key: "automation_level", Problem: fmt.Sprintf("%.40s is no level; write the number 10, 20 or 30", w.AutomationLevel)}
	}
	r := Result{WorkflowName: *w.WorkflowName, AutomationLevel: level, ReportPath: *w.ReportPath, Suggestions: *w.Suggestions}
	if absent(w.RunID) {
		return r, nil
	}
	if err := json.Unmarshal(w.RunID, &r.RunID); err == nil {
		return r, nil
	}
	if n, err := strconv.ParseInt(string(w.RunID), 10, 64); err == nil && n > 0 {
		r.RunID = strconv.FormatInt(n, 10)
		return r, nil
	}
	return Result{}, &FieldError{Key: "run_id", Problem: fmt.Sprintf("%.40s is no id of a run; write a text or a whole number", w.RunID)}
}

func absent(m json.RawMessage) bool { return len(m) == 0 || string(m) == "null" }

// Check returns what is wrong with a result, nil if nothing is.
func (r Result) Check() error {
	if e := r.check(); e != nil {
		e.File = "the result"
		return e
	}
	return nil
}

// suggestionID is what an id may be: it is typed into comments and stands
// between commas.
var suggestionID = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9._]|-[A-Za-z0-9._])*$`)

func (r Result) check() *FieldError {
	for _, f := range []struct {
		key, value string
		limit      int
	}{{"workflow_name", r.WorkflowName, longestName}, {"report_path", r.ReportPath, longestPath}} {
		switch {
		case strings.TrimSpace(f.value) == "":
			return &FieldError{Key: f.key, Problem: "it is empty; give a text"}
		case len(f.value) > f.limit:
			return &FieldError{Key: f.key, Problem: fmt.Sprintf("it has %d bytes, at most %d are shown; shorten it", len(f.value), f.limit)}
		case strings.ContainsAny(f.value, "\n\r"):
			return &FieldError{Key: f.key, Problem: "it has more than one line; keep one"}
		}
	}
	if !ValidLevel(r.AutomationLevel) {
		return &FieldError{Key: "automation_level", Problem: fmt.Sprintf("%d is no level; write 10, 20 or 30", r.AutomationLevel)}
	}
	if p := r.ReportPath; path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, `\`) {
		return &FieldError{Key: "report_path", Problem: fmt.Sprintf("%.100q leaves the workspace or is not plain; give the path below it, with slashes, e.g. optimizer/level20_report.md", p)}
	}
	if len(r.RunID) > longestName || strings.TrimSpace(r.RunID) != r.RunID || strings.ContainsAny(r.RunID, "\n\r") {
		return &FieldError{Key: "run_id", Problem: fmt.Sprintf("%.60q is no id of a run; write at most %d characters on one line", r.RunID, longestName)}
	}
	return r.checkSuggestions()
}

func (r Result) checkSuggestions() *FieldError {
	if n := len(r.Suggestions); n > mostSuggestions {
		return &FieldError{Key: "suggestions", Problem: fmt.Sprintf("%d are too many to choose from; keep the %d best", n, mostSuggestions)}
	}
	seen := map[string]int{}
	for i, s := range r.Suggestions {
		key := fmt.Sprintf("suggestions[%d]", i)
		first, twice := seen[strings.ToLower(s.ID)]
		switch {
		case s.ID == "":
			return &FieldError{Key: key + ".id", Problem: "it is missing; give each suggestion an id of its own, such as cache-deps"}
		case len(s.ID) > 64 || !suggestionID.MatchString(s.ID):
			return &FieldError{Key: key + ".id", Problem: fmt.Sprintf("%.80q is no id; use letters, digits, dots, underscores and single hyphens, at most 64", s.ID)}
		case twice:
			return &FieldError{Key: key + ".id", Problem: fmt.Sprintf("%q is the id of suggestions[%d] already; ids must differ", s.ID, first)}
		case strings.TrimSpace(s.Text) == "":
			return &FieldError{Key: key + ".text", Problem: "it is empty; say what is suggested"}
		case len(s.Text) > longestText:
			return &FieldError{Key: key + ".text", Problem: fmt.Sprintf("it has %d bytes, at most %d are shown; shorten it", len(s.Text), longestText)}
		}
		seen[strings.ToLower(s.ID)] = i
	}
	return nil
}

// ID names the survey that asks about r in a repository: the same result is
// the same survey, however often it is opened.
func (r Result) ID(repo string) string {
	if r.Suggestions == nil {
		r.Suggestions = []Suggestion{}
	}
	b, _ := json.Marshal(r) // plain values only
	sum := sha256.Sum256(append([]byte(repo+"\x00"), b...))
	return hex.EncodeToString(sum[:6])
}

var unknownField = lazyregexp.New(`unknown field "(.*)"`)

func keyOf(err error) string {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		return te.Field
	}
	if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return ""
}

// explain turns a message of the JSON decoder into one with a remedy.
func explain(err error) string {
	var te *json.UnmarshalTypeError
	var se *json.SyntaxError
	switch {
	case errors.As(err, &te):
		want := map[string]string{"string": "a text in quotes", "slice": "a list in brackets", "struct": "an object in braces"}[te.Type.Kind().String()]
		return fmt.Sprintf("a JSON %s stands there; write %s", te.Value, want)
	case unknownField.MatchString(err.Error()):
		return "it is not known; known are workflow_name, automation_level, report_path, run_id, suggestions, and id and text of a suggestion"
	case errors.As(err, &se):
		return fmt.Sprintf("it is not valid JSON at byte %d: %v", se.Offset, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early; give one JSON object"
	}
	return "it is not valid JSON: " + err.Error()
}
