package generic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// xmlReportFormat reads XML reports that have no reader of their own, by their structure: elements
// named as tests, each with a status or a failure inside. UnitTest++, GTester, FPCUnit, MbUnit and
// Android's CTS write such reports. A status word that is not known is a problem, and a document
// that leaves open whether its tests passed is refused.
var xmlReportFormat = format.Format{Name: "xml-report", Order: 900, Detect: detectXMLReport, Document: readXMLReport}

// caseElements are elements that hold one test, unless they hold other such elements. Names are
// compared in lower case, without "-" and "_".
var caseElements = []string{
	"test", "testcase", "case", "unittest", "testmethod", "testresult", "unittestresult", "spec", "scenario",
	"testfunction", "teststeprun", "run", "failedtest", "successfultest",
}

var caseTag = lazyregexp.New(`(?i)<(?:\w+:)?(?:unit-?_?)?(?:test[-_]?(?:case|method|result|function|steprun)?|case|spec|scenario|run)[\s/>]`)

// otherRoots are documents in which elements of such names are not results.
var otherRoots = []string{"html", "svg", "project", "plist", "rss", "feed", "beans", "configuration", "xliff", "coverage", "checkstyle", "pmd", "bugcollection", "resources", "manifest", "testplan"}

func detectXMLReport(head []byte) int {
	root, rest := xmlstream.Root(head)
	if root == "" || slices.Contains(otherRoots, plainName(root)) || !caseTag.Match(rest) {
		return 0
	}
	return 51
}

func plainName(s string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s))
}

// finding is what one attribute or element says of a test. Of several the highest counts: a report
// that contradicts itself is not green.
type finding uint8

const (
	unstated finding = iota
	statesPass
	statesSkip
	unknownWord
	statesFailure
)

// statusWords are the words of statuses in all the formats known; lower case, without separators.
var statusWords = func() map[string]finding {
	m := map[string]finding{}
	for f, words := range map[finding]string{
		statesPass:    "pass passed ok success successful succeeded passing good green",
		statesSkip:    "skip skipped ignore ignored disabled notrun notexecuted omitted pending todo inconclusive na notapplicable excluded filtered untested deselected assumptionfailure",
		statesFailure: "fail failed failure failing error errored errors ko broken crash crashed abort aborted timeout timedout killed interrupted fatal bad unsuccessful red notok invalid notrunnable unexpectedpass",
		unstated:      "run completed complete done finished executed ran end ended",
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] = f
		}
	}
	return m
}()

func findingOfWord(value string) finding {
	word := strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case strings.ContainsRune("-_ /.!", c):
			return -1
		}
		return c
	}, strings.TrimSpace(value))
	if word == "" {
		return unstated
	}
	if f, ok := statusWords[word]; ok {
		return f
	}
	return unknownWord
}

// findingOf returns what an attribute or a short element says of the test that has it.
func findingOf(name, value string) finding {
	value = strings.TrimSpace(value)
	yes, no := strings.EqualFold(value, "true") || strings.EqualFold(value, "yes"), strings.EqualFold(value, "false") || strings.EqualFold(value, "no")
	n, err := strconv.Atoi(value)
	number := err == nil
	switch plainName(name) {
	case "status", "result", "outcome", "verdict", "teststatus", "testresult", "testoutcome", "conclusion", "state":
		switch {
		case yes:
			return statesPass
		case no:
			return statesFailure
		}
		return findingOfWord(value)
	case "success", "succeeded", "passed", "pass", "issuccess":
		switch {
		case yes, number && n > 0:
			return statesPass
		case no:
			return statesFailure
		case value == "" || number && strings.HasPrefix(plainName(name), "pass"):
			return unstated // a count
		}
		return unknownWord
	case "fail", "failed", "failures", "isfailed", "err", "error", "errors", "failure", "crashed", "timedout":
		if value == "" || no || number && n == 0 {
			return unstated
		}
		return statesFailure
	case "skip", "skipped", "ignored", "ignore", "disabled":
		if value == "" || no || number && n == 0 {
			return unstated
		}
		return statesSkip
	case "executed":
		if no || number && n == 0 {
			return statesSkip
		}
	}
	return unstated
}

// What an element inside a test is.
var (
	failureElements = []string{"failure", "failures", "error", "errors", "fault", "exception", "failed", "fail", "crash", "assertionfailure", "fatalerror", "failedscene", "assertfailure", "uncaughtexception"}
	skipElements    = []string{"skipped", "skip", "ignored", "ignore", "disabled"}
	statusElements  = []string{"status", "result", "outcome", "verdict", "success", "passed", "state", "testresult", "teststatus"}
	messageElements = []string{"message", "exceptionmessage", "reason", "failuremessage", "errormessage"}
	traceElements   = []string{"stacktrace", "trace", "callstack", "backtrace", "traceback"}
	nameElements    = []string{"name", "title", "testname", "description", "fullname"}
	outputElements  = []string{"systemout", "systemerr", "consoleout", "consoleerror", "stdout", "stderr", "output", "properties", "property", "metadata"}
)

