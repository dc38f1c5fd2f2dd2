package diagnosis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Location is a position in a file as a tool printed it.
type Location struct {
	File    string
	Line    int
	Func    string // "" if the tool does not print it
	Project bool   // not of a runtime, framework or dependency
}

// A frameForm is how a family of tools prints a position.
type frameForm struct {
	gate             string // must occur in the line
	re               *multimatch.Matcher
	file, line, fn   int  // groups; 0: none
	innermost        bool // the innermost frame is printed last
	javaPackageGroup int
}

var frameForms = []frameForm{
	{gate: `", line `, re: multimatch.NewMatcher(`File "([^"]+)", line (\d+)(?:, in (\S+))?`), file: 1, line: 2, fn: 3, innermost: true},
	{gate: ".py:", re: multimatch.NewMatcher(`^(?:E\s+)?([^\s:"']+\.py):(\d+): (?:in (\S+)|\w+)?`), file: 1, line: 2, fn: 3, innermost: true},
	{gate: "at ", re: multimatch.NewMatcher(`\bat ((?:[\w$]+\.)+)([\w$<>]+)\(([\w$]+\.(?:java|kt|scala|groovy)):(\d+)\)`), file: 3, line: 4, fn: 2, javaPackageGroup: 1},
	{gate: ":line ", re: multimatch.NewMatcher(`at ([\w.<>` + "`" + `\[\],]+)\(.*\) in (.+?\.(?:cs|vb|fs)):line (\d+)`), file: 2, line: 3, fn: 1},
	{gate: "at ", re: multimatch.NewMatcher(`\bat (?:async )?(?:(?:new )?([\w$.<>\[\] ]+?) (?:\[as \w+\] )?\()?((?:file://)?(?:[A-Za-z]:)?[^\s():]+\.(?:[cm]?[jt]sx?|vue|svelte)):(\d+):\d+\)?`), file: 2, line: 3, fn: 1},
	{gate: ".rb:", re: multimatch.NewMatcher(`([^\s:#]+\.rb):(\d+)(?::in [` + "`" + `']([^']*)')?`), file: 1, line: 2, fn: 3},
	{gate: ".php", re: multimatch.NewMatcher(`([^\s:#(]+\.php)(?:\(|:)(\d+)`), file: 1, line: 2},
	{gate: ".rs:", re: multimatch.NewMatcher(`([^\s:]+\.rs):(\d+):\d+`), file: 1, line: 2},
	{gate: ".go:", re: multimatch.NewMatcher(`((?:[A-Za-z]:)?[^\s:]+\.go):(\d+)`), file: 1, line: 2},
	{gate: ":", re: multimatch.NewMatcher(`((?:[A-Za-z]:)?[^\s:()\[\]"']+\.(?:c|cc|cpp|cxx|h|hh|hpp|cu|m|mm|swift|[cm]?[jt]sx?|vue|kt|java|scala|ex|exs|dart|py|css|scss|ya?ml|json|md|tf|sh)):(?:\[)?(\d+)`), file: 1, line: 2},
	{gate: "(", re: multimatch.NewMatcher(`([^\s:()]+\.(?:[cm]?[jt]sx?|cs|vb|fs|cpp|c|h))\((\d+)(?:,\d+)?\)`), file: 1, line: 2},
}

// foreign are paths of code that is not part of the repository.
var foreign = multimatch.NewMatcher(`(?i)(?:^|[/\\])(?:node_modules|site-packages|dist-packages|vendor|\.cargo|rustc|gems|hostedtoolcache|pkg[/\\]mod|dist-newstyle|\.m2|\.gradle|Frameworks)[/\\]|^(?:node:|internal/|<|webpack/)|^/usr/(?:lib|local/(?:lib|go)|share)|[/\\]lib[/\\]python\d|[/\\](?:libexec|GOROOT)[/\\]|/go/src/(?:runtime|testing|reflect|sync|net|internal)/|^/rustc/|library/(?:std|core|alloc)/|_testmain\.go|/src/(?:runtime|testing)/\w+\.go|^unittest/|jest-circus|jasmine`)

