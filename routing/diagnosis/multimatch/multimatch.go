// Package multimatch finds, for each line of a log, the first of many regular expressions that
// matches it.
//
// It exists because package regexp matches one expression at a time and simulates a
// nondeterministic automaton for each. The rules of package diagnosis have 71 patterns with
// about 1,070 alternatives and 94 exceptions, and the log of a CI job has up to a million lines.
// Measured with the benchmarks of this package on a busy machine with two cores:
//
//	                                 passing log   logs of failed jobs
//	package regexp, each in turn     0.04 MB/s     0.04 MB/s
//	Scanner.First, no prefilter        69 MB/s      108 MB/s
//	Scanner.Line                      353 MB/s      152 MB/s
//
// With package regexp alone a log of 10 MB takes four minutes, with this package less than a tenth of
// a second. Compiling a Set takes about as long as compiling its patterns with package regexp.
//
// A search runs through up to four stages, each of which removes most of what the previous one let
// pass:
//
//   - Compile splits each pattern into its alternatives and computes literals of which one occurs
//     in every match of an alternative.
//   - A prefilter on pairs of bytes, or an Aho-Corasick automaton, finds the alternatives whose
//     literal occurs in the text.
//   - A deterministic automaton, built lazily and bounded in memory, decides whether the
//     alternative matches. Past its bounds, package regexp decides.
//   - Package regexp finds the groups of the one alternative that matched, if they are asked for.
//
// A [Set] holds many patterns. A [Matcher] is a single expression in front of which the automaton
// of the third stage runs. Texts are single lines: ^ and $ are the start and end of the text.
//
// The package depends on nothing in this module except lazyregexp.
package multimatch

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
)

// MaxText is how many bytes of a text are searched; what follows is ignored.
const MaxText = 4 << 10

// maxAlternatives bounds a Set, because alternatives are numbered by 16 bits.
const maxAlternatives = 1 << 15

// Pattern is a regular expression of a [Set].
type Pattern struct {
	// Expr is an expression in the syntax of package regexp.
	Expr string

	// Not are expressions; the pattern does not match a text that one of them matches.
	Not []string

	// Contains are texts of which one must occur, whatever its case, in what an alternative of
	// Expr matches that has no literal of its own to search for. Each has at least two bytes.
	// Without them such an alternative is tried on every text.
	Contains []string

	// Without, if set, leaves out the alternatives of Expr for whose index it returns true.
	Without func(part int) bool

	// Use is what [Scanner.Line] does with the pattern.
	Use Use
}

// Use is what [Scanner.Line] does with a pattern. [Scanner.First] treats all alike.
type Use uint8

// The uses of a pattern.
const (
	Report   Use = iota // Line returns it if it matches
	Suppress            // if it matches, Line returns no pattern that follows it
	Skip                // Line does not try it
)

// Set is a list of patterns compiled for searching. It is immutable and safe for concurrent use.
type Set struct {
	alternatives []Alternative // of all patterns, in their order
	literals     func() *ahoCorasick
	unfiltered   []uint64 // alternatives without a literal, tried on every text
	words        int      // uint64s in a set of alternatives

	// For Line: alternatives that it does not report, and those that suppress no report. The
	// remaining fields cover the alternatives that it reports.
	notReported, notSuppressing []uint64

	prefilter     *prefilter // literals except those in starts
	starts        starts     // alternatives whose literals all begin the text
	endings       endings    // verifies what the prefilter lets pass
	longest       int        // bytes of the longest literal
	allUnfiltered bool       // at least one has no literal, so the prefilter is of no use
}

