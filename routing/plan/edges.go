package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// FeedbackRequests is the open feedback of a build, as it bears on the ports of its plan.
type FeedbackRequests struct {
	Open []FeedbackRequest // most urgent first
	Due  map[string]string // ports that are to run for feedback, and the id of the first of it
}

// FeedbackRequest is one open feedback: From waits for To.
type FeedbackRequest struct {
	ID     string          `json:"feedback_id"`
	From   string          `json:"from_node"`
	To     string          `json:"to_node"`
	Type   feedback.Type   `json:"feedback_type"`
	Round  int             `json:"round"`
	Status feedback.Status `json:"status"`
	Text   string          `json:"message"`
}

// FeedbackRequestsOf returns the open feedback of a plan of a register.
func FeedbackRequestsOf(r feedback.State, plan string) FeedbackRequests {
	e := FeedbackRequests{Due: map[string]string{}}
	for _, x := range r.Of(plan).Open() {
		e.Open = append(e.Open, FeedbackRequest{x.ID, x.Message.From, x.Message.To, x.Message.Type, x.Round, x.Status, x.Message.Text})
	}
	for _, t := range r.Of(plan).Work() {
		if _, there := e.Due[t.Node]; !there {
			e.Due[t.Node] = t.ID
		}
	}
	return e
}

// sent reports whether a port has open feedback of its own.
func (e FeedbackRequests) sent(id string) bool {
	return slices.ContainsFunc(e.Open, func(x FeedbackRequest) bool { return x.From == id })
}

// settled reports whether nothing is left that a port that runs for feedback would
// run for: its pair has ended, well or not, which the register of the plan is yet to
// be told.
func (e FeedbackRequests) settled(id string) bool {
	_, due := e.Due[id]
	return e.Due != nil && !due
}

// about returns the open feedback that a port is asked for, or verifies.
func (e FeedbackRequests) about(id string) []FeedbackRequest {
	var out []FeedbackRequest
	for _, x := range e.Open {
		if x.To == id && x.Status != feedback.Verifying || x.From == id && x.Status == feedback.Verifying {
			out = append(out, x)
		}
	}
	return out
}

// A Plan is the graph that feedback runs along.
var _ feedback.Graph = Plan{}

// Has reports whether a port is in the plan.
func (g Graph) Has(id string) bool { _, ok := g.number[id]; return ok }

// Parent returns the port that a port is a part of, "" if none.
func (p Plan) Parent(id string) string { s, _ := p.Port(id); return s.Parent }

// Root returns the name of what stands above all ports: whoever writes the plan.
func (p Plan) Root() string { return feedback.DefaultRoot }

// paused returns the open feedback that pauses each port: what the port or one of
// its ancestors sent. It is what Requests.Held of package feedback says of each
// port, for all of them in one walk down from the senders.
func (p Plan) paused(e FeedbackRequests) map[int32][]FeedbackRequest {
	if len(e.Open) == 0 {
		return nil
	}
	children := map[string][]int32{}
	for n, s := range p.specs {
		children[s.Parent] = append(children[s.Parent], int32(n))
	}
	out := map[int32][]FeedbackRequest{}
	for _, x := range e.Open {
		from, ok := p.number[x.From]
		if !ok {
			continue
		}
		seen := map[int32]bool{from: true}
		for queue := []int32{from}; len(queue) > 0; queue = queue[1:] {
			out[queue[0]] = append(out[queue[0]], x)
			for _, m := range slices.Concat(p.outs.of(queue[0]), children[p.ids[queue[0]]]) {
				if !seen[m] {
					seen[m] = true
					queue = append(queue, m)
				}
			}
		}
	}
	return out
}

// Digest tells a port that is written otherwise from what it was before. Status
// and priority do not count.
func (s Spec) Digest() string {
	s.Status, s.Priority = "", 0
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // unreachable: plain values
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Digest tells a plan from one that says something else. Comments do not count, nor
// in which file a port stands.
func (p Plan) Digest() string {
	text, err := json.Marshal(p.specs)
	if err != nil {
		panic(err) // unreachable: plain values
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// As returns what is known of ports with how they are written now.
func (p Plan) As(known map[string]Known) map[string]Known {
	out := make(map[string]Known, len(known))
	for id, k := range known {
		if s, ok := p.Port(id); ok {
			k.Spec = s.Digest()
		}
		out[id] = k
	}
	return out
}
