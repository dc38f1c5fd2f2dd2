package history

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Named is a test of a run with its name.
type Named struct {
	ID                ID
	Status            Status
	Suite, Name, File string
}

// Ran are the tests of a run with their names, in the order of their ids. A test stands in it as often
// as it ran.
type Ran struct {
	Tests   []Named
	Partial bool // tests may be missing, or have no name
}

// NewRan returns tests in any order, which it sorts in place.
func NewRan(tests []Named, partial bool) Ran {
	slices.SortFunc(tests, func(a, b Named) int {
		if a.ID != b.ID { // as a rule; comparing names costs more
			return cmp.Compare(a.ID, b.ID)
		}
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Name, b.Name))
	})
	return Ran{tests, partial}
}

// Of returns what stands of one test.
func (r Ran) Of(id ID) []Named {
	at, _ := slices.BinarySearchFunc(r.Tests, id, func(t Named, id ID) int { return cmp.Compare(t.ID, id) })
	end := at
	for end < len(r.Tests) && r.Tests[end].ID == id {
		end++
	}
	return r.Tests[at:end]
}

// Fate is what a run without failures says of a test that failed before.
type Fate string

// The fates. Unknown is that of a test of which the run cannot say whether it ran, and Loaded that of
// a set-up or a file of tests that failed as a whole, which is no test: others of it ran since.
const (
	FatePassed  Fate = "passed"
	FateSkipped Fate = "skipped"
	FateGone    Fate = "gone"
	FateRenamed Fate = "renamed"
	FateUnknown Fate = "unknown"
	FateLoaded  Fate = "loaded"
)

// Earlier is a test that failed in an earlier run.
type Earlier struct {
	ID                ID
	Suite, Name, File string
	Run               Inventory // of the run in which it failed last
	Lost              bool      // the inventory of that run is not kept
	Unsure            bool      // the name is not the whole name of the test
	Setup             bool      // it failed before the test itself began
}

// Followed is what became of a test.
type Followed struct {
	Fate Fate
	Now  string // name of the test that it is now called by, of FateRenamed
}

// Follow returns what became of tests in a later run without failures, in their order. known tells the
// tests of all earlier runs: a test can only have been renamed to one that is new. A test counts as
// renamed, and the new one has to have passed, where
//
//   - a new test has its name with other parameters in the same suite or file,
//   - a new test of another suite or file has its name, which means that it was moved, or
//   - as many tests of its suite or file are new as failed before and are gone.
func Follow(tests []Earlier, now Ran, known func(ID) bool) []Followed {
	f := follower{now: now, out: make([]Followed, len(tests)), tests: tests, taken: map[int]bool{}}
	for i, t := range tests {
		f.out[i].Fate = f.fate(t)
	}
	if !slices.ContainsFunc(f.out, func(o Followed) bool { return o.Fate == FateGone }) {
		return f.out
	}
	for i, t := range now.Tests {
		if (t.Status == Passed || t.Status == Flaky) && !known(t.ID) {
			f.fresh = append(f.fresh, i)
		}
	}
	f.pair(sameParametrized)
	f.pair(moved)
	f.renamed()
	return f.out
}

// follower pairs tests that are gone with tests that are new.
type follower struct {
	tests []Earlier
	now   Ran
	out   []Followed
	fresh []int // of now.Tests: those that are new, and passed
	taken map[int]bool

	places map[string]bool // suites and files of which tests ran, and what they are in
}

// fate is what the run says of a test by its name alone.
func (f *follower) fate(t Earlier) Fate {
	passed, skipped, failed := 0, 0, 0
	for _, n := range f.now.Of(t.ID) {
		switch n.Status {
		case Skipped:
			skipped++
		case Failed:
			failed++
		default:
			passed++
		}
	}
	ran, left := before(t)
	switch {
	case failed > 0:
		return FateUnknown // its failure does not count
	case skipped > 0 && (passed == 0 || ran && !left):
		return FateSkipped // in the leg that failed before
	case passed == 1 && ran && several(t):
		return FateUnknown // it ran twice before: is this where it failed?
	case passed > 0:
		return FatePassed
	case t.Setup && (hook(t.Name) || f.container(t.Name)):
		return FateLoaded
	case t.Unsure || f.now.Partial:
		return FateUnknown
	}
	return FateGone
}

// hooks are how tools call what runs before, after or around tests.
var hooks = []string{
	"before each", "before all", "after each", "after all", "beforeall", "beforeeach", "afterall", "aftereach", "before(", "after(",
	"setup", "set_up", "set-up", "teardown", "tear_down", "tear-down", "initializationerror", "classmethod", "failed to run", "failed to load",
	"error occurred", "_failedtest", "executionerror", "<init>", "<clinit>", "collect", "import",
}

// hook reports whether a failure is named after what runs around tests.
func hook(name string) bool {
	name = strings.ToLower(name)
	return name == "" || slices.ContainsFunc(hooks, func(h string) bool { return strings.Contains(name, h) })
}

// container reports whether a name is that of a suite or file of which tests ran.
func (f *follower) container(name string) bool {
	want := place(name)
	if f.places == nil {
		f.places = map[string]bool{}
		for _, t := range f.now.Tests {
			for _, of := range []string{t.Suite, t.File} {
				for of = place(of); of != "" && !f.places[of]; of = of[:max(0, strings.LastIndexByte(of, '/'))] {
					f.places[of] = true
				}
			}
		}
	}
	return f.places[want]
}

// place writes the name of a suite or file alike in all formats.
func place(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, ext := range []string{".py", ".rb", ".php", ".ts", ".js", ".tsx", ".jsx", ".mjs", ".cjs", ".exs", ".java", ".kt"} {
		name = strings.TrimSuffix(name, ext)
	}
	return strings.Trim(places.Replace(name), "/")
}

