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

// rulesPage is the page of how often each rule decided.
type rulesPage struct {
	figures eventstream.Figures
	names   Names
	now     func() time.Time
}

func (p rulesPage) section() Section {
	return Section{Links: []Link{{"/rules", "Rules", 50}}, Routes: map[string]Handler{"GET /rules": p.show}}
}

// ruleTexts explain the rules of the router.
var ruleTexts = map[string]string{
	"answered":            "A maintainer's answer decides otherwise than the run alone.",
	"unanswered":          "Every worker was told in turn, and none of them answered: an escalation is opened.",
	"repeat":              "The run was decided before; nothing is counted again.",
	"analyze-failed":      "The analysis itself failed, which says nothing about the change.",
	"stale-commit":        "The run is of a commit that is no longer the head.",
	"stale-run":           "A newer run, or a newer attempt, has been seen.",
	"waiting-for-needs":   "The checkpoint waits for others that it needs.",
	"held-by-escalation":  "An escalation is open; the run waits or is only recorded.",
	"completed-commit":    "The commit has passed already.",
	"matrix-incomplete":   "A leg is green, and others have not reported yet.",
	"run-already-decided": "Another part of the run has decided it.",
	"skipped":             "A maintainer skipped the checkpoint.",
	"suspect":             "The run is green, but tests that failed are gone or skipped, or far fewer ran: a maintainer is asked to accept it.",
	"pass":                "Every test passed and every criterion is met.",
	"incident":            "An incident explains all that failed: the run is on hold until that is over, and nobody is asked.",
	"pre-existing":        "All that failed also fails on the base: no fix attempt is counted, nobody is asked.",
	"group-ended":         "The merge group was made anew, or its branch was deleted: its run says nothing of the pull requests.",
	"group-passed":        "The merge group is green: it starts nothing.",
	"group-on-base":       "All that failed in the merge group also fails on its base: none of its pull requests is to blame.",
	"interaction":         "Each pull request of the merge group passes alone, and together they fail.",
	"group-failed":        "The merge group failed by one of its pull requests, or by how they act together.",
	"design":              "Test and design contradict each other: a maintainer decides.",
	"environment":         "The machine, the network or the like failed: no fix attempt is counted, an escalation is opened.",
	"timeout":             "Time ran out: returned for a fix while attempts are left, then an escalation is opened.",
	"criteria-unmet":      "The run is green but does not meet its criteria, so it is unclear.",
	"reports-unmatched":   "No file matched the globs of the reports of a first run: the check says what to write, and nothing is opened.",
	"unclear":             "There is no evidence for any class: an escalation is opened.",
	"same-commit":         "The commit was returned for a fix already; the fix attempt is updated.",
	"waits-for-approval":  "The run waits for a maintainer to approve it: nothing is decided before its result.",
	"flaky-commit":        "All that failed also passed on the commit: there is nothing to fix.",
	"flake-evidence":      "What failed also passed on one commit: the failed jobs are run again.",
	"budget-reached":      "The budget for this cause is used up: an escalation is opened.",
	"no-progress":         "New commits in a row fail in the same way: an escalation is opened before the limit.",
	"limit-reached":       "The limit of fix attempts is reached: an escalation is opened.",
	"fixable":             "A worker can fix it, and attempts are left: returned for a fix.",
	"no-rule":             "No rule applied: an escalation is opened.",
}

// ruleRow counts the decisions of a rule within the window.
type ruleRow struct {
	Name, Text string
	N, Wrong   int
	Newest     time.Time
	Classes    []eventstream.Rule // the most frequent first
}

// Precision is the share of the decisions that nobody corrected.
func (r ruleRow) Precision() string { return percent(r.N-r.Wrong, r.N) }

// rules is what the page shows.
type rules struct {
	Windows []choice
	Rows    []ruleRow
	N       int
}

// choice is one of several views of a page.
type choice struct {
	Query   template.URL
	Title   string
	Current bool
}

// span is a period of which a page shows figures.
type span struct {
	days  int // 0 is all
	title string
}

var spans = []span{{7, "7 days"}, {30, "30 days"}, {0, "all the time"}}

// window returns the requested span, by default the first.
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

// since returns the begin of a window of days that ends with today; zero if days is 0.
func since(now time.Time, days int) time.Time {
	if days == 0 {
		return time.Time{}
	}
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
}

func (p rulesPage) show(v Viewer, r *http.Request) (Page, error) {
	var b rules
	var shown span
	shown, b.Windows = window(r, spans...)
	list, err := p.figures.Rules(r.Context(), v.Repos, since(p.now(), shown.days))
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
		if !known { // a rule of another version
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
		b.Rows = b.Rows[:n-1] // a rule that never decided
	}
	return Page{Name: "rules", Title: "Rules", Live: []string{string(activity.RunAnalyzed), string(activity.HumanActed)}, Query: RepoQuery(p.names, r), Picks: true, Body: b}, nil
}
