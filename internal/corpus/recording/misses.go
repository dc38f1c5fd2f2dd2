package recording

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Miss is a recording in one form that is known not to be read exactly.
type Miss struct {
	Key    string // Recording.Key
	Reason string
}

// MissesFile returns the name of the list of a tool's known misses.
func MissesFile(dir, tool string) string {
	return filepath.Join(dir, "tools", tool, "misses.txt")
}

// ReadMisses reads the known misses of a tool; a tool without the file has none.
// Each line is "VERSION ID FORM: reason".
func ReadMisses(dir, tool string) ([]Miss, error) {
	f, err := os.Open(MissesFile(dir, tool))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Miss
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := sc.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, ": ")
		if !ok || strings.TrimSpace(reason) == "" || len(strings.Fields(key)) != 3 {
			return nil, fmt.Errorf("%s: %q is not VERSION ID FORM: reason", f.Name(), line)
		}
		out = append(out, Miss{key, reason})
	}
	return out, sc.Err()
}
