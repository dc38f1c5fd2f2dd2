package render

import (
	"strconv"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
)

// greenView says why a green run is not trusted, and what was noticed about it besides.
type greenView struct{ view }

// shown is how many entries of each list are shown.
const greenShown = 20

// doubts lists why the run is not trusted: a question while a maintainer is asked, and what was
// accepted afterwards.
func (v greenView) doubts() md {
	d := v.decision()
	if len(d.Suspect) == 0 {
		return ""
	}
	head := "green.why"
	if d.Kind == routing.KindPass {
		head = "green.accepted"
	}
	return "**" + v.lang.Say(head) + "**\n\n" + v.entries(d.Suspect)
}

// listed lists what was noticed besides, which accuses nobody.
func (v greenView) listed() md {
	var shown []routing.Suspicion
	for _, x := range v.decision().Listed {
		if x.What != routing.What("workflow") || len(v.turn.Verdict.Workflows) == 0 { // those stand in the notes
			shown = append(shown, x)
		}
	}
	if len(shown) == 0 {
		return ""
	}
	return v.entries(shown)
}

func (v greenView) entries(xs []routing.Suspicion) md {
	var lines []md
	for i, x := range xs {
		if i == greenShown {
			lines = append(lines, "- "+v.lang.Say("list.more", "n", len(xs)-greenShown))
			break
		}
		lines = append(lines, "- "+v.entry(x))
	}
	return markdown.Join(lines, "\n")
}

func (v greenView) entry(x routing.Suspicion) md {
	code := func(s string) md { return markdown.Code(markdown.Cut(v.o.Redacted(s), 160)) }
	base := markdown.Prose(v.o.Redacted(x.Base))
	switch x.What {
	case routing.DidNotRun, routing.WasSkipped:
		return v.lang.Say("green."+string(x.What), "test", code(x.Test), "sha", v.sha(x.SHA))
	case routing.Renamed:
		return v.lang.Say("green.renamed", "test", code(x.Test), "now", code(x.Now), "sha", v.sha(x.SHA))
	case routing.FewerTests:
		if x.Base != "" {
			return v.lang.Say("green.fewer_tests.base", "n", x.N, "of", x.Of, "base", base, "sha", v.sha(x.SHA))
		}
		return v.lang.Say("green.fewer_tests", "n", x.N, "of", x.Of, "sha", v.sha(x.SHA))
	case routing.Incomplete:
		switch {
		case x.Test != "":
			return v.lang.Say("green.incomplete", "test", code(x.Test), "sha", v.sha(x.SHA))
		case x.Of == 0:
			return v.lang.Say("green.incomplete.more", "n", x.N)
		case x.Base != "":
			return v.lang.Say("green.incomplete.base", "n", x.N, "of", x.Of, "base", base)
		}
		return v.lang.Say("green.incomplete.tests", "n", x.N, "of", x.Of)
	}
	at := x.File
	if x.Line > 0 {
		at += ":" + strconv.Itoa(x.Line)
	}
	text := code(at)
	if id := "green." + string(x.What); v.lang.Has(id) {
		text = v.lang.Say(id, "place", code(at))
	}
	switch {
	case x.Was != "" && x.Now != "":
		return v.lang.Say("green.changed", "what", text, "was", code(x.Was), "now", code(x.Now))
	case x.Was != "":
		return v.lang.Say("green.removed", "what", text, "was", code(x.Was))
	case x.Now != "":
		return text + ": " + code(x.Now)
	}
	return text
}

// ask asks a maintainer to accept the run, and says who may not.
func (v greenView) ask(mention, issue md) md {
	who := v.lang.Say("green.ask", "accept", v.command("accept"), "sha", v.sha(v.turn.Verdict.Run.SHA))
	if pushers := v.decision().Pushers; len(pushers) > 0 {
		who = markdown.Sentences(who, v.lang.Say("green.other", "names", markdown.Codes(v.o.RedactedAll(pushers), 5)))
	}
	if mention != "" {
		who = markdown.Sentences(v.lang.Say("stop.who", "mention", mention), who)
	}
	return markdown.Join([]md{who, v.lang.Say("green.void"), issue}, "\n")
}
