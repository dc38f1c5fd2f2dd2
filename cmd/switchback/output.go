package main

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// printJSON prints a value as an indented JSON document.
func printJSON(s streams, v any) error {
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return failedIf(enc.Encode(v))
}

func failedIf(err error) error {
	if err != nil {
		return failed(err)
	}
	return nil
}

// oneOf returns a usage error unless the value of a flag is one of those that it takes.
func oneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	last := len(known) - 1
	return usage("%s is %q; it must be %s or %s", flag, value, strings.Join(known[:last], ", "), known[last])
}

// listed joins words by commas.
func listed[T ~string](all []T) string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = string(x)
	}
	return strings.Join(out, ", ")
}

// maxShown is how many characters of a text are shown in a line.
const maxShown = 80

// plain returns s on one line, short, and without what a terminal obeys.
func plain(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if n++; n > maxShown {
			return b.String() + "…"
		}
		if !unicode.IsPrint(r) {
			r = '\uFFFD'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}
