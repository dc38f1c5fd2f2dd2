package diagnosis

// Similar reports whether two texts, normalised by Normalise, are most likely
// the same failure: their edit distance is below 10 % of their mean length. A
// histogram of 4-grams rules out most pairs without computing the distance.
func Similar(a, b string) bool {
	if a == b {
		return true
	}
	const limit = 4 << 10
	if len(a) > limit {
		a = a[:limit]
	}
	if len(b) > limit {
		b = b[:limit]
	}
	// Distance d < (|a|+|b|)/2/10.
	most := (len(a) + len(b) - 1) / 20
	if (len(a)+len(b))%20 == 0 && most*20 == len(a)+len(b) {
		most--
	}
	if most <= 0 || gramBound(a, b) > most {
		return false
	}
	return within(a, b, most)
}

// gramBound returns a lower bound of the edit distance: one edit changes at
// most four 4-grams on either side.
func gramBound(a, b string) int {
	var h [1024]int
	grams(a, &h, 1)
	grams(b, &h, -1)
	diff := 0
	for _, n := range h {
		diff += max(n, -n)
	}
	return diff / 8
}

func grams(s string, h *[1024]int, by int) {
	for i := 0; i+4 <= len(s); i++ {
		k := uint32(s[i])*2654435761 ^ uint32(s[i+1])*40503 ^ uint32(s[i+2])*9973 ^ uint32(s[i+3])*131
		h[(k^k>>15)&1023] += by
	}
}

// within reports whether the edit distance of a and b is at most k, looking
// only at the band of width 2k+1.
func within(a, b string, k int) bool {
	if len(a)-len(b) > k || len(b)-len(a) > k {
		return false
	}
	far := k + 1
	prev, cur := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = min(j, far)
	}
	for i := 1; i <= len(a); i++ {
		lo, hi := max(1, i-k), min(len(b), i+k)
		cur[lo-1] = far
		if lo == 1 {
			cur[0] = min(i, far)
		}
		best := far
		for j := lo; j <= hi; j++ {
			cost := prev[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			up := far
			if j < i+k {
				up = prev[j] + 1
			}
			cur[j] = min(cost, up, cur[j-1]+1, far)
			best = min(best, cur[j])
		}
		if best >= far {
			return false
		}
		prev, cur = cur, prev
	}
	return prev[len(b)] <= k
}