// xmlReport is the state of one document.
type xmlReport struct {
	*xmlstream.Doc
	path []string // names of the elements around

	stated   int // tests with a status or a failure
	failures int // of them with an element that states a failure
	bare     []model.Test
	unknown  map[string]int // status words that are not known
	lost     int            // bare tests that were not kept

	counted  bool // the document has counts of failures
	declared int  // the highest of them
	total    int  // the highest count of tests
}

func readXMLReport(d *format.Document) error {
	r := &xmlReport{Doc: xmlstream.NewDoc(d, "XML"), unknown: map[string]int{}}
	err := r.AnyRoot(func(tok xmlstream.Token) error { return r.element(tok, nil) })
	if err != nil {
		return err
	}
	return r.finish()
}

// maxBare is how many tests without a status are kept until the end of the document tells what it
// means to have none.
const maxBare = 20_000

// finish hands on the tests without a status, if the rest of the document says what they are.
func (r *xmlReport) finish() error {
	found := r.stated + len(r.bare) + r.lost
	if found == 0 {
		return fmt.Errorf("%w: it holds no element that is certainly a test", model.ErrUnknownFormat)
	}
	if len(r.bare) > 0 {
		// Without a status a test passed where failures stand inside tests, which one that failed or
		// a count of failures shows.
		complete := r.counted && r.total == found && r.lost == 0
		switch {
		case r.failures > 0 || complete:
			for _, t := range r.bare {
				r.Test(t)
			}
		case r.stated == 0:
			return fmt.Errorf("%w: its tests have no status, and nothing says that none failed", model.ErrUnknownFormat)
		default:
			r.Problem(model.Problem{Kind: model.KindTruncated, At: r.bare[0].At, Message: fmt.Sprintf("%d tests have no status", len(r.bare)+r.lost)})
		}
	}
	if len(r.unknown) > 0 {
		words := make([]string, 0, len(r.unknown))
		n := 0
		for w, k := range r.unknown {
			n += k
			words = append(words, strconv.Quote(w))
		}
		slices.Sort(words)
		r.Problem(model.Problem{Kind: model.KindTruncated, At: 1,
			Message: fmt.Sprintf("%d tests have a status that is not known: %s", n, strings.Join(words[:min(len(words), 5)], ", "))})
	}
	if r.Failed+r.Bad == 0 {
		r.Shortfall("", 1, r.declared, 0)
	}
	r.Fewer("", 1, r.total, found)
	r.Complain()
	return nil
}

// xmlCase is an open element named as a test.
type xmlCase struct {
	t         model.Test
	says      finding
	word      string  // that is not known
	inner     finding // of elements that are not known, for a test that has no status itself
	failure   bool    // by an element
	container bool    // it holds other tests
}

// say notes a finding of the test.
func (c *xmlCase) say(f finding, value string) {
	if f == unknownWord && c.word == "" {
		c.word = bounded.CutText(strings.TrimSpace(value), 60)
	}
	c.says = max(c.says, f)
}

// element reads the element just opened; in is the test that it stands in, nil for none.
func (r *xmlReport) element(tok xmlstream.Token, in *xmlCase) error {
	name := plainName(tok.Name)
	switch {
	case slices.Contains(outputElements, name):
		return r.XML.Skip()
	case name == "run" && r.Attr("name") == "": // a run of tests, or a count
	case slices.Contains(caseElements, name):
		if in != nil {
			if in.holds(name, r.XML) {
				return r.field(tok, name, in)
			}
			in.container = true
		}
		return r.testCase(tok)
	}
	if in != nil {
		return r.field(tok, name, in)
	}
	return r.around(tok, name)
}

// holds reports whether an element inside a test is its result and not another test.
func (c *xmlCase) holds(name string, x *xmlstream.Reader) bool {
	return name == "testresult" && x.Attr("name") == ""
}

