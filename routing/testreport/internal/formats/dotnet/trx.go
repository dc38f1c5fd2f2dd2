package dotnet

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// trxFormat reads the results files of Visual Studio: MSTest, and any .NET
// test run by VSTest or Microsoft.Testing.Platform with its TRX logger.
var trxFormat = format.Format{Name: "trx", Order: 20, Opens: []string{"TestRun"}, Detect: detectTRX, Document: readTRX}

func detectTRX(head []byte) int {
	n, rest := xmlstream.Root(head)
	switch {
	case n != "TestRun":
		return 0
	case bytes.Contains(xmlstream.RootTag(rest), []byte("microsoft.com/schemas/VisualStudio/TeamTest")):
		return 95
	case bytes.Contains(rest, []byte("<UnitTestResult")), bytes.Contains(rest, []byte("<ResultSummary")), bytes.Contains(rest, []byte("<TestDefinitions")):
		return 80
	}
	return 0
}

// trxReader is the state of one document. The class of a test stands in the
// definitions, which VSTest writes after the results and Visual Studio before.
type trxReader struct {
	*xmlstream.Doc
	classes map[guid]string // of definitions that came before the results
	names   map[string]string
	wanted  map[guid]bool // ids whose class is asked for, nil for all
	held    []trxHeld
	bytes   int
	defined bool     // definitions were read
	parent  *trxHeld // a data-driven test whose rows may follow
	passing int      // passing results so far, parents of rows too
	failing int      // failing tests so far, held ones and parents of rows too
	summed  []trxSummary
}

// trxSummary is what <ResultSummary> says, which stands before or behind the results.
type trxSummary struct {
	line, failed int
	passed       int // -1 if not said
	outcome      string
	infos        []model.Problem
}

type guid [16]byte

// trxHeld is a test that waits for its class.
type trxHeld struct {
	id guid
	t  model.Test
}

const trxClasses = 300000

func readTRX(d *format.Document) error {
	r := &trxReader{Doc: xmlstream.NewDoc(d, "TRX")}
	return r.Roots(func(tok xmlstream.Token) error {
		r.classes, r.names, r.defined = map[guid]string{}, map[string]string{}, false
		r.failing, r.passing, r.summed = 0, 0, nil
		bad := r.Bad
		err := r.Children(r.part)
		r.flushParent()
		r.flush()
		for _, s := range r.summed {
			r.conclusion(s, bad)
		}
		return err
	}, "TestRun")
}

func (r *trxReader) part(tok xmlstream.Token) error {
	switch tok.Name {
	case "Results":
		return r.Children(func(tok xmlstream.Token) error { return r.result(tok, 0) })
	case "UnitTestResult":
		return r.result(tok, 0)
	case "TestDefinitions":
		r.flushParent()
		r.wanted = nil
		if len(r.held) > 0 {
			r.wanted = make(map[guid]bool, len(r.held))
			for _, h := range r.held {
				r.wanted[h.id] = true
			}
		}
		err := r.Children(r.definition)
		r.defined = true
		r.flush()
		return err
	case "ResultSummary":
		r.flushParent()
		return r.summary(tok)
	}
	return r.XML.Skip()
}

// parseGUID reads 32 hexadecimal digits; other ids are folded into a guid.
func parseGUID(s string) (g guid) {
	s = strings.ReplaceAll(strings.Trim(s, "{}"), "-", "")
	if len(s) == 32 {
		if _, err := hex.Decode(g[:], []byte(s)); err == nil {
			return g
		}
	}
	copy(g[:], s)
	return g
}

// definition reads <UnitTest>, which names the class of a test.
func (r *trxReader) definition(tok xmlstream.Token) error {
	id, class := parseGUID(r.XML.Attr("id")), ""
	err := r.Children(func(tok xmlstream.Token) error {
		if tok.Name == "TestMethod" {
			class, _, _ = strings.Cut(r.Attr("className"), ",")
			class = strings.TrimSpace(class)
		}
		return r.XML.Skip()
	})
	if class == "" || len(r.classes) >= trxClasses || r.wanted != nil && !r.wanted[id] {
		return err
	}
	if c, ok := r.names[class]; ok {
		class = c
	} else {
		r.names[class] = class
	}
	r.classes[id] = class
	return err
}

// isTRXResult reports whether an element is one that hold the result of a test, by its kind.
func isTRXResult(name string) bool {
	return strings.HasSuffix(name, "Result") && name != "Result" || name == "TestResultAggregation"
}

