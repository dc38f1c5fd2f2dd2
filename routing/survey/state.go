package survey

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// EntryKind names what happened to a prompt.
type EntryKind string

// The entries of the register of feedback. An audit row stands before the
// prompt that is about it; an answer or a timeout holds the goal it ends in.
const (
	EntryAudit     EntryKind = "audit"     // the audit row of a cycle
	EntryOpened    EntryKind = "opened"    // people are asked about it
	EntryAnswered  EntryKind = "answered"  // somebody answered
	EntryReminded  EntryKind = "reminded"  // nobody has answered so far
	EntryTimedOut  EntryKind = "timed_out" // nobody answered in time
	EntryReentered EntryKind = "reentered" // a completed run starts the next cycle
	EntryLeased    EntryKind = "leased"    // a process took over what is to be posted
	EntryDone      EntryKind = "done"      // something was posted or started
)

// event is the type of the event that an entry is recorded by.
func (k EntryKind) event() routing.EventType {
	return routing.EventType(routing.FamilySurvey + "." + string(k))
}

func init() {
	for _, k := range []EntryKind{EntryAudit, EntryOpened, EntryAnswered, EntryReminded, EntryTimedOut, EntryReentered, EntryLeased, EntryDone} {
		routing.RegisterPayload[Entry](k.event())
	}
}

// Entry is the payload of an event of the stream. Which fields are set depends
// on Kind.
type Entry struct {
	Kind     EntryKind      `json:"-"`                  // the event's type
	Prompt   string         `json:"prompt,omitempty"`   // of all but audit and reentered
	Audit    *AuditLog      `json:"audit,omitempty"`    // audit
	Opened   *Opened        `json:"opened,omitempty"`   // opened
	Answered *Answered      `json:"answered,omitempty"` // answered
	Reminder int            `json:"reminder,omitempty"` // reminded: from 1 on
	Goal     *Goal          `json:"goal,omitempty"`     // timed_out
	Reentry  *Reentry       `json:"reentry,omitempty"`  // reentered
	Work     string         `json:"work,omitempty"`     // done: what of Prompt.Pending, or a run of a re-entry
	Ref      string         `json:"ref,omitempty"`      // done: what stands outside, e.g. an issue's number
	URL      string         `json:"url,omitempty"`      // done: its page
	Lease    *routing.Lease `json:"lease,omitempty"`    // of all that leave work to do: of the process that does it
	At       time.Time      `json:"-"`                  // the event's
}

// Opened is a prompt as it was opened.
type Opened struct {
	Result   Result        `json:"result"`
	Audit    string        `json:"audit"`    // AuditLog.ID
	Language string        `json:"language"` // "ko", else English
	Timeout  time.Duration `json:"timeout"`  // ns, from opening
}

// Answered is the answer that counted and all that follows from it.
type Answered struct {
	Answer   Answer       `json:"answer"`
	By       string       `json:"by,omitempty"` // login, "" if unknown
	Source   string       `json:"source"`       // names what was said: comment/12, body/…, cli/…
	Feedback UserFeedback `json:"feedback"`
	Goal     Goal         `json:"goal"`
}

// Reentry is the start of the next cycle, by a completed run.
type Reentry struct {
	Run     string   `json:"run"` // id of the completed run
	Prompts []string `json:"prompts"`
}

// The work that entries leave to be done outside.
const (
	WorkIssue    = "issue"    // file the prompt
	WorkAnswer   = "answer"   // acknowledge the answer and close the prompt
	WorkTimeout  = "timeout"  // say that nobody answered and close the prompt
	WorkReminder = "remind/"  // and the reminder's number
	workReentry  = "reentry/" // and the run's id
)

// Prompt is one question to people, as the register tells it.
type Prompt struct {
	ID string
	Opened
	OpenedAt time.Time
	Number   int // of the issue, 0 until it is filed
	URL      string
	Pending  []string       // work to be done outside, in order
	Lease    *routing.Lease // of the process that does it
	Reminded int            // number of the newest reminder
	Answered *Answered
	TimedOut bool
	Goal     *Goal // once it is answered or timed out
	ClosedAt time.Time
	Reentry  string // the run whose end started the next cycle, "" if none
}

// Open reports whether the prompt waits for an answer.
func (p Prompt) Open() bool { return p.Goal == nil }

// Deadline is when the prompt times out.
func (p Prompt) Deadline() time.Time { return p.OpenedAt.Add(p.Timeout) }

// CarriesOver reports whether the goal leaves issues for the next cycle that
// has not been started yet.
func (p Prompt) CarriesOver() bool {
	return p.Goal != nil && len(p.Goal.CarryOverIssues) > 0 && p.Reentry == ""
}

// lastHours is how long before the deadline the last reminder comes.
const lastHours = 12 * time.Hour

// reminders are when people are reminded: at half the time, and 12 hours before
// its end if that is later.
func (p Prompt) reminders() []time.Time {
	out := []time.Time{p.OpenedAt.Add(p.Timeout / 2)}
	if last := p.Deadline().Add(-lastHours); last.After(out[0]) {
		out = append(out, last)
	}
	return out
}

