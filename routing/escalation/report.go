package escalation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// DefaultCommand is what a human's command to the bot begins with.
const DefaultCommand = "/switchback"

// Report is the model of an escalation report. No field is left empty: what is
// not known is said in words. Its texts hold parts of a run's output, raw.
type Report struct {
	Type       Type         `json:"type"`
	Severity   Severity     `json:"severity"`
	Kind       routing.Kind `json:"kind"`
	Session    string       `json:"session"`
	Checkpoint string       `json:"checkpoint"`
	Attempts   string       `json:"attempts"` // reworks returned for a fix of those allowed, "3/3"
	Retries    int          `json:"retries"`
	Max        int          `json:"max"`
	Reason     string       `json:"reason"`
	History    []Row        `json:"history"`
	Trend      PatternKind  `json:"trend"`
	Pattern    Sentence     `json:"pattern"`
	Causes     []Sentence   `json:"causes"` // the likeliest first, at least one
	Actions    Actions      `json:"actions"`
	Pauses     bool         `json:"pauses"` // nothing goes on until a human acts
	OpenedAt   time.Time    `json:"opened_at"`
}

// Row is one run of the report's history.
type Row struct {
	Iteration int           `json:"iteration"` // 1 for the first run of the streak
	Result    routing.Kind  `json:"result"`
	Class     routing.Class `json:"class"` // UNKNOWN where the run gave none
	Reason    string        `json:"reason"`
	SHA       string        `json:"sha"`
	Run       routing.Run   `json:"run"`
	Failed    int           `json:"failed"`
	First     string        `json:"first"` // the first failing test, "" where none is named
	At        time.Time     `json:"at"`
}

// Actions are what a human can do, by what they find the cause to be. Each
// section holds at least one sentence.
type Actions struct {
	Design      []Sentence `json:"design"`
	Environment []Sentence `json:"environment"`
	Manual      []Sentence `json:"manual"`
}

// Build returns the report of checkpoint of c: of its newest escalation, or
// where none is left of its newest turn. p is what the limit is read from when
// the case does not hold it.
func Build(c routing.Case, checkpoint string, p routing.Policy) Report {
	cp := c.Checkpoints[checkpoint]
	story := untilEscalation(cp.Story())
	r := Report{
		Session: orElse(c.Key, "unknown"), Checkpoint: orElse(checkpoint, "unknown"),
		Kind: routing.KindUnclear, Reason: "no run of this checkpoint is on record", OpenedAt: c.Updated,
		Max: routing.Limit(cp, p),
	}
	var last routing.Attempt
	if n := len(story); n > 0 {
		last = story[n-1]
		r.Kind, r.Retries, r.OpenedAt = last.Kind, last.Iteration, last.At
		r.Reason = orElse(last.Reason, orElse(last.Verdict.Reason, string(last.Kind)))
		r.Max = MaxOf(cp, last, p)
	}
	r.Type, r.Severity = TypeOf(r.Kind, last.Verdict.Class)
	r.Attempts = fmt.Sprintf("%d/%d", r.Retries, r.Max)
	r.Pauses = !cp.Skipped
	for i, t := range story {
		r.History = append(r.History, row(i+1, t))
	}
	r.Trend, r.Pattern = Pattern(slices.DeleteFunc(slices.Clone(story), func(t routing.Attempt) bool { return t.Kind == routing.KindSuspect })) // nothing failed
	r.Causes = causes(r, last)
	r.Actions = actions(r, last)
	return r
}

// untilEscalation drops the turns that follow the newest escalation.
func untilEscalation(story []routing.Attempt) []routing.Attempt {
	for i := len(story); i > 0; i-- {
		if story[i-1].Kind.Escalates() {
			return story[:i]
		}
	}
	return story
}

// MaxOf returns the number of reworks that were allowed when t was decided.
func MaxOf(cp routing.Checkpoint, t routing.Attempt, p routing.Policy) int {
	if rs := cp.Runs[t.Verdict.Run.Key()]; rs.Decided && rs.Decision.Kind == t.Kind {
		return rs.Decision.Max
	}
	return max(routing.Limit(cp, p), t.Iteration)
}

func row(n int, t routing.Attempt) Row {
	v := t.Verdict
	r := Row{
		Iteration: n, Result: t.Kind, Class: v.Class, Reason: orElse(v.Reason, t.Reason),
		SHA: v.Run.SHA, Run: v.Run, Failed: FailedCount(v), At: t.At,
	}
	if r.Class == "" {
		r.Class = routing.Unknown
	}
	if v.Result == routing.TimedOut {
		r.Class = routing.Timeout
	}
	if f, ok := decisive(v); ok {
		r.First = Name(f)
	}
	r.Reason = orElse(r.Reason, string(r.Class))
	return r
}

// decisive returns the failure that stopped the run.
func decisive(v routing.Verdict) (routing.Failure, bool) {
	for _, f := range v.Failures {
		if f.Decisive {
			return f, true
		}
	}
	if len(v.Failures) > 0 {
		return v.Failures[0], true
	}
	return routing.Failure{}, false
}

// Name returns what a failure is called: its test, or its message or place
// where it is no test's.
func Name(f routing.Failure) string {
	for _, s := range []string{f.Name, f.Message, f.File, f.Suite} {
		if s = strings.TrimSpace(s); s != "" {
			return strings.TrimSpace(strings.SplitN(s, "\n", 2)[0])
		}
	}
	return string(f.Class)
}

// Where returns the failure's place as file:line, "" if it is not known.
func Where(f routing.Failure) string {
	if f.File == "" || f.Line <= 0 {
		return f.File
	}
	return f.File + ":" + strconv.Itoa(f.Line)
}

