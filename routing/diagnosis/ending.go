package diagnosis

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// lastWords returns what the log says at its very end of a failure, "" if nothing.
func (d *diagnoser) lastWords() string {
	said, _ := d.col.endsBadly()
	return said
}

// endsBadly reports whether the last words of the log are that what ran the
// tests gave up, or that the process died: `make: *** [check] Error 1`,
// `Segmentation fault (core dumped)`. In the middle of a log such lines may be
// expected; behind the last result they are no part of a test.
func (c *Collector) endsBadly() (said string, ok bool) {
	const lastLines = 4
	for _, s := range c.steps {
		for _, k := range s.lines() {
			if k.rule == nil || c.last-k.no >= lastLines || !lastWord(k) || c.goodAfter(k.no) {
				continue
			}
			said, ok = strings.TrimSpace(k.text), true
		}
	}
	return said, ok
}

// lastWord reports whether k is of a kind that ends a run.
func lastWord(k candidate) bool {
	switch k.rule.ID {
	case "le-sanitizer", "le-signal":
		return true
	}
	return k.rule.Role == RoleWrapper && !strings.HasPrefix(k.text, "[Pipeline]")
}

// goodAfter reports whether a line behind line no says that something went well.
func (c *Collector) goodAfter(no int) bool {
	for i := max(0, c.n-recentLines); i < c.n; i++ {
		if l := c.recent[i%recentLines]; l.No > no && saysWell(l) {
			return true
		}
	}
	return false
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
