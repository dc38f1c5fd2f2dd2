package stats

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// place is where something is counted: one key of each dimension.
type place struct {
	checkpoint, rule, class, signal string
	at                              time.Time
}

// attempt is what is remembered of an attempt beside the attempt itself.
type attempt struct {
	place
	redone bool // decided for what a human did
	wrong  bool // a human said that its class was wrong
}

// counter counts one stream.
type counter struct {
	t        *Tally
	g        *Groups
	seen     map[*Figures]bool // that have counted this case
	c        routing.Case
	attempts map[string][]attempt // by checkpoint, as its Attempts
	answered map[string][]int     // by checkpoint: how many attempts there were when a person acted
	runs     map[[2]string]place  // by checkpoint and run
}

// addCase counts a case. The figures of a run belong to the window of when it
// was recorded.
func (t *Tally) addCase(key string, events []routing.Event) error {
	n := &counter{t: t, seen: map[*Figures]bool{}, c: routing.Case{Key: key}, attempts: map[string][]attempt{}, answered: map[string][]int{}, runs: map[[2]string]place{}}
	one := New(t.Window) // of an unreadable stream nothing is counted
	n.g, n.t = one.repo(RepositoryOf(key)), one
	for i, e := range events {
		if act, ok := e.Human(); ok {
			n.human(act)
		}
		before := len(n.c.Checkpoints[e.Checkpoint()].Attempts)
		next, err := n.c.Apply(e)
		if err != nil {
			return fmt.Errorf("event %d of case %s: %w", i+1, key, err)
		}
		n.c = next
		if run, ok := e.Run(); ok {
			n.run(run, e.At, before)
		} else if cp := n.c.Checkpoints[e.Checkpoint()]; len(cp.Attempts) > before { // it joined an incident
			v := cp.Attempts[before].Verdict
			n.attempts[cp.Name] = append(n.attempts[cp.Name], attempt{place: place{cp.Name, cp.Attempts[before].Rule, class(v), signal(v), e.At}})
		}
	}
	for _, name := range n.c.Names() {
		n.story(name)
	}
	t.Merge(one)
	return nil
}

// count calls fn with the figures of a place, if it is in the window.
func (n *counter) count(p place, fn func(*Figures)) {
	if !n.t.Window.Holds(p.at) {
		return
	}
	for _, f := range []*Figures{
		n.g.Total, n.g.at(ByCheckpoint, p.checkpoint), n.g.at(ByRule, p.rule), n.g.at(ByClass, p.class), n.g.at(BySignal, p.signal),
		n.t.day(p.at.UTC().Format(time.DateOnly)),
	} {
		if !n.seen[f] {
			n.seen[f] = true
			f.Cases++
		}
		fn(f)
	}
}

// human remembers where a human acted, and what was said to be wrong.
func (n *counter) human(e routing.HumanActed) {
	if _, known := n.c.Answered[e.Answer]; known {
		return
	}
	attempts := n.attempts[e.Checkpoint]
	n.answered[e.Checkpoint] = append(n.answered[e.Checkpoint], len(attempts))
	if e.Action == routing.HumanWrong && len(attempts) > 0 {
		attempts[len(attempts)-1].wrong = true
	}
}

// run counts a run's decision, and remembers the attempt that it took.
func (n *counter) run(e routing.RunRecorded, at time.Time, before int) {
	v, d := e.Verdict, e.Decision
	cp := n.c.Checkpoints[v.Checkpoint]
	taken := len(cp.Attempts) > before
	analyzed := v
	if taken {
		analyzed = cp.Attempts[len(cp.Attempts)-1].Verdict // of the whole run, as it counted
	}
	p := place{v.Checkpoint, d.Rule, class(analyzed), signal(analyzed), at}
	if taken {
		n.attempts[v.Checkpoint] = append(n.attempts[v.Checkpoint], attempt{place: p, redone: d.Redo != ""})
	}
	n.count(p, func(f *Figures) { f.decide(d.Kind, 1); f.Saved += d.Saved() })
	id := [2]string{v.Checkpoint, v.Run.Key()}
	if _, known := n.runs[id]; !known {
		n.runs[id] = p
		n.count(p, func(f *Figures) { f.Runs++ })
	}
	if flaky(v, d) {
		n.count(p, func(f *Figures) { f.Flaky++ })
	}
	if q := analyzed.Counts.Quarantined; taken && q > 0 {
		n.count(p, func(f *Figures) { f.Quarantined += q })
	}
	if _, old := v.Standings(); len(old) > 0 {
		n.count(p, func(f *Figures) { f.PreExisting += len(old) })
	}
}

func class(v routing.Verdict) string {
	if v.Class == "" {
		return None
	}
	return string(v.Class)
}

