package feedback

import (
	"cmp"
	"slices"
)

// Queue returns the queued feedback of a plan, most urgent first, and of one
// priority in the order it was queued.
func (r State) Queue(plan string) []Record {
	return r.sorted(func(x Record) bool { return x.Plan == plan && x.Status == Queued })
}

func (r State) sorted(ok func(Record) bool) []Record {
	var out []Record
	for _, x := range r.Records {
		if ok(x) {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Priority.rank(), b.Priority.rank()), cmp.Compare(a.place, b.place))
	})
	return out
}

// Next returns the feedback to deliver next: the first of the queue whose
// target is at no other feedback and waits for none that it sent itself.
func (r State) Next(plan string) (Record, bool) {
	for _, x := range r.Queue(plan) {
		if !r.busy(plan, x.Message.To) && !r.sends(plan, x.Message.To, "") {
			return x, true
		}
	}
	return Record{}, false
}

// busy reports whether feedback stands with a node, or the node is at it.
func (r State) busy(plan, node string) bool {
	return slices.ContainsFunc(r.Records, func(x Record) bool {
		return x.Plan == plan && x.Message.To == node && (x.Status == Delivered || x.Status == Processing)
	})
}

// sends reports whether a node has open feedback of its own that is not in
// state except.
func (r State) sends(plan, node string, except Status) bool {
	return slices.ContainsFunc(r.Records, func(x Record) bool {
		return x.Plan == plan && x.Message.From == node && x.Status.Open() && x.Status != except
	})
}

// Task is one run that a feedback waits for.
type Task struct {
	ID       string    `json:"feedback_id"`
	Do       Do        `json:"do"`
	Node     string    `json:"node"`               // that is to run
	Feedback *Handoff  `json:"feedback,omitempty"` // what it is handed; nil for a sender that verifies a fix
	Answer   *Answered `json:"answer,omitempty"`   // to the question of a sender that verifies
}

// Answered is the answer that goes back to the sender of a question.
type Answered struct {
	ID            string   `json:"feedback_id"`
	By            string   `json:"from_node"` // that answers
	RequestedInfo string   `json:"requested_info"`
	Answer        string   `json:"answer"`
	Files         []string `json:"files,omitempty"`
}

// Work returns the runs that can begin now, or that had begun and were lost,
// most urgent first. A node works at what it was handed once all that it sent
// is closed, and verifies once the targets of all that it sent have run.
func (r State) Work(plan string) []Task {
	var out []Task
	for _, x := range r.sorted(func(x Record) bool { return x.Plan == plan && x.Status.Open() && x.Status != Queued }) {
		switch {
		case x.Status != Verifying && !r.sends(plan, x.Message.To, ""):
			h := r.handoff(x)
			out = append(out, Task{ID: x.ID, Do: x.Message.Type.Asks(), Node: x.Message.To, Feedback: &h})
		case x.Status == Verifying && !r.sends(plan, x.Message.From, Verifying):
			out = append(out, Task{ID: x.ID, Do: Verify, Node: x.Message.From, Answer: x.answered()})
		}
	}
	return out
}

func (x Record) answered() *Answered {
	if x.Message.Type.Asks() != Reply {
		return nil
	}
	fix := x.Attempts[len(x.Attempts)-1].Fix // verifying follows a run
	return &Answered{ID: x.ID, By: x.Message.To, RequestedInfo: x.Message.RequestedInfo, Answer: fix.Answer, Files: fix.Files}
}

// Answers returns the answers to the questions that a node asked and has not
// yet made use of.
func (r State) Answers(plan, node string) []Answered {
	var out []Answered
	for _, x := range r.sorted(func(x Record) bool { return x.Plan == plan && x.Message.From == node && x.Status == Verifying }) {
		if a := x.answered(); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// Held returns the open feedback that pauses a node: what the node or one of
// its ancestors sent and has no result of. Nodes of other branches go on, the
// target's other dependents among them; the runs that Work returns are what the
// pause is for, and begin all the same.
func (r State) Held(plan string, g Graph, node string) []Record {
	above := map[string]bool{node: true}
	for _, n := range Ancestors(g, node) {
		above[n] = true
	}
	return r.sorted(func(x Record) bool { return x.Plan == plan && x.Status.Open() && above[x.Message.From] })
}
