package failtext

import (
	"testing"
)

func TestSplitAssertion(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, expected, actual string }{
		{"JUnit 5", "expected: <a> but was: <b>", "a", "b"},
		{"JUnit 4", "org.junit.ComparisonFailure: expected:<[x]y> but was:<[z]y>", "[x]y", "[z]y"},
		{"JUnit 3", "expected:<2> but was:<3>", "2", "3"},
		{"TestNG", "expected [true] but found [false]", "true", "false"},
		{"Hamcrest", "\nExpected: <false>\n     but: was <true>", "false", "true"},
		{"Hamcrest is", "Expected: is \"a\"\n     but: was \"b\"", `"a"`, `"b"`},
		{"AssertJ", "\nexpected: 2\n but was: 1", "2", "1"},
		{"AssertJ old", "Expecting:\n <1>\nto be equal to:\n <2>\nbut was not.", "2", "1"},
		{"chai", "AssertionError: expected 1 to equal 2", "2", "1"},
		{"chai deep", "expected { a: 1 } to deeply equal { a: 2 }", "{ a: 2 }", "{ a: 1 }"},
		{"vitest", "AssertionError: expected 3 to be 4 // Object.is equality", "4", "3"},
		{"jasmine", "Expected 1 to equal 2.", "2", "1"},
		{"cypress", "Timed out retrying after 4000ms: expected '<li>' to have text 'Walk the cat', but the text was 'Walk the dog'", "'Walk the cat'", "'Walk the dog'"},
		{"jest", "expect(received).toBe(expected) // Object.is equality\n\nExpected: 2\nReceived: 1", "2", "1"},
		{"jest diff", "expect(received).toEqual(expected)\n\n- Expected  - 1\n+ Received  + 1\n\n  Object {\n-   \"a\": 1,\n+   \"a\": 2,\n  }", `"a": 1,`, `"a": 2,`},
		{"mocha diff", "AssertionError\n      + expected - actual\n\n      -1\n      +2\n", "2", "1"},
		{"node", "Expected values to be strictly equal:\n\n1 !== 2\n", "2", "1"},
		{"xUnit.net", "Assert.Equal() Failure\nExpected: 1\nActual:   2", "1", "2"},
		{"NUnit", "  Expected: 1\n  But was:  2\n", "1", "2"},
		{"MSTest", "Assert.AreEqual failed. Expected:<1>. Actual:<2>. ", "1", "2"},
		{"PHPUnit", "Failed asserting that 1 matches expected 2.", "2", "1"},
		{"PHPUnit diff", "Failed asserting that two strings are equal.\n--- Expected\n+++ Actual\n@@ @@\n-'a'\n+'b'\n", "'a'", "'b'"},
		{"PHPUnit true", "Failed asserting that true is false.", "false", "true"},
		{"minitest", "Expected: 2\n  Actual: 1", "2", "1"},
		{"RSpec", "\n  expected: 2\n       got: 1\n\n  (compared using ==)", "2", "1"},
		{"pytest", "assert 1 == 2", "2", "1"},
		{"pytest E", "    def test():\n>       assert f(1) == 2\nE       assert 1 == 2\nE        +  where 1 = f(1)", "2", "1"},
		{"unittest", "AssertionError: 1 != 2", "2", "1"},
		{"unittest lists", "AssertionError: Lists differ: [1] != [2]\n\nFirst differing", "[2]", "[1]"},
		{"Go got want", "    x_test.go:12: got 1, want 2", "2", "1"},
		{"Go = want", "x_test.go:12: Add(1, 1) = 3, want 2", "2", "3"},
		{"Go expected got", "x_test.go:3: expected foo, got bar", "foo", "bar"},
		{"Go expected but got", "expected 5 but got 6", "5", "6"},
		{"testify", "Not equal: \nexpected: 1\nactual  : 2", "1", "2"},
		{"gotest.tools", "assertion failed: 1 (x int) != 2 (y int)", "2", "1"},
		{"gomega", "Expected\n    <int>: 1\nto equal\n    <int>: 2", "<int>: 2", "<int>: 1"},
		{"Rust", "assertion `left == right` failed\n  left: 0\n right: 1", "1", "0"},
		{"Rust old", "assertion failed: `(left == right)`\n  left: `0`,\n right: `1`", "1", "0"},
		{"GoogleTest", "a.cc:1\nExpected equality of these values:\n  1\n  2", "1", "2"},
		{"GoogleTest which", "Expected equality of these values:\n  a\n    Which is: 1\n  b\n    Which is: 2", "1", "2"},
		{"GoogleTest bool", "Value of: false\n  Actual: false\nExpected: true", "true", "false"},
		{"Catch2", "REQUIRE( a == b )\nwith expansion:\n  1 == 2", "2", "1"},
		{"XCTest", `XCTAssertEqual failed: ("1") is not equal to ("2")`, "2", "1"},
		{"ScalaTest", "1 did not equal 2", "2", "1"},
		{"none", "connection refused", "", ""},
		{"no sides", "Expected truthy, got nothing of it", "truthy", "nothing of it"},
		{"code only", "assert(x)", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, a, ok := SplitAssertion(tt.text)
			if e != tt.expected || a != tt.actual || ok != (tt.expected != "" || tt.actual != "") {
				t.Errorf("got %q, %q, %v, want %q, %q", e, a, ok, tt.expected, tt.actual)
			}
		})
	}
}