// causes derives what may lie behind, the best evidence first.
func causes(r Report, last routing.Attempt) []Sentence {
	v := last.Verdict
	f, named := decisive(v)
	var out []Sentence
	switch {
	case r.Kind == routing.KindSuspect:
		return []Sentence{say("cause.suspect", "reason", r.Reason)}
	case r.Kind == routing.KindNoAnswer:
		out = append(out, say("cause.unanswered", "reason", r.Reason))
	case r.Kind == routing.KindDesign:
		out = append(out, say("cause.design"))
	case r.Kind == routing.KindEnv:
		out = append(out, say("cause.env"))
	case r.Kind == routing.KindTimeout || v.Result == routing.TimedOut:
		out = append(out, say("cause.timeout"))
	case len(v.Unmet) > 0:
		out = append(out, say("cause.unmet", "unmet", strings.Join(v.Unmet, "; ")))
	case r.Kind == routing.KindUnclear:
		out = append(out, say("cause.unclear", "reason", r.Reason))
	}
	out = append(out, trendCause(r, f, named)...)
	if ev := evidence(v, f); ev != "" {
		what := checkpointOr(f, named, r.Checkpoint)
		out = append(out, say("cause.decisive", "what", what, "class", string(r.lastClass()), "evidence", ev))
	}
	out = append(out, spread(v)...)
	if len(out) == 0 {
		out = append(out, say("cause.unknown", "reason", r.Reason))
	}
	return out
}

func trendCause(r Report, f routing.Failure, named bool) []Sentence {
	what := checkpointOr(f, named, r.Checkpoint)
	switch r.Trend {
	case PatternSame, PatternStuck:
		return []Sentence{say("cause.repeated", "what", what, "n", r.Pattern.Arg("stuck"))}
	case PatternOscillating:
		return []Sentence{say("cause.oscillating", "what", what)}
	case PatternGrowing:
		return []Sentence{say("cause.growing")}
	case PatternShrinking:
		return []Sentence{say("cause.shrinking", "max", strconv.Itoa(r.Max))}
	}
	return nil
}

// spread says what many failures have in common.
func spread(v routing.Verdict) []Sentence {
	var out []Sentence
	count, flaky := map[routing.Class]int{}, 0
	for _, f := range v.Failures {
		count[f.Class]++
		if f.Flaky || f.Class == routing.Flaky {
			flaky++
		}
	}
	for _, c := range routing.Classes() {
		if n := count[c]; n >= 3 && n*2 > len(v.Failures) {
			out = append(out, say("cause.spread", "n", strconv.Itoa(n), "class", string(c)))
		}
	}
	if flaky > 0 {
		out = append(out, say("cause.flaky", "n", strconv.Itoa(flaky)))
	}
	return out
}

func (r Report) lastClass() routing.Class {
	if n := len(r.History); n > 0 {
		return r.History[n-1].Class
	}
	return routing.Unknown
}

func checkpointOr(f routing.Failure, named bool, checkpoint string) string {
	if named {
		return Name(f)
	}
	return checkpoint
}

// evidence returns the first line that decided the class of the run.
func evidence(v routing.Verdict, f routing.Failure) string {
	for _, e := range append(append([]routing.Evidence(nil), f.Evidence...), v.Evidence...) {
		if t := strings.TrimSpace(e.Text); t != "" {
			return t
		}
	}
	return strings.TrimSpace(strings.SplitN(f.Message, "\n", 2)[0])
}

func actions(r Report, last routing.Attempt) Actions {
	v := last.Verdict
	f, named := decisive(v)
	cmd := func(verb string) string { return DefaultCommand + " " + verb + " " + r.Checkpoint }
	resume := []string{"resume", cmd("resume")}
	if r.Kind == routing.KindSuspect {
		return Actions{Design: []Sentence{say("design.suspect", "accept", cmd("accept"))}, Environment: environment(r, v, f, resume),
			Manual: []Sentence{say("manual.restore"), say("manual.skip", "skip", cmd("skip"))}}
	}
	a := Actions{Design: []Sentence{say("design.main", resume...)}}
	if named && r.Kind != routing.KindEnv {
		a.Design = append(a.Design, say("design.look", "what", Name(f)))
	}
	a.Environment = environment(r, v, f, resume)
	a.Manual = manual(r.Kind, f, named)
	a.Manual = append(a.Manual, say("manual.push"),
		say("manual.more", "retry", cmd("retry 2")), say("manual.reset", "reset", cmd("reset")), say("manual.skip", "skip", cmd("skip")))
	return a
}

func environment(r Report, v routing.Verdict, f routing.Failure, resume []string) []Sentence {
	switch {
	case r.Kind == routing.KindEnv || v.Class == routing.EnvIssue:
		out := []Sentence{say("env.main", resume...)}
		if ev := evidence(v, f); ev != "" {
			out = append(out, say("env.evidence", "evidence", ev))
		}
		if f.Suggestion != "" {
			out = append(out, say("env.suggest", "suggestion", f.Suggestion))
		}
		return out
	case r.Kind == routing.KindTimeout || v.Result == routing.TimedOut:
		return []Sentence{say("env.timeout")}
	}
	return []Sentence{say("env.none", "rerun", DefaultCommand+" rerun "+r.Checkpoint)}
}

func manual(k routing.Kind, f routing.Failure, named bool) []Sentence {
	if !named {
		return []Sentence{say("manual.log")}
	}
	out := []Sentence{say("manual.look", "what", Name(f))}
	if w := Where(f); w != "" && w != Name(f) {
		out[0] = say("manual.where", "what", Name(f), "where", w)
	}
	if f.Suggestion != "" && k != routing.KindEnv {
		out = append(out, say("manual.fix", "suggestion", f.Suggestion))
	}
	return out
}

func orElse(s, t string) string {
	if strings.TrimSpace(s) != "" {
		return s
	}
	return t
}
