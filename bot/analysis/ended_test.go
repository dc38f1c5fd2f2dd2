package analysis

import (
	"io"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// A run that is read while it goes on: how it ended, and what it left behind,
// is known once its output has been read.
func TestRunThatIsStillGoing(t *testing.T) {
	t.Parallel()
	passing := `<testsuite tests="1"><testcase classname="a" name="b"/></testsuite>`
	failing := `<testsuite tests="1" failures="1"><testcase classname="a" name="b"><failure message="no"/></testcase></testsuite>`
	for _, c := range []struct {
		name, conclusion, report string
		want                     routing.Result
	}{
		{"it passed", "success", passing, routing.Pass},
		{"its report failed", "success", failing, routing.Fail},
		{"it failed, whatever its report says: no pass", "failure", passing, routing.Unclear},
		{"it left nothing", "success", "", routing.Unclear},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			read := false
			first := Source{Name: "log", Open: func() (io.ReadCloser, error) {
				read = true
				return io.NopCloser(strings.NewReader("working\n")), nil
			}}
			out, err := Analyze(Input{Sources: []Source{first}, Ended: func() (string, []Source) {
				if !read {
					t.Error("asked before the sources were read")
				}
				if c.report == "" {
					return c.conclusion, nil
				}
				return c.conclusion, []Source{text("junit.xml", c.report)}
			}})
			if err != nil || out.Verdict.Result != c.want {
				t.Errorf("%v %v, want %s: %s", out.Verdict.Result, err, c.want, out.Verdict.Reason)
			}
		})
	}
}
