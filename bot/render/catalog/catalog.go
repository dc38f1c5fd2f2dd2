// Package catalog holds the fixed texts that people read: one file per language, text by id. A text
// has named placeholders such as {cp}, which Say fills with safe Markdown and Plain with plain text.
// Adding a language takes a file beside en.yaml and a constant here; a test compares the files.
package catalog

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/switchback-ci/switchback/bot/render/markdown"
)

// Language is the language of the fixed texts.
type Language string

// The languages; any other counts as English.
const (
	English Language = "en"
	Korean  Language = "ko"
)

// Languages lists those that have a catalogue.
func Languages() []Language { return []Language{English, Korean} }

//go:embed *.yaml
var files embed.FS

// all are the texts by language. A catalogue is read when the first text of its language is needed:
// most commands print none, and the others those of one language.
var all = func() map[Language]func() map[string]string {
	out := map[Language]func() map[string]string{}
	for _, l := range Languages() {
		out[l] = sync.OnceValue(func() map[string]string {
			data, err := files.ReadFile(string(l) + ".yaml")
			texts := map[string]string{}
			if err == nil {
				texts, err = read(string(data))
			}
			if err != nil {
				panic(fmt.Sprintf("catalogue %s.yaml: %v", l, err)) // embedded: a test reads all of them
			}
			return texts
		})
	}
	return out
}()

// read reads a catalogue, of whose YAML every line is empty, a comment, or a key with a text in double
// quotes. A reader of all YAML takes twenty times as long, at the start of most processes.
func read(data string) (map[string]string, error) {
	texts := make(map[string]string, strings.Count(data, "\n"))
	for line := range strings.Lines(data) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		id, quoted, _ := strings.Cut(line, ": ")
		text, err := strconv.Unquote(quoted)
		if err != nil || quoted[0] != '"' {
			return nil, fmt.Errorf("a line that is no id with a text in double quotes: %s", line)
		}
		if _, known := texts[id]; known {
			return nil, fmt.Errorf("%s has two texts", id)
		}
		texts[id] = text
	}
	return texts, nil
}

// Texts returns the catalogue of a language, id → text. It must not be changed.
func Texts(l Language) map[string]string {
	if texts, ok := all[l]; ok {
		return texts()
	}
	return all[English]()
}

// Has reports whether there is a text of an id.
func (l Language) Has(id string) bool {
	_, ok := Texts(l)[id]
	return ok
}

// Say returns the text of id as Markdown, its placeholders filled. args are names and values in
// turn: a markdown.Text and a number stand as they are, anything else is made safe as prose. An
// unknown id, which may end in a word of a newer version's event, is shown as code.
func (l Language) Say(id string, args ...any) markdown.Text {
	if !l.Has(id) {
		return markdown.Code(id)
	}
	return markdown.Text(l.fill(id, args, func(v any) string {
		switch v := v.(type) {
		case markdown.Text:
			return string(v)
		case int, int64:
			return fmt.Sprint(v)
		}
		return string(markdown.Prose(fmt.Sprint(v)))
	}))
}

// Plain returns the text of id as plain text, its placeholders filled with the values as they are:
// for titles and terminals.
func (l Language) Plain(id string, args ...any) string {
	return l.fill(id, args, func(v any) string { return fmt.Sprint(v) })
}

// Count is Say of id+".one" for 1, else of id+".many", with {n} filled.
func (l Language) Count(id string, n int, args ...any) markdown.Text {
	form := ".many"
	if n == 1 {
		form = ".one"
	}
	return l.Say(id+form, append(args, "n", n)...)
}

func (l Language) fill(id string, args []any, show func(any) string) string {
	text, ok := Texts(l)[id]
	if !ok {
		return id
	}
	return Fill(text, func(name string) (string, bool) {
		for i := 0; i+1 < len(args); i += 2 {
			if args[i] == name {
				return show(args[i+1]), true
			}
		}
		return "", false
	})
}

// Fill replaces each {name} of text for which value returns one, and settles the Korean particle
// that follows it. What a value holds is not read again.
func Fill(text string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		v, known := "", false
		if closed {
			v, known = value(name)
		}
		if !known {
			b.WriteByte('{')
			text = rest
			continue
		}
		b.WriteString(v)
		particle, rest := settle(v, after)
		b.WriteString(particle)
		text = rest
	}
}
