package render

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/render/markdown"
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
func ReplayComment(r Replay, o Options) markdown.Text {
	for most := mostCases; ; most /= 2 {
		body := pages.Print(o.Language, "replay", newReplay(r, most, o)) + "\n"
		if len(body) <= o.MaxBytes() || most == 0 {
			return body
		}
	}
}

// replayContent is what the template of the comment prints.
type replayContent struct {
	Replay
	FileAt, File md // with its commit, and without
	Ignored      []struct{ Key, Why md }
	Problems     []md
	Changes      []replayRow
	MoreChanges  int
	Cases        []replayRow
	MoreCases    int
	Some         bool // some of the recorded cases were not looked at
}

// replayRow is a change of some runs, or of one of them.
type replayRow struct {
	Old, New, Case, Run md
	Runs                int
	Follows             md // "" for a run that comes after none that differs
}

func newReplay(r Replay, most int, o Options) replayContent {
	p := replayContent{Replay: r, File: markdown.Code(o.Redacted(r.File)), Some: r.All > r.Sum.Cases,
		MoreChanges: max(0, len(r.Sum.Changes)-mostChanges), MoreCases: max(0, len(r.Differences)-most)}
	p.FileAt = p.File
	if r.SHA != "" {
		p.FileAt += " (" + markdown.Code(r.SHA[:min(len(r.SHA), 7)]) + ")"
	}
	for _, s := range r.Problems {
		p.Problems = append(p.Problems, markdown.Prose(o.Redacted(s)))
	}
	for _, i := range r.Ignored {
		p.Ignored = append(p.Ignored, struct{ Key, Why md }{markdown.Code(i[0]), markdown.Prose(i[1])})
	}
	for _, c := range r.Sum.Changes[:min(mostChanges, len(r.Sum.Changes))] {
		p.Changes = append(p.Changes, replayRow{Old: outcome(c.Old, o.Language), New: outcome(c.New, o.Language), Runs: c.Runs})
	}
	for _, d := range r.Differences[:min(most, len(r.Differences))] {
		run := fmt.Sprintf("%s/%d", d.Run, d.Attempt)
		if d.Part != "" {
			run += " " + d.Part
		}
		var follows md
		if d.Follows {
			follows = o.Language.Say("replay.follows")
		}
		p.Cases = append(p.Cases, replayRow{Case: markdown.Code(o.Redacted(d.Case + "/" + d.Checkpoint)), Run: markdown.Code(o.Redacted(run)),
			Old: outcome(d.Old, o.Language), New: outcome(d.New, o.Language), Follows: follows})
	}
	return p
}

// outcome is one decision.
func outcome(d replay.Outcome, l Language) md {
	if d.Kind == "" {
		return l.Say("replay.nothing")
	}
	out := markdown.Code(string(d.Kind)) + " " + markdown.Code(d.Rule)
	if d.Detail != "" {
		out += ", " + markdown.Prose(d.Detail)
	}
	return out
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
	return fmt.Sprintf("%s  %s\n    %s → %s\n", Terminal(d.Case+"/"+d.Checkpoint), Terminal(run), d.Old, d.New)
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
		fmt.Fprintf(&b, "%d checkpoints would now wait for a maintainer, and do not\n", s.Awaits)
	}
	if s.Left > 0 {
		fmt.Fprintf(&b, "%d answers to escalations that would not have been opened were left out\n", s.Left)
	}
	if len(r.Ignored) > 0 {
		b.WriteString("recorded runs do not show:\n")
		for _, i := range r.Ignored {
			fmt.Fprintf(&b, "  %s: %s\n", i[0], i[1])
		}
	}
	return b.String()
}