// foreignJavaPackages are those of runtimes, frameworks and build tools.
var foreignJavaPackages = []string{
	"java.", "javax.", "jakarta.", "sun.", "jdk.", "com.sun.", "kotlin.", "kotlinx.", "scala.", "groovy.",
	"org.junit.", "org.gradle.", "org.apache.maven.", "org.mockito.", "org.hamcrest.", "org.testng.", "org.assertj.", "org.opentest4j.",
	"org.codehaus.", "org.springframework.", "org.hibernate.", "org.scalatest.", "org.spockframework.", "org.jboss.", "org.eclipse.",
	"com.intellij.", "junit.", "io.netty.", "worker.org.gradle.", "reactor.", "android.test.", "androidx.test.",
}

// foreignByFirst are foreignJavaPackages by their first byte.
var foreignByFirst = func() (by [256][]string) {
	for _, p := range foreignJavaPackages {
		by[p[0]] = append(by[p[0]], p)
	}
	return by
}()

func foreignJava(qualified string) bool {
	for _, p := range foreignByFirst[qualified[0]] {
		if strings.HasPrefix(qualified, p) {
			return true
		}
	}
	return false
}

// javaFrame parses a line that begins with "at a.b.Cls.method(File.java:12)" as the regexp of its
// form does, but faster: most lines of a trace have this form. ok is false for any other line,
// which is left to the regexp.
func javaFrame(line string) (groups [5]string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "at ")
	if !ok {
		return groups, false
	}
	open := strings.IndexByte(rest, '(')
	if open < 0 {
		return groups, false
	}
	dot := strings.LastIndexByte(rest[:open], '.')
	if dot <= 0 || dot == open-1 || rest[0] == '.' || strings.Contains(rest[:open], "..") {
		return groups, false
	}
	file, _, closed := strings.Cut(rest[open+1:], ")")
	file, number, _ := strings.Cut(file, ":")
	stem, ext, _ := strings.Cut(file, ".")
	if !closed || stem == "" || number == "" ||
		!allOf(rest[:dot], javaWord|javaDot) || !allOf(rest[dot+1:open], javaWord|javaAngle) || !allOf(stem, javaWord) || !allOf(number, javaDigit) {
		return groups, false
	}
	switch ext {
	case "java", "kt", "scala", "groovy":
		return [5]string{"", rest[:dot+1], rest[dot+1 : open], file, number}, true
	}
	return groups, false
}

const (
	javaLetter = 1 << iota
	javaDigit
	javaDot
	javaAngle
	javaWord = javaLetter | javaDigit
)

var javaClass = func() (c [256]uint8) {
	for _, b := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$" {
		c[b] = javaLetter
	}
	for _, b := range "0123456789" {
		c[b] = javaDigit
	}
	c['.'], c['<'], c['>'] = javaDot, javaAngle, javaAngle
	return c
}()

// allOf reports whether every byte of s belongs to one of the classes.
func allOf(s string, classes uint8) bool {
	for i := 0; i < len(s); i++ {
		if javaClass[s[i]]&classes == 0 {
			return false
		}
	}
	return true
}

// maxFrameLine is how many bytes of a line are searched for a position.
const maxFrameLine = 2000

// frameOf returns the position that a line names.
func frameOf(line string) (Location, *frameForm, bool) {
	if len(line) > maxFrameLine {
		line = line[:maxFrameLine]
	}
	for i := range frameForms {
		f := &frameForms[i]
		if !strings.Contains(line, f.gate) {
			continue
		}
		if f.javaPackageGroup > 0 {
			if m, ok := javaFrame(line); ok {
				return f.location(m[:]), f, true
			}
		}
		if m := f.re.FindStringSubmatch(line); m != nil {
			return f.location(m), f, true
		}
	}
	return Location{}, nil, false
}

func (f *frameForm) location(m []string) Location {
	n, _ := strconv.Atoi(m[f.line])
	l := Location{File: strings.TrimPrefix(m[f.file], "file://"), Line: n}
	if f.fn > 0 {
		l.Func = m[f.fn]
	}
	if f.javaPackageGroup > 0 {
		pkg := m[f.javaPackageGroup]
		l.Project = !foreignJava(pkg)
		l.File = javaFile(pkg, l.File)
		return l
	}
	l.Project = !foreign.MatchString(l.File)
	return l
}

