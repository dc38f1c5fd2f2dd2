package render

import (
	"strconv"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
)

// incidentView writes what a run on hold for an incident is told.
type incidentView struct{ view }

func (v incidentView) ref() routing.IncidentRef {
	if r := v.turn.Verdict.Incident; r != nil {
		return *r
	}
	return routing.IncidentRef{}
}

// plain names the incident by the number of its issue, or by its cause while there is none.
func (v incidentView) plain() string {
	if n := v.ref().Number; n > 0 {
		return "#" + strconv.Itoa(n)
	}
	return markdown.Line(v.o.Redacted(v.ref().What), 120)
}

// link is plain, linked to the issue.
func (v incidentView) link() md {
	if r := v.ref(); r.Number > 0 {
		return markdown.Link(md(v.plain()), v.o.Address(r.URL))
	}
	return markdown.Code(v.plain())
}

// ask says that nothing is to be done, or what follows now that the incident is over.
func (v incidentView) ask() md {
	id := "incident.ask"
	switch {
	case v.turn.Restarted != "" && v.ref().Kind == routing.IncidentBase:
		id = "incident.over.base"
	case v.turn.Restarted != "":
		id = "incident.over.environment"
	}
	return v.lang.Say(id, "incident", v.link(), "cause", markdown.Code(markdown.Line(v.o.Redacted(v.ref().What), 200)))
}

// IncidentOver returns the comment that asks the author of a change to update its branch: the incident
// of its base is over.
func IncidentOver(c routing.Case, e routing.Effect, o Options) markdown.Text {
	v := incidentView{look(c, e.Checkpoint, o)}
	text := v.lang.Say("incident.update", "cp", markdown.Code(o.Redacted(e.Checkpoint)), "incident", v.link())
	if mention := md(o.Mentions()); mention != "" {
		text = mention + " " + text
	}
	return text
}

// FoldedIn returns the comment that closes an escalation whose cause is that of an incident.
func FoldedIn(c routing.Case, checkpoint string, o Options) markdown.Text {
	v := incidentView{look(c, checkpoint, o)}
	return v.lang.Say("incident.folded", "incident", v.link())
}
