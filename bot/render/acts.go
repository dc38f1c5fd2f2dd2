package render

import (
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// actsShown is how many of the newest decisions of people are listed.
const actsShown = 5

// acts lists what people decided since the first run of the view's story.
func (v view) acts() md {
	var lines []md
	for _, a := range v.cp.Acts {
		if len(v.story) > 0 && a.At.Before(v.story[0].At) {
			continue
		}
		lines = append(lines, "- "+md(a.At.UTC().Format("2006-01-02 15:04"))+" · "+v.act(a))
	}
	if len(lines) == 0 {
		return ""
	}
	lines = lines[max(0, len(lines)-actsShown):]
	return "**" + v.lang.Say("act.title") + "**\n\n" + markdown.Join(lines, "\n")
}

func (v view) act(a routing.Act) md {
	args := []any{"who", v.who(a.By), "test", markdown.Code(v.o.Redacted(a.Test)), "class", v.class(a.Class), "from", v.class(a.From), "phase", v.lang.Say("phase." + string(a.Phase))}
	text := "act." + string(a.Action)
	switch {
	case a.Action == routing.HumanExtend:
		return v.lang.Count(text, max(1, a.N), args...)
	case v.lang.Has(text):
		return v.lang.Say(text, args...)
	}
	return v.who(a.By) + ": " + markdown.Code(string(a.Action)) // recorded by a newer version
}

// who names a person without mentioning them.
func (v view) who(login string) md {
	if login == "" {
		return v.lang.Say("act.someone")
	}
	return markdown.Code(v.o.Redacted(login))
}

// excusedText says which failures do not count.
func (v view) excusedText() md {
	if len(v.excused) == 0 {
		return ""
	}
	return v.lang.Count("excused", len(v.excused), "names", restingNames(v, 12))
}

// counting separates the failures that count from the names of those in quarantine.
func counting(fs []routing.Failure) (left []routing.Failure, excused []string) {
	for _, f := range fs {
		if f.Quarantined {
			excused = append(excused, escalation.Name(f))
			continue
		}
		left = append(left, f)
	}
	return left, excused
}

// resumed is true if a person resumed the checkpoint after the escalation of this turn.
func resumed(v view) bool {
	return v.has && v.turn.Kind.Escalates() && v.cp.Escalation == nil && v.cp.State == routing.InProgress
}
