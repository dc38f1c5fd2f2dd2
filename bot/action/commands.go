package action

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/switchback-ci/switchback/routing/redact"
)

// escapeData makes text safe as the data of a workflow command: it stays one
// command on one line, whatever a run printed.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// inert returns text of which the runner takes no line for a workflow command:
// it looks for "::name" at a line's beginning, behind blanks too, and for the
// older "##[name]" anywhere.
func inert(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "##[", "## ["), "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), "::"); ok {
			lines[i] = ": :" + rest
		}
	}
	return strings.Join(lines, "\n")
}

// setOutputs appends to the file of outputs, each value behind a delimiter of
// its own that no value can hold: a constant one could be closed by a test's
// name, and outputs of the attacker's choice would follow.
func setOutputs(file string, values map[string]string) error {
	if file == "" {
		return nil
	}
	names := make([]string, 0, len(values))
	for n := range values {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, n := range names {
		var r [12]byte
		if _, err := rand.Read(r[:]); err != nil {
			return err
		}
		end := "switchback_" + hex.EncodeToString(r[:])
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", n, end, redact.Tokens(values[n]), end)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("the outputs: %w", err)
	}
	if _, err := f.WriteString(b.String()); err != nil {
		_ = f.Close()
		return fmt.Errorf("the outputs: %w", err)
	}
	return f.Close()
}
