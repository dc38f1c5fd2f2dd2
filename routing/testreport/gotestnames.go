package testreport

import "strings"

// goNames finds the latest run of a name among the tests of a package. While
// few tests run at once, those are looked through and no map is needed: most
// tests begin and end before the next one begins.
type goNames struct {
	open []*goTest          // tests without an end, unless many
	many bool               // more ran at once than are looked through
	last map[string]*goTest // the latest of each name among the first
	done int                // how many of the tests last holds
}

// fewOpen is how many running tests are looked through.
const fewOpen = 8

// begins notes a new test, whose name no running test has.
func (n *goNames) begins(t *goTest) {
	switch {
	case n.many:
	case len(n.open) < fewOpen:
		n.open = append(n.open, t)
	default:
		n.many, n.open = true, n.open[:0]
	}
}

// ends notes that t has an end.
func (n *goNames) ends(t *goTest) {
	for i := len(n.open) - 1; i >= 0; i-- {
		if n.open[i] == t {
			n.open = append(n.open[:i], n.open[i+1:]...)
			return
		}
	}
}

func (n *goNames) find(name string) *goTest {
	for i := len(n.open) - 1; i >= 0; i-- {
		if n.open[i].name == name {
			return n.open[i]
		}
	}
	return nil
}

// clear forgets all but the memory.
func (n *goNames) clear() {
	clear(n.last)
	clear(n.open[:cap(n.open)])
	n.open, n.many, n.done = n.open[:0], false, 0
}

// latest returns the latest run of that name, nil if there is none. A test
// that runs is the latest of its name.
func (p *goPackage) latest(name string) *goTest {
	n := &p.names
	if t := n.find(name); t != nil {
		return t
	}
	if n.last == nil {
		n.last = map[string]*goTest{}
	}
	for _, t := range p.tests[n.done:] {
		n.last[t.name] = t
	}
	n.done = len(p.tests)
	return n.last[name]
}

// running returns the test of that name that has no end yet, nil if there is none.
func (p *goPackage) running(name string) *goTest {
	if !p.names.many {
		return p.names.find(name)
	}
	if t := p.latest(name); t != nil && t.status == "" {
		return t
	}
	return nil
}

// ownName returns name, a part of line, so that to keep it does not keep a
// line that is much longer.
func ownName(name, line string) string {
	if len(line) > 2*len(name)+64 {
		return strings.Clone(name)
	}
	return name
}
