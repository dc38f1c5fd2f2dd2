package testreport

import "strings"

// cunitFormat reads CUnit's automated results (CUnitAutomated-Results.xml).
var cunitFormat = format{name: "cunit", order: 110, opens: []string{"CUNIT_TEST_RUN_REPORT"}, detect: detectRoot("CUNIT_TEST_RUN_REPORT"), document: readCUnit}

type cunitReader struct {
	*xmlDoc
	suite string
	open  *Test // failing; a test writes one record per failed assertion
}

func readCUnit(d *document) error {
	r := &cunitReader{xmlDoc: newXMLDoc(d, "CUnit")}
	return r.roots(func(tok xmlToken) error {
		err := r.children(r.part)
		r.flush()
		return err
	}, "CUNIT_TEST_RUN_REPORT")
}

func (r *cunitReader) flush() {
	if t := r.open; t != nil {
		r.open = nil
		r.test(*t)
	}
}

// part reads the listing, its suites (groups before CUnit 2) and their records.
func (r *cunitReader) part(tok xmlToken) error {
	switch tok.name {
	case "CUNIT_RESULT_LISTING", "CUNIT_RUN_TEST_RECORD":
		return r.children(r.part)
	case "CUNIT_RUN_SUITE", "CUNIT_RUN_GROUP", "CUNIT_RUN_SUITE_SUCCESS", "CUNIT_RUN_GROUP_SUCCESS":
		r.flush()
		return r.children(r.part)
	case "SUITE_NAME", "GROUP_NAME":
		return r.into(&r.suite)
	case "CUNIT_RUN_SUITE_FAILURE", "CUNIT_RUN_GROUP_FAILURE":
		return r.suiteFailure(tok)
	case "CUNIT_RUN_TEST_SUCCESS":
		return r.success(tok)
	case "CUNIT_RUN_TEST_FAILURE":
		return r.failure(tok)
	case "CUNIT_RUN_SUMMARY":
		r.flush()
		return r.summary()
	}
	return r.x.skip()
}

// suiteFailure reads a suite whose set-up or clean-up failed.
func (r *cunitReader) suiteFailure(tok xmlToken) error {
	r.flush()
	p := Problem{Kind: KindSetup, At: tok.line}
	err := r.fields(map[string]*string{"SUITE_NAME": &p.Name, "GROUP_NAME": &p.Name, "FAILURE_REASON": &p.Message})
	if p.Message == "" {
		p.Message = "the suite failed"
	}
	r.suite = p.Name
	r.problem(p)
	return err
}

func (r *cunitReader) success(tok xmlToken) error {
	r.flush()
	t := Test{Status: Passed, Suite: r.suite, At: tok.line}
	if err := r.fields(map[string]*string{"TEST_NAME": &t.Name}); err != nil {
		return err
	}
	r.test(t)
	return nil
}

func (r *cunitReader) failure(tok xmlToken) error {
	t := Test{Status: Failed, Suite: r.suite, At: tok.line, Kind: KindAssertion}
	var line string
	err := r.fields(map[string]*string{"TEST_NAME": &t.Name, "FILE_NAME": &t.File, "LINE_NUMBER": &line, "CONDITION": &t.Message})
	t.Line = max(0, declared(line))
	if strings.HasPrefix(t.Message, "Suite Initialization failed") || strings.HasPrefix(t.Message, "Suite Cleanup failed") {
		t.Kind = KindSetup
	}
	if t.Message == "" {
		t.Message = "an assertion failed"
	}
	if o := r.open; o != nil && o.Name == t.Name && o.Suite == t.Suite {
		if len(o.Trace) < r.lim.Text {
			o.Trace += "\n" + t.File + ":" + line + ": " + t.Message
		}
		return err
	}
	r.flush()
	r.explain(&t)
	if t.File != "" {
		t.Trace = t.File + ":" + line + ": " + t.Message
	}
	r.open = &t
	return err
}

// summary reads what CUnit counted: more failed tests than were named, or
// suites that failed, are no pass.
func (r *cunitReader) summary() error {
	return r.children(func(tok xmlToken) error {
		if tok.name != "CUNIT_RUN_SUMMARY_RECORD" {
			return r.x.skip()
		}
		var typ, failed, succeeded, inactive string
		err := r.fields(map[string]*string{"TYPE": &typ, "FAILED": &failed, "SUCCEEDED": &succeeded, "INACTIVE": &inactive})
		switch {
		case err != nil:
		case strings.HasPrefix(typ, "Test"):
			r.shortfall("", tok.line, declared(failed), r.failed)
			r.fewer("", tok.line, declared(succeeded), r.passed)
		case strings.HasPrefix(typ, "Suite") && r.failed == 0 && r.bad == 0:
			r.shortfall("", tok.line, declared(failed), 0)
		}
		return err
	})
}
