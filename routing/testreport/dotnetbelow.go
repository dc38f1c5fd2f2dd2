package testreport

import (
	"fmt"
	"strings"
)

// indented reads results and what explains them.
func (d *dotnetConsole) indented(t string) bool {
	if d.sum != nil && d.countLine(t) {
		return true
	}
	if len(t) > 3 && t[2] != ' ' && t[0] == ' ' && t[1] == ' ' {
		if !strings.HasPrefix(t, "  Failed ") && !strings.HasPrefix(t, "  Passed ") && !strings.HasPrefix(t, "  Skipped ") {
			// no result
		} else if m := dotnetResult.FindStringSubmatch(t); m != nil && (m[3] != "" || d.started) {
			d.begin()
			d.result(m[1], m[2], m[3])
			return true
		}
		if d.cur != nil && t[len(t)-1] == ':' {
			switch t {
			case "  Error Message:", "  Stack Trace:", "  Standard Output Messages:", "  Standard Error Messages:", "  Attachments:", "  Debug Trace Messages:", "  TestContext Messages:":
				d.part = strings.TrimSpace(t)
				return true
			}
		}
	}
	if strings.HasSuffix(t, " [FAIL]") && len(t) > 5 && t[4] != ' ' {
		if m := xunitBare.FindStringSubmatch(t); m != nil {
			d.part = "xunit"
			d.start(m[1], "")
			return d.seen
		}
	}
	if !strings.Contains(t, "Total: ") {
		return d.below(t)
	}
	if m := xunitTotals.FindStringSubmatch(t); m != nil {
		n, _, _ := leadingInt(m[1])
		failed, _, _ := leadingInt(m[3])
		skipped, _, _ := leadingInt(m[4])
		errors, _, _ := leadingInt(m[2])
		d.seen = true
		d.flush(&gradleTotals{n, failed, skipped})
		if errors > 0 {
			d.out.Problem(Problem{Kind: KindSetup, Name: "xunit", Message: fmt.Sprintf("%d error(s) outside the tests", errors), At: d.at})
		}
		return true
	}
	return d.below(t)
}

// below reads NUnit's totals and the text below a failing test.
func (d *dotnetConsole) below(t string) bool {
	if d.nunit && strings.Contains(t, "Test Count: ") {
		if m := nunitTotals.FindStringSubmatch(t); m != nil {
			n, _, _ := leadingInt(m[1])
			failed, _, _ := leadingInt(m[3])
			inconclusive, _, _ := leadingInt(m[5])
			skipped, _, _ := leadingInt(m[6])
			d.sum, d.sumAt = map[string]int{"total": n, "failed": failed, "skipped": skipped + inconclusive, "nunit": 1}, d.at
			d.started = true
			return true
		}
	}
	if d.cur == nil {
		return false
	}
	switch d.part {
	case "Standard Output Messages:", "Standard Error Messages:", "Attachments:", "Debug Trace Messages:", "TestContext Messages:":
		if len(d.cur.t.Output) < 4<<10 {
			d.cur.t.Output += strings.TrimSpace(t) + "\n"
		}
	default:
		d.cur.text.add(t)
	}
	return d.seen
}

// countLine reads the lines below "Total tests: 3" or "Test run summary:".
func (d *dotnetConsole) countLine(t string) bool {
	m := dotnetCount.FindStringSubmatch(t)
	if m == nil {
		if s := strings.TrimSpace(t); strings.HasPrefix(s, "Total time:") || strings.HasPrefix(s, "duration:") {
			d.summed()
			return true
		}
		return false
	}
	n, _, _ := leadingInt(m[2])
	d.sum[strings.ToLower(m[1])] = n
	return true
}

// summed hands on the tests whose totals stand on lines of their own.
func (d *dotnetConsole) summed() {
	s := d.sum
	d.sum = nil
	d.flush(&gradleTotals{s["total"], s["failed"], s["skipped"]})
}
