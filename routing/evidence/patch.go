package evidence

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// block is a run of removed lines and the added ones that follow them: one edit.
type block struct {
	removed, added []line
}

// line is a line of a patch without its sign.
type line struct {
	number int // 1-based, in the new file if it was added, else in the old one
	text   string
}

var hunkRE = all(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// blocks returns the edits of a unified diff of one file.
func blocks(patch string) []block {
	var out []block
	var at block
	old, now := 0, 0
	flush := func() {
		if len(at.removed)+len(at.added) > 0 {
			out, at = append(out, at), block{}
		}
	}
	for text := range strings.Lines(patch) {
		text = strings.TrimRight(text, "\r\n")
		if m := hunkRE().FindStringSubmatch(text); m != nil {
			flush()
			old, now = number(m[1]), number(m[2])
			continue
		}
		switch {
		case strings.HasPrefix(text, "-"):
			if len(at.added) > 0 {
				flush()
			}
			at.removed = append(at.removed, line{old, text[1:]})
			old++
		case strings.HasPrefix(text, "+"):
			at.added = append(at.added, line{now, text[1:]})
			now++
		case strings.HasPrefix(text, `\`): // no newline at the end of the file
		default:
			flush()
			old, now = old+1, now+1
		}
	}
	flush()
	return out
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// fresh returns the added lines of edits that match, without those that an edit also takes away: as
// many as it removes are changed or moved, and not new. same compares two lines across edits.
func fresh(edits []block, matches func(string) bool) []line {
	gone := map[string]int{}
	var out []line
	for _, b := range edits {
		for _, l := range b.removed {
			if matches(l.text) {
				gone[strings.TrimSpace(l.text)]++
			}
		}
	}
	for _, b := range edits {
		replaced := 0
		var kept []line
		for _, l := range b.removed {
			if matches(l.text) {
				replaced++
			}
		}
		for _, l := range b.added {
			if matches(l.text) {
				kept = append(kept, l)
			}
		}
		for _, l := range kept {
			text := strings.TrimSpace(l.text)
			switch {
			case gone[text] > 0:
				gone[text]--
				replaced = max(0, replaced-1)
			case replaced > 0:
				replaced--
			default:
				out = append(out, l)
			}
		}
	}
	return out
}

// pattern is a regular expression that is compiled when it is first used.
type pattern func() *regexp.Regexp

// all returns a pattern of alternatives.
func all(patterns ...string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(patterns, "|")) })
}

// MatchString calls [regexp.Regexp.MatchString].
func (p pattern) MatchString(s string) bool { return p().MatchString(s) }
