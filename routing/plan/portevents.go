package plan

import "github.com/switchback-ci/switchback/routing"

// portPayload is the payload of an event of the stream of a port. Each type of event has one of its
// own, so that the stream holds no field that means nothing there.
type portPayload interface {
	// fill sets the fields of e that the payload has.
	fill(e *Event)
}

// source says whose session an event is of.
type source struct {
	Session string `json:"session_id,omitempty"`
	Port    string `json:"port_id,omitempty"`
}

// The payloads, by what they are stored as.
type (
	sessionStarted struct {
		source
		Started *Session `json:"session,omitempty"`
	}
	sessionEnded struct {
		source
		Reason  string  `json:"reason,omitempty"`
		Outcome Outcome `json:"outcome,omitempty"`
	}
	workerSpawned struct { // also dispatched
		source
		Iteration int    `json:"iteration,omitempty"` // counted from 1
		Spawn     *Spawn `json:"spawn,omitempty"`
	}
	workerEnded struct {
		source
		Iteration int   `json:"iteration,omitempty"`
		Exit      *Exit `json:"exit,omitempty"`
	}
	workerProgressed struct {
		source
		Progress *Progress `json:"progress,omitempty"`
	}
	testsRead struct { // of a testing worker, and as the hook of an agent logs them
		source
		Iteration int           `json:"iteration,omitempty"`
		Feedback  *TestFeedback `json:"feedback,omitempty"`
	}
	channelMoved struct { // opened and closed
		source
		Channel *Channel `json:"channel,omitempty"`
	}
	messageSent struct {
		source
		Message *Message `json:"message,omitempty"`
	}
	messagesDelivered struct {
		source
		IDs []string `json:"messages,omitempty"`
	}
	portEscalated struct { // and resolved
		source
		Escalation *Escalation `json:"escalation,omitempty"`
	}
	pairMoved struct {
		source
		Pair   *Loop   `json:"pair,omitempty"`
		Result *Result `json:"result,omitempty"` // once the pair ended
	}
	runnerTook struct {
		source
		Runner *Runner `json:"runner,omitempty"`
	}
	humanAnswered struct {
		source
		Answer *Answer `json:"answer,omitempty"`
	}
)

func (s source) set(e *Event) { e.Session, e.Port = s.Session, s.Port }

func (p sessionStarted) fill(e *Event)    { p.set(e); e.Started = p.Started }
func (p sessionEnded) fill(e *Event)      { p.set(e); e.Reason, e.Outcome = p.Reason, p.Outcome }
func (p workerSpawned) fill(e *Event)     { p.set(e); e.Iteration, e.Spawn = p.Iteration, p.Spawn }
func (p workerEnded) fill(e *Event)       { p.set(e); e.Iteration, e.Exit = p.Iteration, p.Exit }
func (p workerProgressed) fill(e *Event)  { p.set(e); e.Progress = p.Progress }
func (p testsRead) fill(e *Event)         { p.set(e); e.Iteration, e.Feedback = p.Iteration, p.Feedback }
func (p channelMoved) fill(e *Event)      { p.set(e); e.Channel = p.Channel }
func (p messageSent) fill(e *Event)       { p.set(e); e.Message = p.Message }
func (p messagesDelivered) fill(e *Event) { p.set(e); e.IDs = p.IDs }
func (p portEscalated) fill(e *Event)     { p.set(e); e.Escalation = p.Escalation }
func (p pairMoved) fill(e *Event)         { p.set(e); e.Pair, e.Result = p.Pair, p.Result }
func (p runnerTook) fill(e *Event)        { p.set(e); e.Runner = p.Runner }
func (p humanAnswered) fill(e *Event)     { p.set(e); e.Answer = p.Answer }

// A portEvent is how one kind of event is stored.
type portEvent struct {
	pack   func(e Event, s source) portPayload
	unpack func(routing.Event) (portPayload, error)
}

var portEvents = map[EventKind]portEvent{}

func registerPort[P portPayload](pack func(e Event, s source) P, kinds ...EventKind) {
	for _, k := range kinds {
		routing.RegisterPayload[P](k.event())
		portEvents[k] = portEvent{
			pack:   func(e Event, s source) portPayload { return pack(e, s) },
			unpack: func(e routing.Event) (portPayload, error) { return routing.PayloadOf[P](e) },
		}
	}
}

func init() {
	registerPort(func(e Event, s source) sessionStarted { return sessionStarted{s, e.Started} }, SessionStart)
	registerPort(func(e Event, s source) sessionEnded { return sessionEnded{s, e.Reason, e.Outcome} }, SessionEnd)
	registerPort(func(e Event, s source) workerSpawned { return workerSpawned{s, e.Iteration, e.Spawn} }, WorkerSpawn, WorkerDispatch)
	registerPort(func(e Event, s source) workerEnded { return workerEnded{s, e.Iteration, e.Exit} }, WorkerComplete)
	registerPort(func(e Event, s source) workerProgressed { return workerProgressed{s, e.Progress} }, WorkerProgress)
	registerPort(func(e Event, s source) testsRead { return testsRead{s, e.Iteration, e.Feedback} }, WorkerFeedback, TestFeedbackLogged)
	registerPort(func(e Event, s source) channelMoved { return channelMoved{s, e.Channel} }, ChannelOpened, ChannelShut)
	registerPort(func(e Event, s source) messageSent { return messageSent{s, e.Message} }, DirectMessage)
	registerPort(func(e Event, s source) messagesDelivered { return messagesDelivered{s, e.IDs} }, Delivered)
	registerPort(func(e Event, s source) portEscalated { return portEscalated{s, e.Escalation} }, EscalationNew, EscalationResolved)
	registerPort(func(e Event, s source) pairMoved {
		pair := e.Pair
		if pair != nil {
			own := *pair // its owner goes on changing it
			pair = &own
		}
		return pairMoved{s, pair, e.Result}
	}, PairChanged)
	registerPort(func(e Event, s source) runnerTook { return runnerTook{s, e.Runner} }, RunnerChanged)
	registerPort(func(e Event, s source) humanAnswered { return humanAnswered{s, e.Answer} }, HumanAnswered)
}

// Record returns an event as the stream of a port stores it: with the payload of its kind. Fields
// that the kind does not have are not stored.
func (e Event) Record() routing.Event {
	out := routing.Event{Type: e.Kind.event(), At: e.At}
	if k, known := portEvents[e.Kind]; known {
		out.Data = k.pack(e, source{e.Session, e.Port})
	}
	return out
}

// Recorded returns the event that was stored, and false if it is not a port's.
func Recorded(r routing.Event) (Event, bool, error) {
	if r.Type.Family() != routing.FamilyPort {
		return Event{}, false, nil
	}
	out := Event{Kind: EventKind(r.Type.Name()), At: r.At}
	k, known := portEvents[out.Kind]
	if !known {
		return out, true, nil // of a newer release; whoever folds it decides
	}
	p, err := k.unpack(r)
	if err != nil {
		return Event{}, false, err
	}
	p.fill(&out)
	return out, true, nil
}
