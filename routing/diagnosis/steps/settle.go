package steps

// settle determines which failures were tolerated and, where no mark states it, the status of the
// job.
func (r *Reader) settle(t []Unit) {
	job := &t[0]
	if r.superseded() {
		job.Status, job.ExitCode, job.Marker = Unstated, 0, 0
	}
	r.lastStep(t)
	r.toleratedSteps(t)
	if job.Status == Unstated {
		r.ofUnits(t)
	}
	if job.Status == Passed {
		for i := range t {
			if u := &t[i]; u.Status.Bad() {
				u.Status = Tolerated
			}
		}
	}
}

// superseded reports whether what was said of the job was not the end of it: a step began behind
// it, or a program went on for long after what looked like a success.
func (r *Reader) superseded() bool {
	const last = 20
	at := r.job().Marker
	if at == 0 {
		return false
	}
	for _, n := range r.nodes[r.first:] {
		if n.First > at && (n.Kind == Step || n.Kind == Command && n.parent.Kind != Cleanup) && !r.behindSteps(n) {
			return true
		}
	}
	return r.job().Status == Passed && r.text-at > last
}

func (r *Reader) behindSteps(n *node) bool {
	for ; n != nil; n = n.parent {
		if n.Kind == Cleanup {
			return true
		}
	}
	return false
}

// lastStep settles the last step of GitHub where the log ends within it.
func (r *Reader) lastStep(t []Unit) {
	nodes := r.nodes[r.first:]
	for i := len(nodes) - 1; i > 0; i-- {
		n := nodes[i]
		if n.Kind != Step {
			continue
		}
		if n.open && n.key == "run" && n.Status == Unstated && n.errors > 0 && n.errors >= r.text {
			t[i].Status, t[i].Marker = Failed, n.errors
		}
		return
	}
}

// works are the roles of steps that nobody runs behind a failure: that one of them ran shows that
// the failure before it was tolerated. Reports, uploads and what they need run always.
var works = map[Role]bool{Compile: true, Lint: true, Test: true}

// toleratedSteps marks the failed steps behind which the job went on.
func (r *Reader) toleratedSteps(t []Unit) {
	went := false
	for i := len(t) - 1; i > 0; i-- {
		u, n := &t[i], r.nodes[r.first+i]
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
func (r *Reader) ofUnits(t []Unit) {
	job, last := &t[0], 0
	for i, n := range r.nodes[r.first:] {
		u := &t[i]
		if i == 0 || u.Marker == 0 && !u.Status.Bad() {
			continue
		}
		switch {
		case u.Status.Bad() && (n.Kind == Step || n.final):
			if !job.Status.Bad() || u.Status != Failed {
				job.Status, job.ExitCode, job.Marker = u.Status, u.ExitCode, u.Marker
			}
		case n.final && u.Status == Passed:
			last = max(last, u.Marker)
		}
	}
	if job.Status == Unstated && last > 0 && r.text-last <= 20 && r.nothingBehind(last) {
		job.Status, job.Marker = Passed, last
	}
}

// nothingBehind reports whether no unit began behind a line.
func (r *Reader) nothingBehind(no int) bool {
	for _, n := range r.nodes[r.first:] {
		if n.First > no && n.Kind != Cleanup && n.Kind != Group {
			return false
		}
	}
	return true
}
