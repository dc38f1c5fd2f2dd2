package testreport_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// scriptConsoles are the consoles of interpreted languages' test tools whose
// recorded output stands in testdata under their names.
var scriptConsoles = []string{
	"unittest", "mocha", "rspec", "minitest", "phpunit", "pest", "tap", "node-test", "bun", "deno", "playwright", "exunit", "cucumber", "jasmine", "karma", "ava", "sympy",
}

// TestScriptCorpusAddsUp reads all recorded outputs as steps of one log.
func TestScriptCorpusAddsUp(t *testing.T) {
	var text strings.Builder
	var want model.Counts
	problems := 0
	for _, file := range consoleFiles(t, scriptConsoles...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("##[group]Run the next step\n")
		text.Write(b)
		text.WriteString("\n")
		rep, _ := readConsoles(t, string(b), scriptConsoles...)
		c := rep.Counts
		want.Tests, want.Passed, want.Failed = want.Tests+c.Tests, want.Passed+c.Passed, want.Failed+c.Failed
		want.Skipped, want.Flaky, want.Other = want.Skipped+c.Skipped, want.Flaky+c.Flaky, want.Other+c.Other
		problems += len(rep.Problems)
	}
	rep, _ := readConsoles(t, text.String(), scriptConsoles...)
	if rep.Counts != want || len(rep.Problems) != problems {
		t.Errorf("got %+v with %d problems, want %+v with %d", rep.Counts, len(rep.Problems), want, problems)
	}
}

// TestTruncatedScriptsAreNotGreen cuts each recorded output of a run that is
// not green at 20 places: what is left must not be green either.
func TestTruncatedScriptsAreNotGreen(t *testing.T) {
	for _, file := range consoleFiles(t, scriptConsoles...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := readConsoles(t, string(b), scriptConsoles...)
		if whole.Green() {
			continue
		}
		for i := 1; i < 20; i++ {
			cut := string(b[:len(b)*i/20])
			if rep, _ := readConsoles(t, cut, scriptConsoles...); rep.Green() {
				t.Errorf("%s cut at %d/20 is green; it ends with %q", file, i, cut[max(0, len(cut)-200):])
			}
		}
	}
}

// fuzzScript reads any bytes with the named console.
func fuzzScript(f *testing.F, name string) {
	for _, file := range consoleFiles(f, name) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		lim := model.Limits{Text: 4 << 10, Line: 8 << 10, Failing: 50, Unnamed: 1000}
		c := model.NewCollector(lim)
		info, err := reader.ReadLog(strings.NewReader(string(b)), model.Options{Limits: lim}, reader.Log{Consoles: []string{name}}, c)
		if err != nil && len(info.Formats) > 0 {
			t.Fatal(err)
		}
		rep := c.Finish(info)
		if rep.Green() && len(rep.Failing) > 0 {
			t.Errorf("green with %d failing tests", len(rep.Failing))
		}
		for _, at := range reportedLines(rep) {
			if at < 0 || at > rep.Lines {
				t.Errorf("line %d of %d", at, rep.Lines)
			}
		}
	})
}

func FuzzUnittest(f *testing.F) { fuzzScript(f, "unittest") }

func FuzzMocha(f *testing.F) { fuzzScript(f, "mocha") }

func FuzzRSpec(f *testing.F) { fuzzScript(f, "rspec") }

func FuzzMinitest(f *testing.F) { fuzzScript(f, "minitest") }

func FuzzPHPUnit(f *testing.F) { fuzzScript(f, "phpunit") }

func FuzzPest(f *testing.F) { fuzzScript(f, "pest") }

func FuzzTAP(f *testing.F) { fuzzScript(f, "tap") }

func FuzzNodeTest(f *testing.F) { fuzzScript(f, "node-test") }

func FuzzBun(f *testing.F) { fuzzScript(f, "bun") }

func FuzzDeno(f *testing.F) { fuzzScript(f, "deno") }

func FuzzPlaywright(f *testing.F) { fuzzScript(f, "playwright") }

func FuzzExUnit(f *testing.F) { fuzzScript(f, "exunit") }

func FuzzCucumber(f *testing.F) { fuzzScript(f, "cucumber") }

func FuzzJasmine(f *testing.F) { fuzzScript(f, "jasmine") }

func FuzzKarma(f *testing.F) { fuzzScript(f, "karma") }

func FuzzAVA(f *testing.F) { fuzzScript(f, "ava") }

func FuzzSymPy(f *testing.F) { fuzzScript(f, "sympy") }

// scriptAlso names recorded output of other tools in which one of these stands.
var scriptAlso = map[string]string{}

