package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis/rank"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// ranked is a candidate with its step and its scores.
type ranked struct {
	candidate
	step  int
	stop  bool
	score int     // what its rule and its place give: whether the line counts at all
	rank  float64 // how likely it states why the run failed, next to the others

	features rank.Vector
}

// block is the part of a log that stopped the run.
type block struct {
	step  int // 0: the whole log
	end   int // line of the stop, or of the end of the log
	found bool
	stop  *stop
}

// blockSize is how far before its stop a block reaches for rules of ScopeBlock.
const blockSize = 400

// decisiveBlock selects among the stops the step whose best line scores highest, on a tie the
// first, because later steps only clean up.
func (c *Collector) decisiveBlock() block {
	best, score := -1, -1
	for i, s := range c.stops {
		n := 0
		if st := c.steps.get(s.step); st != nil {
			for _, k := range st.lines() {
				if k.no <= s.no || s.no == 0 {
					n = max(n, k.base)
				}
			}
			if st.cleanup {
				n -= 60
			}
		}
		if n > score || (n == score && c.stops[best].step == s.step) {
			best, score = i, n
		}
	}
	if best < 0 {
		return block{end: c.last}
	}
	s := &c.stops[best]
	return block{step: s.step, end: s.no, found: true, stop: s}
}

// ranker orders what a Collector kept.
type ranker struct{ *Collector }

// maxRanked bounds how many candidates are compared by their text.
const maxRanked = 256

// rank scores every candidate against the block and returns them best first, equal texts once.
// found are the failures of the report, known is the log of a run that passed.
func (c ranker) rank(b block, found []found, known *Baseline) ([]ranked, *features) {
	all := c.candidates(b)
	f := featuresOf(all, c.last, c.shapes.of, b, known)
	w := c.rules.rules.ranker()
	at := map[int]rank.Feature{}
	for _, x := range found {
		if x.at > 0 {
			at[x.at] = sourceOf(x)
		}
	}
	for i := range all {
		r := &all[i]
		r.features = f.of(*r, c.steps.get(r.step))
		if x, ok := at[r.no]; ok {
			r.features[x] = 1
		}
		r.rank = w.Score(&r.features)
	}
	slices.SortStableFunc(all, compareRanked)
	return distinct(all[:min(len(all), maxRanked)]), f
}

func compareRanked(x, y ranked) int {
	if x.rank != y.rank {
		return cmp.Compare(y.rank, x.rank)
	}
	return x.no - y.no
}

// candidates returns the candidates of the log, those of the block's last lines among them.
func (c ranker) candidates(b block) []ranked {
	var all []ranked
	have := map[int]int{}
	for _, s := range c.steps.all {
		for _, k := range s.lines() {
			r := ranked{candidate: k, step: s.index}
			r.score = score(r, b, s)
			if r.score > 0 {
				have[k.no] = len(all)
				all = append(all, r)
			}
		}
	}
	for i := range c.stops {
		all = append(all, ranked{candidate: c.stops[i].candidate, step: c.stops[i].step, stop: true, score: c.stops[i].base})
	}
	fallback := c.fallback(b, all)
	for _, r := range append(fallback, c.ending(b)...) {
		i, ok := have[r.no]
		if !ok {
			i = len(all)
			have[r.no] = i
			all = append(all, r)
		}
		all[i].last = all[i].last || r.last
		all[i].head = all[i].head || r.head
		all[i].score = max(all[i].score, r.score)
	}
	return all
}

// ending returns the lines with text before the stop, or before the end of the log.
func (c ranker) ending(b block) []ranked {
	lines := c.recent.context()
	if b.stop != nil {
		lines = b.stop.context
	}
	var out []ranked
	paragraph := true // l belongs to the last paragraph
	for i := len(lines) - 1; i >= 0; i-- {
		l := lines[i]
		if strings.TrimSpace(l.Text) == "" {
			if n := len(out); n > 0 && paragraph {
				out[n-1].head, paragraph = true, false
			}
			continue
		}
		if l.Passing || b.stop != nil && l.No == b.stop.no {
			continue
		}
		if r := c.rules.line(l.Text).rule; r != nil && r.Role != RoleError {
			continue
		}
		out = append(out, ranked{candidate: candidate{no: l.No, text: l.Text, base: 2, last: len(out) == 0}, step: b.step, score: 2})
	}
	if n := len(out); n > 0 && paragraph {
		out[n-1].head = true
	}
	return out
}