// around reads an element outside the tests: a suite, a summary, a failure of a suite.
func (r *xmlReport) around(tok xmlstream.Token, name string) error {
	r.counts()
	says := unstated
	for _, a := range r.XML.Attrs {
		if _, err := strconv.Atoi(a.Value); err != nil { // numbers are counts
			says = max(says, findingOf(a.Name, a.Value))
		}
	}
	if r.Attr("done") == "false" {
		r.Problem(model.Problem{Kind: model.KindTruncated, Name: r.Attr("name"), At: tok.Line, Message: "the report says that " + parse.FirstOf(r.Attr("name"), tok.Name) + " was not completed"})
	}
	if done, all := parse.Declared(r.Attr("modules_done")), parse.Declared(r.Attr("modules_total")); done >= 0 && done < all {
		r.Problem(model.Problem{Kind: model.KindTruncated, At: tok.Line, Message: fmt.Sprintf("%d of %d modules were run", done, all)})
	}
	title, message := r.title(), r.Attr("message")
	failed, bad := r.Failed, r.Bad
	if len(r.path) < r.Limits.Depth {
		r.path = append(r.path, title)
		defer func() { r.path = r.path[:len(r.path)-1] }()
	}
	text, err := r.mixed(func(tok xmlstream.Token) error { return r.element(tok, nil) })
	if n, e := strconv.Atoi(strings.TrimSpace(text)); e == nil {
		r.count(name, n)
	}
	if err != nil {
		return err
	}
	failure := slices.Contains(failureElements, name) && (strings.TrimSpace(text) != "" || message != "") && !number(text)
	switch {
	case r.Failed > failed || r.Bad > bad:
	case failure:
		r.Problem(model.Problem{Kind: model.KindPackage, Name: r.suite(), At: tok.Line, Message: parse.FirstOf(message, text)})
	case says == statesFailure && tok.Name != "":
		r.Problem(model.Problem{Kind: model.KindExit, Name: title, At: tok.Line, Message: "the result of " + parse.FirstOf(title, tok.Name) + " is a failure, but no test says why"})
	}
	return nil
}

func number(s string) bool {
	_, err := strconv.Atoi(strings.TrimSpace(s))
	return err == nil
}

// counts notes the counts of the element just opened.
func (r *xmlReport) counts() {
	for _, a := range r.XML.Attrs {
		if n, err := strconv.Atoi(a.Value); err == nil {
			r.count(plainName(a.Name), n)
		}
	}
}

func (r *xmlReport) count(name string, n int) {
	switch {
	case strings.Contains(name, "expected") || strings.Contains(name, "assert"):
	case strings.Contains(name, "fail") || strings.Contains(name, "error"):
		r.counted, r.declared = true, max(r.declared, n)
	case slices.Contains([]string{"tests", "total", "testcount", "totaltests", "numtests", "testcasecount", "numberoftests", "numberofruntests", "numberofrunnedtests", "runcount", "numberoftestcases"}, name):
		r.total = max(r.total, n)
	}
}

// title returns what the attributes of the element just opened call it.
func (r *xmlReport) title() string {
	for _, want := range [...]string{"name", "title", "fullname", "displayname", "testname", "path", "method", "id", "description"} {
		for _, a := range r.XML.Attrs {
			if a.Value != "" && plainName(a.Name) == want {
				return bounded.CleanText(a.Value)
			}
		}
	}
	return ""
}

// suite returns the names of the elements around, without that of the root.
func (r *xmlReport) suite() string {
	names := make([]string, 0, len(r.path))
	for i, n := range r.path {
		if n != "" && i > 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, " > ")
}

// testCase reads an element named as a test.
func (r *xmlReport) testCase(tok xmlstream.Token) error {
	c := &xmlCase{t: model.Test{Status: model.Passed, Name: r.title(), At: tok.Line}}
	r.attributes(c)
	if plainName(tok.Name) == "failedtest" {
		c.says = statesFailure
	}
	failed, bad := r.Failed, r.Bad
	name := c.t.Name
	if len(r.path) < r.Limits.Depth {
		r.path = append(r.path, name)
		defer func() { r.path = r.path[:len(r.path)-1] }()
	}
	text, err := r.mixed(func(tok xmlstream.Token) error { return r.element(tok, c) })
	if text != "" && c.says == statesFailure && c.t.Message == "" {
		c.t.Message = text
	}
	switch {
	case c.container:
		if c.says >= unknownWord && r.Failed == failed && r.Bad == bad && err == nil {
			r.Problem(model.Problem{Kind: model.KindExit, Name: name, At: tok.Line, Message: "the result of " + parse.FirstOf(name, tok.Name) + " is no success, but no test in it says why"})
		}
	case err == nil || c.says == statesFailure:
		r.emit(c)
	}
	return err
}

// attributes reads what the start tag of a test says.
func (r *xmlReport) attributes(c *xmlCase) {
	for _, a := range r.XML.Attrs {
		c.say(findingOf(a.Name, a.Value), a.Value)
		switch plainName(a.Name) {
		case "classname", "class", "suite", "suitename", "fixture", "typename":
			c.t.Suite = parse.FirstOf(c.t.Suite, bounded.CleanText(a.Value))
		case "time", "duration", "elapsed", "elapsedtime":
			c.t.Duration = parse.Seconds(a.Value)
		case "file", "filename", "sourcefile":
			c.t.File = bounded.CleanText(a.Value)
		case "line", "lineno", "linenumber":
			c.t.Line = max(0, parse.Declared(a.Value))
		case "message":
			c.t.Message = bounded.CleanText(a.Value)
		}
	}
}

