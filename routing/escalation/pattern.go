package escalation

import (
	"sort"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// PatternKind is how the failures of one streak's runs relate.
type PatternKind string

// The patterns, in the order in which they are looked for.
const (
	PatternNone        PatternKind = "none"        // no failing run
	PatternSingle      PatternKind = "single"      // one failing run
	PatternUnnamed     PatternKind = "unnamed"     // nothing to compare by
	PatternSame        PatternKind = "same"        // equal fingerprints in each run
	PatternOscillating PatternKind = "oscillating" // A, B, A
	PatternShrinking   PatternKind = "shrinking"   // fewer failures each time
	PatternGrowing     PatternKind = "growing"     // more failures each time
	PatternStuck       PatternKind = "stuck"       // equal fingerprints in the last runs only
	PatternFiles       PatternKind = "files"       // another file each time
	PatternNew         PatternKind = "new"         // other failures each time
	PatternMixed       PatternKind = "mixed"
)

// prints are the failures of one failing run, as far as they can be compared.
type prints struct {
	set    map[string]bool
	files  map[string]bool
	failed int
}

// Pattern compares the failing runs among turns by the fingerprints of their
// failures. It returns the kind and the sentence that says it with figures.
func Pattern(turns []routing.Attempt) (PatternKind, Sentence) {
	var runs []prints
	unnamed := 0
	for _, t := range turns {
		if t.Kind == routing.KindPass {
			continue
		}
		p := printsOf(t.Verdict)
		if len(p.set) == 0 {
			unnamed++
		}
		runs = append(runs, p)
	}
	k := patternOf(runs, unnamed)
	return k, patternSentence(k, runs)
}

func printsOf(v routing.Verdict) prints {
	p := prints{set: map[string]bool{}, files: map[string]bool{}}
	for _, f := range v.Failures {
		p.set[identity(f.Suite, f.Name, history.FingerprintOf(f.Fingerprint))] = true
		if f.File != "" {
			p.files[f.File] = true
		}
	}
	for _, f := range v.Cut {
		p.set[identity(f.Suite, f.Name, f.Print)] = true
	}
	p.failed = FailedCount(v)
	return p
}

// identity is what a failure is compared by: its fingerprint in its short form, since of many
// failures no more is on record, or where it has none its place among the tests.
func identity(suite, name string, print uint64) string {
	if print != 0 {
		return strconv.FormatUint(print, 16)
	}
	return "name:" + suite + "\x00" + name
}

// FailedCount is the number of failures of v: the tests that failed where the
// run counted them, else the failures known.
func FailedCount(v routing.Verdict) int {
	return max(v.Counts.Failed, len(v.Failures)+v.Dropped)
}

func patternOf(runs []prints, unnamed int) PatternKind {
	switch {
	case len(runs) == 0:
		return PatternNone
	case len(runs) == 1:
		return PatternSingle
	case unnamed > 0:
		return PatternUnnamed
	case each(runs, func(a, b prints) bool { return equal(a.set, b.set) }):
		return PatternSame
	case oscillates(runs):
		return PatternOscillating
	case each(runs, func(a, b prints) bool { return a.failed > b.failed && common(a.set, b.set) > 0 }):
		return PatternShrinking
	case each(runs, func(a, b prints) bool { return a.failed < b.failed && common(a.set, b.set) > 0 }):
		return PatternGrowing
	case equal(runs[len(runs)-1].set, runs[len(runs)-2].set):
		return PatternStuck
	case !allPairs(runs, func(a, b prints) bool { return common(a.set, b.set) == 0 }):
		return PatternMixed
	case allPairs(runs, func(a, b prints) bool {
		return len(a.files) > 0 && len(b.files) > 0 && common(a.files, b.files) == 0
	}):
		return PatternFiles
	}
	return PatternNew
}

// oscillates is true if the last run repeats the run before the last but one.
func oscillates(runs []prints) bool {
	n := len(runs)
	return n >= 3 && equal(runs[n-1].set, runs[n-3].set) && common(runs[n-1].set, runs[n-2].set) == 0
}

func each(runs []prints, ok func(a, b prints) bool) bool {
	for i := 1; i < len(runs); i++ {
		if !ok(runs[i-1], runs[i]) {
			return false
		}
	}
	return true
}

func allPairs(runs []prints, ok func(a, b prints) bool) bool {
	for i := range runs {
		for j := i + 1; j < len(runs); j++ {
			if !ok(runs[i], runs[j]) {
				return false
			}
		}
	}
	return true
}

func equal(a, b map[string]bool) bool { return len(a) == len(b) && common(a, b) == len(a) }

func common(a, b map[string]bool) int {
	n := 0
	for k := range a {
		if b[k] {
			n++
		}
	}
	return n
}

func patternSentence(k PatternKind, runs []prints) Sentence {
	if len(runs) == 0 {
		return say("pattern.none")
	}
	first, last := runs[0], runs[len(runs)-1]
	still := 0
	if len(runs) > 1 {
		still = common(last.set, runs[len(runs)-2].set)
	}
	stuck := 1
	for i := len(runs) - 1; i > 0 && equal(runs[i].set, runs[i-1].set); i-- {
		stuck++
	}
	return say("pattern."+string(k), "stuck", strconv.Itoa(stuck), "n", strconv.Itoa(len(runs)),
		"first", strconv.Itoa(first.failed), "last", strconv.Itoa(last.failed),
		"still", strconv.Itoa(still), "new", strconv.Itoa(len(last.set)-still),
		"files", fileList(runs))
}

// fileList names one file per run, in their order.
func fileList(runs []prints) string {
	var out []string
	for _, r := range runs {
		var names []string
		for f := range r.files {
			names = append(names, f)
		}
		sort.Strings(names)
		if len(names) > 0 {
			out = append(out, names[0])
		}
	}
	return strings.Join(out, ", ")
}
