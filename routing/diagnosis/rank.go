package diagnosis

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// ranked is a candidate with its step and its score.
type ranked struct {
	candidate
	step  int
	score int
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

// rank scores every candidate against the block and returns them best first,
// equal texts once.
func (c *Collector) rank(b block) []ranked {
	var all []ranked
	for _, s := range c.steps.all {
		for _, k := range s.lines() {
			r := ranked{candidate: k, step: s.index}
			r.score = score(r, b, s)
			if r.score > 0 {
				all = append(all, r)
			}
		}
	}
	for i := range c.stops {
		all = append(all, ranked{candidate: c.stops[i].candidate, step: c.stops[i].step, score: c.stops[i].base})
	}
	all = append(all, c.fallback(b, all)...)
	slices.SortStableFunc(all, func(x, y ranked) int {
		if x.score != y.score {
			return y.score - x.score
		}
		return x.no - y.no
	})
	return distinct(all)
}

// score rates r, a line of step s, against the block.
func score(r ranked, b block, s *step) int {
	n := r.base
	fatal := r.rule != nil && r.rule.Fatal
	if r.rule != nil && r.rule.Scope == ScopeBlock && !b.holds(r) {
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
func (c *Collector) fallback(b block, have []ranked) []ranked {
	for _, r := range have {
		if r.score >= 40 {
			return nil
		}
	}
	lines := c.recent.all()
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
func (c *Collector) paragraph(lines []testreport.Line) []testreport.Line {
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
			if out[i].score == r.score && r.no > out[i].no && r.text == out[i].text {
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
	if r.rule.Scope == ScopeBlock {
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
	if len(d.found) == 0 && !d.output.failed() {
		least = 60 // nothing indicates that the run failed, so weak lines do not count
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
