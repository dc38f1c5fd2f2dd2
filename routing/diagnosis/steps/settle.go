package steps

// settle determines which failures were tolerated and, where no mark states it, the status of the
// job.
func (r *Reader) settle(t []Unit) {
	s := settlement{r.nodes[r.first:], t, r.text}
	job := &t[0]
	if s.superseded() {
		job.Status, job.ExitCode, job.Marker = Unstated, 0, 0
	}
	s.lastStep()
	s.toleratedSteps()
	if job.Status == Unstated {
		s.ofUnits()
	}
	if job.Status == Passed {
		for i := range t {
			if u := &t[i]; u.Status.Bad() {
				u.Status = Tolerated
			}
		}
	}
}

// settlement are the units of one log, as they were read and as they are settled.
type settlement struct {
	nodes []*node
	units []Unit
	text  int // number of the last line with text
}

// superseded reports whether what was said of the job was not the end of it: a step began or failed
// behind it, or a program went on for long after what looked like a success.
func (s settlement) superseded() bool {
	const last = 20
	at := s.nodes[0].Marker
	if at == 0 {
		return false
	}
	for _, n := range s.nodes {
		if n.key == "run" || n.key == "action" { // GitHub's runner marks steps; what else ends a job is output
			return true
		}
		if n.Status.Bad() && n.Marker > at && (n.Kind == Step || n.final) {
			return true
		}
		if n.First > at && (n.Kind == Step || n.Kind == Command) && !s.behindSteps(n) {
			return true
		}
	}
	return s.nodes[0].Status == Passed && s.text-at > last
}

func (s settlement) behindSteps(n *node) bool {
	for ; n != nil; n = n.parent {
		if n.Kind == Cleanup {
			return true
		}
	}
	return false
}

// lastStep settles the last step of GitHub where the log ends within it.
func (s settlement) lastStep() {
	nodes := s.nodes
	for i := len(nodes) - 1; i > 0; i-- {
		n := nodes[i]
		if n.Kind != Step {
			continue
		}
		if n.key == "run" && n.Status == Unstated && n.errors >= s.text {
			s.units[i].Status, s.units[i].Marker = Failed, n.errors
		}
		return
	}
}

// works are the roles of steps that nobody runs behind a failure: that one of them ran shows that
// the failure before it was tolerated. Reports, uploads and what they need run always.
var works = map[Role]bool{Compile: true, Lint: true, Test: true}

// toleratedSteps marks the failed steps behind which the job went on.
func (s settlement) toleratedSteps() {
	went := false
	for i := len(s.units) - 1; i > 0; i-- {
		u, n := &s.units[i], s.nodes[i]
		if u.Kind != Step {
			continue
		}
		switch {
		case u.Status == Failed && went && n.key != "stage":
			u.Status = Tolerated
		case !u.Status.Bad() && works[u.Role]:
			went = true
		}
	}
}

// ofUnits takes the status of the job from its steps, and from commands whose failure is one of the
// job.
func (s settlement) ofUnits() {
	job, last := &s.units[0], 0
	for i, n := range s.nodes {
		switch u := &s.units[i]; {
		case u.Status.Bad() && (n.Kind == Step || n.final):
			if !job.Status.Bad() || u.Status != Failed {
				job.Status, job.ExitCode, job.Marker = u.Status, u.ExitCode, u.Marker
			}
		case n.final && u.Status == Passed:
			last = max(last, u.Marker)
		}
	}
	if job.Status == Unstated && s.completed() {
		job.Status = Passed
	}
	if job.Status == Unstated && last > 0 && s.text-last <= 20 && s.nothingBehind(last) {
		job.Status, job.Marker = Passed, last
	}
}

// completed reports whether a log of GitHub's runner has come to the runner's own work behind the
// steps: the runner marks every step that fails, so that its last step has passed.
func (s settlement) completed() bool {
	cleanup := false
	for i := len(s.units) - 1; i > 0; i-- {
		switch n := s.nodes[i]; {
		case n.Kind == Cleanup && n.parent.Kind == Job:
			cleanup = true
		case n.Kind == Step:
			return cleanup && s.units[i].Status == Passed && (n.key == "run" || n.key == "action")
		}
	}
	return false
}

// nothingBehind reports whether no unit began behind a line.
func (s settlement) nothingBehind(no int) bool {
	for _, n := range s.nodes {
		if n.First > no && n.Kind != Cleanup && n.Kind != Group {
			return false
		}
	}
	return true
}
