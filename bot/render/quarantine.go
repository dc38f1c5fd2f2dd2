package render

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/history"
)

// resting returns the failures that are in quarantine.
func resting(fs []routing.Failure) []routing.Failure {
	var out []routing.Failure
	for _, f := range fs {
		if f.Quarantined {
			out = append(out, f)
		}
	}
	return out
}

// restingNames names failures in quarantine, the first of them with its end and its issue.
func restingNames(v view, most int) md {
	var out []md
	for _, f := range v.resting[:min(len(v.resting), most)] {
		name := v.names([]string{escalation.Name(f)}, 1)
		if q := f.Quarantine; q != nil {
			at := md(q.Until.UTC().Format(time.DateOnly))
			if u := v.o.Address(q.URL); u != "" && q.Issue > 0 {
				name = v.lang.Say("excused.issue", "name", name, "until", at, "issue", markdown.Link(md(fmt.Sprintf("#%d", q.Issue)), u))
			} else {
				name = v.lang.Say("excused.until", "name", name, "until", at)
			}
		}
		out = append(out, name)
	}
	if n := len(v.resting) - len(out); n > 0 {
		out = append(out, v.lang.Say("list.more", "n", n))
	}
	return markdown.Join(out, ", ")
}

// packetResting is a failure in quarantine, of which the packet does not ask anything.
type packetResting struct {
	Name     string           `json:"name"`
	Suite    string           `json:"suite"`
	Standing history.Standing `json:"standing"` // quarantined
	Until    *time.Time       `json:"until,omitempty"`
	Issue    int              `json:"issue,omitempty"`
	Message  string           `json:"message,omitempty"`
}

func packResting(fs []routing.Failure, most int) []packetResting {
	var out []packetResting
	for _, f := range fs[:min(len(fs), most)] {
		p := packetResting{Name: markdown.Cut(f.Name, 300), Suite: markdown.Cut(f.Suite, 200), Standing: history.StandingQuarantined, Message: markdown.Cut(f.Message, 200)}
		if q := f.Quarantine; q != nil {
			until := q.Until.UTC()
			p.Until, p.Issue = &until, q.Issue
		}
		out = append(out, p)
	}
	return out
}
