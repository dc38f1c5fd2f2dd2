// Package steps reads the course of a CI log: which steps, commands and targets of build tools ran,
// one inside the other, and how each ended. It knows the marks of CI services, of shells that echo
// their commands, and of build tools; it knows no messages of compilers or tests.
package steps

import "slices"

// Kind is what a unit of a log is.
type Kind string

// The kinds of units, from the outermost to the innermost.
const (
	Job     Kind = "job"     // the whole log; always the first unit of a tree
	Step    Kind = "step"    // a step, task or stage of the CI service
	Cleanup Kind = "cleanup" // the service's own work behind the steps; its errors do not fail a job
	Group   Kind = "group"   // a fold inside a step
	Command Kind = "command" // a command that a shell or the service echoes
	Target  Kind = "target"  // a goal, task, target, script or environment of a build tool
)

// Role is the purpose of a unit.
type Role string

// The roles of units.
const (
	Unknown Role = ""
	Fetch   Role = "fetch"   // gets sources or files
	Install Role = "install" // installs tools and dependencies
	Compile Role = "compile" // builds and checks types
	Lint    Role = "lint"    // linters, formatters, coverage, licence and policy checks
	Test    Role = "test"    // runs tests
	Package Role = "package" // makes images, archives and documentation
	Deploy  Role = "deploy"  // publishes
)

// Status is how a unit ended.
type Status string

// The statuses of units.
const (
	Unstated  Status = ""
	Passed    Status = "passed"
	Failed    Status = "failed"
	Tolerated Status = "tolerated" // failed, and the job went on and did not fail because of it
	Cancelled Status = "cancelled"
	TimedOut  Status = "timed out" // stopped by a limit of time of the CI service
)

// Bad reports whether s makes the job fail.
func (s Status) Bad() bool { return s == Failed || s == Cancelled || s == TimedOut }

// Unit is a part of a log that ran as one.
type Unit struct {
	Kind     Kind
	Name     string // title, name of the target; "" if none is printed
	Command  string // the command or script it ran, at most 2 KiB; "" if unknown
	Role     Role   // Unknown where neither command nor name tells
	Status   Status
	ExitCode int // where Status is of a stated exit code, else 0
	First    int // 1-based line of its first line
	Last     int // 1-based line of its last line
	Parent   int // index in Tree.Units, -1 for the job
	Marker   int // line that stated Status, 0 if it follows from others
}

// Tree is the course of a log. A parent stands before its children. Where several logs were read
// one after the other, whose lines are numbered anew, each has a job and units behind it.
type Tree struct {
	Units   []Unit
	Dropped int // units left out, because a tree keeps a bounded number
}

// At returns the index of the innermost unit that contains a line, 0 (the job) if no other does.
func (t *Tree) At(line int) int {
	for i := len(t.Units) - 1; i > 0; i-- {
		if u := &t.Units[i]; u.First <= line && line <= u.Last {
			return i
		}
	}
	return 0
}

// Failing returns the index of the unit that made the job fail: the first step that failed and was
// not tolerated, for behind it only steps run that report or clean up; in it, the innermost unit
// that failed last. It returns false if no unit is known to have failed.
func (t *Tree) Failing() (int, bool) {
	best, ok := 0, false
	for i := range t.Units {
		u := &t.Units[i]
		if !u.Status.Bad() || u.Kind == Job || t.inCleanup(i) {
			continue
		}
		switch b := &t.Units[best]; {
		case !ok, t.within(i, best):
		case u.Kind == Step && b.Kind != Step && t.outer(best, Step) < 0:
		case t.outer(best, Step) != t.outer(i, Step), u.Marker < b.Marker:
			continue
		}
		best, ok = i, true
	}
	if ok {
		return best, true
	}
	for j := range t.Units { // only a job is said to have failed: its last unit did
		if u := &t.Units[j]; u.Kind == Job && u.Status.Bad() {
			return t.lastOf(j), true
		}
	}
	return 0, false
}

// lastOf returns the index of the last unit of job j in which something ran, j if there is none.
func (t *Tree) lastOf(j int) int {
	last := j
	for i := j + 1; i < len(t.Units) && t.Units[i].Kind != Job; i++ {
		u := &t.Units[i]
		if u.Status == Unstated && !idle(u.Command) && (u.First <= t.Units[j].Marker || t.Units[j].Marker == 0) && !t.inCleanup(i) {
			last = i
		}
	}
	return last
}

// outer returns the index of the unit of kind k around unit i, i itself included, -1 if there is none.
func (t *Tree) outer(i int, k Kind) int {
	for ; i >= 0; i = t.Units[i].Parent {
		if t.Units[i].Kind == k {
			return i
		}
	}
	return -1
}

// within reports whether unit i is inside unit j.
func (t *Tree) within(i, j int) bool {
	for i = t.Units[i].Parent; i >= 0; i = t.Units[i].Parent {
		if i == j {
			return true
		}
	}
	return false
}

func (t *Tree) inCleanup(i int) bool {
	for ; i >= 0; i = t.Units[i].Parent {
		if t.Units[i].Kind == Cleanup {
			return true
		}
	}
	return false
}

// Status returns how the job ended according to the last status marker of its log, Unstated if
// there is none; of several jobs, how the worst ended.
func (t *Tree) Status() Status {
	status := t.Units[0].Status
	for _, u := range t.Units[1:] {
		switch {
		case u.Kind != Job || status.Bad() || u.Status == status:
		case u.Status.Bad():
			status = u.Status
		default:
			status = Unstated // one is said to have passed, and nothing of the other
		}
	}
	return status
}

// Conclusion returns the status of the job in the words of GitHub's conclusions: success, failure,
// cancelled, timed_out, "" if unstated.
func (t *Tree) Conclusion() string {
	switch t.Status() {
	case Passed, Tolerated:
		return "success"
	case Failed:
		return "failure"
	case Cancelled:
		return "cancelled"
	case TimedOut:
		return "timed_out"
	}
	return ""
}

// WentOn reports whether a step began behind the failure of the job, and did not fail: where the job
// is said to have succeeded, the failure was tolerated.
func (t *Tree) WentOn() bool {
	at := 0
	for i := range t.Units {
		if u := &t.Units[i]; u.Status.Bad() && u.Kind != Cleanup {
			at = max(at, u.Marker)
		}
	}
	for i := range t.Units {
		if u := &t.Units[i]; u.Kind == Step && u.First > at && !u.Status.Bad() {
			return true
		}
	}
	return false
}

// Pending returns the last step or command of a job if it has the role and nothing states how it
// ended: neither a mark nor a step behind it.
func (t *Tree) Pending(role Role) (Unit, bool) {
	for _, u := range slices.Backward(t.Units) {
		switch {
		case u.Kind == Cleanup:
			return Unit{}, false
		case u.Kind == Step || u.Kind == Command || u.Kind == Target:
			return u, u.Role == role && u.Status == Unstated
		}
	}
	return Unit{}, false
}

// Tolerates reports whether a line stands in a unit whose failure was tolerated.
func (t *Tree) Tolerates(line int) bool {
	for i := t.At(line); i >= 0; i = t.Units[i].Parent {
		if t.Units[i].Status == Tolerated {
			return true
		}
	}
	return t.Units[0].Status == Passed && line <= t.Units[0].Marker
}

// Jobs returns how many logs were read.
func (t *Tree) Jobs() int {
	n := 0
	for i := range t.Units {
		if t.Units[i].Kind == Job {
			n++
		}
	}
	return n
}
