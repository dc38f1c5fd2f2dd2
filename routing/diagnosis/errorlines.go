package diagnosis

import (
	"slices"

	"github.com/switchback-ci/switchback/routing"
)

// errorLines merges the lines of the failures with the ranked lines of the log.
func (d *diagnoser) errorLines() []Line {
	all := slices.Clone(d.ranked)
	at := map[int]bool{}
	for _, r := range all {
		at[r.no] = true
	}
	for _, f := range d.found {
		if f.at == 0 || at[f.at] || f.Kind == "log" {
			continue
		}
		at[f.at] = true
		all = append(all, ranked{candidate: candidate{no: f.at, text: firstText(oneLine(f.Message), f.Name)}, score: d.testScore(f)})
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return a.no - b.no
	})
	least := 1
	if len(d.found) == 0 && !d.failed() {
		least = 60 // nothing says that the run failed: no last words
	}
	var out []Line
	for _, r := range all {
		if len(out) >= maxErrorLines || r.score < least {
			break
		}
		out = append(out, Line{Line: r.no, Text: cutLine(r.text, 500)})
	}
	return out
}

func (d *diagnoser) testScore(f found) int {
	n := 78
	if f.Class == routing.Unknown {
		n = 40
	}
	if f.Decisive {
		n += 8
	}
	if d.block.found && f.at <= d.block.end {
		n += 20
	}
	return n
}
