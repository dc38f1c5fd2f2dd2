package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchback-ci/switchback/routing/suggest"
)

// What cobra and pflag say of a command line that they do not understand.
var (
	unknownCommand = regexp.MustCompile(`^unknown command "(.*)" for "(.*)"`)
	unknownFlag    = regexp.MustCompile(`^unknown flag: --(.*)$`)
	invalidValue   = regexp.MustCompile(`(?s)^invalid argument "(.*)" for "(?:-., )?(--[^"]+)" flag: (.*)$`)
)

// misused completes cobra's error about a command line: with the command that was meant, if one is
// near, and where to read on.
func misused(c *cobra.Command, err error) string {
	m := unknownCommand.FindStringSubmatch(err.Error())
	if m == nil {
		return fmt.Sprintf("%v; see %s --help", err, c.CommandPath())
	}
	var names []string
	for _, x := range c.Commands() {
		if x.IsAvailableCommand() {
			names = append(names, x.Name())
		}
	}
	if near, ok := suggest.Close(m[1], names); ok && likely(m[1], near) {
		return fmt.Sprintf("%s; did you mean %q?", m[0], near)
	}
	return fmt.Sprintf("%s; see %s --help", m[0], c.CommandPath())
}

// likely reports whether word is rather a misspelt name than another word.
func likely(word, name string) bool { return 3*suggest.Distance(word, name) <= max(len(word), 3) }

// flagMistake says what is wrong with a flag: it is not known, or its value is of another type; and
// where to read on.
func flagMistake(c *cobra.Command, err error) string {
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near, ok := suggest.Close(m[1], names); ok && likely(m[1], near) {
			return fmt.Sprintf("%v; did you mean --%s?", err, near)
		}
	}
	help := "; see " + c.CommandPath() + " --help"
	m := invalidValue.FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error() + help
	}
	wanted := ""
	if f := c.Flags().Lookup(strings.TrimPrefix(m[2], "--")); f != nil {
		wanted = map[string]string{"int": "a whole number", "uint64": "a whole number", "intSlice": "whole numbers, separated by commas", "bool": "true or false", "duration": "a duration, such as 10s or 2m", "float64": "a number"}[f.Value.Type()]
	}
	if wanted == "" {
		return fmt.Sprintf("%s is %q: %s", m[2], m[1], m[3]) + help
	}
	return fmt.Sprintf("%s is %q; it must be %s", m[2], m[1], wanted) + help
}
