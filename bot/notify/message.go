package notify

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/quarantine"
	"github.com/switchback-ci/switchback/routing/redact"
)

// Message is one thing that is told. It is the body of a generic webhook, as JSON.
type Message struct {
	ID         string    `json:"id"` // the same each time that it is sent: receivers drop repeats by it
	Topic      Topic     `json:"topic"`
	Repository string    `json:"repository,omitempty"` // owner/name; of a digest "owner/*"
	Subject    string    `json:"subject,omitempty"`    // #12 or @branch
	Checkpoint string    `json:"checkpoint,omitempty"`
	Decision   string    `json:"decision,omitempty"` // of an escalation
	Reason     string    `json:"reason,omitempty"`
	By         string    `json:"by,omitempty"` // who answered
	SHA        string    `json:"sha,omitempty"`
	URL        string    `json:"url,omitempty"` // of the pull request, the branch, the issue or the repository
	At         time.Time `json:"at"`
	Figures    *Figures  `json:"figures,omitempty"` // of a digest

	Change Change     `json:"change,omitempty"`  // of an incident or a quarantine
	OnHold int        `json:"on_hold,omitempty"` // checkpoints, of an incident
	Test   string     `json:"test,omitempty"`    // of a quarantine, with its suite
	Until  *time.Time `json:"until,omitempty"`   // of a quarantine
	Issue  int        `json:"issue,omitempty"`   // number, of an incident or a quarantine
}

// Change is what happened to an incident or a test in quarantine.
type Change string

// The changes.
const (
	Opened      Change = "opened" // an incident, and it has its issue
	Reopened    Change = "reopened"
	Over        Change = "resolved" // its cases are restarted
	Dismissed   Change = "dismissed"
	Quarantined Change = "quarantined"
	EndsSoon    Change = "ends_soon"
	HasEnded    Change = "expired"
)

const dateAndClock = "2006-01-02 15:04 UTC"

// Figures are what a digest says of the last seven days.
type Figures struct {
	Passed    int      `json:"passed"`    // runs that passed
	Returned  int      `json:"returned"`  // failures that were returned for a fix
	Escalated int      `json:"escalated"` // runs that opened an escalation
	Waiting   int      `json:"waiting"`   // cases that wait for a maintainer now
	Longest   []string `json:"longest"`   // those of them that wait longest, at most five
	Flaky     []string `json:"flaky"`     // tests that failed and passed on one commit, at most five
}

// Topics returns what an endpoint must want one of to be told.
func (m Message) Topics() []Topic {
	if m.Topic == Limit {
		return []Topic{Limit, Escalation}
	}
	return []Topic{m.Topic}
}

const mostText = 500 // bytes of a text in a message

func clean(s string) string { return markdown.Line(redact.Text(s), mostText) }

// Of returns the message about an event, and false if nobody is told of such. now translates the
// name of the repository; web is where people see GitHub.
func Of(e activity.Event, now func(kept string) string, web string) (Message, bool) {
	m := Message{ID: fmt.Sprintf("event-%d", e.ID), Repository: clean(now(e.Repo)), Subject: clean(strings.TrimPrefix(e.Session, e.Repo)), At: e.At.UTC()}
	switch e.Type {
	case activity.IncidentChanged:
		return m.ofIncident(e, web)
	case activity.QuarantineChanged:
		return m.ofQuarantine(e, web)
	case activity.EscalationNew:
		m.Topic = Escalation
	case activity.EscalationResolved:
		m.Topic = Resolved
	default:
		return m, false
	}
	if e.Port != "" {
		var port struct { // as docs/events.md says: the core builds without plans
			Title      string `json:"title"`
			ResolvedBy string `json:"resolved_by"`
		}
		if json.Unmarshal(e.Data, &port) != nil {
			return m, false
		}
		m.Subject, m.Checkpoint, m.Reason, m.By = "", clean(e.Port), clean(port.Title), clean(port.ResolvedBy)
		m.URL = link(web, m.Repository)
		return m, true
	}
	var c activity.Called
	if json.Unmarshal(e.Data, &c) != nil {
		return m, false
	}
	if m.Topic == Escalation && (c.Decision == routing.KindMaxRetry || c.Decision == routing.KindNoProgress) {
		m.Topic = Limit
	}
	m.Checkpoint, m.Decision, m.Reason, m.By, m.SHA = clean(c.Checkpoint), clean(string(c.Decision)), clean(c.Reason), clean(c.By), clean(c.SHA)
	switch {
	case strings.HasPrefix(m.Subject, "#"):
		m.URL = link(web, m.Repository, "pull", m.Subject[1:])
	case strings.HasPrefix(m.Subject, "@"):
		m.URL = link(web, m.Repository, "tree", m.Subject[1:])
	}
	return m, true
}