// signal returns what the class was concluded from.
func signal(v routing.Verdict) string {
	if len(v.Evidence) > 0 && v.Evidence[0].Signal != "" {
		return v.Evidence[0].Signal
	}
	for _, f := range v.Failures {
		if f.Decisive && len(f.Evidence) > 0 && f.Evidence[0].Signal != "" {
			return f.Evidence[0].Signal
		}
	}
	return None
}

// flaky reports whether a run is evidence of flakiness: a test passed when it
// was repeated, or its commit has passed and failed.
func flaky(v routing.Verdict, d routing.Decision) bool {
	return v.Counts.Flaky > 0 || len(d.Flaky) > 0 || v.Class == routing.Flaky || d.Rule == "completed-commit" && v.Result != routing.Pass ||
		slices.ContainsFunc(v.Failures, func(f routing.Failure) bool { return f.Flaky })
}

// streak is what began with a failing attempt.
type streak struct {
	place
	from      int // its first attempt
	retries   int
	escalated bool
}

// story counts what a checkpoint's attempts came to.
func (n *counter) story(name string) {
	cp := n.c.Checkpoints[name]
	n.quality(name, cp)
	var now *streak
	for i, t := range cp.Attempts {
		is := n.attempts[name][i]
		if t.Undone && len(t.Flaky) == 0 {
			n.count(is.place, func(f *Figures) { f.Undone++ })
		}
		if t.Kind == routing.KindPass {
			n.passed(name, i, is, t, now)
			now = nil
			continue
		}
		if t.Kind == routing.KindPreExisting || t.Kind == routing.KindIncident {
			continue // nobody had to fix anything
		}
		if !is.redone {
			n.count(is.place, func(f *Figures) { f.Failing++; f.Wrong += one(is.wrong) })
		}
		if t.Undone && len(t.Flaky) > 0 {
			continue // its commit passed too: there was nothing to fix
		}
		if now == nil {
			now = &streak{place: is.place, from: i}
		}
		if !t.Undone && t.Kind == routing.KindRetry {
			now.retries++
			n.returned(cp, i, is.place)
		}
		now.escalated = now.escalated || t.Kind.Escalates()
	}
	if now != nil {
		n.settle(name, *now, len(cp.Attempts), nil)
	}
}

// quality counts whether a checkpoint's feedback was effective, where its
// newest failing attempt is counted, as of its last event.
func (n *counter) quality(name string, cp routing.Checkpoint) {
	p := place{checkpoint: name, rule: None, class: None, signal: None}
	for i, t := range cp.Attempts {
		if t.Kind != routing.KindPass || p.rule == None {
			p = n.attempts[name][i].place
		}
	}
	p.at = cp.Updated
	is := n.c.Metrics(name).FeedbackQuality
	n.count(p, func(f *Figures) {
		f.Effective += one(is == "effective")
		f.Ineffective += one(is == "ineffective")
		f.NoFeedback += one(is == "none")
	})
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (n *counter) passed(name string, i int, is attempt, t routing.Attempt, now *streak) {
	if now == nil {
		n.count(is.place, func(f *Figures) { f.First++ })
		return
	}
	n.settle(name, *now, i, &t)
}

// settle counts a streak that ended with the attempt green, which is the one
// numbered end, or has not ended yet.
func (n *counter) settle(name string, is streak, end int, green *routing.Attempt) {
	acted := slices.ContainsFunc(n.answered[name], func(at int) bool { return at > is.from && at <= end })
	n.count(is.place, func(f *Figures) {
		f.Streaks++
		f.Escalated += one(is.escalated || acted)
		if green == nil {
			return
		}
		f.Green++
		f.Unescalated += one(!is.escalated && !acted)
		f.Attempts.add(int64(is.retries), 1)
		f.Time.add(Rounded(green.At.Sub(is.at)), 1)
	})
}

// returned counts a retry that was followed by an attempt on another commit.
func (n *counter) returned(cp routing.Checkpoint, i int, p place) {
	back := cp.Attempts[i].Verdict
	for _, t := range cp.Attempts[i+1:] {
		next := t.Verdict
		if t.Undone || next.Run.SHA == back.Run.SHA {
			continue
		}
		same := sameFailures(back, next)
		n.count(p, func(f *Figures) { f.Followed++; f.Unchanged += one(same) })
		return
	}
}

func sameFailures(a, b routing.Verdict) bool {
	x, y := prints(a), prints(b)
	return len(x) > 0 && a.Unlisted()+b.Unlisted() == 0 && maps.Equal(x, y)
}

// prints are the fingerprints of the failures that count.
func prints(v routing.Verdict) map[uint64]bool {
	out := map[uint64]bool{}
	for _, f := range v.Failures {
		if !f.Quarantined {
			out[history.FingerprintOf(f.Fingerprint)] = true
		}
	}
	for _, f := range v.Cut {
		if !f.Quarantined {
			out[f.Print] = true
		}
	}
	return out
}
