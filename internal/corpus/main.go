// Command corpus records the outputs of real tools and says how exactly they
// are read; see README.md.
//
//	go run ./internal/corpus record [TOOL[@VERSION]…]   install, run and record; all tools without a name
//	go run ./internal/corpus score [TOOL…]              how many recordings are read exactly, and what is wrong with the others
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/internal/corpus/recording"
)

func main() {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == "record":
		err = record("internal/corpus", "bin/corpus", os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == "score":
		err = printScores("internal/corpus", os.Args[2:])
	default:
		fmt.Fprintln(os.Stderr, "usage: corpus record [TOOL[@VERSION]…] | corpus score [TOOL…], in the root of the repository")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// score is how exactly the recordings of one tool are read.
type score struct {
	tool   string
	exact  int
	misses []recording.Miss
}

func scores(recs []recording.Recording) ([]score, error) {
	var out []score
	for _, r := range recs {
		if len(out) == 0 || out[len(out)-1].tool != r.Tool {
			out = append(out, score{tool: r.Tool})
		}
		s := &out[len(out)-1]
		for _, f := range r.Forms() {
			diffs, err := r.Compare(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Tool, err)
			}
			if len(diffs) == 0 {
				s.exact++
				continue
			}
			s.misses = append(s.misses, recording.Miss{Key: r.Key(f), Reason: strings.Join(diffs, "; ")})
		}
	}
	return out, nil
}

func printScores(dir string, tools []string) error {
	recs, err := recording.Load(dir, tools...)
	if err != nil {
		return err
	}
	table, err := scores(recs)
	if err != nil {
		return err
	}
	if len(tools) > 0 {
		for _, s := range table {
			known, err := recording.ReadMisses(dir, s.tool)
			if err != nil {
				return err
			}
			for _, m := range s.misses {
				mark := "new "
				if slices.ContainsFunc(known, func(k recording.Miss) bool { return k.Key == m.Key }) {
					mark = ""
				}
				fmt.Printf("%s%s %s: %s\n", mark, s.tool, m.Key, m.Reason)
			}
		}
	}
	var exact, all int
	slices.SortStableFunc(table, func(a, b score) int { return strings.Compare(a.tool, b.tool) })
	for _, s := range table {
		n := s.exact + len(s.misses)
		exact, all = exact+s.exact, all+n
		fmt.Printf("%-20s %4d of %4d exact  %5.1f %%\n", s.tool, s.exact, n, percent(s.exact, n))
	}
	fmt.Printf("%-20s %4d of %4d exact  %5.1f %%\n", "all", exact, all, percent(exact, all))
	return nil
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
