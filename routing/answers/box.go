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
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// Submit is the id of the box that sends the others.
const Submit = "submit"

// mostNamed is how many failing tests get a box of their own.
const mostNamed = 5

// MoreAttempts is how many fix attempts the box of retry grants at most.
const MoreAttempts = 2

// Box is one answer that an escalation issue offers. Its id stands hidden behind the text and is
// the same in every language.
type Box struct {
	ID     string
	Action routing.HumanAction
	Text   string        // id of its text in the catalogues, which the fields below fill
	N      int           // further fix attempts, of retry
	Phase  routing.Phase // of phase
	Test   string        // of quarantine
	Group  Group         // the heading that it stands under
}

// Question is what an escalation issue asks about.
type Question struct {
	Stream      string                // key of the stream that the escalation is of
	Checkpoint  routing.Checkpoint    // of a case
	Quarantined []routing.Quarantined // of a case
	Kind        routing.Kind          // the decision that opened it
	Attempts    int                   // of a port: its attempts so far
}

// Offer returns the boxes for an escalation, the likeliest answers first. What would be refused is
// not offered: fix attempts beyond the hard cap, to run a review again, to quarantine what is no
// test or is quarantined already.
func Offer(q Question) []Box {
	for _, f := range features {
		if boxes, ok := f.Offer(q); ok {
			return boxes
		}
	}
	var first, out []Box
	for _, s := range core {
		if s.Box == nil {
			continue
		}
		spec := *s.Box
		spec.Action = s.Action
		boxes := []Box{spec.box("")}
		if spec.Offer != nil {
			boxes = spec.Offer(q)
		}
		for i := range boxes {
			boxes[i].Action, boxes[i].Text, boxes[i].Group = spec.Action, spec.Text, spec.Group
		}
		if slices.Contains(spec.First, q.Kind) {
			first = append(first, boxes...)
		} else {
			out = append(out, boxes...)
		}
	}
	return append(first, out...)
}

// offerReset does not offer to return for a fix what did not fail.
func offerReset(q Question) []Box {
	if q.Kind == routing.KindSuspect {
		return nil
	}
	return []Box{{ID: "reset"}}
}

// offerAccept offers to accept a green run only where that is asked.
func offerAccept(q Question) []Box {
	if q.Kind != routing.KindSuspect {
		return nil
	}
	return []Box{{ID: "accept"}}
}

func offerRetry(q Question) []Box {
	if q.Kind == routing.KindSuspect {
		return nil // nothing failed
	}
	n := min(MoreAttempts, routing.HardCap-q.Checkpoint.Retries)
	if n < 1 {
		return nil
	}
	return []Box{{ID: "retry:" + strconv.Itoa(n), N: n}}
}

func readAttempts(b *Box, arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		b.Action, b.Text = "", ""
	}
	b.N = n
}

// offerPhases offers the earlier phases while there is a fix attempt left, which that takes as well.
func offerPhases(q Question) []Box {
	if q.Checkpoint.Retries >= routing.HardCap || q.Kind == routing.KindSuspect {
		return nil
	}
	return []Box{{ID: "phase:plan", Phase: routing.Plan}, {ID: "phase:research", Phase: routing.Research}}
}

func readPhase(b *Box, arg string) { b.Phase = routing.Phase(arg) }

func offerRerun(q Question) []Box {
	if newest(q.Checkpoint).Review != nil || q.Kind == routing.KindSuspect {
		return nil
	}
	return []Box{{ID: "rerun"}}
}

func offerQuarantine(q Question) []Box {
	var out []Box
	for _, t := range tests(asked(q.Checkpoint, newest(q.Checkpoint)), q.Quarantined) {
		out = append(out, Box{ID: TestID(t), Test: t})
	}
	return out
}

// newest is the verdict that was decided last.
func newest(cp routing.Checkpoint) routing.Verdict {
	if n := len(cp.Attempts); n > 0 {
		return cp.Attempts[n-1].Verdict
	}
	return routing.Verdict{}
}

// TestID is the id of the box that quarantines a test.
func TestID(test string) string {
	sum := sha256.Sum256([]byte(test))
	return "quarantine:" + hex.EncodeToString(sum[:6])
}

// asked returns the failures that the checkboxes ask about: those of the newest run,
// as the checkboxes are bound to its commit, or where it has none those of the turn
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
// of accept, retry, reset, phase, rerun, skip and wont-fix contradict each other, also
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

// Event returns the event of a box for a checkpoint.
func (b Box) Event(checkpoint string) routing.HumanActed {
	return routing.HumanActed{Checkpoint: checkpoint, Action: b.Action, N: b.N, Phase: b.Phase, Test: b.Test}
}

// IDs returns the ids of boxes.
func IDs(boxes []Box) []string {
	out := make([]string, len(boxes))
	for i, b := range boxes {
		out[i] = b.ID
	}
	return out
}

// Nonce names checkboxes: a short hash of the record it belongs to and of when
// that was opened, so that a body copied from elsewhere is not taken for it.
func Nonce(record, opened string) string {
	sum := sha256.Sum256([]byte(record + "\x00" + opened))
	return hex.EncodeToString(sum[:6])
}

// Head returns the hidden line that checkboxes begin with.
func Head(nonce string, gen int, sha string) string {
	if !commitHash.MatchString(sha) {
		sha = "-"
	}
	return fmt.Sprintf("<!-- switchback:checkboxes nonce=%s gen=%d sha=%s -->", nonce, gen, sha)
}

var commitHash = lazyregexp.New(`^[0-9a-f]{7,64}$`)

// Line returns the line of a box with its text, which is safe Markdown on one
// line. cmark-gfm shows a box as ticked if "[x]" stands anywhere on its line, so
// there is none in the text.
func Line(id, text string, ticked bool) string {
	x := " "
	if ticked {
		x = "x"
	}
	return "- [" + x + "] " + boxText.Replace(text) + " <!-- sb:" + id + " -->"
}

var boxText = strings.NewReplacer("\n", " ", "[x]", "[ x ]", "[X]", "[ X ]")

// Read returns the box of an id, without the test that an id of a quarantine names. Of an unknown
// id only the ID is set.
func Read(id string) Box {
	word, arg, _ := strings.Cut(id, ":")
	for _, s := range boxSpecs() {
		if s.ID == word && (arg == "" || s.Read != nil || s.Offer != nil) {
			b := s.box(arg)
			b.ID = id
			return b
		}
	}
	return Box{ID: id}
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
		for i := len(cp.Attempts) - 1; i >= 0; i-- {
			add(cp.Attempts[i].Verdict)
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
	return "", &UnknownTestError{written, suggest.Nearest(written, known)}
}

// failed reports whether a test of that name, which may hold its suite's,
// failed in the newest turn.
func failed(cp routing.Checkpoint, test string) bool {
	n := len(cp.Attempts)
	return n > 0 && slices.ContainsFunc(cp.Attempts[n-1].Verdict.Failures, func(f routing.Failure) bool { return f.IsTest(test) })
}
