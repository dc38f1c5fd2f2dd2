package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// commandLine is a line of help that lists a command with what it does.
var commandLine = regexp.MustCompile(`(?m)^  ([a-z][a-z-]+)( +[A-Z].*)?$`)

// Help of every command fits into helpWidth columns, and says what each command does.
func TestHelp(t *testing.T) {
	t.Parallel()
	visited := 0
	var visit func(path []string, out string)
	visit = func(path []string, out string) {
		visited++
		for _, l := range strings.Split(out, "\n") {
			if n := utf8.RuneCountInString(l); n > helpWidth {
				t.Errorf("%v: a line of %d columns: %s", path, n, l)
			}
		}
		_, list, _ := strings.Cut(out, "Usage:\n")
		list, _, _ = strings.Cut(list, "\nFlags:\n")
		for _, m := range commandLine.FindAllStringSubmatch(list, -1) {
			if m[2] == "" {
				t.Errorf("%v: %s has no description", path, m[1])
			}
			if m[1] != "help" {
				sub := append(append([]string(nil), path...), m[1])
				visit(sub, run(t, "", append(sub, "--help")...).out)
			}
		}
	}
	visit(nil, run(t, "", "--help").out)
	if visited < 55 {
		t.Errorf("only %d commands were found", visited)
	}
}
