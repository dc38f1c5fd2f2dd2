package testreport

import (
	"net/url"
	"strings"
)

func (s *sarifRun) result() (sarifResult, bool) {
	r := s.r
	one := sarifResult{rule: -1, artifact: -1, d: Diagnostic{At: r.at()}}
	first := true
	whole := r.object(func(key string) {
		switch key {
		case "ruleId":
			one.d.Code = r.short(300)
		case "ruleIndex":
			one.rule = r.int()
		case "rule":
			r.object(func(key string) {
				switch key {
				case "id":
					one.d.Code = firstOf(one.d.Code, r.short(300))
				case "index":
					one.rule = r.int()
				}
			})
		case "level":
			one.level = r.short(20)
		case "kind":
			one.kind = r.short(40)
		case "baselineState":
			one.absent = r.short(40) == "absent"
		case "message":
			s.message(&one)
		case "suppressions":
			s.suppressions(&one)
		case "locations":
			r.array(func() {
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
	r.object(func(key string) {
		switch key {
		case "text":
			one.d.Message = r.str()
		case "markdown":
			if one.d.Message == "" {
				one.d.Message = r.str()
			}
		case "id":
			one.message = r.short(200)
		case "arguments":
			r.array(func() {
				if a := r.short(500); len(one.args) < 20 {
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
	r.array(func() {
		status := "accepted"
		r.object(func(key string) {
			switch key {
			case "status":
				status = r.short(40)
			case "state": // before 2.1.0-rtm
				status = r.short(40)
			}
		})
		one.suppressd = one.suppressd || status == "accepted"
	})
}

func (s *sarifRun) location(one *sarifResult) {
	r := s.r
	r.object(func(key string) {
		if key != "physicalLocation" {
			return
		}
		r.object(func(key string) {
			switch key {
			case "artifactLocation":
				one.d.File, one.artifact = s.artifact()
			case "region":
				r.object(func(key string) {
					switch key {
					case "startLine":
						one.d.Line = max(r.int(), 0)
					case "startColumn":
						one.d.Column = max(r.int(), 0)
					}
				})
			}
		})
	})
}

func (s *sarifRun) artifact() (file string, index int) {
	index = -1
	r := s.r
	r.object(func(key string) {
		switch key {
		case "uri":
			file = sarifPath(r.short(2000))
		case "index":
			index = r.int()
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
	d.Tool, d.Code = s.tool, firstOf(d.Code, rule.id)
	if d.Message == "" {
		d.Message = sarifMessage(rule, one)
	}
	switch firstOf(one.level, rule.level, "warning") {
	case "error":
		d.Severity = SevError
	case "note", "none":
		d.Severity = SevNote
	default:
		d.Severity = SevWarning
	}
	s.d.out.Diagnostic(d)
}

// sarifMessage puts the arguments into the rule's message.
func sarifMessage(rule sarifRule, one sarifResult) string {
	text := firstOf(rule.messages[one.message], rule.text)
	for i, a := range one.args {
		if i > 9 {
			break
		}
		text = strings.ReplaceAll(text, "{"+string(rune('0'+i))+"}", a)
	}
	return text
}
