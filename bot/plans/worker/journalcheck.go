package worker

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Assignment is what a job was assigned: the events that it brings back have to be about that.
type Assignment struct {
	Port     string
	Builds   []string // under which the job may have named its build
	Run      string   // of GitHub Actions
	Spec     plan.Spec
	Settings plan.Settings
	Requests []plan.WorkerRequest // feedback that the port was assigned for
	Ledger   plan.Journal         // what the ledger holds of the port
	Now      time.Time
}

// maxJournalEvents bounds the events of one job. A worker may send 300 messages, and each of at most
// eleven attempts has a dozen events.
const maxJournalEvents = 5000

// payloadOf names the field that an event of a kind is about. Kinds that are not listed are not a
// job's to record: what people answer, and dispatches of workflows.
var payloadOf = map[plan.EventKind]string{
	plan.SessionStart:       "Started",
	plan.SessionEnd:         "Session",
	plan.WorkerSpawn:        "Spawn",
	plan.WorkerComplete:     "Exit",
	plan.WorkerProgress:     "Progress",
	plan.WorkerFeedback:     "Feedback",
	plan.TestFeedbackLogged: "Feedback",
	plan.ChannelOpened:      "Channel",
	plan.ChannelShut:        "Channel",
	plan.DirectMessage:      "Message",
	plan.Delivered:          "IDs",
	plan.EscalationNew:      "Escalation",
	plan.EscalationResolved: "Escalation",
	plan.PairChanged:        "Pair",
	plan.RunnerChanged:      "Runner",
}

