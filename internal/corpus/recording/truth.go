package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/switchback-ci/switchback/routing"
)

// Truth is a tool's truth.json: what is true of the outputs of each case,
// whoever reads them.
type Truth struct {
	Doc       string                     `json:"doc,omitempty"` // where the truth is from
	Cases     map[string]json.RawMessage `json:"cases"`         // a [Case] each
	Lacks     map[string][]string        `json:"lacks,omitempty"`
	Overrides []Override                 `json:"overrides,omitempty"`
}

// Override changes the fields of a case for some of its recordings. Its
// selectors are patterns of [path.Match]; an empty one matches everything.
type Override struct {
	Version  string          `json:"version,omitempty"`
	Case     string          `json:"case,omitempty"`
	Reporter string          `json:"reporter,omitempty"`
	Form     string          `json:"form,omitempty"`
	Why      string          `json:"why"`
	Set      json.RawMessage `json:"set"` // fields of Case
}

// Case is what is true of one run of a tool.
type Case struct {
	Why     string           `json:"why,omitempty"` // what the case is about
	Verdict []routing.Result `json:"verdict"`       // the first is the best; any is accepted
	Class   []routing.Class  `json:"class,omitempty"`
	Counts  *Counts          `json:"counts,omitempty"` // nil if the tool counts no tests
	Alt     []Counts         `json:"alt,omitempty"`    // other defensible counts
	Failing []Failing        `json:"failing,omitempty"`
	Lines   []string         `json:"lines,omitempty"`  // pieces of lines: one of the first three error lines has one of them
	Absent  []string         `json:"absent,omitempty"` // pieces of lines that must not be among the error lines
	Lacks   []string         `json:"lacks,omitempty"`  // see LacksWords; added to those of the reporter
}

// Counts are totals of tests.
type Counts struct {
	Tests   int `json:"tests"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// Failing is a failing test, or what else of a tool's findings has a place.
type Failing struct {
	Kind    string          `json:"kind,omitempty"` // "" a test, "problem" what failed outside tests, "diagnostic" a finding of a compiler or linter
	Name    string          `json:"name,omitempty"` // without its suites; the tool's own spelling
	Suite   string          `json:"suite,omitempty"`
	File    string          `json:"file,omitempty"` // relative to the project
	Line    int             `json:"line,omitempty"`
	LineAlt []int           `json:"line_alt,omitempty"` // other defensible lines of File
	Places  []string        `json:"places,omitempty"`   // other defensible places, as FILE:LINE
	Class   []routing.Class `json:"class,omitempty"`    // any is accepted; empty for that of the case
	Message string          `json:"message,omitempty"`  // a piece of it
}

// LacksWords are what an output can lack: then the reader may leave it empty,
// but must not state something else.
var LacksWords = []string{"counts", "passed", "skipped", "names", "suites", "files", "lines", "messages", "failing"}

func readTruth(name string) (*Truth, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := &Truth{}
	if err := strict(data, t); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for id, raw := range t.Cases {
		var c Case
		if err := strict(raw, &c); err != nil {
			return nil, fmt.Errorf("%s: case %s: %w", name, id, err)
		}
		if len(c.Verdict) == 0 {
			return nil, fmt.Errorf("%s: case %s has no verdict", name, id)
		}
		if err := lacksKnown(c.Lacks); err != nil {
			return nil, fmt.Errorf("%s: case %s: %w", name, id, err)
		}
	}
	for _, words := range t.Lacks {
		if err := lacksKnown(words); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, o := range t.Overrides {
		if err := strict(o.Set, &Case{}); err != nil {
			return nil, fmt.Errorf("%s: override of %s %s: %w", name, o.Case, o.Reporter, err)
		}
		if o.Why == "" {
			return nil, fmt.Errorf("%s: the override of %s %s does not say why", name, o.Case, o.Reporter)
		}
	}
	return t, nil
}

func lacksKnown(words []string) error {
	for _, w := range words {
		if !slices.Contains(LacksWords, w) {
			return fmt.Errorf("an output cannot lack %q, only %q", w, LacksWords)
		}
	}
	return nil
}

func strict(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// Truth returns what is true of the recording in the form f.
func (r Recording) Truth(f Form) (Case, error) {
	var c Case
	if err := strict(r.truth.Cases[r.Case], &c); err != nil {
		return c, err
	}
	for pattern, words := range r.truth.Lacks {
		if matches(pattern, r.Reporter) {
			c.Lacks = append(c.Lacks, words...)
		}
	}
	for _, o := range r.truth.Overrides {
		if matches(o.Version, r.Version) && matches(o.Case, r.Case) && matches(o.Reporter, r.Reporter) && matches(o.Form, string(f)) {
			lacks := c.Lacks
			c.Lacks = nil
			reset(&c, o.Set)
			if err := strict(o.Set, &c); err != nil {
				return c, err
			}
			c.Lacks = append(c.Lacks, lacks...)
		}
	}
	return c, nil
}

// reset empties the lists that set has: decoding into a list keeps fields of its elements.
func reset(c *Case, set json.RawMessage) {
	var has map[string]json.RawMessage
	if json.Unmarshal(set, &has) != nil {
		return
	}
	for key, list := range map[string]func(){
		"verdict": func() { c.Verdict = nil },
		"class":   func() { c.Class = nil },
		"alt":     func() { c.Alt = nil },
		"failing": func() { c.Failing = nil },
		"lines":   func() { c.Lines = nil },
		"absent":  func() { c.Absent = nil },
	} {
		if _, ok := has[key]; ok {
			list()
		}
	}
}

func matches(pattern, s string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, s)
	return err == nil && ok
}
