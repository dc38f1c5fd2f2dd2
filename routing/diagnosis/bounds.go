package diagnosis

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// What the rules of one configuration may have, all of them together where it says so. The patterns
// of a pull request are checked before anybody has read them, so what they cost is known before they
// are parsed.
const (
	MaxUserRules  = 200 // together
	MaxName       = 100 // bytes
	MaxPattern    = 1000
	MaxSuggestion = 1000

	maxInstructions = 10_000 // of the compiled patterns together; x{100} is a hundred

	// Classes such as \pL have hundreds of ranges, and to ignore case in a range beyond ASCII is to
	// look at each of its characters: up to 10 ms when it is parsed, and 60 fit into one pattern.
	maxUnicodeClasses = 20 // together
	maxFoldedRanges   = 2  // together

	// A pattern without a text that is in all its matches is tried on every line.
	maxUnfiltered = 200 // instructions of such patterns together
)

// RuleBounds checks the rules of one configuration, one after the other. A pattern that exceeds the
// bounds is not compiled, and nothing after a rule that exceeds those of all is checked. The zero
// value has checked none.
type RuleBounds struct {
	rules, instructions, classes, ranges, unfiltered int

	exceeded bool
}

// Check returns what is wrong with a rule, its class and whether its name is unique aside, or what
// of it is too much, with what to do about it.
func (b *RuleBounds) Check(u UserRule) error {
	if b.exceeded {
		return nil // an earlier rule has the error
	}
	if b.rules++; b.rules > MaxUserRules {
		return b.exceed("more than %d rules; join patterns of one class with |", MaxUserRules)
	}
	var errs []error
	for _, text := range []struct {
		what, text string
		most       int
	}{{"name", u.Name, MaxName}, {"pattern", u.Pattern, MaxPattern}, {"suggestion", u.Suggestion, MaxSuggestion}} {
		if len(text.text) > text.most {
			errs = append(errs, fmt.Errorf("the %s has %d bytes, at most %d are allowed; shorten it", text.what, len(text.text), text.most))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, b.pattern(u.Pattern), checkTemplate(u.Suggestion))
	}
	return errors.Join(errs...)
}

// exceed returns the error of a bound of all rules.
func (b *RuleBounds) exceed(format string, a ...any) error {
	b.exceeded = true
	return fmt.Errorf(format, a...)
}

func (b *RuleBounds) pattern(expr string) error {
	if expr == "" {
		return errors.New("has no pattern; give it a regular expression")
	}
	if b.classes += strings.Count(expr, `\p`) + strings.Count(expr, `\P`); b.classes > maxUnicodeClasses {
		return b.exceed(`the patterns have more than %d classes such as \pL together; use \w, or ranges such as [a-z]`, maxUnicodeClasses)
	}
	if ignoresCase(expr) && beyondASCII(expr) {
		if b.ranges += strings.Count(expr, "-"); b.ranges > maxFoldedRanges {
			return b.exceed("the patterns with (?i) and characters beyond ASCII have more than %d ranges together; leave (?i) out of them", maxFoldedRanges)
		}
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return fmt.Errorf("%w; the syntax is RE2", err)
	}
	n := instructions(tree)
	if b.instructions += n; b.instructions > maxInstructions {
		return b.exceed("the patterns are too large together: more than %d instructions, in which x{100} counts a hundred times; use + or * instead of counts, or fewer patterns", maxInstructions)
	}
	if ok, err := multimatch.Searchable(expr); err != nil || !ok {
		if b.unfiltered += n; b.unfiltered > maxUnfiltered {
			return b.exceed("the patterns without a text that is in all their matches are too large together: more than %d instructions; add a text such as a word of the message", maxUnfiltered)
		}
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return fmt.Errorf("%w; the syntax is RE2", err)
	}
	if re.MatchString("") {
		return errors.New("the pattern matches the empty line; it would match every line")
	}
	return nil
}

// ignoresCase reports whether some group of flags of a pattern may have the flag i.
func ignoresCase(expr string) bool {
	for {
		_, rest, found := strings.Cut(expr, "(?")
		if !found {
			return false
		}
		flags := rest[:len(rest)-len(strings.TrimLeft(rest, "imsUP-"))]
		if strings.Contains(flags, "i") {
			return true
		}
		expr = rest
	}
}

// beyondASCII reports whether a pattern may name a character beyond ASCII, but by a class.
func beyondASCII(expr string) bool {
	return strings.Contains(expr, `\x{`) || strings.ContainsFunc(expr, func(r rune) bool { return r > 0x7f })
}

// instructions returns about how many instructions a pattern compiles to, at most a little more
// than maxInstructions.
func instructions(re *syntax.Regexp) int {
	const enough = maxInstructions + 1
	sum := 0
	for _, s := range re.Sub {
		if sum += instructions(s); sum >= enough {
			return enough
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture:
		return sum + 2
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return sum + 1
	case syntax.OpAlternate:
		return sum + len(re.Sub)
	case syntax.OpRepeat:
		return min(enough, sum*max(re.Min, 1)+(sum+1)*max(re.Max-re.Min, 0)+1)
	case syntax.OpConcat:
		return sum
	}
	return 1
}