// AuditRow is a row of audit_logs with when it was recorded.
type AuditRow struct {
	AuditLog
	At time.Time
}

// FeedbackRow is a row of user_feedback with when it was recorded.
type FeedbackRow struct {
	UserFeedback
	At time.Time
}

// Started is a re-entry, with how far it got.
type Started struct {
	Reentry
	At    time.Time
	Lease *routing.Lease // of the process that starts the next cycle
	Done  bool
}

// State is the fold of a repository's register of feedback.
type State struct {
	Prompts   []Prompt // oldest first
	Audits    []AuditRow
	Feedback  []FeedbackRow
	Reentries []Started
}

// Projection folds the stream of a repository's surveys.
var Projection = routing.Projection[State]{
	New: func(string) State { return State{} },
	Apply: func(r State, e routing.Event) (State, error) {
		if e.Type.Family() != routing.FamilySurvey {
			return r, fmt.Errorf("unknown event type %q", e.Type)
		}
		en, err := EntryOf(e)
		if err != nil {
			return r, err
		}
		return r.Apply(en)
	},
}

// EntryOf returns the entry that an event of the stream records.
func EntryOf(e routing.Event) (Entry, error) {
	en, err := routing.PayloadOf[Entry](e)
	en.Kind, en.At = EntryKind(e.Type.Name()), e.At
	return en, err
}

// Fold returns the surveys of a stream; see routing.Projection.
func Fold(events []routing.Event) (State, error) { return Projection.Fold("", events) }

// Events returns entries as events at now.
func Events(entries []Entry, now time.Time) []routing.Event {
	out := make([]routing.Event, len(entries))
	for i, en := range entries {
		out[i] = routing.Event{Type: en.Kind.event(), At: now, Data: en}
	}
	return out
}

// Prompt returns the prompt with an id.
func (r State) Prompt(id string) (Prompt, bool) {
	i := r.index(id)
	if i < 0 {
		return Prompt{}, false
	}
	return r.Prompts[i], true
}

// ByNumber returns the prompt whose issue has a number.
func (r State) ByNumber(n int) (Prompt, bool) {
	for _, p := range r.Prompts {
		if n > 0 && p.Number == n {
			return p, true
		}
	}
	return Prompt{}, false
}

func (r State) index(id string) int {
	return slices.IndexFunc(r.Prompts, func(p Prompt) bool { return p.ID == id })
}

// Apply returns r with one entry more, or an error if it does not follow: a
// second answer, an audit row that does not exist, a row that breaks its table.
func (r State) Apply(e Entry) (State, error) {
	r.Prompts = slices.Clone(r.Prompts)
	switch e.Kind {
	case EntryAudit:
		return r.audit(e)
	case EntryOpened:
		return r.opened(e)
	case EntryReentered:
		return r.reentered(e)
	case EntryDone, EntryLeased:
		if strings.HasPrefix(e.Work, workReentry) {
			return r.reentryDone(e)
		}
	}
	i := r.index(e.Prompt)
	if i < 0 {
		return r, fmt.Errorf("%s: there is no prompt %q", e.Kind, e.Prompt)
	}
	p, err := r.Prompts[i].apply(e)
	if err != nil {
		return r, fmt.Errorf("prompt %s: %w", e.Prompt, err)
	}
	if e.Kind == EntryAnswered {
		row := e.Answered.Feedback
		if err := r.mayRecord(row, p); err != nil {
			return r, err
		}
		r.Feedback = append(slices.Clip(r.Feedback), FeedbackRow{row, e.At})
	}
	r.Prompts[i] = p
	return r, nil
}

func (r State) audit(e Entry) (State, error) {
	if e.Audit == nil {
		return r, fmt.Errorf("audit without its row")
	}
	if err := e.Audit.Check(); err != nil {
		return r, err
	}
	if r.hasAudit(e.Audit.ID) {
		return r, fmt.Errorf("audit_logs has %s already", e.Audit.ID)
	}
	r.Audits = append(slices.Clip(r.Audits), AuditRow{*e.Audit, e.At})
	return r, nil
}

func (r State) hasAudit(id string) bool {
	return slices.ContainsFunc(r.Audits, func(a AuditRow) bool { return a.ID == id })
}

func (r State) mayRecord(row UserFeedback, p Prompt) error {
	if err := row.Check(); err != nil {
		return err
	}
	if slices.ContainsFunc(r.Feedback, func(f FeedbackRow) bool { return f.ID == row.ID }) {
		return fmt.Errorf("user_feedback has %s already", row.ID)
	}
	if row.RelatedAuditID != p.Audit {
		return fmt.Errorf("user_feedback %s is of %s, its prompt of %s", row.ID, row.RelatedAuditID, p.Audit)
	}
	return nil
}

