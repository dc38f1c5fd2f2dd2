package learn

import (
	"fmt"
	"maps"

	"github.com/switchback-ci/switchback/internal/labelled"
	"github.com/switchback-ci/switchback/routing/diagnosis"
)

// LeftOut returns, for each set, the rules without the alternatives that match nothing in another
// set: what the rules would know if nobody had seen the set.
func LeftOut(logs []labelled.Log) (func(set string) diagnosis.Variant, error) {
	used := map[string]map[diagnosis.Alternative]bool{}
	for _, l := range logs {
		if used[l.Set] == nil {
			used[l.Set] = map[diagnosis.Alternative]bool{}
		}
		matched := used[l.Set]
		v := diagnosis.Variant{Matched: func(a diagnosis.Alternative) { matched[a] = true }}
		if _, _, err := Diagnose(l, v.Rules()); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", l.Set, l.File, err)
		}
	}
	return func(set string) diagnosis.Variant { return diagnosis.Variant{Without: onlyIn(set, used)} }, nil
}

// onlyIn returns the alternatives that matched in the set of that name alone.
func onlyIn(name string, used map[string]map[diagnosis.Alternative]bool) map[diagnosis.Alternative]bool {
	out := maps.Clone(used[name])
	for other, alternatives := range used {
		if other == name {
			continue
		}
		for a := range alternatives {
			delete(out, a)
		}
	}
	return out
}
