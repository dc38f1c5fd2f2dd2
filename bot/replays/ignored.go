package replays

import (
	"reflect"
	"strings"

	"github.com/switchback-ci/switchback/bot/config"
)

// Why a key is not replayed.
const (
	noLog    = "how a failure is classified is recorded with the run; the log that the rules would read is not kept"
	noReport = "what a run left behind is read before it is recorded, and not kept"
	noChoice = "which runs and reviews are looked at is decided before they are recorded"
	noShared = "what a run shares with others, and the incident that explains it, is recorded with the run"
	noMatter = "it changes who is told and how, or when, and no decision"
)

// unseen are the keys that recorded runs do not show. All others are replayed.
var unseen = map[string]string{
	"rules": noLog, "reports": noReport, "workflows": noChoice, "acts": noChoice, "incidents": noShared,
	"version": noMatter, "language": noMatter, "retry_delay": noMatter, "max_actions": noMatter, "comment": noMatter, "handoff": noMatter,
	"escalation": noMatter, "feedback": noMatter, "ports": noMatter, "answers": noMatter, "quarantine_days": noMatter,
}

// NotReplayed returns the keys that differ between two configurations and that
// recorded runs do not show. Without an old one, they are those of the new one
// that decide how a run is recorded.
func NotReplayed(old *config.File, now config.File) []Ignored {
	out := []Ignored{}
	was := config.File{}
	if old != nil {
		was = *old
	}
	a, b := reflect.ValueOf(was), reflect.ValueOf(now)
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
		why, known := unseen[name]
		if !known || old == nil && why == noMatter || reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		out = append(out, Ignored{name, why})
	}
	if !reflect.DeepEqual(reportRequired(was), reportRequired(now)) {
		out = append(out, Ignored{"criteria.require_report", noReport})
	}
	if was.Review.Checkpoint != now.Review.Checkpoint || !reflect.DeepEqual(was.Review.Reviewers, now.Review.Reviewers) {
		out = append(out, Ignored{"review.checkpoint, review.reviewers", noChoice})
	}
	return out
}

// reportRequired lists where a report is not required, by checkpoint.
func reportRequired(f config.File) map[string]bool {
	out := map[string]bool{"": f.Criteria.RequireReport == nil || *f.Criteria.RequireReport}
	for name := range f.Checkpoints {
		if c := f.CriteriaOf(name); c.RequireReport != nil && *c.RequireReport != out[""] {
			out[name] = *c.RequireReport
		}
	}
	return out
}
