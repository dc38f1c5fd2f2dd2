package generic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// proveRun is a run of perl's prove: its own lines around the TAP streams.
type proveRun struct {
	on       bool
	at       int
	file     string       // the file whose status was printed last
	failed   []model.Test // named by "Failed test" or by TAP, waiting for their file
	byFile   map[string][]model.Test
	points   map[string][]provePoint // of prove -v
	order    []string
	summary  bool // in "Test Summary Report"
	results  []proveFile
	tests    int
	skipped  int      // files
	left     int      // tests that were skipped or are to do
	shown    bool     // the stream of the file in hand is shown
	diag     *tapTest // perl's diagnostics of a failed test, printed apart
	problems int
}

// proveFile is one entry of the summary.
type proveFile struct {
	name   string
	failed []int
	total  int
	errors []string
	at     int
}

// provePoint is a failing point of the stream that prove -v shows.
type provePoint struct {
	number int
	name   string
	at     int
}

func (p *proveRun) active() bool { return p.on }

func (p *proveRun) begin() {
	p.on, p.byFile, p.points = true, map[string][]model.Test{}, map[string][]provePoint{}
}

// proveFileLine recognises "t/a.t .. ok", "t/a.t ....... ", "t/a.t ..".
func proveFileLine(t string) (file, status string, ok bool) {
	if len(t) > 11 && t[0] == '[' && t[9] == ']' && t[3] == ':' { // prove --timer
		t = t[11:]
	}
	i := strings.Index(t, " ..")
	if i <= 0 || i > 500 || strings.IndexByte(t[:i], ' ') >= 0 {
		return "", "", false
	}
	file = t[:i]
	if !strings.HasSuffix(file, ".t") && !strings.HasSuffix(file, ".rakutest") && !strings.HasSuffix(file, ".t6") {
		return "", "", false
	}
	rest := strings.TrimLeft(t[i+1:], ".")
	return file, strings.TrimSpace(rest), rest == "" || rest[0] == ' '
}

// proveLine takes the lines that prove itself prints.
func (c *tapConsole) proveLine(no int, t string) bool {
	p := &c.prove
	if strings.Contains(t, " ..") {
		if file, status, ok := proveFileLine(t); ok {
			return c.proveStatus(no, file, status)
		}
	}
	if p.diag != nil || strings.HasPrefix(t, "#   Failed test") || strings.HasPrefix(t, "    #   Failed test") {
		if c.perlFailed(no, t) {
			return true
		}
	}
	if !p.on && t == "Test Summary Report" { // prove -Q names no files before
		c.closeStream()
		p.begin()
	}
	if why, ok := strings.CutPrefix(t, "Bailout called.  Further testing stopped:"); ok {
		p.problems++
		c.out.Problem(model.Problem{Kind: model.KindExit, Name: parse.FirstOf(p.file, "prove"), Message: strings.TrimSpace("Bail out! " + strings.TrimSpace(why)), At: no})
		return true
	}
	if !p.on {
		return false
	}
	p.at = no
	s := strings.TrimSpace(t)
	switch {
	case s == "Test Summary Report":
		c.closeStream()
		p.summary = true
		return true
	case strings.HasPrefix(s, "Files=") && strings.Contains(s, ", Tests="):
		c.closeStream()
		p.summary = false
		_, rest, _ := strings.Cut(s, ", Tests=")
		p.tests, _, _ = parse.LeadingInt(rest)
		return true
	case strings.HasPrefix(s, "Result: "):
		c.finishProve(no, s[len("Result: "):])
		return true
	case p.summary:
		return c.proveSummary(no, t, s)
	case strings.HasPrefix(s, "Dubious, test returned"), strings.HasPrefix(s, "Failed ") && strings.Contains(s, " subtests"), strings.HasPrefix(s, "All ") && strings.HasSuffix(s, " subtests passed"):
		c.closeStream()
		return true
	case strings.HasPrefix(s, "(less ") && strings.Contains(s, "skipped subtest"):
		if n, _, ok := parse.LeadingInt(s[len("(less "):]); ok && !p.shown {
			p.left += n
		}
		return true
	}
	return false
}