// ofIncident returns m as the message about a change of an incident. That it opened is told when it has
// its issue, which the message links.
func (m Message) ofIncident(e activity.Event, web string) (Message, bool) {
	var x activity.IncidentChange
	if json.Unmarshal(e.Data, &x) != nil {
		return m, false
	}
	change, told := map[string]Change{activity.Filed: Opened, "reopened": Reopened, "resolved": Over, "dismissed": Dismissed}[x.Change]
	if !told {
		return m, false
	}
	m.Topic, m.Change, m.Subject, m.OnHold = Incident, change, "", x.OnHold
	m.Checkpoint, m.Reason, m.By = clean(x.Checkpoint), clean(x.Cause), clean(x.By)
	m.Issue, m.URL = x.Number, issueLink(web, m.Repository, x.Number)
	if change == Opened {
		m.ID = "incident-" + clean(e.Session) // once, also where its issue cannot be opened and is tried again
	}
	return m, true
}

// ofQuarantine returns m as the message about a change of a flaky test. That it is in quarantine is told
// when it has its issue.
func (m Message) ofQuarantine(e activity.Event, web string) (Message, bool) {
	var x activity.QuarantineChange
	if json.Unmarshal(e.Data, &x) != nil || x.Until == nil {
		return m, false
	}
	switch {
	case x.Change == "began" && x.Number > 0, x.Change == activity.Filed && x.Standing == quarantine.Quarantined:
		m.Change = Quarantined
		m.ID = fmt.Sprintf("quarantine-%s-%d", clean(e.Session), x.Until.Unix())
	case x.Change == "reminded":
		m.Change = EndsSoon
	case x.Change == "expired":
		m.Change = HasEnded
	default:
		return m, false
	}
	until := x.Until.UTC()
	m.Topic, m.Subject, m.Test, m.Until = Quarantine, "", clean(routing.TestName(x.Suite, x.Name)), &until
	m.Checkpoint, m.By = clean(x.Checkpoint), clean(x.By)
	m.Issue, m.URL = x.Number, issueLink(web, m.Repository, x.Number)
	return m, true
}

// issueLink returns the address of an issue, that of the repository if there is none.
func issueLink(web, repository string, number int) string {
	if number <= 0 {
		return link(web, repository)
	}
	return link(web, repository, "issues", strconv.Itoa(number))
}

// link returns an address below a server, "" if there is none.
func link(web string, parts ...string) string {
	u, err := url.Parse(web)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.JoinPath(parts...).String()
}

// text is a message in a language.
type text struct{ title, body string }

func (m Message) in(l catalog.Language) text {
	if m.Topic == Digest {
		return m.digest(l)
	}
	where := m.Repository + m.Subject
	switch m.Topic {
	case Incident:
		return m.lines(l, l.Plain("notify.incident."+string(m.Change), "where", where, "n", m.OnHold), m.Reason)
	case Quarantine:
		until := ""
		if m.Until != nil {
			until = m.Until.UTC().Format(dateAndClock)
		}
		return m.lines(l, l.Plain("notify.quarantine."+string(m.Change), "where", where, "test", m.Test, "until", until), m.Checkpoint)
	}
	t := text{title: l.Plain("notify.escalation", "where", where, "cp", m.Checkpoint)}
	switch m.Topic {
	case Limit:
		t.title = l.Plain("notify.limit", "where", where, "cp", m.Checkpoint)
	case Resolved:
		t.title = l.Plain("notify.resolved", "where", where, "cp", m.Checkpoint)
		if m.By != "" {
			t.title = l.Plain("notify.answered", "where", where, "cp", m.Checkpoint, "by", m.By)
		}
	}
	if m.Reason != "" {
		t.body = m.Reason
	}
	return t
}

// lines returns a text of a title and lines, of which the last says who did it.
func (m Message) lines(l catalog.Language, title string, lines ...string) text {
	if m.By != "" {
		lines = append(lines, l.Plain("notify.by", "by", m.By))
	}
	return text{title, strings.Trim(strings.Join(lines, "\n"), "\n")}
}

func (m Message) digest(l catalog.Language) text {
	owner := strings.TrimSuffix(m.Repository, "/*")
	f := m.Figures
	if f == nil {
		f = &Figures{}
	}
	lines := []string{l.Plain("notify.digest.figures", "passed", f.Passed, "returned", f.Returned, "escalated", f.Escalated)}
	if f.Waiting > 0 {
		lines = append(lines, l.Plain("notify.digest.waiting", "n", f.Waiting, "list", strings.Join(f.Longest, ", ")))
	}
	if len(f.Flaky) > 0 {
		lines = append(lines, l.Plain("notify.digest.flaky", "list", strings.Join(f.Flaky, ", ")))
	}
	return text{l.Plain("notify.digest.title", "owner", owner), strings.Join(lines, "\n")}
}
