package render

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/replay"
)

// Replay is what deciding recorded runs again under another configuration came
// to, as it is shown.
type Replay struct {
	File, SHA   string // the configuration, and the commit it is of
	Recorded    bool   // compared with what was decided then, not with a configuration
	Unreadable  bool   // since the configuration of the base branch cannot be read
	All         int    // cases that are recorded
	Sum         replay.Sum
	Differences []replay.Difference
	Ignored     [][2]string // keys that recorded runs do not show, and why
	Problems    []string    // why the configuration cannot be read; the rest is empty then
	Reverted    bool        // the configuration is no longer changed
}

// mostChanges and mostCases bound the tables of a comment.
const (
	mostChanges = 30
	mostCases   = 100
)

// ReplayKey returns the key of the one comment on a pull request that has it.
func ReplayKey(caseKey string) string { return caseKey + "/replay" }

// ReplayComment returns the comment, without its marker. Where it would grow
// beyond o.Limit, rows of single runs are left out first.
func ReplayComment(r Replay, o Options) string {
	for most := mostCases; ; most /= 2 {
		body := o.replay(r, most)
		if len(body) <= o.limit() || most == 0 {
			return body
		}
	}
}

func (o Options) replay(r Replay, most int) string {
	l := o.Language
	var b strings.Builder
	b.WriteString(l.say("replay.head") + "\n\n")
	file := code(o.redact(r.File))
	switch {
	case r.Reverted:
		b.WriteString(l.say("replay.reverted", "file", file) + "\n")
		return b.String()
	case len(r.Problems) > 0:
		b.WriteString(l.say("replay.invalid") + "\n\n")
		for _, p := range r.Problems {
			b.WriteString("- " + prose(o.redact(p)) + "\n")
		}
		return b.String()
	}
	b.WriteString(l.say("replay.intro", "file", file+at(r.SHA)) + " ")
	switch {
	case r.Unreadable:
		b.WriteString(l.say("replay.unreadable"))
	case r.Recorded:
		b.WriteString(l.say("replay.recorded"))
	default:
		b.WriteString(l.say("replay.against"))
	}
	b.WriteString("\n\n")
	b.WriteString(o.replaySum(r))
	b.WriteString(o.replayCases(r.Differences, most))
	if len(r.Ignored) > 0 {
		b.WriteString("\n**" + l.say("replay.ignored") + "**\n\n")
		for _, i := range r.Ignored {
			b.WriteString("- " + l.say("replay.ignored.item", "key", code(i[0]), "why", prose(i[1])) + "\n")
		}
	}
	return b.String()
}

// at is the commit behind a file's name.
func at(sha string) string {
	if sha == "" {
		return ""
	}
	return " (" + code(sha[:min(len(sha), 7)]) + ")"
}

func (o Options) replaySum(r Replay) string {
	l, s := o.Language, r.Sum
	var b strings.Builder
	switch {
	case s.Cases == 0:
		b.WriteString(l.say("replay.empty") + "\n")
	case s.Differing == 0:
		b.WriteString(l.say("replay.none", "runs", s.Runs, "cases", s.Cases) + "\n")
	default:
		b.WriteString(l.say("replay.sum", "differ", s.Differing, "runs", s.Runs, "affected", s.Affected, "cases", s.Cases) + "\n")
	}
	if r.All > s.Cases {
		b.WriteString("\n" + l.say("replay.some", "cases", s.Cases, "all", r.All, "command", code("switchback replay")) + "\n")
	}
	if len(s.Changes) > 0 {
		fmt.Fprintf(&b, "\n| %s | %s | %s |\n|---|---|--:|\n", l.say("replay.col.old"), l.say("replay.col.new"), l.say("replay.col.runs"))
		for i, c := range s.Changes {
			if i == mostChanges {
				b.WriteString("\n" + l.say("replay.more", "n", len(s.Changes)-i) + "\n")
				break
			}
			fmt.Fprintf(&b, "| %s | %s | %d |\n", o.replayed(c.Old), o.replayed(c.New), c.Runs)
		}
	}
	if s.Awaits > 0 {
		b.WriteString("\n" + l.say("replay.awaits", "n", s.Awaits) + "\n")
	}
	if s.Left > 0 {
		b.WriteString("\n" + l.say("replay.left", "n", s.Left) + "\n")
	}
	return b.String()
}

func (o Options) replayCases(all []replay.Difference, most int) string {
	if len(all) == 0 || most == 0 {
		return ""
	}
	l := o.Language
	var b strings.Builder
	fmt.Fprintf(&b, "\n<details>\n<summary>%s</summary>\n\n%s\n\n| %s | %s | %s | %s | |\n|---|---|---|---|---|\n", l.say("replay.cases"), l.say("replay.hint"),
		l.say("replay.col.case"), l.say("replay.col.run"), l.say("replay.col.old"), l.say("replay.col.new"))
	for i, d := range all {
		if i == most {
			b.WriteString("\n" + l.say("replay.more", "n", len(all)-i) + "\n")
			break
		}
		run := fmt.Sprintf("%s/%d", d.Run, d.Attempt)
		if d.Part != "" {
			run += " " + d.Part
		}
		follows := ""
		if d.Follows {
			follows = l.say("replay.follows")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(code(o.redact(d.Case+"/"+d.Checkpoint))), cell(code(o.redact(run))), o.replayed(d.Old), o.replayed(d.New), follows)
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// replayed is one decision in a cell.
func (o Options) replayed(d replay.Outcome) string {
	if d.Kind == "" {
		return o.Language.say("replay.nothing")
	}
	out := code(string(d.Kind)) + " " + code(d.Rule)
	if d.Detail != "" {
		out += ", " + prose(d.Detail)
	}
	return cell(out)
}

// ReplayRun returns the terminal's line of a run that differs.
func ReplayRun(d replay.Difference) string {
	run := fmt.Sprintf("run %s/%d", d.Run, d.Attempt)
	if d.Part != "" {
		run += " " + d.Part
	}
	if d.SHA != "" {
		run += ", commit " + d.SHA[:min(len(d.SHA), 7)]
	}
	if d.Follows {
		run += " (follows)"
	}
	return fmt.Sprintf("%s  %s\n    %s → %s\n", terminal(d.Case+"/"+d.Checkpoint), terminal(run), d.Old, d.New)
}

// ReplaySum returns the terminal's lines of the sum.
func ReplaySum(r Replay) string {
	s := r.Sum
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d recorded runs, in %d of %d cases, would have been routed differently\n", s.Differing, s.Runs, s.Affected, s.Cases)
	for _, c := range s.Changes {
		fmt.Fprintf(&b, "%6d  %s → %s\n", c.Runs, c.Old, c.New)
	}
	if s.Awaits > 0 {
		fmt.Fprintf(&b, "%d checkpoints would wait for a human now, and do not\n", s.Awaits)
	}
	if s.Left > 0 {
		fmt.Fprintf(&b, "%d answers of people would have had nothing to answer, and were left out\n", s.Left)
	}
	if len(r.Ignored) > 0 {
		b.WriteString("recorded runs do not show:\n")
		for _, i := range r.Ignored {
			fmt.Fprintf(&b, "  %s: %s\n", i[0], i[1])
		}
	}
	return b.String()
}
