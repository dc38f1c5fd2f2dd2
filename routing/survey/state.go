package survey

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Opened is a survey as it was opened.
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
	Surveys []string `json:"surveys"`
}

// The work that entries leave to be done outside.
const (
	WorkIssue    = "issue"   // file the survey
	WorkAnswer   = "answer"  // acknowledge the answer and close the survey
	WorkTimeout  = "timeout" // say that nobody answered and close the survey
	WorkReminder = "remind/" // and the reminder's number
)

// Survey is one question to people, as the register tells it.
type Survey struct {
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

// Open reports whether the survey waits for an answer.
func (p Survey) Open() bool { return p.Goal == nil }

// Deadline is when the survey times out.
func (p Survey) Deadline() time.Time { return p.OpenedAt.Add(p.Timeout) }

// CarriesOver reports whether the goal leaves issues for the next cycle that
// has not been started yet.
func (p Survey) CarriesOver() bool {
	return p.Goal != nil && len(p.Goal.CarryOverIssues) > 0 && p.Reentry == ""
}

// lastHours is how long before the deadline the last reminder comes.
const lastHours = 12 * time.Hour

// reminders are when people are reminded: at half the time, and 12 hours before
// its end if that is later.
func (p Survey) reminders() []time.Time {
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
	Surveys   []Survey // oldest first
	Audits    []AuditRow
	Feedback  []FeedbackRow
	Reentries []Started
}

// Projection folds the stream of a repository's surveys.
var Projection = routing.Projection[State]{
	New: func(string) State { return State{} },
	Apply: func(r State, e routing.Event) (State, error) {
		en, err := EntryOf(e)
		if err != nil {
			return r, err
		}
		return r.Apply(en, e.At)
	},
}

// Fold returns the surveys of a stream; see routing.Projection.
func Fold(events []routing.Event) (State, error) { return Projection.Fold("", events) }

// Survey returns the survey with an id.
func (r State) Survey(id string) (Survey, bool) {
	i := r.index(id)
	if i < 0 {
		return Survey{}, false
	}
	return r.Surveys[i], true
}

// ByNumber returns the survey whose issue has a number.
func (r State) ByNumber(n int) (Survey, bool) {
	for _, p := range r.Surveys {
		if n > 0 && p.Number == n {
			return p, true
		}
	}
	return Survey{}, false
}

func (r State) index(id string) int {
	return slices.IndexFunc(r.Surveys, func(p Survey) bool { return p.ID == id })
}

// Apply returns r with one entry more, or an error if it does not follow: a
// second answer, an audit row that does not exist, a row that breaks its table.
func (r State) Apply(e Entry, at time.Time) (State, error) {
	r.Surveys = slices.Clone(r.Surveys)
	switch e := e.(type) {
	case AuditRecorded:
		return r.audit(e.Audit, at)
	case SurveyOpened:
		return r.opened(e, at)
	case SurveyAnswered:
		return r.answered(e, at)
	case SurveyReminded:
		return r.change(e.Survey, func(p *Survey) error { return p.remind(e.Reminder, e.Lease) })
	case SurveyTimedOut:
		return r.change(e.Survey, func(p *Survey) error {
			p.TimedOut = true
			return p.close(at, e.Goal, TimeoutFallback, WorkTimeout, e.Lease)
		})
	case SurveyLeased:
		return r.change(e.Survey, func(p *Survey) error {
			p.Lease = e.Lease
			return nil
		})
	case WorkDone:
		return r.change(e.Survey, func(p *Survey) error { return p.done(e) })
	case CycleReentered:
		return r.reentered(e, at)
	case ReentryLeased:
		return r.restart(e.Run, func(s *Started) { s.Lease = e.Lease })
	case ReentryStarted:
		return r.restart(e.Run, func(s *Started) { s.Done = true })
	}
	return r, fmt.Errorf("%T is no entry", e)
}

// change returns r with a survey changed by fn.
func (r State) change(id string, fn func(*Survey) error) (State, error) {
	i := r.index(id)
	if i < 0 {
		return r, fmt.Errorf("there is no survey %q", id)
	}
	p := r.Surveys[i]
	p.Pending = slices.Clone(p.Pending)
	if err := fn(&p); err != nil {
		return r, fmt.Errorf("survey %s: %w", id, err)
	}
	r.Surveys[i] = p
	return r, nil
}

func (r State) answered(e SurveyAnswered, at time.Time) (State, error) {
	next, err := r.change(e.Survey, func(p *Survey) error {
		p.Answered = &e.Answered
		return p.close(at, e.Answered.Goal, HumanFeedback, WorkAnswer, e.Lease)
	})
	if err != nil {
		return r, err
	}
	row := e.Answered.Feedback
	if err := mayRecord(next.Feedback, row, next.Surveys[next.index(e.Survey)]); err != nil {
		return r, err
	}
	next.Feedback = append(slices.Clip(next.Feedback), FeedbackRow{row, at})
	return next, nil
}

func (r State) audit(row AuditLog, at time.Time) (State, error) {
	if err := row.Check(); err != nil {
		return r, err
	}
	if hasAudit(r.Audits, row.ID) {
		return r, fmt.Errorf("audit_logs has %s already", row.ID)
	}
	r.Audits = append(slices.Clip(r.Audits), AuditRow{row, at})
	return r, nil
}

func hasAudit(rows []AuditRow, id string) bool {
	return slices.ContainsFunc(rows, func(a AuditRow) bool { return a.ID == id })
}

// mayRecord returns why a row of user_feedback about a survey cannot follow others.
func mayRecord(rows []FeedbackRow, row UserFeedback, p Survey) error {
	if err := row.Check(); err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(f FeedbackRow) bool { return f.ID == row.ID }) {
		return fmt.Errorf("user_feedback has %s already", row.ID)
	}
	if row.RelatedAuditID != p.Audit {
		return fmt.Errorf("user_feedback %s is of %s, its survey of %s", row.ID, row.RelatedAuditID, p.Audit)
	}
	return nil
}

