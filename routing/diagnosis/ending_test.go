package diagnosis

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// TestLastWords: a log whose tests passed and whose last words are a failure is
// no pass, unless the run's conclusion says so.
func TestLastWords(t *testing.T) {
	t.Parallel()
	const green = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"
	for _, c := range []struct {
		name, in, conclusion, want string
	}{
		{"make", green + "make: *** [Makefile:12: check] Error 1\n", "", Unclear},
		{"make, and the run succeeded", green + "make: *** [Makefile:12: check] Error 1\n", "success", Pass},
		{"a crash", green + "Segmentation fault (core dumped)\n", "", Unclear},
		{"a crash before the tests", "Segmentation fault (core dumped)\n" + green, "", Pass},
		{"make, then something that went well", green + "make: *** [Makefile:12: lint] Error 1\nok, going on\n", "", Pass},
		{"make, long before the end", green + "make: *** [Makefile:12: lint] Error 1\n" + strings.Repeat("uploading\n", 9), "", Pass},
		{"Jenkins ends well", green + "[Pipeline] }\n[Pipeline] End of Pipeline\nFinished: SUCCESS\n", "", Pass},
		{"nothing more", green, "", Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			col := NewCollector(nil)
			rep, err := testreport.Parse(strings.NewReader(c.in), testreport.Options{OnLine: col.Line})
			if err != nil {
				t.Fatal(err)
			}
			if d := Diagnose(rep, col, Options{Conclusion: c.conclusion}); d.Result != c.want || d.Reason == "" {
				t.Errorf("%s: %s, want %s", d.Result, d.Reason, c.want)
			}
		})
	}
}
