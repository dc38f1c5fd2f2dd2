package worker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/redact"
)

// TestS6_5_FilesShowNoSecret is S6-5: the files that workers read show no value that the process holds.
func TestS6_5_FilesShowNoSecret(t *testing.T) {
	t.Parallel()
	const held = "held by the worker's test"
	redact.Hide(held)
	f := files{t.TempDir()}
	for name, data := range map[string]string{"feedback.md": "a " + held, "feedback.json": `{"a":"b\n` + held + `","n":12345678901}`} {
		if err := f.write(name, []byte(data)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(f.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(got), held) || !strings.Contains(string(got), redact.Mask) || filepath.Ext(name) == ".json" && !json.Valid(got) {
			t.Errorf("%s is %s", name, got)
		}
	}
}