func (r State) opened(e SurveyOpened, at time.Time) (State, error) {
	switch o := e.Opened; {
	case e.Survey == "":
		return r, fmt.Errorf("opened without a survey")
	case r.index(e.Survey) >= 0:
		return r, fmt.Errorf("survey %s was opened before", e.Survey)
	case !hasAudit(r.Audits, o.Audit):
		return r, fmt.Errorf("survey %s: audit_logs has no %s", e.Survey, o.Audit)
	case o.Timeout <= 0:
		return r, fmt.Errorf("survey %s: a timeout of %s", e.Survey, o.Timeout)
	default:
		if err := o.Result.Check(); err != nil {
			return r, fmt.Errorf("survey %s: %w", e.Survey, err)
		}
		r.Surveys = append(r.Surveys, Survey{ID: e.Survey, Opened: o, OpenedAt: at, Pending: []string{WorkIssue}, Lease: e.Lease})
		return r, nil
	}
}

// closed returns an error if the survey no longer waits for an answer.
func (p Survey) closed() error {
	if p.Open() {
		return nil
	}
	return fmt.Errorf("it is closed since %s", p.ClosedAt.UTC().Format(time.RFC3339))
}

func (p *Survey) remind(n int, lease *routing.Lease) error {
	if err := p.closed(); err != nil {
		return err
	}
	if n <= p.Reminded || n > len(p.reminders()) {
		return fmt.Errorf("reminder %d follows none of %d", n, p.Reminded)
	}
	p.Reminded, p.Lease = n, lease
	p.Pending = append(withoutReminders(p.Pending), fmt.Sprintf("%s%d", WorkReminder, n))
	return nil
}

func (p *Survey) close(at time.Time, g Goal, by ApprovedBy, work string, lease *routing.Lease) error {
	if err := p.closed(); err != nil {
		return err
	}
	if g.ApprovedBy != by || !ValidLevel(g.NextAutomationLevel) || g.OptimizationDirectives == nil || g.CarryOverIssues == nil {
		return fmt.Errorf("the goal %s does not belong to %s", g.Line(), work)
	}
	p.Goal, p.ClosedAt, p.Lease = &g, at, lease
	p.Pending = append(withoutReminders(p.Pending), work)
	return nil
}

// withoutReminders drops reminders that no longer need to be posted.
func withoutReminders(pending []string) []string {
	return slices.DeleteFunc(pending, func(w string) bool { return strings.HasPrefix(w, WorkReminder) })
}

func (p *Survey) done(e WorkDone) error {
	i := slices.Index(p.Pending, e.Work)
	if i < 0 {
		return nil // done by two at once, or no longer needed
	}
	p.Pending = slices.Delete(p.Pending, i, i+1)
	if e.Work == WorkIssue {
		if _, err := fmt.Sscanf(e.Ref, "%d", &p.Number); err != nil || p.Number <= 0 {
			return fmt.Errorf("%q is no number of an issue", e.Ref)
		}
		p.URL = e.URL
	}
	return nil
}

func (r State) reentered(e CycleReentered, at time.Time) (State, error) {
	run := e.Reentry.Run
	if run == "" || len(e.Reentry.Surveys) == 0 {
		return r, fmt.Errorf("reentered without a run or surveys")
	}
	if r.reentry(run) >= 0 {
		return r, fmt.Errorf("run %s started the next cycle before", run)
	}
	for _, id := range e.Reentry.Surveys {
		i := r.index(id)
		if i < 0 || !r.Surveys[i].CarriesOver() {
			return r, fmt.Errorf("run %s: survey %q carries nothing over", run, id)
		}
		r.Surveys[i].Reentry = run
	}
	r.Reentries = append(slices.Clip(r.Reentries), Started{Reentry: e.Reentry, At: at, Lease: e.Lease})
	return r, nil
}

func (r State) reentry(run string) int {
	return slices.IndexFunc(r.Reentries, func(s Started) bool { return s.Run == run })
}

// restart returns r with the re-entry of a run changed by fn.
func (r State) restart(run string, fn func(*Started)) (State, error) {
	i := r.reentry(run)
	if i < 0 {
		return r, fmt.Errorf("run %q started nothing", run)
	}
	r.Reentries = slices.Clone(r.Reentries)
	fn(&r.Reentries[i])
	return r, nil
}
