package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Help of every command fits into helpWidth columns, and says something of every command and flag.
func TestHelp(t *testing.T) {
	t.Parallel()
	visited := 0
	var visit func(path []string, out string)
	visit = func(path []string, out string) {
		visited++
		for _, l := range strings.Split(out, "\n") {
			if utf8.RuneCountInString(l) > helpWidth {
				t.Errorf("%v: a line of %d columns: %s", path, utf8.RuneCountInString(l), l)
			}
		}
		_, list, _ := strings.Cut(out, "Available Commands:\n")
		list, _, _ = strings.Cut(list, "\n\n")
		for _, l := range strings.Split(list, "\n") {
			words := strings.Fields(l)
			if len(words) == 1 {
				t.Errorf("%v: %s has no description", path, words[0])
			}
			if len(words) > 0 && words[0] != "help" {
				sub := append(append([]string(nil), path...), words[0])
				visit(sub, run(t, "", append(sub, "--help")...).out)
			}
		}
	}
	visit(nil, run(t, "", "--help").out)
	if visited < 50 {
		t.Errorf("only %d commands were found", visited)
	}
}
