package answers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// Submit is the id of the box that sends the others.
const Submit = "submit"

// mostNamed is how many failing tests get a box of their own.
const mostNamed = 5

// moreTurns is how many turns the box to return for a fix grants.
const moreTurns = 2

// Box is one answer that a prompt offers. Its id stands hidden behind the text
// and is the same in every language.
type Box struct {
	ID     string
	Action routing.HumanAction
	N      int           // turns
	Phase  routing.Phase // of HumanPhase
	Test   string        // of HumanQuarantine
}

// Offer returns the boxes for a checkpoint that waits after a decision of a
// kind, the likeliest answer first. What cannot be done is not offered: turns
// beyond the hard cap, to run a review again, to quarantine what is no test or
// is quarantined already.
func Offer(cp routing.Checkpoint, kind routing.Kind, quarantined []routing.Quarantined) []Box {
	var last routing.Verdict
	if n := len(cp.Turns); n > 0 {
		last = cp.Turns[n-1].Verdict
	}
	byID := map[string]Box{
		"reset":          {Action: routing.HumanReset},
		"phase:plan":     {Action: routing.HumanPhase, Phase: routing.Plan},
		"phase:research": {Action: routing.HumanPhase, Phase: routing.Research},
		"skip":           {Action: routing.HumanSkip},
		"wont-fix":       {Action: routing.HumanWontFix},
	}
	retry := ""
	if n := min(moreTurns, routing.HardCap-cp.Reworks); n > 0 {
		retry = "retry:" + strconv.Itoa(n)
		byID[retry] = Box{Action: routing.HumanExtend, N: n}
	} else { // sending it back takes a turn as well
		delete(byID, "phase:plan")
		delete(byID, "phase:research")
	}
	if last.Review == nil {
		byID["rerun"] = Box{Action: routing.HumanRerun}
	}
	order := []string{retry, "reset", "phase:plan", "phase:research", "rerun"}
	switch kind {
	case routing.KindDesign:
		order = []string{"phase:plan", "phase:research", retry, "reset", "rerun"}
	case routing.KindEnv, routing.KindUnclear:
		order = []string{"rerun", retry, "reset", "phase:plan", "phase:research"}
	}
	for _, t := range tests(asked(cp, last), quarantined) {
		id := TestID(t)
		byID[id] = Box{Action: routing.HumanQuarantine, Test: t}
		order = append(order, id)
	}
	var out []Box
	for _, id := range append(order, "skip", "wont-fix") {
		if b, ok := byID[id]; ok {
			b.ID = id
			out = append(out, b)
		}
	}
	return out
}

// TestID is the id of the box that quarantines a test.
func TestID(test string) string {
	sum := sha256.Sum256([]byte(test))
	return "quarantine:" + hex.EncodeToString(sum[:6])
}

// asked returns the failures that a prompt asks about: those of the newest run,
// as the prompt is bound to its commit, or where it has none those of the turn
// that called.
func asked(cp routing.Checkpoint, turn routing.Verdict) []routing.Failure {
	if cp.Last.Key() == turn.Run.Key() {
		return turn.Failures
	}
	var out []routing.Failure
	parts := cp.Runs[cp.Last.Key()].Parts
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if p := parts[name]; p.Result != routing.Pass {
			out = append(out, p.Failures...)
		}
	}
	if len(out) == 0 {
		return turn.Failures
	}
	return out
}

// tests returns the names of the failing tests that get a box.
func tests(failures []routing.Failure, quarantined []routing.Quarantined) []string {
	var out []string
	for _, f := range failures {
		if f.IsTest(f.Name) && len(out) < mostNamed && !slices.Contains(out, f.Name) && !slices.ContainsFunc(quarantined, func(q routing.Quarantined) bool { return f.IsTest(q.Test) }) {
			out = append(out, f.Name)
		}
	}
	return out
}

// ContradictionError names two boxes that cannot both be done.
type ContradictionError struct{ A, B Box }

func (e *ContradictionError) Error() string {
	return fmt.Sprintf("%s and %s contradict each other", e.A.ID, e.B.ID)
}

// ErrNothing says that only Submit is ticked.
var ErrNothing = fmt.Errorf("no answer is ticked")

// Choose returns the boxes of offered that an answer ticked, in the order in
// which they are to be carried out. A checkpoint goes on in exactly one way: two
// of retry, reset, phase, rerun, skip and wont-fix contradict each other, also
// retry and reset, which both return for a fix but count differently. Tests may be
// quarantined with any of them, and come first: what is left without them is
// what goes on.
func Choose(offered []Box, ticked []string) ([]Box, error) {
	var out, ways []Box
	for _, b := range offered {
		switch {
		case !slices.Contains(ticked, b.ID):
		case b.Action == routing.HumanQuarantine:
			out = append(out, b)
		default:
			ways = append(ways, b)
		}
	}
	if len(ways) > 1 {
		return nil, &ContradictionError{ways[0], ways[1]}
	}
	if len(ways) == 1 && len(out) > 0 && ways[0].Action == routing.HumanWontFix {
		return nil, &ContradictionError{out[0], ways[0]}
	}
	if out = append(out, ways...); len(out) == 0 {
		return nil, ErrNothing
	}
	return out, nil
}

