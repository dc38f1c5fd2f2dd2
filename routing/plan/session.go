package plan

// SessionKind is what a session does.
type SessionKind string

// The kinds, outermost first: one build for a plan, in it one operator for each
// port, and in that the two workers of its pair.
const (
	BuildSession    SessionKind = "build"
	OperatorSession SessionKind = "operator"
	WorkerSession   SessionKind = "worker"
)

// Depth returns how deep sessions of a kind are nested.
func (k SessionKind) Depth() int {
	switch k {
	case BuildSession:
		return 0
	case OperatorSession:
		return 1
	}
	return 2
}

// Role is which worker of a pair a session is.
type Role string

// The roles.
const (
	Impl Role = "impl" // does the work
	Test Role = "test" // verifies it
)

// Session is one of the sessions of a plan.
type Session struct {
	ID     string      `json:"id"`
	Parent string      `json:"parent,omitempty"`
	Kind   SessionKind `json:"kind"`
	Depth  int         `json:"depth"`
	Port   string      `json:"port_id,omitempty"`
	Role   Role        `json:"role,omitempty"` // of a worker
}

// Sessions returns the sessions of a plan in the order of its dependencies: the
// build, and for each port its operator and its pair.
func (p Plan) Sessions(build string) []Session {
	out := []Session{{ID: build, Kind: BuildSession}}
	for _, id := range p.Order() {
		operator, impl, test := PairSessions(build, id)
		out = append(out, operator, impl, test)
	}
	return out
}

// PairSessions returns the sessions of one port of a build.
func PairSessions(build, port string) (operator, impl, test Session) {
	operator = Session{build + "/" + port, build, OperatorSession, OperatorSession.Depth(), port, ""}
	worker := func(r Role) Session {
		return Session{operator.ID + "/" + string(r), operator.ID, WorkerSession, WorkerSession.Depth(), port, r}
	}
	return operator, worker(Impl), worker(Test)
}
