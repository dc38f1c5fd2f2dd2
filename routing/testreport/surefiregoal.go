package testreport

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// goalFailure is why a goal of Maven failed, while the lines that say it go on.
type goalFailure struct {
	problem Problem
	text    kept
	pending bool // BUILD FAILURE; the goal has not been named yet
	tests   bool // the goal is one that runs tests
}

var (
	mavenPlace = multimatch.New(`^(?:file://)?((?:[A-Za-z]:)?[^\s:\[\]][^:\[\]]*\.\w+):\[(\d+)(?:,(\d+))?\] (.+)$`)
	mavenKt    = multimatch.New(`^(?:file://)?((?:[A-Za-z]:)?[^\s:\[\]][^:\[\]]*\.kts?): \((\d+), (\d+)\) (.+)$`)
	mavenScala = multimatch.New(`^(?:file://)?((?:[A-Za-z]:)?/[^\s:\[\]][^:\[\]]*\.scala):(\d+): (?:error: )?(.+)$`)
)

// plugin reads the lines of level error and warning that are not of a test.
func (s *surefireConsole) plugin(level, t string) bool {
	if s.place(level, t) {
		return true
	}
	if level != "ERROR" {
		return false
	}
	switch {
	case strings.HasPrefix(t, "Failed to execute goal "):
		if s.goal != nil && s.goal.pending {
			s.goal = nil
		}
		s.closeGoal()
		s.startGoal(t)
		return true
	case strings.HasPrefix(t, "COMPILATION ERROR"):
		s.closeBlock()
		return true
	case strings.HasPrefix(t, "The build could not read ") && strings.Contains(t, " project"),
		strings.HasPrefix(t, "Some problems were encountered while processing the POMs"),
		strings.HasPrefix(t, "Could not find goal '"), strings.HasPrefix(t, "No plugin found for prefix '"), strings.HasPrefix(t, "Unknown lifecycle phase "):
		s.closeGoal()
		s.problem(Problem{Kind: KindSetup, Name: "maven", Message: t, At: s.at})
		return true
	case isForkCrash(t):
		s.crashed(t)
		return true
	}
	if s.goal == nil || s.goal.pending {
		return false
	}
	if strings.HasPrefix(t, "-> [Help") || strings.HasPrefix(t, "[Help ") || strings.HasPrefix(t, "To see the full stack trace") || strings.HasPrefix(t, "Re-run Maven using") {
		s.closeGoal()
		return true
	}
	s.goal.text.add(t)
	return true
}

func isForkCrash(t string) bool {
	return strings.Contains(t, "The forked VM terminated without") || strings.Contains(t, "There was a timeout or other error in the fork") ||
		strings.HasPrefix(t, "Crashed tests:") || strings.Contains(t, "Error occurred in starting fork")
}

// crashed notes that the process which ran tests died, once per module.
func (s *surefireConsole) crashed(t string) {
	kind := KindCrash
	if strings.Contains(t, "There was a timeout") {
		kind = KindTimeout
	}
	m := &s.module
	if s.goal != nil && !s.goal.pending {
		s.goal.problem.Kind = kind
		s.goal.text.add(t)
		return
	}
	p := Problem{Kind: kind, Name: firstOf(m.running, m.class, "surefire"), Message: strings.Clone(t), At: s.at}
	if !m.open {
		if !s.crash {
			s.crash = true
			s.problem(p)
		}
	} else if m.crash == nil {
		m.crash = &p
	}
}

