package analysis

import "path/filepath"

// Resolved returns the one path of a file, whatever name it was given by:
// absolute, and no link. A file that two patterns or arguments name is to be
// read once, or its tests count twice. A path that leads nowhere is returned
// absolute and cleaned.
func Resolved(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}
