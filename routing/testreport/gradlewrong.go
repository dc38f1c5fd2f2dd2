package testreport

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// gradleWrong is the text below "* What went wrong:".
type gradleWrong struct {
	at   int
	task string
	text kept
}

func newGradleWrong(at int, lim Limits) *gradleWrong {
	return &gradleWrong{at: at, text: kept{max: lim.Text / 2}}
}

// line takes an unindented line; "* Try:" and its like end the block.
func (w *gradleWrong) line(g *gradleConsole, t string) bool {
	if strings.HasPrefix(t, "* ") || strings.HasPrefix(t, "BUILD ") || strings.HasPrefix(t, "=====") {
		g.closeWrong()
		return strings.HasPrefix(t, "* Try") || strings.HasPrefix(t, "* Get more help") || strings.HasPrefix(t, "* Exception is")
	}
	if strings.HasPrefix(t, "> Task :") { // the two streams mix
		return false
	}
	if rest, ok := strings.CutPrefix(t, "Execution failed for task '"); ok {
		w.task, _, _ = strings.Cut(rest, "'")
		w.task = strings.Clone(w.task)
	}
	w.text.add(t)
	return true
}

// closeWrong hands on why the build failed, unless failing tests say it.
func (g *gradleConsole) closeWrong() {
	w := g.wrong
	if w == nil {
		return
	}
	g.wrong = nil
	text := strings.TrimSpace(w.text.String())
	if strings.Contains(text, "> There were failing tests") && g.failed+len(g.tests)+len(g.logged) > 0 {
		return
	}
	p := Problem{Kind: gradleKind(w.task, text), Name: firstOf(w.task, "gradle"), Message: gradleReason(text), Trace: text, At: w.at}
	if p.Kind == KindBuild {
		g.diags.place(&p)
	}
	if m := gradleScript.FindStringSubmatch(text); m != nil && p.File == "" {
		p.File = m[1]
		p.Line, _, _ = leadingInt(m[2])
	}
	g.problem(p)
}

var gradleScript = multimatch.New(`(?m)^\s*(?:[Bb]uild|Settings|Script|Initialization script) file '([^'\n]+)'(?: line)?: (\d+)`)

// gradleReason returns the line behind ">", which says more than the first.
func gradleReason(text string) string {
	for rest := text; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if why, ok := strings.CutPrefix(strings.TrimSpace(line), "> "); ok && why != "" {
			return why
		}
	}
	return headLine(text)
}

func gradleKind(task, text string) Kind {
	name := task[strings.LastIndexByte(task, ':')+1:]
	switch {
	case strings.Contains(text, "Could not resolve ") || strings.Contains(text, "Could not download ") || strings.Contains(text, "Could not GET ") || strings.Contains(text, "Could not HEAD "):
		return KindSetup
	case strings.Contains(text, "Timeout has been exceeded"):
		return KindTimeout
	case strings.Contains(text, "Gradle Test Executor") || strings.Contains(text, "finished with non-zero exit value") && isTestTask(name),
		strings.Contains(text, "Gradle build daemon disappeared unexpectedly"):
		return KindCrash
	case strings.HasPrefix(name, "compile") || strings.HasPrefix(name, "ksp") || strings.HasPrefix(name, "kapt") || strings.Contains(text, "Compilation failed") || strings.Contains(text, "Compilation error"),
		strings.Contains(text, "Could not compile "), strings.Contains(text, "Script compilation error"):
		return KindBuild
	case strings.Contains(text, "> No tests found for given includes"):
		return KindEmpty
	case strings.HasPrefix(name, "jacoco") && strings.Contains(text, "Rule violated"):
		return KindCoverage
	case task == "" && (strings.Contains(text, "A problem occurred ") || strings.Contains(text, "Could not determine the dependencies of task")):
		return KindSetup
	}
	return KindExit
}

var (
	javacLine   = multimatch.New(`^((?:[A-Za-z]:)?[^\s:][^:]*\.(?:java|groovy|scala|kt|aj)):(\d+): (error: |warning: )?(.+)$`)
	kotlincLine = multimatch.New(`^([ewi]): (?:file://)?((?:[A-Za-z]:)?[^:]+\.kts?):(?: \((\d+), (\d+)\):|(\d+):(\d+):?) (.+)$`)
	groovyLine  = multimatch.New(`^((?:[A-Za-z]:)?[^\s:][^:]*\.groovy): (\d+): (.+)$`)
)

// compiler reads the messages of javac, kotlinc and groovyc.
func (g *gradleConsole) compiler(t string) bool {
	d, ok := compilerLine(t)
	if ok {
		d.At = g.at
		g.diags.add(d)
	}
	return ok
}

// compilerLine reads one message of javac, kotlinc or groovyc.
func compilerLine(t string) (Diagnostic, bool) {
	if len(t) > 4<<10 || len(t) < 8 {
		return Diagnostic{}, false
	}
	if t[1] == ':' && t[2] == ' ' && (t[0] == 'e' || t[0] == 'w') {
		m := kotlincLine.FindStringSubmatch(t)
		if m == nil {
			return Diagnostic{}, false
		}
		d := Diagnostic{Tool: "kotlinc", File: m[2], Severity: SevError, Message: m[7]}
		if t[0] == 'w' {
			d.Severity = SevWarning
		}
		d.Line, _, _ = leadingInt(m[3] + m[5])
		d.Column, _, _ = leadingInt(m[4] + m[6])
		return d, true
	}
	if strings.Contains(t, ".java:") && (strings.Contains(t, ": error: ") || strings.Contains(t, ": warning: ")) {
		m := javacLine.FindStringSubmatch(t)
		if m == nil || m[3] == "" {
			return Diagnostic{}, false
		}
		d := Diagnostic{Tool: "javac", File: m[1], Severity: SevError, Message: m[4]}
		if m[3][0] == 'w' {
			d.Severity = SevWarning
		}
		d.Line, _, _ = leadingInt(m[2])
		return d, true
	}
	if strings.Contains(t, ".groovy: ") {
		if m := groovyLine.FindStringSubmatch(t); m != nil {
			d := Diagnostic{Tool: "groovyc", File: m[1], Severity: SevError, Message: m[3]}
			d.Line, _, _ = leadingInt(m[2])
			return d, true
		}
	}
	return Diagnostic{}, false
}
