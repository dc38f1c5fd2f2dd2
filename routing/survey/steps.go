package survey

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// The steps. Each returns the entries to append to the register it was asked
// of; a step that was made before returns none.

// Open opens the survey about a result, after the audit row it refers to.
func (r State) Open(id string, res Result, language string, timeout time.Duration, lease *routing.Lease, now time.Time) []Entry {
	if r.index(id) >= 0 {
		return nil
	}
	row := NewAuditLog(len(r.Audits)+1, now, res)
	if language != Korean {
		language = "en"
	}
	return []Entry{
		AuditRecorded{row},
		SurveyOpened{Survey: id, Opened: Opened{res, row.ID, language, timeout}, Lease: lease},
	}
}

// Said is an answer on its way: what was said, by whom, when and where.
type Said struct {
	Answer Answer
	By     string    // login, "" if unknown
	Source string    // Answered.Source
	At     time.Time // when it was said
}

// Outcome is what became of an answer.
type Outcome string

// The outcomes.
const (
	Accepted Outcome = "accepted" // it counts, now or since before
	Second   Outcome = "second"   // another answer came first
	Late     Outcome = "late"     // the time was over
)

// Answer records the answer s to a survey, if it is the first and in time. One
// said after the deadline finds the survey timed out, whether that was recorded
// before or not.
func (r State) Answer(id string, s Said, lease *routing.Lease, now time.Time) (Outcome, []Entry, error) {
	p, ok := r.Survey(id)
	switch {
	case !ok:
		return "", nil, fmt.Errorf("there is no survey %q", id)
	case p.TimedOut:
		return Late, nil, nil
	case p.Answered != nil && p.Answered.repeats(s):
		return Accepted, nil, nil
	case p.Answered != nil:
		return Second, nil, nil
	case !s.At.Before(p.Deadline()):
		return Late, p.timeOut(lease), nil
	}
	f, goal, err := Converge(p.Result, s.Answer)
	if err != nil {
		return "", nil, err
	}
	row := NewUserFeedback(len(r.Feedback)+1, now, s.By, p.Language, p.Result, f, p.Audit)
	return Accepted, []Entry{SurveyAnswered{
		Survey: id, Lease: lease,
		Answered: Answered{Answer: s.Answer, By: s.By, Source: s.Source, Feedback: row, Goal: goal},
	}}, nil
}

// repeats reports whether s is the answer a once more: the same event, or the
// same person submitting the same again.
func (a Answered) repeats(s Said) bool {
	same := a.Answer.Level == s.Answer.Level && a.Answer.FreeText == s.Answer.FreeText && slices.Equal(a.Answer.Accepted, s.Answer.Accepted)
	return a.Source == s.Source || same && a.By != "" && strings.EqualFold(a.By, s.By)
}

func (p Survey) timeOut(lease *routing.Lease) []Entry {
	return []Entry{SurveyTimedOut{Survey: p.ID, Goal: TimedOut(p.Result, p.Language), Lease: lease}}
}

// Due returns what the time brings about: timeouts, and reminders, of which only
// the newest that is due.
func (r State) Due(lease *routing.Lease, now time.Time) []Entry {
	var out []Entry
	for _, p := range r.Surveys {
		if !p.Open() {
			continue
		}
		if !now.Before(p.Deadline()) {
			out = append(out, p.timeOut(lease)...)
			continue
		}
		n := 0
		for i, at := range p.reminders() {
			if !now.Before(at) {
				n = i + 1
			}
		}
		if n > p.Reminded {
			out = append(out, SurveyReminded{Survey: p.ID, Reminder: n, Lease: lease})
		}
	}
	return out
}

// TakeOver takes over the work of a survey.
func TakeOver(id string, lease *routing.Lease) []Entry {
	return []Entry{SurveyLeased{Survey: id, Lease: lease}}
}

// Done notes that work of a survey was done; ref and url say where.
func Done(id, work, ref, url string) []Entry {
	return []Entry{WorkDone{Survey: id, Work: work, Ref: ref, URL: url}}
}

// Completed is a workflow run that has ended.
type Completed struct {
	ID       string
	Workflow string    // name
	At       time.Time // when it ended, zero if unknown
	Own      bool      // the bot started it itself, as a re-entry does
}

// Reenter starts the next cycle when a run has ended, if goals of earlier
// surveys carry issues over. after names the workflows whose runs count; if it
// is empty, those do that the surveys are about. A run counts once. Neither the
// run of a re-entry counts, nor the run that a survey is about itself.
func (r State) Reenter(run Completed, after []string, lease *routing.Lease) []Entry {
	if run.Own || r.reentry(run.ID) >= 0 {
		return nil
	}
	var ids []string
	for _, p := range r.Surveys {
		if p.CarriesOver() && p.Result.RunID != run.ID && p.waitsFor(run, after) {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return []Entry{CycleReentered{Reentry: Reentry{run.ID, ids}, Lease: lease}}
}

func (p Survey) waitsFor(run Completed, after []string) bool {
	if !run.At.IsZero() && run.At.Before(p.ClosedAt.Truncate(time.Second)) { // GitHub's times are whole seconds
		return false
	}
	if len(after) > 0 {
		return slices.Contains(after, run.Workflow)
	}
	return run.Workflow == p.Result.WorkflowName
}

// TakeOverReentry takes over the start of a re-entry.
func TakeOverReentry(run string, lease *routing.Lease) []Entry {
	return []Entry{ReentryLeased{Run: run, Lease: lease}}
}

// ReentryDone notes that a re-entry was started.
func ReentryDone(run, ref string) []Entry {
	return []Entry{ReentryStarted{Run: run, Ref: ref}}
}
