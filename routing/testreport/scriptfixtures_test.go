package testreport

import (
	"os"
	"slices"
	"strings"
	"testing"
)

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
				suite, name := unittestID(strings.ReplaceAll(w, ".py:", ".py::"))
				failing = append(failing, Test{Suite: suite, Name: name}.FullName())
			}
			_, missed, extra := foundMissedExtra(got, failing)
			if len(missed) > 0 && frameworks[f.Framework] || len(extra) > 0 {
				t.Errorf("missed %q\nextra %q", missed, extra)
			}
			t.Logf("counts %+v, %d problems", rep.Counts, len(rep.Problems))
			for _, p := range rep.Problems {
				t.Logf("problem %s %s %q at %d", p.Kind, p.Name, headLine(p.Message), p.At)
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
