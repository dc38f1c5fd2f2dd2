//go:build unix

package worker

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// What a port names in its feedback is read without waiting for it.
func TestExcerptOfAPipe(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"pipe", ".", "none"} {
		if got := excerpt(root, feedback.Artifact{Path: path, Line: 1, End: 9}); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
}
