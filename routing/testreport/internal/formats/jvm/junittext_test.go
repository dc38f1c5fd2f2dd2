package jvm

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// TestJUnitText reads what the recorded output does not hold.
func TestJUnitText(t *testing.T) {
	t.Parallel()
	const list = "There was 1 failure:\n1) a(com.x.T)\njava.lang.AssertionError: no\n\tat com.x.T.a(T.java:3)\n"
	for _, tt := range []struct {
		name, in string
		want     model.Counts
		problems []model.Kind
	}{
		{"Bazel's java_test", "JUnit4 Test Runner\n.E.\nTime: 0.05\n" + list + "\nFAILURES!!!\nTests run: 2,  Failures: 1\n\n", model.Counts{Tests: 2, Passed: 1, Failed: 1}, nil},
		{"Android's instrumentation, without a name", "\ncom.x.T:.E.\n\nTime: 1,234.5\n" + list + "\nFAILURES!!!\nTests run: 2,  Failures: 1\n\n", model.Counts{Tests: 2, Passed: 1, Failed: 1}, nil},
		{"two runs in one log", "JUnit version 4.12\n..\nTime: 0.05\n\nOK (2 tests)\n\nJUnit version 4.12\n.E\nTime: 0.05\n" + list + "\nFAILURES!!!\nTests run: 1,  Failures: 1\n", model.Counts{Tests: 3, Passed: 2, Failed: 1}, nil},
		{"the second run breaks off", "JUnit version 4.12\n..\nTime: 0.05\n\nOK (2 tests)\n\nJUnit version 4.12\n.E\n", model.Counts{Tests: 2, Passed: 2}, []model.Kind{model.KindTruncated}},
		{"breaks off in the list", "JUnit version 4.12\n.E\nTime: 0.05\n" + list, model.Counts{Tests: 1, Failed: 1}, []model.Kind{model.KindTruncated}},
		{"a failure that is not named", "JUnit version 4.12\n.E.E\nTime: 0.05\n" + strings.Replace(list, "was 1 failure", "were 2 failures", 1) + "\nFAILURES!!!\nTests run: 2,  Failures: 2\n", model.Counts{Tests: 2, Failed: 2}, []model.Kind{model.KindTests}},
		{"two failures of one test", "JUnit version 4.12\n.EE\nTime: 0.05\n" + strings.Replace(list, "was 1 failure", "were 2 failures", 1) + "2) a(com.x.T)\njava.lang.AssertionError: nor this\n\nFAILURES!!!\nTests run: 1,  Failures: 2\n", model.Counts{Tests: 1, Failed: 1}, nil},
		{"a test prints the runner's lines", "JUnit version 4.12\n.Time: 3\n.\nTime: 3\nnothing\n.E\nTime: 0.05\n" + list + "\nFAILURES!!!\nTests run: 3,  Failures: 1\n", model.Counts{Tests: 3, Passed: 2, Failed: 1}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []string{tt.in, corpustest.JobLog(tt.in)} {
				r := parseJUnitText(t, in, model.Options{})
				var kinds []model.Kind
				for _, p := range r.Problems {
					kinds = append(kinds, p.Kind)
				}
				if r.Counts != tt.want || len(kinds) != len(tt.problems) || len(kinds) == 1 && kinds[0] != tt.problems[0] {
					t.Errorf("%v %+v, problems %+v", r.Formats, r.Counts, r.Problems)
				}
			}
		})
	}
}

// What only resembles the runner's lines is not read.
func TestJUnitTextClaimsNothingElse(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"OK (3 tests)\n", "JUnit version 4.12\nMaven version 3.9\n", "Time: 3\nsomething\n\nOK (3 tests)\n", "Tests run: 3,  Failures: 0\n"} {
		r, err := reader.Parse(strings.NewReader(in), model.Options{})
		if err == nil {
			t.Errorf("%q: %v %+v %+v", in, r.Formats, r.Counts, r.Problems)
		}
	}
}

func FuzzJUnitText(f *testing.F) {
	f.Add("JUnit version 4.12\n.E\nTime: 0.05\nThere was 1 failure:\n1) a(com.x.T)\njava.lang.Error: no\n\nFAILURES!!!\nTests run: 1,  Failures: 1\n")
	f.Add("JUnit version 4.12\n..\nTime: 0.05\n\nOK (2 tests)\n")
	f.Fuzz(func(t *testing.T, in string) {
		r, _ := reader.Parse(strings.NewReader(in), model.Options{})
		if r != nil && r.Counts.Tests != r.Counts.Passed+r.Counts.Failed+r.Counts.Skipped+r.Counts.Other {
			t.Errorf("%+v", r.Counts)
		}
	})
}

func parseJUnitText(t testing.TB, s string, opt model.Options) *model.Report {
	t.Helper()
	r, err := reader.Parse(strings.NewReader(s), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
