package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/scaffold"
	"github.com/switchback-ci/switchback/routing/suggest"
)

func initCommand(s streams) *cobra.Command {
	var write, force bool
	_, release, _ := strings.Cut(actionVersion, "@")
	o := scaffold.Options{Action: "switchback-ci/switchback@" + release, Version: release}
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write the first workflows and the configuration of a repository",
		Long: `Detect what runs the tests of a repository, and print a workflow that runs them without any right to
write, a workflow that routes what came of it, and .github/switchback.yml; --write writes them. All
files are written or none, and none over one that is there, except with --force. Nothing is asked.

It knows go.mod, package.json (Jest, Vitest, Mocha, Playwright, node:test, any other test script),
pytest, Gradle, Maven, Cargo, .NET, PHPUnit, Pest, RSpec and CTest, also several in one repository:
folders up to four levels down, without those of vendored or built files. Where a workflow runs the
tests already, name it with --existing: its artifacts, or else its logs, are read.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return runInit(s, dir, o, write, force)
		},
	}
	c.Flags().BoolVar(&write, "write", false, "write the files")
	c.Flags().BoolVar(&force, "force", false, "write over files that are there already")
	c.Flags().StringArrayVar(&o.Existing, "existing", nil, "the `name` of a workflow that runs the tests already; only what routes it is made")
	return c
}

func runInit(s streams, dir string, o scaffold.Options, write, force bool) error {
	if force && !write {
		return usage("--force is of no use without --write")
	}
	if err := checkRoot(dir); err != nil {
		return err
	}
	found, err := scaffold.Detect(os.DirFS(dir))
	if err != nil {
		return failed(err)
	}
	if err := checkExisting(dir, found, o.Existing); err != nil {
		return err
	}
	for _, why := range found.Unread {
		fmt.Fprintln(s.err, "not read:", why)
	}
	if len(o.Existing) == 0 && len(found.Projects) == 0 {
		return failed(fmt.Errorf("nothing below %s shows how its tests run; init looks for go.mod, package.json, pytest, Gradle, Maven, Cargo, .NET, PHPUnit, RSpec and CTest.\n"+
			"If a workflow runs them already, name it with --existing; else take over the workflows of docs/start.md with your own command", dir))
	}
	files, err := scaffold.Files(found, o)
	if err != nil {
		return failed(err)
	}
	if len(o.Existing) == 0 {
		fmt.Fprintf(s.err, "found:\n%s", found.Summary())
	}
	if found.Cut {
		fmt.Fprintln(s.err, "note: the repository holds more than init looks at; add what is missing by hand")
	}
	if !write {
		return printFiles(s, found, files)
	}
	if err := scaffold.Write(dir, files, force); err != nil {
		var there *scaffold.ExistsError
		if errors.As(err, &there) {
			err = fmt.Errorf("%w; --force writes over what is there, and without --write the files are only printed%s", err, existingHint(found, there.Files))
		}
		return failed(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	fmt.Fprintf(s.out, "wrote %s\n\nnext:\n%s", strings.Join(names, ", "), nextSteps(files))
	return nil
}

// checkRoot returns a usage error unless dir is a folder.
func checkRoot(dir string) error {
	switch st, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return usage("there is no folder %s; name the root of the repository", dir)
	case err != nil:
		return usage("%w", err)
	case !st.IsDir():
		return usage("%s is a file; name the root of the repository", dir)
	}
	return nil
}

// checkExisting checks that the workflows of --existing are there.
func checkExisting(dir string, found scaffold.Found, existing []string) error {
	var known []string
	for _, name := range found.Workflows {
		known = append(known, name)
	}
	slices.Sort(known)
	for _, name := range existing {
		if len(known) == 0 {
			return usage("--existing is %q; there is no workflow in %s/.github/workflows", name, dir)
		}
		if !slices.Contains(known, name) {
			return usage("--existing is %q; no workflow has that name; %s", name, suggest.Hint(name, known))
		}
	}
	return nil
}

// existingHint names the workflow that is in the way, if --existing would keep it.
func existingHint(found scaffold.Found, there []string) string {
	for _, f := range there {
		if name := found.Workflows[f]; name != "" && f != scaffold.RouteWorkflow {
			return fmt.Sprintf("; to keep %s, say --existing %q", f, name)
		}
	}
	return ""
}

// printFiles prints the files, each behind a comment with its path.
func printFiles(s streams, found scaffold.Found, files []scaffold.File) error {
	for i, f := range files {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		fmt.Fprintf(s.out, "# --- %s\n%s", f.Path, f.Text)
	}
	if there := found.Conflicts(files); len(there) > 0 {
		fmt.Fprintf(s.err, "note: %s%s\n", &scaffold.ExistsError{Files: there}, existingHint(found, there))
	}
	fmt.Fprintln(s.err, "nothing was written; switchback init --write writes these files")
	return nil
}

func nextSteps(files []scaffold.File) string {
	return fmt.Sprintf(`  1. Read %s: are these the commands that run your tests?
  2. Run switchback doctor --offline, which checks what was written.
  3. Merge the files into the default branch: the second workflow runs from there alone.
  4. Open a pull request with a test that fails. It gets a comment with what failed, and why.
`, files[0].Path)
}
