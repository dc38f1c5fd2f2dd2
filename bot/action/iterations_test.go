package action

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
)

// The lines are those of `switchback port`, cut anywhere, as a pipe gives them.
func TestIterationsAreShown(t *testing.T) {
	t.Parallel()
	shown := make(chan int, 10)
	v := showIterations(t.Context(), "api", func(_ context.Context, n int) error { shown <- n; return nil }, slog.New(slog.DiscardHandler))
	var got []int
	for n := 1; n <= 2; n++ {
		lines := fmt.Sprintf(`{"event":"session.start","session_id":"b1/api"}
{"event":"worker.spawn","session_id":"b1/api/impl","spawn":{"role":"impl"},"iteration":%d}
not an event
{"event":"worker.spawn","session_id":"b1/api/test","spawn":{"role":"test"},"iteration":%d}
`, n, n)
		for i := range len(lines) {
			if _, err := v.Write([]byte(lines[i : i+1])); err != nil {
				t.Fatal(err)
			}
		}
		got = append(got, <-shown)
	}
	v.end()
	close(shown)
	for n := range shown {
		got = append(got, n)
	}
	if want := []int{1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("shown %v, want %v: each iteration once, then the end", got, want)
	}
}
