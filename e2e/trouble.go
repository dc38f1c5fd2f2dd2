package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Trouble is a GitHub that fails by chance, whoever asks and for what.
type Trouble struct {
	rnd    *rand.Rand
	share  float64 // of the requests
	kinds  []troubleKind
	counts map[string]int

	rec *recorder // whose lock guards this
}

type troubleKind struct {
	name   string
	weight int
	fault  Fault
}

// Trouble lets a share of all requests meet, from now on and until End, a rate
// limit, an error or a lost connection before or after GitHub did what was asked
// for, or an answer that takes as long as slow.
func (b *Bench) Trouble(seed uint64, share float64, slow time.Duration) *Trouble {
	t := &Trouble{rnd: rand.New(rand.NewPCG(seed, 2)), share: share, counts: map[string]int{}, rec: b.rec, kinds: []troubleKind{
		{"429", 2, RateLimited(http.StatusTooManyRequests, time.Second)},
		{"403 secondary", 2, RateLimited(http.StatusForbidden, time.Second)},
		{"500", 2, Fault{Status: http.StatusInternalServerError}},
		{"500, but done", 2, Fault{Status: http.StatusInternalServerError, Late: true}},
		{"502", 2, Fault{Status: http.StatusBadGateway}},
		{"502, but done", 2, Fault{Status: http.StatusBadGateway, Late: true}},
		{"dropped", 2, Fault{Drop: Before}},
		{"dropped, but done", 2, Fault{Drop: After}},
		{fmt.Sprintf("slow (%v)", slow), 1, Fault{Delay: slow}},
	}}
	b.rec.mu.Lock()
	defer b.rec.mu.Unlock()
	b.rec.trouble = t
	return t
}

// End ends the trouble.
func (t *Trouble) End() {
	t.rec.mu.Lock()
	defer t.rec.mu.Unlock()
	t.rec.trouble = nil
}

// next returns what goes wrong with the next request, nil if nothing does.
func (t *Trouble) next() *Fault {
	if t.rnd.Float64() >= t.share {
		return nil
	}
	all := 0
	for _, k := range t.kinds {
		all += k.weight
	}
	n := t.rnd.IntN(all)
	for i := range t.kinds {
		k := &t.kinds[i]
		if n -= k.weight; n < 0 {
			t.counts[k.name]++
			return &k.fault
		}
	}
	return nil
}

// String says how often what went wrong.
func (t *Trouble) String() string {
	if t == nil {
		return "no trouble"
	}
	t.rec.mu.Lock()
	defer t.rec.mu.Unlock()
	var out []string
	for name, n := range t.counts {
		out = append(out, fmt.Sprintf("%s × %d", name, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
