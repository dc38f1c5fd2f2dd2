package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/action"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/surveyview"
	"github.com/switchback-ci/switchback/bot/surveys"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/survey"
)

type surveyFlags struct {
	result, root, repo, ledger, config, goal, level, text, by string
	accept                                                    []string
}

// surveyed is what the subcommands print of a survey.
type surveyed struct {
	ID       string               `json:"id"`
	State    string               `json:"state"` // open, answered or timed_out
	Deadline time.Time            `json:"deadline"`
	Issue    int                  `json:"issue,omitempty"`
	URL      string               `json:"url,omitempty"`
	Result   survey.Result        `json:"result"`
	Audit    string               `json:"audit"`
	Feedback *survey.UserFeedback `json:"user_feedback,omitempty"`
	Goal     *survey.Goal         `json:"goal,omitempty"`
	Title    string               `json:"title,omitempty"`
	Body     string               `json:"body,omitempty"`
}

func surveyCommand(s streams, getenv func(string) string) *cobra.Command {
	var f surveyFlags
	c := &cobra.Command{Use: "survey", Short: "Ask people about the result of an optimization cycle",
		RunE: func(*cobra.Command, []string) error {
			return usage("the subcommand is missing; name open, answer, reconcile or status")
		}}
	open := &cobra.Command{
		Use:   "open --result FILE [--ledger PATH]",
		Short: "Open a survey about a result, on GitHub or in a ledger on disk",
		Long: `Check a result and that its report exists, record the survey, and open the issue that asks. With
--ledger nothing leaves this machine and the issue is printed. Without it GITHUB_TOKEN is used, in
GITHUB_REPOSITORY or --repo.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runSurveyOpen(c.Context(), s, f, getenv) },
	}
	open.Flags().StringVar(&f.result, "result", "", "the JSON file of the result (required)")
	open.Flags().StringVar(&f.root, "root", ".", "the directory that report_path of the result is relative to")
	answer := &cobra.Command{
		Use:   "answer SURVEY --level keep|raise|lower --ledger PATH",
		Short: "Record the answer to a survey in a ledger on disk",
		Args:  cobra.ExactArgs(1),
		RunE:  func(c *cobra.Command, args []string) error { return runSurveyAnswer(c.Context(), s, f, args[0]) },
	}
	fl := answer.Flags()
	fl.StringVar(&f.level, "level", "", "keep, raise or lower (required)")
	fl.StringSliceVar(&f.accept, "accept", nil, "the accepted suggestions, by number or id, separated by commas")
	fl.StringVar(&f.text, "text", "", "further remarks for the next cycle")
	fl.StringVar(&f.by, "by", username(), "who answered")
	fl.StringVar(&f.goal, "goal", "", "write the goal of the next cycle to this file")
	reconcile := &cobra.Command{
		Use:   "reconcile --ledger PATH",
		Short: "Time out the surveys that nobody answered, in a ledger on disk",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := localSurveys(c.Context(), f, true)
			if err != nil {
				return err
			}
			ps, err := d.Reconcile(c.Context())
			if err != nil {
				return failed(err)
			}
			return printSurveys(s, ps)
		},
	}
	status := &cobra.Command{
		Use:   "status --ledger PATH",
		Short: "Print the surveys of a ledger on disk, with their goals",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := localSurveys(c.Context(), f, true)
			if err != nil {
				return err
			}
			reg, err := d.State(c.Context())
			if err != nil {
				return failed(err)
			}
			return printSurveys(s, reg.Surveys)
		},
	}
	for _, sub := range []*cobra.Command{open, answer, reconcile, status} {
		sub.Flags().StringVar(&f.ledger, "ledger", "", ledgerHelp)
		sub.Flags().StringVar(&f.repo, "repo", "", "the repository, owner/name; default: GITHUB_REPOSITORY, or local/local with --ledger")
		sub.Flags().StringVar(&f.config, "config", "", "the configuration file")
		c.AddCommand(sub)
	}
	return c
}

func runSurveyOpen(ctx context.Context, s streams, f surveyFlags, getenv func(string) string) error {
	if f.result == "" {
		return usage("--result is missing; name the JSON file of the result")
	}
	if f.ledger == "" {
		return surveyOnGitHub(ctx, s, f, getenv)
	}
	res, err := action.ReadResult(f.result, f.root)
	if err != nil {
		return failed(err)
	}
	d, err := localSurveys(ctx, f, false)
	if err != nil {
		return err
	}
	p, err := d.Open(ctx, res)
	if err != nil {
		return failed(err)
	}
	out := shown(p)
	out.Title, out.Body = surveyview.Title(p, d.Render), string(surveyview.Body(p, d.Render))
	return printJSON(s, out)
}

// surveyOnGitHub opens the survey as the Action does in a workflow.
func surveyOnGitHub(ctx context.Context, s streams, f surveyFlags, getenv func(string) string) error {
	file, err := filepath.Abs(f.result)
	if err != nil {
		return failed(err)
	}
	root, err := filepath.Abs(f.root)
	if err != nil {
		return failed(err)
	}
	set := map[string]string{"INPUT_COMMAND": "survey", "INPUT_RESULT": file, "GITHUB_WORKSPACE": root}
	if f.repo != "" {
		set["GITHUB_REPOSITORY"] = f.repo
	}
	if f.config != "" {
		set["INPUT_CONFIG"] = f.config // in the repository
	}
	code := action.Run(ctx, action.Env{Stdout: s.out, Stderr: s.err, Version: versionString(), Getenv: func(k string) string {
		if v, ok := set[k]; ok {
			return v
		}
		return getenv(k)
	}})
	if code != 0 {
		return &exitError{code: code}
	}
	return nil
}

func runSurveyAnswer(ctx context.Context, s streams, f surveyFlags, id string) error {
	d, err := localSurveys(ctx, f, true)
	if err != nil {
		return err
	}
	reg, err := d.State(ctx)
	if err != nil {
		return failed(err)
	}
	p, ok := reg.Survey(id)
	if !ok {
		return failed(fmt.Errorf("there is no survey %q; `switchback survey status --ledger %s` lists the ids", id, named(f.ledger)))
	}
	a, err := p.ParseAnswer(f.level, f.accept, f.text)
	if err != nil {
		return usage("%w; set --level to keep, raise or lower, and name suggestions by number or id", err)
	}
	now := time.Now()
	out, p, err := d.Answer(ctx, id, survey.Said{Answer: a, By: f.by, Source: "cli/" + now.UTC().Format(time.RFC3339Nano), At: now})
	switch {
	case err != nil:
		return failed(err)
	case out == survey.Second:
		return failed(fmt.Errorf("survey %s was answered by %s before; that answer counts", id, p.Answered.By))
	case out == survey.Late:
		return failed(fmt.Errorf("survey %s timed out at %s; nothing was changed", id, p.Deadline().UTC().Format(time.RFC3339)))
	}
	if f.goal != "" {
		if err := os.WriteFile(f.goal, p.Goal.JSON(), 0o644); err != nil {
			return failed(err)
		}
	}
	return printJSON(s, shown(p))
}

// localSurveys handles the surveys of a ledger on disk, and posts nothing.
func localSurveys(ctx context.Context, f surveyFlags, exists bool) (*surveys.Service, error) {
	if f.ledger == "" {
		return nil, usage("--ledger is missing; name a ledger on disk (on GitHub the Action does this)")
	}
	cfg, err := readConfig(f.config)
	if err != nil {
		return nil, err
	}
	open := openLedger
	if exists {
		open = openExisting
	}
	led, err := open(ctx, f.ledger)
	if err != nil {
		return nil, err
	}
	repo := f.repo
	if repo == "" {
		repo = "local/local"
	}
	return &surveys.Service{
		Ledger: led, Repo: repo, Config: cfg, Owner: "command line", Now: time.Now,
		Render: render.Options{Repo: repo, Language: render.Language(cfg.Language), Redact: redact.Text, Handles: cfg.Handles()},
	}, nil
}

func shown(p survey.Survey) surveyed {
	out := surveyed{ID: p.ID, State: "open", Deadline: p.Deadline().UTC(), Issue: p.Number, URL: p.URL, Result: p.Result, Audit: p.Audit, Goal: p.Goal}
	if p.TimedOut {
		out.State = "timed_out"
	}
	if p.Answered != nil {
		out.State, out.Feedback = "answered", &p.Answered.Feedback
	}
	return out
}

func printSurveys(s streams, ps []survey.Survey) error {
	out := []surveyed{}
	for _, p := range ps {
		out = append(out, shown(p))
	}
	return printJSON(s, out)
}
