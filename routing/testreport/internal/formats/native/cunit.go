package native

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// cunitFormat reads CUnit's automated results (CUnitAutomated-Results.xml).
var cunitFormat = format.Format{Name: "cunit", Order: 110, Opens: []string{"CUNIT_TEST_RUN_REPORT"}, Detect: xmlstream.DetectRoot("CUNIT_TEST_RUN_REPORT"), Document: readCUnit}

type cunitReader struct {
	*xmlstream.Doc
	suite string
	open  *model.Test // failing; a test writes one record per failed assertion
}

func readCUnit(d *format.Document) error {
	r := &cunitReader{Doc: xmlstream.NewDoc(d, "CUnit")}
	return r.Roots(func(tok xmlstream.Token) error {
		err := r.Children(r.part)
		r.flush()
		return err
	}, "CUNIT_TEST_RUN_REPORT")
}

func (r *cunitReader) flush() {
	if t := r.open; t != nil {
		r.open = nil
		r.Test(*t)
	}
}

// part reads the listing, its suites (groups before CUnit 2) and their records.
func (r *cunitReader) part(tok xmlstream.Token) error {
	switch tok.Name {
	case "CUNIT_RESULT_LISTING", "CUNIT_RUN_TEST_RECORD":
		return r.Children(r.part)
	case "CUNIT_RUN_SUITE", "CUNIT_RUN_GROUP", "CUNIT_RUN_SUITE_SUCCESS", "CUNIT_RUN_GROUP_SUCCESS":
		r.flush()
		return r.Children(r.part)
	case "SUITE_NAME", "GROUP_NAME":
		return r.Into(&r.suite)
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
	return r.XML.Skip()
}

// suiteFailure reads a suite whose set-up or clean-up failed.
func (r *cunitReader) suiteFailure(tok xmlstream.Token) error {
	r.flush()
	p := model.Problem{Kind: model.KindSetup, At: tok.Line}
	err := r.Fields(map[string]*string{"SUITE_NAME": &p.Name, "GROUP_NAME": &p.Name, "FAILURE_REASON": &p.Message})
	if p.Message == "" {
		p.Message = "the suite failed"
	}
	r.suite = p.Name
	r.Problem(p)
	return err
}

func (r *cunitReader) success(tok xmlstream.Token) error {
	r.flush()
	t := model.Test{Status: model.Passed, Suite: r.suite, At: tok.Line}
	if err := r.Fields(map[string]*string{"TEST_NAME": &t.Name}); err != nil {
		return err
	}
	r.Test(t)
	return nil
}

func (r *cunitReader) failure(tok xmlstream.Token) error {
	t := model.Test{Status: model.Failed, Suite: r.suite, At: tok.Line, Kind: model.KindAssertion}
	var line string
	err := r.Fields(map[string]*string{"TEST_NAME": &t.Name, "FILE_NAME": &t.File, "LINE_NUMBER": &line, "CONDITION": &t.Message})
	t.Line = max(0, parse.Declared(line))
	if strings.HasPrefix(t.Message, "Suite Initialization failed") || strings.HasPrefix(t.Message, "Suite Cleanup failed") {
		t.Kind = model.KindSetup
	}
	if t.Message == "" {
		t.Message = "an assertion failed"
	}
	if o := r.open; o != nil && o.Name == t.Name && o.Suite == t.Suite {
		if len(o.Trace) < r.Limits.Text {
			o.Trace += "\n" + t.File + ":" + line + ": " + t.Message
		}
		return err
	}
	r.flush()
	r.Explain(&t)
	if t.File != "" {
		t.Trace = t.File + ":" + line + ": " + t.Message
	}
	r.open = &t
	return err
}

// summary reads what CUnit counted: more failed tests than were named, or
// suites that failed, are no pass.
func (r *cunitReader) summary() error {
	return r.Children(func(tok xmlstream.Token) error {
		if tok.Name != "CUNIT_RUN_SUMMARY_RECORD" {
			return r.XML.Skip()
		}
		var typ, failed, succeeded, inactive string
		err := r.Fields(map[string]*string{"TYPE": &typ, "FAILED": &failed, "SUCCEEDED": &succeeded, "INACTIVE": &inactive})
		switch {
		case err != nil:
		case strings.HasPrefix(typ, "Test"):
			r.Shortfall("", tok.Line, parse.Declared(failed), r.Failed)
			r.Fewer("", tok.Line, parse.Declared(succeeded), r.Passed)
		case strings.HasPrefix(typ, "Suite") && r.Failed == 0 && r.Bad == 0:
			r.Shortfall("", tok.Line, parse.Declared(failed), 0)
		}
		return err
	})
}