// Compile returns the set of patterns. Their order is their precedence. The error joins one
// message for each pattern that does not compile, with its index.
func Compile(patterns []Pattern) (*Set, error) {
	s := &Set{}
	memory := newMemory()
	var errs []error
	for i, p := range patterns {
		a, err := alternativesOf(i, p, memory)
		if err != nil {
			errs = append(errs, fmt.Errorf("pattern %d: %w", i, err))
		}
		s.alternatives = append(s.alternatives, a...)
	}
	if len(s.alternatives) > maxAlternatives {
		errs = append(errs, fmt.Errorf("too many patterns: %d alternatives, at most %d", len(s.alternatives), maxAlternatives))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.index(patterns)
	return s, nil
}

// index builds the literal filters.
func (s *Set) index(patterns []Pattern) {
	s.words = (len(s.alternatives) + 63) / 64
	s.unfiltered, s.notReported, s.notSuppressing = make([]uint64, s.words), make([]uint64, s.words), make([]uint64, s.words)
	for i, a := range s.alternatives {
		word, bit := i>>6, uint64(1)<<(i&63)
		if use := patterns[a.pattern].Use; use != Report {
			s.notReported[word] |= bit
		}
		if use := patterns[a.pattern].Use; use != Suppress {
			s.notSuppressing[word] |= bit
		}
		if len(a.literals) == 0 {
			s.unfiltered[word] |= bit
		}
		for _, l := range a.literals {
			s.longest = max(s.longest, len(l.text))
		}
	}
	s.literals, s.prefilter = sync.OnceValue(s.compileLiterals), newPrefilter()
	for i := range s.alternatives {
		if patterns[s.alternatives[i].pattern].Use == Report {
			s.filter(uint16(i))
		}
	}
	s.prefilter.finish()
}

func (s *Set) compileLiterals() *ahoCorasick {
	words := map[string][]uint16{}
	for i, a := range s.alternatives {
		for _, l := range a.literals {
			words[l.text] = append(words[l.text], uint16(i))
		}
	}
	return newAhoCorasick(words)
}

// filter adds alternative i to the filters of Line.
func (s *Set) filter(i uint16) {
	a := &s.alternatives[i]
	s.allUnfiltered = s.allUnfiltered || len(a.literals) == 0
	if a.first != nil && len(a.literals) > 0 && !slices.ContainsFunc(a.literals, func(l literal) bool { return !l.prefix }) {
		for _, l := range a.literals {
			s.starts.add(l, i)
		}
		return
	}
	for _, l := range a.literals {
		w, fold := l.text, l.exact == ""
		if !fold {
			w = l.exact[:len(l.text)]
		}
		s.prefilter.add(w, fold)
		s.endings.add(w, fold, i)
	}
}

// Scanner searches texts for the patterns of a Set. It holds scratch memory, so each goroutine
// uses a Scanner of its own.
type Scanner struct {
	set  *Set
	hits []uint64 // alternatives whose literal occurs in the text
}

// Scanner returns a new Scanner of s.
func (s *Set) Scanner() *Scanner { return &Scanner{set: s, hits: make([]uint64, s.words)} }

// First returns the alternative by which the first pattern matches text, nil if none does. Only
// patterns for which want returns true are tried, all if want is nil.
func (sc *Scanner) First(text string, want func(pattern int) bool) *Alternative {
	s := sc.set
	text = text[:min(len(text), MaxText)]
	sc.findLiterals(text)
	ascii := isASCII(text)
	for w, set := range sc.hits {
		for ; set != 0; set &= set - 1 {
			a := &s.alternatives[w<<6+bits.TrailingZeros64(set)]
			if (want == nil || want(a.pattern)) && a.accepts(text, ascii, false) {
				return a
			}
		}
	}
	return nil
}

// Line returns the alternative by which the first [Report] pattern matches text, nil if none does
// or if a [Suppress] pattern before it matches. It is made for the lines of a log, of which most
// match nothing: those take about a nanosecond for each byte.
func (sc *Scanner) Line(text string) *Alternative {
	text = text[:min(len(text), MaxText)]
	if !sc.candidates(text) {
		return nil
	}
	s, ascii := sc.set, isASCII(text)
	at := sc.firstOf(text, ascii, s.notReported, len(s.alternatives), true)
	if at < 0 {
		return nil
	}
	// Only now search for the patterns that suppress it.
	sc.findLiterals(text)
	if sc.firstOf(text, ascii, s.notSuppressing, at, false) >= 0 {
		return nil
	}
	return &s.alternatives[at]
}

// findLiterals sets hits to the alternatives whose literal occurs in text and those without one.
func (sc *Scanner) findLiterals(text string) {
	copy(sc.hits, sc.set.unfiltered)
	sc.set.literals().scan(text, sc.hits)
}

// candidates sets hits to a superset of the Report alternatives that can match text. It returns
// false, with hits unspecified, if there are none.
func (sc *Scanner) candidates(text string) (found bool) {
	// A text in which the prefilter stops more often is cheaper to search with the automaton.
	const maxStops = 32
	s := sc.set
	if s.allUnfiltered {
		sc.findLiterals(text)
		return true
	}
	hit := func(i uint16) {
		if !found {
			clear(sc.hits)
			found = true
		}
		sc.hits[i>>6] |= 1 << (i & 63)
	}
	for _, i := range s.starts.of(text) {
		if s.alternatives[i].possible(text) {
			hit(i)
		}
	}
	end, state := 0, s.prefilter.start
	for range maxStops {
		if end, state = s.prefilter.find(text, end+1, state); end < 0 {
			return found
		}
		if g := groups(state); s.endings.any(text[:end+1], g) {
			s.endings.find(text[:end+1], g, func(i uint16) {
				if s.alternatives[i].possibleFromLiteral(text) {
					hit(i)
				}
			})
		}
	}
	if !found {
		clear(sc.hits)
	}
	s.literals().scan(text[max(0, end+1-s.longest):], sc.hits)
	return true
}

// firstOf returns the first alternative in hits and not in excluded, before end, that accepts
// text, -1 if there is none. filtered says that hits come from candidates.
func (sc *Scanner) firstOf(text string, ascii bool, excluded []uint64, end int, filtered bool) int {
	for w, set := range sc.hits {
		for set &^= excluded[w]; set != 0; set &= set - 1 {
			i := w<<6 + bits.TrailingZeros64(set)
			if i >= end {
				return -1
			}
			if sc.set.alternatives[i].accepts(text, ascii, filtered) {
				return i
			}
		}
	}
	return -1
}

// Searchable reports whether a text is only matched against expr if it contains one of a few
// literals. An expression that is not is tried on every text.
func Searchable(expr string) (bool, error) {
	alternatives, err := alternativesOf(0, Pattern{Expr: expr}, newMemory())
	return err == nil && !slices.ContainsFunc(alternatives, func(a Alternative) bool { return len(a.literals) == 0 }), err
}