// Event returns what a box does for a checkpoint.
func (b Box) Event(checkpoint string) routing.HumanActed {
	return routing.HumanActed{Checkpoint: checkpoint, Action: b.Action, N: b.N, Phase: b.Phase, Test: b.Test}
}

// Event returns what a command does for a checkpoint.
func (c Command) Event(checkpoint string) routing.HumanActed {
	return routing.HumanActed{Checkpoint: checkpoint, Action: c.Action, N: c.N, Phase: c.Phase, Test: c.Test, Class: c.Class, Note: c.Text}
}

// IDs returns the ids of boxes.
func IDs(boxes []Box) []string {
	out := make([]string, len(boxes))
	for i, b := range boxes {
		out[i] = b.ID
	}
	return out
}

// Nonce names a prompt: a short hash of the record it belongs to and of when
// that was opened, so that a body copied from elsewhere is not taken for it.
func Nonce(record, opened string) string {
	sum := sha256.Sum256([]byte(record + "\x00" + opened))
	return hex.EncodeToString(sum[:6])
}

// Head returns the hidden line that a prompt begins with.
func Head(nonce string, gen int, sha string) string {
	if sha == "" {
		sha = "-"
	}
	return fmt.Sprintf("<!-- switchback:prompt nonce=%s gen=%d sha=%s -->", nonce, gen, sha)
}

// Line returns the line of a box with its text, which is safe Markdown on one
// line.
func Line(id, text string, ticked bool) string {
	x := " "
	if ticked {
		x = "x"
	}
	return "- [" + x + "] " + strings.ReplaceAll(text, "\n", " ") + " <!-- sb:" + id + " -->"
}

// Read returns the box of an id, without the test that an id of a quarantine
// names. Of an unknown id only the ID is set.
func Read(id string) Box {
	b := Box{ID: id, Action: planBoxes[id]}
	word, arg, _ := strings.Cut(id, ":")
	switch word {
	case "retry":
		if n, err := strconv.Atoi(arg); err == nil {
			b.Action, b.N = routing.HumanExtend, n
		}
	case "phase":
		b.Action, b.Phase = routing.HumanPhase, routing.Phase(arg)
	case "quarantine":
		b.Action = routing.HumanQuarantine
	case "reset", "rerun", "skip", "wont-fix":
		b.Action = routing.HumanAction(word)
	}
	return b
}

// Recall is Read that also finds the test, among the failures of the case and
// its tests in quarantine.
func Recall(id string, c routing.Case) Box {
	b := Read(id)
	if b.Action != routing.HumanQuarantine {
		return b
	}
	for _, t := range append(Known(c, ""), inQuarantine(c)...) {
		if TestID(t) == id {
			b.Test = t
		}
	}
	return b
}

func inQuarantine(c routing.Case) []string {
	out := make([]string, len(c.Quarantine))
	for i, q := range c.Quarantine {
		out[i] = q.Test
	}
	return out
}

// Known returns the names of the tests that failed in a case, each once: of one
// checkpoint, or with "" of all.
func Known(c routing.Case, checkpoint string) []string {
	var out []string
	add := func(v routing.Verdict) {
		for _, f := range v.Failures {
			if f.IsTest(f.Name) && !slices.Contains(out, f.Name) {
				out = append(out, f.Name)
			}
		}
	}
	for _, name := range c.Names() {
		if checkpoint != "" && name != checkpoint {
			continue
		}
		cp := c.Checkpoints[name]
		for _, p := range cp.Runs[cp.Last.Key()].Parts {
			add(p)
		}
		for i := len(cp.Turns) - 1; i >= 0; i-- {
			add(cp.Turns[i].Verdict)
		}
	}
	return out
}

// UnknownTestError says that no test of a name failed, and which comes nearest.
type UnknownTestError struct{ Test, Nearest string }

func (e *UnknownTestError) Error() string {
	if e.Nearest == "" {
		return fmt.Sprintf("no failing test is called `%s`", e.Test)
	}
	return fmt.Sprintf("no failing test is called `%s`; the nearest is `%s`", e.Test, e.Nearest)
}

// FindTest returns the name of the failing test of a checkpoint that a person
// means by written: the name itself, or, if only one fits, its last part or
// another case of its letters. Else the error is an *UnknownTestError.
func FindTest(c routing.Case, checkpoint, written string) (string, error) {
	var fits []string
	known := Known(c, checkpoint)
	for _, name := range known {
		low, want := strings.ToLower(name), strings.ToLower(written)
		switch {
		case name == written || failed(c.Checkpoints[checkpoint], written):
			return written, nil
		case low == want, want != "" && strings.HasSuffix(low, want) && len(low) > len(want) && strings.ContainsRune(" ./:>#›", rune(low[len(low)-len(want)-1])):
			fits = append(fits, name)
		}
	}
	if len(fits) == 1 {
		return fits[0], nil
	}
	return "", &UnknownTestError{written, Nearest(written, known)}
}

// failed reports whether a test of that name, which may hold its suite's,
// failed in the newest turn.
func failed(cp routing.Checkpoint, test string) bool {
	n := len(cp.Turns)
	return n > 0 && slices.ContainsFunc(cp.Turns[n-1].Verdict.Failures, func(f routing.Failure) bool { return f.IsTest(test) })
}
