package mobile

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// swiftTesting reads "✘ Test name() recorded an issue at File.swift:12:3: text".
func (x *xcConsole) swiftTesting(t string) bool {
	if len(t) > 16<<10 {
		return false
	}
	if strings.HasSuffix(t, " started.") && (strings.Contains(t, " Test run started.") || x.swiftOn) {
		x.swiftOn, x.last = true, nil
		return true
	}
	if m := swRun.FindStringSubmatch(t); m != nil {
		x.swiftOn, x.last = false, nil
		if m[2] == "failed" && x.out.Failed == 0 {
			x.out.Problem(model.Problem{Kind: model.KindPackage, Name: "swift-testing", At: x.at, Message: strings.TrimSpace(strings.Clone(t))})
		}
		x.swift = map[string]*failtext.Failure{}
		return true
	}
	if m := swIssue.FindStringSubmatch(t); m != nil {
		f := x.swift[m[1]]
		if f == nil {
			f = failtext.NewFailure(model.Test{Name: strings.Trim(m[1], `"`), Status: model.Failed, Kind: model.KindAssertion, File: strings.Clone(m[3]), Message: strings.Clone(m[6]), At: x.at}, x.lim)
			f.Test.Line, _, _ = parse.LeadingInt(m[4])
			f.Test.Column, _, _ = parse.LeadingInt(m[5])
			if strings.HasPrefix(m[6], "Caught error: ") {
				f.Test.Kind = model.KindError
			} else if strings.HasPrefix(m[6], "Time limit was exceeded") {
				f.Test.Kind = model.KindTimeout
			}
			if _, both, ok := strings.Cut(m[6], "Expectation failed: ("); ok {
				if a, e, ok := strings.Cut(both, ") == "); ok {
					f.Test.Actual, f.Test.Expected = swiftValue(a), swiftValue(strings.TrimPrefix(e, "("))
				}
			}
			if len(x.swift) < x.lim.Failing {
				x.swift[strings.Clone(m[1])] = f
			}
		}
		f.Text.Add(m[6])
		x.last = f
		return true
	}
	if m := swResult.FindStringSubmatch(t); m != nil && x.swiftOn {
		x.last = nil
		return x.swiftResult(m)
	}
	return false
}

// swiftValue reads "x → 1" as 1.
func swiftValue(s string) string {
	if _, v, ok := strings.Cut(s, " → "); ok {
		s = v
	}
	return strings.TrimRight(strings.TrimSpace(s), ")")
}

func (x *xcConsole) swiftResult(m []string) bool {
	name := strings.Trim(m[1], `"`)
	if _, after, ok := strings.Cut(name, " with "); ok && strings.HasPrefix(after, "test case") {
		return true
	}
	switch m[2] {
	case "passed":
		x.out.Test(model.Test{Name: name, Status: model.Passed, Duration: parse.Spent(m[3]), At: x.at})
	case "skipped":
		x.out.Test(model.Test{Name: name, Status: model.Skipped, At: x.at})
	default:
		f := x.swift[m[1]]
		if f == nil {
			f = failtext.NewFailure(model.Test{Name: name, Status: model.Failed, At: x.at}, x.lim)
		}
		f.Test.Duration = parse.Spent(m[3])
		f.Test.Trace = strings.TrimSpace(f.Text.String())
		x.out.Test(f.Test)
		delete(x.swift, m[1])
	}
	return true
}
