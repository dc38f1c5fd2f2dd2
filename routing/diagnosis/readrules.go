package diagnosis

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// readRules reads rules.yaml, except for the examples. Its YAML is a list of mappings with a key and
// its value on each line. A reader of all YAML takes five times as long, in every process that
// diagnoses a failure; a test compares both.
func readRules(data string) ([]*Rule, error) {
	var list []*Rule
	examples := false
	no := 0
	for line := range strings.Lines(data) {
		no++
		line = strings.TrimRight(line, "\r\n")
		rest, first := strings.CutPrefix(line, "- ")
		switch {
		case first:
			list = append(list, &Rule{})
		case line == "", line[0] == '#', examples && strings.HasPrefix(line, "    "):
			continue
		case len(list) == 0 || !strings.HasPrefix(line, "  ") || line[2] == ' ':
			return nil, fmt.Errorf("line %d: not a key of a rule", no)
		default:
			rest = line[2:]
		}
		key, value, _ := strings.Cut(rest, ":")
		if examples = key == "examples"; examples {
			continue
		}
		if err := list[len(list)-1].set(key, strings.TrimLeft(value, " ")); err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", no, key, err)
		}
	}
	return list, nil
}

// set sets what a key of rules.yaml stands for.
func (r *Rule) set(key, value string) (err error) {
	switch key {
	case "id":
		r.ID, err = yamlText(value)
	case "class":
		var text string
		text, err = yamlText(value)
		r.Class = routing.Class(text)
	case "role":
		var text string
		text, err = yamlText(value)
		r.Role = Role(text)
	case "scope":
		var text string
		text, err = yamlText(value)
		r.Scope = Scope(text)
	case "pattern":
		r.Pattern, err = yamlText(value)
	case "suggestion":
		r.Suggestion, err = yamlText(value)
	case "suggestion_ko":
		r.SuggestionKo, err = yamlText(value)
	case "contains":
		r.Contains, err = yamlTexts(value)
	case "not":
		r.Not, err = yamlTexts(value)
	case "priority":
		r.Priority, err = strconv.Atoi(plainYAML(value))
	case "fatal":
		r.Fatal, err = strconv.ParseBool(plainYAML(value))
	case "assertion":
		r.Assertion, err = strconv.ParseBool(plainYAML(value))
	case "weak":
		r.Weak, err = strconv.ParseBool(plainYAML(value))
	case "ends_run":
		r.EndsRun, err = strconv.ParseBool(plainYAML(value))
	default:
		err = fmt.Errorf("is not a key of a rule")
	}
	return err
}

// plainYAML returns a value without quotes, without the comment behind it.
func plainYAML(s string) string {
	s, _, _ = strings.Cut(s, " #")
	return strings.TrimRight(s, " ")
}

// yamlText returns the text of a line.
func yamlText(s string) (string, error) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return plainYAML(s), nil
	}
	text, rest, err := quotedYAML(s)
	if err == nil && plainYAML(rest) != "" {
		err = fmt.Errorf("%q follows the text", rest)
	}
	return text, err
}

// quotedYAML takes the text in quotes that s begins with.
func quotedYAML(s string) (text, rest string, err error) {
	if s[0] == '"' {
		in, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", err
		}
		text, err = strconv.Unquote(in)
		return text, s[len(in):], err
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '\'':
		case strings.HasPrefix(s[i:], "''"):
			i++
		default:
			return strings.ReplaceAll(s[1:i], "''", "'"), s[i+1:], nil
		}
	}
	return "", "", fmt.Errorf("the text does not end: %s", s)
}

// yamlTexts returns the texts of a list in brackets, all of them in quotes.
func yamlTexts(s string) (texts []string, err error) {
	rest, ok := strings.CutPrefix(s, "[")
	for ok && strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`) {
		var text string
		if text, rest, err = quotedYAML(rest); err != nil {
			return nil, err
		}
		texts = append(texts, text)
		if rest, ok = strings.CutPrefix(rest, ", "); !ok {
			break
		}
	}
	if rest, ok = strings.CutPrefix(rest, "]"); !ok || plainYAML(rest) != "" {
		return nil, fmt.Errorf("not a list of texts in quotes: %s", s)
	}
	return texts, nil
}
