package recording

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// WriteMisses writes the known misses of a tool, sorted; without any it removes
// the file.
func WriteMisses(dir, tool string, misses []Miss) error {
	name := MissesFile(dir, tool)
	if len(misses) == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	misses = slices.Clone(misses)
	slices.SortFunc(misses, func(a, b Miss) int { return strings.Compare(a.Key, b.Key) })
	var b strings.Builder
	b.WriteString("# Known misses: VERSION ID FORM: reason. The test fails when one of them is read exactly.\n")
	for _, m := range misses {
		b.WriteString(m.Key + ": " + m.Reason + "\n")
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}
