package diagnosis

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

func TestFolding(t *testing.T) {
	rep := &testreport.Report{Counts: testreport.Counts{Tests: 6, Failed: 6}, Failing: []testreport.Test{
		{Name: "TestA", Suite: "p", Trace: "--- FAIL: TestA (0.00s)"},
		{Name: "TestA/x", Suite: "p", Message: "a_test.go:3: 1 != 2"},
		{Name: "TestB", Suite: "p", Message: "own words"},
		{Name: "TestB/x", Suite: "p", Message: "other words"},
		{Name: "TestC", Suite: "one/p", Message: "same"},
		{Name: "TestC", Suite: "two/p", Message: "same"},
		{Name: "TestC", Suite: "one.p", Message: "same"},
		{Name: "TestD", Suite: "p", File: "a/d.py", Message: "one"},
		{Name: "TestD", Suite: "p", File: "d.py", Message: "two"},
		{Name: "TestD", Suite: "p", File: "x/a/d.py", Message: "three"},
		{Name: "TestD", Suite: "p", File: "b/d.py", Message: "four"},
		{Name: "TestD", Suite: "p", Message: "five"},
		{Name: "TestE", Suite: "p", Message: "six"},
		{Name: "TestE", Suite: "p", File: "e.py", Message: "seven"},
		{Name: "TestF", Suite: "a::p", Message: "E: apples are missing"},
		{Name: "TestF", Suite: "p", Message: "apples are missing"},
		{Name: "TestF", Suite: "b::p", Message: "a pear is missing"},
		{Name: "TestG", Suite: "p", Kind: testreport.KindAssertion, Message: "same"},
		{Name: "testg", Suite: "p", Kind: testreport.KindCrash, Message: "same"},
	}, Problems: []testreport.Problem{{Kind: testreport.KindPackage, Name: "p"}}}
	d := Diagnose(rep, nil, Options{})
	checkInvariants(t, d)
	var got []string
	for _, f := range d.Failures {
		got = append(got, f.Suite+" "+f.Name)
	}
	want := "p TestA/x,p TestB,p TestB/x,one/p TestC,two/p TestC,p TestD,p TestD,p TestE,a::p TestF,b::p TestF,p TestG"
	if strings.Join(got, ",") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