// emit hands on a test, or keeps it if it has no status.
func (r *xmlReport) emit(c *xmlCase) {
	t := &c.t
	if t.Suite == "" {
		last := r.path
		r.path = r.path[:max(0, len(r.path)-1)]
		t.Suite = r.suite()
		r.path = last
	}
	if c.failure {
		r.failures++
	}
	if c.says == unstated && c.inner >= unknownWord {
		c.says, c.word = c.inner, "of a part of the test"
	}
	switch c.says {
	case unstated:
		if len(r.bare) < maxBare {
			r.bare = append(r.bare, *t)
		} else {
			r.lost++
		}
		return
	case statesSkip:
		t.Status = model.Skipped
	case unknownWord:
		t.Status = model.Other
		if r.unknown[c.word] > 0 || len(r.unknown) < 50 {
			r.unknown[c.word]++
		}
	case statesFailure:
		t.Status = model.Failed
		if t.Message == "" && t.Trace == "" {
			t.Message = "the test failed; the report says no more"
		}
		r.Explain(t)
	}
	r.stated++
	r.Test(*t)
}

// field reads an element inside a test that is no test itself.
func (r *xmlReport) field(tok xmlstream.Token, name string, c *xmlCase) error {
	message, typ := r.Attr("message"), r.Attr("type")
	of := func(names []string) bool { return slices.Contains(names, name) }
	switch {
	case of(statusElements):
		for _, a := range r.XML.Attrs {
			c.say(findingOf(a.Name, a.Value), a.Value)
		}
		for _, a := range [...]string{"value", "name", "code"} {
			if v := r.Attr(a); v != "" {
				c.say(findingOf("status", v), v)
			}
		}
		if message != "" {
			c.t.Message = parse.FirstOf(c.t.Message, message)
		}
		text, err := r.mixed(func(tok xmlstream.Token) error { return r.element(tok, c) })
		if len(text) < 40 { // longer is a text about it
			c.say(findingOf(name, text), text)
		}
		return err
	case of(failureElements):
		text, err := r.Content()
		if number(text) && message == "" { // a count
			c.say(findingOf(name, text), text)
			return err
		}
		c.say(statesFailure, "")
		c.failure = true
		c.t.Type = parse.FirstOf(c.t.Type, typ)
		if c.t.Message == "" {
			c.t.Message, c.t.At = message, tok.Line
		}
		if len(c.t.Trace) < r.Limits.Text {
			c.t.Trace = strings.TrimSpace(c.t.Trace + "\n" + text)
		}
		return err
	case of(skipElements):
		text, err := r.Content()
		if f := findingOf(name, parse.FirstOf(text, message, "yes")); f != unstated {
			c.say(f, "")
			c.t.Message = parse.FirstOf(c.t.Message, message, text)
		}
		return err
	case of(messageElements):
		return r.first(&c.t.Message)
	case of(traceElements):
		return r.first(&c.t.Trace)
	case name == "exceptionclass" || name == "exceptiontype":
		return r.first(&c.t.Type)
	case of(nameElements):
		return r.first(&c.t.Name)
	case name == "sourceunitname":
		return r.first(&c.t.File)
	case name == "linenumber":
		var s string
		err := r.Into(&s)
		c.t.Line = max(0, parse.Declared(s))
		return err
	}
	if title := r.title(); name == "teststep" && c.t.Name == "" { // Gallio
		c.t.Name = title
	}
	for _, a := range r.XML.Attrs {
		c.inner = max(c.inner, findingOf(a.Name, a.Value))
	}
	return r.Children(func(tok xmlstream.Token) error { return r.element(tok, c) })
}

// first reads the text of the element just opened into s, unless s has one.
func (r *xmlReport) first(s *string) error {
	text, err := r.Content()
	*s = parse.FirstOf(*s, text)
	return err
}

// mixed reads the element just opened to its end, calls fn for each child, and returns its own text.
func (r *xmlReport) mixed(fn func(xmlstream.Token) error) (string, error) {
	own := bounded.Text{Max: r.Limits.Text}
	depth := len(r.XML.Stack) - 1
	for len(r.XML.Stack) > depth {
		r.XML.Keep = &own
		tok, err := r.XML.Next()
		r.XML.Keep = nil
		r.XML.Carry = r.XML.Carry[:0]
		if err == nil && tok.Kind == xmlstream.Start {
			err = fn(tok)
		}
		if err != nil {
			return strings.TrimSpace(own.String()), err
		}
	}
	return strings.TrimSpace(own.String()), nil
}
