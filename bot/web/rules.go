package web

import (
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
)

// ruleTexts say what each rule of the router means.
var ruleTexts = map[string]string{
	"answered":            "A human's answer asks for something else than the run alone would.",
	"repeat":              "The run was decided before; nothing is counted again.",
	"analyze-failed":      "The analysis itself failed, which says nothing of the work.",
	"stale-commit":        "The run is of a commit that is no longer the head.",
	"stale-run":           "A newer run, or a newer attempt, has been seen.",
	"waiting-for-needs":   "The checkpoint waits for others that it needs.",
	"held-by-escalation":  "A human is awaited; the run waits or is only recorded.",
	"completed-commit":    "The commit has passed already.",
	"matrix-incomplete":   "A leg is green, and others have not reported yet.",
	"run-already-decided": "Another part of the run has decided it.",
	"skipped":             "A human does without the checkpoint.",
	"pass":                "Every test passed and every criterion is met.",
	"design":              "Test and design contradict each other: a human decides.",
	"environment":         "The machine, the network or the like failed: no fix attempt is counted, an escalation is opened.",
	"timeout":             "Time ran out: returned for a fix while attempts are left, then an escalation is opened.",
	"criteria-unmet":      "The run is green but does not meet its criteria, so it is unclear.",
	"unclear":             "There is no evidence for any class: an escalation is opened.",
	"same-commit":         "The commit was returned for a fix already; the fix attempt is updated.",
	"limit-reached":       "The limit of fix attempts is reached: an escalation is opened.",
	"fixable":             "A worker can fix it, and attempts are left: returned for a fix.",
	"no-rule":             "No rule applied: an escalation is opened.",
}

// ruleRow is what a rule has done within the window.
type ruleRow struct {
	Name, Text string
	N, Wrong   int
	Newest     time.Time
	Classes    []eventstream.Rule // the most frequent first
}

// Precision is the share of its decisions that nobody called wrong.
func (r ruleRow) Precision() string { return percent(r.N-r.Wrong, r.N) }

// rules is the page of them.
type rules struct {
	Windows []choice
	Rows    []ruleRow
	N       int
}

// choice is one of several ways to look at a page.
type choice struct {
	Query   template.URL
	Title   string
	Current bool
}

// span is a time over which figures are shown.
type span struct {
	days  int // 0 is all
	title string
}

var spans = []span{{7, "7 days"}, {30, "30 days"}, {0, "all the time"}}

// window reads which span is asked for. The first is what nobody asked for.
func window(r *http.Request, spans ...span) (span, []choice) {
	at := spans[0]
	for _, w := range spans {
		if r.URL.Query().Get("days") == strconv.Itoa(w.days) {
			at = w
		}
	}
	var choices []choice
	for _, w := range spans {
		choices = append(choices, choice{with(r, "days", strconv.Itoa(w.days)), w.title, w == at})
	}
	return at, choices
}

// from is where a window of days begins: so many days, today included.
func (s *Server) from(days int) time.Time {
	if days == 0 {
		return time.Time{}
	}
	return s.o.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
}

func (s *Server) rules(v Viewer, r *http.Request) (Page, error) {
	var b rules
	var shown span
	shown, b.Windows = window(r, spans...)
	list, err := s.o.Feed.Rules(r.Context(), v.Repos, s.from(shown.days))
	if err != nil {
		return Page{}, err
	}
	at := map[string]int{}
	for _, name := range append(routing.RuleNames(), "no-rule") {
		at[name] = len(b.Rows)
		b.Rows = append(b.Rows, ruleRow{Name: name, Text: ruleTexts[name]})
	}
	for _, x := range list {
		i, known := at[x.Rule]
		if !known { // of another version
			i = len(b.Rows)
			at[x.Rule] = i
			b.Rows = append(b.Rows, ruleRow{Name: x.Rule})
		}
		row := &b.Rows[i]
		row.N, row.Wrong, b.N = row.N+x.N, row.Wrong+x.Wrong, b.N+x.N
		if x.Newest.After(row.Newest) {
			row.Newest = x.Newest
		}
		if len(row.Classes) < mostNamed {
			row.Classes = append(row.Classes, x)
		}
	}
	if n := len(b.Rows); b.Rows[n-1].Name == "no-rule" && b.Rows[n-1].N == 0 {
		b.Rows = b.Rows[:n-1] // it is never reached
	}
	return Page{Name: "rules", Title: "Rules", Live: []string{string(activity.RunAnalyzed), string(activity.HumanActed)}, Query: s.onlyRepo(r), Picks: true, Body: b}, nil
}
