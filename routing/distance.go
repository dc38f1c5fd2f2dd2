package routing

// Distance counts the letters to insert, delete, replace or swap with their
// neighbour (optimal string alignment), for "did you mean". Of a long word only the beginning is looked at.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 40 {
		x = x[:40]
	}
	var before []int
	prev := make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(y)]
}
