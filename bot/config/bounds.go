package config

import "gopkg.in/yaml.v3"

// What a configuration may have. It may be that of a pull request, which nobody has read.
const (
	MaxBytes   = 256 << 10
	maxValues  = 20_000 // keys, items and values, those behind aliases counted at each of them
	maxEntries = 1000   // of one list or mapping
	maxDepth   = 20
	maxAliases = 100

	maxCheckpoints = 200
)

// bounded reports whether a document is within bounds, and lists what of it is not. Nothing else
// may be done with one that is not: the decoder compares all keys of a mapping with each other.
func (d document) bounded() bool {
	before := len(d.problems.list)
	s := shape{sizes: map[*yaml.Node]int{}, problems: d.problems}
	s.walk(d.root, 0)
	return len(d.problems.list) == before
}

// shape measures a document.
type shape struct {
	sizes    map[*yaml.Node]int // of what aliases stand for
	aliases  int
	stop     bool
	problems *problemList
}

// add lists the one problem for which the rest is not looked at.
func (s *shape) add(n *yaml.Node, format string, a ...any) {
	if !s.stop {
		s.problems.add(n.Line, format, a...)
		s.stop = true
	}
}

// walk returns how many values there are from n on.
func (s *shape) walk(n *yaml.Node, depth int) int {
	entries := len(n.Content)
	if n.Kind == yaml.MappingNode {
		entries /= 2
	}
	switch {
	case s.stop:
		return 0
	case depth > maxDepth:
		s.add(n, "more than %d levels of lists and mappings; the deepest key of a configuration has 5", maxDepth)
	case entries > maxEntries:
		s.add(n, "a list or mapping of %d entries, at most %d are allowed; remove some", entries, maxEntries)
	}
	sum := 1
	for _, x := range n.Content {
		sum += s.walk(x, depth+1)
	}
	if n.Kind == yaml.AliasNode {
		if s.aliases++; s.aliases > maxAliases {
			s.add(n, "more than %d aliases; write out what they stand for", maxAliases)
		}
		sum += s.sizes[n.Alias] // 0 for one within itself, which the decoder refuses
	}
	if n.Anchor != "" {
		s.sizes[n] = sum
	}
	if sum > maxValues {
		s.add(n, "more than %d values, those behind aliases counted at each of them; remove some", maxValues)
	}
	return min(sum, maxValues+1)
}
