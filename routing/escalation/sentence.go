package escalation

import (
	"encoding/json"
	"sort"
	"strings"
)

// Sentence is a sentence of a report: an id, and what fills its {placeholders},
// as name and value in turn. Values may be hostile; a face that shows them in
// another language or as Markdown does so by id and Args.
type Sentence struct {
	ID   string
	Args []string
}

func say(id string, args ...string) Sentence { return Sentence{ID: id, Args: args} }

// Arg returns the value of an argument, "" if there is none.
func (s Sentence) Arg(name string) string {
	for i := 0; i+1 < len(s.Args); i += 2 {
		if s.Args[i] == name {
			return s.Args[i+1]
		}
	}
	return ""
}

// String returns the sentence in English.
func (s Sentence) String() string { return s.Fill(english[s.ID]) }

// MarshalJSON writes the English sentence.
func (s Sentence) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Fill puts the arguments into the {placeholders} of template. What an
// argument holds is not read again.
func (s Sentence) Fill(template string) string {
	pairs := make([]string, 0, len(s.Args))
	for i := 0; i+1 < len(s.Args); i += 2 {
		pairs = append(pairs, "{"+s.Args[i]+"}", s.Args[i+1])
	}
	return strings.NewReplacer(pairs...).Replace(template)
}

// SentenceIDs lists the ids of all sentences, sorted.
func SentenceIDs() []string {
	ids := make([]string, 0, len(english))
	for id := range english {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// English returns the template of a sentence, "" if there is none.
func English(id string) string { return english[id] }

var english = map[string]string{
	"pattern.none":        "No failing run is on record for this checkpoint.",
	"pattern.single":      "It happened once: there is one failing run, so nothing to compare it with.",
	"pattern.same":        "The same failure in each of the {n} failing runs: no fix attempt touched it.",
	"pattern.oscillating": "It oscillates: the failures of one run return two runs later, so one fix undoes another.",
	"pattern.shrinking":   "It shrinks: {first} failing at first, {last} now. The fix attempts help, but do not get to the end.",
	"pattern.growing":     "It grows: {first} failing at first, {last} now. The fix attempts break more than they fix.",
	"pattern.files":       "Each failing run fails in a different file: {files}.",
	"pattern.new":         "Each failing run fails in a new way; no failure came back.",
	"pattern.stuck":       "It is stuck: the same failure in the last {stuck} failing runs; those before failed otherwise.",
	"pattern.mixed":       "No clear pattern: {still} of the failures of the last run were there in the run before, {new} are new.",
	"pattern.unnamed":     "The {n} failing runs named no failure that could be compared.",

	"cause.decisive":    "{what} failed ({class}); what decided it: {evidence}",
	"cause.repeated":    "{what} has failed the same way in {n} runs: the cause lies elsewhere than where it was fixed, or the suggestion is wrong.",
	"cause.oscillating": "Two requirements pull against each other: fixing the one brings back {what}.",
	"cause.growing":     "The last fix attempts changed something that more tests rely on.",
	"cause.shrinking":   "The work is on the right way, and takes more than {max} fix attempts.",
	"cause.spread":      "{n} failures are of one class ({class}) and may have one common cause.",
	"cause.design":      "The test and the design contradict each other; one of them has to change.",
	"cause.env":         "The machine, the network, a registry, a credential, the disk or the memory failed, not the change.",
	"cause.timeout":     "Something hangs or has become too slow for its time limit.",
	"cause.unclear":     "The run does not say what failed: {reason}",
	"cause.suspect":     "{reason}",
	"cause.unanswered":  "Nobody fixes it: {reason}.",
	"cause.unmet":       "The tests passed, but a criterion is not met: {unmet}",
	"cause.flaky":       "{n} of the failures are flaky: they failed and passed on one commit.",
	"cause.unknown":     "The runs hold no evidence of a cause ({reason}).",

	"design.main":    "Decide which of the two is right, test or design, and change the other; then comment {resume}.",
	"design.suspect": "Decide whether the tests that are left show that it works, and accept the commit: {accept}.",
	"design.look":    "Check whether what {what} asks for is what was intended.",
	"env.main":       "Fix the environment, then run the checkpoint again; nothing in the code has to change. Then comment {resume}.",
	"env.evidence":   "What the machine said: {evidence}",
	"env.suggest":    "Suggested: {suggestion}",
	"env.none":       "If the runner, the network or a service was at fault, fix that and comment {rerun}: the failed jobs run again.",
	"env.timeout":    "If the machine was slow or waited for something, run it again on a quieter one or raise the time limit.",
	"manual.look":    "Begin with {what}.",
	"manual.where":   "Begin with {what} at {where}.",
	"manual.fix":     "Suggested: {suggestion}",
	"manual.push":    "Push a fix yourself: a green run closes this.",
	"manual.restore": "Or bring the tests back and push: a new commit is decided anew.",
	"manual.more":    "Or allow more fix attempts: {retry}.",
	"manual.reset":   "Or reset the count: {reset}.",
	"manual.skip":    "Or skip it: {skip}.",
	"manual.log":     "Read the log of the run: what stopped it is not in its report.",
}
