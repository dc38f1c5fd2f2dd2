package testreport

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// frameOf finds a test in a line of a stack.
var frameOf = multimatch.New(`\.((?:Test|Benchmark|Fuzz|Example)\w*)(?:\.|\(| in goroutine|$)`)

// goStacks reads the stacks that a dying process prints, line by line, for the
// tests in them.
type goStacks struct {
	goroutine int      // how many began
	test      string   // innermost test of the present one
	parked    bool     // it waits for its turn or its subtests
	dying     []string // tests of the first one, which died
	working   []string // tests that ran when the process was stopped
}

func (s *goStacks) line(line string) {
	if line == "" || line[0] == '\t' || line[0] == ' ' {
		return
	}
	if strings.HasPrefix(line, "goroutine ") {
		s.goroutine++
		s.test, s.parked = "", false
		return
	}
	if strings.HasPrefix(line, "testing.") {
		switch {
		case strings.HasPrefix(line, "testing.(*T).Parallel("), strings.HasPrefix(line, "testing.(*T).Run("):
			s.parked = true
		case strings.HasPrefix(line, "testing.tRunner(") && s.test != "" && !s.parked && len(s.working) < 100:
			s.working = append(s.working, s.test)
		}
		return
	}
	if m := frameOf.FindStringSubmatch(line); m != nil && m[1] != "TestMain" {
		if s.test == "" {
			s.test = strings.Clone(m[1])
		}
		if s.goroutine == 1 && len(s.dying) < 20 {
			s.dying = append(s.dying, s.test)
		}
	}
}

// culprits returns the tests that the crash names: those a timeout lists, else
// those in the stacks, else the one that printed it. A test that was not heard
// of before (a run without -v) is new by that.
func (p *goPackage) culprits() []*goTest {
	var found []*goTest
	add := func(t *goTest) {
		for _, f := range found {
			if f == t {
				return
			}
		}
		if t.status == "" || t.status == Failed && !hasOwnMessage(t) {
			found = append(found, t)
		}
	}
	names := p.timed
	if len(names) == 0 {
		names = p.stacks.dying
		if p.timedOut {
			names = p.stacks.working
		}
		names = p.namesakes(names)
	}
	for _, name := range names {
		add(p.test(name, p.crashAt))
	}
	if len(found) == 0 && len(p.timed) == 0 {
		for _, t := range p.tests {
			if t.printed {
				add(t)
			}
		}
	}
	return withoutParents(found)
}

// namesakes returns the names of the unfinished or failed tests and subtests
// of the test functions given; of one of which nothing is known, its own name.
func (p *goPackage) namesakes(roots []string) []string {
	var names []string
	for _, r := range roots {
		if p.latest(r) == nil {
			names = append(names, r)
			continue
		}
		for _, t := range p.tests {
			if t.name == r || strings.HasPrefix(t.name, r+"/") {
				names = append(names, t.name)
			}
		}
	}
	return names
}

// withoutParents drops tests of which a subtest is in the list too.
func withoutParents(tests []*goTest) []*goTest {
	var leaves []*goTest
	for _, t := range tests {
		parent := false
		for _, u := range tests {
			parent = parent || strings.HasPrefix(u.name, t.name+"/")
		}
		if !parent {
			leaves = append(leaves, t)
		}
	}
	return leaves
}

func hasOwnMessage(t *goTest) bool {
	return !t.printed && goPlace.Match(t.out.head)
}
