package web

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/truncate"
)

func repoOf(key string) string { return activity.Repo(key) }

// funcs returns the functions of the templates of all sections.
func funcs(l links, now func() time.Time, navigation []Link) template.FuncMap {
	return template.FuncMap{
		"nav":      func() []Link { return navigation },
		"time":     moment,
		"ago":      func(t time.Time) string { return routing.ShortDuration(now().Sub(t)) },
		"state":    stateName,
		"decision": decisionName,
		"class":    func(c routing.Class) string { return words(OneLine(string(c))) },
		"casePath": l.casePath,
		"github":   func() string { return l.host },
		"duration": routing.ShortDuration,
		"subject":  l.subject,
		"repo":     l.names.Now,
		"percent":  func(part, whole int) string { return percent(part, whole) },
		"join":     strings.Join,
		"short":    truncate.ShortSHA,
		"line":     OneLine,
		"some":     some,
		"anchor":   anchor,
		"web":      web,
		"text":     block,
		"excerpt":  excerpt,
		"title":    failureTitle,
		"result":   resultName,
		"cluster":  clusterTitle,
		"every":    func(k, n int) bool { return n%k == 0 },
		"issue":    l.issueHref,
		"left":     howText,
		"incident": incidentName,

		"incidentClass": incidentClass, "incidentPath": l.incidentPath,

		"counted": func(d routing.Decision) bool { return d.Kind == routing.KindRetry || d.Kind == routing.KindMaxRetry },
	}
}

// moment shows a time in UTC, which the script converts to the reader's zone.
func moment(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.Format(time.RFC3339), t.Format("2006-01-02 15:04 UTC"))) //nolint:gosec // digits alone
}

// stateName names a state for people.
func stateName(s eventstream.State) string {
	switch s {
	case eventstream.Escalated:
		return "waits for a human"
	case eventstream.Paused:
		return "paused"
	case eventstream.InProgress:
		return "being worked on"
	case eventstream.Waiting:
		return "waits for others"
	case eventstream.Completed:
		return "passed"
	}
	return string(s)
}

// decisionName names a decision for people.
func decisionName(k routing.Kind) string {
	switch k {
	case routing.KindPass:
		return "passed"
	case routing.KindRetry:
		return "returned for a fix"
	case routing.KindRerun:
		return "failed jobs run again"
	case routing.KindIncident:
		return "on hold for an incident"
	case routing.KindPreExisting:
		return "also failing on the base"
	case routing.KindInteraction:
		return "merge group: fails only together"
	case routing.KindGroupFailed:
		return "merge group failed"
	case routing.KindNone:
		return "recorded only"
	case routing.KindDesign:
		return "escalated: design"
	case routing.KindEnv:
		return "escalated: environment"
	case routing.KindTimeout:
		return "escalated: timeout"
	case routing.KindUnclear:
		return "escalated: unclear"
	case routing.KindMaxRetry:
		return "escalated: no fix attempts left"
	case routing.KindSuspect:
		return "green, to be accepted"
	case routing.KindNoProgress:
		return "escalated: no progress"
	case routing.KindNoAnswer:
		return "escalated: no worker answered"
	}
	return string(k)
}

// words writes LOGIC_ERROR as logic error.
func words(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", " ")) }

func percent(part, whole int) string {
	if whole == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%d%%", int(math.Floor(100*float64(part)/float64(whole))))
}

// resultName names a result for people.
func resultName(r routing.Result) string {
	switch r {
	case routing.Pass:
		return "passed"
	case routing.Fail:
		return "failed"
	case routing.TimedOut:
		return "ran out of time"
	case routing.Unclear:
		return "unclear"
	case routing.Awaiting:
		return "waits for approval"
	case routing.Errored:
		return "could not be analyzed"
	}
	return OneLine(string(r))
}

// failureTitle returns the title of a failure.
func failureTitle(f routing.Failure) string {
	return orElse(OneLine(f.Name), orElse(OneLine(f.Suite), orElse(OneLine(f.Message), "without a name")))
}

// excerpt formats a piece of code with line numbers and a mark at the failing line.
func excerpt(e *routing.Excerpt) string {
	var b strings.Builder
	for i, l := range e.Lines {
		at := " "
		if e.Start+i == e.Mark {
			at = ">"
		}
		fmt.Fprintf(&b, "%s %5d  %s\n", at, e.Start+i, l)
	}
	return block(b.String())
}