// score rates r, a line of step s, against the block.
func score(r ranked, b block, s *step) int {
	n := r.base
	fatal := r.rule != nil && r.rule.Fatal
	if r.rule != nil && r.rule.inBlock() && !b.holds(r) {
		n -= 45
	}
	switch {
	case b.found && r.step == b.step && r.no <= b.end:
		n += 20 + near(b.end-r.no)
	case b.found && r.step == b.step:
		n += 4 // the runner's own words after the stop
	case b.found && s.stopped:
		n -= 5
	case b.found && !fatal:
		n -= 30
	case !b.found:
		n += near(b.end-r.no) / 2
	}
	if s.cleanup {
		n -= 30
	}
	return n
}

// near scores lines higher that are closely before the stop.
func near(d int) int {
	switch {
	case d < 0:
		return 0
	case d <= 20:
		return 6
	case d <= 80:
		return 4
	case d <= 400:
		return 2
	}
	return 0
}

// holds reports whether r is in the block that stopped the run.
func (b block) holds(r ranked) bool {
	if b.found {
		return r.step == b.step && r.no <= b.end+5 && (r.mark || b.end-r.no <= blockSize)
	}
	return b.end-r.no <= blockSize
}

// fallback returns the last paragraph before the stop, for a step that ended with a message that no
// rule matches.
func (c ranker) fallback(b block, have []ranked) []ranked {
	if slices.ContainsFunc(have, func(r ranked) bool { return r.score >= 40 }) {
		return nil
	}
	lines := c.recent.context()
	if b.stop != nil {
		lines = b.stop.context
	}
	para := c.paragraph(lines)
	var out []ranked
	for i, l := range para {
		score := 30 - i
		if i == len(para)-1 && i > 0 {
			score = 30
		}
		out = append(out, ranked{candidate: candidate{no: l.No, text: l.Text, base: score}, step: b.step, score: score})
	}
	return out
}

// paragraph returns the last lines up to a blank one, at most eight, without those that match a
// rule of another role than RoleError.
func (c ranker) paragraph(lines []testreport.Line) []testreport.Line {
	var out []testreport.Line
	for i := len(lines) - 1; i >= 0 && len(out) < 8; i-- {
		l := lines[i]
		if strings.TrimSpace(l.Text) == "" {
			if len(out) > 0 {
				break
			}
			continue
		}
		if r := c.rules.first(l.Text, logRule).rule; r != nil && r.Role != RoleError {
			continue
		}
		out = append(out, l)
	}
	slices.Reverse(out)
	return out
}

// distinct drops a line whose normalised text is listed before. Of two equal scores the earlier
// line comes first; if their texts are equal too, the later line is kept, because it ended the
// block.
func distinct(all []ranked) []ranked {
	at := map[string]int{}
	out := all[:0:0]
	for _, r := range all {
		key := Normalise(r.text)
		if i, ok := at[key]; ok {
			if out[i].rank == r.rank && r.no > out[i].no && r.text == out[i].text {
				out[i].no = r.no
			}
			continue
		}
		at[key] = len(out)
		out = append(out, r)
	}
	return out
}

// decide returns the ranked line whose rule gives the run its class: the best in the block that has
// a class, unless a stronger line without one precedes it.
func (b block) decide(all []ranked) (ranked, bool) {
	for _, r := range all {
		if r.rule == nil || r.rule.Class == "" || r.rule.Role != RoleError || r.score < 40 {
			continue
		}
		if r.features[rank.Old] != 0 && !r.rule.Fatal {
			continue // a run that passed has it too
		}
		if r.rule.Class == routing.Unknown || b.classifies(r) {
			return r, true
		}
	}
	return ranked{}, false
}

