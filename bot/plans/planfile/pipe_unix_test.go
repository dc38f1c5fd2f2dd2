//go:build unix

package planfile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is never opened: nobody may write to it.
func TestLoadDoesNotWaitForAPipe(t *testing.T) {
	t.Parallel()
	root := repository(t, map[string]string{"ports/a.yml": "id: a\n"})
	pipe := filepath.Join(root, "ports", "pipe.yml")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, filepath.Dir(pipe), "/dev/zero"} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), ": is no file; put the port itself here") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
