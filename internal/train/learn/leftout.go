package learn

import (
	"fmt"
	"maps"
	"math"

	"github.com/switchback-ci/switchback/internal/labelled"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/diagnosis/rank"
)

// Study is what logs teach, and what would be known without those of one set.
type Study struct {
	// Examples are the logs of which a candidate is right and another is not, each as it looks to all
	// rules and to those without its set: rules that somebody wrote for a log are too right about it,
	// and rules that nobody did too ignorant.
	Examples []Example

	all  *variant
	sets map[string]*variant
}

// variant is a change of the rules. Rules are compiled when they are used first, which takes longer
// than to read a log, so one variant reads all logs of a set.
type variant struct {
	rules   *diagnosis.Rules
	weights rank.Weights
	ranked  []diagnosis.Candidate // of the log read last
	matched map[diagnosis.Alternative]bool
}

func newVariant(without map[diagnosis.Alternative]bool) *variant {
	v := &variant{weights: *rank.Default(), matched: map[diagnosis.Alternative]bool{}}
	v.rules = diagnosis.Variant{
		Without: without,
		Weights: &v.weights,
		Ranked:  func(all []diagnosis.Candidate) { v.ranked = all },
		Matched: func(a diagnosis.Alternative) { v.matched[a] = true },
	}.Rules()
	return v
}

// read diagnoses a log.
func (v *variant) read(l labelled.Log) (Example, error) {
	v.ranked = nil
	if _, _, err := Diagnose(l, v.rules); err != nil {
		return Example{}, fmt.Errorf("%s/%s: %w", l.Set, l.File, err)
	}
	return example(l, v.ranked)
}

// NewStudy reads logs.
func NewStudy(logs []labelled.Log) (*Study, error) {
	s := &Study{all: newVariant(nil), sets: map[string]*variant{}}
	used := map[string]map[diagnosis.Alternative]bool{}
	whole := make([]Example, len(logs))
	for i, l := range logs {
		if used[l.Set] == nil {
			used[l.Set] = map[diagnosis.Alternative]bool{}
		}
		s.all.matched = used[l.Set]
		var err error
		if whole[i], err = s.all.read(l); err != nil {
			return nil, err
		}
	}
	for set := range used {
		s.sets[set] = newVariant(onlyIn(set, used))
	}
	for i, l := range logs {
		if !l.Truth.HasLines() {
			continue
		}
		without, err := s.sets[l.Set].read(l)
		if err != nil {
			return nil, err
		}
		for _, e := range []Example{whole[i], without} {
			if e.teaches() {
				s.Examples = append(s.Examples, e)
			}
		}
	}
	size := map[string]int{}
	for _, e := range s.Examples {
		size[e.Set]++
	}
	for i := range s.Examples {
		s.Examples[i].Weight = 1 / math.Sqrt(float64(size[s.Examples[i].Set]))
	}
	return s, nil
}

// Without returns what the rules would know if nobody had seen a set: those without the alternatives
// that match nothing in another one, with the weights w.
func (s *Study) Without(set string, w rank.Weights) *diagnosis.Rules {
	v := s.sets[set]
	v.weights = w
	return v.rules
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
