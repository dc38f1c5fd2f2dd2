package render

import (
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// delta is what changed from one turn to the next. Names are raw.
type delta struct {
	fixed   []string
	still   []string // the same failure, or the same test with another one
	differs map[string]bool
	fresh   []string
	unseen  []string // failed before, and this run says nothing of it
	known   bool     // there was a turn before
}

// compare tells the failures of two turns apart: by test name where there is
// one, and by fingerprint, so that a renamed test that fails the same way is
// no new failure. What this run did not get to is unseen, not fixed.
func compare(before, now routing.Verdict) delta {
	d := delta{known: true, differs: map[string]bool{}}
	was, prints := map[string]routing.Failure{}, map[string]string{}
	for _, f := range before.Failures {
		was[testKey(f)] = f
		if f.Fingerprint != "" {
			prints[f.Fingerprint] = testKey(f)
		}
	}
	met := map[string]bool{}
	for _, f := range now.Failures {
		k := testKey(f)
		old, ok := was[k]
		if !ok && f.Fingerprint != "" && !met[prints[f.Fingerprint]] {
			if k2, moved := prints[f.Fingerprint]; moved {
				k, old, ok = k2, was[k2], true
			}
		}
		name := escalation.Name(f)
		switch {
		case !ok:
			d.fresh = append(d.fresh, name)
		case met[k]:
		default:
			met[k] = true
			d.still = append(d.still, name)
			d.differs[name] = old.Fingerprint != f.Fingerprint
		}
	}
	d.gone(before, now, met)
	return d
}

func (d *delta) gone(before, now routing.Verdict, met map[string]bool) {
	for _, f := range before.Failures {
		k := testKey(f)
		if met[k] {
			continue
		}
		met[k] = true
		if reached(now, f) {
			d.fixed = append(d.fixed, escalation.Name(f))
		} else {
			d.unseen = append(d.unseen, escalation.Name(f))
		}
	}
}

func testKey(f routing.Failure) string {
	if f.Name == "" {
		return "print:" + escalation.Identity(f)
	}
	return f.Suite + "\x00" + f.Name
}

// reached reports whether a run would have shown f again: it ended by itself,
// kept all it found, and for a test, ran tests.
func reached(now routing.Verdict, f routing.Failure) bool {
	switch {
	case now.Result == routing.Pass:
		return true
	case now.Result != routing.Fail, now.Class == routing.EnvIssue, now.Class == routing.Timeout, now.Dropped > 0:
		return false
	}
	return !isTest(f) || now.Counts.Tests > 0 && now.Class != routing.TypeError
}

func isTest(f routing.Failure) bool {
	switch f.Kind {
	case "diagnostic", "problem", "review", "build", "coverage", "exit", "tests":
		return false
	}
	return true
}
