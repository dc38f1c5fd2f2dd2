package testreport

import "strings"

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
		if m[2] == "failed" && x.out.failed == 0 {
			x.out.Problem(Problem{Kind: KindPackage, Name: "swift-testing", At: x.at, Message: strings.TrimSpace(strings.Clone(t))})
		}
		x.swift = map[string]*failure{}
		return true
	}
	if m := swIssue.FindStringSubmatch(t); m != nil {
		f := x.swift[m[1]]
		if f == nil {
			f = newFailure(Test{Name: strings.Trim(m[1], `"`), Status: Failed, Kind: KindAssertion, File: strings.Clone(m[3]), Message: strings.Clone(m[6]), At: x.at}, x.lim)
			f.t.Line, _, _ = leadingInt(m[4])
			f.t.Column, _, _ = leadingInt(m[5])
			if strings.HasPrefix(m[6], "Caught error: ") {
				f.t.Kind = KindError
			} else if strings.HasPrefix(m[6], "Time limit was exceeded") {
				f.t.Kind = KindTimeout
			}
			if _, both, ok := strings.Cut(m[6], "Expectation failed: ("); ok {
				if a, e, ok := strings.Cut(both, ") == "); ok {
					f.t.Actual, f.t.Expected = swiftValue(a), swiftValue(strings.TrimPrefix(e, "("))
				}
			}
			if len(x.swift) < x.lim.Failing {
				x.swift[strings.Clone(m[1])] = f
			}
		}
		f.text.add(m[6])
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
		x.out.Test(Test{Name: name, Status: Passed, Duration: spent(m[3]), At: x.at})
	case "skipped":
		x.out.Test(Test{Name: name, Status: Skipped, At: x.at})
	default:
		f := x.swift[m[1]]
		if f == nil {
			f = newFailure(Test{Name: name, Status: Failed, At: x.at}, x.lim)
		}
		f.t.Duration = spent(m[3])
		f.t.Trace = strings.TrimSpace(f.text.String())
		x.out.Test(f.t)
		delete(x.swift, m[1])
	}
	return true
}
