package render

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

var offered = regexp.MustCompile("`(/switchback [^`]+)`")

// TestOfferedCommands reads every command that a rendering proposes as a
// comment would be read.
func TestOfferedCommands(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range offered.FindAllStringSubmatch(string(data), -1) {
			n++
			cmds := answers.Commands(m[1])
			if len(cmds) != 1 || cmds[0].Err != nil {
				t.Errorf("%s proposes %q, which is read as %+v", file, m[1], cmds)
				continue
			}
			if c := cmds[0]; c.Checkpoint != "" && c.Checkpoint != "unit" && !strings.Contains(string(data), "### 🛑 "+c.Checkpoint) {
				t.Errorf("%s proposes %q, which is read as of checkpoint %q", file, m[1], c.Checkpoint)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d commands are proposed", n)
	}
}
