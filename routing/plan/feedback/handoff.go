package feedback

import (
	"fmt"
	"slices"
)

// Handoff is what a target is handed: the feedback, the files it is about,
// and what came before.
type Handoff struct {
	ID       string   `json:"feedback_id"`
	Round    int      `json:"round"`
	Priority Priority `json:"priority"`
	From     string   `json:"from_node"`
	To       string   `json:"to_node"`

	Type            Type       `json:"feedback_type"`
	Text            string     `json:"message"`
	SuggestedFix    string     `json:"suggested_fix,omitempty"`
	SuggestedAction string     `json:"suggested_action,omitempty"`
	RequestedInfo   string     `json:"requested_info,omitempty"`
	Artifacts       []Artifact `json:"artifacts,omitempty"`
	Trace           string     `json:"trace,omitempty"`

	Files   []string  `json:"files,omitempty"`   // named by the artifacts, then those that earlier attempts changed
	Earlier []Earlier `json:"earlier,omitempty"` // rounds of the pair, oldest first
}

// Earlier is what an earlier round of the same pair tried.
type Earlier struct {
	ID      string   `json:"feedback_id"`
	Round   int      `json:"round"`
	Message string   `json:"message"`
	Fix     string   `json:"fix,omitempty"`   // what the target did
	Files   []string `json:"files,omitempty"` // that it changed
	Trace   string   `json:"trace,omitempty"` // of the failure that the round was about or ended in
	Passed  bool     `json:"passed"`          // verified
	Last    string   `json:"last"`            // state it ended in, or is in
}

// For returns what a node is to know before it acts: the feedback that stands
// with it or that it is at, most urgent first. It stays until the node's run is
// noted as processed, so a run that is lost loses nothing.
func (r Requests) For(node string) []Handoff {
	var out []Handoff
	for _, x := range r.sorted(func(x Record) bool {
		return x.Message.To == node && (x.Status == Delivered || x.Status == Processing)
	}) {
		out = append(out, handoff(r, x))
	}
	return out
}

func handoff(r Requests, x Record) Handoff {
	m := x.Message
	h := Handoff{
		ID: x.ID, Round: x.Round, Priority: x.Priority, From: m.From, To: m.To, Type: m.Type, Text: m.Text, SuggestedFix: m.SuggestedFix,
		SuggestedAction: m.SuggestedAction, RequestedInfo: m.RequestedInfo, Artifacts: m.Artifacts, Trace: m.Trace,
	}
	if x.Escalates != "" || x.Round > 1 {
		h.Earlier = earlier(r, x)
	}
	for _, a := range m.Artifacts {
		h.addFile(a.Path)
	}
	for _, e := range h.Earlier {
		for _, f := range e.Files {
			h.addFile(f)
		}
	}
	return h
}

func (h *Handoff) addFile(f string) {
	if !slices.Contains(h.Files, f) {
		h.Files = append(h.Files, f)
	}
}

// earlier returns the rounds before x's: those of its pair and, if it
// escalates, those of the pair whose rounds were used up.
func earlier(r Requests, x Record) []Earlier {
	from, to := x.Message.From, x.Message.To
	for _, e := range r.filter(func(e Record) bool { return e.ID == x.Escalates }) {
		to = e.Message.To
	}
	var out []Earlier
	for _, o := range r.filter(func(o Record) bool { return o.between(x.Plan, from, to) && o.Escalates == "" }) {
		if o.ID != x.ID && o.Status != Rejected {
			out = append(out, o.rounds()...)
		}
	}
	return append(out, x.rounds()...)
}

func (x Record) rounds() []Earlier {
	var out []Earlier
	for _, a := range x.Attempts {
		e := Earlier{ID: x.ID, Round: a.Round, Message: x.Message.Text, Fix: a.Fix.said(), Files: a.Fix.Files, Trace: a.trace(), Last: string(x.Status)}
		if e.Passed = a.Verify != nil && a.Verify.OK; e.Trace == "" {
			e.Trace = x.Message.Trace
		}
		out = append(out, e)
	}
	return out
}

// trace is that of the failure that the attempt ended in.
func (a Attempt) trace() string {
	if !a.Fix.OK {
		return a.Fix.tells()
	}
	if a.Verify != nil && !a.Verify.OK {
		return a.Verify.tells()
	}
	return ""
}

func (o Outcome) tells() string {
	if o.Trace != "" {
		return o.Trace
	}
	return o.Summary
}

func (o Outcome) said() string {
	if o.Answer != "" {
		return fmt.Sprintf("answered: %s", o.Answer)
	}
	return o.Summary
}
