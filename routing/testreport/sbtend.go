package testreport

import (
	"fmt"
	"strings"
)

// scalaTest hands on a run of ScalaTest.
func (s *sbtConsole) scalaTest(m []string) {
	n := func(i int) int { v, _, _ := leadingInt(m[i]); return v }
	s.seen = true
	s.flush(n(1)+n(2)+n(3)+n(4)+n(5), n(2), n(3)+n(4)+n(5))
	s.counted = true
}

// totals reads sbt's own over all frameworks; ScalaTest's are more exact.
func (s *sbtConsole) totals(m []string) {
	n := func(i int) int { v, _, _ := leadingInt(m[i]); return v }
	s.seen = true
	if s.counted {
		s.counted = false
		if len(s.tests) > 0 {
			s.flush(len(s.tests), len(s.tests), 0)
		}
		return
	}
	s.flush(n(2), n(3)+n(4), max(n(2)-n(3)-n(4)-n(5), 0))
}

// abort reads how many suites were aborted.
func (s *sbtConsole) abort(count string) {
	n, _, _ := leadingInt(count)
	if n > s.aborted {
		s.out.Problem(Problem{Kind: KindSetup, Name: "sbt", At: s.at, Message: plural(n, "suite") + " aborted"})
	}
	s.aborted = 0
}

func (s *sbtConsole) flush(total, failed, skipped int) {
	s.cur, s.path, s.suite = nil, nil, ""
	for _, f := range s.tests {
		s.out.Test(explainScala(f))
	}
	named := len(s.tests)
	s.anon.emit(s.out, total-skipped-max(failed, named), Test{Status: Passed, At: s.at})
	s.anon.emit(s.out, skipped, Test{Status: Skipped, At: s.at})
	if failed > named {
		s.out.Problem(Problem{Kind: KindPackage, Name: "sbt", At: s.at, Message: fmt.Sprintf("%d failing test(s) stated, %d named", failed, named)})
	}
	s.tests, s.ran = nil, false
}

func explainScala(f *failure) Test {
	text := f.text.String()
	t := &f.t
	if strings.HasPrefix(text, "munit.") && explainMunit(t, text) {
		return *t
	}
	explainJVM(t, withoutScalaPlaces(text))
	t.Trace = text
	if file, line := placeIn(text, "", ""); t.Line == 0 && line > 0 {
		t.File, t.Line = file, line
	}
	if m := scalaPlace.FindStringSubmatch(text); m != nil {
		t.File = m[1]
		t.Line, _, _ = leadingInt(m[2])
		if t.Type == "" {
			t.Kind = firstKind("", KindAssertion)
		}
	}
	if i := strings.Index(t.Message, " was thrown."); i > 0 || strings.Contains(t.Message, "Exception: ") {
		t.Kind = KindError
	}
	return *t
}

// withoutScalaPlaces takes "(File.scala:12)" off the lines that are not frames.
func withoutScalaPlaces(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !isJVMFrame(strings.TrimSpace(l)) {
			lines[i] = scalaPlace.ReplaceAllString(l, "")
		}
	}
	return strings.Join(lines, "\n")
}

// explainMunit reads "munit.FailException: /path/S.scala:8", the source around
// the line, and what the assertion says.
func explainMunit(t *Test, text string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	typ, place, ok := strings.Cut(first, ": ")
	file, line, _, isPlace := location(place)
	if !ok || !isPlace {
		return false
	}
	t.Type, t.File, t.Line, t.Trace, t.Kind = typ, file, line, text, KindAssertion
	var msg []string
	for _, l := range strings.Split(rest, "\n") {
		if n, after, ok := leadingInt(l); ok && n > 0 && strings.HasPrefix(after, ":") && len(msg) == 0 {
			continue
		}
		if isJVMFrame(strings.TrimSpace(l)) {
			break
		}
		msg = append(msg, l)
	}
	t.Message = strings.TrimSpace(strings.Join(msg, "\n"))
	if _, after, ok := strings.Cut(t.Message, "=> Obtained\n"); ok {
		if got, diff, ok := strings.Cut(after, "\n=> Diff"); ok {
			t.Actual = strings.TrimSpace(got)
			for _, l := range strings.Split(diff, "\n")[1:] {
				if strings.HasPrefix(l, "+") {
					t.Expected = strings.TrimSpace(t.Expected + "\n" + l[1:])
				}
			}
		}
	}
	return true
}

// listed reads the suites that failed as sbt lists them.
func (s *sbtConsole) listed(name string) {
	if s.list == "error" && isIdent(name, ".$") {
		s.out.Problem(Problem{Kind: KindSetup, Name: strings.Clone(name), Message: "the suite could not be run", At: s.at})
	}
}

// task reads why a task failed: "(Test / test) sbt.TestsFailedException: …".
func (s *sbtConsole) task(name, why string) {
	s.list, s.cur = "", nil
	s.seen = true
	p := Problem{Kind: KindExit, Name: strings.Clone(name), Message: strings.Clone(why), At: s.at}
	switch {
	case strings.Contains(why, "Tests unsuccessful") && s.out.failed+len(s.tests) > 0:
		return
	case strings.Contains(why, "Compilation failed") || strings.Contains(name, "compileIncremental"):
		p.Kind = KindBuild
		s.diags.place(&p)
	case strings.Contains(why, "ResolveException") || strings.Contains(name, "update"):
		p.Kind = KindSetup
	}
	s.problem = true
	s.out.Problem(p)
}

// compiler reads scalac's messages of Scala 2 and 3.
func (s *sbtConsole) compiler(level, t string) bool {
	if len(t) > 4<<10 || !strings.Contains(t, ":") {
		return false
	}
	d := Diagnostic{Tool: "scalac", Severity: SevError, At: s.at}
	if level == "warn" {
		d.Severity = SevWarning
	}
	if m := sbtError.FindStringSubmatch(t); m != nil {
		d.File, d.Message = m[1], m[4]
		d.Line, _, _ = leadingInt(m[2])
		d.Column, _, _ = leadingInt(m[3])
	} else if m := scala3Error.FindStringSubmatch(t); m != nil {
		d.Code, d.File, d.Message = m[1], m[4], strings.TrimSpace(m[2]+m[3])
		d.Line, _, _ = leadingInt(m[5])
		d.Column, _, _ = leadingInt(m[6])
	} else {
		return false
	}
	s.seen = true
	s.diags.add(d)
	return true
}

func (s *sbtConsole) end() {
	if s.seen && (len(s.tests) > 0 || s.ran) {
		for _, f := range s.tests {
			s.out.Test(explainScala(f))
		}
		s.out.Problem(Problem{Kind: KindTruncated, At: s.at, Message: "the output of the tests ends before their totals"})
	} else if s.diags.errors > 0 && !s.problem && s.out.failed == 0 {
		p := Problem{Kind: KindBuild, Name: "sbt", Message: s.diags.first.Message, At: s.diags.first.At}
		s.diags.place(&p)
		s.out.Problem(p)
	}
	s.diags.errors, s.out.failed = 0, 0
	s.reset()
}
