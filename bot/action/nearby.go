package action

import (
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Bounds of the search for reports.
const (
	mostWalked  = 100_000  // files and folders
	mostSniffed = 200      // files that are opened
	sniffed     = 64 << 10 // bytes that are read of each
)

// document and console are the names of files that may hold a report, or the output of a runner.
var (
	document = regexp.MustCompile(`(?i)\.(xml|json|jsonl|ndjson|trx|tap|sarif)$`)
	console  = regexp.MustCompile(`(?i)(test|spec|report|result)[^/]*\.(log|txt|out)$`)
)

// nearby returns the files of a workspace that hold tests, the newest first: reports are younger than
// the checkout.
func nearby(root string) analysis.Nearby {
	n := analysis.Nearby{Place: "the workspace",
		Remedy: "Let the tests write their report, or their output, to a file before this step, and name it in `reports`"}
	if root == "" {
		root = "."
	}
	tree := os.DirFS(root)
	type candidate struct {
		name string
		at   time.Time
	}
	var all []candidate
	walked := 0
	_ = fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if walked++; walked > mostWalked {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil //nolint:nilerr // an unreadable folder holds no report that could be read
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "vendor", ".venv", "testdata", "fixtures"}, d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular() && (document.MatchString(p) || console.MatchString(p)):
			if st, err := d.Info(); err == nil {
				all = append(all, candidate{p, st.ModTime()})
			}
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b candidate) int { return b.at.Compare(a.at) })
	for _, c := range all[:min(len(all), mostSniffed)] {
		if holdsTests(tree, c.name) {
			n.Reports = append(n.Reports, path.Clean(c.name))
		}
	}
	return n
}

// holdsTests reports whether tests stand at the beginning of a file.
func holdsTests(tree fs.FS, name string) bool {
	file, err := tree.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	c := testreport.NewCollector(testreport.Limits{})
	info, _ := testreport.Read(io.LimitReader(file, sniffed), testreport.Options{}, c) // a document that is cut there is an error
	rep := c.Finish(info)
	return rep.Counts.Tests+rep.Counts.Failed > 0
}
