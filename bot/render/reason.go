package render

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
)

// because says in the language of o why something was refused. What has no id is said in English, as
// the error says it.
func because(err error, o Options) md {
	var refused interface {
		Refusal() (id, text string, args []any)
	}
	var stale *routing.StaleAnswerError
	var unknown *answers.UnknownTestError
	switch {
	case errors.As(err, &refused):
		id, text, args := refused.Refusal()
		if l := "refused." + id; o.Language.Has(l) {
			text = catalog.Texts(o.Language)[l]
		}
		return md(catalog.Fill(text, func(name string) (string, bool) {
			for i := 0; i+1 < len(args); i += 2 {
				if args[i] == name {
					return string(o.value(args[i+1])), true
				}
			}
			return "", false
		}))
	case errors.As(err, &stale):
		return o.Language.Say("stale", "sha", shortSHA(stale.SHA, o), "cp", markdown.Code(o.Redacted(stale.Checkpoint)), "newest", shortSHA(stale.Newest, o))
	case errors.As(err, &unknown) && unknown.Nearest != "":
		return o.Language.Say("unknowntest.nearest", "test", markdown.Code(o.Redacted(unknown.Test)), "nearest", markdown.Code(o.Redacted(unknown.Nearest)))
	case errors.As(err, &unknown):
		return o.Language.Say("unknowntest", "test", markdown.Code(o.Redacted(unknown.Test)))
	}
	return markdown.Prose(o.Redacted(err.Error()))
}

// value makes what fills a refusal safe.
func (o Options) value(v any) md {
	switch v := v.(type) {
	case int:
		return md(fmt.Sprint(v))
	case []string:
		if len(v) == 0 {
			return "–"
		}
		return markdown.Codes(o.RedactedAll(v), len(v))
	}
	return markdown.Code(o.Redacted(fmt.Sprint(v)))
}

// reasons are the texts of what a run or a decision says of itself. Their English is that of where they
// are made, and of several that fit the first counts.
var reasons = []string{
	"reason.timelimit",
	"reason.ended",
	"reason.exit",
	"reason.unlisted",
	"reason.status",
	"reason.notest",
	"reason.nonepassed",
	"reason.unexplained",
	"reason.looked",
	"reason.noreport",
	"reason.unread",
	"reason.rest",
	"reason.unmet",
	"reason.env",
	"reason.design",
	"reason.silent",
	"reason.again",
	"reason.still",
}

// readings are the reasons as patterns, whose groups are named as the placeholders.
var readings = sync.OnceValue(func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(reasons))
	for i, id := range reasons {
		text := placeholderOf.ReplaceAllString(regexp.QuoteMeta(catalog.Texts(catalog.English)[id]), `(?P<$1>.+)`)
		out[i] = regexp.MustCompile("^(?s:" + text + ")$")
	}
	return out
})

var placeholderOf = regexp.MustCompile(`\\\{([a-z]+)\\\}`)

// diagnosed is the reason that a diagnosis gives: class, decisive failure, rule, and how many more
// failed; a decision says what it did behind it.
var diagnosed = regexp.MustCompile(`^([A-Z_]+)(?:: (.+?)(?: \([\w:.-]+\))?(?:, and ([0-9]+) more)?)?(?:; returned for a fix [0-9]+/[0-9]+)?$`)

// reasonText is a reason in a language. One that is not known stands as it is.
func reasonText(l Language, reason string) md {
	if m := diagnosed.FindStringSubmatch(reason); m != nil && routing.Class(m[1]).Valid() {
		text := l.Say("class." + m[1])
		if m[2] != "" {
			text += ": " + markdown.Code(m[2])
		}
		if n, err := strconv.Atoi(m[3]); err == nil {
			text += " " + l.Say("list.more", "n", n)
		}
		return text
	}
	if l != English {
		for i, re := range readings() {
			found := re.FindStringSubmatch(reason)
			if found == nil {
				continue
			}
			var args []any
			for j, name := range re.SubexpNames()[1:] {
				args = append(args, name, found[j+1])
			}
			return l.Say(reasons[i], args...)
		}
	}
	return markdown.Prose(reason)
}
