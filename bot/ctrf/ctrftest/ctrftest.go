// Package ctrftest checks documents against the JSON schema of the Common Test
// Report Format, specification 0.0.0 (ctrf.io), as far as Switchback uses it.
package ctrftest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sort"
)

// Document is a document of the format, as a reader sees it.
type Document struct {
	ReportFormat string  `json:"reportFormat"`
	SpecVersion  string  `json:"specVersion"`
	Results      Results `json:"results"`
}

// Results are the results of one run.
type Results struct {
	Tool    Tool           `json:"tool"`
	Summary Summary        `json:"summary"`
	Tests   []Test         `json:"tests"`
	Extra   map[string]any `json:"extra"`
}

// Tool is what printed the results.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Summary are the totals.
type Summary struct {
	Tests, Passed, Failed, Skipped, Pending, Other, Flaky int
	Start, Stop                                           int64
}

// Test is one entry.
type Test struct {
	Name      string   `json:"name"`
	Status    string   `json:"status"`
	RawStatus string   `json:"rawStatus"`
	Duration  int64    `json:"duration"`
	Suite     []string `json:"suite"`
	Message   string   `json:"message"`
	Trace     string   `json:"trace"`
	Line      int      `json:"line"`
	FilePath  string   `json:"filePath"`
	Retries   int      `json:"retries"`
	Flaky     bool     `json:"flaky"`
	Extra     Extra    `json:"extra"`
}

// Extra is what Switchback adds.
type Extra struct {
	Expected    string     `json:"expected"`
	Actual      string     `json:"actual"`
	Class       string     `json:"class"`
	Fingerprint string     `json:"fingerprint"`
	Synthetic   bool       `json:"synthetic"`
	Kind        string     `json:"kind"`
	Evidence    []Evidence `json:"evidence"`
}

// Evidence is one line that decided a class.
type Evidence struct {
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Signal string `json:"signal"`
}

// rules of one object of the schema: what each property must be, and which
// must be there. The schema allows no others.
type rules struct {
	required []string
	allowed  map[string]func(any) string
}

var (
	document = rules{[]string{"reportFormat", "specVersion", "results"}, map[string]func(any) string{
		"reportFormat": oneOf("CTRF"), "specVersion": matches(`^[0-9]+\.[0-9]+\.[0-9]+$`), "results": object, "generatedBy": text, "extra": object,
	}}
	results = rules{[]string{"tool", "summary", "tests"}, map[string]func(any) string{
		"tool": object, "summary": object, "tests": list, "environment": object, "extra": object,
	}}
	tool    = rules{[]string{"name"}, map[string]func(any) string{"name": filled, "version": text, "extra": object}}
	summary = rules{[]string{"tests", "passed", "failed", "skipped", "pending", "other", "start", "stop"}, map[string]func(any) string{
		"tests": whole, "passed": whole, "failed": whole, "skipped": whole, "pending": whole, "other": whole, "flaky": whole,
		"suites": whole, "start": whole, "stop": whole, "duration": whole, "extra": object,
	}}
	test = rules{[]string{"name", "status", "duration"}, map[string]func(any) string{
		"name": filled, "status": oneOf("passed", "failed", "skipped", "pending", "other"), "duration": whole, "start": whole, "stop": whole,
		"suite": texts, "message": text, "trace": text, "snippet": text, "ai": text, "line": whole, "rawStatus": text, "type": text,
		"filePath": text, "retries": whole, "flaky": boolean, "extra": object,
	}}
)

// Check reads a document and returns every way in which it breaks the schema
// or contradicts itself: its totals are those of its tests.
func Check(data []byte) (Document, []string) {
	var d Document
	var raw map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&raw); err != nil {
		return d, []string{"not JSON: " + err.Error()}
	}
	if _, err := dec.Token(); err != io.EOF {
		return d, []string{"something stands behind the document"}
	}
	problems := document.check("document", raw)
	res, _ := raw["results"].(map[string]any)
	problems = append(problems, results.check("results", res)...)
	for name, r := range map[string]rules{"tool": tool, "summary": summary} {
		m, _ := res[name].(map[string]any)
		problems = append(problems, r.check(name, m)...)
	}
	tests, _ := res["tests"].([]any)
	for i, x := range tests {
		m, _ := x.(map[string]any)
		problems = append(problems, test.check(fmt.Sprintf("tests[%d]", i), m)...)
	}
	if len(problems) > 0 {
		sort.Strings(problems)
		return d, problems
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, []string{err.Error()}
	}
	return d, totals(d)
}

func totals(d Document) []string {
	n := map[string]int{}
	for _, t := range d.Results.Tests {
		n[t.Status]++
	}
	s := d.Results.Summary
	var out []string
	for what, pair := range map[string][2]int{
		"tests": {s.Tests, len(d.Results.Tests)}, "passed": {s.Passed, n["passed"]}, "failed": {s.Failed, n["failed"]},
		"skipped": {s.Skipped, n["skipped"]}, "pending": {s.Pending, n["pending"]}, "other": {s.Other, n["other"]},
	} {
		if pair[0] != pair[1] {
			out = append(out, fmt.Sprintf("summary.%s is %d, there are %d", what, pair[0], pair[1]))
		}
	}
	sort.Strings(out)
	return out
}

func (r rules) check(where string, m map[string]any) []string {
	var out []string
	for _, k := range r.required {
		if _, ok := m[k]; !ok {
			out = append(out, where+": "+k+" is missing")
		}
	}
	for k, v := range m {
		f, ok := r.allowed[k]
		if !ok {
			out = append(out, where+": "+k+" is not allowed")
		} else if why := f(v); why != "" {
			out = append(out, where+"."+k+" "+why)
		}
	}
	return out
}

func is[T any](what string) func(any) string {
	return func(v any) string {
		if _, ok := v.(T); !ok {
			return fmt.Sprintf("is %v, not %s", v, what)
		}
		return ""
	}
}

var (
	object  = is[map[string]any]("an object")
	list    = is[[]any]("a list")
	text    = is[string]("a text")
	boolean = is[bool]("true or false")
)

func filled(v any) string {
	if s, ok := v.(string); !ok || s == "" {
		return "is no text with something in it"
	}
	return ""
}

func whole(v any) string {
	n, ok := v.(json.Number)
	if _, err := n.Int64(); !ok || err != nil {
		return fmt.Sprintf("is %v, not a whole number", v)
	}
	return ""
}

func texts(v any) string {
	l, ok := v.([]any)
	if !ok || len(l) == 0 {
		return fmt.Sprintf("is %v, not a list of texts", v)
	}
	for _, x := range l {
		if _, ok := x.(string); !ok {
			return fmt.Sprintf("holds %v, not a text", x)
		}
	}
	return ""
}

func oneOf(want ...string) func(any) string {
	return func(v any) string {
		for _, w := range want {
			if v == w {
				return ""
			}
		}
		return fmt.Sprintf("is %v, not one of %v", v, want)
	}
}

func matches(re string) func(any) string {
	return func(v any) string {
		if s, ok := v.(string); !ok || !regexp.MustCompile(re).MatchString(s) {
			return fmt.Sprintf("is %v, which does not match %s", v, re)
		}
		return ""
	}
}
