package labelled

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/internal/corpus/recording"
	"github.com/switchback-ci/switchback/routing"
)

// PerTool is how many recordings of a tool are enough to measure with: reporters of one case differ
// little.
const PerTool = 48

// Corpus returns the recordings below dir (internal/corpus) of runs that failed, as logs of jobs of
// GitHub Actions, at most perTool of a tool. Those of one tool are a set.
func Corpus(dir string, perTool int) ([]Log, error) {
	all, err := recording.Load(dir)
	if err != nil {
		return nil, err
	}
	byTool := map[string][]Log{}
	var tools []string
	for _, r := range all {
		if r.Report {
			continue
		}
		l, ok, err := fromRecording(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Path, err)
		}
		if !ok {
			continue
		}
		if byTool[l.Set] == nil {
			tools = append(tools, l.Set)
		}
		byTool[l.Set] = append(byTool[l.Set], l)
	}
	var out []Log
	for _, t := range tools {
		logs := byTool[t]
		step := max(1, (len(logs)+perTool-1)/perTool)
		for i := 0; i < len(logs); i += step {
			out = append(out, logs[i])
		}
	}
	return out, nil
}

// fromRecording returns a recording as a log, false if the run did not fail.
func fromRecording(r recording.Recording) (Log, bool, error) {
	truth, err := r.Truth(recording.GitHub)
	if err != nil || slices.Contains(truth.Verdict, routing.Pass) {
		return Log{}, false, err
	}
	l := Log{Set: "corpus/" + r.Tool, File: r.Key(recording.GitHub), Path: r.Path}
	l.text = func() ([]byte, error) { return r.Text(recording.GitHub) }
	if len(truth.Class) > 0 {
		l.Truth.Class, l.Truth.ClassAlt = truth.Class[0], truth.Class[1:]
	}
	l.Truth.lines.pieces = slices.Clone(truth.Lines)
	for _, f := range truth.Failing {
		if f.Message != "" {
			l.Truth.lines.pieces = append(l.Truth.lines.pieces, f.Message)
		}
	}
	l.Truth.lines.known = len(l.Truth.lines.pieces) > 0
	return l, true, nil
}

// holdsPiece reports whether text has one of the pieces, each of which is one line.
func (t lineTruth) holdsPiece(text string) bool {
	return slices.ContainsFunc(t.pieces, func(p string) bool { return strings.Contains(text, p) })
}

func openText(text func() ([]byte, error)) (io.ReadCloser, error) {
	data, err := text()
	return io.NopCloser(bytes.NewReader(data)), err
}

// All returns the logs of the fixtures below root, if they are there, and of the corpus, at most
// perTool of a tool.
func All(root, corpus string, perTool int) ([]Log, error) {
	logs, err := Fixtures(root)
	if err != nil {
		return nil, err
	}
	more, err := Corpus(corpus, perTool)
	return append(logs, more...), err
}
