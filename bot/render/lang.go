package render

import (
	"fmt"
	"maps"
	"strings"

	"github.com/switchback-ci/switchback/routing/escalation"
)

// messages are the fixed texts of all languages: id → template with
// {placeholders}. Every language has the same ids and placeholders.
var messages = map[Language]map[string]string{English: joined(english, englishAnswers, actTexts[English], replayTexts[English], planTexts[English], portTexts[English]), Korean: joined(korean, koreanAnswers, actTexts[Korean], replayTexts[Korean], planTexts[Korean], portTexts[Korean])}

func joined(texts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, t := range texts {
		maps.Copy(all, t)
	}
	return all
}

// say returns a fixed text with its {placeholders} filled; args are names and
// values in turn. Values stand as they are: they are Markdown that is safe.
func (l Language) say(id string, args ...any) string {
	m, ok := messages[l]
	if !ok {
		m = messages[English]
	}
	tmpl, ok := m[id]
	if !ok {
		return id
	}
	pairs := make([]string, 0, len(args))
	for i := 0; i+1 < len(args); i += 2 {
		pairs = append(pairs, "{"+fmt.Sprint(args[i])+"}", fmt.Sprint(args[i+1]))
	}
	return strings.NewReplacer(pairs...).Replace(tmpl)
}

// has reports whether there is a fixed text of an id.
func (l Language) has(id string) bool {
	_, ok := messages[English][id]
	return ok
}

// count returns id+".one" for 1, else id+".many", with {n} filled.
func (l Language) count(id string, n int, args ...any) string {
	form := ".many"
	if n == 1 {
		form = ".one"
	}
	return l.say(id+form, append(args, "n", n)...)
}

// sentence returns a sentence of an escalation report in the language.
func (l Language) sentence(s escalation.Sentence) string {
	tmpl := escalation.English(s.ID)
	if l == Korean {
		tmpl = koreanSentences[s.ID]
	}
	safe := escalation.Sentence{ID: s.ID}
	for i := 0; i+1 < len(s.Args); i += 2 {
		safe.Args = append(safe.Args, s.Args[i], argument(s.Args[i], s.Args[i+1]))
	}
	return safe.Fill(tmpl)
}

// argument makes what fills a sentence safe.
func argument(name, value string) string {
	switch name {
	case "n", "first", "last", "still", "new", "max", "stuck":
		return value
	case "suggestion", "reason", "unmet":
		return prose(value)
	case "files":
		files := strings.Split(value, ", ")
		for i := range files {
			files[i] = code(files[i])
		}
		return strings.Join(files, ", ")
	}
	return code(value)
}
