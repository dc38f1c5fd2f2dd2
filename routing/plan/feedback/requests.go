package feedback

import (
	"cmp"
	"slices"
)

// Requests are the feedback requests of one plan: who waits for what, and what runs next.
type Requests struct {
	plan    string
	records []Record // of all plans
}

// Of returns the requests of a plan.
func (r State) Of(plan string) Requests { return Requests{plan, r.Records} }

// Queue returns the queued feedback of a plan, most urgent first, and of one
// priority in the order it was queued.
func (r Requests) Queue() []Record {
	return r.sorted(func(x Record) bool { return x.Status == Queued })
}

// some reports whether ok holds for any request.
func (r Requests) some(ok func(Record) bool) bool {
	return slices.ContainsFunc(r.records, func(x Record) bool { return x.Plan == r.plan && ok(x) })
}

// filter returns the requests for which ok holds, in the order in which they were sent.
func (r Requests) filter(ok func(Record) bool) []Record {
	var out []Record
	for _, x := range r.records {
		if x.Plan == r.plan && ok(x) {
			out = append(out, x)
		}
	}
	return out
}

// sorted returns the requests for which ok holds, most urgent first.
func (r Requests) sorted(ok func(Record) bool) []Record {
	out := r.filter(ok)
	slices.SortStableFunc(out, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Priority.rank(), b.Priority.rank()), cmp.Compare(a.place, b.place))
	})
	return out
}

// Next returns the feedback to deliver next: the first of the queue whose
// target is at no other feedback and waits for none that it sent itself.
func (r Requests) Next() (Record, bool) {
	for _, x := range r.Queue() {
		if !r.busy(x.Message.To) && !r.sends(x.Message.To, "") {
			return x, true
		}
	}
	return Record{}, false
}

// busy reports whether feedback stands with a node, or the node is at it.
func (r Requests) busy(node string) bool {
	return r.some(func(x Record) bool {
		return x.Message.To == node && (x.Status == Delivered || x.Status == Processing)
	})
}

// sends reports whether a node has open feedback of its own that is not in
// state except.
func (r Requests) sends(node string, except Status) bool {
	return r.some(func(x Record) bool {
		return x.Message.From == node && x.Status.Open() && x.Status != except
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
func (r Requests) Work() []Task {
	var out []Task
	for _, x := range r.sorted(func(x Record) bool { return x.Status.Open() && x.Status != Queued }) {
		switch {
		case x.Status != Verifying && !r.sends(x.Message.To, ""):
			h := handoff(r, x)
			out = append(out, Task{ID: x.ID, Do: x.Message.Type.Asks(), Node: x.Message.To, Feedback: &h})
		case x.Status == Verifying && !r.sends(x.Message.From, Verifying):
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
func (r Requests) Answers(node string) []Answered {
	var out []Answered
	for _, x := range r.sorted(func(x Record) bool { return x.Message.From == node && x.Status == Verifying }) {
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
func (r Requests) Held(g Graph, node string) []Record {
	above := map[string]bool{node: true}
	for _, n := range Ancestors(g, node) {
		above[n] = true
	}
	return r.sorted(func(x Record) bool { return x.Status.Open() && above[x.Message.From] })
}

// Waiting returns the open feedback that a node sent and whose target has not
// run yet, most urgent first. The node has nothing to do before that.
func (r Requests) Waiting(node string) []Record {
	return r.sorted(func(x Record) bool { return x.Message.From == node && x.Status.Open() && x.Status != Verifying })
}

// Open returns the open feedback of the plan, most urgent first.
func (r Requests) Open() []Record {
	return r.sorted(func(x Record) bool { return x.Status.Open() })
}

// Any reports whether any feedback of the plan is recorded.
func (r Requests) Any() bool { return r.some(func(Record) bool { return true }) }

// ForPeople returns the open feedback of the plan that nobody but people can act on:
// what its root is asked, and has not ended. It is in the order in which it was
// sent.
func (r Requests) ForPeople(root string) []Record {
	return r.filter(func(x Record) bool { return x.Message.To == root && x.ForPeople() })
}
