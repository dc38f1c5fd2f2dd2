package testreport

import "strings"

// framing reads "=== RUN   Name" and its like.
func (g *goTestText) framing(s string) bool {
	rest, ok := strings.CutPrefix(s, "=== ")
	if !ok {
		return false
	}
	verb, name, _ := strings.Cut(rest, " ")
	if g.summary(s) {
		return true
	}
	name = strings.TrimSpace(name)
	switch verb {
	case "RUN":
		if name == "" || strings.Contains(name, " ") {
			return false
		}
		g.begins(name)
	case "CONT", "NAME":
		if !g.seen {
			return false
		}
		g.cur = nil
		if name != "" {
			if g.cur = g.p.latest(name); g.cur == nil {
				g.cur = g.p.add(strings.Clone(name), g.at)
			}
		}
	case "PAUSE":
		if !g.seen {
			return false
		}
		g.cur = nil
	case "ATTR":
		return g.seen
	default:
		return false
	}
	return true
}

// fewNames is the number of tests of a package whose names are kept with the
// lines around them.
const fewNames = 2000

const goRun = "=== RUN   "

// starts is framing for the start of a test whose name is plain, as nearly all are.
func (g *goTestText) starts(s string) bool {
	name := s[len(goRun):]
	if c := name[len(name)-1]; name[0] <= ' ' || name[0] >= 0x7f || c <= ' ' || c >= 0x7f || strings.IndexByte(name, ' ') >= 0 {
		return false
	}
	g.begins(name)
	return true
}

// begins takes the start of a test.
func (g *goTestText) begins(name string) {
	if g.sum.open() {
		g.sum.p = nil
	}
	g.begin()
	if g.cur = g.p.running(name); g.cur == nil {
		if len(g.p.tests) > fewNames || len(name) > shortLine {
			name = strings.Clone(name) // it keeps other lines
		}
		g.cur = g.p.run(name, g.at)
	}
}

// begin notes the first certain line of a package. What stood before it,
// except a panic, is not the package's.
func (g *goTestText) begin() {
	if !g.seen {
		g.seen = true
		g.p.at = g.at
		if g.p.crashAt == 0 {
			g.p.out.reset()
		}
	}
}
