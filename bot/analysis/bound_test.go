package analysis

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

// huge returns a verdict of n failures whose every text is long; the decisive
// one is not the first.
func huge(n int, text string) routing.Verdict {
	v := routing.Verdict{Result: routing.Fail, Class: routing.LogicError, Reason: text, Notes: []string{text, text}, Unmet: []string{text}}
	for i := range n {
		f := routing.Failure{
			Name: fmt.Sprintf("t%d %s", i, text), Suite: text, Class: routing.LogicError, File: text, Line: i + 1, Message: text, Trace: text,
			Expected: text, Actual: text, Suggestion: text, Fingerprint: text, Decisive: i == n*3/4,
			Excerpt: &routing.Excerpt{File: text, Start: 1, Mark: 2, Lines: []string{text, text, text}},
		}
		for range 8 {
			f.Evidence = append(f.Evidence, routing.Evidence{Line: 1, Text: text, Signal: text})
		}
		v.Failures, v.Evidence = append(v.Failures, f), append(v.Evidence, f.Evidence...)
	}
	return v
}

func TestBoundKeepsTheDecisiveBelowTheLimit(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"short": "x", "words": strings.Repeat("some words ", 2000), "wide": strings.Repeat("漢字🙂", 5000),
		"escaped": strings.Repeat("\x01\"<", 5000), "lines": strings.Repeat("line\n", 5000),
	}
	for name, text := range texts {
		for _, n := range []int{1, 7, 500, 5000} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				t.Parallel()
				if n > 500 && len(text) > 100 {
					text = text[:len(text)/20]
				}
				v := Bound(huge(n, text))
				b, err := json.Marshal(v)
				if err != nil || len(b) > mostBytes {
					t.Fatalf("%d bytes, limit %d, err %v", len(b), mostBytes, err)
				}
				if len(v.Failures) == 0 || !v.Failures[0].Decisive {
					t.Error("the decisive failure is not kept as the first")
				}
				if len(v.Failures)+v.Dropped != n {
					t.Errorf("%d kept and %d dropped of %d", len(v.Failures), v.Dropped, n)
				}
				if name != "escaped" && !utf8.Valid(b) {
					t.Error("cut inside a rune")
				}
			})
		}
	}
}

func TestBoundLeavesASmallVerdictAlone(t *testing.T) {
	t.Parallel()
	v := huge(2, "x")
	v.Failures[0], v.Failures[1] = v.Failures[1], v.Failures[0] // decisive first
	v.Evidence = v.Evidence[:3]
	for i := range v.Failures {
		v.Failures[i].Evidence = v.Failures[i].Evidence[:3]
	}
	before, _ := json.Marshal(v)
	after, _ := json.Marshal(Bound(v))
	if string(before) != string(after) {
		t.Errorf("changed:\n%s\n%s", before, after)
	}
}

func TestBoundChangesNotItsInput(t *testing.T) {
	t.Parallel()
	v := huge(60, strings.Repeat("x", 9000))
	before, _ := json.Marshal(v)
	Bound(v)
	if after, _ := json.Marshal(v); string(after) != string(before) {
		t.Error("Bound changed what it was given")
	}
}

func TestBoundOfAReview(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\x02wrong ", 5000)
	r := routing.ReviewResult{Decision: routing.Rejected, Feedback: long}
	for i := range 5000 {
		sev := routing.Minor
		if i == 4321 {
			sev = routing.Blocker
		}
		r.Issues = append(r.Issues, routing.ReviewIssue{Severity: sev, Category: long[:300], Description: long[:300], File: long[:300], SuggestedFix: long[:300]})
	}
	v := Bound(routing.ReviewVerdict("review", routing.Run{ID: "1"}, r, nil))
	if n := size(v); n > mostBytes {
		t.Errorf("%d bytes, limit %d", n, mostBytes)
	}
	if len(v.Review.Issues) == 0 || v.Review.Issues[0].Severity != routing.Blocker {
		t.Error("the blocker among 5000 issues is not kept first")
	}
}

// fill sets every text reachable from v, and returns how many there are.
func fill(v reflect.Value, text string) int {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		return 1
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		return fill(v.Index(0), text) + fill(v.Index(1), text)
	case reflect.Struct:
		n := 0
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += fill(v.Field(i), text)
			}
		}
		return n
	}
	return 0
}

