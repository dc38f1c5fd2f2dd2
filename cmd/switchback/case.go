package main

import (
	"context"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/quarantines"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// caseFlags are those of every action on a case.
type caseFlags struct{ ledger, key, checkpoint, config, by string }

// caseCommand has a subcommand for each command of the table that acts on a case.
func caseCommand(s streams) *cobra.Command {
	var f caseFlags
	var names []string
	c := &cobra.Command{
		Use:   "case ACTION --case KEY",
		Short: "Record what a person decided about a case",
		Long: `Record in a ledger on disk what a person decided about a case, as a command in a comment on
GitHub does. The actions are those of ` + "`/switchback help`" + `.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("the action is missing; name one of %s", strings.Join(names, ", "))
			}
			return usage("unknown action %q; %s", args[0], suggest.Hint(args[0], names))
		},
	}
	fl := c.PersistentFlags()
	fl.StringVar(&f.ledger, "ledger", ".switchback/ledger", ledgerHelp)
	fl.StringVar(&f.key, "case", "", "the key of the case, such as acme/app#12 (required)")
	fl.StringVar(&f.checkpoint, "checkpoint", "ci", "the checkpoint of the case")
	fl.StringVar(&f.config, "config", "", "the configuration file")
	fl.StringVar(&f.by, "by", username(), "who decided")
	for _, spec := range answers.Table() {
		if spec.OnCase() {
			names = append(names, spec.Name)
			c.AddCommand(actionOnCase(s, &f, spec))
		}
	}
	return c
}

func actionOnCase(s streams, f *caseFlags, spec answers.Spec) *cobra.Command {
	values := map[*answers.Flag]*string{}
	c := &cobra.Command{
		Use:     spec.Name + " --case KEY",
		Aliases: spec.Aliases,
		Short:   upperFirst(render.CommandHelp(spec, render.Options{})),
		Args:    cobra.NoArgs,
	}
	for _, a := range spec.Args {
		if a.Flag != nil {
			values[a.Flag] = c.Flags().String(a.Flag.Name, a.Flag.Default, a.Flag.Usage)
		}
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.key == "" {
			return usage("--case is missing; name the case, such as acme/app#12")
		}
		if !caseRef.MatchString(f.key) {
			return notACase("--case", f.key)
		}
		cmd := spec.Command()
		for flag, value := range values {
			if err := flag.Set(&cmd, *value); err != nil {
				return usage("--%s is %s; %w", flag.Name, *value, err)
			}
		}
		cfg, err := readConfig(f.config)
		if err != nil {
			return err
		}
		led, err := openExisting(c.Context(), f.ledger)
		if err != nil {
			return err
		}
		known, err := ledger.Case(led, f.key).Load(c.Context())
		if err != nil {
			return failed(err)
		}
		if len(known.Checkpoints) == 0 {
			return failed(noCase(f.key, f.ledger))
		}
		e := cmd.Event(f.checkpoint)
		e.By = f.by
		if e, err = enterQuarantine(c.Context(), led, cfg, f.key, e); err != nil {
			return failed(err)
		}
		rec, err := (&pipeline.Pipeline{Ledger: led}).Act(c.Context(), f.key, e, policies(cfg, f.key))
		if err != nil {
			return failed(err)
		}
		fmt.Fprint(s.out, render.Details(rec.Case, render.Options{Redact: redact.Text}))
		return nil
	}
	return c
}

// enterQuarantine records the quarantine of a test for the whole repository, where the case is of one.
func enterQuarantine(ctx context.Context, led ledger.Ledger, cfg config.File, key string, e routing.HumanActed) (routing.HumanActed, error) {
	repo := repositoryOf(key)
	if e.Action != routing.HumanQuarantine || repo == "" {
		return e, nil
	}
	c, err := ledger.Case(led, key).Load(ctx)
	if err != nil {
		return e, err
	}
	s := &quarantines.Service{Ledger: led, Repo: repo, Config: cfg, Now: time.Now}
	e, _, err = s.Enter(ctx, c, routing.Case{}, e)
	return e, err
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func username() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
