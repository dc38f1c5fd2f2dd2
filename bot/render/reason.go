package render

import (
	"errors"
	"fmt"

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
