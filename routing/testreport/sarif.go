package testreport

import "strings"

// sarifFormat reads SARIF 2, the results of static analysis.
var sarifFormat = format{
	name:  "sarif",
	order: 290,
	opens: []string{"$schema", "runs"}, document: readSARIF, leaves: true, lint: true,
	detect: detectJSON(`"runs"`, func(h jsonHead) bool {
		return h.has("runs") && (h.has("runs[].tool") || h.has("runs[].results") || strings.Contains(strings.ToLower(h["$schema"]), "sarif"))
	}),
}

// sarifRule is what a tool says of one of its rules.
type sarifRule struct {
	id, level string
	messages  map[string]string
	text      string
}

type sarifRun struct {
	d         *document
	r         *jsonReader
	tool      string
	rules     []sarifRule
	index     map[string]int
	artifacts []string
	held      []sarifResult // read before the tool is known
	done      bool          // the tool is known
}

// sarifResult is one result before its rule is looked up.
type sarifResult struct {
	d         Diagnostic
	rule      int
	level     string
	kind      string
	message   string // id of a message of the rule
	args      []string
	artifact  int
	suppressd bool
	absent    bool
}

func readSARIF(d *document) error {
	return readJSON(d, "sarif", func(r *jsonReader) bool {
		known := false
		r.object(func(key string) {
			if key == "runs" {
				known = true
				r.array(func() { (&sarifRun{d: d, r: r, index: map[string]int{}}).read() })
			}
		})
		return known
	})
}

func (s *sarifRun) read() {
	r := s.r
	r.object(func(key string) {
		switch key {
		case "tool":
			s.readTool()
			s.done = true
			s.flush()
		case "artifacts":
			r.array(func() {
				uri := ""
				r.object(func(key string) {
					if key == "location" {
						uri, _ = s.artifact()
					}
				})
				if len(s.artifacts) < 1<<17 {
					s.artifacts = append(s.artifacts, uri)
				}
			})
		case "results":
			r.array(func() {
				one, ok := s.result()
				if !ok {
					return
				}
				// A result may name its file by its place in a list behind it.
				if !s.done || one.d.File == "" && one.artifact >= len(s.artifacts) {
					if len(s.held) < s.d.lim.Failing {
						s.held = append(s.held, one)
						return
					}
				}
				s.emit(one)
			})
		case "invocations":
			r.array(func() { s.invocation() })
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
	r.object(func(key string) {
		switch key {
		case "driver":
			s.component(true)
		case "extensions":
			r.array(func() { s.component(false) })
		}
	})
}

func (s *sarifRun) component(driver bool) {
	r := s.r
	r.object(func(key string) {
		switch key {
		case "name":
			if name := r.short(200); driver {
				s.tool = name
			}
		case "rules":
			r.array(func() {
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
	r.object(func(key string) {
		switch key {
		case "id":
			rule.id = r.short(300)
		case "defaultConfiguration":
			r.object(func(key string) {
				if key == "level" {
					rule.level = r.short(20)
				}
			})
		case "shortDescription":
			rule.text = s.text()
		case "messageStrings":
			r.object(func(key string) {
				if text := s.text(); len(rule.messages) < 50 {
					if rule.messages == nil {
						rule.messages = map[string]string{}
					}
					rule.messages[key] = CutText(text, 1000)
				}
			})
		}
	})
	return rule
}

func (s *sarifRun) text() (text string) {
	s.r.object(func(key string) {
		if key == "text" {
			text = s.r.short(2000)
		}
	})
	return text
}

// invocation says if the tool itself failed.
func (s *sarifRun) invocation() {
	r := s.r
	at := r.at()
	ok := true
	var notes []sarifResult
	whole := r.object(func(key string) {
		switch key {
		case "executionSuccessful", "toolExecutionSuccessful":
			ok = r.truth()
		case "toolExecutionNotifications", "toolConfigurationNotifications":
			r.array(func() {
				n := s.notification()
				if n.level == "error" && len(notes) < maxOutcomes {
					notes = append(notes, n)
				}
			})
		}
	})
	if !whole || ok {
		return
	}
	if len(notes) == 0 {
		notes = []sarifResult{{d: Diagnostic{At: at, Message: "the tool says that it did not run successfully"}}}
	}
	for _, n := range notes {
		s.d.out.Problem(Problem{Kind: KindExit, Name: firstOf(s.tool, "sarif"), File: n.d.File, Line: n.d.Line, Column: n.d.Column, At: n.d.At, Message: n.d.Message})
	}
}

// notification is what a tool says of its own run.
func (s *sarifRun) notification() sarifResult {
	r := s.r
	n := sarifResult{level: "warning", d: Diagnostic{At: r.at()}}
	r.object(func(key string) {
		switch key {
		case "level":
			n.level = r.short(20)
		case "message":
			n.d.Message = s.text()
		case "locations":
			first := true
			r.array(func() {
				if first {
					s.location(&n)
				}
				first = false
			})
		}
	})
	return n
}