// TestScriptsClaimNoOther reads the recorded output of all other tools.
func TestScriptsClaimNoOther(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	for _, file := range files {
		if slices.Contains(scriptConsoles, filepath.Base(filepath.Dir(file))) {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, info := readConsoles(t, string(b), scriptConsoles...)
		for _, n := range info.Formats {
			if slices.Contains(scriptConsoles, n) && scriptAlso[file] != n {
				t.Errorf("%s is claimed by %s", file, n)
			}
		}
	}
}

// TestScriptsBehindPrefixes reads recorded output as docker compose and turbo
// show it, beside another run's.
func TestScriptsBehindPrefixes(t *testing.T) {
	for _, c := range []struct{ file, prefix string }{
		{"testdata/unittest/failing.txt", "web_1  | "},
		{"testdata/unittest/green.txt", "web_1  | "},
		{"testdata/mocha/failing.txt", "@scope/pkg:test: "},
		{"testdata/mocha/green.txt", "[INFO] "},
		{"testdata/rspec/failing.txt", "app-1  | "},
		{"testdata/phpunit/failing.txt", "php_1 | "},
		{"testdata/minitest/failing.txt", "web-1  | "},
	} {
		b, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := readConsoles(t, string(b), scriptConsoles...)
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		got, _ := readConsoles(t, c.prefix+strings.Join(lines, "\n"+c.prefix)+"\n", scriptConsoles...)
		if e, w := expectationOf(got), expectationOf(want); !reflect.DeepEqual(e, w) {
			t.Errorf("%s behind %q:\ngot  %s\nwant %s", c.file, c.prefix, asJSON(e), asJSON(w))
		}
	}
}

// TestScriptsOnFixtures reads every log of the fixtures with the script
// consoles: where a manifest names the failing tests of such a tool they must
// be found, and nothing may be claimed in the logs of other tools.
func TestScriptsOnFixtures(t *testing.T) {
	frameworks := map[string]bool{"mocha": true, "django-runtests": true, "sympy-bin/test": true}
	sets := []string{"bugswarm_gha", "bugswarm_travis", "swebench_eval", "cidiff", "faultline_real", "go_logparser", "pytorch_classify", "structured", "errorformat", "gojunit", "gotestsum", "treeherder"}
	for _, f := range fixtureFiles(t, sets...) {
		if strings.HasSuffix(f.File, ".gz") {
			continue
		}
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			b, err := os.ReadFile(f.path())
			if err != nil {
				t.Fatal(err)
			}
			rep, info := readConsoles(t, string(b), scriptConsoles...)
			want, mine := scriptFixtures[f.File]
			claims := slices.DeleteFunc(info.Formats, func(n string) bool { return !slices.Contains(scriptConsoles, n) }) // no documents
			if got := strings.Join(claims, " "); got != want {
				t.Errorf("claimed by %q, want %q", got, want)
			}
			if !mine || f.Expect.Failing == nil {
				return
			}
			got := failingNames(rep, false)
			var failing []string // "test_x (pkg.Class)" is written here as the model does
			for _, w := range f.Expect.Failing {
				suite, name := splitUnittest(strings.ReplaceAll(w, ".py:", ".py::"))
				failing = append(failing, model.Test{Suite: suite, Name: name}.FullName())
			}
			_, missed, extra := foundMissedExtra(got, failing)
			if len(missed) > 0 && frameworks[f.Framework] || len(extra) > 0 {
				t.Errorf("missed %q\nextra %q", missed, extra)
			}
			t.Logf("counts %+v, %d problems", rep.Counts, len(rep.Problems))
			for _, p := range rep.Problems {
				t.Logf("problem %s %s %q at %d", p.Kind, p.Name, parse.HeadLine(p.Message), p.At)
			}
		})
	}
}

// scriptFixtures names the logs in which the tools stand.
var scriptFixtures = map[string]string{
	"sympy__sympy-22005.log":                          "sympy",
	"Binaryify__NeteaseCloudMusicApi__2404484958.log": "mocha",
	"HabitRPG__habitica__2536167204.log":              "mocha",
	"getgauge__taiko__2506840513.log":                 "mocha",
	"marko-js__marko__2230809902.log":                 "mocha",
	"sequelize__sequelize__2536680158.log":            "mocha",
	"Raathigesh__dazzle__624184843.log":               "mocha",
	"TryGhost__Ghost__643564899.log":                  "mocha",
	"mholt__PapaParse__454920816.log":                 "mocha",
	"visionmedia__page.js__425225977.log":             "mocha",
	"bwhmather__verktyg__109227526-orig.log":          "unittest",
	"bwhmather__verktyg__109231519-orig.log":          "unittest",
	"bwhmather__verktyg__78833091-orig.log":           "unittest",
	"numpy__numpy__250808150-orig.log":                "unittest",
	"tornadoweb__tornado__73309390-orig.log":          "unittest",
	"django__django-11422.log":                        "unittest",
}

// splitUnittest splits "test_x (pkg.Class)" as unittest prints it.
func splitUnittest(id string) (suite, name string) {
	name, class, found := strings.Cut(id, " (")
	class, _, closed := strings.Cut(class, ")")
	switch {
	case found && closed && parse.IsDotted(class):
		return strings.TrimSuffix(class, "."+name), name
	case !found && parse.IsDotted(id) && strings.Contains(id, "."):
		i := strings.LastIndexByte(id, '.')
		return id[:i], id[i+1:]
	}
	return "", id
}
