package evidence

import (
	"path"
	"strconv"
	"strings"
)

// limit is a setting whose number a run has to reach, or may not exceed.
type limit struct {
	re   pattern // the last group is the number; one without a group is on or off
	most bool    // a larger number allows more
	only pattern // files in which the setting means this, nil: all
}

const (
	gap   = `["']?\s*[:=>(,\s]\s*["']?`
	digit = `(\d+(?:\.\d+)?)`
)

var jsFiles = all(`(^|/)(package\.json|\.nycrc(\.[a-z]+)?|\.c8rc(\.[a-z]+)?|(jest|vitest|vite|nyc|karma|c8)\.(config|conf)\.[a-z]+|\.?codecov\.ya?ml|stryker\.[a-z.]+)$`)

var limits = []limit{
	{re: all(`(?i)(?:cov[-_])?fail[-_]under(?:[-_](?:lines|functions|regions|branches))?` + gap + digit)},
	{re: all(`["']?\b(?:branches|functions|lines|statements|perFile)\b` + gap + digit), only: jsFiles},
	{re: all(`(?i)\btarget` + gap + digit + `\s*%?`), only: all(`(?i)codecov\.ya?ml$`)},
	{re: all(`(?i)\bthreshold` + gap + digit + `\s*%?`), most: true, only: all(`(?i)codecov\.ya?ml$`)},
	{re: all(`(?i)<minimum>\s*` + digit), only: all(`\.xml$`)},
	{re: all(`\bminimum(?:Value)?` + gap + `["']?` + digit), only: all(`\.(gradle|kts|groovy)$`)},
	{re: all(`\bminBound\s*\(\s*` + digit)},
	{re: all(`(?i)\bminimum_coverage(?:_by_file)?` + `\s*[:(=,\s]\s*(?:\w+:\s*)?` + digit)},
	{re: all(`(?i)\b(?:min|minimum)[-_ ]?(?:line[-_ ]?|branch[-_ ]?)?coverage` + gap + digit)}, {re: all(`(?i)\bcoverage[-_ ]?(?:min|minimum|threshold|target)` + gap + digit)},
	{re: all(`(?i)<Threshold>\s*` + digit)}, {re: all(`(?i)/p:Threshold=\\?"?` + digit)}, {re: all(`(?i)--threshold[= ]` + digit)},
	{re: all(`(?i)\b(?:min[-_]?(?:covered[-_]?)?msi)` + gap + digit)}, {re: all(`\bbreak["']?\s*:\s*` + digit), only: all(`stryker`)}, {re: all(`(?i)\bmutationThreshold` + gap + digit)},
	{re: all(`\bthreshold:\s*` + digit), only: all(`\.exs$`)},
	{re: all(`(?i)\bmin_tests` + gap + digit)}, {re: all(`(?i)--min[-_]coverage[= ]` + digit)},
	{re: all(`(?i)--max-warnings["']?[\s=,]+["']?` + digit), most: true}, {re: all(`\bmaxWarnings` + gap + digit), most: true},
	{re: all(`(?i)\bmax_(?:skipped|flaky|drop)` + gap + digit), most: true},
	{re: all(`(?i)\b(?:MaxFailures|maxErrors|maxViolations|maximumErrors)` + gap + digit), most: true},
}

// switches are settings that are on or off.
var switches = []struct{ on, off pattern }{
	{all(`(?i)["']?check[-_]?coverage["']?\s*[:=]\s*true`, `--check-coverage\b`), all(`(?i)["']?check[-_]?coverage["']?\s*[:=]\s*false`)},
	{all(`(?i)\bfail_ci_if_error\s*:\s*true`), all(`(?i)\bfail_ci_if_error\s*:\s*false`)},
	{all(`(?i)\brequire_report\s*:\s*true`), all(`(?i)\brequire_report\s*:\s*false`)},
	{all(`(?i)\bxfail_strict\s*=\s*true`), all(`(?i)\bxfail_strict\s*=\s*false`)},
	{all(`(?i)--strict-markers\b`), nil},
}

// thresholds returns the limits of a file that were lowered or taken away.
func thresholds(name string, edits []block) []Change {
	var out []Change
	add := func(c Change) {
		if len(out) < mostOfFile {
			c.What, c.File = Threshold, name
			out = append(out, c)
		}
	}
	for _, l := range limits {
		if l.only == nil || l.only.MatchString(path.Clean(name)) {
			for _, c := range l.lowered(edits) {
				add(c)
			}
		}
	}
	for _, s := range switches {
		for _, b := range edits {
			was, now := firstOf(b.removed, s.on), firstOf(b.added, s.on)
			off := firstOf(b.added, s.off)
			switch {
			case off != nil && firstOf(b.removed, s.off) == nil:
				c := Change{Line: off.number, Text: off.text}
				if was != nil {
					c.Was = was.text
				}
				add(c)
			case was != nil && now == nil && !anywhere(edits, s.on):
				add(Change{Line: was.number, Was: was.text})
			}
		}
	}
	return out
}

func firstOf(lines []line, re pattern) *line {
	if re == nil {
		return nil
	}
	for i, l := range lines {
		if re.MatchString(l.text) && !commentRE.MatchString(l.text) {
			return &lines[i]
		}
	}
	return nil
}

// anywhere reports whether some edit adds what matches.
func anywhere(edits []block, re pattern) bool {
	for _, b := range edits {
		if firstOf(b.added, re) != nil {
			return true
		}
	}
	return false
}

// setting is a limit as it stands in a line.
type setting struct {
	line
	key    string // what stands before the number
	number float64
}

func (l limit) in(lines []line) []setting {
	var out []setting
	for _, at := range lines {
		if commentRE.MatchString(at.text) {
			continue
		}
		for _, m := range l.re().FindAllStringSubmatchIndex(at.text, -1) {
			n, err := strconv.ParseFloat(at.text[m[len(m)-2]:m[len(m)-1]], 64)
			if err == nil {
				out = append(out, setting{at, strings.TrimSpace(at.text[m[0]:m[len(m)-2]]), n})
			}
		}
	}
	return out
}

// lowered returns the settings that allow more than before, and those that are gone.
func (l limit) lowered(edits []block) []Change {
	var added []setting
	for _, b := range edits {
		added = append(added, l.in(b.added)...)
	}
	used := make([]bool, len(added))
	var out []Change
	for _, b := range edits {
		own := l.in(b.added)
		for i, was := range l.in(b.removed) {
			at := -1
			for k, now := range added {
				near := i < len(own) && now.line == own[i].line
				if !used[k] && now.key == was.key && (at < 0 || near) {
					at = k
				}
			}
			if at < 0 {
				out = append(out, Change{Line: was.line.number, Was: was.text})
				continue
			}
			used[at] = true
			if now := added[at]; now.number < was.number && !l.most || now.number > was.number && l.most {
				out = append(out, Change{Line: now.line.number, Text: now.text, Was: was.text})
			}
		}
	}
	return out
}
