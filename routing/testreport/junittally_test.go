package testreport

import (
	"slices"
	"strings"
	"testing"
)

// TestJUnitListsFewerThanDeclared reads well-formed documents that hold fewer
// test cases than they declare: unclear, unless what the producer counts, as
// known of it, explains the difference.
func TestJUnitListsFewerThanDeclared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		problem  string // in the message; "" demands green
	}{
		{"one of five", `<testsuite name="s" tests="5"><testcase name="a"/></testsuite>`, "the suite lists 1 of 5 declared tests"},
		{"one of five with a place", `<testsuite name="s" tests="5" skipped="0" time="1"><testcase name="a" classname="s" file="a.py" line="3"/></testsuite>`, "lists 1 of 5"},
		{"in a nested suite", `<testsuites><testsuite name="s"><testsuite name="n" tests="2"><testcase name="a"/></testsuite></testsuite></testsuites>`, "lists 1 of 2"},
		{"a whole suite is missing", `<testsuites tests="5"><testsuite name="s" tests="2"><testcase name="a"/><testcase name="b"/></testsuite></testsuites>`, "lists 2 of 5"},
		{"in two suites", `<testsuites><testsuite name="s" tests="2"><testcase name="a"/></testsuite><testsuite name="n" tests="4"><testcase name="a"/></testsuite></testsuites>`, "lists 1 of 2 declared tests; 2 suites lack 4 tests in all"},
		{"said once of the innermost", `<testsuites tests="4"><testsuite name="s" tests="4"><testsuite name="n" tests="4"><testcase name="a"/></testsuite></testsuite></testsuites>`, "lists 1 of 4 declared tests"},
		{"more than was skipped", `<testsuite name="s" tests="5" skipped="2"><testcase name="a"/></testsuite>`, "lists 1 of 5"},
		{"the skipped ones are listed", `<testsuite name="s" tests="3" skipped="1"><testcase name="a"/><testcase name="b"><skipped/></testcase></testsuite>`, "lists 2 of 3"},
		{"more than was run again", `<testsuite name="s" tests="4"><testcase name="a"><flakyFailure/></testcase></testsuite>`, "lists 1 of 4"},
		{"pytest, and nothing at all", `<testsuites><testsuite name="pytest" tests="5"/><testsuite name="s"><testcase name="a"/></testsuite></testsuites>`, "declares 5 tests and holds none"},

		{"Surefire counts attempts", `<testsuite name="s" tests="4"><testcase name="a"><flakyFailure/><flakyError/></testcase><testcase name="b"/></testsuite>`, ""},
		{"PHPUnit counts the tests of a skipped class", `<testsuites><testsuite name="p" tests="3" skipped="2"><testsuite name="A" tests="2" skipped="2"/><testsuite name="B" tests="1" skipped="0"><testcase name="b" class="B"/></testsuite></testsuite></testsuites>`, ""},
		{"GoogleTest counts disabled tests", `<testsuites tests="3" disabled="1"><testsuite name="S" tests="3" disabled="1"><testcase name="a" status="run"/><testcase name="b" status="run"/></testsuite></testsuites>`, ""},
		{"Catch2 counts assertions", `<testsuites><testsuite name="a.out" errors="0" failures="0" tests="26" hostname="tbd" time="0.1"><testcase classname="a.out.global" name="x" status="run"/></testsuite></testsuites>`, ""},
		{"doctest counts assertions", `<testsuites><testsuite name="all_tests" errors="0" failures="0" tests="9"><testcase classname="/src/a_test.cpp" name="x" time="0.000001" status="run"/></testsuite></testsuites>`, ""},
		{"Behat counts steps", `<testsuite classname="behat.features" errors="0" failures="0" name="User sessions" tests="12" time="66.8"><testcase classname="User sessions" name="Login"/><testcase classname="User sessions" name="Logout"/></testsuite>`, ""},
		{"pytest counts subtests", `<testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="5"><testcase classname="a" name="test_a"/></testsuite></testsuites>`, ""},
		{"pytest counts subtests, in a suite of another name", `<testsuites name="pytest tests"><testsuite name="mine" tests="5"><testcase classname="a" name="test_a"/></testsuite></testsuites>`, ""},
		{"mocha-junit-reporter and --grep", `<testsuites name="Mocha Tests" tests="1"><testsuite name="Root Suite" tests="0"/><testsuite name="cart" tests="4"><testcase name="cart adds" classname="adds"/></testsuite></testsuites>`, ""},
		{"a total that counts nested suites again", `<testsuites tests="4"><testsuite name="s" tests="2"><testsuite name="n" tests="2"><testcase name="a"/><testcase name="b"/></testsuite></testsuite></testsuites>`, ""},
		{"fewer declared than listed", `<testsuites tests="1"><testsuite name="s" tests="1"><testcase name="a"/><testcase name="b"/></testsuite></testsuites>`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parseString(t, tt.in, Options{})
			switch {
			case tt.problem == "" && !r.Green():
				t.Errorf("not green: %+v", r.Problems)
			case tt.problem == "":
			case r.Green():
				t.Errorf("green: %+v", r.Counts)
			case len(r.Problems) != 1 || r.Problems[0].Kind != KindTruncated || !strings.Contains(r.Problems[0].Message, tt.problem):
				t.Errorf("problems %+v, want %q", r.Problems, tt.problem)
			}
		})
	}
}

// A runner that stops at a failure leaves out the rest: the failure says why
// the run is red, and that tests are missing is a note.
func TestJUnitMissingTestsBesideAFailure(t *testing.T) {
	t.Parallel()
	r := parseString(t, `<testsuites><testsuite name="s" tests="5"><testcase name="a"><failure message="m"/></testcase></testsuite></testsuites>`, Options{})
	if r.Counts.Failed != 1 || len(r.Problems) != 0 {
		t.Errorf("%+v, problems %+v", r.Counts, r.Problems)
	}
	if !slices.ContainsFunc(r.Cut, func(c string) bool { return strings.Contains(c, "lists 1 of 5 declared tests") }) {
		t.Errorf("no note: %q", r.Cut)
	}
}