func (r State) opened(e Entry) (State, error) {
	switch o := e.Opened; {
	case o == nil || e.Prompt == "":
		return r, fmt.Errorf("opened without a prompt")
	case r.index(e.Prompt) >= 0:
		return r, fmt.Errorf("prompt %s was opened before", e.Prompt)
	case !r.hasAudit(o.Audit):
		return r, fmt.Errorf("prompt %s: audit_logs has no %s", e.Prompt, o.Audit)
	case o.Timeout <= 0:
		return r, fmt.Errorf("prompt %s: a timeout of %s", e.Prompt, o.Timeout)
	default:
		if err := o.Result.Check(); err != nil {
			return r, fmt.Errorf("prompt %s: %w", e.Prompt, err)
		}
		r.Prompts = append(r.Prompts, Prompt{ID: e.Prompt, Opened: *o, OpenedAt: e.At, Pending: []string{WorkIssue}, Lease: e.Lease})
		return r, nil
	}
}

func (p Prompt) apply(e Entry) (Prompt, error) {
	p.Pending = slices.Clone(p.Pending)
	if e.Kind != EntryDone {
		p.Lease = e.Lease
	}
	switch e.Kind {
	case EntryLeased:
		return p, nil
	case EntryDone:
		return p.done(e)
	}
	if !p.Open() {
		return p, fmt.Errorf("%s: it is closed since %s", e.Kind, p.ClosedAt.UTC().Format(time.RFC3339))
	}
	switch e.Kind {
	case EntryReminded:
		if e.Reminder <= p.Reminded || e.Reminder > len(p.reminders()) {
			return p, fmt.Errorf("reminder %d follows none of %d", e.Reminder, p.Reminded)
		}
		p.Reminded = e.Reminder
		p.Pending = append(withoutReminders(p.Pending), fmt.Sprintf("%s%d", WorkReminder, e.Reminder))
		return p, nil
	case EntryAnswered:
		if e.Answered == nil {
			return p, fmt.Errorf("answered without an answer")
		}
		p.Answered = e.Answered
		return p.close(e.At, e.Answered.Goal, HumanFeedback, WorkAnswer)
	case EntryTimedOut:
		if e.Goal == nil {
			return p, fmt.Errorf("timed_out without a goal")
		}
		p.TimedOut = true
		return p.close(e.At, *e.Goal, TimeoutFallback, WorkTimeout)
	}
	return p, fmt.Errorf("%q is no entry", e.Kind)
}

func (p Prompt) close(at time.Time, g Goal, by ApprovedBy, work string) (Prompt, error) {
	if g.ApprovedBy != by || !ValidLevel(g.NextAutomationLevel) || g.OptimizationDirectives == nil || g.CarryOverIssues == nil {
		return p, fmt.Errorf("the goal %s does not belong to %s", g.Line(), work)
	}
	p.Goal, p.ClosedAt = &g, at
	p.Pending = append(withoutReminders(p.Pending), work)
	return p, nil
}

// withoutReminders drops reminders that no longer need to be posted.
func withoutReminders(pending []string) []string {
	return slices.DeleteFunc(pending, func(w string) bool { return strings.HasPrefix(w, WorkReminder) })
}

func (p Prompt) done(e Entry) (Prompt, error) {
	i := slices.Index(p.Pending, e.Work)
	if i < 0 {
		return p, nil // done by two at once, or no longer needed
	}
	p.Pending = slices.Delete(p.Pending, i, i+1)
	if e.Work == WorkIssue {
		if _, err := fmt.Sscanf(e.Ref, "%d", &p.Number); err != nil || p.Number <= 0 {
			return p, fmt.Errorf("%q is no number of an issue", e.Ref)
		}
		p.URL = e.URL
	}
	return p, nil
}

func (r State) reentered(e Entry) (State, error) {
	if e.Reentry == nil || e.Reentry.Run == "" || len(e.Reentry.Prompts) == 0 {
		return r, fmt.Errorf("reentered without a run or prompts")
	}
	if r.reentry(e.Reentry.Run) >= 0 {
		return r, fmt.Errorf("run %s started the next cycle before", e.Reentry.Run)
	}
	for _, id := range e.Reentry.Prompts {
		i := r.index(id)
		if i < 0 || !r.Prompts[i].CarriesOver() {
			return r, fmt.Errorf("run %s: prompt %q carries nothing over", e.Reentry.Run, id)
		}
		r.Prompts[i].Reentry = e.Reentry.Run
	}
	r.Reentries = append(slices.Clip(r.Reentries), Started{Reentry: *e.Reentry, At: e.At, Lease: e.Lease})
	return r, nil
}

func (r State) reentry(run string) int {
	return slices.IndexFunc(r.Reentries, func(s Started) bool { return s.Run == run })
}

func (r State) reentryDone(e Entry) (State, error) {
	run := strings.TrimPrefix(e.Work, workReentry)
	i := r.reentry(run)
	if i < 0 {
		return r, fmt.Errorf("%s: run %q started nothing", e.Kind, run)
	}
	r.Reentries = slices.Clone(r.Reentries)
	if e.Kind == EntryLeased {
		r.Reentries[i].Lease = e.Lease
		return r, nil
	}
	r.Reentries[i].Done = true
	return r, nil
}