func (b block) classifies(r ranked) bool {
	if r.rule.Fatal || r.rule.user {
		return true
	}
	if r.rule.inBlock() {
		return b.holds(r)
	}
	return !b.found || r.step == b.step
}

// errorLines merges the lines of the failures with the ranked lines of the log.
func (d *diagnoser) errorLines() []Line {
	all := slices.Clone(d.output.ranked)
	at := map[int]bool{}
	for _, r := range all {
		at[r.no] = true
	}
	all = append(all, d.reported(at)...)
	slices.SortStableFunc(all, compareRanked)
	if f := d.output.col.rules.rules.variant.Ranked; f != nil {
		f(candidatesOf(all))
	}
	least := 1
	if len(d.found) == 0 && !d.output.failed() {
		least = 60 // nothing indicates that the run failed, so weak lines do not count
	}
	var out []Line
	for _, r := range all {
		if len(out) >= maxErrorLines {
			break
		}
		if r.score >= least {
			out = append(out, Line{Line: r.no, Text: cutLine(r.text, 500)})
		}
	}
	return out
}

func candidatesOf(all []ranked) []Candidate {
	out := make([]Candidate, len(all))
	for i, r := range all {
		out[i] = Candidate{Line{r.no, r.text}, r.features}
	}
	return out
}

// maxReported bounds how many failures of the report compete for the error lines.
const maxReported = 100

// reported returns the failures of the report whose lines are not among at, which it extends.
func (d *diagnoser) reported(at map[int]bool) []ranked {
	var out []ranked
	for _, f := range d.found {
		if f.at == 0 || at[f.at] || f.Kind == "log" || len(out) >= maxReported && !f.Decisive {
			continue
		}
		at[f.at] = true
		out = append(out, ranked{candidate: candidate{no: f.at, text: firstText(oneLine(f.Message), f.Name)}, step: d.output.block.step, score: d.testScore(f)})
		r := &out[len(out)-1]
		r.features = d.output.features.of(*r, nil)
		r.features[rank.Context] = 0
		r.features[sourceOf(f)] = 1
		r.rank = d.output.col.rules.rules.ranker().Score(&r.features)
	}
	return out
}

func sourceOf(f found) rank.Feature {
	switch f.Kind {
	case "diagnostic":
		return rank.Finding
	case "problem":
		return rank.Problem
	}
	return rank.Test
}

func (d *diagnoser) testScore(f found) int {
	n := 78
	if f.Class == routing.Unknown {
		n = 40
	}
	if f.Decisive {
		n += 8
	}
	if b := d.output.block; b.found && f.at <= b.end {
		n += 20
	}
	return n
}

// endsBadly reports whether the last lines of the log say that the program that ran the tests
// failed or crashed: `make: *** [check] Error 1`, `Segmentation fault (core dumped)`. In the middle
// of a log such lines can be expected output; after the last result they do not belong to a test.
func (c *Collector) endsBadly() (said string, ok bool) {
	const lastLines = 4
	for _, s := range c.steps.all {
		for _, k := range s.lines() {
			if k.rule == nil || c.last-k.no >= lastLines || !endsRun(k) || c.recent.goodAfter(k.no) {
				continue
			}
			said, ok = strings.TrimSpace(k.text), true
		}
	}
	return said, ok
}

// endsRun reports whether k is of a kind that ends a run.
func endsRun(k candidate) bool {
	return k.rule.EndsRun || k.rule.Role == RoleWrapper && !strings.HasPrefix(k.text, "[Pipeline]")
}

func saysWell(l testreport.Line) bool {
	t := strings.ToLower(strings.TrimSpace(l.Text))
	for _, w := range [...]string{"ok", "pass", "--- pass", "[  passed", "success", "build success", "finished: success", "all tests passed", "[success]", "done. your build exited with 0"} {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	return strings.HasSuffix(t, "exited with 0.")
}
