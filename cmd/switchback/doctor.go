package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/doctor"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/redact"
)

func doctorCommand(s streams, getenv func(string) string) *cobra.Command {
	var repo, output string
	var offline bool
	c := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Look for what keeps Switchback from working in a repository",
		Long: `Check a checkout: the configuration, the workflows that use the Action with their permissions and
events, and the globs of the reports. Unless --offline is given, ask GitHub too: whether it can be
reached, the clock, what the token may do, the settings of the repository, and the rules for the
branch of the ledger. Nothing is written. Each finding says what to do.

The token is that of GITHUB_TOKEN or GH_TOKEN; its permissions are those of a person or an App. What
a workflow's own token may do stands in the workflow.

Exit codes: 0 nothing stops work, 1 a finding stops work, 2 wrong usage.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf("-o", output, "text", "json"); err != nil {
				return err
			}
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return runDoctor(c.Context(), s, getenv, dir, repo, output, offline)
		},
	}
	c.Flags().StringVar(&repo, "repo", "", "the repository on GitHub, as OWNER/NAME; default: GITHUB_REPOSITORY, else the remote origin")
	c.Flags().BoolVar(&offline, "offline", false, "check the checkout alone")
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return c
}

func runDoctor(ctx context.Context, s streams, getenv func(string) string, dir, repo, output string, offline bool) error {
	if err := checkRoot(dir); err != nil {
		return err
	}
	if offline && repo != "" {
		return usage("--repo is of no use with --offline")
	}
	tree := os.DirFS(dir)
	all := doctor.Checkout(tree, time.Now())
	if !offline {
		if repo = cmp.Or(repo, getenv("GITHUB_REPOSITORY"), originOf(tree)); repo == "" {
			return usage("--repo is missing, and %s has no remote origin that tells; name the repository as OWNER/NAME, or check the checkout alone with --offline", dir)
		}
		r, err := github.ParseRepo(repo)
		if err != nil {
			return usage("--repo is %q; name the repository as OWNER/NAME", repo)
		}
		token := cmp.Or(getenv("GITHUB_TOKEN"), getenv("GH_TOKEN"))
		redact.Hide(token)
		all = append(all, doctor.GitHub(ctx, doctor.API{URL: cmp.Or(getenv("GITHUB_API_URL"), github.DefaultURL), Token: token, Repo: r.String(), HTTP: &http.Client{Timeout: 20 * time.Second}, Now: time.Now})...)
	}
	if output == "json" {
		if err := printJSON(s, all); err != nil {
			return err
		}
	} else {
		for _, f := range all {
			fmt.Fprintln(s.out, markdown.Printable(f.String()))
		}
	}
	if doctor.Stops(all) {
		return &exitError{code: 1, err: errors.New("something above keeps Switchback from working")}
	}
	return nil
}

var (
	remote    = regexp.MustCompile(`(?ms)^\[remote "origin"\]\s*$(.*?)(?:^\[|\z)`)
	remoteURL = regexp.MustCompile(`(?m)^\s*url\s*=\s*\S*?[:/]([^/:\s]+/[^/\s]+?)(?:\.git)?/?\s*$`)
)

// originOf returns the repository of the remote origin of a checkout, "" if it has none.
func originOf(checkout fs.FS) string {
	data, err := fs.ReadFile(checkout, ".git/config")
	if err != nil {
		return ""
	}
	m := remote.FindStringSubmatch(string(data))
	if m == nil {
		return ""
	}
	if u := remoteURL.FindStringSubmatch(m[1]); u != nil {
		return u[1]
	}
	return ""
}