// result reads <UnitTestResult>; with inner results, those are the tests.
func (r *trxReader) result(tok xmlstream.Token, depth int) error {
	if !isTRXResult(tok.Name) || depth > r.Limits.Depth {
		return r.XML.Skip()
	}
	h := trxHeld{id: parseGUID(r.XML.Attr("testId")), t: model.Test{Name: r.Attr("testName"), At: tok.Line, Duration: clock(r.XML.Attr("duration"))}}
	outcome, typ := r.Attr("outcome"), r.Attr("resultType")
	inner := false
	failing := r.failing
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "Output":
			return r.output(&h.t)
		case "InnerResults":
			return r.Children(func(tok xmlstream.Token) error {
				inner = inner || isTRXResult(tok.Name)
				return r.result(tok, depth+1)
			})
		}
		return r.XML.Skip()
	})
	if err != nil && h.t.Message == "" {
		return err
	}
	r.conclude(&h.t, outcome)
	if h.t.Status == model.Passed {
		r.passing++
	}
	switch {
	case inner && (h.t.Status != model.Failed || r.failing > failing):
		// Its rows are the tests; VSTest counts it as well.
		if h.t.Status == model.Failed {
			r.failing++
		}
	case typ == "DataDrivenTest" && !inner:
		r.flushParent()
		r.parent = &h
	default:
		if r.parent != nil && typ == "DataDrivenDataRow" && r.parent.id == h.id {
			if r.parent.t.Status == model.Failed {
				r.failing++
			}
			r.parent = nil
		} else if r.parent != nil && typ != "DataDrivenDataRow" {
			r.flushParent()
		}
		r.hold(h)
	}
	return err
}

func (r *trxReader) flushParent() {
	if p := r.parent; p != nil {
		r.parent = nil
		r.hold(*p)
	}
}

// output reads <Output>.
func (r *trxReader) output(t *model.Test) error {
	return r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "ErrorInfo":
			t.At = tok.Line
			return r.Fields(map[string]*string{"Message": &t.Message, "StackTrace": &t.Trace})
		case "StdOut":
			return r.Into(&t.Output)
		}
		return r.XML.Skip()
	})
}

// conclude sets the status of a test by its outcome.
func (r *trxReader) conclude(t *model.Test, outcome string) {
	switch strings.ToLower(outcome) {
	case "passed", "warning", "passedbutrunaborted", "completed":
		t.Status = model.Passed
	case "failed", "error", "":
		t.Status = model.Failed // Error is the default value, which writers leave out
	case "timeout":
		t.Status, t.Kind = model.Failed, model.KindTimeout
	case "aborted", "disconnected":
		t.Status, t.Kind = model.Failed, model.KindCrash
	case "notexecuted", "inconclusive", "notrunnable", "pending", "skipped", "ignored", "notfound":
		t.Status = model.Skipped
	case "inprogress":
		t.Status, t.Kind = model.Failed, model.KindCrash // it never ended
	default:
		t.Status = model.Other
	}
	if t.Status != model.Failed {
		t.Trace, t.Output = "", ""
		if t.Status == model.Passed {
			t.Message = ""
		}
		return
	}
	if m := dotNetType.FindStringSubmatch(t.Message); m != nil {
		t.Type = m[1]
	} else if m := msTestType.FindStringSubmatch(t.Message); m != nil {
		t.Type = m[1]
	}
	if t.Kind == "" && parse.HasAny(t.Name, "[Test Class Cleanup Failure", "[Test Collection Cleanup Failure", "[Test Assembly Cleanup Failure", "[Test Cleanup Failure") ||
		parse.HasAny(t.Message, "Initialization method ", "Class Initialization method", "TestCleanup method", "OneTimeSetUp: ", "SetUp : ") {
		t.Kind = model.KindSetup
	}
	if t.Message == "" && t.Trace == "" {
		t.Message = "the outcome of the test is " + parse.FirstOf(outcome, "not stated")
	}
	r.Explain(t)
}

// hold keeps a test until its class is known, if that may come to pass.
func (r *trxReader) hold(h trxHeld) {
	if h.t.Status == model.Failed {
		r.failing++
	}
	if r.defined {
		r.emit(h)
		return
	}
	r.held = append(r.held, h)
	r.bytes += len(h.t.Message) + len(h.t.Trace) + len(h.t.Output) + len(h.t.Name) + 400
	if len(r.held) >= failtext.HoldTests || r.bytes > failtext.HoldBytes {
		r.shed()
	}
}

// shed hands on the passing tests that are held, and all if that is not enough.
func (r *trxReader) shed() {
	keep := r.held[:0]
	r.bytes = 0
	for _, h := range r.held {
		if h.t.Status != model.Failed {
			r.emit(h)
			continue
		}
		keep = append(keep, h)
		r.bytes += len(h.t.Message) + len(h.t.Trace) + len(h.t.Output) + len(h.t.Name) + 400
	}
	clear(r.held[len(keep):])
	if r.held = keep; len(keep) > failtext.HoldTests/2 || r.bytes > failtext.HoldBytes/2 {
		r.flush()
	}
}