// javaFile prefixes the file's name with the directories of the package of "a.b.Cls.".
func javaFile(qualified, file string) string {
	pkg := strings.TrimSuffix(qualified, ".")
	pkg = pkg[:max(0, strings.LastIndexByte(pkg, '.'))]
	for from := 0; from < len(pkg); { // an outer class ends the package
		if pkg[from] >= 'A' && pkg[from] <= 'Z' {
			pkg = pkg[:max(0, from-1)]
			break
		}
		dot := strings.IndexByte(pkg[from:], '.')
		if dot < 0 {
			break
		}
		from += dot + 1
	}
	if pkg == "" {
		return file
	}
	b := make([]byte, 0, len(pkg)+1+len(file))
	b = append(append(append(b, pkg...), '/'), file...)
	for i := range pkg {
		if b[i] == '.' {
			b[i] = '/'
		}
	}
	return string(b)
}

// A frameReader is frameOf, or a version of it that caches.
type frameReader func(line string) (Location, *frameForm, bool)

// frameMemo is frameOf with a cache: the traces of a run share most of their frames.
type frameMemo struct {
	known   map[string]knownFrame
	class   string // of the last Java frame, with its file and the path made of both
	in, out string
}

type knownFrame struct {
	at   Location
	form *frameForm // nil: none
}

func (m *frameMemo) read(line string) (Location, *frameForm, bool) {
	if l, ok := m.java(line); ok {
		return l, javaForm, true
	}
	k, ok := m.known[line]
	if !ok {
		k.at, k.form, _ = frameOf(line)
		if len(m.known) >= 4096 {
			clear(m.known)
		}
		m.known[line] = k
	}
	return k.at, k.form, k.form != nil
}

// java returns the position of a line that javaFrame parses, which takes less time than to look it
// up. Successive frames are often of one file.
func (m *frameMemo) java(line string) (Location, bool) {
	g, ok := javaFrame(line)
	if !ok || len(line) > maxFrameLine {
		return Location{}, false
	}
	for i := range frameForms {
		if f := &frameForms[i]; f == javaForm {
			break
		} else if strings.Contains(line, f.gate) {
			return Location{}, false
		}
	}
	n, _ := strconv.Atoi(g[javaForm.line])
	class, file := g[javaForm.javaPackageGroup], g[javaForm.file]
	if class != m.class || file != m.in {
		m.class, m.in, m.out = class, file, javaFile(class, file)
	}
	return Location{File: m.out, Line: n, Func: g[javaForm.fn], Project: !foreignJava(class)}, true
}

// javaForm is the form that javaFrame parses.
var javaForm = func() *frameForm {
	return &frameForms[slices.IndexFunc(frameForms, func(f frameForm) bool { return f.javaPackageGroup > 0 })]
}()

// A trace is what the lines of a text (a trace, an output) say of places.
type trace struct {
	project, rest []Location // from the innermost frame outwards
	trimmed       string     // see trimTrace; "" if it is not asked for
}

// traceLine is a line of a trace with the position that it names.
type traceLine struct {
	text string
	at   Location
	form *frameForm // nil: none
}

// A traceMemo reads traces, equal ones once: a broken fixture fails many tests with one trace.
type traceMemo struct {
	trim  bool // trimmed is asked for
	read  frameReader
	known map[string]trace

	buffer        []traceLine
	project, rest []Location
}

func newTraceMemo(brief bool) *traceMemo {
	m := &traceMemo{trim: !brief, known: map[string]trace{}}
	// Brief is for many texts of one line each, of which remembering the frames does not pay.
	m.read = frameOf
	if !brief {
		m.read = (&frameMemo{known: map[string]knownFrame{}}).read
	}
	return m
}