// CheckJournal returns why events are not those of a job that ran its assignment. A job runs the
// commands of workers, so nothing in its events is believed beyond what is said of its own port:
// they name the port, the build and the run that were assigned, they hold nothing that people or
// another job record, and they stay in the limits of the port. That they follow from what the
// ledger holds is checked when they are appended.
func CheckJournal(events []routing.Event, a Assignment) error {
	if len(events) > maxJournalEvents {
		return fmt.Errorf("it has %d events; a job records at most %d", len(events), maxJournalEvents)
	}
	c := journalCheck{Assignment: a, pair: a.pairs()}
	for i, stored := range events {
		e, ours, err := plan.Recorded(stored)
		switch {
		case err != nil:
		case !ours:
			err = fmt.Errorf("%s is no event of a port", stored.Type)
		case stored.Actor != "":
			err = errors.New("it names a person who acted")
		case i == 0 && e.Kind != plan.RunnerChanged:
			err = errors.New("the first event does not say who runs the port")
		default:
			err = c.event(e)
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return nil
}

type journalCheck struct {
	Assignment
	pair []plan.Loop // of which the events may be: one that goes on, or those that the job may begin
}

// pairs returns the loops that the job may have run, as they begin.
func (a Assignment) pairs() []plan.Loop {
	if l := a.Ledger.Loop; l != nil && l.Status == plan.Running {
		return []plan.Loop{*l}
	}
	var out []plan.Loop
	for _, build := range a.Builds {
		if a.Ledger.Pairs > 0 {
			build = fmt.Sprintf("%s~%d", build, a.Ledger.Pairs+1)
		}
		l, _ := plan.NewLoop(build, a.Spec, a.Settings, a.Now)
		out = append(out, a.Ledger.GoOn(l))
	}
	return out
}

func (c *journalCheck) event(e plan.Event) error {
	name, known := payloadOf[e.Kind]
	switch {
	case !known:
		return fmt.Errorf("%s is not recorded by the job of a port", e.Kind)
	case reflect.ValueOf(e).FieldByName(name).IsZero():
		return fmt.Errorf("%s is without its %s", e.Kind, name)
	}
	switch {
	case e.Port != c.Port:
		return fmt.Errorf("it is about port %q", e.Port)
	case e.At.IsZero() || e.At.After(c.Now.Add(5*time.Minute)):
		return fmt.Errorf("its time, %s, is in the future or none", e.At.Format(time.RFC3339))
	}
	if err := c.session(e); err != nil {
		return err
	}
	return c.payload(e)
}

// session checks who is said to have acted: a session of the pair or of the build.
func (c *journalCheck) session(e plan.Event) error {
	if e.Session == "" || e.Kind == plan.SessionStart && slices.ContainsFunc(c.pair, func(l plan.Loop) bool { return strings.HasPrefix(l.Operator, e.Session+"/") }) {
		return nil
	}
	if !c.owns(e.Session) {
		return fmt.Errorf("session %.100q is not of this port", e.Session)
	}
	return nil
}

func (c *journalCheck) owns(session string) bool {
	return slices.ContainsFunc(c.pair, func(l plan.Loop) bool {
		return session == l.Operator || session == l.ImplSession || session == l.TestSession
	})
}

func (c *journalCheck) ownsChannel(id string) bool {
	return slices.ContainsFunc(c.pair, func(l plan.Loop) bool { return id == l.ChannelID })
}

func (c *journalCheck) payload(e plan.Event) error {
	switch {
	case e.Runner != nil:
		if r := *e.Runner; r.Run != c.Run || r.Events || r.Left || r.Of != "" || r.Ref != "" {
			return fmt.Errorf("run %.40q runs the port; it was assigned to run %s", r.Run, c.Run)
		}
	case e.Started != nil:
		if e.Started.ID != e.Session || e.Started.Port != "" && e.Started.Port != c.Port {
			return errors.New("it begins a session of something else")
		}
	case e.Spawn != nil:
		if e.Spawn.Workflow != "" || e.Spawn.Key != "" || e.Spawn.Sent {
			return errors.New("it dispatches a workflow")
		}
	case e.Progress != nil:
		if e.Progress.Port != c.Port || !c.owns(e.Progress.Session) {
			return errors.New("it is progress of something else")
		}
	case e.Channel != nil:
		if !c.ownsChannel(e.Channel.ID) {
			return errors.New("it is a channel of something else")
		}
	case e.Message != nil:
		if m := e.Message; !c.ownsChannel(m.ChannelID) || !c.owns(m.From) || !c.owns(m.To) {
			return errors.New("it is a message of something else")
		}
	case e.Escalation != nil:
		return c.escalation(e)
	case e.Pair != nil:
		return c.loop(*e.Pair, e.Result)
	case e.Feedback != nil:
		return e.Feedback.Validate()
	}
	return nil
}

// escalation checks that a job opens its own, and resolves open ones by a pass alone.
func (c *journalCheck) escalation(e plan.Event) error {
	x := e.Escalation
	own := slices.ContainsFunc(c.pair, func(l plan.Loop) bool { return x.ID == l.ID+"/escalation" })
	open := slices.ContainsFunc(c.Ledger.Waiting(), func(old plan.Escalation) bool { return old.ID == x.ID })
	switch {
	case x.Port != c.Port:
		return errors.New("it is an escalation of something else")
	case e.Kind == plan.EscalationNew && (!own || x.ResolvedBy != "" || !x.ResolvedAt.IsZero()):
		return errors.New("it opens an escalation of something else")
	case e.Kind == plan.EscalationResolved && (x.ResolvedBy != "switchback" || !own && !open):
		return errors.New("it resolves an escalation in the name of somebody else")
	}
	return nil
}

var contentHash = lazyregexp.New(`^[0-9a-f]{0,128}$`)

// loop checks a state of the pair: the names and limits that it was assigned with, and counts within
// them.
func (c *journalCheck) loop(l plan.Loop, r *plan.Result) error {
	at := slices.IndexFunc(c.pair, func(want plan.Loop) bool { return want.ID == l.ID })
	if at < 0 {
		return fmt.Errorf("pair %.100q is not the one that was assigned", l.ID)
	}
	want := c.pair[at]
	statuses := []plan.LoopStatus{plan.Running, plan.Success, plan.Failed, plan.Raised, plan.Paused}
	switch {
	case l.Port != c.Port || l.Operator != want.Operator || l.ImplSession != want.ImplSession || l.TestSession != want.TestSession || l.ChannelID != want.ChannelID:
		return errors.New("the names of the pair are not those that were assigned")
	case l.MaxRetries != want.MaxRetries || l.TokenBudget != want.TokenBudget || l.Timeout != want.Timeout:
		return errors.New("the limits of the pair are not those of the port")
	case !slices.Contains(statuses, l.Status):
		return fmt.Errorf("status %.40q is none of a pair", l.Status)
	case l.CurrentTry < want.CurrentTry || l.CurrentTry > l.MaxRetries+1 || l.Attempt < want.Attempt || l.Attempt > l.MaxRetries+1+want.Attempt || l.Tokens < 0:
		return errors.New("the pair counts attempts or tokens outside its limits")
	case l.Status == plan.Running && r != nil, l.Status != plan.Running && r == nil:
		return errors.New("a pair has a result once it has ended")
	}
	for _, q := range l.Requests {
		if !slices.Contains(c.Requests, q) && !slices.Contains(want.Requests, q) {
			return fmt.Errorf("feedback %.40q was not delivered to this port", q.Feedback)
		}
	}
	if r == nil {
		return nil
	}
	if !contentHash.MatchString(r.Hash) {
		return fmt.Errorf("hash %.40q is none", r.Hash)
	}
	if expected := plan.ResultOf(l, r.Hash); !reflect.DeepEqual(*r, expected) {
		return errors.New("the result is not that of the pair")
	}
	return nil
}
