package multimatch

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fmt"
)

// benchTexts returns the lines of a passing log and, where the recordings are present, of jobs
// that failed.
func benchTexts(b *testing.B) map[string][]string {
	var passing []string
	for i := range 5_000 {
		passing = append(passing,
			fmt.Sprintf("=== RUN   TestThing/case_%d", i),
			fmt.Sprintf("    thing_test.go:%d: checked the value of the thing and its neighbours", i%300),
			fmt.Sprintf("--- PASS: TestThing/case_%d (0.00s)", i),
			fmt.Sprintf("[INFO] Downloading org/example/lib-%d.jar (12 kB at 3.4 MB/s)", i))
	}
	out := map[string][]string{"passing": passing}
	files, err := filepath.Glob(filepath.Join(recorded, "bugswarm_gha", "*.log"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.Lines(data[:min(len(data), 32<<10)]) {
			out["failing"] = append(out["failing"], strings.TrimRight(string(line), "\r\n"))
		}
	}
	return out
}

func size(texts []string) (n int64) {
	for _, s := range texts {
		n += int64(len(s)) + 1
	}
	return n
}

// BenchmarkLine is what a collector of package diagnosis costs for each line of a log.
func BenchmarkLine(b *testing.B) {
	_, _, set := loadRules(b)
	for name, texts := range benchTexts(b) {
		b.Run(name, func(b *testing.B) {
			sc := set.Scanner()
			b.SetBytes(size(texts))
			for b.Loop() {
				for _, s := range texts {
					sc.Line(s)
				}
			}
		})
	}
}

// BenchmarkFirst is the search without the prefilter.
func BenchmarkFirst(b *testing.B) {
	_, _, set := loadRules(b)
	for name, texts := range benchTexts(b) {
		b.Run(name, func(b *testing.B) {
			sc := set.Scanner()
			b.SetBytes(size(texts))
			for b.Loop() {
				for _, s := range texts {
					sc.First(s, nil)
				}
			}
		})
	}
}

// BenchmarkRegexp is the same search with package regexp alone: each pattern in turn until one
// matches that no exception excludes.
func BenchmarkRegexp(b *testing.B) {
	_, patterns, _ := loadRules(b)
	type compiled struct {
		re  *regexp.Regexp
		not []*regexp.Regexp
	}
	var all []compiled
	for _, p := range patterns {
		c := compiled{re: regexp.MustCompile(p.Expr)}
		for _, n := range p.Not {
			c.not = append(c.not, regexp.MustCompile(n))
		}
		all = append(all, c)
	}
	first := func(s string) int {
	next:
		for i, c := range all {
			if !c.re.MatchString(s) {
				continue
			}
			for _, n := range c.not {
				if n.MatchString(s) {
					continue next
				}
			}
			return i
		}
		return -1
	}
	for name, texts := range benchTexts(b) {
		texts = texts[:min(len(texts), 500)]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size(texts))
			for b.Loop() {
				for _, s := range texts {
					first(s)
				}
			}
		})
	}
}

// BenchmarkCompile is the start-up cost of a set; it compiles no regular expression.
func BenchmarkCompile(b *testing.B) {
	_, patterns, _ := loadRules(b)
	for b.Loop() {
		if _, err := Compile(patterns); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompileRegexp compiles the same patterns with package regexp.
func BenchmarkCompileRegexp(b *testing.B) {
	_, patterns, _ := loadRules(b)
	for b.Loop() {
		for _, p := range patterns {
			regexp.MustCompile(p.Expr)
			for _, n := range p.Not {
				regexp.MustCompile(n)
			}
		}
	}
}

// BenchmarkDFA compares a Matcher with package regexp on a pattern that rarely matches.
func BenchmarkDFA(b *testing.B) {
	const pattern = `(?i)\b(?:error|fatal)\b.*\d$`
	texts := benchTexts(b)["passing"]
	for name, match := range map[string]func(string) bool{"matcher": NewMatcher(pattern).MatchString, "regexp": regexp.MustCompile(pattern).MatchString} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size(texts))
			for b.Loop() {
				for _, s := range texts {
					match(s)
				}
			}
		})
	}
}