// proveStatus takes "t/a.t .. ok", "t/a.t .. skipped: why".
func (c *tapConsole) proveStatus(no int, file, status string) bool {
	p := &c.prove
	c.closeStream()
	c.endPerl()
	if !p.on {
		p.begin()
	}
	p.at, p.file, c.file, p.shown = no, file, file, false
	if len(p.order) < 20000 {
		if _, seen := p.byFile[file]; !seen {
			p.order = append(p.order, file)
		}
		for _, t := range p.failed { // with -j, those of several files
			of := file
			if strings.HasSuffix(t.File, ".t") {
				of = t.File
			}
			p.byFile[of] = append(p.byFile[of], t)
		}
	}
	p.failed = nil
	if strings.HasPrefix(status, "skipped") {
		p.skipped++
	}
	return true
}

// perlFailed reads the diagnostics that Test::More writes to standard error,
// before prove names the file.
func (c *tapConsole) perlFailed(no int, t string) bool {
	p := &c.prove
	s := strings.TrimLeft(t, " ")
	if rest, ok := strings.CutPrefix(s, "#   Failed test"); ok {
		c.endPerl()
		if c.open && !p.on {
			return false // the stream itself has it
		}
		name := parse.Quoted(rest)
		p.diag = &tapTest{test: model.Test{Name: name, At: no}, diag: bounded.Block{Max: c.lim.Text}, subtests: len(t)-len(s) > 0}
		p.diag.diag.Add("Failed test " + rest)
		return p.on
	}
	if strings.HasPrefix(s, "#  ") {
		p.diag.diag.Add(strings.TrimPrefix(s, "# "))
		return p.on
	}
	c.endPerl()
	return false
}

// endPerl keeps what the diagnostics named for the file that prove names next.
func (c *tapConsole) endPerl() {
	p := &c.prove
	k := p.diag
	p.diag = nil
	if k == nil || len(p.failed) >= c.lim.Failing || k.subtests {
		return
	}
	diag := k.diag.String()
	perlDiagnostics(&k.test, diag)
	k.test.Trace = diag
	k.test.Message = tapMessage(diag)
	p.failed = append(p.failed, k.test)
}

// provePoint takes an outermost point of the stream that prove -v shows.
func (c *tapConsole) provePoint(no, number int, p tapPoint) {
	r := &c.prove
	r.shown = true
	switch {
	case p.status == model.Failed && len(r.points[r.file]) < c.lim.Failing:
		r.points[r.file] = append(r.points[r.file], provePoint{number: number, name: p.name, at: no})
	case p.status == model.Skipped || p.status == model.Pending:
		r.left++
	}
}

// proveFailed takes a failing test of a TAP stream that prove -v shows. What
// perl said of it before, with its place, is better.
func (c *tapConsole) proveFailed(t model.Test) {
	p := &c.prove
	list := p.byFile[p.file]
	for i := range list {
		if list[i].Name == t.Name || t.Suite == list[i].Name || strings.HasPrefix(t.Suite, list[i].Name+" > ") {
			if list[i].Kind == "" {
				list[i].Kind = t.Kind
			}
			return
		}
	}
	if len(list) < c.lim.Failing {
		p.byFile[p.file] = append(list, t)
	}
}

// proveSummary takes an entry of the summary report.
func (c *tapConsole) proveSummary(no int, t, s string) bool {
	p := &c.prove
	if name, rest, ok := strings.Cut(s, "(Wstat: "); ok && t[0] != ' ' {
		_, total, _ := strings.Cut(rest, "Tests: ")
		n, _, _ := parse.LeadingInt(total)
		if len(p.results) < c.lim.Failing {
			p.results = append(p.results, proveFile{name: strings.TrimSpace(name), total: n, at: no})
		}
		return true
	}
	if len(p.results) == 0 {
		return parse.OnlyOf(s, '-', 5)
	}
	f := &p.results[len(p.results)-1]
	switch {
	case strings.HasPrefix(s, "Failed test:"), strings.HasPrefix(s, "Failed tests:"):
		_, list, _ := strings.Cut(s, ":")
		f.failed = append(f.failed, proveNumbers(list)...)
	case strings.HasPrefix(s, "Parse errors: "), strings.HasPrefix(s, "Non-zero exit status: "), strings.HasPrefix(s, "Non-zero wait status: "):
		if len(f.errors) < 20 {
			f.errors = append(f.errors, s)
		}
	case strings.HasPrefix(s, "TODO passed:"):
	case len(f.failed) > 0 && s != "" && s[0] >= '0' && s[0] <= '9': // a list that goes on
		f.failed = append(f.failed, proveNumbers(s)...)
	default:
		return strings.HasPrefix(t, " ")
	}
	return true
}

