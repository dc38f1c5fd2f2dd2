package analysis

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Nearby is what there is where no glob of the reports matches.
type Nearby struct {
	Place   string   // where the globs look, such as "the workspace"
	Reports []string // paths that look like reports, the likeliest first
	Others  []string // some of the other files
	Remedy  string   // what to do where nothing looks like a report
}

// reportName are the names that runners, and people, give to reports.
var reportName = regexp.MustCompile(`(?i)(junit|report|result|test|spec|surefire|ctrf|nunit|xunit|jest|mocha|cypress|playwright|nextest|phpunit)[^/]*(/[^/]*)?\.(xml|json|jsonl|ndjson|trx|tap|sarif)$|\.(trx|tap)$`)

// NamedLikeReport reports whether a path looks like that of a report.
func NamedLikeReport(name string) bool { return reportName.MatchString(name) }

// mostNearby is how many files of a kind are named.
const mostNearby = 3

// unmatched says what to do where the globs match no source, "" if one is matched or none is looked
// for.
func (in Input) unmatched() string {
	if len(in.Looked) == 0 {
		return ""
	}
	for _, s := range in.Sources {
		if s.JobLog == "" {
			return ""
		}
	}
	var n Nearby
	if in.Nearby != nil {
		n = in.Nearby()
	}
	if n.Place == "" {
		return "no file matches `reports`"
	}
	text := "no file of " + n.Place + " matches `reports`"
	switch {
	case len(n.Reports) == 1:
		text += fmt.Sprintf("; %s looks like a report", n.Reports[0])
	case len(n.Reports) > 1:
		text += fmt.Sprintf("; these look like reports: %s", some(n.Reports))
	case len(n.Others) > 0:
		text += fmt.Sprintf(", and none looks like a report: %s", some(n.Others))
	}
	if len(n.Reports) == 0 {
		return text + ". " + n.Remedy
	}
	return text + ". Write `reports: " + globOf(n.Reports) + "`"
}

// some lists the first of names, and how many more there are.
func some(names []string) string {
	text := strings.Join(names[:min(len(names), mostNearby)], ", ")
	if n := len(names) - mostNearby; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// globOf returns a glob that matches files: a path, the files of one folder, or those of an extension.
func globOf(files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	dir, ext := path.Dir(files[0]), path.Ext(files[0])
	for _, f := range files[1:] {
		if path.Ext(f) != ext {
			return files[0]
		}
		for dir != "." && path.Dir(f) != dir && !strings.HasPrefix(f, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	glob := "*" + ext
	for _, f := range files {
		if path.Dir(f) != dir {
			glob = "**/*" + ext
		}
	}
	return path.Join(dir, glob)
}
