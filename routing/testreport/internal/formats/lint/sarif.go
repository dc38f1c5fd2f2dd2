package lint

import (
	"net/url"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// sarifFormat reads SARIF 2, the results of static analysis.
var sarifFormat = format.Format{
	Name:  "sarif",
	Order: 290,
	Opens: []string{"$schema", "runs"}, Document: readSARIF, SelfDelimiting: true, Lint: true,
	Detect: jsonstream.Detect(`"runs"`, func(h jsonstream.Head) bool {
		return h.Has("runs") && (h.Has("runs[].tool") || h.Has("runs[].results") || strings.Contains(strings.ToLower(h["$schema"]), "sarif"))
	}),
}

// sarifRule is what a tool says of one of its rules.
type sarifRule struct {
	id, level string
	messages  map[string]string
	text      string
}

type sarifRun struct {
	d         *format.Document
	r         *jsonstream.Reader
	tool      string
	rules     []sarifRule
	index     map[string]int
	artifacts []string
	held      []sarifResult // read before the tool is known
	done      bool          // the tool is known
}

// sarifResult is one result before its rule is looked up.
type sarifResult struct {
	d         model.Diagnostic
	rule      int
	level     string
	kind      string
	message   string // id of a message of the rule
	args      []string
	artifact  int
	suppressd bool
	absent    bool
}

func readSARIF(d *format.Document) error {
	return jsonstream.ReadDocument(d, "sarif", func(r *jsonstream.Reader) bool {
		known := false
		r.Object(func(key string) {
			if key == "runs" {
				known = true
				r.Array(func() { (&sarifRun{d: d, r: r, index: map[string]int{}}).read() })
			}
		})
		return known
	})
}

func (s *sarifRun) read() {
	r := s.r
	r.Object(func(key string) {
		switch key {
		case "tool":
			s.readTool()
			s.done = true
			s.flush()
		case "artifacts":
			r.Array(func() {
				uri := ""
				r.Object(func(key string) {
					if key == "location" {
						uri, _ = s.artifact()
					}
				})
				if len(s.artifacts) < 1<<17 {
					s.artifacts = append(s.artifacts, uri)
				}
			})
		case "results":
			r.Array(func() {
				one, ok := s.result()
				if !ok {
					return
				}
				// A result may name its file by its place in a list behind it.
				if !s.done || one.d.File == "" && one.artifact >= len(s.artifacts) {
					if len(s.held) < s.d.Limits.Failing {
						s.held = append(s.held, one)
						return
					}
				}
				s.emit(one)
			})
		case "invocations":
			r.Array(func() { s.invocation() })
		}
	})
	s.flush()
}

func (s *sarifRun) flush() {
	for _, one := range s.held {
		s.emit(one)
	}
	s.held = nil
}

func (s *sarifRun) readTool() {
	r := s.r
	r.Object(func(key string) {
		switch key {
		case "driver":
			s.component(true)
		case "extensions":
			r.Array(func() { s.component(false) })
		}
	})
}

func (s *sarifRun) component(driver bool) {
	r := s.r
	r.Object(func(key string) {
		switch key {
		case "name":
			if name := r.Short(200); driver {
				s.tool = name
			}
		case "rules":
			r.Array(func() {
				rule := s.rule()
				if len(s.rules) >= 1<<16 {
					return
				}
				if driver || rule.id != "" {
					if _, ok := s.index[rule.id]; !ok {
						s.index[rule.id] = len(s.rules)
					}
					s.rules = append(s.rules, rule)
				}
			})
		}
	})
}

func (s *sarifRun) rule() sarifRule {
	var rule sarifRule
	r := s.r
	r.Object(func(key string) {
		switch key {
		case "id":
			rule.id = r.Short(300)
		case "defaultConfiguration":
			r.Object(func(key string) {
				if key == "level" {
					rule.level = r.Short(20)
				}
			})
		case "shortDescription":
			rule.text = s.text()
		case "messageStrings":
			r.Object(func(key string) {
				if text := s.text(); len(rule.messages) < 50 {
					if rule.messages == nil {
						rule.messages = map[string]string{}
					}
					rule.messages[key] = bounded.CutText(text, 1000)
				}
			})
		}
	})
	return rule
}

func (s *sarifRun) text() (text string) {
	s.r.Object(func(key string) {
		if key == "text" {
			text = s.r.Short(2000)
		}
	})
	return text
}

// invocation says if the tool itself failed.
func (s *sarifRun) invocation() {
	r := s.r
	at := r.At()
	ok := true
	var notes []sarifResult
	whole := r.Object(func(key string) {
		switch key {
		case "executionSuccessful", "toolExecutionSuccessful":
			ok = r.Truth()
		case "toolExecutionNotifications", "toolConfigurationNotifications":
			r.Array(func() {
				n := s.notification()
				if n.level == "error" && len(notes) < failtext.MaxOutcomes {
					notes = append(notes, n)
				}
			})
		}
	})
	if !whole || ok {
		return
	}
	if len(notes) == 0 {
		notes = []sarifResult{{d: model.Diagnostic{At: at, Message: "the tool says that it did not run successfully"}}}
	}
	for _, n := range notes {
		s.d.Out.Problem(model.Problem{Kind: model.KindExit, Name: parse.FirstOf(s.tool, "sarif"), File: n.d.File, Line: n.d.Line, Column: n.d.Column, At: n.d.At, Message: n.d.Message})
	}
}

// notification is what a tool says of its own run.
func (s *sarifRun) notification() sarifResult {
	r := s.r
	n := sarifResult{level: "warning", d: model.Diagnostic{At: r.At()}}
	r.Object(func(key string) {
		switch key {
		case "level":
			n.level = r.Short(20)
		case "message":
			n.d.Message = s.text()
		case "locations":
			first := true
			r.Array(func() {
				if first {
					s.location(&n)
				}
				first = false
			})
		}
	})
	return n
}

func (s *sarifRun) result() (sarifResult, bool) {
	r := s.r
	one := sarifResult{rule: -1, artifact: -1, d: model.Diagnostic{At: r.At()}}
	first := true
	whole := r.Object(func(key string) {
		switch key {
		case "ruleId":
			one.d.Code = r.Short(300)
		case "ruleIndex":
			one.rule = r.Int()
		case "rule":
			r.Object(func(key string) {
				switch key {
				case "id":
					one.d.Code = parse.FirstOf(one.d.Code, r.Short(300))
				case "index":
					one.rule = r.Int()
				}
			})
		case "level":
			one.level = r.Short(20)
		case "kind":
			one.kind = r.Short(40)
		case "baselineState":
			one.absent = r.Short(40) == "absent"
		case "message":
			s.message(&one)
		case "suppressions":
			s.suppressions(&one)
		case "locations":
			r.Array(func() {
				if first {
					s.location(&one)
				}
				first = false
			})
		}
	})
	return one, whole
}

func (s *sarifRun) message(one *sarifResult) {
	r := s.r
	r.Object(func(key string) {
		switch key {
		case "text":
			one.d.Message = r.Str()
		case "markdown":
			if one.d.Message == "" {
				one.d.Message = r.Str()
			}
		case "id":
			one.message = r.Short(200)
		case "arguments":
			r.Array(func() {
				if a := r.Short(500); len(one.args) < 20 {
					one.args = append(one.args, a)
				}
			})
		}
	})
}

// suppressions: a result is suppressed if one stands there that was not
// rejected and is not under review.
func (s *sarifRun) suppressions(one *sarifResult) {
	r := s.r
	r.Array(func() {
		status := "accepted"
		r.Object(func(key string) {
			switch key {
			case "status":
				status = r.Short(40)
			case "state": // before 2.1.0-rtm
				status = r.Short(40)
			}
		})
		one.suppressd = one.suppressd || status == "accepted"
	})
}

func (s *sarifRun) location(one *sarifResult) {
	r := s.r
	r.Object(func(key string) {
		if key != "physicalLocation" {
			return
		}
		r.Object(func(key string) {
			switch key {
			case "artifactLocation":
				one.d.File, one.artifact = s.artifact()
			case "region":
				r.Object(func(key string) {
					switch key {
					case "startLine":
						one.d.Line = max(r.Int(), 0)
					case "startColumn":
						one.d.Column = max(r.Int(), 0)
					}
				})
			}
		})
	})
}

func (s *sarifRun) artifact() (file string, index int) {
	index = -1
	r := s.r
	r.Object(func(key string) {
		switch key {
		case "uri":
			file = sarifPath(r.Short(2000))
		case "index":
			index = r.Int()
		}
	})
	return file, index
}

// sarifPath makes a path of a URI reference.
func sarifPath(uri string) string {
	rest := strings.TrimPrefix(uri, "file://")
	if len(rest) > 2 && rest[0] == '/' && rest[2] == ':' && rest != uri {
		rest = rest[1:] // file:///C:/a
	}
	if p, err := url.PathUnescape(rest); err == nil {
		return p
	}
	return rest
}

// emit hands on a result that is a finding.
func (s *sarifRun) emit(one sarifResult) {
	if one.suppressd || one.absent || one.kind != "" && one.kind != "fail" && one.kind != "open" && one.kind != "review" {
		return
	}
	var rule sarifRule
	if i, ok := s.index[one.d.Code]; ok {
		rule = s.rules[i]
	} else if one.rule >= 0 && one.rule < len(s.rules) {
		rule = s.rules[one.rule]
	}
	if one.artifact >= 0 && one.artifact < len(s.artifacts) && one.d.File == "" {
		one.d.File = s.artifacts[one.artifact]
	}
	d := one.d
	d.Tool, d.Code = s.tool, parse.FirstOf(d.Code, rule.id)
	if d.Message == "" {
		d.Message = sarifMessage(rule, one)
	}
	switch parse.FirstOf(one.level, rule.level, "warning") {
	case "error":
		d.Severity = model.SevError
	case "note", "none":
		d.Severity = model.SevNote
	default:
		d.Severity = model.SevWarning
	}
	s.d.Out.Diagnostic(d)
}

// sarifMessage puts the arguments into the rule's message.
func sarifMessage(rule sarifRule, one sarifResult) string {
	text := parse.FirstOf(rule.messages[one.message], rule.text)
	for i, a := range one.args {
		if i > 9 {
			break
		}
		text = strings.ReplaceAll(text, "{"+string(rune('0'+i))+"}", a)
	}
	return text
}