var places = strings.NewReplacer("::", "/", " > ", "/", " › ", "/", ".", "/", `\\`, "/", "#", "/")

// before reports whether the statuses of a test in the run that it failed in are known, and whether it
// was also skipped there.
func before(t Earlier) (known, skipped bool) {
	of := t.Run.Of(t.ID)
	return len(of) > 0 && t.whole(), slices.ContainsFunc(of, func(x Test) bool { return x.Status == Skipped })
}

// several reports whether a test ended differently in the legs of the run that it failed in.
func several(t Earlier) bool {
	return slices.ContainsFunc(t.Run.Of(t.ID), func(x Test) bool { return x.Status == Passed })
}

// pair takes the first new test that fits for each that is gone, and where it has other parameters all
// of them.
func (f *follower) pair(fits func(Earlier, Named) bool) {
	for i, t := range f.tests {
		if f.out[i].Fate != FateGone {
			continue
		}
		for _, n := range f.fresh {
			if !f.taken[n] && fits(t, f.now.Tests[n]) {
				f.taken[n] = true
				if f.out[i] = (Followed{FateRenamed, f.now.Tests[n].Title()}); !t.whole() {
					f.out[i] = Followed{Fate: FateUnknown} // the other one may be no new test
				}
				break
			}
		}
	}
}

// whole reports whether all tests of the run that the test failed in are known.
func (t Earlier) whole() bool { return !t.Lost && !t.Run.Partial }

// Title is the name of a test with its suite.
func (n Named) Title() string {
	if n.Suite == "" {
		return n.Name
	}
	return n.Suite + " › " + n.Name
}

func sameParametrized(t Earlier, n Named) bool {
	return together(t, n) && (stem(t.Name) == stem(n.Name) || extends(n.Name, t.Name) || extends(t.Name, n.Name))
}

// extends reports whether a name is another one with more behind it, such as a parameter.
func extends(name, of string) bool {
	rest, ok := strings.CutPrefix(name, of)
	if !ok || rest == "" || of == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsLetter(first) && !unicode.IsDigit(first)
}

// moved reports whether n has the name of t in another suite or file. The name of a tool that writes
// the suite into the name is its last part.
func moved(t Earlier, n Named) bool {
	return t.Name == n.Name || leaf(t.Name) == leaf(n.Name) && leaf(t.Name) != ""
}

// together reports whether two tests are of one suite or file. Tools without suites write them into the
// name.
func together(t Earlier, n Named) bool {
	return t.Suite == n.Suite && inside(t.Name) == inside(n.Name) || t.File != "" && t.File == n.File
}

// within is what stands in front of the last part of a name.
func inside(name string) string { return strings.TrimSuffix(name, leaf(name)) }

// renamed pairs what is left by suite, or by file, where the numbers are equal.
func (f *follower) renamed() {
	of := map[string][]int{} // gone tests by suite
	for i, t := range f.tests {
		if f.out[i].Fate == FateGone {
			suite := t.Suite + "\x00" + inside(t.Name)
			of[suite] = append(of[suite], i)
		}
	}
	equal := f.unchangedNumber()
	for _, suite := range sorted(of) {
		gone := of[suite]
		var new []int
		for _, n := range f.fresh {
			if !f.taken[n] && together(f.tests[gone[0]], f.now.Tests[n]) {
				new = append(new, n)
			}
		}
		sure := !slices.ContainsFunc(gone, func(i int) bool { return !f.tests[i].whole() })
		for k, i := range gone {
			switch {
			case len(new) > 0 && !sure:
				f.out[i].Fate = FateUnknown // what else was there before is not known
			case len(new) == len(gone), len(new) > len(gone) && equal:
				f.taken[new[k]] = true
				f.out[i] = Followed{FateRenamed, f.now.Tests[new[k]].Title()}
			}
		}
	}
}

// unchangedNumber reports whether the run has as many different tests as the one before had, where
// that is known: then tests that passed were renamed, too.
func (f *follower) unchangedNumber() bool {
	for i, t := range f.tests {
		if f.out[i].Fate == FateGone {
			return t.whole() && distinct(t.Run.Tests, func(x Test) ID { return x.ID }) == distinct(f.now.Tests, func(x Named) ID { return x.ID })
		}
	}
	return false
}

// distinct counts the ids of tests in their order.
func distinct[T any](tests []T, id func(T) ID) int {
	n := 0
	for i, t := range tests {
		if i == 0 || id(tests[i-1]) != id(t) {
			n++
		}
	}
	return n
}

func sorted(m map[string][]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// stem is the name of a test without its parameters: what stands before a bracket, or before the
// case of a subtest.
func stem(name string) string {
	if i := strings.IndexAny(name, "[(<{"); i > 0 {
		name = name[:i]
	} else if i := strings.IndexByte(name, '/'); i > 0 && !strings.ContainsRune(name[:i], ' ') {
		name = name[:i]
	}
	return strings.TrimRightFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' || r == ':' })
}

// leaf is the last part of a name that holds its place, "" of one that does not.
func leaf(name string) string {
	at := -1
	for _, sep := range []string{"::", " > ", " › ", " » "} {
		if i := strings.LastIndex(name, sep); i >= 0 {
			at = max(at, i+len(sep))
		}
	}
	if i := strings.LastIndexAny(name, ".#"); at < 0 && i >= 0 && !strings.ContainsRune(name, ' ') {
		at = i + 1
	}
	if at < 0 || at >= len(name) {
		if at < 0 && utf8.RuneCountInString(name) > 0 {
			return name
		}
		return ""
	}
	return name[at:]
}