func (r *trxReader) flush() {
	for _, h := range r.held {
		r.emit(h)
	}
	clear(r.held)
	r.held, r.bytes = r.held[:0], 0
}

func (r *trxReader) emit(h trxHeld) {
	t := h.t
	if t.Suite = r.classes[h.id]; t.Suite == "" {
		if class, name := splitMember(t.Name); class != "" && !strings.Contains(class, " ") {
			t.Suite, t.Name = class, name
		}
	}
	t.Name = strings.TrimPrefix(t.Name, t.Suite+".")
	r.Test(t)
}

// summary reads <ResultSummary>: counters, and what went wrong outside tests.
func (r *trxReader) summary(tok xmlstream.Token) error {
	s := trxSummary{line: tok.Line, outcome: r.Attr("outcome"), passed: -1}
	err := r.Children(func(in xmlstream.Token) error {
		switch in.Name {
		case "Counters":
			s.passed = parse.Declared(r.Attr("passed"))
			for _, a := range [...]string{"failed", "error", "timeout", "aborted"} {
				s.failed += max(0, parse.Declared(r.Attr(a)))
			}
		case "RunInfos":
			return r.Children(func(in xmlstream.Token) error { return r.runInfo(in, &s) })
		}
		return r.XML.Skip()
	})
	r.summed = append(r.summed[:min(len(r.summed), 20)], s)
	return err
}

// runInfo reads what the runner said outside tests. What it repeats of them is
// left out: xUnit.net's "[FAIL]" and the exit code of a platform.
func (r *trxReader) runInfo(tok xmlstream.Token, s *trxSummary) error {
	if tok.Name != "RunInfo" {
		return r.XML.Skip()
	}
	outcome, text := r.Attr("outcome"), ""
	err := r.Fields(map[string]*string{"Text": &text})
	switch {
	case outcome == "Error" || outcome == "Failed" || outcome == "Aborted":
		if len(s.infos) < 50 {
			s.infos = append(s.infos, model.Problem{Kind: runInfoKind(text), At: tok.Line, Message: parse.FirstOf(text, "the runner reports an error and says no more")})
		}
	case outcome == "Warning" && text != "":
		r.Out.Cut("the runner warns: " + bounded.CutText(text, 300))
	}
	return err
}

func runInfoKind(text string) model.Kind {
	t := strings.ToLower(text)
	switch {
	case parse.HasAny(t, "crash", "aborted", "exited unexpectedly", "stack overflow"):
		return model.KindCrash
	case parse.HasAny(t, "timed out", "timeout", "hang"):
		return model.KindTimeout
	case parse.HasAny(t, "cleanup", "initialize", "fixture", "could not load", "could not find"):
		return model.KindSetup
	}
	return model.KindExit
}

// conclusion hands on what the summary says and the tests do not.
func (r *trxReader) conclusion(s trxSummary, bad int) {
	for _, p := range s.infos {
		if r.failing > 0 && (strings.HasSuffix(p.Message, "[FAIL]") || strings.HasPrefix(p.Message, "Exit code indicates failure")) {
			continue
		}
		r.Problem(p)
	}
	r.Shortfall("", s.line, s.failed, r.failing)
	r.Fewer("", s.line, s.passed, r.passing)
	switch s.outcome {
	case "Failed", "Error", "Aborted", "Timeout", "Disconnected", "PassedButRunAborted":
		if r.failing == 0 && r.Bad == bad {
			r.Problem(model.Problem{Kind: model.KindExit, At: s.line, Message: "the outcome of the run is " + s.outcome + ", but no test says why"})
		}
	}
}

// msTestType is the exception that MSTest puts into the message.
var msTestType = lazyregexp.New(`(?:threw exception:|Exception thrown:)\s*\n?\s*([A-Za-z_][\w.+]*(?:Exception|Error)):`)

// clock reads a duration as .NET writes it: [days.]hours:minutes:seconds.
func clock(s string) time.Duration {
	parts := strings.Split(strings.TrimSpace(s), ":")
	if len(parts) != 3 {
		return 0
	}
	var days float64
	if d, h, ok := strings.Cut(parts[0], "."); ok {
		days, _ = strconv.ParseFloat(d, 64)
		parts[0] = h
	}
	h, err1 := strconv.ParseFloat(parts[0], 64)
	m, err2 := strconv.ParseFloat(parts[1], 64)
	sec := parse.Seconds(parts[2])
	if err1 != nil || err2 != nil || !(h >= 0 && m >= 0 && days >= 0 && days < 1000 && h < 10000 && m < 100000) {
		return 0
	}
	return time.Duration(((days*24+h)*60+m)*60*float64(time.Second)) + sec
}
