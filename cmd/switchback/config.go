package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
)

func configCommand(s streams) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Check the configuration, or print its JSON Schema",
		RunE: func(*cobra.Command, []string) error { return usage("the subcommand is missing; name check or schema") }}
	c.AddCommand(&cobra.Command{
		Use:   "check [FILE]",
		Short: "Validate a configuration, by default " + config.Path,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := config.Find(os.DirFS("."))
			switch {
			case len(args) == 1:
				name = args[0]
			case err != nil:
				return failed(err)
			case name == "":
				return failed(fmt.Errorf("there is no %s here; go to the root of the repository, name the file, or make one with `switchback init`", config.Path))
			}
			f, err := loadConfig(name)
			if err != nil {
				return err
			}
			if _, err := analysis.Rules(f); err != nil {
				return failed(fmt.Errorf("%s: %w", name, err))
			}
			tooFar, past := f.Untimely(time.Now())
			if len(tooFar) > 0 {
				return failed(fmt.Errorf("%s: %s", name, strings.Join(tooFar, "\n"+name+": ")))
			}
			for _, p := range past {
				fmt.Fprintf(s.out, "%s: %s\n", name, p)
			}
			for _, w := range config.Unstarted(f) {
				fmt.Fprintf(s.out, "%s: warning: %s\n", name, w)
			}
			fmt.Fprintf(s.out, "%s is valid\n", name)
			return nil
		},
	}, &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b, err := config.Schema()
			if err != nil {
				return failed(err)
			}
			_, err = s.out.Write(b)
			return err
		},
	})
	return c
}

func loadConfig(name string) (config.File, error) {
	data, err := os.ReadFile(name)
	switch st, e := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return config.File{}, failed(noFile(name))
	case e == nil && st.IsDir():
		return config.File{}, failed(fmt.Errorf("%s is a folder; name the configuration file", name))
	case err != nil:
		return config.File{}, failed(err)
	}
	f, err := config.Parse(name, data)
	if err != nil {
		return config.File{}, failed(err)
	}
	return f, nil
}
