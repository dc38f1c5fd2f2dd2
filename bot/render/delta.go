package render

import (
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/history"
)

// delta is what changed from one turn to the next. Names are raw.
type delta struct {
	fixed   []string
	still   []string // the same failure, or the same test with another one
	differs map[string]bool
	fresh   []string
	unseen  []string // failed before, and this run says nothing of it
	flaky   []string // failed and passed on the commit of this run, so they are not fixed
	unsure  []string // not known to have failed before, when some failures were not on record
	known   bool     // there was a turn before
	missing int      // failures of the two that are not on record, so nothing is said of them
}

// compared is a failure as far as it is compared: of many failures the names and fingerprints are
// on record, and not the texts.
type compared struct {
	key   string
	name  string
	print uint64
	of    routing.Failure
}

// passed reports whether a failure is among the tests that ran and passed since. What is no test ran
// as well as it could where the run is green.
func (f compared) passed(tests map[string]bool) bool {
	return !isTest(f.of) || tests[testKey(f.of, f.print)]
}

// comparedOf returns the failures of a verdict that count and are the change's.
func comparedOf(v routing.Verdict) []compared {
	out := make([]compared, 0, len(v.Failures)+len(v.Cut))
	for _, f := range v.Failures {
		print := history.FingerprintOf(f.Fingerprint)
		out = append(out, compared{testKey(f, print), escalation.Name(f), print, f})
	}
	for _, c := range v.Cut {
		if c.PreExisting || c.Quarantined {
			continue
		}
		f := routing.Failure{Suite: c.Suite, Name: c.Name, Kind: c.Kind, Class: c.Class}
		out = append(out, compared{testKey(f, c.Print), escalation.Name(f), c.Print, f})
	}
	return out
}

// compare tells the failures of two turns apart: by test name where there is
// one, and by fingerprint, so that a renamed test that fails the same way is
// no new failure. What this run did not get to is unseen, not fixed, and what
// failed and passed on its commit is flaky.
func compare(before, now routing.Verdict, flaky []string, passed map[string]bool) delta {
	d := delta{known: true, differs: map[string]bool{}, missing: before.Unlisted() + now.Unlisted()}
	earlier := comparedOf(before)
	was, prints := map[string]compared{}, map[uint64]string{}
	for _, f := range earlier {
		was[f.key] = f
		if f.print != 0 {
			prints[f.print] = f.key
		}
	}
	met := map[string]bool{}
	for _, f := range comparedOf(now) {
		k := f.key
		old, ok := was[k]
		if !ok && f.print != 0 && !met[prints[f.print]] {
			if k2, moved := prints[f.print]; moved {
				k, old, ok = k2, was[k2], true
			}
		}
		switch {
		case !ok && before.Unlisted() > 0:
			d.unsure = append(d.unsure, f.name)
		case !ok:
			d.fresh = append(d.fresh, f.name)
		case met[k]:
		default:
			met[k] = true
			d.still = append(d.still, f.name)
			d.differs[f.name] = old.print != f.print
		}
	}
	d.gone(earlier, now, met, flaky, passed)
	return d
}

func (d *delta) gone(before []compared, now routing.Verdict, met map[string]bool, flaky []string, passed map[string]bool) {
	for _, f := range before {
		if met[f.key] {
			continue
		}
		met[f.key] = true
		switch {
		case slices.Contains(flaky, routing.TestName(f.of.Suite, f.of.Name)):
			d.flaky = append(d.flaky, f.name)
		case reached(now, f.of) && (now.Result != routing.Pass || f.passed(passed)):
			d.fixed = append(d.fixed, f.name)
		default:
			d.unseen = append(d.unseen, f.name)
		}
	}
}

// testKey is what a failure is compared by: its test, or where it names none its fingerprint.
func testKey(f routing.Failure, print uint64) string {
	switch {
	case f.Name != "":
		return f.Suite + "\x00" + f.Name
	case print != 0:
		return fmt.Sprint("print:", print)
	}
	return "suite:" + f.Suite
}

// reached reports whether a run would have shown f again: it ended by itself,
// kept all it found, and for a test, ran tests.
func reached(now routing.Verdict, f routing.Failure) bool {
	switch {
	case now.Result == routing.Pass:
		return true
	case now.Result != routing.Fail, now.Class == routing.EnvIssue, now.Class == routing.Timeout, now.Unlisted() > 0:
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
