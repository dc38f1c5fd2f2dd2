package judge

import (
	"encoding/json"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnose"
	"github.com/switchback-ci/switchback/routing/report"
)

// What is kept of one verdict in a ledger: eleven turns of a case together
// stay below the megabyte that GitHub's contents API returns in one answer.
const (
	mostBytes    = 64 << 10
	mostFailures = 400
)

// Bound returns v cut to what a ledger keeps of one run: the least useful
// first (excerpts, traces and texts of failures far from the decisive one),
// then failures themselves, which are counted in Dropped.
func Bound(v routing.Verdict) routing.Verdict {
	if n := len(v.Failures); n > mostFailures {
		v.Dropped += n - mostFailures
		v.Failures = v.Failures[:mostFailures]
	}
	fs := append([]routing.Failure(nil), v.Failures...)
	for i := range fs {
		cutFailure(&fs[i], 4<<10)
	}
	v.Failures = fs
	v.Evidence = v.Evidence[:min(len(v.Evidence), 10)]
	if len(v.Notes) > 20 {
		v.Notes = v.Notes[:20]
	}
	for _, keep := range []struct{ full, text int }{{40, 1 << 10}, {20, 512}, {10, 256}, {5, 160}, {1, 120}} {
		if size(v) <= mostBytes {
			return v
		}
		for i := range fs {
			if i < keep.full {
				continue
			}
			fs[i].Excerpt, fs[i].Trace = nil, ""
			cutFailure(&fs[i], keep.text)
			if len(fs[i].Evidence) > 1 {
				fs[i].Evidence = fs[i].Evidence[:1]
			}
		}
	}
	for size(v) > mostBytes && len(v.Failures) > 1 {
		half := len(v.Failures) / 2
		v.Dropped += len(v.Failures) - half
		v.Failures = v.Failures[:half]
	}
	return v
}

func cutFailure(f *routing.Failure, text int) {
	f.Name, f.Suite = report.CutText(f.Name, 500), report.CutText(f.Suite, 500)
	f.Message, f.Trace = report.CutText(f.Message, text), report.CutText(f.Trace, text)
	f.Expected, f.Actual = report.CutText(f.Expected, text/2), report.CutText(f.Actual, text/2)
	f.Suggestion = report.CutText(f.Suggestion, 600)
	f.Evidence = append([]routing.Evidence(nil), f.Evidence[:min(len(f.Evidence), 3)]...)
	for i := range f.Evidence {
		f.Evidence[i].Text = report.CutText(f.Evidence[i].Text, 300)
	}
}

func size(v routing.Verdict) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(b)
}

// Redacted returns v with secrets masked in every text that came from the run.
func Redacted(v routing.Verdict) routing.Verdict {
	r := diagnose.Redact
	v.Reason = r(v.Reason)
	v.Evidence = redactEvidence(v.Evidence)
	fs := append([]routing.Failure(nil), v.Failures...)
	for i := range fs {
		f := &fs[i]
		f.Name, f.Suite, f.Message, f.Trace = r(f.Name), r(f.Suite), r(f.Message), r(f.Trace)
		f.Expected, f.Actual, f.Suggestion = r(f.Expected), r(f.Actual), r(f.Suggestion)
		f.Evidence = redactEvidence(f.Evidence)
		if f.Excerpt != nil {
			ex := *f.Excerpt
			ex.Lines = append([]string(nil), ex.Lines...)
			for j := range ex.Lines {
				ex.Lines[j] = r(ex.Lines[j])
			}
			f.Excerpt = &ex
		}
	}
	v.Failures = fs
	notes := append([]string(nil), v.Notes...)
	for i := range notes {
		notes[i] = r(notes[i])
	}
	v.Notes = notes
	return v
}

func redactEvidence(ev []routing.Evidence) []routing.Evidence {
	out := append([]routing.Evidence(nil), ev...)
	for i := range out {
		out[i].Text = diagnose.Redact(out[i].Text)
	}
	return out
}