func (m *traceMemo) of(text string) trace {
	if text == "" {
		return trace{}
	}
	t, ok := m.known[text]
	if ok {
		return t
	}
	m.buffer = traceLines(m.buffer[:0], text, m.read)
	m.frames()
	t.project, t.rest = unique(maxPlaces, m.project), unique(maxPlaces, m.rest)
	if m.trim {
		t.trimmed = trimTrace(m.buffer)
	}
	if len(m.known) >= 128 {
		clear(m.known)
	}
	m.known[text] = t
	return t
}

// traceLines appends the lines of text to buffer, at most 3000.
func traceLines(buffer []traceLine, text string, read frameReader) []traceLine {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > 3000 {
			break
		}
		l := traceLine{text: strings.TrimRight(line, "\r\n")}
		l.at, l.form, _ = read(l.text)
		buffer = append(buffer, l)
	}
	return buffer
}

// frames sets project and rest to the places that the first 2000 lines of a trace name, from the
// innermost frame outwards.
func (m *traceMemo) frames() {
	m.project, m.rest = m.project[:0], m.rest[:0]
	inner := false
	for i := range m.buffer[:min(len(m.buffer), 2000)] {
		l := &m.buffer[i]
		switch {
		case l.form == nil:
			continue
		case l.at.Project:
			m.project = append(m.project, l.at)
		default:
			m.rest = append(m.rest, l.at)
		}
		inner = inner || l.form.innermost
	}
	if inner {
		slices.Reverse(m.project)
		slices.Reverse(m.rest)
	}
}

// maxPlaces is how many places of a failure are looked at.
const maxPlaces = 20

// related returns the places that f and its trace name, in order of usefulness: f's own, then
// frames of the project from the innermost outwards, then the rest. Each file and line is listed
// once; at most 20.
func related(f *routing.Failure, t trace) []Location {
	var own []Location
	if f.File != "" {
		own = append(own, Location{File: f.File, Line: f.Line, Project: !foreign.MatchString(f.File)})
	}
	return unique(maxPlaces, own, t.project, t.rest)
}

// unique returns the first most entries of the lists, each file and line once.
func unique(most int, lists ...[]Location) []Location {
	var out []Location
	total := 0
	for _, list := range lists {
		total += len(list)
	}
	for _, list := range lists {
	next:
		for i := range list {
			l := &list[i]
			for k := range out {
				if out[k].Line == l.Line && out[k].File == l.File {
					if out[k].Func == "" {
						out[k].Func = l.Func
					}
					continue next
				}
			}
			if len(out) >= most {
				return out
			}
			if out == nil {
				out = make([]Location, 0, min(most, total))
			}
			out = append(out, *l)
		}
	}
	return out
}

// trimTrace returns the lines of a trace that state the error, and the frames of the project.
func trimTrace(lines []traceLine) string {
	var out []string
	dropped := false
	for i := range lines {
		line, frame := lines[i].text, lines[i].form != nil
		switch {
		case frame && !lines[i].at.Project:
			dropped = true
			continue
		case dropped && !frame && strings.HasPrefix(line, "    ") && !strings.HasPrefix(strings.TrimSpace(line), "at "):
			dropped = false // the source line of an omitted frame
			continue
		case !frame && noiseFrame.MatchString(line):
			continue
		}
		dropped = false
		if strings.TrimSpace(line) == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		if out == nil {
			out = make([]string, 0, min(len(lines), 64))
		}
		out = append(out, cutLine(line, 400))
	}
	return strings.TrimSpace(strings.Join(headAndTail(out, 16, 14), "\n"))
}

var noiseFrame = multimatch.NewMatcher(`^\s+at (?:<anonymous>|native|Native Method|.*\((?:Native Method|Unknown Source|<anonymous>)\))|^\s*\.\.\. \d+ (?:more|common frames)|^\s+at (?:java|javax|sun|jdk|org\.junit|org\.gradle)\b`)

func headAndTail(lines []string, head, tail int) []string {
	if len(lines) <= head+tail+1 {
		return lines
	}
	out := slices.Clone(lines[:head])
	out = append(out, "[… "+strconv.Itoa(len(lines)-head-tail)+" lines left out …]")
	return append(out, lines[len(lines)-tail:]...)
}

// cutLine cuts s to max bytes at a rune boundary.
func cutLine(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return truncate.Prefix(s, max) + " […]"
}
