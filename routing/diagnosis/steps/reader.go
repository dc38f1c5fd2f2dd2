package steps

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Bounds of what a Reader keeps.
const (
	maxUnits   = 512
	maxCommand = 2 << 10
	maxName    = 300
)

// node is a unit while the log is read.
type node struct {
	Unit
	parent *node
	open   bool
	final  bool   // a failure of it is one of the job, whatever runs behind it
	key    string // name by which a fold is closed
	errors int    // line of the last error the service marked in it
}

// Reader reads the lines of a log one after the other, in bounded memory. It is used by one
// goroutine.
type Reader struct {
	nodes   []*node // in the order of their first lines; the job first
	open    []*node // the innermost last
	dropped int
	first   int  // index of the job of the log in hand: further logs follow, each with a job
	last    int  // number of the last line seen
	text    int  // number of the last line with text
	cleanup bool // the steps are over

	marks marks
}

// NewReader returns a Reader that has read nothing.
func NewReader() *Reader {
	r := &Reader{}
	r.start()
	return r
}

// start begins a log.
func (r *Reader) start() {
	job := &node{Unit: Unit{Kind: Job, First: 1, Parent: -1}, open: true}
	r.first, r.last, r.text = len(r.nodes), 0, 0
	r.nodes, r.open = append(r.nodes, job), []*node{job}
	r.marks, r.cleanup = marks{}, false
}

// Line reads the next line of the log. It retains only copies of what it keeps.
func (r *Reader) Line(l testreport.Line) {
	if l.No <= r.last {
		r.finish()
		r.start()
	}
	r.last = l.No
	r.marks.read(r, l)
	if l.Text != "" {
		r.text = l.No
	}
}

func (r *Reader) job() *node { return r.nodes[r.first] }
func (r *Reader) cur() *node { return r.open[len(r.open)-1] }

// level orders kinds from the outermost to the innermost.
func level(k Kind) int {
	switch k {
	case Job:
		return 0
	case Step, Cleanup:
		return 1
	case Group:
		return 2
	case Command:
		return 3
	}
	return 4
}

// begin opens a unit at line no and closes those that cannot contain it.
func (r *Reader) begin(k Kind, name, command string, no int) *node {
	if k == Group { // folds nest, and end only where they say so
		r.close(no, func(n *node) bool { return level(n.Kind) > level(Group) })
	} else {
		r.close(no, func(n *node) bool {
			return level(n.Kind) >= level(k) || n.Kind == Group && level(k) < level(Group)
		})
	}
	n := &node{Unit: Unit{Kind: k, Name: clip(name, maxName), Command: clip(command, maxCommand), First: no, Last: no}, parent: r.cur(), open: true}
	n.Role = RoleOf(command)
	if n.Role == Unknown {
		n.Role = roleOfName(name)
	}
	r.nodes = append(r.nodes, n)
	r.open = append(r.open, n)
	if len(r.nodes) > 2*maxUnits {
		r.compact()
	}
	return n
}

func clip(s string, most int) string {
	return strings.Clone(truncate.Counted(strings.TrimSpace(s), most))
}

// close closes open units, from the innermost outwards, as long as of returns true.
func (r *Reader) close(no int, of func(*node) bool) {
	for len(r.open) > 1 {
		n := r.cur()
		if !of(n) {
			return
		}
		r.pop(no - 1)
	}
}

// pop closes the innermost unit, whose last line is last.
func (r *Reader) pop(last int) {
	n := r.cur()
	n.open, n.Last = false, max(n.First, last)
	r.open = r.open[:len(r.open)-1]
}

// end closes n and what is open in it.
func (r *Reader) end(n *node, last int) {
	if !n.open || n == r.job() {
		return
	}
	for r.cur() != n {
		r.pop(last)
	}
	r.pop(last)
}

// find returns the innermost open unit of a kind, nil if there is none.
func (r *Reader) find(k Kind) *node {
	for _, n := range slices.Backward(r.open) {
		if n.Kind == k {
			return n
		}
	}
	return nil
}

// state sets the status of n as line no says it.
func (r *Reader) state(n *node, s Status, code, no int) {
	n.Status, n.ExitCode, n.Marker = s, code, no
}

// finish closes what is open and settles the statuses of the log in hand.
func (r *Reader) finish() {
	for len(r.open) > 1 {
		r.pop(r.last)
	}
	r.job().open, r.job().Last = false, max(1, r.last)
	units := make([]Unit, len(r.nodes)-r.first)
	for i, n := range r.nodes[r.first:] {
		units[i] = n.Unit
	}
	r.settle(units)
	for i, n := range r.nodes[r.first:] {
		n.Unit = units[i]
	}
}

// compact drops closed units that did not fail and have no children, the oldest first.
func (r *Reader) compact() {
	parents := map[*node]bool{}
	for _, n := range r.nodes {
		parents[n.parent] = true
	}
	excess := len(r.nodes) - maxUnits
	var kept []*node
	for pass := range 2 { // failed units only where nothing else is left
		kept = r.nodes[:0]
		for i, n := range r.nodes {
			if excess > 0 && n.Kind != Job && !n.open && !parents[n] && (pass == 1 && i > maxUnits/4 || !n.Status.Bad()) {
				excess--
				r.dropped++
				continue
			}
			if n.Kind == Job && n.open {
				r.first = len(kept)
			}
			kept = append(kept, n)
		}
		clear(r.nodes[len(kept):])
		r.nodes = kept
		if len(r.nodes) <= maxUnits*3/2 {
			return
		}
	}
}

// Tree returns the units of what was read. More lines can follow.
func (r *Reader) Tree() *Tree {
	t := &Tree{Dropped: r.dropped, Units: make([]Unit, len(r.nodes))}
	at := make(map[*node]int, len(r.nodes))
	for i, n := range r.nodes {
		at[n] = i
		u := n.Unit
		u.Parent = -1
		if n.parent != nil {
			u.Parent = at[n.parent]
		}
		if n.open {
			u.Last = max(u.First, r.last)
		}
		t.Units[i] = u
	}
	r.settle(t.Units[r.first:])
	return t
}
