package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// Checkout checks the configuration and the workflows of a checkout, and the globs of the reports
// against its files. now is for what ends on a date.
func Checkout(tree fs.FS, now time.Time) []Finding {
	c := checkout{tree: tree}
	c.configuration(now)
	c.readWorkflows()
	c.checkWorkflows()
	c.reports()
	return c.sorted()
}

// checkout is one look at the files of a repository.
type checkout struct {
	findings
	tree      fs.FS
	config    config.File
	file      string // of the configuration, "" if there is none
	workflows []workflow
}

func (c *checkout) configuration(now time.Time) {
	const check = "configuration"
	wrong := func(err error) {
		var list *config.Error
		if !errors.As(err, &list) {
			c.add(Finding{Level: Error, Check: check, File: c.file, Message: err.Error()})
			return
		}
		for _, p := range list.Problems {
			c.add(Finding{Level: Error, Check: check, File: p.File, Line: p.Line, Message: p.Message})
		}
	}
	var err error
	if c.file, err = config.Find(c.tree); err != nil {
		wrong(err)
		return
	}
	if c.file == "" {
		c.add(Finding{Level: Note, Check: check, Message: "there is no " + config.Path + ": every setting has its default", Remedy: "`switchback init` prints one"})
		return
	}
	data, err := fs.ReadFile(c.tree, c.file)
	if err != nil {
		wrong(err)
		return
	}
	if c.config, err = config.Parse(c.file, data); err != nil {
		wrong(err)
		return
	}
	tooFar, past := c.config.Untimely(now)
	if _, err := analysis.Rules(c.config); err != nil {
		wrong(err)
	} else if len(tooFar) > 0 {
		wrong(errors.New(strings.Join(tooFar, "; ")))
	} else {
		c.add(Finding{Level: OK, Check: check, File: c.file, Message: "valid"})
	}
	for _, text := range slices.Concat(past, config.Unstarted(c.config)) {
		c.add(Finding{Level: Warning, Check: check, File: c.file, Message: text})
	}
}

// routes returns the steps that route runs, with their workflows.
func (c *checkout) routes() []usage {
	var out []usage
	for _, w := range c.workflows {
		for _, u := range w.uses {
			if u.routes() {
				out = append(out, u)
			}
		}
	}
	return out
}

// reports compares the globs of the reports with what the workflows upload, or with the files that are
// there.
func (c *checkout) reports() {
	for _, u := range c.routes() {
		globs, file, line := u.reports, u.workflow, u.line
		if len(globs) == 0 && u.after() {
			globs, file, line = c.config.Reports, c.file, 0
		}
		bad := false
		for _, g := range globs {
			if !doublestar.ValidatePattern(g) {
				bad = true
				c.add(Finding{Level: Error, Check: "reports", File: file, Line: line, Message: fmt.Sprintf("%q is no valid glob", g), Remedy: "close its brackets and braces"})
			}
		}
		switch {
		case bad:
		case len(globs) == 0 && !u.after():
			if u.command == "" || u.command == "step" {
				c.add(Finding{Level: Error, Check: "reports", File: u.workflow, Line: u.line, Message: "the step names no reports, so every run of it is unclear", Remedy: "write the files that the tests write as the input `reports`"})
			}
		case len(globs) == 0:
			c.add(Finding{Level: Note, Check: "reports", File: u.workflow, Line: u.line, Message: "no reports are named: the logs of the jobs are read", Remedy: "a report says more than a log: name those in the artifacts as `reports`"})
		case u.after():
			c.uploaded(u, globs, file, line)
		default:
			c.present(globs, file, line)
		}
	}
}

// present compares globs with the files of the checkout.
func (c *checkout) present(globs []string, file string, line int) {
	for _, g := range globs {
		if path.IsAbs(g) {
			continue
		}
		matches, err := doublestar.Glob(c.tree, strings.TrimPrefix(g, "./"), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		switch {
		case err != nil:
			c.add(Finding{Level: Error, Check: "reports", File: file, Line: line, Message: fmt.Sprintf("%q: %v", g, err)})
		case len(matches) > 0:
			c.add(Finding{Level: OK, Check: "reports", File: file, Line: line, Message: fmt.Sprintf("%q matches %d files of this checkout", g, len(matches))})
		default:
			c.add(Finding{Level: Note, Check: "reports", File: file, Line: line, Message: fmt.Sprintf("%q matches no file of this checkout", g), Remedy: "run the tests as the workflow does, and doctor again"})
		}
	}
}

// uploaded compares globs with what the workflows that are routed upload.
func (c *checkout) uploaded(u usage, globs []string, file string, line int) {
	for _, w := range c.workflows {
		if !slices.Contains(u.of, w.name) {
			continue
		}
		if len(w.uploads) == 0 {
			c.add(Finding{Level: Warning, Check: "reports", File: w.file, Message: "the workflow uploads no artifact, so the logs of its jobs are read", Remedy: "upload the report of the tests with actions/upload-artifact and `if: always()`"})
			continue
		}
		matched := false
		var names []string
		for _, up := range w.uploads {
			matched = matched || up.mayMatch(globs)
			names = append(names, up.String())
		}
		if matched {
			c.add(Finding{Level: OK, Check: "reports", File: file, Line: line, Message: fmt.Sprintf("%s may match what %s uploads", strings.Join(globs, ", "), w.name)})
			continue
		}
		c.add(Finding{Level: Error, Check: "reports", File: file, Line: line, Message: fmt.Sprintf("%s matches nothing that %s uploads: %s", strings.Join(globs, ", "), w.name, strings.Join(names, ", ")),
			Remedy: fmt.Sprintf("write `reports: %q`", w.uploads[0].glob())})
	}
}

// missingNames checks the names of workflows that a trigger names.
func (c *checkout) missingNames(u usage) {
	var known []string
	for _, w := range c.workflows {
		if w.file != u.workflow {
			known = append(known, w.name)
		}
	}
	for _, name := range u.of {
		if !slices.Contains(known, name) {
			remedy := "write the workflow that runs the tests"
			if len(known) > 0 {
				remedy = suggest.Hint(name, known)
			}
			c.add(Finding{Level: Error, Check: "workflows", File: u.workflow, Line: u.triggerLine, Message: fmt.Sprintf("on: workflow_run names the workflow %q, and none has that name", name), Remedy: remedy})
		}
	}
}