// texts calls f with the path of every text reachable from v.
func texts(v reflect.Value, path string, f func(path, text string)) {
	switch v.Kind() {
	case reflect.String:
		f(path, v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			texts(v.Elem(), path, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), path, f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				texts(v.Field(i), path+"."+v.Type().Field(i).Name, f)
			}
		}
	}
}

// Every text of a verdict that can come from a run is redacted: a field added
// to a verdict one day is found by this test.
func TestRedactedReachesEveryText(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	// What Switchback itself chooses, or GitHub: no text of a run.
	own := map[string]bool{
		".Checkpoint": true, ".Head": true, ".Result": true, ".Class": true,
		".Run.Repository": true, ".Run.ID": true, ".Run.SHA": true, ".Run.Part": true, ".Run.URL": true, ".Run.Job": true,
		".Cut.Class": true, ".Cut.Kind": true, ".Run.Tree": true, ".Failures.Class": true, ".Failures.Was": true, ".Failures.Kind": true,
		".Failures.Standing": true, ".Failures.Since": true, ".Base.Name": true, ".Base.SHA": true, ".Parents": true, ".Whole": true, ".Names": true,
		".Failures.Quarantine.URL": true, ".Register.Entries.URL": true,
		".Run.Pusher": true, ".Green.Earlier.Run": true, ".Green.Earlier.SHA": true, ".Green.Earlier.Part": true, ".Green.Earlier.Fate": true,
		".Green.Base.SHA": true, ".Green.Base.Parts": true, ".Green.Changes.What": true,
		".Incident.ID": true, ".Incident.Kind": true, ".Incident.What": true, ".Incident.URL": true, ".During": true, // made of what is redacted
		".Group.Branch": true, ".Group.Base": true, ".Group.Pulls.Head": true,
		".Review.Decision": true, ".Review.Severity": true, ".Review.Issues.Severity": true,
	}
	var v routing.Verdict
	if n := fill(reflect.ValueOf(&v).Elem(), "before "+secret+" after"); n < 40 {
		t.Fatalf("only %d texts were filled", n)
	}
	before, _ := json.Marshal(v)
	seen := map[string]bool{}
	texts(reflect.ValueOf(redact.Verdict(v)), "", func(path, text string) {
		seen[path] = true
		if strings.Contains(text, secret) && !own[path] {
			t.Errorf("%s is not redacted", path)
		}
		if !strings.Contains(text, "before ") {
			t.Errorf("%s lost more than its secret: %q", path, text)
		}
	})
	for path := range own {
		if !seen[path] {
			t.Errorf("%s does not exist any more", path)
		}
	}
	if after, _ := json.Marshal(v); string(after) != string(before) {
		t.Error("redact.Verdict changed what it was given")
	}
}

// And from end to end: a secret in a report, a log and a review is in no verdict.
func TestNoSecretGetsThrough(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("Z9y8", 9)
	xml := strings.NewReplacer("test_b", "test_b "+secret, "AssertionError:", "AssertionError: token="+secret, "assert 1 == 2\n", "assert '"+secret+"' == 2\n").Replace(redXML)
	review := `{"decision":"REJECTED","feedback":"` + secret + `","issues":[{"severity":"blocker","category":"` + secret + `","description":"see ` + secret + `","suggestedFix":"drop ` + secret + `"}]}`
	log := "##[error]fatal: could not read from https://x:" + secret + "@github.com/a/b\n"
	for _, sources := range [][]Source{{text("r.xml", xml)}, {text("review.json", review)}, {text("log", log)}, {text("r.xml", xml), text("log", log), text("review.json", review)}} {
		out := run(t, Input{Sources: sources, Conclusion: "failure"})
		b, err := json.Marshal(out.Verdict)
		if err != nil || strings.Contains(string(b), secret) {
			t.Errorf("%s: %s", sources[0].Name, b)
		}
	}
}

func TestSizesOfFailuresAddUpToThatOfTheVerdict(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 50} {
		v := huge(n, "a \"quoted\" <text> 漢字\n")
		if n == 50 {
			v = drop(v, 20)
		}
		if got, want := sizesOf(v).with(v, 1<<30), size(v); got != want {
			t.Errorf("%d failures: %d bytes, want %d", n, got, want)
		}
	}
}
