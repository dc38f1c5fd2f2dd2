package plan

import (
	"fmt"
	"sort"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// nearest returns "did you mean …" for the closest of known, or lists them.
func nearest(got string, known []string) string {
	best, least := "", min(4, len(got))
	if len(got) <= 64 {
		for _, k := range known {
			if d := routing.Distance(strings.ToLower(got), strings.ToLower(k)); d < least {
				best, least = k, d
			}
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known are " + strings.Join(known, ", ")
}