// place reads "/path/X.java:[12,5] message".
func (s *surefireConsole) place(level, t string) bool {
	tool, re := "", mavenPlace
	switch {
	case strings.Contains(t, ":["):
		tool = "javac"
	case strings.Contains(t, ": ("):
		tool, re = "kotlinc", mavenKt
	case strings.Contains(t, ".scala:"):
		tool, re = "scalac", mavenScala
	default:
		return false
	}
	if len(t) > 4<<10 {
		return false
	}
	m := re.FindStringSubmatch(t)
	if m == nil {
		return false
	}
	switch {
	case strings.HasSuffix(m[1], ".kt") || strings.HasSuffix(m[1], ".kts"):
		tool = "kotlinc"
	case m[len(m)-1][0] == '(' && tool == "javac":
		tool = "checkstyle"
	case !strings.HasSuffix(m[1], ".java") && tool == "javac":
		tool = "maven"
	}
	d := Diagnostic{Tool: tool, File: m[1], Severity: SevError, Message: m[len(m)-1], At: s.at}
	d.Line, _, _ = leadingInt(m[2])
	if len(m) > 4 {
		d.Column, _, _ = leadingInt(m[3])
	}
	if level != "ERROR" {
		d.Severity = SevWarning
	}
	s.diags.add(d)
	return true
}

// startGoal reads "Failed to execute goal org.x:some-maven-plugin:1.0:goal (id) on project p: why".
func (s *surefireConsole) startGoal(t string) {
	rest := strings.TrimPrefix(t, "Failed to execute goal ")
	goal, _, _ := strings.Cut(rest, " ")
	why := rest
	if _, after, ok := strings.Cut(rest, " on project "); ok {
		why = after
		if project, after, ok := strings.Cut(after, ": "); ok {
			why = after
			goal += " on " + project
		}
	}
	why = strings.TrimSpace(strings.TrimSuffix(why, "-> [Help 1]"))
	p := Problem{Kind: goalKind(goal, why), Name: strings.Clone(goal), Message: strings.Clone(why), At: s.at}
	g := &goalFailure{problem: p, text: kept{max: s.lim.Text / 2}}
	g.tests = strings.Contains(goal, "surefire") || strings.Contains(goal, "failsafe")
	g.text.add(why)
	s.goal = g
	if strings.Contains(t, "-> [Help") {
		s.closeGoal()
	}
}

// goalKind tells what a goal's failure means by the plugin and what it says.
func goalKind(goal, why string) Kind {
	switch {
	case isForkCrash(why) && strings.Contains(why, "timeout"):
		return KindTimeout
	case isForkCrash(why):
		return KindCrash
	case strings.Contains(why, "Could not resolve dependencies") || strings.Contains(why, "could not be resolved") || strings.Contains(why, "Could not transfer artifact"):
		return KindSetup
	case hasAny(goal, "compiler-plugin", "kotlin-maven-plugin", "scala-maven-plugin", "aspectj", "gmavenplus", "antlr", "protobuf-maven-plugin", "gwt-maven-plugin"):
		return KindBuild
	case strings.HasPrefix(why, "No tests were executed!") || strings.HasPrefix(why, "No tests matching pattern"):
		return KindEmpty
	case strings.Contains(goal, "jacoco") && strings.Contains(goal, ":check"):
		return KindCoverage
	}
	return KindExit
}

// closeGoal hands on why a goal failed, unless failing tests say it already.
func (s *surefireConsole) closeGoal() {
	g := s.goal
	if g == nil {
		return
	}
	s.goal = nil
	p := g.problem
	text := g.text.String()
	if g.tests && p.Kind == KindExit && s.failed > 0 {
		return
	}
	if p.Kind == KindExit && isForkCrash(text) {
		p.Kind = KindCrash
	}
	if (p.Kind == KindCrash || p.Kind == KindTimeout) && s.crash {
		return
	}
	if p.Message != text {
		p.Trace = text
	}
	if p.Kind == KindCrash || p.Kind == KindTimeout {
		for _, line := range strings.Split(text, "\n") {
			if isForkCrash(line) && !strings.HasPrefix(line, "Crashed tests:") {
				p.Message = strings.TrimSpace(line)
				break
			}
		}
	}
	if p.Kind == KindBuild && s.diags.first.Message != "" {
		p.Message = s.diags.first.Message
		s.diags.place(&p)
	}
	s.problem(p)
}
