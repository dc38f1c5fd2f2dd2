// Package recording reads the outputs of real tools that this repository keeps
// below internal/corpus, what is true of each, and compares that with what the
// readers and the diagnosis make of it.
package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Run is one run of a tool as the recorder lists it in index.json, beside the
// outputs of one version.
type Run struct {
	ID      string `json:"id"`                // CASE.REPORTER or CASE.REPORTER.color
	Command string `json:"command,omitempty"` // as a step of a workflow would have it
	Exit    int    `json:"exit"`              // of the command
	Report  bool   `json:"report,omitempty"`  // a document for machines: it is no step's console
}

// Recording is the output of one run, and what is true of it.
type Recording struct {
	Run
	Tool, Version  string
	Case, Reporter string
	Color          bool
	Path           string // of the packed output

	truth *Truth
}

// Form is how the output of a run reaches a reader.
type Form string

// The forms. A console is read both as the tool wrote it and as GitHub shows it.
const (
	Console Form = "console" // as the tool wrote it
	GitHub  Form = "github"  // as the log of a job of GitHub Actions
	Report  Form = "report"  // a document for machines
)

// Load reads the index and the truth of every tool below dir, which holds tools
// and recordings; with names, of those only. The recordings are sorted.
func Load(dir string, names ...string) ([]Recording, error) {
	tools, err := os.ReadDir(filepath.Join(dir, "tools"))
	if err != nil {
		return nil, err
	}
	var out []Recording
	for _, t := range tools {
		if !t.IsDir() || len(names) > 0 && !slices.Contains(names, t.Name()) {
			continue
		}
		of, err := loadTool(dir, t.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name(), err)
		}
		out = append(out, of...)
	}
	return out, nil
}

func loadTool(dir, tool string) ([]Recording, error) {
	truth, err := readTruth(filepath.Join(dir, "tools", tool, "truth.json"))
	if err != nil {
		return nil, err
	}
	versions, err := filepath.Glob(filepath.Join(dir, "recordings", tool, "*", "index.json"))
	if err != nil {
		return nil, err
	}
	var out []Recording
	for _, index := range versions {
		var runs []Run
		data, err := os.ReadFile(index)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &runs); err != nil {
			return nil, fmt.Errorf("%s: %w", index, err)
		}
		at := filepath.Dir(index)
		for _, r := range runs {
			rec := Recording{Run: r, Tool: tool, Version: filepath.Base(at), Path: filepath.Join(at, r.ID+".txt.gz"), truth: truth}
			id, color := strings.CutSuffix(r.ID, ".color")
			name, reporter, ok := strings.Cut(id, ".")
			if !ok || reporter == "" {
				return nil, fmt.Errorf("%s: the id %q is not CASE.REPORTER", index, r.ID)
			}
			rec.Case, rec.Reporter, rec.Color = name, reporter, color
			if _, ok := truth.Cases[name]; !ok {
				return nil, fmt.Errorf("%s: truth.json does not know the case %q", index, name)
			}
			out = append(out, rec)
		}
	}
	return out, nil
}

// Forms returns the forms in which the recording is read.
func (r Recording) Forms() []Form {
	if r.Report {
		return []Form{Report}
	}
	return []Form{Console, GitHub}
}

// Key names a recording in one form, as misses.txt does.
func (r Recording) Key(f Form) string {
	return r.Version + " " + r.ID + " " + string(f)
}

// Text returns the output in the form f.
func (r Recording) Text(f Form) ([]byte, error) {
	packed, err := os.Open(r.Path)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Path, err)
	}
	if f == GitHub {
		return JobLog(r.Command, text, r.Exit), nil
	}
	return text, nil
}

// Pack returns text packed with gzip; the same text always gives the same bytes.
func Pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
