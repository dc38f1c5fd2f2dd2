package diagnosis

import (
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

func TestClassOfTest(t *testing.T) {
	for _, c := range []struct {
		name string
		test testreport.Test
		want routing.Class
	}{
		{"assertion", testreport.Test{Kind: testreport.KindAssertion, Message: "assert 3 == 4"}, routing.LogicError},
		{"assertion that compares scary words", testreport.Test{Kind: testreport.KindAssertion, Type: "AssertionError", Message: "expected 'connection refused' to equal 'No space left on device'"}, routing.LogicError},
		{"NotImplementedError", testreport.Test{Kind: testreport.KindError, Type: "NotImplementedError", Trace: "a.py:3: in f\n    raise NotImplementedError\nE   NotImplementedError"}, routing.NotImplemented},
		{"source that raises it, not raised", testreport.Test{Kind: testreport.KindAssertion, Message: "assert 1 == 2", Trace: ">   raise NotImplementedError\nE   assert 1 == 2"}, routing.LogicError},
		{"todo!", testreport.Test{Kind: testreport.KindCrash, Message: "not yet implemented", Trace: "thread 'a' panicked at src/lib.rs:3:5:\nnot yet implemented"}, routing.NotImplemented},
		{"missing attribute", testreport.Test{Kind: testreport.KindError, Type: "AttributeError", Message: "AttributeError: module 'app' has no attribute 'slug'"}, routing.TypeError},
		{"None has no attribute", testreport.Test{Kind: testreport.KindError, Type: "AttributeError", Message: "AttributeError: 'NoneType' object has no attribute 'x'"}, routing.LogicError},
		{"is not a function", testreport.Test{Message: "TypeError: cart.total is not a function"}, routing.TypeError},
		{"undefined property", testreport.Test{Message: "TypeError: Cannot read properties of undefined (reading 'x')"}, routing.LogicError},
		{"404 where 200 was wanted", testreport.Test{Kind: testreport.KindAssertion, Message: "assert 404 == 200"}, routing.NotImplemented},
		{"200 where 404 was wanted", testreport.Test{Kind: testreport.KindAssertion, Message: "assert 200 == 404"}, routing.LogicError},
		{"database is down", testreport.Test{Kind: testreport.KindError, Type: "ConnectionRefusedError", Message: "ConnectionRefusedError: [Errno 111] Connection refused"}, routing.EnvIssue},
		{"runner's limit", testreport.Test{Kind: testreport.KindTimeout, Message: "Exceeded timeout of 5000 ms for a test."}, routing.Timeout},
		{"jest's limit in words", testreport.Test{Message: "thrown: \"Exceeded timeout of 5000 ms for a test."}, routing.Timeout},
		{"missing project module", testreport.Test{Kind: testreport.KindSetup, Message: "ModuleNotFoundError: No module named 'app.services'"}, routing.TypeError},
		{"missing dependency", testreport.Test{Kind: testreport.KindSetup, Message: "ModuleNotFoundError: No module named 'numpy'"}, routing.EnvIssue},
		{"missing relative module", testreport.Test{Kind: testreport.KindSetup, Message: "Cannot find module './slug' from 'test/slug.test.js'"}, routing.TypeError},
		{"build", testreport.Test{Kind: testreport.KindBuild, Message: "a_test.go:5:2: undefined: Foo"}, routing.TypeError},
		{"python arguments", testreport.Test{Kind: testreport.KindError, Type: "TypeError", Message: "add() missing 1 required positional argument: 'b'"}, routing.TypeError},
		{"race", testreport.Test{Kind: testreport.KindRace, Message: "WARNING: DATA RACE"}, routing.LogicError},
		{"no words", testreport.Test{}, routing.LogicError},
		{"passed on a rerun", testreport.Test{Flaky: true, Message: "boom"}, routing.Flaky},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test.Name, c.test.Status, c.test.At = "t", testreport.Failed, 3
			d := Diagnose(&testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: []testreport.Test{c.test}}, nil, Options{})
			checkInvariants(t, d)
			if d.Class != c.want {
				t.Errorf("%s (%+v), want %s", d.Class, d.Failures[0].Evidence, c.want)
			}
			if d.Failures[0].Evidence[0].Line != 3 {
				t.Errorf("evidence without its line: %+v", d.Failures[0].Evidence)
			}
		})
	}
}