// proveNumbers reads "2-4, 7".
func proveNumbers(s string) []int {
	var all []int
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		from, rest, ok := parse.LeadingInt(part)
		if !ok {
			continue
		}
		to := from
		if strings.HasPrefix(rest, "-") {
			to, _, _ = parse.LeadingInt(rest[1:])
		}
		for n := from; n <= to && len(all) < 5000; n++ {
			all = append(all, n)
		}
	}
	return all
}

// finishProve takes "Result: FAIL".
func (c *tapConsole) finishProve(no int, result string) {
	p := &c.prove
	failed := 0
	for _, f := range p.results {
		failed += c.proveResult(&f)
	}
	left := max(0, min(p.left, p.tests-failed))
	c.anon.Emit(c.out, p.tests-failed-left, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, p.skipped+left, model.Test{Status: model.Skipped, At: no})
	switch {
	case result == "PASS":
	case result == "NOTESTS":
		c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "prove", Message: "Result: NOTESTS", At: no})
	case failed == 0 && p.problems == 0:
		c.out.Problem(model.Problem{Kind: model.KindTests, Name: "prove", Message: "Result: " + result, At: no})
	}
	c.prove = proveRun{}
	c.file = ""
}

// proveResult emits a file's failures: by name where perl named as many as
// failed, else by number.
func (c *tapConsole) proveResult(f *proveFile) int {
	p := &c.prove
	named := p.byFile[f.name]
	points := p.points[f.name]
	for i, n := range f.failed {
		t := model.Test{Name: fmt.Sprintf("test %d", n), At: f.at, File: f.name}
		if at := slices.IndexFunc(points, func(o provePoint) bool { return o.number == n }); at >= 0 {
			t.Name, t.At = parse.FirstOf(points[at].name, t.Name), points[at].at
			if k := slices.IndexFunc(named, func(o model.Test) bool { return o.Name == points[at].name || o.Name == t.Name }); k >= 0 {
				name := t.Name
				t = named[k]
				t.Name, named = name, slices.Delete(slices.Clone(named), k, k+1)
			}
		} else if len(named) == len(f.failed) {
			t = named[i]
			if t.Name == "" {
				t.Name = fmt.Sprintf("test %d", n)
			}
		}
		t.Status, t.Suite = model.Failed, f.name
		if t.Kind == "" {
			t.Kind = failtext.FailureKind(t.Type, t.Message)
		}
		c.out.Test(t)
	}
	parse := slices.ContainsFunc(f.errors, func(e string) bool { return strings.HasPrefix(e, "Parse errors: ") })
	for _, e := range f.errors {
		if strings.HasPrefix(e, "Parse errors: ") || len(f.failed) == 0 && !parse {
			p.problems++
			kind := model.KindCrash
			if e == "Parse errors: No plan found in TAP output" && f.total == 0 {
				kind = model.KindSetup // nothing of it ran
			}
			c.out.Problem(model.Problem{Kind: kind, Name: f.name, File: f.name, Message: strings.Join(f.errors, "\n"), At: f.at})
			break
		}
	}
	return len(f.failed)
}

// endProve ends a run of prove whose result never came.
func (c *tapConsole) endProve() {
	p := &c.prove
	if !p.on {
		return
	}
	for _, file := range p.order {
		for _, t := range p.byFile[file] {
			t.Status, t.Suite = model.Failed, file
			c.out.Test(t)
		}
	}
	c.out.Problem(failtext.CutOff("prove", "prove's output ends before its result", p.at))
	c.prove = proveRun{}
}
