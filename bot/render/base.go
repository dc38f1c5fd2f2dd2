package render

import (
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// baseView says what of a turn stands on the base.
type baseView struct{ view }

// text counts the failures that are new and those that stand on the base, "" where no base was
// asked for.
func (v baseView) text() md {
	b := v.turn.Verdict.Base
	if b == nil {
		return ""
	}
	base := v.name()
	if b.Unread {
		return v.lang.Say("base.unread", "base", base)
	}
	if !b.Known {
		return v.lang.Say("base.unknown", "base", base)
	}
	if len(v.old) == 0 {
		return ""
	}
	also := v.lang.Say("base.also", "n", len(v.old), "base", base)
	if since := v.since(); since != "" {
		also = v.lang.Say("base.alsosince", "n", len(v.old), "base", base, "sha", since)
	}
	if n := len(v.turn.Verdict.Failures); n > 0 {
		also = markdown.Join([]md{v.lang.Count("base.new", n), also}, " · ")
	}
	return "**" + also + "**"
}

func (v baseView) name() md {
	if b := v.turn.Verdict.Base; b != nil {
		return markdown.Prose(v.o.Redacted(b.Name))
	}
	return v.lang.Say("unknown")
}

// html is name for the summary of a fold.
func (v baseView) html() md {
	if b := v.turn.Verdict.Base; b != nil {
		return markdown.HTMLCode(v.o.Redacted(b.Name))
	}
	return v.lang.Say("unknown")
}

// since is the commit since which all of the old failures stand on the base, "" where they differ.
func (v baseView) since() md {
	since := v.old[0].Since
	for _, f := range v.old {
		if f.Since != since {
			return ""
		}
	}
	if !commitHash.MatchString(since) {
		return markdown.Code(since)
	}
	return md(truncate.ShortSHA(since))
}

// packetStanding is a failure of the packet that stands on the base.
type packetStanding struct {
	Name        string        `json:"name"`
	Suite       string        `json:"suite"`
	Class       routing.Class `json:"class"`
	Fingerprint string        `json:"fingerprint"`
	Since       string        `json:"since"`
}

func packOld(fs []routing.Failure, n int) []packetStanding {
	var out []packetStanding
	for _, f := range fs[:min(len(fs), n)] {
		out = append(out, packetStanding{markdown.Cut(f.Name, 300), markdown.Cut(f.Suite, 200), f.Class, markdown.Cut(f.Fingerprint, 100), f.Since})
	}
	return out
}

// BasePasses returns the comment that asks the author of a change to update its branch: the base
// passes what the change was on hold for.
func BasePasses(c routing.Case, e routing.Effect, o Options) markdown.Text {
	v := look(c, e.Checkpoint, o)
	text := v.lang.Say("base.passes", "cp", markdown.Code(o.Redacted(e.Checkpoint)), "n", len(v.old), "base", baseView{v}.name(), "sha", v.sha(e.Target))
	if mention := md(o.Mentions()); mention != "" {
		text = mention + " " + text
	}
	return text
}
