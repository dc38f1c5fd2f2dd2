package diagnosis

// Baseline holds the lines of a log of a run of the same job that passed.
type Baseline struct {
	seen map[uint64]struct{}
}

// Has reports whether the baseline has a line that differs from text only in what changes from run
// to run.
func (b *Baseline) Has(text string) bool {
	_, ok := b.seen[lineHash(text)]
	return ok
}

func lineHash(text string) uint64 { return form(Normalise(text)) }
